use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::store::chat::{Append, ChatStore, NewMessage};
use memory_core::{Field, Filter, Message, Role, Seq, Timestamp};
use tempfile::TempDir;

use super::*;
use crate::chat::steps::watch;
use crate::{SqliteChat, SqliteConfig};

/// A session of 200 archived messages, forgotten ones up to the number `head`, and 60 active messages behind them.
async fn session(head: i64) -> (TempDir, Sqlite, Scope, SessionId) {
    let folder = tempfile::tempdir().unwrap();
    // One reader, so that its steps can be counted.
    let config = SqliteConfig::new(folder.path().join("memory.db")).with_readers(1);
    let file = Sqlite::connect(config).await.unwrap();
    let (scope, session) = (Scope::new("tenant", "subject").unwrap(), SessionId::new("session").unwrap());
    append(&file, &scope, &session, 200).await;
    let fill = file.write("fill", move |connection| {
        Box::pin(async move {
            let archive = sqlx::query("UPDATE message SET archived_by = zeroblob(16)");
            archive.execute(&mut *connection).await.unwrap();
            let sql = "WITH RECURSIVE number (seq) AS (SELECT 201 UNION ALL SELECT seq + 1 FROM number WHERE seq < ?) \
                 INSERT INTO message (owner, session, seq, layer, id, digest, tokens) \
                 SELECT 1, 1, seq, 0, randomblob(16), x'', 0 FROM number";
            sqlx::query(sql).bind(head).execute(&mut *connection).await.unwrap();
            sqlx::query("UPDATE session SET head = ?").bind(head).execute(connection).await.unwrap();
            Ok(())
        })
    });
    fill.await.unwrap();
    append(&file, &scope, &session, 60).await;
    (folder, file, scope, session)
}

async fn append(file: &Sqlite, scope: &Scope, session: &SessionId, count: usize) {
    let new = || NewMessage::sized(Message::new(Role::User, "words", Timestamp(0)), 1);
    let batch = Append::new((0..count).map(|_| new()).collect());
    SqliteChat::new(file).append(scope, session, &batch).await.unwrap();
}

fn pages() -> Vec<Page> {
    let of_user = || Filter::eq(Field::Role, "user");
    vec![
        Page::newest(50),
        Page::newest(usize::MAX).within(40),
        Page::newest(50).matching(of_user()),
        Page::newest(50).matching(Filter::Or(Vec::new())),
        Page::before(Seq(100_000), 50, View::Log),
        Page::after(Seq(20), 50, View::All),
        Page::after(Seq(20), 50, View::Log).matching(of_user()),
        Page { view: View::All, ..Page::newest(50) },
    ]
}

/// Counts hundreds of steps of SQLite's machine while the page is read.
async fn steps(file: &Sqlite, scope: &Scope, session: &SessionId, page: &Page) -> (usize, u64) {
    let counter = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&counter);
    file.read("watch", move |connection| Box::pin(watch(connection, 100, count))).await.unwrap();
    let slice = super::page(file, scope, session, page).await.unwrap();
    (slice.messages.len(), counter.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_page_costs_the_same_in_a_session_of_a_hundred_thousand_rows() {
    let (_short_folder, short, scope, session_id) = session(300).await;
    let (_long_folder, long, ..) = session(100_000).await;
    for page in pages() {
        let (_, of_short) = steps(&short, &scope, &session_id, &page).await;
        let (rows, of_long) = steps(&long, &scope, &session_id, &page).await;
        assert!(of_long > 0 || rows == 0, "the steps are not counted");
        assert!(of_long <= of_short + 60, "{page:?}: {of_short} and {of_long} hundred steps for {rows} rows");
    }
}

#[tokio::test]
async fn pages_are_read_along_an_index() {
    let (_folder, file, ..) = session(300).await;
    for page in pages() {
        let plan = file.read("explain", move |connection| {
            Box::pin(async move {
                let mut sql = QueryBuilder::new("EXPLAIN QUERY PLAN ");
                push_page(&mut sql, 1, 1, &page)?;
                let rows = sql.build().fetch_all(connection).await.doing("explain")?;
                Ok(rows.iter().map(|row| row.get::<String, _>(3)).collect::<Vec<_>>())
            })
        });
        let plan = plan.await.unwrap();
        assert!(plan.iter().any(|step| step.starts_with("SEARCH item USING INDEX")), "{plan:?}");
        assert!(!plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{plan:?}");
    }
}

#[tokio::test]
async fn a_changed_byte_is_damage_and_never_an_answer() {
    let (_folder, file, scope, session) = session(300).await;
    let change = file.write("damage", |connection| {
        Box::pin(async move {
            let sql =
                "UPDATE message SET body = CAST(substr(body, 1, length(body) - 1) || x'00' AS BLOB) WHERE seq = 330";
            sqlx::query(sql).execute(connection).await.doing("damage").map(|_| ())
        })
    });
    change.await.unwrap();
    let read = super::page(&file, &scope, &session, &Page::newest(usize::MAX)).await;
    assert!(matches!(read, Err(Error::Corrupt { .. })));
}
