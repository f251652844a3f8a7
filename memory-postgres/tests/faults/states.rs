//! Errors that a server answers with, each made to happen.

use std::sync::Arc;
use std::time::Duration;

use memory_core::error::Result as Answer;
use memory_core::store::chat::{Append, ChatStore as _, Compaction, Page, Placement};
use memory_core::{Error, Scope, Seq, SeqRange, SessionId};
use memory_postgres::{PgChat, Postgres};
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, equal, fails};
use sqlx::PgConnection;
use uuid::Uuid;

use super::writers::{Talk, in_order, new};
use crate::support::{self, admin, config};

/// The deadline of a call that is not to come to it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of the test's own, with the library and a superuser on it.
struct Stage {
    server: Server,
    chat: PgChat,
    talk: Arc<Talk>,
    admin: PgConnection,
}

async fn stage(servers: &Servers) -> Result<Stage, Failure> {
    let server = servers.own("postgres")?.with_setting("deadlock_timeout", "100ms").start().await?;
    let config = config(server.url(), "stage")?.with_connections(16).with_deadline(PATIENCE);
    let chat = PgChat::new(&Postgres::connect(config).await?);
    let (talk, admin) = (Arc::new(Talk::new()?), admin(server.url()).await?);
    talk.append(&chat, &new("first")).await?;
    Ok(Stage { server, chat, talk, admin })
}

async fn run(admin: &mut PgConnection, sql: &'static str) -> Scene {
    sqlx::raw_sql(sql).execute(admin).await.map(|_| ()).map_err(|error| Failure::new(error.to_string()))
}

async fn number(admin: &mut PgConnection, sql: &'static str) -> Result<i64, Failure> {
    sqlx::query_scalar(sql).fetch_one(admin).await.map_err(|error| Failure::new(error.to_string()))
}

/// Makes inserts fail until a sequence has passed zero; a sequence is not undone with the transaction.
const STUMBLE: &str = "CREATE SEQUENCE stage.stumbles MINVALUE -100 START -2; \
     GRANT ALL ON SEQUENCE stage.stumbles TO PUBLIC; \
     CREATE FUNCTION stage.stumble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     IF nextval('stage.stumbles') < 0 THEN \
     RAISE EXCEPTION USING ERRCODE = 'serialization_failure'; END IF; RETURN NEW; END $$; \
     CREATE TRIGGER stumble BEFORE INSERT ON stage.message FOR EACH ROW EXECUTE FUNCTION stage.stumble()";

