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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import twheel.TwheelTimer;

/** A server that closes connections which have been silent for a second, and clients that try it. */
class IdleServer {
    static final long IDLE_NS = 1_000_000_000;
    static final int SILENT = 20, TALKING = 5;

    /** Each read pushes the timeout back by a store: nothing is cancelled and started anew. */
    static class IdleHandler extends ChannelInboundHandlerAdapter {
        private final TwheelTimer timer;
        private Timeout timeout;
        private volatile long lastRead = System.nanoTime();

        IdleHandler(TwheelTimer timer) {
            this.timer = timer;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            timeout = timer.newTimeout(t -> idle(context.channel()), IDLE_NS, TimeUnit.NANOSECONDS);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            lastRead = System.nanoTime();
            timer.refresh(timeout, IDLE_NS, TimeUnit.NANOSECONDS);
            context.writeAndFlush(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            timeout.cancel();
        }

        private void idle(Channel channel) {
            if (System.nanoTime() - lastRead < IDLE_NS)
                EARLY.incrementAndGet();
            channel.close();
        }
    }

    static final AtomicInteger EARLY = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        TwheelTimer timer = new TwheelTimer();
        NioEventLoopGroup loops = new NioEventLoopGroup(2);
        Channel server = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new IdleHandler(timer));
                    }
                }).bind("127.0.0.1", 0).sync().channel();
        int port = ((InetSocketAddress) server.localAddress()).getPort();

        CountDownLatch closed = new CountDownLatch(SILENT);
        AtomicInteger heartbeats = new AtomicInteger();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < SILENT + TALKING; i++) {
            boolean silent = i < SILENT;
            clients.add(new Thread(() -> {
                try (Socket socket = new Socket("127.0.0.1", port)) {
                    while (!silent && closed.getCount() != 0) {
                        socket.getOutputStream().write(1);
                        // Closed too: the machine was away for a second.
                        if (socket.getInputStream().read() < 0)
                            return;
                        heartbeats.incrementAndGet();
                        Thread.sleep(100);
                    }
                    if (silent && socket.getInputStream().read() < 0)
                        closed.countDown();
                } catch (Exception e) {
                    if (silent)
                        throw new IllegalStateException(e);
                }
            }));
        }
        clients.forEach(Thread::start);
        closed.await();
        for (Thread client : clients)
            client.join();
        server.close().sync();
        loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        timer.stop();
        System.out.println(heartbeats + " heartbeats, " + SILENT + " silent ones closed, " + EARLY + " early");
        if (EARLY.get() != 0 || heartbeats.get() == 0)
            throw new IllegalStateException();
    }
}
