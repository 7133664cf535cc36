// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Timers in the program's own structures: <twheel_timer.h> for Rust
//!
//! A wheel belongs to one thread. Time is a number of units that the program chooses. The
//! wheel reads no clock. A timer is pinned, has a value, and stops when it is dropped.
//! `expired()` returns the values of the timers that are due, so the wheel calls no code of
//! the program.
//!
//! This needs `alloc`, and neither std nor libtwheel.so if the program links twheel_timer.c of
//! "make amalgamation".
extern crate alloc;

use alloc::rc::Rc;
use core::cell::{Cell, UnsafeCell};
use core::marker::{PhantomData, PhantomPinned};
use core::pin::Pin;
use core::ptr::{null_mut, NonNull};

/// The time that `next()` returns if no timer is pending.
pub const NEVER: u64 = u64::MAX;

const STAYS: u32 = 1;

/// struct twheel_timer.
#[allow(dead_code)]
#[repr(C)]
struct Raw {
    link: [*mut Raw; 2],
    expires: u64,
    hint: u32,
    tag: u32,
    function: Option<unsafe extern "C" fn(*mut Raw)>,
}

#[repr(C)]
struct Wheel {
    private: [u8; 0],
}

extern "C" {
    fn twheel_timers_new(now: u64) -> *mut Wheel;
    fn twheel_timers_width(wheel: *mut Wheel, bits: u32);
    fn twheel_timers_shift(wheel: *mut Wheel, by: i64);
    fn twheel_timers_free(wheel: *mut Wheel);
    fn twheel_timer_start(wheel: *mut Wheel, timer: *mut Raw, expires: u64);
    fn twheel_timer_stop(wheel: *mut Wheel, timer: *mut Raw) -> bool;
    fn twheel_timers_expired(wheel: *mut Wheel, now: u64) -> *mut Raw;
    fn twheel_timers_next(wheel: *mut Wheel) -> u64;
    fn twheel_timers_count(wheel: *const Wheel) -> u64;
}

struct Owned(NonNull<Wheel>);

impl Drop for Owned {
    fn drop(&mut self) {
        // Each timer holds a reference to the wheel, and stops when it is dropped. So only timers
        // that were leaked can still be pending, and nothing uses those.
        unsafe { twheel_timers_free(self.0.as_ptr()) }
    }
}

/// A wheel whose timers have values of type `T`. Neither `Send` nor `Sync`.
pub struct Timers<T: Copy> {
    wheel: Rc<Owned>,
    // Cell makes the type invariant in T. PhantomData<T> would accept a timer whose value has a
    // shorter lifetime than the values that expired() returns.
    values: PhantomData<Cell<T>>,
}

impl<T: Copy> Timers<T> {
    /// Creates a wheel for milliseconds. Panics if there is no memory.
    pub fn new(now: u64) -> Self {
        Self::with_width(now, 0)
    }

    /// Creates a wheel whose slots are `2^bits` units wide: 10 for microseconds, 20 for nanoseconds.
    pub fn with_width(now: u64, bits: u32) -> Self {
        let wheel = NonNull::new(unsafe { twheel_timers_new(now) }).expect("memory for a wheel");
        unsafe { twheel_timers_width(wheel.as_ptr(), bits) };
        Timers { wheel: Rc::new(Owned(wheel)), values: PhantomData }
    }

    /// Creates a stopped timer. It must be pinned before it is started.
    pub fn timer(&self, value: T) -> Timer<T> {
        Timer {
            raw: UnsafeCell::new(Raw { link: [null_mut(); 2], expires: 0, hint: 0, tag: 0, function: None }),
            wheel: self.wheel.clone(),
            value,
            pinned: PhantomPinned,
        }
    }

    /// Returns an iterator over the timers that are due at `now`: it stops each timer, and returns
    /// its value. Timers may be started, stopped and dropped during the iteration.
    pub fn expired(&self, now: u64) -> Expired<'_, T> {
        Expired { timers: self, now }
    }

    /// Returns the time at which to call `expired()` next, or `NEVER`.
    pub fn next(&self) -> u64 {
        unsafe { twheel_timers_next(self.wheel.0.as_ptr()) }
    }

    /// Moves all deadlines after the program's clock was set, so that the time until each does not change.
    pub fn shift(&self, by: i64) {
        unsafe { twheel_timers_shift(self.wheel.0.as_ptr(), by) }
    }

    /// Returns the number of pending timers.
    pub fn count(&self) -> u64 {
        unsafe { twheel_timers_count(self.wheel.0.as_ptr()) }
    }
}

/// The iterator of `Timers::expired()`.
pub struct Expired<'a, T: Copy> {
    timers: &'a Timers<T>,
    now: u64,
}

impl<T: Copy> Iterator for Expired<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let timer = unsafe { twheel_timers_expired(self.timers.wheel.0.as_ptr(), self.now) };
        // The timer was pending until now, so it has not been dropped.
        NonNull::new(timer).map(|timer| unsafe { (*timer.as_ptr().cast::<Timer<T>>()).value })
    }
}

/// A timer, which stops when it is dropped.
#[repr(C)]
pub struct Timer<T: Copy> {
    raw: UnsafeCell<Raw>, // first, as Expired expects
    wheel: Rc<Owned>,
    value: T,
    pinned: PhantomPinned,
}

impl<T: Copy> Timer<T> {
    // Returns a pointer to the whole timer, because expired() reads the value through it.
    fn raw(&self) -> *mut Raw {
        self as *const Self as *mut Raw
    }

    /// Starts or restarts the timer for a time.
    pub fn start(self: Pin<&Self>, expires: u64) {
        unsafe { twheel_timer_start(self.wheel.0.as_ptr(), self.raw(), expires) }
    }

    /// Does the same as `start()`, mostly by a store if the timer is pending and the time is later.
    pub fn push(self: Pin<&Self>, expires: u64) {
        let raw = self.raw();
        unsafe {
            if expires >= (*raw).expires && (*raw).hint & STAYS != 0 {
                (*raw).expires = expires;
                return;
            }
        }
        self.start(expires)
    }

    /// Stops the timer. Returns whether it was pending.
    pub fn stop(&self) -> bool {
        unsafe { twheel_timer_stop(self.wheel.0.as_ptr(), self.raw()) }
    }

    /// Returns whether the timer is pending.
    pub fn pending(&self) -> bool {
        unsafe { !(*self.raw()).link[0].is_null() }
    }

    /// Returns the deadline of the timer, or the last one if the timer is not pending.
    pub fn expires(&self) -> u64 {
        unsafe { (*self.raw()).expires }
    }
}

impl<T: Copy> Drop for Timer<T> {
    fn drop(&mut self) {
        self.stop();
    }
}
