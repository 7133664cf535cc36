// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Timers by the million through one file descriptor: libtwheel for Rust
//!
//! The methods are the functions of <twheel.h>. A deadline is a time on CLOCK_MONOTONIC, which
//! `now()` returns, or on the clock of the setup.
//!
//! A `Twheel` is `AsFd`, for tokio's `AsyncFd` and other event loops.
//!
//! ```
//! use std::time::Duration;
//! use twheel::{Event, Setup, Twheel};
//!
//! let t = Twheel::open(&Setup { shared_ids: 1000, ..Setup::default() })?;
//! t.start(7, Duration::from_millis(10), 42)?;
//! t.refresh(7, twheel::now() + Duration::from_millis(20)); // a heartbeat
//! let mut events = [Event::default(); 64];
//! for event in t.wait(&mut events, None)? {
//!     println!("{} {}", event.id, event.user_data);
//! }
//! # Ok::<(), twheel::Error>(())
//! ```
//!
//! Without the feature "session" there is only the module `timers`, which needs neither std nor
//! libtwheel. It needs twheel_timer.c, which a tree of "make bindings" contains. Elsewhere the
//! program links the twheel_timer.c of "make amalgamation" itself.
#![warn(missing_docs)]
#![cfg_attr(not(feature = "session"), no_std)]

#[cfg(feature = "session")]
mod abi;
#[cfg(feature = "session")]
mod session;
pub mod timers;

#[cfg(feature = "session")]
pub use {abi::*, session::*};
