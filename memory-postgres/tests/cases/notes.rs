//! Notes as an earlier version could have left them, and indexes that are enlisted or retired beside others.

use std::sync::Arc;
use std::time::Duration;

use memory_core::record::Record;
use memory_core::store::Store as _;
use memory_core::store::chat::{Append, ChatStore as _, NewMessage};
use memory_core::store::records::RecordStore as _;
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::store::upkeep::{Incarnation, IndexName, Outcome, Upkeep as _};
use memory_core::time::Stopwatch;
use memory_core::{Error, Message, Role, Scope, Seq, SessionId, Timestamp};
use memory_postgres::{PgChat, PgRecords, Postgres, PostgresConfig};
use memory_testkit::{Failure, Scene, check, equal};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

use crate::support::{open, ordinary};

/// A note with the largest number there is, and one that cannot be read.
pub(crate) async fn of_earlier_versions(database: Postgres, url: String) -> Scene {
    let tenant = uuid::Uuid::now_v7().to_string();
    let (records, index) = (PgRecords::new(&database), IndexName::new(&format!("text/{tenant}"))?);
    records.enlist(&index, None, usize::MAX).await?;
    for subject in ["ada", "bob"] {
        let record = Arc::new(Record::new("fact", "the rose is called Aurora", Timestamp(1)));
        let puts = vec![Put { record, expect: Expect::Absent }];
        records.put(&Scope::new(&tenant, subject)?, &RecordBatch { fence: None, puts }).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    sqlx::query("SET search_path = search, public").execute(&mut connection).await.map_err(failed)?;
    let large = "UPDATE note SET \"from\" = 9223372036854775807, upto = 9223372036854775807 WHERE scope = $1";
    let bob = Scope::new(&tenant, "bob")?;
    sqlx::query(large).bind(bob.key()).execute(&mut connection).await.map_err(failed)?;
    let foreign = "UPDATE note SET scope = $1 WHERE scope = $2 \
         AND enlisted = (SELECT id FROM enlisted WHERE truth = 1 AND name = $3)";
    let ada = Scope::new(&tenant, "ada")?;
    let damage = sqlx::query(foreign).bind(format!("no key {tenant}")).bind(ada.key()).bind(index.as_str());
    damage.execute(&mut connection).await.map_err(failed)?;

    let pending = || records.pending(&index, Timestamp(0), 10);
    let notes = pending().await?;
    equal(notes.iter().map(|note| (note.scope.clone(), note.upto)).collect::<Vec<_>>(), [(bob, Seq(u64::MAX >> 1))])?;
    let done = notes.iter().map(|note| (note.clone(), Outcome::Done { through: note.upto }));
    let done: Vec<_> = done.collect();
    for _ in 0..2 {
        records.settle(&index, &done).await?;
    }
    let left = pending().await;
    check!(matches!(left, Err(Error::Corrupt { .. })), "{left:?}");
    records.retire(&index).await?;
    let others = "DELETE FROM note WHERE scope = $1";
    let rest = sqlx::query(others).bind(format!("no key {tenant}")).execute(&mut connection).await;
    rest.map_err(failed)?;
    connection.close().await.map_err(failed)
}

/// Stores a record of each owner.
async fn remember(records: &PgRecords, subjects: &[&str]) -> Scene {
    for subject in subjects {
        let record = Arc::new(Record::new("fact", "the rose is called Aurora", Timestamp(1)));
        let puts = vec![Put { record, expect: Expect::Absent }];
        records.put(&Scope::new("nobody", subject)?, &RecordBatch { fence: None, puts }).await?;
    }
    Ok(())
}

/// Notes that cannot be read take no room from the ones behind them.
pub(crate) async fn of_nobody(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let (records, index) = (PgRecords::new(&open(&url, &schema).await?), IndexName::new("text/test-1")?);
    records.enlist(&index, None, usize::MAX).await?;
    remember(&records, &["ada", "bob", "cleo", "dora", "eve"]).await?;
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut connection).await.map_err(failed)?;
    let damage = "UPDATE note SET scope = 'no key of ' || scope WHERE scope NOT IN ('nobody.cleo', 'nobody.eve')";
    let damaged = sqlx::raw_sql(damage).execute(&mut connection).await.map_err(failed)?;
    equal(damaged.rows_affected(), 3)?;
    let readable = [Scope::new("nobody", "cleo")?, Scope::new("nobody", "eve")?];
    for (limit, count) in [(1, 1), (2, 2), (9, 2), (usize::MAX, 2)] {
        let notes = records.pending(&index, Timestamp(0), limit).await?;
        let owners: Vec<Scope> = notes.into_iter().map(|note| note.scope).collect();
        equal(owners, readable.iter().take(count).cloned().collect::<Vec<_>>())?;
    }
    connection.close().await.map_err(failed)
}

