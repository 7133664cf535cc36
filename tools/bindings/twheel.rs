// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Timers by the million through one file descriptor: libtwheel for Rust
//!
//! This file and libtwheel (`-ltwheel`) are all that it takes. All times are
//! nanoseconds, a deadline is one of CLOCK_MONOTONIC, which `now()` returns. Errors are
//! those of libtwheel(3).
//!
//! A `Twheel` is `AsFd`. With tokio:
//!
//! ```ignore
//! let timers = AsyncFd::with_interest(Twheel::open(&setup)?, Interest::READABLE)?;
//! let mut events = [Event::default(); 64];
//! loop {
//!     let mut ready = timers.readable().await?;
//!     match timers.get_ref().read(&mut events)? {
//!         [] => ready.clear_ready(),
//!         some => some.iter().for_each(handle),
//!     }
//! }
//! ```
#![allow(dead_code)]

use std::io::{Error, ErrorKind, Result};
use std::os::raw::{c_int, c_uint};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::{null_mut, NonNull};

pub const ID_ANY: u64 = u64::MAX;
pub const WORD_NONE: u64 = 0;
pub const WORD_STOP: u64 = u64::MAX;
pub const SETUP_PRIVATE: u32 = 1;
pub const MODE_PERIODIC: u32 = 0;
pub const MODE_TICKLESS: u32 = 1;
pub const START_ABS: u32 = 1;
pub const START_REPLACE: u32 = 2;
pub const STATE_PENDING: u32 = 1;
pub const STATE_EXPIRED: u32 = 2;
pub const EVENT_PERIODIC: u32 = 1;

/// struct twheel_setup
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    pub flags: u32,
    pub scheme: u32,
    pub mode: u32,
    pub slots: u32,
    pub tick_ns: u64,
    pub max_timers: u64,
    pub event_size: u32,
    pub shared_ids: u32,
}

/// struct twheel_event
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    pub id: u64,
    pub user_data: u64,
    pub deadline_ns: u64,
    pub expired_ns: u64,
    pub overruns: u64,
    pub flags: u32,
    pub reserved: u32,
}

/// struct twheel_entry
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    pub id: u64,
    pub user_data: u64,
    pub deadline_ns: u64,
    pub remaining_ns: u64,
    pub period_ns: u64,
    pub state: u32,
    pub reserved: u32,
}

/// struct twheel_stats
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub started: u64,
    pub restarted: u64,
    pub stopped: u64,
    pub expired: u64,
    pub pending: u64,
    pub rearmed: u64,
    pub delivered: u64,
    pub replaced: u64,
    pub withdrawn: u64,
    pub unread: u64,
    pub overruns: u64,
    pub wakeups: u64,
    pub carried: u64,
    pub stopped_by_store: u64,
}

/// struct twheel_op: an operation of a batch, and its result
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub opcode: u32,
    pub flags: u32,
    pub id: u64,
    pub expires_ns: u64,
    pub period_ns: u64,
    pub user_data: u64,
    pub result: i32,
    pub reserved: u32,
}

/// The head of the library's struct twheel.
#[repr(C)]
struct Handle {
    fd: c_int,
    shared_ids: u32,
    words: *mut u64,
}

#[repr(C)]
struct Operations {
    _private: [u8; 0],
}

