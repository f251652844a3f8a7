//! A journal before a Postgres whose disk is full: messages are queued, and reach it once there is room.

use std::time::Duration;

use memory::store::Durability;
use memory::store::chat::Placement;
use memory::{Error, Message, Settings};
use memory_testkit::generate::Random;
use memory_testkit::services::Servers;
use memory_testkit::{Scene, equal, fails};

use super::answers::{answers, connect, run};
use super::away::bounded;
use super::{DRAINED, RETURNED, drains, failed, holds, in_order, is_queued, message, talk};

/// Where the data of the server lies, and the options of a file system in memory there. Half of its room is the server's own.
const DATA: &str = "/var/lib/postgresql/data";
const DISK: &str = "uid=999,gid=999,mode=0700,size=80m";

/// How many messages are said together at first: more than any page that is there has room for.
const TOGETHER: usize = 20;

/// How many messages the journal holds.
const BOUND: usize = 100;

/// Begins a new segment of the server's log, which has room for all that is tried: without any it would end.
const NEW_SEGMENT: [&str; 2] = ["SELECT pg_switch_wal()", "CHECKPOINT"];

/// Takes all the room that is left on the disk, and gives it back.
const FILL: &str = "COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; cat /dev/zero > filler || true'";
const EMPTY: &str = "COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; rm filler'";

/// Returns a message that takes a kilobyte, however it is compressed.
fn wide(number: usize) -> Message {
    let mut random = Random::new(number as u64);
    let padding: String = (0..64).map(|_| format!("{:016x}", random.number())).collect();
    message(0, number).with_metadata("padding", padding)
}

/// The disk of the server is full: messages are queued up to the bound of the journal and refused beyond it. Once there is room, all
/// that was acknowledged is there in order.
pub(crate) async fn is_outlasted(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.with_tmpfs(DATA, DISK).with_setting("log_error_verbosity", "verbose");
    // What a server writes by itself would end it on a full disk.
    let server = server.with_setting("checkpoint_timeout", "1h").with_setting("autovacuum", "off").start().await?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let memory = bounded(Settings::new(server.url()), folder.path().join("journal.db"), BOUND).await?;
    let session = talk(&memory, 0)?;
    session.append(vec![wide(0)]).await?;
    equal(memory.flush(DRAINED).await, 0)?;

    let mut operator = connect(server.url()).await?;
    for sql in NEW_SEGMENT {
        run(&mut operator, sql).await?;
    }
    run(&mut operator, FILL).await?;
    let receipt = session.append((1..=TOGETHER).map(wide).collect()).await?;
    equal((receipt.placements, receipt.durability), (vec![Placement::Queued; TOGETHER], Durability::Queued))?;
    answers(&server, "53100").await?;
    for next in TOGETHER + 1..=BOUND {
        is_queued(&session.append(vec![wide(next)]).await?)?;
    }
    for _ in 0..3 {
        fails!(session.append(vec![wide(BOUND + 1)]).await, Error::QueueFull);
    }
    equal(memory.flush(Duration::ZERO).await, BOUND)?;
    holds(&session, &format!("0 {BOUND}")).await?;

    run(&mut operator, EMPTY).await?;
    drains(&memory, RETURNED).await?;
    session.append(vec![wide(BOUND + 1)]).await?;
    equal(memory.flush(DRAINED).await, 0)?;
    in_order(&memory, 0, BOUND + 2, 0).await?;
    memory.close().await?;
    Ok(())
}
