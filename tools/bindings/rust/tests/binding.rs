// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Each method with its errors.
use std::future::{ready, Future};
use std::io;
use std::os::unix::io::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use twheel::*;

const HOUR: Duration = Duration::from_secs(3600);
const ENOENT: i32 = 2;
const EINVAL: i32 = 22;
const EALREADY: i32 = 114;

fn with_words(shared_ids: u32) -> Twheel {
    Twheel::open(&Setup { shared_ids, ..Setup::default() }).unwrap()
}

fn wait_unread(t: &Twheel, count: u64) {
    while t.stats().unwrap().unread != count {
        thread::sleep(Duration::from_millis(1));
    }
}

fn errno<T>(result: Result<T>) -> i32 {
    result.err().map_or(0, |error| error.errno)
}

#[test]
fn sessions_are_here_or_there() {
    let in_process = std::env::var("TWHEEL_BACKEND").map_or(false, |backend| backend == "process");
    let t = with_words(0);
    assert_eq!(t.info().unwrap().features & FEATURE_PROCESS != 0, in_process);
    t.as_fd().try_clone_to_owned().expect("a descriptor");
    let error = Twheel::open(&Setup { tick_ns: 1, ..Setup::default() }).unwrap_err();
    assert_eq!(error.errno, EINVAL);
    assert!(error.to_string().starts_with("/dev/twheel: "));
}

#[test]
fn setup() {
    let t = Twheel::open(&Setup {
        flags: SETUP_PRIVATE, clock: CLOCK_BOOTTIME, wake_ns: 1000, ..Setup::default()
    })
    .unwrap();
    let info = t.info().unwrap();
    assert_eq!((info.clock, info.wake_ns), (CLOCK_BOOTTIME, 1000));
    // Without a descriptor, and in the process with any.
    assert!(t.start_idle(4, -1, HOUR, 0, 0).is_err());
    let error = Twheel::open(&Setup { reserved2: 3, ..Setup::default() }).unwrap_err();
    assert_eq!(error.errno, EINVAL);
}

#[test]
fn timers() {
    let t = with_words(0);
    assert!(!t.start(3, HOUR, 33).unwrap());
    assert!(t.start_at(3, now() + HOUR, 34).unwrap());
    let entry = t.get(3).unwrap().unwrap();
    assert_eq!((entry.user_data, entry.state), (34, STATE_PENDING));
    t.stop(3).unwrap();
    assert!(t.get(3).unwrap().is_none());
    let error = t.stop(3).unwrap_err();
    assert_eq!((error.errno, &*error.to_string()), (ENOENT, "twheel_stop: no such timer is pending"));
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    assert!(!t.start(3, Duration::MAX, 0).unwrap());
    assert!(t.wait(&mut [Event::default()], Some(Duration::from_millis(1))).unwrap().is_empty());
    t.stop(3).unwrap();
    let id = t.start_flags(ID_ANY, Duration::ZERO, Duration::ZERO, 44, 0).unwrap();
    wait_unread(&t, 1);
    assert_eq!(errno(t.start(id, HOUR, 0)), EALREADY);
    assert!(t.withdraw(id).unwrap());
    assert_eq!(t.info().unwrap().abi_version, 1);
}

#[test]
fn events() {
    let t = with_words(0);
    let mut events = [Event::default(); 4];
    assert!(t.wait(&mut events, Some(Duration::ZERO)).unwrap().is_empty());
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
    assert!(t.restart(3, HOUR, 0).unwrap() && !t.restart(4, HOUR, 0).unwrap());
    t.stop_by_store(3);
    assert_eq!(t.word(3), WORD_STOP);
    t.refresh(3, Duration::MAX);
    assert_ne!(t.word(3), WORD_STOP);
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
    batch.withdraw(0).unwrap();
    assert_eq!(batch.flush().unwrap()[0].result, 0);
    assert_eq!(t.list().unwrap().last().unwrap().user_data, 396);
    assert_eq!(t.drain().unwrap().len(), 198);
    assert_eq!(errno(t.batch(0).map(drop)), EINVAL);
}

/// A runtime with threads takes the task only if all of it can be sent.
fn spawn(task: impl Future<Output = usize> + Send + 'static) -> thread::JoinHandle<usize> {
    thread::spawn(|| {
        struct Still;
        impl std::task::Wake for Still {
            fn wake(self: Arc<Self>) {}
        }
        let waker = Arc::new(Still).into();
        let mut task = Box::pin(task);
        match task.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            std::task::Poll::Ready(result) => result,
            std::task::Poll::Pending => panic!("nothing in it waits"),
        }
    })
}

#[test]
fn a_batch_lives_across_an_await() {
    let t = Arc::new(with_words(0));
    let of_task = t.clone();
    let task = spawn(async move {
        let mut batch = of_task.batch(16).unwrap();
        batch.start(1, HOUR, 0).unwrap();
        ready(()).await;
        batch.flush().unwrap().len()
    });
    assert_eq!(task.join().unwrap(), 1);
    assert!(t.get(1).unwrap().is_some());
}

// Does not compile if Timers is Send: then `_` could be both.
trait AmbiguousIfSend<A> {
    fn is_not() {}
}
struct Is;
impl<T: ?Sized> AmbiguousIfSend<()> for T {}
impl<T: ?Sized + Send> AmbiguousIfSend<Is> for T {}

#[test]
fn timers_of_the_program() {
    let _ = <timers::Timers<u32> as AmbiguousIfSend<_>>::is_not;
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
    assert!(idle[1].pending() && idle[1].expires() == 80_000 && idle[1].value() == 1);
    assert_eq!(wheel.expired(80_000).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_timer_that_is_dropped_stops() {
    let wheel = timers::Timers::new(0);
    let mut connections: Vec<_> = (0..10).map(|id| Some(Box::pin(wheel.timer(id)))).collect();
    for connection in connections.iter().flatten() {
        connection.as_ref().start(7);
    }
    // Each that expires takes its neighbour with it.
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
