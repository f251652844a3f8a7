//! Settings that an operator changes.

use std::sync::Arc;
use std::time::Duration;

use memory_core::recent::RECENT;
use memory_core::record::Record;
use memory_core::store::chat::{Append, ChatStore as _};
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore as _};
use memory_core::store::{Durability, Store as _};
use memory_core::{Error, Field, Filter, Scope, SessionId, Timestamp};
use memory_postgres::{PgChat, PgRecords, Postgres};
use memory_testkit::doubles::ManualClock;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};
use sqlx::PgConnection;

use super::writers::new;
use crate::support::{admin, config};

async fn run(admin: &mut PgConnection, sql: &'static str) -> Scene {
    sqlx::raw_sql(sql).execute(admin).await.map(|_| ()).map_err(|error| Failure::new(error.to_string()))
}

pub(crate) async fn durability(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.start().await?;
    let (mut admin, clock) = (admin(server.url()).await?, Arc::new(ManualClock::default()));
    let postgres = Postgres::connect(config(server.url(), "settings")?.with_clock(clock.clone())).await?;
    let (chat, scope, session) = (PgChat::new(&postgres), Scope::new("settings", "ada")?, SessionId::new("s")?);
    let append = || async {
        let batch = Append::new(vec![new("hello")]);
        Ok::<_, Error>(chat.append(&scope, &session, &batch).await?.durability)
    };
    equal(append().await?, Durability::Committed)?;
    // The test's servers are told `fsync` on their command line, which is not to be overruled.
    run(&mut admin, "ALTER SYSTEM SET full_page_writes = off").await?;
    run(&mut admin, "SELECT pg_reload_conf()").await?;
    equal(append().await?, Durability::Committed)?;
    // The server's processes read the file in their own time.
    for _ in 0..200 {
        clock.advance(RECENT);
        if append().await? == Durability::Volatile {
            return equal(chat.ping().await?.durability, Durability::Volatile);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err("an old durability class is told for ever".into())
}

/// A role that reads backslashes in all strings finds the records of a session all the same.
pub(crate) async fn strings(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.start().await?;
    let mut admin = admin(server.url()).await?;
    run(&mut admin, "ALTER ROLE memory_tester SET standard_conforming_strings = off").await?;
    let records = PgRecords::new(&Postgres::connect(config(server.url(), "strings")?).await?);
    let (scope, mut record) = (Scope::new("settings", "ada")?, Record::new("fact", "tea", Timestamp(0)));
    record.first.session = Some(SessionId::new("s")?);
    let id = record.id;
    let puts = vec![Put { record: record.into(), expect: Expect::Absent }];
    records.put(&scope, &RecordBatch { fence: None, puts }).await?;
    let found = records.scan(&scope, &Filter::eq(Field::Session, "s"), None, 9).await?;
    equal(found.iter().map(|found| found.record.id).collect::<Vec<_>>(), [id])?;
    server.remove().await.map_err(Failure::from)
}