/// Has the first note settled before the second page of notes is read: each page looks twice.
const SETTLED: &str = "UPDATE note SET scope = 'no key of ' || scope WHERE scope IN ('nobody.ada', 'nobody.bob'); \
     ALTER TABLE note RENAME TO kept; \
     CREATE SEQUENCE looks; \
     CREATE FUNCTION look() RETURNS SETOF kept LANGUAGE plpgsql AS $$ BEGIN \
     IF nextval('looks') = 3 THEN DELETE FROM kept WHERE scope = 'no key of nobody.ada'; END IF; \
     RETURN QUERY SELECT * FROM kept; END $$; \
     CREATE VIEW note AS SELECT * FROM look()";

/// A note that is settled between two pages has none behind it passed over.
pub(crate) async fn settled_between_pages(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let (records, index) = (PgRecords::new(&open(&url, &schema).await?), IndexName::new("text/test-1")?);
    records.enlist(&index, None, usize::MAX).await?;
    remember(&records, &["ada", "bob", "cleo", "dora"]).await?;
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut connection).await.map_err(failed)?;
    sqlx::raw_sql(SETTLED).execute(&mut connection).await.map_err(failed)?;
    let notes = records.pending(&index, Timestamp(0), 2).await?;
    let owners: Vec<Scope> = notes.into_iter().map(|note| note.scope).collect();
    equal(owners, [Scope::new("nobody", "cleo")?, Scope::new("nobody", "dora")?])?;
    let looks = sqlx::query_scalar::<_, i64>("SELECT last_value FROM looks").fetch_one(&mut connection).await;
    equal(looks.map_err(failed)?, 4)?;
    connection.close().await.map_err(failed)
}

/// Rows with keys that no owner has, and with a name that no index has, hold up no others.
pub(crate) async fn of_strangers(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let (chat, index) = (PgChat::new(&open(&url, &schema).await?), IndexName::new("text/test-1")?);
    chat.enlist(&index, None, usize::MAX).await?;
    let (ada, bob) = (Scope::new("strangers", "ada")?, Scope::new("strangers", "bob")?);
    for owner in [&ada, &bob] {
        let message = NewMessage::sized(Message::new(Role::User, "tea", Timestamp(0)), 1);
        chat.append(owner, &SessionId::new("s")?, &Append::new(vec![message])).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut connection).await.map_err(failed)?;
    let planted = "INSERT INTO owner (scope, truth, epoch) \
         VALUES ('!', 0, 0), ('a', 0, 0), ('strangers.ada!', 0, 0), ('zz', 0, 0); \
         INSERT INTO enlisted (truth, name) VALUES (0, 'no name')";
    sqlx::raw_sql(planted).execute(&mut connection).await.map_err(failed)?;
    equal(chat.owners(None, 10).await?, [ada.clone(), bob.clone()])?;
    equal(chat.owners(None, 1).await?, [ada.clone()])?;
    equal(chat.owners(Some(&ada), 1).await?, [bob.clone()])?;
    equal(chat.owners(Some(&bob), 1).await?.len(), 0)?;
    equal(chat.indexes().await?.len(), 1)?;
    equal(chat.pending(&index, Timestamp(0), 10).await?.len(), 2)?;
    connection.close().await.map_err(failed)
}

/// Whether each of the two indexes of notes was read for a count. The other reader of the first is not called.
const READ: &str = "SELECT count(*) = 2 FROM pg_stat_user_indexes \
     WHERE schemaname = $1 AND indexrelname IN ('note_due', 'note_dead') AND idx_scan > 0";

