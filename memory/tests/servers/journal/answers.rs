//! A journal before a Postgres that is there and takes nothing: it only reads, ends connections, is late, shuts down, or has no
//! connection left. Each time messages are queued, and reach it later.

use std::time::Duration;

use memory::{Memory, Session};
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, check, equal};
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::{DEADLINE, PATIENCE, RETURNED, drains, failed, in_order, is_queued, message, open, talk};

/// How many messages are said at a time: as many as are sent together.
const SAID: usize = 20;

/// How many lines of its log a server is asked for.
const LINES: usize = 10_000;

/// How many speak at once to a server of few connections, and how much each says.
const CROWD: usize = 64;
const EACH: usize = 10;

/// Lets whoever connects from now on only read.
const READ_ONLY: &str = "ALTER ROLE CURRENT_USER SET default_transaction_read_only = on";
const WRITABLE: &str = "ALTER ROLE CURRENT_USER RESET default_transaction_read_only";

/// Ends the connections of all others.
const PUT_OUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
     WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";

/// Counts the connections of all others.
const OTHERS: &str = "SELECT count(*) FROM pg_stat_activity \
     WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";

/// Ends the connections whose statement waits for a lock, and tells how many.
const END_WAITING: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
     WHERE wait_event_type = 'Lock' AND backend_type = 'client backend'";

/// Keeps everybody from the messages.
const LOCK: &str = "BEGIN; LOCK TABLE memory.message IN ACCESS EXCLUSIVE MODE";

/// Asks the server to shut down once its last client has gone. Until then it lets nobody in.
const SHUT_DOWN: &str = "COPY (SELECT 1) TO PROGRAM 'kill -TERM $(head -n 1 postmaster.pid)'";

pub(super) async fn connect(url: &str) -> Result<PgConnection, Failure> {
    PgConnection::connect(url).await.map_err(failed)
}

pub(super) async fn run(operator: &mut PgConnection, sql: &'static str) -> Scene {
    sqlx::raw_sql(sql).execute(operator).await.map(drop).map_err(failed)
}

