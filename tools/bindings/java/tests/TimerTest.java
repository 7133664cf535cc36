// SPDX-License-Identifier: GPL-2.0 OR MIT
package twheel;

import static org.junit.Assert.*;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Test;

/** Behaviour that Netty's own tests do not cover. */
public class TimerTest {
    /** Checks that a program can replace HashedWheelTimer by changing only the name of the class. */
    @Test
    public void allOfHashedWheelTimerIsHere() throws Exception {
        for (Constructor<?> theirs : HashedWheelTimer.class.getConstructors())
            TwheelTimer.class.getConstructor(theirs.getParameterTypes());
        for (Method theirs : HashedWheelTimer.class.getMethods())
            assertEquals(theirs.toString(), theirs.getReturnType(),
                    TwheelTimer.class.getMethod(theirs.getName(), theirs.getParameterTypes()).getReturnType());
    }

    @Test
    public void aTimerIsStartedWithoutATimeout() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        timer.start();
        waitAsleep(timer);
        timer.start();
        assertTrue(timer.stop().isEmpty());
        assertTrue(timer.stop().isEmpty());
        assertThrows(IllegalStateException.class, timer::start);
    }

    @Test
    public void aRefreshedTimeoutIsNotEarly() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        CompletableFuture<Long> ended = new CompletableFuture<>();
        Timeout timeout = timer.newTimeout(t -> ended.complete(System.nanoTime()), 20, TimeUnit.MILLISECONDS);
        // The refresh may fail, if the machine stopped until the timeout expired.
        long before = System.nanoTime();
        boolean refreshed = timer.refresh(timeout, 200, TimeUnit.MILLISECONDS);
        assertTrue(ended.get() - before >= 200_000_000 || !refreshed);
        assertTrue(timeout.isExpired());
        assertFalse(timer.refresh(timeout, 1, TimeUnit.HOURS));
        assertFalse(timer.refreshAt(timeout, Long.MAX_VALUE));
        assertFalse(timeout.cancel());
        assertEquals(0, timer.pendingTimeouts());
        timer.stop();
    }

    private static void waitAsleep(TwheelTimer timer) throws Exception {
        while (timer.looksAt != Long.MAX_VALUE)
            Thread.sleep(1);
    }

    @Test
    public void aThreadThatSleepsIsWoken() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        Timeout far = timer.newTimeout(t -> { }, 1, TimeUnit.HOURS);
        for (int i = 0; i < 5; i++) {
            CountDownLatch done = new CountDownLatch(1);
            waitAsleep(timer);
            timer.newTimeout(t -> done.countDown(), i, TimeUnit.MILLISECONDS);
            assertTrue(done.await(60, TimeUnit.SECONDS));
        }
        waitAsleep(timer);
        assertTrue(far.cancel());
        // The thread is awake, or it was awake and has freed the timer.
        assertTrue(timer.looksAt != Long.MAX_VALUE || timer.worker.nrFree == timer.worker.entries.length);
        assertTrue(timer.stop().isEmpty());
    }

    /** Runs code in the timer's thread. */
    private static void inThread(TwheelTimer timer, Runnable code) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        timer.newTimeout(t -> {
            try {
                code.run();
                done.complete(null);
            } catch (Throwable failed) {
                done.completeExceptionally(failed);
            }
        }, 0, TimeUnit.SECONDS);
        done.get();
    }

    @Test
    public void cancelledBeforeTheThreadLooksTheyNeverReachTheWheel() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        inThread(timer, () -> {
            for (int i = 0; i < 10_000; i++) {
                Timeout timeout = timer.newTimeout(t -> { }, 1, TimeUnit.HOURS);
                assertTrue(timer.refresh(timeout, 1, TimeUnit.MINUTES));
                assertTrue(timeout.cancel());
            }
        });
        waitAsleep(timer);
        assertEquals(0, timer.worker.entries.length);
        assertTrue(timer.stop().isEmpty());
    }

    /** Checks pairs that are due at the same moment: the first task can still cancel or move the second timeout. */
    @Test
    public void aTaskCancelsItsSibling() throws Exception {
        final int pairs = 1000;
        TwheelTimer timer = new TwheelTimer();
        AtomicInteger ran = new AtomicInteger(), ended = new AtomicInteger(), tooLate = new AtomicInteger();
        CountDownLatch told = new CountDownLatch(pairs / 2);
        inThread(timer, () -> {
            for (int i = 0; i < pairs; i++) {
                boolean cancels = i % 2 == 0;
                Timeout[] pair = new Timeout[2];
                TimerTask task = new TimerTask() {
                    @Override
                    public void run(Timeout timeout) {
                        Timeout other = pair[timeout == pair[0] ? 1 : 0];
                        ran.incrementAndGet();
                        if (!(cancels ? other.cancel() : timer.refresh(other, 1, TimeUnit.HOURS)))
                            tooLate.incrementAndGet();
                        ended.incrementAndGet();
                    }

                    @Override
                    public void cancelled(Timeout timeout) {
                        if (timeout.isCancelled())
                            told.countDown();
                    }
                };
                for (int k = 0; k < 2; k++)
                    pair[k] = timer.newTimeout(task, 5, TimeUnit.MILLISECONDS);
            }
        });
        while (ended.get() < pairs)
            Thread.sleep(1);
        told.await();
        assertEquals(0, tooLate.get());
        assertEquals(pairs, ran.get());
        assertEquals(pairs / 2, timer.stop().size());
    }

    /** Checks that stop() returns each timeout that a racing newTimeout() returned. */
    @Test
    public void stopRaces() throws Exception {
        for (int round = 0; round < 50; round++) {
            TwheelTimer timer = new TwheelTimer();
            List<Timeout> made = new ArrayList<>();
            Thread maker = new Thread(() -> {
                try {
                    for (;;)
                        made.add(timer.newTimeout(t -> { }, 1, TimeUnit.HOURS));
                } catch (IllegalStateException stopped) {
                    return;
                }
            });
            maker.start();
            while (timer.pendingTimeouts() == 0)
                Thread.onSpinWait();
            Set<Timeout> left = timer.stop();
            maker.join();
            assertTrue(left.containsAll(made));
            // Allow one timeout more, of a call of newTimeout() that did not return it.
            assertTrue(left.size() - made.size() <= 1);
        }
    }

    /**
     * Checks that timeouts without memory for their timers still expire or can be cancelled, and that the timers
     * are made once there is memory. tests/vm/guest/java and "make check" limit that memory to 64 MiB, so that the
     * test can use it up.
     */
    @Test
    public void aTimeoutWithoutMemoryIsTriedAgain() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        CountDownLatch done = new CountDownLatch(2);
        List<ByteBuffer> all = new ArrayList<>();
        for (int size = 1 << 20; size >= 1 << 14; ) {
            try {
                all.add(ByteBuffer.allocateDirect(size));
            } catch (OutOfMemoryError e) {
                size >>= 3;
            }
        }
        Timeout cancelled = timer.newTimeout(t -> done.countDown(), 1, TimeUnit.HOURS);
        Timeout left = timer.newTimeout(t -> { }, 1, TimeUnit.HOURS);
        timer.newTimeout(t -> done.countDown(), 10, TimeUnit.MILLISECONDS);
        while (done.getCount() != 1)
            Thread.sleep(1);
        assertTrue(cancelled.cancel());
        assertEquals(0, timer.worker.entries.length);
        all.clear();
        timer.newTimeout(t -> done.countDown(), 10, TimeUnit.MILLISECONDS);
        done.await();
        while (timer.worker.nrFree != timer.worker.entries.length - 1)
            Thread.sleep(1);
        assertEquals(Set.of(left), timer.stop());
    }

    @Test
    public void theCollectorFreesATimerThatWasNeverStarted() {
        // If these timers were not freed, they would need more memory than the limit.
        for (int i = 0; i < 500; i++)
            assertEquals(0, new TwheelTimer().pendingTimeouts());
    }

    /** Checks that 100,000 timeouts that are due at once do not delay a timeout that the first of them queues. */
    @Test
    public void manyAreDueAtOnce() throws Exception {
        final int many = 100_000;
        TwheelTimer timer = new TwheelTimer();
        AtomicInteger ran = new AtomicInteger();
        CompletableFuture<Integer> other = new CompletableFuture<>();
        long deadline = System.nanoTime() + 1_000_000_000;
        inThread(timer, () -> {
            for (int i = 0; i < many; i++)
                timer.refreshAt(timer.newTimeout(t -> {
                    if (ran.incrementAndGet() == 1)
                        timer.newTimeout(u -> other.complete(ran.get()), 0, TimeUnit.SECONDS);
                }, 1, TimeUnit.HOURS), deadline);
        });
        waitAsleep(timer);
        // On a slow machine the deadline may pass before the thread has put all timeouts into the wheel.
        // Then the rest run in the order of the queue, and the timeout that the first of them queues is last.
        boolean inTime = timer.worker.entries.length - timer.worker.nrFree == many;
        while (ran.get() < many)
            Thread.sleep(1);
        assertTrue(other.get() < many || !inTime);
        assertTrue(timer.stop().isEmpty());
    }

    @Test
    public void anInterruptOfTheThreadIsForgotten() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        inThread(timer, () -> Thread.currentThread().interrupt());
        waitAsleep(timer);
        inThread(timer, () -> assertFalse(Thread.currentThread().isInterrupted()));
        timer.stop();
    }

    @Test
    public void aDeadlineMayBeAnyTime() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        for (long deadline : new long[] {Long.MIN_VALUE, -1, 0, System.nanoTime() + 50_000_000}) {
            CompletableFuture<Long> ended = new CompletableFuture<>();
            Timeout timeout = timer.newTimeout(t -> ended.complete(System.nanoTime()), 1, TimeUnit.HOURS);
            assertTrue(timer.refreshAt(timeout, Long.MAX_VALUE));
            assertFalse(timeout.isExpired());
            assertTrue(timer.refreshAt(timeout, deadline));
            assertTrue(ended.get() >= deadline);
        }
        timer.stop();
    }

    @Test
    public void stopReturnsWhatIsLeft() {
        TwheelTimer timer = new TwheelTimer();
        Timeout gone = timer.newTimeout(t -> { }, 1, TimeUnit.HOURS);
        Timeout left = timer.newTimeout(t -> { }, 1, TimeUnit.HOURS);
        assertTrue(gone.cancel());
        assertFalse(gone.cancel());
        assertTrue(gone.isCancelled());
        assertFalse(timer.refresh(gone, 1, TimeUnit.HOURS));
        assertEquals(Set.of(left), timer.stop());
        assertTrue(left.isCancelled());
        assertFalse(left.cancel());
        assertSame(timer, left.timer());
    }

    @Test
    public void anExecutorRunsTheTasks() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        TwheelTimer timer = new TwheelTimer(Executors.defaultThreadFactory(), 100, TimeUnit.MILLISECONDS, 512, true, 0,
                executor);
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        timer.newTimeout(t -> ran.complete(Thread.currentThread()), 0, TimeUnit.SECONDS);
        assertSame(executor.submit(Thread::currentThread).get(), ran.get());
        executor.shutdown();
        // The thread logs that the executor refused a task, and continues.
        for (int i = 0; i < 2; i++) {
            timer.newTimeout(t -> { }, 0, TimeUnit.SECONDS);
            while (timer.pendingTimeouts() != 0)
                Thread.sleep(1);
        }
        assertTrue(timer.stop().isEmpty());
    }

    @Test
    public void aTaskThatThrowsHarmsNoOther() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        CompletableFuture<Throwable> refused = new CompletableFuture<>();
        timer.newTimeout(t -> { throw new IllegalArgumentException("as asked"); }, -5, TimeUnit.SECONDS);
        timer.newTimeout(t -> refused.complete(assertThrows(IllegalStateException.class, timer::stop)),
                10, TimeUnit.MILLISECONDS);
        refused.get();
        timer.stop();
    }

    @Test
    public void anArgumentThatIsMissingCountsNothing() {
        TwheelTimer timer = new TwheelTimer(Executors.defaultThreadFactory(), 100, TimeUnit.MILLISECONDS, 512, true, 1);
        assertThrows(NullPointerException.class, () -> timer.newTimeout(t -> { }, 1, null));
        assertThrows(NullPointerException.class, () -> timer.newTimeout(null, 1, TimeUnit.HOURS));
        assertEquals(0, timer.pendingTimeouts());
        timer.newTimeout(t -> { }, 1, TimeUnit.HOURS);
        assertEquals(1, timer.stop().size());
    }

    /** Checks that each timeout ends once: either its task runs, and not early, or cancel() returns true. */
    @Test
    public void threadsRace() throws Exception {
        final int threads = 4, rounds = 5000, each = 16;
        TwheelTimer timer = new TwheelTimer();
        AtomicInteger made = new AtomicInteger(), ended = new AtomicInteger(), early = new AtomicInteger();
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            Random random = new Random(i);
            all[i] = new Thread(() -> {
                Timeout[] own = new Timeout[each];
                for (int round = 0; round < rounds; round++) {
                    int slot = random.nextInt(each);
                    long delay = random.nextInt(3000), due = System.nanoTime() + delay * 1000;
                    if (own[slot] != null && random.nextBoolean()) {
                        timer.refresh(own[slot], 3000 + delay, TimeUnit.MICROSECONDS);
                        continue;
                    }
                    if (own[slot] != null && own[slot].cancel())
                        ended.incrementAndGet();
                    own[slot] = timer.newTimeout(t -> {
                        if (System.nanoTime() < due)
                            early.incrementAndGet();
                        ended.incrementAndGet();
                    }, delay, TimeUnit.MICROSECONDS);
                    made.incrementAndGet();
                }
            });
            all[i].start();
        }
        for (Thread thread : all)
            thread.join();
        while (timer.pendingTimeouts() != 0)
            Thread.sleep(1);
        assertTrue(timer.stop().isEmpty());
        assertEquals(0, early.get());
        assertEquals(made.get(), ended.get());
    }
}
