// SPDX-License-Identifier: GPL-2.0 OR MIT
//! heartbeat: idle timeouts of three connections, pushed back by stores.
use std::time::Duration;
use twheel::{now, Event, Setup, Twheel};

const CONNECTIONS: u64 = 3;
const TIMEOUT: Duration = Duration::from_millis(200);
const HEARTBEATS: u32 = 10;

fn main() -> twheel::Result<()> {
    let t = Twheel::open(&Setup { shared_ids: CONNECTIONS as u32, ..Setup::default() })?;
    let mut batch = t.batch(16)?;
    for id in 0..CONNECTIONS {
        batch.start(id, TIMEOUT, id)?;
    }
    for op in batch.flush()? {
        assert_eq!(op.result, 0);
    }
    t.stop_by_store(2);
    let (mut beats, mut idle) = (0, 0);
    let mut events = [Event::default(); CONNECTIONS as usize];
    while idle < 2 {
        if beats < HEARTBEATS {
            t.refresh(0, now() + TIMEOUT);
            beats += 1;
        }
        idle += t.wait(&mut events, Some(Duration::from_millis(20)))?.len();
    }
    println!("{} heartbeats, {} idle", beats, idle);
    Ok(())
}
