// SPDX-License-Identifier: GPL-2.0 OR MIT
package twheel;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.locks.LockSupport;

/**
 * Netty's {@link Timer} on a wheel of twheel, in place of HashedWheelTimer.
 *
 * <p>A timeout is due at most one tick of 1 ms after its deadline, however far away that is, and
 * never expires before it. {@link #refresh} moves a timeout to a later deadline by a store.
 *
 * <p>Callers queue each timeout that is new, cancelled or moved to an earlier deadline. The
 * timer's thread takes it from the queue within 10 ms, or by its deadline if that is sooner, and
 * starts or stops a timer of the wheel, which only this thread uses. The thread sleeps while the
 * queue is empty and no timeout is due.
 */
public final class TwheelTimer implements Timer {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(TwheelTimer.class);
    private static final long TICK_NS = 1_000_000;
    // The latest deadline, chosen so that the sum of two deadlines does not overflow.
    private static final long LATEST_NS = Long.MAX_VALUE / 2;
    // The longest sleep of the thread while callers queue timeouts.
    private static final long ROUND_NS = 10 * TICK_NS;
    // The maximum number of timeouts that the thread takes from the queue before it looks at the wheel again.
    private static final int PIECE = 4096;
    private static final long AWAKE = Long.MIN_VALUE;
    // TimerTask.cancelled() of Netty 4.2 and later, or null.
    private static final MethodHandle CANCELLED_HOOK = cancelledHook();

    private final long limit;
    private final Executor executor;
    final Worker worker = new Worker();
    private final Thread thread;

    private final AtomicLong pending = new AtomicLong();
    private final Queue<Entry> queue = PlatformDependent.newMpscQueue();
    // The time at which the sleeping thread will look at the queue. A caller with a sooner deadline wakes it.
    volatile long looksAt = AWAKE;
    // Both fields are written with the monitor of "worker" held.
    private volatile boolean started;
    private volatile boolean stopped;

    /** Creates a timer without a limit of timeouts. */
    public TwheelTimer() {
        this(Executors.defaultThreadFactory());
    }

    public TwheelTimer(ThreadFactory threadFactory) {
        this(threadFactory, 0, null, 0, false, 0);
    }

    // These constructors exist for HashedWheelTimer's callers. The duration of a tick, the number of slots
    // and leak detection have no effect.

    public TwheelTimer(long tickDuration, TimeUnit unit) {
        this();
    }

    public TwheelTimer(long tickDuration, TimeUnit unit, int ticksPerWheel) {
        this();
    }

    public TwheelTimer(ThreadFactory threadFactory, long tickDuration, TimeUnit unit) {
        this(threadFactory);
    }

    public TwheelTimer(ThreadFactory threadFactory, long tickDuration, TimeUnit unit, int ticksPerWheel) {
        this(threadFactory);
    }

    public TwheelTimer(ThreadFactory threadFactory, long tickDuration, TimeUnit unit, int ticksPerWheel,
            boolean leakDetection) {
        this(threadFactory);
    }

    public TwheelTimer(ThreadFactory threadFactory, long tickDuration, TimeUnit unit, int ticksPerWheel,
            boolean leakDetection, long maxPendingTimeouts) {
        this(threadFactory, tickDuration, unit, ticksPerWheel, leakDetection, maxPendingTimeouts, Runnable::run);
    }

    /** Creates a timer whose tasks an executor runs, as in newer versions of Netty. */
    public TwheelTimer(ThreadFactory threadFactory, long tickDuration, TimeUnit unit, int ticksPerWheel,
            boolean leakDetection, long maxPendingTimeouts, Executor taskExecutor) {
        executor = Objects.requireNonNull(taskExecutor, "taskExecutor");
        thread = threadFactory.newThread(worker);
        limit = maxPendingTimeouts > 0 ? maxPendingTimeouts : Long.MAX_VALUE;
    }

    private static MethodHandle cancelledHook() {
        try {
            return MethodHandles.publicLookup().findVirtual(TimerTask.class, "cancelled",
                    MethodType.methodType(void.class, Timeout.class));
        } catch (ReflectiveOperationException olderNetty) {
            return null;
        }
    }

    /** A timeout. Any thread may change its state. Only the timer's thread starts and stops its timer in the wheel. */
    static final class Entry implements Timeout {
        private static final AtomicLongFieldUpdater<Entry> STATE =
                AtomicLongFieldUpdater.newUpdater(Entry.class, "state");
        private static final long EXPIRED = -1;
        private static final long CANCELLED = -2;
        // The timeout was cancelled, and cancelled() of its task was called.
        private static final long TOLD = -3;

        private final TwheelTimer timer;
        private final TimerTask task;
        // The deadline, or EXPIRED, CANCELLED or TOLD.
        private volatile long state;
        // Id of the timeout's timer in the wheel, or NONE. Only the timer's thread uses the id.
        private static final int NONE = -1;
        private int id = NONE;

        Entry(TwheelTimer timer, TimerTask task, long deadline) {
            this.timer = timer;
            this.task = task;
            STATE.lazySet(this, deadline);
        }

