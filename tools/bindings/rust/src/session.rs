// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Sessions: the feature "session"
use crate::abi::*;

use std::mem::size_of;
use std::os::raw::{c_int, c_uint, c_ulong, c_void};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fmt, io, slice};

const ENOENT: i32 = 2;
const EINTR: i32 = 4;

/// An error of a call of the library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error {
    /// The function that failed, or the device.
    pub call: &'static str,
    /// The number of the error, as in errno(3).
    pub errno: i32,
}

/// The result of a method.
pub type Result<T> = std::result::Result<T, Error>;

const OPEN: &str = "/dev/twheel";

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = io::Error::from_raw_os_error(self.errno);
        match (self.call, self.errno) {
            (OPEN, _) => write!(to, "{OPEN}: {error}. Check the setup, TWHEEL_BACKEND, the module and the group twheel"),
            (call, ENOENT) => write!(to, "{call}: no such timer is pending"),
            (call, _) => write!(to, "{call}: {error}"),
        }
    }
}

/// The same as `Display`, because a main() that returns an error prints this.
impl fmt::Debug for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::new(io::Error::from_raw_os_error(error.errno).kind(), error)
    }
}

fn check(call: &'static str, ret: c_int) -> Result<u32> {
    if ret < 0 {
        Err(Error { call, errno: -ret })
    } else {
        Ok(ret as u32)
    }
}

/// Converts a duration to nanoseconds. A longer one becomes `i64::MAX`, 292 years, which means never.
fn ns(time: Duration) -> u64 {
    time.as_nanos().min(i64::MAX as u128) as u64
}

/// Returns the time on CLOCK_MONOTONIC, the clock of deadlines unless `Setup::clock` chose another.
pub fn now() -> Duration {
    Duration::from_nanos(unsafe { twheel_now() })
}

/// A session. Threads may share it.
#[derive(Debug)]
pub struct Twheel(NonNull<Handle>);

// The library takes a lock, and keeps no state for a thread.
unsafe impl Send for Twheel {}
unsafe impl Sync for Twheel {}

impl Twheel {
    /// Opens a session. `setup.event_size` is ignored.
    pub fn open(setup: &Setup) -> Result<Twheel> {
        let mut handle = null_mut();
        check(OPEN, unsafe { twheel_open_sized(&mut handle, setup, size_of::<Setup>(), size_of::<Event>()) })?;
        Ok(Twheel(NonNull::new(handle).expect("a session")))
    }

    /// Calls an ioctl. The command contains the size of the argument, so it also works if later
    /// versions of the library and of the kernel have larger structures than this crate.
    fn command<T>(&self, call: &'static str, number: c_ulong, argument: &mut T) -> Result<u32> {
        let command = number | (size_of::<T>() as c_ulong) << 16;
        check(call, unsafe { twheel_command(self.0.as_ptr(), command, argument as *mut T as *mut c_void) })
    }

    /// Starts or restarts a timer. Returns 1 if it was pending, 2 if its unread event is withdrawn, else 0.
    pub fn start(&self, id: u64, delay: Duration, user_data: u64) -> Result<u32> {
        check("twheel_start", unsafe { twheel_start(self.0.as_ptr(), id, ns(delay), user_data) })
    }

    /// Starts a timer with START_ABS or a period. Returns its id, which the kernel chooses for ID_ANY.
    pub fn start_flags(
        &self, mut id: u64, expires: Duration, period: Duration, user_data: u64, flags: u32,
    ) -> Result<u64> {
        check("twheel_start_flags", unsafe {
            twheel_start_flags(self.0.as_ptr(), &mut id, ns(expires), ns(period), user_data, flags)
        })?;
        Ok(id)
    }

    /// Moves a timer to another deadline, by a store unless the deadline is earlier than its word.
    pub fn push(&self, id: u64, deadline: Duration, user_data: u64) -> Result<()> {
        check("twheel_push", unsafe { twheel_push(self.0.as_ptr(), id, ns(deadline), user_data) }).map(drop)
    }

    /// Stops a timer. Returns 0 if it was pending, 1 if its unread event is withdrawn.
    pub fn stop(&self, id: u64) -> Result<u32> {
        check("twheel_stop", unsafe { twheel_stop(self.0.as_ptr(), id) })
    }

    /// Returns the words, one for each id below `shared_ids`.
    fn words(&self) -> &[AtomicU64] {
        let handle = unsafe { self.0.as_ref() };
        match handle.shared_ids {
            0 => &[],
            count => unsafe { slice::from_raw_parts(handle.words as *const AtomicU64, count as usize) },
        }
    }

    /// Moves a timer to a later deadline by a store. Panics if the id has no word.
    pub fn refresh(&self, id: u64, deadline: Duration) {
        self.words()[id as usize].store(ns(deadline), Ordering::Relaxed)
    }

    /// Stops a timer by a store: there is no event when it is due. Panics if the id has no word.
    pub fn stop_by_store(&self, id: u64) {
        self.words()[id as usize].store(WORD_STOP, Ordering::Relaxed)
    }

