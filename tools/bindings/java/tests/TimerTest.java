// SPDX-License-Identifier: GPL-2.0 OR MIT
package twheel;

import static org.junit.Assert.*;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Test;

/** Behaviour that Netty's own tests do not cover. */
public class TimerTest {
    /** A program changes only the name of the class to replace HashedWheelTimer. */
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
        // The refresh fails if the machine stopped until the timeout expired.
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
        // It is awake, or has been.
        assertTrue(timer.looksAt != Long.MAX_VALUE || timer.worker.nrFree == timer.worker.nextId - 1);
        assertTrue(timer.stop().isEmpty());
    }

    @Test
    public void cancelledBeforeTheThreadLooksTheyNeverReachTheWheel() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        int before = timer.worker.nextId;
        synchronized (timer.twheel) {
            for (int i = 0; i < 10_000; i++) {
                Timeout timeout = timer.newTimeout(t -> { }, 1, TimeUnit.HOURS);
                assertTrue(timer.refresh(timeout, 1, TimeUnit.MINUTES));
                assertTrue(timeout.cancel());
            }
        }
        waitAsleep(timer);
        assertEquals(before, timer.worker.nextId);
        assertTrue(timer.stop().isEmpty());
    }

    /** stop() returns each timeout that newTimeout() returned. */
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
            // And perhaps one more, which newTimeout() did not return.
            assertTrue(left.size() - made.size() <= 1);
        }
    }

    /** Invalid ids stand for lack of memory. */
    @Test
    public void aRefusedTimeoutIsTriedAgain() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        TwheelTimer.Worker worker = timer.worker;
        CountDownLatch done = new CountDownLatch(2);
        Timeout[] refused = new Timeout[4];
        synchronized (timer.twheel) {
            worker.nextId = Integer.MIN_VALUE;
            for (int i = 0; i < 4; i++)
                refused[i] = timer.newTimeout(t -> done.countDown(), 1, TimeUnit.HOURS);
        }
        while (!timer.isFull)
            Thread.sleep(1);
        assertThrows(RejectedExecutionException.class, () -> timer.newTimeout(t -> { }, 1, TimeUnit.HOURS));
        // One is refused again, one is due while it waits, and one is gone.
        assertTrue(timer.refresh(refused[3], 1, TimeUnit.MINUTES));
        assertTrue(timer.refresh(refused[0], 1, TimeUnit.MILLISECONDS));
        assertTrue(refused[1].cancel());
        while (done.getCount() != 1)
            Thread.sleep(1);
        assertEquals(2, timer.pendingTimeouts());
        synchronized (timer.twheel) {
            worker.nextId = 1;
            worker.nrFree = 0;
        }
        assertTrue(timer.refresh(refused[2], 1, TimeUnit.MILLISECONDS));
        done.await();
        waitAsleep(timer);
        // One timeout has a timer, and only one timer.
        assertEquals(1, worker.nextId - 1 - worker.nrFree);
        assertTrue(timer.newTimeout(t -> { }, 1, TimeUnit.HOURS).cancel());
        assertEquals(Set.of(refused[3]), timer.stop());
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
        assertTrue(left.cancel());
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

    private static int descriptors() {
        return new File("/proc/self/fd").list().length;
    }

    @Test
    public void theCollectorClosesWhatWasNeverStarted() throws Exception {
        new TwheelTimer().stop();
        int before = descriptors();
        for (int i = 0; i < 50; i++) {
            new TwheelTimer();
            new Twheel(null);
        }
        while (descriptors() > before) {
            System.gc();
            Thread.sleep(1);
        }
    }

    /** Each timeout ends once, and none is early: it runs, or one cancel() returns true. */
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
