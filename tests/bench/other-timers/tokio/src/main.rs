// SPDX-License-Identifier: GPL-2.0

//! Timers of tokio replay a trace (tests/bench/compared/trace.h).
//!
//! Documents: tokio_util::time::DelayQueue, which is for many timeouts in one task: insert_at(),
//! reset_at() and remove() by key, and a stream of what has expired. It keeps the wheel of
//! tokio's own timer. tokio::time::sleep_until() for the steps, one runtime in one thread.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{sleep_until, Instant};
use tokio_util::time::delay_queue::{DelayQueue, Key};

const MAGIC: u32 = 0x43525754;
const HEADER: usize = 32;
const RECORD: usize = 16;
const STEP: Duration = Duration::from_micros(1001);
const BUSY_EVERY: Duration = Duration::from_millis(100);
const BUSY: Duration = Duration::from_millis(20);

struct Trace(Vec<u8>);

struct Record {
    step: Duration,
    connection: usize,
    op: u32,
    timeout: Duration,
}

impl Trace {
    fn number(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }

    fn read(name: &str) -> io::Result<Trace> {
        let trace = Trace(fs::read(name)?);
        let length = HEADER + RECORD * trace.number(8) as usize;
        if trace.number(0) != MAGIC || trace.0.len() != length {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(trace)
    }

    fn record(&self, nr: usize) -> Record {
        let at = HEADER + RECORD * nr;
        Record {
            step: STEP * self.number(at),
            connection: self.number(at + 4) as usize,
            op: self.number(at + 8),
            timeout: Duration::from_millis(self.number(at + 12).into()),
        }
    }
}

struct Replay {
    empty: bool,
    late: bool,
    busy: bool,
    meter: File,
    timers: DelayQueue<usize>,
    keys: Vec<Option<Key>>,
    expired: usize,
    deadlines: Vec<Instant>,
    lateness: Vec<i64>,
}

fn nanoseconds(from: Instant, to: Instant) -> i64 {
    match to.checked_duration_since(from) {
        Some(later) => later.as_nanos() as i64,
        None => -((from - to).as_nanos() as i64),
    }
}

impl Replay {
    fn expired(&mut self, connection: usize) {
        self.expired += 1;
        if self.late {
            self.lateness.push(nanoseconds(self.deadlines[connection], Instant::now()));
        }
    }

    fn operate(&mut self, record: &Record, now: Instant) {
        if self.empty {
            return;
        }
        let deadline = now + record.timeout;
        let key = &mut self.keys[record.connection];
        if self.late {
            self.deadlines[record.connection] = deadline;
        }
        match (record.op, key.as_ref()) {
            (0, None) => *key = Some(self.timers.insert_at(record.connection, deadline)),
            (1, Some(key)) => self.timers.reset_at(key, deadline),
            (2, Some(key)) => drop(self.timers.remove(key)),
            _ => panic!("not a trace"),
        }
    }

    /// Whatever comes first; an empty queue has nothing to wait for.
    async fn sleep(&mut self, until: Instant) {
        let step = sleep_until(until);
        tokio::pin!(step);
        loop {
            tokio::select! {
                _ = &mut step => return,
                Some(timer) = self.timers.next(), if !self.timers.is_empty() =>
                    self.expired(timer.into_inner()),
            }
        }
    }

    async fn run(&mut self, trace: &Trace) -> io::Result<()> {
        let begin = Instant::now();
        let mut busy_at = begin + BUSY_EVERY;
        let mut nr = 0;
        loop {
            let step = begin + trace.record(nr).step;
            self.sleep(if self.busy { step.min(busy_at) } else { step }).await;
            let now = Instant::now();
            loop {
                let record = trace.record(nr);
                if begin + record.step > now {
                    break;
                }
                match record.op {
                    4 => return Ok(()),
                    3 => self.meter.write_all(b"full")?,
                    _ => self.operate(&record, now),
                }
                nr += 1;
            }
            // a handler that comes after the others
            if self.busy && now >= busy_at {
                let end = Instant::now() + BUSY;
                while Instant::now() < end {}
                busy_at += BUSY_EVERY;
            }
        }
    }

    fn report(&mut self, expiries: usize) {
        println!("expired {} timers", self.expired);
        assert_eq!(self.expired, expiries, "some are lost");
        if !self.late {
            return;
        }
        let nr = expiries;
        self.lateness.sort_unstable();
        let early = self.lateness.partition_point(|&ns| ns < 0);
        println!("early {} timers", early);
        println!("earliest {} ns", if early > 0 { -self.lateness[0] } else { 0 });
        println!("p50 {} ns", self.lateness[nr / 2]);
        println!("p99 {} ns", self.lateness[nr - 1 - nr / 100]);
        println!("worst {} ns", self.lateness[nr - 1]);
        assert_eq!(early, 0, "some are early");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let (name, mode) = (&arguments[1], arguments[2].as_str());
    let trace = Trace::read(name)?;
    let connections = trace.number(4) as usize;
    let expiries = trace.number(12) as usize;
    let late = mode == "late" || mode == "busy";
    let mut replay = Replay {
        empty: mode == "empty",
        late,
        busy: mode == "busy",
        meter: OpenOptions::new().write(true).open("/proc/twheel_meter")?,
        timers: DelayQueue::new(),
        keys: (0..connections).map(|_| None).collect(),
        expired: 0,
        deadlines: vec![Instant::now(); if late { connections } else { 0 }],
        lateness: Vec::with_capacity(if late { expiries } else { 0 }),
    };

    replay.meter.write_all(b"begin")?;
    replay.run(&trace).await?;
    replay.meter.write_all(b"end")?;
    if !replay.empty {
        replay.report(expiries);
    }
    Ok(())
}