#[link(name = "twheel")]
extern "C" {
    fn twheel_open(t: *mut *mut Handle, setup: *const Setup) -> c_int;
    fn twheel_close(t: *mut Handle);
    fn twheel_now() -> u64;
    fn twheel_start(t: *mut Handle, id: u64, delay_ns: u64, user_data: u64) -> c_int;
    fn twheel_start_at(t: *mut Handle, id: u64, deadline_ns: u64, user_data: u64) -> c_int;
    fn twheel_start_flags(
        t: *mut Handle, id: *mut u64, expires_ns: u64, period_ns: u64, user_data: u64, flags: u32,
    ) -> c_int;
    fn twheel_stop(t: *mut Handle, id: u64) -> c_int;
    fn twheel_withdraw(t: *mut Handle, id: u64) -> c_int;
    fn twheel_refresh(t: *mut Handle, id: u64, deadline_ns: u64);
    fn twheel_word(t: *const Handle, id: u64) -> u64;
    fn twheel_read(t: *mut Handle, events: *mut Event, count: c_uint) -> c_int;
    fn twheel_wait(t: *mut Handle, events: *mut Event, count: c_uint, timeout_ns: i64) -> c_int;
    fn twheel_get(t: *mut Handle, id: u64, entry: *mut Entry) -> c_int;
    fn twheel_list(t: *mut Handle, entries: *mut Entry, count: c_uint, cursor: *mut u64) -> c_int;
    fn twheel_drain(t: *mut Handle, entries: *mut Entry, count: c_uint, cursor: *mut u64) -> c_int;
    fn twheel_stats(t: *const Handle, stats: *mut Stats) -> c_int;
    fn twheel_batch_new(t: *mut Handle, size: c_uint, batch: *mut *mut Operations) -> c_int;
    fn twheel_batch_free(batch: *mut Operations);
    fn twheel_batch_start_flags(
        batch: *mut Operations, id: u64, expires_ns: u64, period_ns: u64, user_data: u64, flags: u32,
    ) -> c_int;
    fn twheel_batch_stop(batch: *mut Operations, id: u64) -> c_int;
    fn twheel_batch_withdraw(batch: *mut Operations, id: u64) -> c_int;
    fn twheel_batch_flush(batch: *mut Operations) -> c_int;
    fn twheel_batch_op(batch: *const Operations, index: c_uint) -> *const Op;
}

fn check(ret: c_int) -> Result<u32> {
    if ret < 0 { Err(Error::from_raw_os_error(-ret)) } else { Ok(ret as u32) }
}

/// What deadlines are compared with.
pub fn now() -> u64 {
    unsafe { twheel_now() }
}

/// A session. Threads may use it together.
pub struct Twheel(NonNull<Handle>);

unsafe impl Send for Twheel {}
unsafe impl Sync for Twheel {}

impl Twheel {
    pub fn open(setup: &Setup) -> Result<Twheel> {
        let mut handle = null_mut();
        check(unsafe { twheel_open(&mut handle, setup) })?;
        Ok(Twheel(NonNull::new(handle).expect("a session")))
    }

    /// Starts a timer, or restarts it: true if it was pending.
    pub fn start(&self, id: u64, delay_ns: u64, user_data: u64) -> Result<bool> {
        Ok(check(unsafe { twheel_start(self.0.as_ptr(), id, delay_ns, user_data) })? == 1)
    }

    pub fn start_at(&self, id: u64, deadline_ns: u64, user_data: u64) -> Result<bool> {
        Ok(check(unsafe { twheel_start_at(self.0.as_ptr(), id, deadline_ns, user_data) })? == 1)
    }

    /// With START_* and a period. Returns the id, which the kernel chooses for ID_ANY.
    pub fn start_flags(
        &self, mut id: u64, expires_ns: u64, period_ns: u64, user_data: u64, flags: u32,
    ) -> Result<u64> {
        check(unsafe {
            twheel_start_flags(self.0.as_ptr(), &mut id, expires_ns, period_ns, user_data, flags)
        })?;
        Ok(id)
    }

    pub fn start_any(&self, delay_ns: u64, user_data: u64) -> Result<u64> {
        self.start_flags(ID_ANY, delay_ns, 0, user_data, 0)
    }

    pub fn stop(&self, id: u64) -> Result<()> {
        check(unsafe { twheel_stop(self.0.as_ptr(), id) }).map(drop)
    }

    /// Stops a timer, or withdraws its unread event: true then.
    pub fn withdraw(&self, id: u64) -> Result<bool> {
        Ok(check(unsafe { twheel_withdraw(self.0.as_ptr(), id) })? == 1)
    }

    /// Pushes a timer back by a store. Panics if the id has no word.
    pub fn refresh(&self, id: u64, deadline_ns: u64) {
        assert!(id < unsafe { self.0.as_ref() }.shared_ids.into());
        unsafe { twheel_refresh(self.0.as_ptr(), id, deadline_ns) }
    }

