// SPDX-License-Identifier: GPL-2.0
import com.sun.management.ThreadMXBean;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import twheel.Twheel;
import twheel.TwheelTimer;

/**
 * Bench BACKEND TIMEOUTS...: timers of Java side by side, in one JVM and in turns.
 *
 * <p>Rows: backend,timer,timeouts,figure,median of the rounds. Operations are the
 * CPU time of the
 * caller, which other work of the machine does not change. "thread" is that of the timer's own
 * thread. Lateness is by the clock: only what stands side by side can be compared.
 */
class Bench {
    static final int ROUNDS = Integer.getInteger("rounds", 3);
    static final long SECOND = 1_000_000_000L;
    static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** A way to have timeouts. */
    abstract static class Way {
        Thread thread;

        final ThreadFactory factory = task -> {
            thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        };

        abstract Object start(Runnable task, long delayNs);
        abstract void cancel(Object timeout);
        abstract void stop();

        Object refresh(Object timeout, Runnable task, long delayNs) {
            cancel(timeout);
            return start(task, delayNs);
        }

        /** By a caller that has the time. */
        Object refreshAt(Object timeout, Runnable task, long nowNs, long delayNs) {
            return refresh(timeout, task, delayNs);
        }
    }

    static class OfNetty extends Way {
        final Timer timer;

        OfNetty(Function<ThreadFactory, Timer> make) {
            timer = make.apply(factory);
        }

        @Override
        Object start(Runnable task, long delayNs) {
            return timer.newTimeout(t -> task.run(), delayNs, TimeUnit.NANOSECONDS);
        }

        @Override
        void cancel(Object timeout) {
            ((Timeout) timeout).cancel();
        }

        @Override
        void stop() {
            timer.stop();
        }
    }

    static class OfTwheel extends OfNetty {
        OfTwheel() {
            super(TwheelTimer::new);
        }

        @Override
        Object refresh(Object timeout, Runnable task, long delayNs) {
            ((TwheelTimer) timer).refresh((Timeout) timeout, delayNs, TimeUnit.NANOSECONDS);
            return timeout;
        }

        @Override
        Object refreshAt(Object timeout, Runnable task, long nowNs, long delayNs) {
            ((TwheelTimer) timer).refreshAt((Timeout) timeout, nowNs + delayNs);
            return timeout;
        }
    }

    static class OfExecutor extends Way {
        final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, factory);

        OfExecutor() {
            executor.setRemoveOnCancelPolicy(true);
        }

        @Override
        Object start(Runnable task, long delayNs) {
            return executor.schedule(task, delayNs, TimeUnit.NANOSECONDS);
        }

        @Override
        void cancel(Object timeout) {
            ((Future<?>) timeout).cancel(false);
        }

