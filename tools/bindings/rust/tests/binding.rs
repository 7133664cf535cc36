// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the methods and of their errors.
use std::fs::OpenOptions;
use std::os::raw::{c_int, c_ulong};
use std::os::unix::io::{AsFd, AsRawFd};
use std::thread;
use std::time::Duration;
use twheel::*;

const HOUR: Duration = Duration::from_secs(3600);
const ENOENT: i32 = 2;
const EINVAL: i32 = 22;
const SIGUSR1: c_int = 10;
const MANY: u64 = 10000;

fn with_words(shared_ids: u32) -> Twheel {
    Twheel::open(&Setup { shared_ids, ..Setup::default() }).unwrap()
}

/// Starts timers, and waits until their events are unread.
fn start_due(t: &Twheel, count: u64) {
    for id in 0..count {
        t.start(id, Duration::ZERO, 0).unwrap();
    }
    wait_unread(t, count);
}

fn wait_unread(t: &Twheel, count: u64) {
    while t.stats().unwrap().unread != count {
        thread::sleep(Duration::from_millis(1));
    }
}

fn errno<T>(result: Result<T>) -> i32 {
    result.err().map_or(0, |error| error.errno)
}

/// Returns whether the library opens sessions in the process. It does so if TWHEEL_BACKEND is
/// "process". Without TWHEEL_BACKEND it does so if this user cannot open the device.
fn in_process() -> bool {
    match std::env::var("TWHEEL_BACKEND") {
        Ok(asked) if !asked.is_empty() => asked == "process",
        _ => OpenOptions::new().read(true).write(true).open("/dev/twheel").is_err(),
    }
}

#[test]
fn sessions() {
    let setup = Setup { flags: SETUP_PRIVATE, clock: CLOCK_BOOTTIME, ..Setup::default() };
    let t = Twheel::open(&setup).unwrap();
    let info = t.info().unwrap();
    assert_eq!((info.abi_version, info.clock), (1, CLOCK_BOOTTIME));
    assert_eq!(info.features & FEATURE_PROCESS != 0, in_process());
    t.as_fd().try_clone_to_owned().expect("a descriptor");
    let error = Twheel::open(&Setup { tick_ns: 1, ..Setup::default() }).unwrap_err();
    assert_eq!(error.errno, EINVAL);
    assert!(error.to_string().starts_with("/dev/twheel: "));
}

#[test]
fn timers() {
    let t = with_words(0);
    assert_eq!(t.start(3, HOUR, 33), Ok(0));
    assert_eq!(t.start_flags(3, now() + HOUR, Duration::ZERO, 34, START_ABS), Ok(3));
    let entry = t.get(3).unwrap().unwrap();
    assert_eq!((entry.user_data, entry.state), (34, STATE_PENDING));
    assert_eq!((t.start(3, HOUR, 33), t.stop(3)), (Ok(1), Ok(0)));
    assert!(t.get(3).unwrap().is_none());
    let error = t.stop(3).unwrap_err();
    assert_eq!((error.errno, &*error.to_string()), (ENOENT, "twheel_stop: no such timer is pending"));
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::NotFound);
    assert_eq!(t.start(3, Duration::MAX, 0), Ok(0));
    assert!(t.wait(&mut [Event::default()], Some(Duration::from_millis(1))).unwrap().is_empty());
    t.stop(3).unwrap();
    let id = t.start_flags(ID_ANY, Duration::ZERO, Duration::ZERO, 44, 0).unwrap();
    wait_unread(&t, 1);
    assert_eq!(t.start(id, HOUR, 0), Ok(2));
    assert!(t.read(&mut [Event::default()]).unwrap().is_empty());
}

#[test]
fn cancel_of_a_sibling() {
    let t = with_words(0);
    start_due(&t, 2);
    let mut events = [Event::default(); 4];
    let first = t.read(&mut events[..1]).unwrap()[0].id;
    assert_eq!(t.stop(1 - first), Ok(1));
    assert!(t.read(&mut events).unwrap().is_empty());
}

#[test]
fn many_due_at_once() {
    let t = with_words(0);
    start_due(&t, MANY);
    let mut events = [Event::default(); 64];
    let mut seen = vec![false; MANY as usize];
    while seen.contains(&false) {
        let some = t.read(&mut events).unwrap();
        assert!(!some.is_empty());
        for event in some {
            assert!(!std::mem::replace(&mut seen[event.id as usize], true));
        }
    }
}

extern "C" {
    fn pthread_self() -> c_ulong;
    fn pthread_kill(thread: c_ulong, signal: c_int) -> c_int;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
}
extern "C" fn nothing(_signal: c_int) {}

#[test]
fn a_signal_does_not_end_a_wait() {
    let t = with_words(0);
    let begin = now();
    let me = unsafe { signal(SIGUSR1, nothing); pthread_self() };
    thread::scope(|scope| {
        scope.spawn(move || for _ in 0..10 {
            thread::sleep(Duration::from_millis(5));
            unsafe { pthread_kill(me, SIGUSR1) };
        });
        let time = Duration::from_millis(100);
        assert!(t.wait(&mut [Event::default()], Some(time)).unwrap().is_empty());
        assert!(now() - begin >= time);
    });
}