    /// Reads the unread events, as many as fit.
    pub fn read<'a>(&self, events: &'a mut [Event]) -> Result<&'a [Event]> {
        let count = c_uint::try_from(events.len()).unwrap_or(c_uint::MAX);
        let got = check("twheel_read", unsafe { twheel_read(self.0.as_ptr(), events.as_mut_ptr(), count) })?;
        Ok(&events[..got as usize])
    }

    /// Waits up to `timeout` for events, and reads them. A `timeout` of None has no end.
    pub fn wait<'a>(&self, events: &'a mut [Event], timeout: Option<Duration>) -> Result<&'a [Event]> {
        let count = c_uint::try_from(events.len()).unwrap_or(c_uint::MAX);
        let begin = now();
        loop {
            let left = timeout.map_or(-1, |time| ns(time.saturating_sub(now() - begin)) as i64);
            match check("twheel_wait", unsafe { twheel_wait(self.0.as_ptr(), events.as_mut_ptr(), count, left) }) {
                Err(Error { errno: EINTR, .. }) => continue,
                got => return Ok(&events[..got? as usize]),
            }
        }
    }

    /// Returns a timer, or None if it is not pending and has no unread event.
    pub fn get(&self, id: u64) -> Result<Option<Entry>> {
        let mut entry = Entry { id, ..Entry::default() };
        match self.command("twheel_get", IOC_GET, &mut entry) {
            Err(Error { errno: ENOENT, .. }) => Ok(None),
            result => result.map(|_| Some(entry)),
        }
    }

    /// Returns all timers that are pending, or whose events are unread.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let mut all = Vec::new();
        let mut some = [Entry::default(); 64];
        let mut list = List { count: 64, entry_size: size_of::<Entry>() as u32, ..List::default() };
        loop {
            list.entries = some.as_mut_ptr() as usize as u64;
            let got = self.command("twheel_list", IOC_LIST, &mut list)?;
            if got == 0 {
                return Ok(all);
            }
            all.extend_from_slice(&some[..got as usize]);
        }
    }

    fn query<T: Default>(&self, call: &'static str, number: c_ulong) -> Result<T> {
        let mut answer = T::default();
        self.command(call, number, &mut answer).map(|_| answer)
    }

    /// Returns the features, the wheel and the limits of the session.
    pub fn info(&self) -> Result<Info> {
        self.query("twheel_info", IOC_INFO)
    }

    /// Returns the counters of the session.
    pub fn stats(&self) -> Result<Stats> {
        self.query("twheel_stats", IOC_STATS)
    }

    /// Returns an empty batch, which submits itself when it has `size` operations.
    pub fn batch(&self, size: u32) -> Result<Batch<'_>> {
        let mut operations = null_mut();
        check("twheel_batch_new", unsafe { twheel_batch_new(self.0.as_ptr(), size, &mut operations) })?;
        Ok(Batch { _twheel: self, operations })
    }
}

impl Drop for Twheel {
    fn drop(&mut self) {
        unsafe { twheel_close(self.0.as_ptr()) }
    }
}

impl AsRawFd for Twheel {
    fn as_raw_fd(&self) -> RawFd {
        unsafe { self.0.as_ref() }.fd
    }
}

impl AsFd for Twheel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

/// Operations that are submitted together, when the batch is full or by `flush()`. A call that
/// submits them returns all operations with their results. Other calls return no operations.
/// Dropping the batch drops operations that were not submitted.
pub struct Batch<'a> {
    _twheel: &'a Twheel,
    operations: *mut Operations,
}

// One thread at a time may use a batch, whichever thread. So a task may keep it across an await.
unsafe impl Send for Batch<'_> {}

impl Batch<'_> {
    fn results(&self, call: &'static str, ret: c_int) -> Result<Vec<Op>> {
        let count = check(call, ret)?;
        Ok((0..count).map(|i| unsafe { *twheel_batch_op(self.operations, i) }).collect())
    }

    /// Adds a start, see `Twheel::start()`. The delay begins when the batch is submitted.
    pub fn start(&mut self, id: u64, delay: Duration, user_data: u64) -> Result<Vec<Op>> {
        self.start_flags(id, delay, Duration::ZERO, user_data, 0)
    }

    /// Adds a start with flags, see `Twheel::start_flags()`.
    pub fn start_flags(
        &mut self, id: u64, expires: Duration, period: Duration, user_data: u64, flags: u32,
    ) -> Result<Vec<Op>> {
        self.results("twheel_batch_start_flags", unsafe {
            twheel_batch_start_flags(self.operations, id, ns(expires), ns(period), user_data, flags)
        })
    }

    /// Adds a stop, see `Twheel::stop()`.
    pub fn stop(&mut self, id: u64) -> Result<Vec<Op>> {
        self.results("twheel_batch_stop", unsafe { twheel_batch_stop(self.operations, id) })
    }

    /// Submits the operations that were added, and returns them with their results.
    pub fn flush(&mut self) -> Result<Vec<Op>> {
        self.results("twheel_batch_flush", unsafe { twheel_batch_flush(self.operations) })
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        unsafe { twheel_batch_free(self.operations) }
    }
}
