// SPDX-License-Identifier: GPL-2.0 OR MIT
import static org.junit.Assert.*;

import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.junit.Test;
import twheel.Twheel;
import twheel.TwheelException;

/** Tests of the methods and of their errors. */
public class BindingTest {
    private static final long HOUR = 3_600_000_000_000L;
    private static final int ENOENT = 2;
    private static final int EINVAL = 22;

    private static Twheel withWords(int count) {
        return new Twheel(new Twheel.Setup().sharedIds(count));
    }

    private static void waitUnread(Twheel t, long count) throws InterruptedException {
        while (t.stats().unread() != count)
            Thread.sleep(1);
    }

    private static TwheelException fails(int errno, org.junit.function.ThrowingRunnable call) {
        TwheelException e = assertThrows(TwheelException.class, call);
        assertEquals(errno, e.errno());
        return e;
    }

    /**
     * Returns whether the library opens sessions in the process. It does so if TWHEEL_BACKEND is "process".
     * Without TWHEEL_BACKEND it does so if this user cannot open the device.
     */
    private static boolean inProcess() {
        String asked = System.getenv("TWHEEL_BACKEND");
        File device = new File("/dev/twheel");
        return asked != null && !asked.isEmpty() ? asked.equals("process") : !device.canRead() || !device.canWrite();
    }

    @Test
    public void sessions() {
        Twheel.Setup setup = new Twheel.Setup().flags(Twheel.SETUP_PRIVATE).clock(Twheel.CLOCK_BOOTTIME);
        try (Twheel t = new Twheel(setup)) {
            Twheel.Info info = t.info();
            assertEquals(1, info.abiVersion());
            assertEquals(Twheel.CLOCK_BOOTTIME, info.clock());
            assertEquals(inProcess(), (info.features() & Twheel.FEATURE_PROCESS) != 0);
        }
        TwheelException e = fails(EINVAL, () -> new Twheel(new Twheel.Setup().tickNs(1)));
        assertTrue(e.getMessage(), e.getMessage().startsWith("/dev/twheel: "));
    }

    @Test
    public void timers() throws Exception {
        try (Twheel t = withWords(0)) {
            assertEquals(0, t.start(3, HOUR, 33));
            assertEquals(3, t.startFlags(3, System.nanoTime() + HOUR, 0, 34, Twheel.START_ABS));
            Twheel.Entry entry = t.get(3);
            assertEquals(34, entry.userData());
            assertEquals(Twheel.STATE_PENDING, entry.state());
            assertTrue(entry.remainingNs() <= HOUR);
            assertEquals(1, t.start(3, -1, 0));
            waitUnread(t, 1);
            assertEquals(2, t.start(3, HOUR, 0));
            assertEquals(0, t.stop(3));
            assertNull(t.get(3));
            assertEquals("twheel_stop: no such timer", fails(ENOENT, () -> t.stop(3)).getMessage());
            long id = t.startFlags(Twheel.ID_ANY, 0, 0, 44, 0);
            assertTrue((id & Twheel.ID_KERNEL) != 0);
            waitUnread(t, 1);
            assertEquals(1, t.stop(id));
        }
    }

    /**
     * Sends SIGUSR2 to the thread of this name. The JVM's handler for this signal does nothing here, but the
     * signal interrupts system calls.
     */
    private static void signal(String thread) throws Exception {
        for (File task : new File("/proc/self/task").listFiles())
            if (Files.readString(task.toPath().resolve("comm")).trim().equals(thread))
                new ProcessBuilder("kill", "-USR2", task.getName()).start().waitFor();
    }

    @Test
    public void signalsDoNotEndAWait() throws Exception {
        int[] count = { -1 };
        try (Twheel t = withWords(0)) {
            t.start(1, HOUR / 7200, 0);
            Thread reader = new Thread(() -> count[0] = t.read(new Twheel.Events(1), HOUR), "waits");
            reader.start();
            for (int i = 0; i < 5; i++)
                signal("waits");
            reader.join();
        }
        assertEquals(1, count[0]);
    }

    @Test
    public void events() {
        Twheel.Events events = new Twheel.Events(4);
        try (Twheel t = withWords(0)) {
            assertEquals(0, t.read(events, 0));
            t.startFlags(3, 0, 1_000_000, 33, 0);
            assertEquals(1, t.read(events, -1));
            Twheel.Event event = events.get(0);
            assertEquals(3, event.id());
            assertEquals(33, event.userData());
            assertEquals(Twheel.EVENT_PERIODIC, event.flags());
            assertTrue(event.expiredNs() >= event.deadlineNs() && event.expiredNs() <= System.nanoTime());
            fails(EINVAL, () -> t.read(new Twheel.Events(0)));
            Twheel.Stats stats = t.stats();
            long late = 0;
            for (int i = 0; i < Twheel.STATS_LATENESS; i++)
                late += stats.lateness(i);
            assertEquals(stats.delivered(), late);
            assertThrows(IndexOutOfBoundsException.class, () -> stats.lateness(Twheel.STATS_LATENESS));
        }
    }

