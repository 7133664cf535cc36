// SPDX-License-Identifier: GPL-2.0 OR MIT
import twheel.Twheel;

/** Idle timeouts of three connections, refreshed by stores. */
class Heartbeat {
    static final int CONNECTIONS = 3;
    static final long TIMEOUT_NS = 200_000_000;
    static final int HEARTBEATS = 10;

    public static void main(String[] args) {
        try (Twheel t = new Twheel(new Twheel.Setup().sharedIds(CONNECTIONS))) {
            for (int id = 0; id < CONNECTIONS; id++)
                t.start(id, TIMEOUT_NS, id);
            t.stopByStore(2);
            int beats = 0, idle = 0;
            Twheel.Events events = new Twheel.Events(CONNECTIONS);
            while (idle < 2) {
                if (beats < HEARTBEATS) {
                    t.refresh(0, System.nanoTime() + TIMEOUT_NS);
                    beats++;
                }
                idle += t.read(events, 20_000_000);
            }
            System.out.println(beats + " heartbeats, " + idle + " idle");
        }
    }
}
