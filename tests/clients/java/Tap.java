// SPDX-License-Identifier: GPL-2.0
import java.util.concurrent.locks.LockSupport;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/**
 * Tap NAME CLASS...: run the tests of some classes one by one, and print their results as TAP.
 *
 * Some of Netty's tests depend on a fast machine. A test that fails while the machine was
 * interrupted runs again.
 */
class Tap {
    private static final int TRIES = 20;
    private static final long PERIOD_NS = 2_000_000, INTERRUPTION_NS = 20_000_000;

    /** The longest delay of a thread's wake-up since a test began. */
    private static volatile long interruption;

    private int count, failed;

    private static void watch() {
        for (;;) {
            long begin = System.nanoTime();
            LockSupport.parkNanos(PERIOD_NS);
            interruption = Math.max(interruption, System.nanoTime() - begin - PERIOD_NS);
        }
    }

    private void test(Class<?> tests, String name) {
        String end = " - " + name;
        for (int i = 0; i < TRIES; i++) {
            interruption = 0;
            Result result = new JUnitCore().run(Request.method(tests, name));
            if (result.wasSuccessful()) {
                System.out.println("ok " + ++count + end);
                return;
            }
            for (Failure failure : result.getFailures())
                System.out.println("# " + failure.getTrace().strip().replace("\n", "\n# "));
            System.out.println("# interrupted for " + interruption / 1_000_000 + " ms");
            if (interruption < INTERRUPTION_NS)
                break;
        }
        failed++;
        System.out.println("not ok " + ++count + end);
    }

    private boolean run(String of, Class<?> tests) {
        System.out.println("# run " + of + "/" + tests.getSimpleName());
        for (Description test : Request.aClass(tests).getRunner().getDescription().getChildren())
            test(tests, test.getMethodName());
        System.out.println("1.." + count);
        boolean failing = failed != 0 || count == 0;
        System.out.println("# exit " + of + "/" + tests.getSimpleName() + (failing ? " 1" : " 0"));
        return !failing;
    }

    public static void main(String[] args) throws Exception {
        int status = 0;
        Thread watcher = new Thread(Tap::watch);
        watcher.setDaemon(true);
        watcher.start();
        for (int i = 1; i < args.length; i++)
            if (!new Tap().run(args[0], Class.forName(args[i])))
                status = 1;
        System.exit(status);
    }
}