pub(crate) async fn repeated(servers: Servers) -> Scene {
    let Stage { server: _server, chat, talk, mut admin } = stage(&servers).await?;
    run(&mut admin, STUMBLE).await?;
    talk.append(&chat, &new("third try")).await?;
    equal(number(&mut admin, "SELECT last_value FROM stage.stumbles").await?, 0)?;
    run(&mut admin, "ALTER SEQUENCE stage.stumbles RESTART -50").await?;
    let refused = talk.append(&chat, &new("never")).await;
    equal(refused.is_err_and(|error| error.is_retryable()), true)?;
    equal(number(&mut admin, "SELECT last_value FROM stage.stumbles").await?, -48)?;
    run(&mut admin, "DROP TRIGGER stumble ON stage.message").await?;

    // Whatever the role's transactions are by default, writers of one session only wait for one another.
    run(&mut admin, "ALTER ROLE memory_tester SET default_transaction_isolation = 'serializable'").await?;
    run(&mut admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memory_tester'").await?;
    let tasks: Vec<_> = (0..16)
        .map(|task| {
            let (chat, talk) = (chat.clone(), Arc::clone(&talk));
            tokio::spawn(async move {
                for number in 0..20 {
                    talk.insist(&chat, &new(format!("{task} {number}"))).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .collect();
    for task in tasks {
        task.await.map_err(|error| Failure::new(error.to_string()))??;
    }
    let texts = talk.texts(&chat).await?;
    equal(texts.len(), 2 + 16 * 20)?;
    (0..16).try_for_each(|task| in_order(&texts, &task.to_string(), 20))
}

const ROUNDS: usize = 4;

pub(crate) async fn deadlocked(servers: Servers) -> Scene {
    let Stage { server: _server, chat, talk, mut admin } = stage(&servers).await?;
    // Two sessions of one owner take the same ids in opposite orders, slowly enough to meet midway.
    run(&mut admin, SLOWLY).await?;
    for round in 0..ROUNDS {
        let messages: Vec<_> = (0..2).map(|number| new(format!("{round} {number}"))).collect();
        let append = |session: String, messages: Vec<_>| {
            let (chat, scope) = (chat.clone(), talk.scope.clone());
            tokio::spawn(async move {
                let session = memory_core::SessionId::new(&session)?;
                chat.append(&scope, &session, &Append::new(messages)).await.map(|_| ())
            })
        };
        let forwards = append(format!("forwards {round}"), messages.clone());
        let backwards = append(format!("backwards {round}"), messages.into_iter().rev().collect());
        let mut answers: Vec<Answer<()>> = Vec::new();
        for task in [forwards, backwards] {
            answers.push(task.await.map_err(|error| Failure::new(error.to_string()))?);
        }
        equal(answers.iter().filter(|answer| answer.is_ok()).count(), 1)?;
        let conflicts = answers.iter().filter(|answer| matches!(answer, Err(Error::IdConflict { .. })));
        equal(conflicts.count(), 1)?;
    }
    let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    // The server counts in its own time.
    for _ in 0..100 {
        if number(&mut admin, sql).await? > 0 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("there was no deadlock".into())
}

/// Waits before each insert; two batches then hold one id each and want the other's.
const SLOWLY: &str = "CREATE FUNCTION stage.slow_before() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     PERFORM pg_sleep(0.2); RETURN NEW; END $$; \
     CREATE TRIGGER slowly BEFORE INSERT ON stage.message FOR EACH ROW EXECUTE FUNCTION stage.slow_before()";

/// Takes an id in a session of its own while `work` is about to store it elsewhere: it has looked, and waits to insert.
async fn take(
    (admin, watcher): (&mut PgConnection, &mut PgConnection),
    (scope, id): (&Scope, Uuid),
    work: impl Future<Output = Answer<()>> + Send + 'static,
) -> Scene {
    run(admin, "BEGIN").await?;
    let sql = "INSERT INTO stage.message (scope, epoch, session, seq, layer, id, digest, tokens) \
         VALUES ($1, 0, $2::uuid::text, 1, 0, $2::uuid, '', 0)";
    let insert = sqlx::query(sql).bind(scope.key()).bind(id).execute(&mut *admin).await;
    insert.map_err(|error| Failure::new(error.to_string()))?;
    let task = tokio::spawn(work);
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'memory_tester' AND wait_event_type = 'Lock'";
    while number(watcher, sql).await? == 0 && !task.is_finished() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    run(admin, "COMMIT").await?;
    let answer = task.await.map_err(|error| Failure::new(error.to_string()))?;
    fails!(answer, Error::IdConflict { id: ref named } if *named == id.to_string());
    Ok(())
}

pub(crate) async fn taken(servers: Servers) -> Scene {
    let Stage { server, chat, talk, mut admin } = stage(&servers).await?;
    // Within a transaction the list of connections stands still.
    let mut watcher = support::admin(server.url()).await?;
    let source = Talk::new()?;
    source.append(&chat, &new("restored")).await?;
    let rows = chat.read(&source.scope, &source.session, &Page::newest(1)).await?.messages;
    let id = rows.first().map(|row| row.id.0).ok_or("there is no row")?;
    let (to, scope, session) = (chat.clone(), talk.scope.clone(), SessionId::new("restored")?);
    let restore = async move { to.restore(&scope, &session, None, &rows).await.map(|_| ()) };
    take((&mut admin, &mut watcher), (&talk.scope, id), restore).await?;

    let slice = chat.read(&talk.scope, &talk.session, &Page::newest(1)).await?;
    let ids = slice.messages.iter().map(|row| row.id).collect();
    let (summary, span) = (new("summary"), SeqRange { first: Seq(1), last: Seq(1) });
    let id = summary.message.id.0;
    let change = Compaction::Fold { fence: slice.state.fence, span, ids, summary };
    let (to, of) = (chat.clone(), Arc::clone(&talk));
    let fold = async move { to.compact(&of.scope, &of.session, &change).await.map(|_| ()) };
    take((&mut admin, &mut watcher), (&talk.scope, id), fold).await?;
    equal(talk.texts(&chat).await?, ["first"])
}

pub(crate) async fn passing(servers: Servers) -> Scene {
    let Stage { server, chat, talk, mut admin } = stage(&servers).await?;
    // Within a transaction the list of connections stands still.
    let mut watcher = support::admin(server.url()).await?;
    let refused = |answer: Answer<Placement>, code: &str| {
        let Err(error) = answer else { return Err(Failure::new(format!("no {code}"))) };
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        equal((error.is_retryable(), source), (true, format!("SQLSTATE {code}")))
    };
    // A statement that takes too long. Where the machine stops meanwhile, its deadline may have passed before the server says so.
    let hasty = config(server.url(), "stage")?.with_deadline(Duration::from_secs(3));
    let hasty = PgChat::new(&Postgres::connect(hasty).await?);
    let is_late = |answer: &Answer<Placement>| {
        answer.as_ref().is_err_and(|error| error.is_retryable() && error.with_causes().contains("deadline has passed"))
    };
    run(&mut admin, "BEGIN; LOCK TABLE stage.message IN ACCESS EXCLUSIVE MODE").await?;
    let mut answer = talk.append(&hasty, &new("late")).await;
    for _ in 0..4 {
        if !is_late(&answer) {
            break;
        }
        answer = talk.append(&hasty, &new("late")).await;
    }
    refused(answer, "57014")?;
    run(&mut admin, "ROLLBACK").await?;
    talk.append(&chat, &new("in time")).await?;

    // A server that has become read-only; connections made while it was are not kept.
    run(&mut admin, "ALTER ROLE memory_tester SET default_transaction_read_only = on").await?;
    run(&mut admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memory_tester'").await?;
    let closed = talk.append(&chat, &new("closed")).await;
    equal(closed.as_ref().err().is_none_or(Error::is_retryable), true)?;
    let mut answer = closed;
    for _ in 0..20 {
        if answer.as_ref().is_err_and(|error| format!("{error:?}").contains("25006")) {
            break;
        }
        answer = talk.append(&chat, &new("read-only")).await;
    }
    refused(answer, "25006")?;
    run(&mut admin, "ALTER ROLE memory_tester RESET default_transaction_read_only").await?;
    talk.insist(&chat, &new("writable again")).await?;

    // An administrator ends a statement's connection in its midst.
    run(&mut admin, "BEGIN; LOCK TABLE stage.message IN ACCESS EXCLUSIVE MODE").await?;
    let waiting = {
        let (chat, talk) = (chat.clone(), Arc::clone(&talk));
        tokio::spawn(async move { talk.append(&chat, &new("ended")).await })
    };
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE usename = 'memory_tester' AND wait_event_type = 'Lock'";
    while number(&mut watcher, sql).await? == 0 && !waiting.is_finished() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    refused(waiting.await.map_err(|error| Failure::new(error.to_string()))?, "57P01")?;
    run(&mut admin, "ROLLBACK").await?;
    talk.insist(&chat, &new("last")).await.map(|_| ()).map_err(Failure::from)
}
