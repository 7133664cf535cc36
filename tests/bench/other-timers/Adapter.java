// SPDX-License-Identifier: GPL-2.0
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Timers of Java replay a trace (tests/bench/compared/trace.h): Adapter WAY TRACE MODE.
 *
 * <p>Documents: netty, io.netty.util.HashedWheelTimer, one for the whole program, with its usual
 * tick of 100 ms and 512 slots, "approximated I/O timeout scheduling"; newTimeout() and
 * cancel(). executor, java.util.concurrent.ScheduledThreadPoolExecutor with one thread and
 * setRemoveOnCancelPolicy(true), without which timers that are cancelled stay until they are due. Neither
 * can push a timer back: a heartbeat cancels one and starts another. Both call back in a thread
 * of their own.
 */
class Adapter {
    static final int MAGIC = 0x43525754;
    static final int OPEN = 0, BEAT = 1, CLOSE = 2, FULL = 3, END = 4;
    static final int HEADER = 32, RECORD = 16;
    static final int WARM_UP = 200_000;
    static final long MS = 1_000_000L, STEP = 1_001_000L;
    static final long BUSY_EVERY = 100 * MS, BUSY = 20 * MS;
    static final long NETTY_TICK = 100 * MS;

    /** A way to have timers. */
    interface Way {
        Object start(Connection connection, long delayNs);
        void stop(Object timer);
    }

    static class Netty implements Way {
        final Timer timer = new HashedWheelTimer();

        @Override
        public Object start(Connection connection, long delayNs) {
            return timer.newTimeout(connection, delayNs, TimeUnit.NANOSECONDS);
        }

        @Override
        public void stop(Object timeout) {
            ((Timeout) timeout).cancel();
        }
    }

    static class Executor implements Way {
        final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);

        Executor() {
            executor.setRemoveOnCancelPolicy(true);
        }

        @Override
        public Object start(Connection connection, long delayNs) {
            return executor.schedule(connection, delayNs, TimeUnit.NANOSECONDS);
        }

        @Override
        public void stop(Object future) {
            ((Future<?>) future).cancel(false);
        }
    }

    /** A connection, whose timer calls it back. */
    class Connection implements Runnable, TimerTask {
        Object timer;
        volatile long deadline;

        @Override
        public void run() {
            int nr = expired.getAndIncrement();
            if (late && nr < lateness.length) {
                lateness[nr] = System.nanoTime() - deadline;
            }
        }

        @Override
        public void run(Timeout timeout) {
            run();
        }
    }

    final Way way;
    final ByteBuffer trace;
    final boolean empty, late, busy;
    final OutputStream meter = new FileOutputStream("/proc/twheel_meter");
    final Connection[] connections;
    final AtomicInteger expired = new AtomicInteger();
    final long[] lateness;
    /** What a crowd of pending timers takes of the heap, in modes in which nothing is counted. */
    long heap;

    Adapter(Way way, ByteBuffer trace, String mode) throws IOException {
        this.way = way;
        this.trace = trace;
        empty = mode.equals("empty");
        busy = mode.equals("busy");
        late = busy || mode.equals("late");
        if (trace.getInt(0) != MAGIC || trace.limit() != HEADER + RECORD * trace.getInt(8)) {
            throw new IOException("not a trace");
        }
        connections = new Connection[trace.getInt(4)];
        lateness = new long[trace.getInt(12)];
    }

    void mark(String word) throws IOException {
        meter.write(word.getBytes());
    }

    void operate(int op, int nr, long now, long timeoutNs) {
        if (empty) {
            return;
        }
        if (op == OPEN) {
            connections[nr] = new Connection();
        } else {
            way.stop(connections[nr].timer);
        }
        if (op == CLOSE) {
            connections[nr] = null;
            return;
        }
        connections[nr].deadline = now + timeoutNs;
        connections[nr].timer = way.start(connections[nr], timeoutNs);
    }

    /**
     * Lets the JVM compile, as any benchmark of Java does: it is too late for the trace while it
     * has yet to learn, and compiling would be most of what a short trace takes. Netty's ticks
     * begin here, at the place where the meter lets the trace begin. A collection of what this
     * leaves behind is not of the trace.
     */
    void warmUp() throws IOException {
        sleepUntil((System.nanoTime() / NETTY_TICK + 1) * NETTY_TICK);
        replay(WARM_UP);
        for (Connection connection : connections) {
            if (connection != null) {
                way.stop(connection.timer);
            }
        }
        Arrays.fill(connections, null);
        System.gc();
        sleepUntil(System.nanoTime() + 10 * NETTY_TICK);
        expired.set(0);
    }

    /** The meter does not see it: the JVM keeps the pages of the warm-up. */
    static long usedHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    static void sleepUntil(long at) {
        for (long now = System.nanoTime(); now - at < 0; now = System.nanoTime()) {
            LockSupport.parkNanos(at - now);
        }
    }

    /** Replays so many records at most. */
    void replay(int records) throws IOException {
        long begin = System.nanoTime(), busyAt = begin + BUSY_EVERY;
        for (int at = HEADER; at < HEADER + records * RECORD; ) {
            long step = begin + trace.getInt(at) * STEP;
            sleepUntil(busy ? Math.min(step, busyAt) : step);
            long now = System.nanoTime();
            for (; begin + trace.getInt(at) * STEP <= now; at += RECORD) {
                int op = trace.getInt(at + 8);
                if (op == END) {
                    return;
                } else if (op == FULL) {
                    mark("full");
                    heap = late ? usedHeap() - heap : 0;
                } else {
                    operate(op, trace.getInt(at + 4), now, trace.getInt(at + 12) * MS);
                }
            }
            // A handler that comes after the others.
            if (busy && now >= busyAt) {
                long end = System.nanoTime() + BUSY;
                while (System.nanoTime() < end) {
                }
                busyAt += BUSY_EVERY;
            }
        }
    }

    void report() throws IOException {
        System.out.println("expired " + expired + " timers");
        if (expired.get() != lateness.length) {
            throw new IOException("not " + lateness.length + " expired");
        }
        if (!late) {
            return;
        }
        System.out.println("heap " + heap + " bytes");
        Arrays.sort(lateness);
        int nr = lateness.length;
        System.out.println("early " + Arrays.stream(lateness).filter(ns -> ns < 0).count() + " timers");
        System.out.println("earliest " + Math.max(0, -lateness[0]) + " ns");
        System.out.println("p50 " + lateness[nr / 2] + " ns");
        System.out.println("p99 " + lateness[nr - 1 - nr / 100] + " ns");
        System.out.println("worst " + lateness[nr - 1] + " ns");
        if (lateness[0] < 0) {
            throw new IOException("some expired early");
        }
    }

    static void measure(String way, String name, String mode) throws IOException {
        try (FileChannel file = FileChannel.open(Path.of(name))) {
            ByteBuffer trace = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()).order(ByteOrder.LITTLE_ENDIAN);
            Adapter adapter = new Adapter(way.equals("netty") ? new Netty() : new Executor(), trace, mode);
            adapter.warmUp();
            adapter.heap = adapter.late ? usedHeap() : 0;
            adapter.mark("begin");
            adapter.replay(trace.getInt(8));
            adapter.mark("end");
            if (!adapter.empty) {
                adapter.report();
            }
        }
    }

    /** Threads of timers would keep a program from its end. */
    public static void main(String[] arguments) {
        try {
            measure(arguments[0], arguments[1], arguments[2]);
        } catch (IOException e) {
            System.err.println("java: " + e.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }
}
