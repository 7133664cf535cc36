// SPDX-License-Identifier: GPL-2.0 OR MIT
package twheel;

/** A call of the library that failed. */
public final class TwheelException extends RuntimeException {
    static final int ENOENT = 2;
    static final int EINTR = 4;
    static final int EACCES = 13;
    static final int EINVAL = 22;
    static final int EALREADY = 114;

    private static final long serialVersionUID = 1;

    private final int errno;

    TwheelException(String call, int errno) {
        super(call + ": " + advice(call, errno));
        this.errno = errno;
    }

    /** The error that libtwheel(3) gives this call. */
    public int errno() {
        return errno;
    }

    private static String advice(String call, int errno) {
        boolean open = call.equals("/dev/twheel");
        String message = Twheel.message(errno);
        switch (errno) {
        case ENOENT:
            return open ? message + ". Is the module loaded? Try: modprobe twheel, or TWHEEL_BACKEND=process"
                    : "no such timer is pending";
        case EACCES:
            return open ? message + ". Be root, or in the group twheel, or try TWHEEL_BACKEND=process" : message;
        case EINVAL:
            return open ? message + ", or TWHEEL_BACKEND is neither kernel nor process" : message;
        case EALREADY:
            return "the event of the timer is unread";
        default:
            return message;
        }
    }
}