#[test]
fn object_dropped() {
    // Each session that is dropped closes its descriptor, so the numbers stay small.
    for _ in 0..1000 {
        assert!(with_words(8).as_raw_fd() < 500);
    }
}

#[test]
fn events() {
    let t = with_words(0);
    let mut events = [Event::default(); 4];
    t.start_flags(3, Duration::ZERO, Duration::from_millis(1), 33, 0).unwrap();
    let got = t.wait(&mut events, None).unwrap();
    assert_eq!((got.len(), got[0].id, got[0].user_data, got[0].flags), (1, 3, 33, EVENT_PERIODIC));
    assert_eq!(errno(t.read(&mut [])), EINVAL);
    let stats = t.stats().unwrap();
    assert_eq!(stats.lateness.iter().sum::<u64>(), stats.delivered);
}

#[test]
fn words() {
    let t = with_words(8);
    let deadline = now() + HOUR;
    t.start(3, Duration::ZERO, 0).unwrap();
    wait_unread(&t, 1);
    t.refresh(3, deadline);
    assert!(t.read(&mut [Event::default()]).unwrap().is_empty());
    assert_eq!(u128::from(t.get(3).unwrap().unwrap().deadline_ns), deadline.as_nanos());
    let earlier = deadline - Duration::from_secs(1);
    t.push(3, earlier, 0).unwrap();
    assert_eq!(u128::from(t.get(3).unwrap().unwrap().deadline_ns), earlier.as_nanos());
    // Duration::MAX must not become WORD_STOP: timer 4 goes on, and timer 5 stops.
    t.start(4, Duration::ZERO, 0).unwrap();
    t.start(5, Duration::ZERO, 0).unwrap();
    wait_unread(&t, 2);
    t.refresh(4, Duration::MAX);
    t.stop_by_store(5);
    assert!(t.read(&mut [Event::default(); 4]).unwrap().is_empty());
    assert!(t.get(4).unwrap().is_some() && t.get(5).unwrap().is_none());
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn an_id_without_a_word() {
    with_words(8).refresh(8, HOUR);
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn a_session_without_words() {
    with_words(0).stop_by_store(0);
}

#[test]
fn lists_and_batches() {
    let t = with_words(0);
    let mut batch = t.batch(200).unwrap();
    for id in 0..199 {
        assert!(batch.start(id, HOUR, 2 * id).unwrap().is_empty());
    }
    let ops = batch.stop(1000).unwrap();
    assert_eq!((ops.len(), ops[0].result, ops[199].result), (200, 0, -ENOENT));
    batch.stop(0).unwrap();
    assert_eq!(batch.flush().unwrap()[0].result, 0);
    let list = t.list().unwrap();
    assert_eq!((list.len(), list[197].user_data), (198, 396));
    assert_eq!(errno(t.batch(0).map(drop)), EINVAL);
}

// what_threads_may_share() does not compile if Timers is Send: then `_` could be () and Is.
trait AmbiguousIfSend<A> {
    fn is_not() {}
}
struct Is;
impl<T: ?Sized> AmbiguousIfSend<()> for T {}
impl<T: ?Sized + Send> AmbiguousIfSend<Is> for T {}

/// Check that threads may share a session, that a batch may move to another thread, as a task does
/// at an await, and that a wheel may not.
#[test]
fn what_threads_may_share() {
    fn is_sync<T: Sync + Send>() {}
    fn is_send<T: Send>() {}
    is_sync::<Twheel>();
    is_send::<Batch>();
    let _ = <timers::Timers<u32> as AmbiguousIfSend<_>>::is_not;
}

#[test]
fn timers_of_the_program() {
    let wheel = timers::Timers::new(100);
    let idle: Vec<_> = (0..4).map(|id| Box::pin(wheel.timer(id))).collect();
    assert_eq!((wheel.next(), wheel.count()), (timers::NEVER, 0));
    for timer in &idle {
        assert!(!timer.pending());
        timer.as_ref().start(130);
    }
    idle[1].as_ref().push(70_000);
    idle[1].as_ref().push(80_000);
    assert!(idle[2].stop() && !idle[2].stop());
    assert_eq!((wheel.next(), wheel.count()), (130, 3));
    assert_eq!(wheel.expired(129).count(), 0);
    assert_eq!(wheel.expired(130).collect::<Vec<_>>(), [0, 3]);
    assert_eq!(wheel.next(), 80_000);
    assert!(idle[1].pending() && idle[1].expires() == 80_000);
    assert_eq!(wheel.expired(80_000).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_timer_that_is_dropped_stops() {
    let wheel = timers::Timers::new(0);
    let mut connections: Vec<_> = (0..10).map(|id| Some(Box::pin(wheel.timer(id)))).collect();
    for connection in connections.iter().flatten() {
        connection.as_ref().start(7);
    }
    // Each expiry drops its own timer and the next one.
    let mut expired = Vec::new();
    for id in wheel.expired(7) {
        expired.push(id);
        connections[id] = None;
        connections[id + 1] = None;
    }
    assert_eq!(expired, [0, 2, 4, 6, 8]);
    assert_eq!(wheel.count(), 0);
    let last = Box::pin(wheel.timer(99));
    last.as_ref().start(20);
    drop(wheel);
    assert!(last.pending());
}
