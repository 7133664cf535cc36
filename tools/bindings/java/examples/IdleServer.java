// SPDX-License-Identifier: GPL-2.0 OR MIT
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.Timeout;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import twheel.TwheelTimer;

/** A server that closes connections that are silent for a second. Of its two clients, one is silent. */
class IdleServer {
    static final long IDLE_NS = 1_000_000_000;

    /** Each read refreshes the timeout by a store. No timeout is cancelled or created. */
    static class IdleHandler extends ChannelInboundHandlerAdapter {
        private final TwheelTimer timer;
        private Timeout timeout;

        IdleHandler(TwheelTimer timer) {
            this.timer = timer;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            timeout = timer.newTimeout(t -> context.close(), IDLE_NS, TimeUnit.NANOSECONDS);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            timer.refresh(timeout, IDLE_NS, TimeUnit.NANOSECONDS);
            context.writeAndFlush(message);
        }

        /** Stops reading from a client that does not read its answers, so that these do not fill memory. */
        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            context.channel().config().setAutoRead(context.channel().isWritable());
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            timeout.cancel();
        }
    }

    static Channel serve(NioEventLoopGroup loops, TwheelTimer timer) throws InterruptedException {
        return new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new IdleHandler(timer));
                    }
                }).bind("127.0.0.1", 0).sync().channel();
    }

    public static void main(String[] args) throws Exception {
        TwheelTimer timer = new TwheelTimer();
        NioEventLoopGroup loops = new NioEventLoopGroup(2);
        Channel server = serve(loops, timer);
        int port = ((InetSocketAddress) server.localAddress()).getPort();

        int heartbeats = 0;
        try (Socket silent = new Socket("127.0.0.1", port); Socket talking = new Socket("127.0.0.1", port)) {
            silent.setSoTimeout(100);
            for (boolean closed = false; !closed; heartbeats++) {
                talking.getOutputStream().write(1);
                talking.getInputStream().read();
                try {
                    closed = silent.getInputStream().read() < 0;
                } catch (SocketTimeoutException stillOpen) {
                    continue;
                }
            }
        } catch (SocketException e) {
            // The machine stopped for a second, so the server closed both connections.
        }
        server.close().sync();
        loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        timer.stop();
        System.out.println(heartbeats + " heartbeats until the silent client was closed");
    }
}