    @Test
    public void manyAreDueAtOnce() throws Exception {
        Twheel.Events events = new Twheel.Events(64);
        try (Twheel t = withWords(0)) {
            int left = 100_000;
            for (int id = 0; id < left; id++)
                t.start(id, 0, 0);
            waitUnread(t, left);
            // A timer whose event was not read yet can be stopped.
            left -= t.stop(left - 1);
            while (left > 0)
                left -= t.read(events, -1);
            assertEquals(0, left);
            assertEquals(0, t.read(events));
        }
    }

    @Test
    public void words() throws Exception {
        try (Twheel t = withWords(8)) {
            long deadline = System.nanoTime() + HOUR;
            t.start(7, 0, 0);
            waitUnread(t, 1);
            t.refresh(7, deadline);
            assertEquals(0, t.read(new Twheel.Events(1)));
            assertEquals(deadline, t.get(7).deadlineNs());
            t.push(7, deadline - 1, 0);
            assertEquals(deadline - 1, t.get(7).deadlineNs());
            t.start(6, 0, 0);
            waitUnread(t, 1);
            t.stopByStore(6);
            assertEquals(0, t.read(new Twheel.Events(1)));
            assertNull(t.get(6));
            for (long id : new long[] {8, -1, 1L << 29, 1L << 32, Long.MIN_VALUE, Long.MAX_VALUE})
                assertThrows(IndexOutOfBoundsException.class, () -> t.refresh(id, HOUR));
        }
    }

    @Test
    public void lists() {
        try (Twheel t = withWords(0)) {
            for (int id = 0; id < 200; id++)
                t.start(id, HOUR, 2 * id);
            List<Twheel.Entry> list = t.list();
            assertEquals(200, list.size());
            assertEquals(398, list.get(199).userData());
            assertEquals(200, t.drain().size());
            assertEquals(0, t.list().size());
        }
    }

    /**
     * Lets four threads wait for events, calls the action for each of them, and returns the result of each
     * wait: the number of events and the interrupt status, or the message of an exception.
     */
    private static List<String> whileTheyWait(int words, BiConsumer<Twheel, Thread> action) throws Exception {
        List<String> results = new CopyOnWriteArrayList<>();
        Twheel t = withWords(words);
        t.start(1, HOUR, 0);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            long timeout = i % 2 == 0 ? -1 : HOUR;
            threads[i] = new Thread(() -> {
                try {
                    results.add(t.read(new Twheel.Events(1), timeout) + " " + Thread.currentThread().isInterrupted());
                } catch (IllegalStateException e) {
                    results.add(e.getMessage());
                }
            });
            threads[i].start();
        }
        // Let the threads begin to wait. A thread that does not wait yet must have the same result.
        Thread.sleep(50);
        for (Thread thread : threads)
            action.accept(t, thread);
        for (Thread thread : threads)
            thread.join();
        t.close();
        return results;
    }

    @Test
    public void closeEndsTheWaitsOfOtherThreads() throws Exception {
        for (int words : new int[] {0, 8})
            assertEquals(Collections.nCopies(4, "the session is closed"),
                    whileTheyWait(words, (t, thread) -> t.close()));
    }

    @Test
    public void anInterruptEndsAWait() throws Exception {
        assertEquals(Collections.nCopies(4, "0 true"), whileTheyWait(0, (t, thread) -> thread.interrupt()));
    }

    /** Checks that calls that race with the close() of another thread return, or throw the right exception. */
    @Test
    public void callsRaceWithClose() throws Exception {
        for (int round = 0; round < 100; round++) {
            Twheel t = withWords(8);
            List<Thread> threads = new ArrayList<>();
            for (Runnable call : List.<Runnable>of(() -> t.refresh(1, HOUR), () -> t.start(2, HOUR, 0), t::list)) {
                threads.add(new Thread(() -> {
                    try {
                        for (;;)
                            call.run();
                    } catch (IllegalStateException | IndexOutOfBoundsException closed) {
                        return;
                    }
                }));
            }
            threads.forEach(Thread::start);
            Thread.sleep(1);
            t.close();
            for (Thread thread : threads)
                thread.join();
        }
    }

    @Test
    public void theCollectorClosesWhatNobodyUses() throws Exception {
        CompletableFuture<Integer> got = new CompletableFuture<>();
        int before = new File("/proc/self/fd").list().length;
        // Nothing refers to this session except its own wait, which must get its event.
        new Thread(() -> {
            Twheel waiting = withWords(0);
            waiting.start(1, HOUR / 7200, 0);
            got.complete(waiting.read(new Twheel.Events(1), -1));
        }).start();
        for (int i = 0; i < 50; i++)
            withWords(i % 2);
        while (new File("/proc/self/fd").list().length > before) {
            System.gc();
            Thread.sleep(1);
        }
        assertEquals(1, (int) got.get());
    }

    @Test
    public void afterClose() {
        Twheel t = withWords(8);
        t.close();
        t.close();
        assertThrows(IllegalStateException.class, () -> t.start(1, HOUR, 0));
        assertThrows(IllegalStateException.class, () -> t.read(new Twheel.Events(1), -1));
        assertThrows(IndexOutOfBoundsException.class, () -> t.refresh(1, HOUR));
    }
}