    /// Stops a timer by a store. Panics if the id has no word.
    pub fn stop_by_store(&self, id: u64) {
        self.refresh(id, WORD_STOP)
    }

    /// What was stored last. Panics if the id has no word.
    pub fn word(&self, id: u64) -> u64 {
        assert!(id < unsafe { self.0.as_ref() }.shared_ids.into());
        unsafe { twheel_word(self.0.as_ptr(), id) }
    }

    /// Takes the next events: none if there are none.
    pub fn read<'a>(&self, events: &'a mut [Event]) -> Result<&'a [Event]> {
        let count = events.len() as c_uint;
        let got = check(unsafe { twheel_read(self.0.as_ptr(), events.as_mut_ptr(), count) })?;
        Ok(&events[..got as usize])
    }

    /// The same, after at most that time. A negative one has no end.
    pub fn wait<'a>(&self, events: &'a mut [Event], timeout_ns: i64) -> Result<&'a [Event]> {
        let count = events.len() as c_uint;
        let got = check(unsafe {
            twheel_wait(self.0.as_ptr(), events.as_mut_ptr(), count, timeout_ns)
        })?;
        Ok(&events[..got as usize])
    }

    /// Looks at a timer: None if it is neither pending nor its event unread.
    pub fn get(&self, id: u64) -> Result<Option<Entry>> {
        let mut entry = Entry::default();
        match check(unsafe { twheel_get(self.0.as_ptr(), id, &mut entry) }) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            result => result.map(|_| Some(entry)),
        }
    }

    fn walk(
        &self, next: unsafe extern "C" fn(*mut Handle, *mut Entry, c_uint, *mut u64) -> c_int,
    ) -> Result<Vec<Entry>> {
        let mut all = Vec::new();
        let mut some = [Entry::default(); 64];
        let mut cursor = 0;
        loop {
            let got = check(unsafe { next(self.0.as_ptr(), some.as_mut_ptr(), 64, &mut cursor) })?;
            if got == 0 {
                return Ok(all);
            }
            all.extend_from_slice(&some[..got as usize]);
        }
    }

    pub fn list(&self) -> Result<Vec<Entry>> {
        self.walk(twheel_list)
    }

    /// Stops all pending timers, and returns them.
    pub fn drain(&self) -> Result<Vec<Entry>> {
        self.walk(twheel_drain)
    }

    pub fn stats(&self) -> Result<Stats> {
        let mut stats = Stats::default();
        check(unsafe { twheel_stats(self.0.as_ptr(), &mut stats) })?;
        Ok(stats)
    }

    pub fn batch(&self, size: u32) -> Result<Batch<'_>> {
        let mut operations = null_mut();
        check(unsafe { twheel_batch_new(self.0.as_ptr(), size, &mut operations) })?;
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

impl Batch<'_> {
    fn results(&self, ret: c_int) -> Result<Vec<Op>> {
        let count = check(ret)?;
        Ok((0..count).map(|i| unsafe { *twheel_batch_op(self.operations, i) }).collect())
    }

    pub fn start(&mut self, id: u64, delay_ns: u64, user_data: u64) -> Result<Vec<Op>> {
        self.start_flags(id, delay_ns, 0, user_data, 0)
    }

    pub fn start_flags(
        &mut self, id: u64, expires_ns: u64, period_ns: u64, user_data: u64, flags: u32,
    ) -> Result<Vec<Op>> {
        let ret = unsafe {
            twheel_batch_start_flags(self.operations, id, expires_ns, period_ns, user_data, flags)
        };
        self.results(ret)
    }

    pub fn stop(&mut self, id: u64) -> Result<Vec<Op>> {
        let ret = unsafe { twheel_batch_stop(self.operations, id) };
        self.results(ret)
    }

    pub fn withdraw(&mut self, id: u64) -> Result<Vec<Op>> {
        let ret = unsafe { twheel_batch_withdraw(self.operations, id) };
        self.results(ret)
    }

    pub fn flush(&mut self) -> Result<Vec<Op>> {
        let ret = unsafe { twheel_batch_flush(self.operations) };
        self.results(ret)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        unsafe { twheel_batch_free(self.operations) }
    }
}
