// SPDX-License-Identifier: GPL-2.0
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import twheel.Twheel;

/** Bench TIMERS ROUNDS: print what a refresh of one of TIMERS pending timers takes, in ns of the caller's CPU time, in CSV. */
class Bench {
    static final long HOUR_NS = 3_600_000_000_000L;

    static long cpuNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    public static void main(String[] args) {
        int timers = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < timers; i++)
            ids.add(i);
        Collections.shuffle(ids, new Random(1));
        Twheel t = new Twheel(new Twheel.Setup().sharedIds(timers));
        HashedWheelTimer wheel = new HashedWheelTimer();
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
        executor.setRemoveOnCancelPolicy(true);
        Timeout[] timeouts = new Timeout[timers];
        ScheduledFuture<?>[] futures = new ScheduledFuture<?>[timers];
        for (int id : ids) {
            timeouts[id] = wheel.newTimeout(ended -> { }, HOUR_NS, TimeUnit.NANOSECONDS);
            futures[id] = executor.schedule(() -> { }, HOUR_NS, TimeUnit.NANOSECONDS);
            t.start(id, HOUR_NS, 0);
        }
        IntConsumer[] ways = {
            id -> {
                timeouts[id].cancel();
                timeouts[id] = wheel.newTimeout(ended -> { }, HOUR_NS, TimeUnit.NANOSECONDS);
            },
            id -> {
                futures[id].cancel(false);
                futures[id] = executor.schedule(() -> { }, HOUR_NS, TimeUnit.NANOSECONDS);
            },
            id -> t.start(id, HOUR_NS, 0),
            id -> t.push(id, System.nanoTime() + HOUR_NS, 0),
            id -> t.refresh(id, System.nanoTime() + HOUR_NS),
        };
        long[] total = new long[ways.length];
        // The first five rounds do not count, because the JVM still compiles the code.
        for (int round = -5; round < rounds; round++)
            for (int i = 0; i < ways.length; i++) {
                long begin = cpuNs();
                for (int id : ids)
                    ways[i].accept(id);
                if (round >= 0)
                    total[i] += (cpuNs() - begin) / timers / rounds;
            }
        String twheel = "," + total[2] + "," + total[3] + "," + total[4];
        System.out.println("Java,``HashedWheelTimer``," + total[0] + twheel);
        System.out.println("Java,``ScheduledThreadPoolExecutor``," + total[1] + twheel);
        System.exit(0);
    }
}
