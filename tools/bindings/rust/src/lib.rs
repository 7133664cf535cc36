// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Timers by the million through one file descriptor: libtwheel for Rust
//!
//! The methods are the functions of <twheel.h>. A deadline is the time on CLOCK_MONOTONIC, as
//! `now()` returns it, or on the clock of the setup.
//!
//! A `Twheel` is `AsFd`, for tokio's `AsyncFd` and other loops.
mod abi;
pub mod timers;

pub use abi::*;

use std::fmt;
use std::io;
use std::mem::size_of;
use std::os::raw::{c_int, c_uint, c_ulong, c_void};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::{null_mut, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const ENOENT: i32 = 2;
const EINTR: i32 = 4;
const EALREADY: i32 = 114;

/// A call of the library that failed, and its errno.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error {
    pub call: &'static str,
    pub errno: i32,
}

pub type Result<T> = std::result::Result<T, Error>;

const OPEN: &str = "/dev/twheel";

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = io::Error::from_raw_os_error(self.errno);
        match (self.call, self.errno) {
            (OPEN, _) => write!(
                to, "{}: {}. Check the setup, TWHEEL_BACKEND, the module and the group twheel", OPEN, error
            ),
            (call, ENOENT) => write!(to, "{}: no such timer is pending", call),
            (call, EALREADY) => write!(to, "{}: the event of the timer is unread", call),
            (call, _) => write!(to, "{}: {}", call, error),
        }
    }
}

/// The text for people, too: a main() that returns an error prints this.
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

/// Nanoseconds. `Duration::MAX` is never: 292 years.
fn ns(time: Duration) -> u64 {
    time.as_nanos().min(i64::MAX as u128) as u64
}

/// The clock that deadlines are on, unless `Setup::clock` is set.
pub fn now() -> Duration {
    Duration::from_nanos(unsafe { twheel_now() })
}

/// A session. Threads may use it together.
#[derive(Debug)]
pub struct Twheel(NonNull<Handle>);

// The library has a lock, and nothing in it belongs to a thread.
unsafe impl Send for Twheel {}
unsafe impl Sync for Twheel {}

impl Twheel {
    pub fn open(setup: &Setup) -> Result<Twheel> {
        let mut handle = null_mut();
        check(OPEN, unsafe {
            twheel_open_sized(&mut handle, setup, size_of::<Setup>(), size_of::<Event>())
        })?;
        Ok(Twheel(NonNull::new(handle).expect("a session")))
    }

    /// The command says how long the structure is here: the library's may be longer, and
    /// the kernel's too.
    fn command<T>(&self, call: &'static str, number: c_ulong, argument: &mut T) -> Result<u32> {
        let command = number | (size_of::<T>() as c_ulong) << 16;
        check(call, unsafe { twheel_command(self.0.as_ptr(), command, argument as *mut T as *mut c_void) })
    }

    /// Starts a timer, or restarts it: true if it was pending.
    pub fn start(&self, id: u64, delay: Duration, user_data: u64) -> Result<bool> {
        Ok(check("twheel_start", unsafe { twheel_start(self.0.as_ptr(), id, ns(delay), user_data) })? == 1)
    }

    /// Starts a timer with START_* and a period. Returns its id, which is chosen for ID_ANY.
    pub fn start_flags(
        &self, mut id: u64, expires: Duration, period: Duration, user_data: u64, flags: u32,
    ) -> Result<u64> {
        check("twheel_start_flags", unsafe {
            twheel_start_flags(self.0.as_ptr(), &mut id, ns(expires), ns(period), user_data, flags)
        })?;
        Ok(id)
    }

    /// Due when the TCP socket `fd` has received nothing for so long.
    pub fn start_idle(&self, mut id: u64, fd: RawFd, idle: Duration, user_data: u64, flags: u32) -> Result<u64> {
        check("twheel_start_idle", unsafe {
            twheel_start_idle(self.0.as_ptr(), &mut id, fd, ns(idle), user_data, flags)
        })?;
        Ok(id)
    }

    /// Another deadline for a timer that runs: a store if that is not before its word.
    pub fn push(&self, id: u64, deadline: Duration, user_data: u64) -> Result<()> {
        check("twheel_push", unsafe { twheel_push(self.0.as_ptr(), id, ns(deadline), user_data) }).map(drop)
    }

    pub fn stop(&self, id: u64) -> Result<()> {
        check("twheel_stop", unsafe { twheel_stop(self.0.as_ptr(), id) }).map(drop)
    }

    /// Stops a timer, or withdraws its unread event: true then.
    pub fn withdraw(&self, id: u64) -> Result<bool> {
        Ok(check("twheel_withdraw", unsafe { twheel_withdraw(self.0.as_ptr(), id) })? == 1)
    }

