// SPDX-License-Identifier: GPL-2.0
//! bench TIMERS ROUNDS: print what a refresh of one of TIMERS pending timers takes, in ns of CPU time, in CSV
use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;
use tokio::time::{sleep, Instant, Sleep};
use twheel::{now, Setup, Twheel};

const HOUR: Duration = Duration::from_secs(3600);

const CLOCK_THREAD_CPUTIME_ID: i32 = 3;

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// Return the CPU time of this thread. Needs a 64-bit machine, where struct timespec is two 64-bit numbers.
fn cpu_ns() -> u64 {
    let mut time = [0; 2];
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time[0] as u64 * 1_000_000_000 + time[1] as u64
}

/// Return the numbers below `count`, in an order that looks random.
fn shuffled(count: u64) -> Vec<u64> {
    let mut ids: Vec<u64> = (0..count).collect();
    let mut state = 1u64;
    for i in (1..ids.len()).rev() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ids.swap(i, (state >> 33) as usize % (i + 1));
    }
    ids
}

async fn measure(timers: u64, rounds: u64) {
    let t = Twheel::open(&Setup { shared_ids: timers as u32, ..Setup::default() }).unwrap();
    let ids = shuffled(timers);
    let mut own: Vec<Pin<Box<Sleep>>> = ids.iter().map(|_| Box::pin(sleep(HOUR))).collect();
    // Poll each Sleep once, because tokio puts it into its wheel at the first poll.
    std::future::poll_fn(|context: &mut Context<'_>| {
        own.iter_mut().for_each(|timer| assert!(timer.as_mut().poll(context).is_pending()));
        std::task::Poll::Ready(())
    })
    .await;
    let start = |id| {
        t.start(id, HOUR, 0).unwrap();
    };
    ids.iter().for_each(|&id| start(id));
    let mut total = [0; 4];
    for round in 0..=rounds {
        for (way, total) in total.iter_mut().enumerate() {
            let begin = cpu_ns();
            for &id in &ids {
                match way {
                    0 => own[id as usize].as_mut().reset(Instant::now() + HOUR),
                    1 => start(id),
                    2 => t.push(id, now() + HOUR, 0).unwrap(),
                    _ => t.refresh(id, now() + HOUR),
                }
            }
            if round > 0 {
                *total += cpu_ns() - begin;
            }
        }
    }
    let [own, start, push, word] = total.map(|took| took / timers / rounds);
    println!("Rust,tokio's ``Sleep::reset()``,{own},{start},{push},{word}");
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(measure(numbers[0], numbers[1]));
}
