// SPDX-License-Identifier: GPL-2.0
import static org.junit.Assert.assertThrows;

import io.netty.channel.Channel;
import io.netty.channel.nio.NioEventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.junit.Test;
import twheel.TwheelTimer;

/** Runs the examples. An example throws if something goes wrong. */
public class ExamplesTest {
    @Test
    public void heartbeat() {
        Heartbeat.main(null);
    }

    @Test
    public void idleServer() throws Exception {
        IdleServer.main(null);
    }

    /** The server reads no more from a client that does not read, so the connection times out. 64 MB fill all buffers. */
    @Test
    public void aClientThatNeverReads() throws Exception {
        TwheelTimer timer = new TwheelTimer();
        NioEventLoopGroup loops = new NioEventLoopGroup(1);
        Channel server = IdleServer.serve(loops, timer);
        try (Socket client = new Socket("127.0.0.1", ((InetSocketAddress) server.localAddress()).getPort())) {
            assertThrows(IOException.class, () -> {
                for (int i = 0; i < 64; i++)
                    client.getOutputStream().write(new byte[1 << 20]);
            });
        }
        server.close().sync();
        loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        timer.stop();
    }
}