        @Override
        public Timer timer() {
            return timer;
        }

        @Override
        public TimerTask task() {
            return task;
        }

        @Override
        public boolean isExpired() {
            return state == EXPIRED;
        }

        @Override
        public boolean isCancelled() {
            return state <= CANCELLED;
        }

        @Override
        public boolean cancel() {
            if (!end(CANCELLED, Long.MAX_VALUE))
                return false;
            // The thread need not hurry to free the timer, but must wake up from a sleep of more than 10 ms.
            timer.queue(this, LATEST_NS);
            return true;
        }

        /** Ends the timeout, unless it has ended or its deadline is after latestNs. Returns whether it did so. */
        boolean end(long how, long latestNs) {
            long deadline;
            do {
                deadline = state;
                if (deadline < 0 || deadline > latestNs)
                    return false;
            } while (!STATE.compareAndSet(this, deadline, how));
            timer.pending.decrementAndGet();
            return true;
        }

        /** Calls cancelled() of the task once if the timeout was cancelled, and if Netty has that method. */
        void tell() {
            if (CANCELLED_HOOK == null || !STATE.compareAndSet(this, CANCELLED, TOLD))
                return;
            try {
                CANCELLED_HOOK.invokeExact(task, (Timeout) this);
            } catch (Throwable t) {
                LOGGER.warn("An exception was thrown by TimerTask.cancelled().", t);
            }
        }

        void run() {
            try {
                task.run(this);
            } catch (Throwable t) {
                LOGGER.warn("An exception was thrown by TimerTask.", t);
            }
        }
    }