/// Notes that are due and notes that were given up are counted by the index of each.
pub(crate) async fn counted_by_indexes(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    // A table as small as this one is read whole otherwise.
    let config = PostgresConfig::new(&format!("{url}?options=-c%20enable_seqscan%3Doff"))?.with_schema(&schema)?;
    let database = Postgres::connect(config.with_deadline(Duration::from_secs(30))).await?;
    let (records, index) = (PgRecords::new(&database), IndexName::new("text/test-1")?);
    records.enlist(&index, None, usize::MAX).await?;
    remember(&records, &["ada", "bob", "cleo"]).await?;
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&url).await.map_err(failed)?;
    // The server counts in its own time.
    for _ in 0..400 {
        let backlog = records.backlog(&index).await?;
        equal((backlog.pending, backlog.dead), (3, 0))?;
        if sqlx::query_scalar(READ).bind(&schema).fetch_one(&mut connection).await.map_err(failed)? {
            return connection.close().await.map_err(failed);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("a count reads more than its index".into())
}

/// While a writer takes its time, an index that is retired waits for it, and nobody else waits.
pub(crate) async fn retired_beside_writers(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let (records, index) = (PgRecords::new(&open(&url, &schema).await?), IndexName::new("text/retired")?);
    records.enlist(&index, None, usize::MAX).await?;
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut slow = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut slow).await.map_err(failed)?;
    let write = "BEGIN; SELECT pg_advisory_xact_lock_shared('enlisted'::regclass::oid::integer, 0)";
    sqlx::raw_sql(write).execute(&mut slow).await.map_err(failed)?;
    let (retiring, retired) = (records.clone(), index.clone());
    let retiring = tokio::spawn(async move { retiring.retire(&retired).await });
    let (watch, ada) = (Stopwatch::start(), Scope::new("acme", "ada")?);
    while watch.elapsed() < Duration::from_millis(500) {
        let record = Arc::new(Record::new("fact", uuid::Uuid::now_v7().to_string(), Timestamp(1)));
        let puts = vec![Put { record, expect: Expect::Absent }];
        records.put(&ada, &RecordBatch { fence: None, puts }).await?;
    }
    check!(!retiring.is_finished(), "it did not wait for the writer");
    sqlx::raw_sql("COMMIT").execute(&mut slow).await.map_err(failed)?;
    retiring.await.map_err(|stopped| Failure::new(stopped.to_string()))??;
    equal(records.indexes().await?.len(), 0)?;
    slow.close().await.map_err(failed)
}

async fn say(chat: &PgChat, owner: &Scope, session: &str) -> Scene {
    let message = NewMessage::sized(Message::new(Role::User, "hello", Timestamp(1)), 1);
    chat.append(owner, &SessionId::new(session)?, &Append::new(vec![message])).await?;
    Ok(())
}

/// Returns the session in whose midst the one index stands; empty if there is none.
async fn midst(connection: &mut PgConnection) -> Result<String, Failure> {
    let found = sqlx::query_scalar("SELECT noted_key FROM enlisted").fetch_one(connection).await;
    found.map_err(|error| Failure::new(error.to_string()))
}

/// Whether somebody waits to write what an owner said.
const WAITS: &str = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
     AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 'owner'::regclass::oid::bigint))";

/// An owner who is erased in the midst of an enlisting is not named any more, and neither of the two can wait for the other.
pub(crate) async fn erased_in_the_midst(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let (chat, index) = (PgChat::new(&open(&url, &schema).await?), IndexName::new("text/test")?);
    let (ada, bob) = (Scope::new("acme", "ada")?, Scope::new("acme", "bob")?);
    for (owner, session) in [(&ada, "canary"), (&ada, "z"), (&bob, "s")] {
        say(&chat, owner, session).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut connection).await.map_err(failed)?;
    equal(chat.enlist(&index, None, 1).await?, false)?;
    equal(midst(&mut connection).await?, "canary")?;

    // As long as it waits for the owner, it has not locked where it stands.
    sqlx::raw_sql("BEGIN").execute(&mut connection).await.map_err(failed)?;
    let enter = sqlx::query("SELECT enter_owner(0::smallint, $1)").bind(ada.key());
    enter.execute(&mut connection).await.map_err(failed)?;
    let (walking, walked) = (chat.clone(), index.clone());
    let walk = tokio::spawn(async move { walking.enlist(&walked, None, 1).await });
    while !sqlx::query_scalar::<_, bool>(WAITS).bind(ada.key()).fetch_one(&mut connection).await.map_err(failed)? {
        check!(!walk.is_finished(), "it did not wait for the owner");
    }
    let lock = sqlx::query("SELECT id FROM enlisted FOR UPDATE NOWAIT").execute(&mut connection).await;
    lock.map_err(failed)?;
    sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.map_err(failed)?;
    equal(walk.await.map_err(|stopped| Failure::new(stopped.to_string()))??, false)?;
    equal(midst(&mut connection).await?, "z")?;

    let epoch = chat.bury(&ada, chat.epoch(&ada).await?).await?;
    equal(midst(&mut connection).await?, "")?;
    // As an erasure by an earlier version left it.
    sqlx::raw_sql("UPDATE enlisted SET noted_key = 'canary'").execute(&mut connection).await.map_err(failed)?;
    say(&chat, &ada, "new").await?;
    say(&chat, &ada, "newer").await?;
    equal(chat.erase(&ada, epoch).await?.remaining, 0)?;
    equal(midst(&mut connection).await?, "")?;
    // What is there now is named, and noted to its end.
    equal(chat.enlist(&index, Some(Incarnation::draw()), 1).await?, false)?;
    equal(chat.erase(&ada, epoch).await?.remaining, 0)?;
    equal(midst(&mut connection).await?, "new")?;
    equal(chat.enlist(&index, None, usize::MAX).await?, true)?;
    equal(chat.pending(&index, Timestamp(0), 10).await?.len(), 4)?;
    connection.close().await.map_err(failed)
}
