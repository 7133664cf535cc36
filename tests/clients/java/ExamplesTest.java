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

    /** The server stops reading, and then the connection is silent. 64 MB are more than sockets keep. */
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
