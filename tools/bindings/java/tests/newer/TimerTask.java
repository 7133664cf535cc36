// SPDX-License-Identifier: GPL-2.0 OR MIT
package io.netty.util;

/** TimerTask of Netty 4.2, for tests with Netty 4.1.48, whose TimerTask has no cancelled(). */
public interface TimerTask {
    void run(Timeout timeout) throws Exception;

    default void cancelled(Timeout timeout) {
    }
}
