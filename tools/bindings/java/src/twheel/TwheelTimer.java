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
 * <p>A timeout expires at most one tick of twheel after its deadline, however far that is, and
 * never before it. {@link #refresh} moves a timeout to a later deadline by a store.
 *
 * <p>Callers queue each timeout that is new, cancelled or moved to an earlier deadline. The
 * timer's thread empties the queue within 10 ms, or by the deadline if that is sooner, and starts
 * and stops timers of the wheel. It sleeps while the queue is empty and nothing is due.
 */
public final class TwheelTimer implements Timer {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(TwheelTimer.class);
    // The id of the timer that only wakes the thread.
    private static final int WAKE = 0;
    private static final int EVENTS = 256;
    // The longest sleep of the thread while callers queue timeouts.
    private static final int ROUND_MS = 10;
    // Timeouts that the thread takes from the queue before it reads events again.
    private static final int PIECE = 4096;
    private static final long AWAKE = Long.MIN_VALUE;

    final Twheel twheel;
    private final long latestNs;
    private final long limit;
    private final Executor executor;
    final Worker worker = new Worker();
    private final Thread thread;

    private final AtomicLong pending = new AtomicLong();
    // Entries for the thread, the newest first. A ConcurrentLinkedQueue is slower.
    private final AtomicReference<Entry> queued = new AtomicReference<>();
    // When the thread empties the queue. A caller with a sooner deadline wakes it.
    volatile long looksAt = AWAKE;
    // The wheel has no memory for a timer: refuse new timeouts.
    volatile boolean isFull;
    // Written with the monitor of the session, "twheel", held.
    private volatile boolean started;
    private volatile boolean stopped;

    /** Creates a timer whose only limit is that of the session. */
    public TwheelTimer() {
        this(Executors.defaultThreadFactory());
    }

    public TwheelTimer(ThreadFactory threadFactory) {
        this(threadFactory, 0, null, 0, false, 0);
    }

    // The duration of a tick, the number of slots and leak detection have no effect.

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
        // The monitor serializes all calls but await().
        twheel = new Twheel(null);
        Twheel.Info info = twheel.info();
        latestNs = info.maxIntervalNs();
        long most = info.maxTimers() - 1;
        limit = maxPendingTimeouts > 0 ? Math.min(maxPendingTimeouts, most) : most;
    }

    /** A timeout. Any thread changes its state. Only the timer's thread changes its timer. */
    private static final class Entry implements Timeout {
        private static final AtomicLongFieldUpdater<Entry> STATE =
                AtomicLongFieldUpdater.newUpdater(Entry.class, "state");
        private static final AtomicIntegerFieldUpdater<Entry> QUEUED =
                AtomicIntegerFieldUpdater.newUpdater(Entry.class, "isQueued");
        private static final long EXPIRED = -1;
        private static final long CANCELLED = -2;

        private final TwheelTimer timer;
        private final TimerTask task;
        // The deadline, EXPIRED or CANCELLED.
        private volatile long state;
        // 1 in the queue, where next is the entry queued before it, and in the thread's "todo".
        private volatile int isQueued;
        private Entry next;
        // The thread's: the id of its timer or 0, and the deadline of that timer.
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
            // Not urgent, but sooner than a sleep without end.
            timer.queue(this, Long.MAX_VALUE - 1);
            return true;
        }

        /** Expires the timeout if it is due. Returns the state before that. */
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
        queue(entry, deadline);
        // stop() may have emptied the queue before.
        if (stopped && entry.cancel())
            throw new IllegalStateException("cannot be started once stopped");
        return entry;
    }

    /** Starts the timer's thread. The first newTimeout() starts it, too. */
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
     * Queues an entry whose state was written before, and wakes the thread if it would sleep
     * beyond the deadline.
     *
     * <p>The thread clears isQueued before it reads the state, so an entry is queued once.
     */
    private void queue(Entry entry, long deadline) {
        if (entry.isQueued == 0 && Entry.QUEUED.compareAndSet(entry, 0, 1)) {
            do {
                entry.next = queued.get();
            } while (!queued.compareAndSet(entry.next, entry));
        }
        // Pairs with sleep(), which writes looksAt before it reads the queue.
        if (deadline >= looksAt)
            return;
        synchronized (twheel) {
            if (deadline < looksAt && !stopped) {
                long now = System.nanoTime(), at = Math.min(deadline, now + ROUND_MS * 1_000_000L);
                // The thread reads this event with the monitor held: after looksAt is written.
                twheel.start(WAKE, at - now, 0);
                looksAt = at;
            }
        }
    }

    /**
     * Moves a timeout to a later or earlier deadline, a delay from now.
     *
     * @param timeout a timeout of this timer
     * @return false if it has expired or was cancelled
     */
    public boolean refresh(Timeout timeout, long delay, TimeUnit unit) {
        return refreshAt(timeout, deadline(delay, unit));
    }

    /**
     * The same for a caller that has read the clock already, which takes most of a refresh.
     *
     * @param deadlineNs the deadline, in the time of System.nanoTime()
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
        // The thread finds a later deadline when the old one is due.
        if (deadline < old)
            queue(entry, deadline);
        return true;
    }

    /** Returns the number of timeouts that have neither expired nor been cancelled. */
    public long pendingTimeouts() {
        return pending.get();
    }

    /** The thread's own data, in other cache lines than the callers'. */
    final class Worker implements Runnable {
        // Entries taken from the queue, in its order. The last wait for memory for a timer.
        final ArrayDeque<Entry> todo = new ArrayDeque<>();
        final ArrayDeque<Entry> due = new ArrayDeque<>();
        Entry[] entries = new Entry[64];
        // A stack of free ids, as long as entries.
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
                    busy = emptyQueue(System.nanoTime());
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
            int ms = isFull ? 1 : busy ? ROUND_MS : -1;
            looksAt = ms < 0 ? Long.MAX_VALUE : System.nanoTime() + ms * 1_000_000L;
            if (isFull || todo.isEmpty() && queued.get() == null)
                twheel.await(ms);
            looksAt = AWAKE;
        }

        /** Takes entries from the queue. Returns false if it was empty. */
        private boolean emptyQueue(long nowNs) {
            // A cancelled entry makes room for those that wait.
            if (todo.isEmpty() || isFull)
                for (Entry entry = queued.getAndSet(null), next; entry != null; entry = next) {
                    next = entry.next;
                    entry.next = null;
                    todo.addFirst(entry);
                }
            int size = todo.size(), count = Math.min(size, PIECE);
            for (int i = 0; i < count; i++) {
                Entry entry = todo.remove();
                entry.isQueued = 0;
                // Its deadline is not earlier than its timer's.
                if (entry.id != 0 && entry.state >= entry.inWheel)
                    continue;
                if (entry.id != 0) {
                    // The timer is pending, or its event is unread.
                    twheel.stop(entry.id);
                    forget(entry);
                }
                follow(entry, nowNs);
            }
            isFull = todo.size() > size - count;
            return size != 0;
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

        /** Expires an entry that has no timer, or starts a timer for it. */
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
                // Unless a caller queued it meanwhile.
                if (Entry.QUEUED.compareAndSet(entry, 0, 1))
                    todo.add(entry);
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

    /** Ends the timer's thread. Returns the timeouts that have neither expired nor been cancelled. */
    @Override
    public Set<Timeout> stop() {
        if (Thread.currentThread() == thread)
            throw new IllegalStateException("TwheelTimer.stop() cannot be called from TimerTask");
        synchronized (twheel) {
            if (stopped)
                return Collections.emptySet();
            stopped = true;
            if (started)
                twheel.start(WAKE, 0, 0);
        }
        join();
        List<Entry> left = new ArrayList<>(Arrays.asList(worker.entries));
        left.addAll(worker.todo);
        for (Entry entry = queued.getAndSet(null); entry != null; entry = entry.next)
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
