// SPDX-License-Identifier: GPL-2.0 OR MIT
package twheel;

/** A call of the library that failed. */
public final class TwheelException extends RuntimeException {
    static final int ENOENT = 2;
    static final int EINTR = 4;
    static final String DEVICE = "/dev/twheel";

    private static final long serialVersionUID = 1;

    private final int errno;

    TwheelException(String call, int errno) {
        super(call + ": " + message(call, errno));
        this.errno = errno;
    }

    /** Returns the error of the call, as libtwheel(3) documents it. */
    public int errno() {
        return errno;
    }

    private static String message(String call, int errno) {
        if (call.equals(DEVICE))
            return Twheel.message(errno) + ". Check the setup, TWHEEL_BACKEND, the module and the group twheel";
        return errno == ENOENT ? "no such timer" : Twheel.message(errno);
    }
}
