//! The views for people and reports: what is stored, joined and filtered by SQL.

use std::sync::Arc;

use memory_core::store::Store as _;
use memory_core::store::chat::{Append, ChatStore as _, NewMessage};
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore as _};
use memory_core::{Epoch, Message, Record, Role, Scope, SessionId, Timestamp};
use memory_postgres::{PgChat, PgRecords, Postgres};
use memory_testkit::{Failure, Scene, equal};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

/// Joins records with the conversations they come from, by metadata, as an ordinary role that named the owner.
pub(crate) async fn s1_8_s3_7_joined_by_sql(database: Postgres, ordinary: String, schema: &str) -> Scene {
    let tenant = uuid::Uuid::now_v7().to_string();
    let (ada, bob) = (Scope::new(&tenant, "ada")?, Scope::new(&tenant, "bob")?);
    let (chat, records) = (PgChat::new(&database), PgRecords::new(&database));
    let session = SessionId::new("support")?;
    for (owner, city) in [(&ada, "Porto"), (&bob, "Lyon")] {
        let said = [format!("I live in {city}.\0"), "C:\\u0000 is a path.".to_owned()];
        let messages = said.into_iter().enumerate().map(|(place, text)| {
            let mut message = Message::new(Role::User, text, Timestamp(1_700_000_000_000_000 + place as i64));
            message.metadata.insert("order".to_owned(), 17.into());
            NewMessage::sized(Arc::new(message), 5)
        });
        chat.append(owner, &session, &Append::new(messages.collect())).await?;
        let mut record =
            Record::new("fact", format!("{} lives in {city}", owner.subject()), Timestamp(1_700_000_000_000_000));
        record.first.session = Some(session.clone());
        record.first.metadata.insert("order".to_owned(), 17.into());
        record.first.expires_at = Some(Timestamp(i64::MAX));
        let puts = vec![Put { record: Arc::new(record), expect: Expect::Absent }];
        records.put(owner, &RecordBatch { fence: None, puts }).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary).await.map_err(failed)?;
    let path = format!("SET search_path = {schema}, public");
    sqlx::query(sqlx::AssertSqlSafe(path)).execute(&mut connection).await.map_err(failed)?;
    sqlx::query("SET TIME ZONE 'UTC'").execute(&mut connection).await.map_err(failed)?;
    let sql = "SELECT r.kind || ': ' || r.text || ' (' || m.text || ') ' || extract(year FROM m.at)::text || ' '
            || r.access_count::text || ' ' || coalesce(r.importance, 0.5)::text || ' ' || r.expires_at::text
        FROM record_view AS r JOIN message_view AS m ON m.scope = r.scope AND m.metadata ->> 'order' = r.metadata ->> 'order'
        WHERE r.metadata @> '{\"order\": 17}' AND r.created_at < now() ORDER BY m.seq";
    let nobody: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut connection).await.map_err(failed)?;
    equal(nobody, Vec::<String>::new())?;
    let mut transaction = connection.begin().await.map_err(failed)?;
    let name = sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(ada.key());
    name.execute(&mut *transaction).await.map_err(failed)?;
    let found: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut *transaction).await.map_err(failed)?;
    let row = |said: &str| format!("fact: ada lives in Porto ({said}) 2023 0 0.5 294247-01-10 04:00:54.775807+00");
    equal(found, vec![row("I live in Porto.\u{fffd}"), row("C:\\u0000 is a path.")])?;
    transaction.commit().await.map_err(failed)?;
    chat.erase(&ada, Epoch(1)).await?;
    let mut transaction = connection.begin().await.map_err(failed)?;
    let name = sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(ada.key());
    name.execute(&mut *transaction).await.map_err(failed)?;
    let left: i64 =
        sqlx::query_scalar("SELECT count(*) FROM message_view").fetch_one(&mut *transaction).await.map_err(failed)?;
    equal(left, 0)?;
    transaction.commit().await.map_err(failed)?;
    connection.close().await.map_err(failed)
}