        @Override
        void stop() {
            executor.shutdownNow();
        }
    }

    static Way make(String name) {
        switch (name) {
        case "HashedWheelTimer-100ms":
            return new OfNetty(f -> new HashedWheelTimer(f));
        case "HashedWheelTimer-1ms":
            return new OfNetty(f -> new HashedWheelTimer(f, 1, TimeUnit.MILLISECONDS));
        case "ScheduledThreadPoolExecutor":
            return new OfExecutor();
        default:
            return new OfTwheel();
        }
    }

    static final String[] WAYS = {"HashedWheelTimer-100ms", "HashedWheelTimer-1ms", "ScheduledThreadPoolExecutor", "TwheelTimer"};
    static final String[] FIGURES = {"new ns", "cancel ns", "new bytes", "refresh ns", "refresh bytes", "thread ns per operation",
        "p50 us", "p99 us", "most us", "thread ns per expiry", "refresh at ns"};

    static long cpu(Way way) {
        return Math.max(THREADS.getThreadCpuTime(way.thread.getId()), 0);
    }

    static long spent() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static long far(Random random) {
        return (60 + random.nextInt(3600)) * SECOND;
    }

    static final Runnable NOTHING = () -> { };

    /** With so many timeouts pending. */
    static void operations(String name, int timeouts, double[] figures) throws Exception {
        Way way = make(name);
        Random random = new Random(timeouts);
        Object[] pending = new Object[timeouts];
        final int many = Math.max(timeouts, 50_000);
        Object[] own = new Object[many];
        int[] order = random.ints(many, 0, timeouts).toArray();

        for (int i = 0; i < timeouts; i++)
            pending[i] = way.start(NOTHING, far(random));
        // Those of Netty are put into their slots by the thread.
        Thread.sleep(300 + timeouts / 1000);
        long thread = cpu(way), bytes = THREADS.getCurrentThreadAllocatedBytes(), begin = spent();
        for (int i = 0; i < many; i++)
            own[i] = way.start(NOTHING, (100 + i % 1024) * SECOND);
        long started = spent();
        figures[2] = (double) (THREADS.getCurrentThreadAllocatedBytes() - bytes) / many;
        for (int i = 0; i < many; i++)
            way.cancel(own[i]);
        long cancelled = spent();
        bytes = THREADS.getCurrentThreadAllocatedBytes();
        long again = spent();
        for (int i = 0; i < many; i++)
            pending[order[i]] = way.refresh(pending[order[i]], NOTHING, (4000 + i % 1024) * SECOND);
        long refreshed = spent();
        figures[0] = (double) (started - begin) / many;
        figures[1] = (double) (cancelled - started) / many;
        figures[3] = (double) (refreshed - again) / many;
        figures[4] = (double) (THREADS.getCurrentThreadAllocatedBytes() - bytes) / many;
        // What it leaves to the thread.
        Thread.sleep(300 + timeouts / 1000);
        figures[5] = (double) (cpu(way) - thread) / (3L * many);
        long now = System.nanoTime();
        again = spent();
        for (int i = 0; i < many; i++)
            pending[order[i]] = way.refreshAt(pending[order[i]], NOTHING, now, (6000 + i % 1024) * SECOND);
        figures[10] = (double) (spent() - again) / many;
        way.stop();
    }

    /** They are due within two seconds. */
    static void expiry(String name, int timeouts, double[] figures) throws Exception {
        Way way = make(name);
        Random random = new Random(timeouts);
        long[] late = new long[timeouts];
        CountDownLatch left = new CountDownLatch(timeouts);
        AtomicInteger next = new AtomicInteger();
        way.start(NOTHING, SECOND);
        long thread = cpu(way), first = System.nanoTime() + 2 * SECOND + timeouts * 5000L;
        for (int i = 0; i < timeouts; i++) {
            long deadline = first + random.nextInt((int) (2 * SECOND));
            way.start(() -> {
                late[next.getAndIncrement()] = System.nanoTime() - deadline;
                left.countDown();
            }, deadline - System.nanoTime());
        }
        left.await();
        figures[9] = (double) (cpu(way) - thread) / timeouts;
        way.stop();
        Arrays.sort(late);
        figures[6] = late[timeouts / 2] / 1e3;
        figures[7] = late[(int) (timeouts * 0.99)] / 1e3;
        figures[8] = late[timeouts - 1] / 1e3;
    }

    static double median(double[][] rounds, int figure) {
        double[] values = Arrays.stream(rounds).mapToDouble(round -> round[figure]).sorted().toArray();
        return values[values.length / 2];
    }

    /** A heartbeat: the store alone, and with the clock that says what to store. */
    static void store(String backend) {
        final int many = 20_000_000, ids = 1024;
        try (Twheel t = new Twheel(new Twheel.Setup().sharedIds(ids))) {
            double[][] rounds = new double[ROUNDS][2];
            for (double[] round : rounds) {
                long begin = spent();
                for (int i = 0; i < many; i++)
                    t.refresh(i & (ids - 1), SECOND + i);
                round[0] = (double) (spent() - begin) / many;
                begin = spent();
                for (int i = 0; i < many / 10; i++)
                    t.refresh(i & (ids - 1), System.nanoTime() + SECOND);
                round[1] = (double) (spent() - begin) / (many / 10);
            }
            System.out.printf("%s,Twheel,0,store ns,%.1f%n%s,Twheel,0,store and nanoTime ns,%.1f%n",
                    backend, median(rounds, 0), backend, median(rounds, 1));
        }
    }

    public static void main(String[] args) throws Exception {
        store(args[0]);
        // The first round is to warm up.
        for (String way : WAYS) {
            operations(way, 20_000, new double[FIGURES.length]);
            expiry(way, 1000, new double[FIGURES.length]);
        }
        for (int i = 1; i < args.length; i++) {
            int timeouts = Integer.parseInt(args[i]);
            double[][][] all = new double[WAYS.length][ROUNDS][FIGURES.length];
            for (int round = 0; round < ROUNDS; round++)
                for (int way = 0; way < WAYS.length; way++) {
                    System.gc();
                    operations(WAYS[way], timeouts, all[way][round]);
                    System.gc();
                    // Lateness takes its seconds.
                    expiry(WAYS[way], timeouts, all[way][round]);
                }
            for (int way = 0; way < WAYS.length; way++)
                for (int figure = 0; figure < FIGURES.length; figure++)
                    System.out.printf("%s,%s,%d,%s,%.1f%n", args[0], WAYS[way], timeouts, FIGURES[figure],
                            median(all[way], figure));
        }
        System.exit(0);
    }
}
