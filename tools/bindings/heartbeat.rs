// SPDX-License-Identifier: GPL-2.0 OR MIT
//! heartbeat: idle timeouts of three connections, pushed back by stores.
mod twheel;

use std::os::unix::io::AsFd;
use twheel::{now, Event, Setup, Twheel};

const CONNECTIONS: u64 = 3;
const TIMEOUT_NS: u64 = 200_000_000;
const HEARTBEATS: u32 = 10;

fn main() -> std::io::Result<()> {
    let t = Twheel::open(&Setup { shared_ids: CONNECTIONS as u32, ..Setup::default() })?;
    let mut batch = t.batch(16)?;
    for id in 0..CONNECTIONS {
        batch.start(id, TIMEOUT_NS, id)?;
    }
    for op in batch.flush()? {
        assert_eq!(op.result, 0);
    }
    assert_eq!(t.list()?.len(), 3);
    t.as_fd().try_clone_to_owned().expect("a descriptor");
    t.stop_by_store(2);
    let (mut beats, mut idle) = (0, 0);
    let mut events = [Event::default(); CONNECTIONS as usize];
    while idle < 2 {
        if beats < HEARTBEATS {
            t.refresh(0, now() + TIMEOUT_NS);
            beats += 1;
        }
        idle += t.wait(&mut events, 20_000_000)?.len();
    }
    println!("{} heartbeats, {} idle", beats, idle);
    Ok(())
}
