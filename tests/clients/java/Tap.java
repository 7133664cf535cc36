// SPDX-License-Identifier: GPL-2.0
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Tap NAME CLASS...: run the tests of some classes, and say in TAP how they ended. */
class Tap extends RunListener {
    private int count, failed;
    private String failure;

    @Override
    public void testStarted(Description test) {
        failure = null;
    }

    @Override
    public void testFailure(Failure of) {
        failure = of.getTrace();
        if (!of.getDescription().isTest())
            testFinished(of.getDescription());
    }

    @Override
    public void testFinished(Description test) {
        if (failure != null) {
            failed++;
            System.out.println("# " + failure.strip().replace("\n", "\n# "));
        }
        System.out.println((failure == null ? "ok " : "not ok ") + ++count + " - " + test.getMethodName());
    }

    private boolean run(String of, Class<?> tests) {
        System.out.println("# run " + of + "/" + tests.getSimpleName());
        JUnitCore core = new JUnitCore();
        core.addListener(this);
        core.run(tests);
        System.out.println("1.." + count);
        boolean failing = failed != 0 || count == 0;
        System.out.println("# exit " + of + "/" + tests.getSimpleName() + (failing ? " 1" : " 0"));
        return !failing;
    }

    public static void main(String[] args) throws Exception {
        int status = 0;
        for (int i = 1; i < args.length; i++)
            if (!new Tap().run(args[0], Class.forName(args[i])))
                status = 1;
        System.exit(status);
    }
}
