// SPDX-License-Identifier: GPL-2.0 OR MIT
//! timeouts: idle timeouts of three connections in tokio's event loop, pushed back by stores.
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{unix::AsyncFd, Interest};
use tokio::task::{spawn_local, LocalSet};
use twheel::{now, Event, Setup, Twheel};

const CONNECTIONS: u64 = 3;
const TIMEOUT: Duration = Duration::from_millis(200);
const HEARTBEATS: u32 = 10;

/// Waits for events, and returns how many were read.
async fn read(timers: &AsyncFd<Twheel>, events: &mut [Event]) -> std::io::Result<usize> {
    loop {
        let mut ready = timers.readable().await?;
        match timers.get_ref().read(events)?.len() {
            0 => ready.clear_ready(),
            count => return Ok(count),
        }
    }
}

async fn talk(timers: Rc<AsyncFd<Twheel>>) {
    for _ in 0..HEARTBEATS {
        timers.get_ref().refresh(0, now() + TIMEOUT);
        tokio::time::sleep(TIMEOUT / 10).await;
    }
}

async fn serve() -> std::io::Result<()> {
    let session = Twheel::open(&Setup { shared_ids: CONNECTIONS as u32, ..Setup::default() })?;
    let timers = Rc::new(AsyncFd::with_interest(session, Interest::READABLE)?);
    for id in 0..CONNECTIONS {
        timers.get_ref().start(id, TIMEOUT, id)?;
    }
    timers.get_ref().stop_by_store(2);
    spawn_local(talk(timers.clone()));
    let mut events = [Event::default(); CONNECTIONS as usize];
    let mut idle = 0;
    while idle < 2 {
        idle += read(&timers, &mut events).await?;
    }
    println!("{HEARTBEATS} heartbeats, {idle} idle");
    Ok(())
}

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, serve())
}