    private long deadline(long delay, TimeUnit unit) {
        long now = System.nanoTime();
        return Math.min(now + Math.min(Math.max(unit.toNanos(delay), 0), LATEST_NS), LATEST_NS);
    }

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(unit, "unit");
        start();
        long count = pending.incrementAndGet();
        if (count > limit) {
            pending.decrementAndGet();
            throw new RejectedExecutionException("Number of pending timeouts (" + (count - 1)
                    + ") is greater than or equal to maximum allowed pending timeouts (" + limit + ")");
        }
        long deadline = deadline(delay, unit);
        Entry entry = new Entry(this, task, deadline);
        queue(entry, deadline);
        // If stop() emptied the queue before this timeout was added, nothing will run the timeout.
        if (stopped && entry.cancel())
            throw new IllegalStateException("cannot be started once stopped");
        return entry;
    }

    /** Starts the timer's thread. The first newTimeout() starts it, too. */
    public void start() {
        if (started && !stopped)
            return;
        synchronized (worker) {
            if (stopped)
                throw new IllegalStateException("cannot be started once stopped");
            if (!started)
                thread.start();
            started = true;
        }
    }

    /**
     * Queues an entry whose state has changed, and wakes the thread if it would sleep beyond the deadline.
     * An entry may be in the queue more than once.
     */
    private void queue(Entry entry, long deadline) {
        queue.add(entry);
        // Pairs with sleep(), which writes looksAt before it reads the queue.
        VarHandle.fullFence();
        if (deadline < looksAt) {
            looksAt = AWAKE;
            LockSupport.unpark(thread);
        }
    }

    /**
     * Moves a timeout to a later or earlier deadline, a delay from now.
     *
     * @param timeout a timeout of this timer
     * @return false if the timeout has expired or was cancelled
     */
    public boolean refresh(Timeout timeout, long delay, TimeUnit unit) {
        return refreshAt(timeout, deadline(delay, unit));
    }

    /**
     * Does the same as refresh(), for a caller that has read the clock already: that is most of the cost.
     *
     * @param deadlineNs the deadline, in the time of System.nanoTime()
     */
    public boolean refreshAt(Timeout timeout, long deadlineNs) {
        Entry entry = (Entry) timeout;
        long deadline = Math.min(Math.max(deadlineNs, 0), LATEST_NS);
        long old;
        do {
            old = entry.state;
            if (old < 0)
                return false;
        } while (!Entry.STATE.compareAndSet(entry, old, deadline));
        // The thread need not know of a later deadline: it finds that deadline when the old one is due.
        if (deadline < old)
            queue(entry, deadline);
        return true;
    }

    /** Returns the number of timeouts that have neither expired nor been cancelled. */
    public long pendingTimeouts() {
        return pending.get();
    }

    /** Data that only the thread uses, in an object of its own, so that callers write to other cache lines. */
    final class Worker implements Runnable {
        // The memory of the wheel and its address, the memory of its timers, and the address of each timer.
        private final ByteBuffer memory = ByteBuffer.allocateDirect(WHEEL_SIZE);
        private final long wheel = init(Twheel.address(memory), WHEEL_SIZE, System.nanoTime() / TICK_NS);
        private final List<ByteBuffer> pieces = new ArrayList<>();
        private long[] timers = {};
        // The entry of each timer, and a stack of the ids of timers without an entry.
        Entry[] entries = {};
        private int[] free = {};
        int nrFree;
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        // True if there was no memory for more timers in this round.
        private boolean isFull;

        @Override
        public void run() {
            int[] due = new int[DUE];
            try {
                while (!stopped) {
                    long now = System.nanoTime();
                    isFull = false;
                    int taken = 0;
                    for (Entry entry; taken < PIECE && !isFull && !stopped && (entry = queue.poll()) != null; taken++)
                        follow(entry, now);
                    int got = expired(wheel, now / TICK_NS, due);
                    for (int i = 0; i < got && !stopped; i++) {
                        Entry entry = entries[due[i]];
                        forget(entry);
                        follow(entry, now);
                    }
                    sleep(taken != 0);
                }
            } finally {
                ended.complete(null);
            }
        }

        private void sleep(boolean busy) {
            long now = System.nanoTime(), next = next(wheel, (now + LATEST_NS) / TICK_NS) * TICK_NS;
            long until = busy ? Math.min(next, now + ROUND_NS) : next;
            // MAX_VALUE is later than the deadline of any caller, so that all callers wake the thread: a
            // cancelled timeout must not be kept until a distant deadline.
            looksAt = until <= now + ROUND_NS ? until : Long.MAX_VALUE;
            if (until > now && (isFull || queue.isEmpty()) && !stopped)
                LockSupport.parkNanos(until - now);
            looksAt = AWAKE;
            // A task may have interrupted this thread, in which parkNanos() would then always return at once.
            Thread.interrupted();
        }

        /**
         * Brings the wheel in line with the state of an entry: starts its timer for its deadline, or runs its
         * task if it is due. If the entry has ended, stops and frees its timer.
         */
        private void follow(Entry entry, long nowNs) {
            // If another thread cancels or refreshes the timeout before end(), look at the state again.
            for (long deadline; (deadline = entry.state) >= 0; ) {
                if (deadline > nowNs) {
                    place(entry, deadline);
                    return;
                }
                if (entry.end(Entry.EXPIRED, nowNs)) {
                    execute(entry);
                    break;
                }
            }
            if (entry.id != Entry.NONE) {
                stop(wheel, timers[entry.id]);
                forget(entry);
            }
            entry.tell();
        }

        private void execute(Entry entry) {
            try {
                executor.execute(entry::run);
            } catch (Throwable t) {
                LOGGER.warn("An exception was thrown by the executor of a TwheelTimer.", t);
            }
        }

        private void place(Entry entry, long deadline) {
            if (entry.id == Entry.NONE) {
                try {
                    if (nrFree == 0)
                        grow();
                } catch (OutOfMemoryError e) {
                    isFull = true;
                    queue.add(entry);
                    return;
                }
                entry.id = free[--nrFree];
                entries[entry.id] = entry;
            }
            start(wheel, timers[entry.id], entry.id, (deadline + TICK_NS - 1) / TICK_NS);
        }

        /** Doubles the number of timers, up to 16 million more at once. */
        private void grow() {
            int from = timers.length, more = Math.min(Math.max(from, 1024), 1 << 24);
            ByteBuffer piece = ByteBuffer.allocateDirect(more * TIMER_SIZE);
            long address = Twheel.address(piece);
            long[] allTimers = Arrays.copyOf(timers, from + more);
            Entry[] allEntries = Arrays.copyOf(entries, from + more);
            free = new int[from + more];
            pieces.add(piece);
            timers = allTimers;
            entries = allEntries;
            for (int id = from + more - 1; id >= from; id--) {
                timers[id] = address + (long) (id - from) * TIMER_SIZE;
                free[nrFree++] = id;
            }
        }

        private void forget(Entry entry) {
            entries[entry.id] = null;
            free[nrFree++] = entry.id;
            entry.id = Entry.NONE;
        }
    }

    /** Ends the timer's thread, and cancels the timeouts that are left. Returns these timeouts. */
    @Override
    public Set<Timeout> stop() {
        if (Thread.currentThread() == thread)
            throw new IllegalStateException("TwheelTimer.stop() cannot be called from TimerTask");
        synchronized (worker) {
            if (stopped)
                return Collections.emptySet();
            stopped = true;
        }
        LockSupport.unpark(thread);
        if (started)
            worker.ended.join();
        List<Entry> left = new ArrayList<>(Arrays.asList(worker.entries));
        for (Entry entry; (entry = queue.poll()) != null; )
            left.add(entry);
        Arrays.fill(worker.entries, null);
        left.removeIf(Objects::isNull);
        Set<Timeout> cancelled = new HashSet<>();
        for (Entry entry : left) {
            if (entry.end(Entry.CANCELLED, Long.MAX_VALUE))
                cancelled.add(entry);
            entry.tell();
        }
        return Collections.unmodifiableSet(cancelled);
    }

    // Functions of <twheel_timer.h>, with addresses and ids in place of pointers.
    private static final int WHEEL_SIZE = 272 << 10;
    private static final int TIMER_SIZE = 40;
    private static final int DUE = 256;

    private static native long init(long memory, int size, long tick);
    private static native void start(long wheel, long timer, int id, long tick);
    private static native void stop(long wheel, long timer);
    private static native int expired(long wheel, long tick, int[] ids);
    private static native long next(long wheel, long latestTick);
}
