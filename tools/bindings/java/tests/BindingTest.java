// SPDX-License-Identifier: GPL-2.0 OR MIT
import static org.junit.Assert.*;

import java.io.File;
import java.nio.file.Files;
import java.util.List;
import org.junit.Test;
import twheel.Twheel;
import twheel.TwheelException;

/** Each method and its errors. */
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

    @Test
    public void sessions() {
        Twheel.Setup setup = new Twheel.Setup().flags(Twheel.SETUP_PRIVATE).clock(Twheel.CLOCK_BOOTTIME);
        try (Twheel t = new Twheel(setup)) {
            Twheel.Info info = t.info();
            assertEquals(1, info.abiVersion());
            assertEquals(Twheel.CLOCK_BOOTTIME, info.clock());
            assertEquals("process".equals(System.getenv("TWHEEL_BACKEND")),
                    (info.features() & Twheel.FEATURE_PROCESS) != 0);
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

    /** A signal that the JVM handles, and ignores. */
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
            assertFalse(t.await(0));
            t.startFlags(3, 0, 1_000_000, 33, 0);
            assertTrue(t.await(-1));
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
    public void listsAndBatches() {
        try (Twheel t = withWords(0); Twheel.Batch batch = t.batch(200)) {
            for (int id = 0; id < 199; id++)
                assertTrue(batch.start(id, HOUR, 2 * id).isEmpty());
            List<Twheel.Op> ops = batch.stop(1000);
            assertEquals(200, ops.size());
            assertEquals(0, ops.get(0).result());
            assertEquals(new Twheel.Op(1000, -ENOENT), ops.get(199));
            batch.stop(0);
            assertEquals(0, batch.flush().get(0).result());
            assertTrue(batch.flush().isEmpty());
            List<Twheel.Entry> list = t.list();
            assertEquals(198, list.size());
            assertEquals(396, list.get(197).userData());
            fails(EINVAL, () -> t.batch(0));
        }
    }

    @Test
    public void afterClose() {
        Twheel t = withWords(8);
        Twheel.Batch batch = t.batch(2), closed = t.batch(2);
        closed.close();
        assertThrows(IllegalStateException.class, closed::flush);
        batch.close();
        t.close();
        t.close();
        assertThrows(IllegalStateException.class, () -> t.start(1, HOUR, 0));
        assertThrows(IllegalStateException.class, batch::flush);
        assertThrows(IndexOutOfBoundsException.class, () -> t.refresh(1, HOUR));
    }
}
