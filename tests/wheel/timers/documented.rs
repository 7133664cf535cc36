// SPDX-License-Identifier: GPL-2.0
//! documented.c in Rust: sessions that are pushed back, closed or idle, and a ticker
#[allow(dead_code)]
#[path = "../../../tools/bindings/rust/src/timers.rs"]
mod timers;

const IDLE: u64 = 30_000;
const TICKER: usize = usize::MAX;

fn main() {
    let (mut now, mut expired, mut out_of_order, mut ticks) = (5, 0, 0, 0);
    let wheel = timers::Timers::new(now);
    let ticker = Box::pin(wheel.timer(TICKER));
    ticker.as_ref().start(now + 1000);
    let mut sessions: Vec<_> = (0..1000).map(|nr| Some(Box::pin(wheel.timer(nr)))).collect();
    for session in sessions.iter().flatten() {
        session.as_ref().start(now + IDLE);
    }
    for nr in (0..1000).step_by(4) {
        sessions[nr].as_ref().unwrap().as_ref().push(now + 1000 + IDLE);
        // A session that is dropped stops its timer.
        sessions[nr + 1] = None;
    }
    while wheel.count() > 0 {
        now = wheel.next();
        for nr in wheel.expired(now) {
            if nr != TICKER {
                out_of_order += u32::from(nr % 4 == 3 && nr / 4 * 2 + 1 != expired);
                expired += 1;
                sessions[nr] = None;
            } else if ticks < 69 {
                ticks += 1;
                ticker.as_ref().start(now + 1000);
            } else {
                ticks += 1;
            }
        }
    }
    println!("expired {expired}, out of order {out_of_order}, ticks {ticks}, at {now}");
}