    /// The word of each id below `shared_ids`.
    fn words(&self) -> &[AtomicU64] {
        let handle = unsafe { self.0.as_ref() };
        match handle.shared_ids {
            0 => &[],
            count => unsafe { slice::from_raw_parts(handle.words as *const AtomicU64, count as usize) },
        }
    }

    /// Pushes a timer back by a store. Panics if the id has no word.
    pub fn refresh(&self, id: u64, deadline: Duration) {
        self.words()[id as usize].store(ns(deadline), Ordering::Relaxed)
    }

    /// Stops a timer by a store. Panics if the id has no word.
    pub fn stop_by_store(&self, id: u64) {
        self.words()[id as usize].store(WORD_STOP, Ordering::Relaxed)
    }

    /// Takes the next events: none if there are none.
    pub fn read<'a>(&self, events: &'a mut [Event]) -> Result<&'a [Event]> {
        let count = c_uint::try_from(events.len()).unwrap_or(c_uint::MAX);
        let got = check("twheel_read", unsafe { twheel_read(self.0.as_ptr(), events.as_mut_ptr(), count) })?;
        Ok(&events[..got as usize])
    }

    /// The same, after at most that time. Without one the wait has no end. A signal does not end it.
    pub fn wait<'a>(&self, events: &'a mut [Event], timeout: Option<Duration>) -> Result<&'a [Event]> {
        let count = c_uint::try_from(events.len()).unwrap_or(c_uint::MAX);
        let begin = now();
        loop {
            let left = timeout.map_or(-1, |time| ns(time.saturating_sub(now() - begin)) as i64);
            match check("twheel_wait", unsafe {
                twheel_wait(self.0.as_ptr(), events.as_mut_ptr(), count, left)
            }) {
                Err(Error { errno: EINTR, .. }) => continue,
                got => return Ok(&events[..got? as usize]),
            }
        }
    }

    /// Looks at a timer: None if it is neither pending nor its event unread.
    pub fn get(&self, id: u64) -> Result<Option<Entry>> {
        let mut entry = Entry { id, ..Entry::default() };
        match self.command("twheel_get", IOC_GET, &mut entry) {
            Err(Error { errno: ENOENT, .. }) => Ok(None),
            result => result.map(|_| Some(entry)),
        }
    }

    /// The timers that are pending, or whose events are unread.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let mut all = Vec::new();
        let mut some = [Entry::default(); 64];
        let mut list = List {
            count: some.len() as u32,
            entry_size: size_of::<Entry>() as u32,
            ..List::default()
        };
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

    pub fn info(&self) -> Result<Info> {
        self.query("twheel_info", IOC_INFO)
    }

    pub fn stats(&self) -> Result<Stats> {
        self.query("twheel_stats", IOC_STATS)
    }

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

/// Operations that are submitted when there are enough of them, and by flush(). What
/// adds one returns the operations with their results if it has filled the batch, and
/// else none. What waits when it is dropped is forgotten.
pub struct Batch<'a> {
    _twheel: &'a Twheel,
    operations: *mut Operations,
}

// One thread at a time may use it, and any. So a task keeps it across an await.
unsafe impl Send for Batch<'_> {}

impl Batch<'_> {
    fn results(&self, call: &'static str, ret: c_int) -> Result<Vec<Op>> {
        let count = check(call, ret)?;
        Ok((0..count).map(|i| unsafe { *twheel_batch_op(self.operations, i) }).collect())
    }

    pub fn start(&mut self, id: u64, delay: Duration, user_data: u64) -> Result<Vec<Op>> {
        self.start_flags(id, delay, Duration::ZERO, user_data, 0)
    }

    pub fn start_flags(
        &mut self, id: u64, expires: Duration, period: Duration, user_data: u64, flags: u32,
    ) -> Result<Vec<Op>> {
        let ret = unsafe {
            twheel_batch_start_flags(self.operations, id, ns(expires), ns(period), user_data, flags)
        };
        self.results("twheel_batch_start_flags", ret)
    }

    pub fn stop(&mut self, id: u64) -> Result<Vec<Op>> {
        let ret = unsafe { twheel_batch_stop(self.operations, id) };
        self.results("twheel_batch_stop", ret)
    }

    pub fn withdraw(&mut self, id: u64) -> Result<Vec<Op>> {
        let ret = unsafe { twheel_batch_withdraw(self.operations, id) };
        self.results("twheel_batch_withdraw", ret)
    }

    pub fn flush(&mut self) -> Result<Vec<Op>> {
        let ret = unsafe { twheel_batch_flush(self.operations) };
        self.results("twheel_batch_flush", ret)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        unsafe { twheel_batch_free(self.operations) }
    }
}
