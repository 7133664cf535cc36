// SPDX-License-Identifier: GPL-2.0 OR MIT
package twheel;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Netty's {@link Timer} on a session of twheel, in place of HashedWheelTimer.
 *
 * <p>A timeout is due at most one tick of twheel's after its deadline, at any distance, and
 * never before it. {@link #refresh} pushes one back by a store.
 *
 * <p>Callers put a timeout that is new, cancelled or brought forward into a list. The timer's
 * thread has the wheel follow what is there within 10 ms, or by its deadline if that is sooner.
 * While nothing comes and nothing is due the thread sleeps.
 */
public final class TwheelTimer implements Timer {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(TwheelTimer.class);
    // The id whose event only wakes the thread.
    private static final int WAKE = 0;
    private static final int EVENTS = 256;
    // For so long the thread sleeps while timeouts come and go.
    private static final int ROUND_MS = 10;
    // How many of them it looks at before it looks for expiries again.
    private static final int PIECE = 4096;
    private static final long AWAKE = Long.MIN_VALUE;

    private final Twheel twheel;
    private final long latestNs;
    private final long limit;
    private final Executor executor;
    private final Worker worker = new Worker();
    private final Thread thread;

    private final AtomicLong pending = new AtomicLong();
    // Those that the wheel has to follow, the newest first.
    private final AtomicReference<Entry> listed = new AtomicReference<>();
    // When the thread looks at them: a caller whose deadline is sooner wakes it.
    private volatile long looksAt = AWAKE;
    // Are any waiting? Then none is added.
    private volatile boolean isFull;
    // Change with the monitor of the session, "twheel", held.
    private volatile boolean started;
    private volatile boolean stopped;

    /** A timer with a thread of its own, and no limit but that of the session. */
    public TwheelTimer() {
        this(Executors.defaultThreadFactory());
    }

    public TwheelTimer(ThreadFactory threadFactory) {
        this(threadFactory, 0, null, 0, false, 0);
    }

    // The length of a tick, the number of slots and leak detection have no effect.

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

    /** As in newer versions of Netty: the executor runs the tasks. */
    public TwheelTimer(ThreadFactory threadFactory, long tickDuration, TimeUnit unit, int ticksPerWheel,
            boolean leakDetection, long maxPendingTimeouts, Executor taskExecutor) {
        executor = Objects.requireNonNull(taskExecutor, "taskExecutor");
        thread = threadFactory.newThread(worker);
        // The monitor is its lock. Waiting takes none.
        twheel = new Twheel(null, Twheel.OPEN_ONE_THREAD);
        Twheel.Info info = twheel.info();
        latestNs = info.maxIntervalNs();
        long most = info.maxTimers() - 1;
        limit = maxPendingTimeouts > 0 ? Math.min(maxPendingTimeouts, most) : most;
    }

    /** A timeout. Its state changes at any time, and the thread has the wheel follow. */
    private static final class Entry implements Timeout {
        private static final AtomicLongFieldUpdater<Entry> STATE =
                AtomicLongFieldUpdater.newUpdater(Entry.class, "state");
        private static final AtomicIntegerFieldUpdater<Entry> LISTED =
                AtomicIntegerFieldUpdater.newUpdater(Entry.class, "isListed");
        private static final long EXPIRED = -1;
        private static final long CANCELLED = -2;

        private final TwheelTimer timer;
        private final TimerTask task;
        // The deadline, or one of these two.
        private volatile long state;
        // 1 in the list "listed", where next is the one before it.
        private volatile int isListed;
        private Entry next;
        // The thread's: its id in the wheel or 0, and a deadline that is not later than the state.
        private int id;
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
            timer.pending.decrementAndGet();
            // In no hurry: the thread only must not sleep for ever.
            timer.list(this, Long.MAX_VALUE - 1);
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
        Objects.requireNonNull(unit, "unit");
        start();
        long count = pending.incrementAndGet();
        if (count > limit || isFull) {
            pending.decrementAndGet();
            throw new RejectedExecutionException(isFull ? "The wheel has no memory for more timeouts"
                    : "Number of pending timeouts (" + (count - 1)
                    + ") is greater than or equal to maximum allowed pending timeouts (" + limit + ")");
        }
        long deadline = deadline(delay, unit);
        Entry entry = new Entry(this, task, deadline);
        list(entry, deadline);
        // Too late for stop() to find it.
        if (stopped && entry.cancel())
            throw new IllegalStateException("cannot be started once stopped");
        return entry;
    }

    /** Starts the timer's thread, as the first newTimeout() does where nobody has. */
    public void start() {
        if (started && !stopped)
            return;
        synchronized (twheel) {
            if (stopped)
                throw new IllegalStateException("cannot be started once stopped");
            if (!started)
                thread.start();
            started = true;
        }
    }

    /**
     * Has the thread look at an entry, whose state was written before: within a round, and by
     * the deadline if that is sooner.
     *
     * <p>The thread clears isListed before it looks at the state. So an entry that is in the list
     * need not be put there.
     */
    private void list(Entry entry, long deadline) {
        if (entry.isListed == 0 && Entry.LISTED.compareAndSet(entry, 0, 1)) {
            do {
                entry.next = listed.get();
            } while (!listed.compareAndSet(entry.next, entry));
        }
        // The thread says when it looks before it finds the list empty and sleeps.
        if (deadline < looksAt)
            wake(deadline);
    }

    private void wake(long deadline) {
        synchronized (twheel) {
            if (deadline < looksAt && !stopped) {
                long now = System.nanoTime(), at = Math.min(deadline, now + ROUND_MS * 1_000_000L);
                // The thread needs the monitor to read that, so it has not looked before this is told.
                twheel.startFlags(WAKE, Math.max(at - now, 0), 0, 0, Twheel.START_REPLACE);
                looksAt = at;
            }
        }
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
            list(entry, deadline);
        return true;
    }

    /** How many have neither expired nor been cancelled. */
    public long pendingTimeouts() {
        return pending.get();
    }

    /**
     * All that is the thread's own, apart from callers, who would wait for its cache lines. It
     * takes the monitor to use the session.
     */
    private final class Worker implements Runnable {
        final ArrayDeque<Entry> todo = new ArrayDeque<>();
        final ArrayDeque<Entry> due = new ArrayDeque<>();
        // Those that the wheel has no memory for.
        final ArrayDeque<Entry> waiting = new ArrayDeque<>();
        Entry[] entries = new Entry[64];
        // The ids that are free: a stack in an array as long as entries.
        int[] free = new int[entries.length];
        int nrFree;
        int nextId = WAKE + 1;

        @Override
        public void run() {
            Twheel.Events events = new Twheel.Events(EVENTS);
            boolean busy = true;
            while (!stopped) {
                sleep(busy);
                synchronized (twheel) {
                    busy = look(System.nanoTime());
                    read(events);
                }
                for (Entry entry; (entry = due.poll()) != null; ) {
                    try {
                        executor.execute(entry::run);
                    } catch (Throwable t) {
                        LOGGER.warn("An exception was thrown by the executor of a TwheelTimer.", t);
                    }
                }
            }
        }

        private void sleep(boolean busy) {
            int ms = !waiting.isEmpty() ? 1 : busy ? ROUND_MS : -1;
            looksAt = ms < 0 ? Long.MAX_VALUE : System.nanoTime() + ms * 1_000_000L;
            if (todo.isEmpty() && listed.get() == null)
                twheel.await(ms);
            looksAt = AWAKE;
        }

        /** Has the wheel follow what was listed, in the order of that: false if nothing was. */
        private boolean look(long nowNs) {
            for (int n = waiting.size(); n > 0; n--) {
                Entry entry = waiting.remove();
                if (entry.id == 0)
                    follow(entry, nowNs);
            }
            isFull = !waiting.isEmpty();
            if (todo.isEmpty())
                for (Entry entry = listed.getAndSet(null), next; entry != null; entry = next) {
                    next = entry.next;
                    entry.next = null;
                    todo.addFirst(entry);
                }
            boolean some = !todo.isEmpty();
            for (int n = 0; n < PIECE && !todo.isEmpty(); n++) {
                Entry entry = todo.remove();
                entry.isListed = 0;
                // It is refreshed to later, if at all.
                if (entry.id != 0 && entry.state >= entry.inWheel)
                    continue;
                if (entry.id != 0) {
                    // Nobody has read its event.
                    twheel.withdraw(entry.id);
                    forget(entry);
                }
                follow(entry, nowNs);
            }
            return some;
        }

        private void read(Twheel.Events events) {
            int got = twheel.read(events);
            for (int i = 0; i < got; i++) {
                Twheel.Event event = events.get(i);
                Entry entry = entries[(int) event.id()];
                if (entry != null) {
                    forget(entry);
                    follow(entry, event.expiredNs());
                }
            }
        }

        /** An entry that is not in the wheel ends, or goes there. */
        private void follow(Entry entry, long nowNs) {
            long deadline = entry.expire(nowNs);
            if (deadline > nowNs) {
                place(entry, deadline);
            } else if (deadline >= 0) {
                pending.decrementAndGet();
                due.add(entry);
            }
        }

        private void place(Entry entry, long deadline) {
            int id = nrFree != 0 ? free[--nrFree] : newId();
            try {
                twheel.startFlags(id, deadline, 0, 0, Twheel.START_ABS);
            } catch (TwheelException e) {
                free[nrFree++] = id;
                waiting.add(entry);
                isFull = true;
                return;
            }
            entries[id] = entry;
            entry.id = id;
            entry.inWheel = deadline;
        }

        private int newId() {
            if (nextId == entries.length) {
                entries = Arrays.copyOf(entries, 2 * nextId);
                free = Arrays.copyOf(free, 2 * nextId);
            }
            return nextId++;
        }

        private void forget(Entry entry) {
            entries[entry.id] = null;
            free[nrFree++] = entry.id;
            entry.id = 0;
        }
    }

    /** Ends the timer's thread, and returns what has neither expired nor been cancelled. */
    @Override
    public Set<Timeout> stop() {
        if (Thread.currentThread() == thread)
            throw new IllegalStateException("TwheelTimer.stop() cannot be called from TimerTask");
        synchronized (twheel) {
            if (stopped)
                return Collections.emptySet();
            stopped = true;
            if (started)
                twheel.startFlags(WAKE, 0, 0, 0, Twheel.START_REPLACE);
        }
        join();
        List<Entry> left = new ArrayList<>(Arrays.asList(worker.entries));
        left.addAll(worker.todo);
        left.addAll(worker.waiting);
        for (Entry entry = listed.getAndSet(null); entry != null; entry = entry.next)
            left.add(entry);
        left.removeIf(entry -> entry == null || entry.state < 0);
        Arrays.fill(worker.entries, null);
        synchronized (twheel) {
            twheel.close();
        }
        return Collections.unmodifiableSet(new HashSet<>(left));
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