/// Asks for a number again and again, until it is as it has to be.
async fn until(operator: &mut PgConnection, sql: &'static str, is_so: impl Fn(i64) -> bool) -> Scene {
    let asked = async {
        loop {
            let number: i64 = sqlx::query_scalar(sql).fetch_one(&mut *operator).await.map_err(failed)?;
            if is_so(number) {
                return Scene::Ok(());
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, asked).await.map_err(|_| Failure::new(format!("waited in vain: {sql}")))?
}

/// Ends the connections of all others, and waits until they are gone. Nobody may connect anew meanwhile.
async fn put_out(operator: &mut PgConnection) -> Scene {
    run(operator, PUT_OUT).await?;
    until(operator, OTHERS, |others| others == 0).await
}

/// Waits until the log of a server tells that it has answered with an error of this code.
pub(super) async fn answers(server: &Server, code: &str) -> Scene {
    let told = format!(" {code}: ");
    let answered = async {
        while !server.logs(LINES).await?.contains(&told) {
            sleep(Duration::from_millis(50)).await;
        }
        Scene::Ok(())
    };
    timeout(PATIENCE, answered).await.map_err(|_| Failure::new(format!("the server has answered no {code}")))?
}

/// A memory behind a journal, over a server that tells the codes of its errors.
struct Stage {
    server: Server,
    _folder: TempDir,
    memory: Memory,
    talk: Session,
    said: usize,
}

impl Stage {
    async fn open(servers: &Servers) -> Result<Self, Failure> {
        let server = servers.own("postgres")?.with_setting("log_error_verbosity", "verbose").start().await?;
        let folder = tempfile::tempdir().map_err(failed)?;
        let memory = open(server.url(), &folder.path().join("journal.db")).await?;
        let talk = talk(&memory, 0)?;
        let mut stage = Self { server, _folder: folder, memory, talk, said: 0 };
        stage.say().await?;
        stage.drains().await?;
        Ok(stage)
    }

    /// Says some messages. They are queued, all in less time than one call to the server may take.
    async fn say(&mut self) -> Scene {
        let watch = RunningWatch::start();
        for _ in 0..SAID {
            is_queued(&self.talk.append(vec![message(0, self.said)]).await?)?;
            self.said += 1;
        }
        check!(watch.elapsed() < DEADLINE, "{SAID} appends took {:?}", watch.elapsed());
        Ok(())
    }

    /// Says some messages, waits until the server has answered with an error of this code, and says some more: nothing reaches it.
    async fn is_refused(&mut self, code: &str) -> Scene {
        self.say().await?;
        answers(&self.server, code).await?;
        self.is_refused_still().await
    }

    /// Says some more messages: they wait with those before.
    async fn is_refused_still(&mut self) -> Scene {
        self.say().await?;
        equal(self.memory.flush(Duration::ZERO).await, 2 * SAID)
    }

    async fn drains(&self) -> Scene {
        drains(&self.memory, RETURNED).await
    }
}

/// Whatever the server answers while it takes nothing, messages are queued, and are there in order once it takes them.
pub(crate) async fn queue(servers: Servers) -> Scene {
    let mut stage = Stage::open(&servers).await?;
    let mut operator = connect(stage.server.url()).await?;

    run(&mut operator, READ_ONLY).await?;
    put_out(&mut operator).await?;
    stage.is_refused("25006").await?;
    run(&mut operator, WRITABLE).await?;
    run(&mut operator, PUT_OUT).await?;
    stage.drains().await?;

    run(&mut operator, LOCK).await?;
    stage.is_refused("57014").await?;
    run(&mut operator, "ROLLBACK").await?;
    stage.drains().await?;

    // Within a transaction the list of connections stands still, so another connection looks at it.
    let mut watcher = connect(stage.server.url()).await?;
    run(&mut operator, LOCK).await?;
    stage.say().await?;
    until(&mut watcher, END_WAITING, |ended| ended > 0).await?;
    stage.is_refused_still().await?;
    answers(&stage.server, "57P01").await?;
    run(&mut operator, "ROLLBACK").await?;
    stage.drains().await?;
    watcher.close().await.map_err(failed)?;

    run(&mut operator, SHUT_DOWN).await?;
    put_out(&mut operator).await?;
    stage.is_refused("57P03").await?;
    operator.close().await.map_err(failed)?;
    // It ends by itself now; asking once more does no harm.
    stage.server.shut_down().await?;
    stage.server.restart().await?;
    stage.drains().await?;

    in_order(&stage.memory, 0, stage.said, 0).await?;
    stage.memory.close().await?;
    Ok(())
}

/// Says messages in a conversation of its own. Each call ends in time: stored, or told to come again.
async fn speak(memory: Memory, number: usize) -> Scene {
    let session = talk(&memory, number)?;
    for next in 0..EACH {
        loop {
            let watch = RunningWatch::start();
            let appended = session.append(vec![message(number, next)]).await;
            // A conversation that nothing is known of is looked at twice.
            check!(watch.elapsed() < 2 * DEADLINE + SLACK, "an append took {:?}", watch.elapsed());
            match appended {
                Err(error) if error.is_retryable() => sleep(Duration::from_millis(20)).await,
                appended => break is_queued(&appended?)?,
            }
        }
    }
    Ok(())
}

/// Many speak to a server that has few connections: each call ends in time, and all that was said is there.
pub(crate) async fn crowded(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.with_setting("max_connections", "5");
    let server = server.with_setting("superuser_reserved_connections", "1");
    let server = server.with_setting("log_error_verbosity", "verbose").start().await?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let memory = open(server.url(), &folder.path().join("journal.db")).await?;
    let speakers: Vec<_> = (0..CROWD).map(|number| tokio::spawn(speak(memory.clone(), number))).collect();
    for speaker in speakers {
        speaker.await.map_err(failed)??;
    }
    answers(&server, "53300").await?;
    drains(&memory, RETURNED).await?;
    for number in 0..CROWD {
        in_order(&memory, number, EACH, 0).await?;
    }
    memory.close().await?;
    Ok(())
}
