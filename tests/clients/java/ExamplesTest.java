// SPDX-License-Identifier: GPL-2.0
import org.junit.Test;

/** Each throws if it goes wrong. */
public class ExamplesTest {
    @Test
    public void heartbeat() {
        Heartbeat.main(null);
    }

    @Test
    public void idleServer() throws Exception {
        IdleServer.main(null);
    }
}
