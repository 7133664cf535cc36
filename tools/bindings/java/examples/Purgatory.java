// SPDX-License-Identifier: GPL-2.0 OR MIT
import io.netty.util.Timeout;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import twheel.TwheelTimer;

/**
 * 100,000 requests in flight: each completes or times out, whichever is first, and never both.
 * That is Kafka's purgatory. Half of them complete, and leave nothing behind that has to be
 * purged.
 */
class Purgatory {
    static final int REQUESTS = 100_000;

    /** A request that is waiting, for 1 to 2 s. */
    static class Request {
        private final AtomicInteger ends;
        private final Timeout timeout;

        Request(TwheelTimer timer, long waitMs, AtomicInteger ends, Runnable timedOut) {
            this.ends = ends;
            timeout = timer.newTimeout(t -> {
                ends.incrementAndGet();
                timedOut.run();
            }, waitMs, TimeUnit.MILLISECONDS);
        }

        /** The answer has come: true if in time. */
        boolean complete() {
            boolean inTime = timeout.cancel();
            if (inTime)
                ends.incrementAndGet();
            return inTime;
        }
    }

    public static void main(String[] args) throws Exception {
        TwheelTimer timer = new TwheelTimer();
        Random random = new Random(1);
        AtomicInteger[] ends = new AtomicInteger[REQUESTS];
        Request[] requests = new Request[REQUESTS];
        CountDownLatch left = new CountDownLatch(REQUESTS);
        int completed = 0;

        for (int i = 0; i < REQUESTS; i++) {
            ends[i] = new AtomicInteger();
            requests[i] = new Request(timer, 1000 + random.nextInt(1000), ends[i], left::countDown);
        }
        long inFlight = timer.pendingTimeouts();
        for (int i = 0; i < REQUESTS; i += 2)
            if (requests[i].complete()) {
                completed++;
                left.countDown();
            }
        left.await();
        if (timer.pendingTimeouts() != 0 || !timer.stop().isEmpty())
            throw new IllegalStateException("some are left");
        for (AtomicInteger end : ends)
            if (end.get() != 1)
                throw new IllegalStateException("a request has ended " + end + " times");
        System.out.println(inFlight + " in flight, " + completed + " completed, " + (REQUESTS - completed) + " timed out");
    }
}
