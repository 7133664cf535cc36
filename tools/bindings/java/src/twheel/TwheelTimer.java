// SPDX-License-Identifier: GPL-2.0 OR MIT
package twheel;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Netty's {@link Timer} on a session of twheel, in place of HashedWheelTimer.
 *
 * <p>A timeout is due at most one tick of twheel's after its deadline, at any distance, and
 * never before it. While nothing is due the timer's thread sleeps. A timeout that is
 * cancelled leaves the wheel at once. {@link #refresh} pushes one back by a store.
 */
public final class TwheelTimer implements Timer {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(TwheelTimer.class);
    // The id whose event only wakes the thread.
    private static final int WAKE = 0;
    private static final int EVENTS = 256;

    private final Twheel twheel;
    private final long latestNs;
    private final long limit;
    private final Executor executor;
    private final Thread thread;

    // All below belongs to whoever holds the monitor of the session, "twheel".
    private Entry[] entries = new Entry[64];
    // The ids that are free: a stack in an array as long as entries.
    private int[] free = new int[entries.length];
    private int nrFree;
    private int nextId = WAKE + 1;
    private int pending;
    // Refreshed ones that the wheel had no memory for when they came up.
    private final ArrayDeque<Entry> waiting = new ArrayDeque<>();
    private boolean started;
    private boolean stopped;

    /** A timer with a thread of its own, and no limit but that of the session. */
    public TwheelTimer() {
        this(Executors.defaultThreadFactory());
    }

    public TwheelTimer(ThreadFactory threadFactory) {
        this(threadFactory, -1, Runnable::run);
    }

    /**
     * A timer with a limit.
     *
     * @param threadFactory makes the timer's thread
     * @param maxPendingTimeouts from this number on newTimeout() throws RejectedExecutionException.
     *        0 or less: only from the limit of the session on
     * @param executor runs the tasks. Runnable::run has the timer's thread run them
     */
    public TwheelTimer(ThreadFactory threadFactory, long maxPendingTimeouts, Executor executor) {
        this.executor = Objects.requireNonNull(executor, "executor");
        thread = threadFactory.newThread(this::run);
        // The monitor is its lock. Waiting takes none.
        twheel = new Twheel(null, Twheel.OPEN_ONE_THREAD);
        Twheel.Info info = twheel.info();
        latestNs = info.maxIntervalNs();
        long most = info.maxTimers() - 1;
        limit = maxPendingTimeouts > 0 ? Math.min(maxPendingTimeouts, most) : most;
    }

    /**
     * With HashedWheelTimer's arguments. The length of a tick, the number of slots and the
     * detection of leaks have no effect, here and in all constructors below.
     *
     * @param tickDuration without effect, as unit is
     * @param unit without effect
     */
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
        this(threadFactory, maxPendingTimeouts, Runnable::run);
    }

    /** As in newer versions of Netty: the executor runs the tasks. */
    public TwheelTimer(ThreadFactory threadFactory, long tickDuration, TimeUnit unit, int ticksPerWheel,
            boolean leakDetection, long maxPendingTimeouts, Executor taskExecutor) {
        this(threadFactory, maxPendingTimeouts, taskExecutor);
    }

    /** A timeout, whose state is the only thing that changes without the monitor. */
    private static final class Entry implements Timeout {
        private static final AtomicLongFieldUpdater<Entry> STATE =
                AtomicLongFieldUpdater.newUpdater(Entry.class, "state");
        private static final long EXPIRED = -1;
        private static final long CANCELLED = -2;

        private final TwheelTimer timer;
        private final TimerTask task;
        private int id;
        // The deadline, or one of these two. What the wheel has is not later.
        private volatile long state;
        private long inWheel;

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
            return state == CANCELLED;
        }

        @Override
        public boolean cancel() {
            long now;
            do {
                now = state;
                if (now < 0)
                    return false;
            } while (!STATE.compareAndSet(this, now, CANCELLED));
            timer.forget(this);
            return true;
        }

        /** Due? Or where it is to be then, because it was refreshed. */
        long expire(long nowNs) {
            for (;;) {
                long deadline = state;
                if (deadline < 0 || deadline > nowNs || STATE.compareAndSet(this, deadline, EXPIRED))
                    return deadline;
            }
        }

        void run() {
            try {
                task.run(this);
            } catch (Throwable t) {
                LOGGER.warn("An exception was thrown by " + TimerTask.class.getSimpleName() + '.', t);
            }
        }
    }

    private long deadline(long delay, TimeUnit unit) {
        long now = System.nanoTime();
        return now + Math.min(Math.max(unit.toNanos(delay), 0), latestNs - now);
    }

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        Objects.requireNonNull(task, "task");
        Entry entry = new Entry(this, task, deadline(delay, unit));
        synchronized (twheel) {
            start();
            if (pending >= limit)
                throw new RejectedExecutionException("Number of pending timeouts (" + pending
                        + ") is greater than or equal to maximum allowed pending timeouts (" + limit + ")");
            entry.id = nrFree != 0 ? free[--nrFree] : newId();
            try {
                startInWheel(entry, entry.state);
            } catch (TwheelException e) {
                free[nrFree++] = entry.id;
                throw new RejectedExecutionException(e);
            }
            entries[entry.id] = entry;
            pending++;
        }
        return entry;
    }

    /** Starts the timer's thread, as the first newTimeout() does where nobody has. */
    public void start() {
        synchronized (twheel) {
            if (stopped)
                throw new IllegalStateException("cannot be started once stopped");
            if (!started) {
                started = true;
                thread.start();
            }
        }
    }

    private int newId() {
        if (nextId == entries.length) {
            entries = Arrays.copyOf(entries, 2 * nextId);
            free = Arrays.copyOf(free, 2 * nextId);
        }
        return nextId++;
    }

    private void startInWheel(Entry entry, long deadline) {
        twheel.startAt(entry.id, deadline, 0);
        entry.inWheel = deadline;
    }

    /**
     * Pushes a timeout back, or brings it forward: it is due that long from now.
     *
     * @param timeout one of this timer's
     * @return false if it has expired or was cancelled
     */
    public boolean refresh(Timeout timeout, long delay, TimeUnit unit) {
        return refreshAt(timeout, deadline(delay, unit));
    }

    /**
     * The same for a caller that has the time already: to read the clock is most of a refresh.
     *
     * @param deadlineNs when it is due, in the time of System.nanoTime()
     */
    public boolean refreshAt(Timeout timeout, long deadlineNs) {
        Entry entry = (Entry) timeout;
        long deadline = Math.min(Math.max(deadlineNs, 0), latestNs);
        long old;
        do {
            old = entry.state;
            if (old < 0)
                return false;
        } while (!Entry.STATE.compareAndSet(entry, old, deadline));
        // A later one is found when the wheel comes to the old one.
        if (deadline < old)
            bringForward(entry);
        return true;
    }

    private void bringForward(Entry entry) {
        synchronized (twheel) {
            long deadline = entry.state;
            // An event that is unread is withdrawn.
            if (has(entry) && deadline >= 0 && deadline < entry.inWheel) {
                twheel.startFlags(entry.id, deadline, 0, 0, Twheel.START_ABS | Twheel.START_REPLACE);
                entry.inWheel = deadline;
            }
        }
    }

    private boolean has(Entry entry) {
        return entries[entry.id] == entry;
    }

    // Nobody has read its event as long as it is there.
    private void forget(Entry entry) {
        synchronized (twheel) {
            if (has(entry)) {
                if (!waiting.remove(entry))
                    twheel.withdraw(entry.id);
                release(entry);
            }
        }
    }

    private void release(Entry entry) {
        entries[entry.id] = null;
        free[nrFree++] = entry.id;
        pending--;
    }

    /** How many have neither expired nor been cancelled. */
    public long pendingTimeouts() {
        synchronized (twheel) {
            return pending;
        }
    }

    private void run() {
        Twheel.Events events = new Twheel.Events(EVENTS);
        Entry[] due = new Entry[EVENTS];
        int nrDue = 0;
        while (nrDue >= 0) {
            twheel.await(waits() ? 1 : -1);
            nrDue = take(events, due);
            for (int i = 0; i < nrDue; i++) {
                Entry entry = due[i];
                due[i] = null;
                try {
                    executor.execute(entry::run);
                } catch (Throwable t) {
                    LOGGER.warn("An exception was thrown by the executor of a TwheelTimer.", t);
                }
            }
        }
    }

    private boolean waits() {
        synchronized (twheel) {
            return !waiting.isEmpty();
        }
    }

    private boolean carryOn(Entry entry) {
        long deadline = entry.state;
        try {
            // One that is cancelled is about to be forgotten.
            startInWheel(entry, deadline < 0 ? entry.inWheel : deadline);
            return true;
        } catch (TwheelException e) {
            // Nobody brings it forward meanwhile.
            entry.inWheel = 0;
            return false;
        }
    }

    // Those that have expired, or -1 when the timer has stopped.
    private int take(Twheel.Events events, Entry[] due) {
        synchronized (twheel) {
            if (stopped)
                return -1;
            while (!waiting.isEmpty() && carryOn(waiting.peek()))
                waiting.remove();
            int nrDue = 0;
            int got = twheel.read(events);
            for (int i = 0; i < got; i++) {
                Twheel.Event event = events.get(i);
                Entry entry = entries[(int) event.id()];
                if (entry == null)
                    continue;
                long state = entry.expire(event.expiredNs());
                if (state > event.expiredNs()) {
                    if (!carryOn(entry))
                        waiting.add(entry);
                    continue;
                }
                release(entry);
                if (state >= 0)
                    due[nrDue++] = entry;
            }
            return nrDue;
        }
    }

    /** Ends the timer's thread, and returns what has neither expired nor been cancelled. */
    @Override
    public Set<Timeout> stop() {
        if (Thread.currentThread() == thread)
            throw new IllegalStateException("TwheelTimer.stop() cannot be called from TimerTask");
        synchronized (twheel) {
            boolean first = !stopped;
            stopped = true;
            if (!first)
                return Collections.emptySet();
            if (started)
                twheel.start(WAKE, 0, 0);
        }
        join();
        Set<Timeout> left = new HashSet<>();
        synchronized (twheel) {
            for (Entry entry : entries)
                if (entry != null && entry.state >= 0)
                    left.add(entry);
            Arrays.fill(entries, null);
            pending = 0;
            twheel.close();
        }
        return Collections.unmodifiableSet(left);
    }

    private void join() {
        boolean interrupted = false;
        while (started && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted)
            Thread.currentThread().interrupt();
    }
}
