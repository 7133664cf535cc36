// SPDX-License-Identifier: GPL-2.0 OR MIT
package io.netty.util;

/** In place of the TimerTask of 4.1.48: the methods of 4.2. */
public interface TimerTask {
    void run(Timeout timeout) throws Exception;

    default void cancelled(Timeout timeout) {
    }
}
