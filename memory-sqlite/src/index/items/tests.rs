use memory_core::{Epoch, MessageId};
use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};

use super::*;

/// Returns a database in memory with the tables of indexes.
pub(crate) async fn database() -> SqliteConnection {
    let mut connection = SqliteConnectOptions::new().in_memory(true).connect().await.unwrap();
    for script in [
        include_str!("../../../migrations/0001_truth.sql"),
        include_str!("../../../migrations/0002_index.sql"),
        include_str!("../../../migrations/0006_incarnations.sql"),
        include_str!("../../../migrations/0009_packed.sql"),
    ] {
        sqlx::raw_sql(script).execute(&mut connection).await.unwrap();
    }
    connection
}

/// Puts an item of owner 1 with these fields.
pub(crate) async fn insert(connection: &mut SqliteConnection, id: i64, fields: &Fields) {
    let item = ItemId::Message(MessageId::of_content(&id.to_le_bytes()));
    let version = Version { epoch: Epoch(0), revision: 0 };
    put(connection, 1, &[Row { id, item: &item, version, digest: &[], block: None, fields }]).await.unwrap();
}

fn entry(item: &ItemId, epoch: u64, revision: u64, content: &'static str) -> Incoming<&'static str> {
    let session = SessionId::new("s").unwrap();
    let fields = Fields::of_span(&session, memory_core::Seq(1), memory_core::Timestamp(0));
    let version = Version { epoch: Epoch(epoch), revision };
    Incoming { item: item.clone(), version, fields, digest: content.into(), content }
}

#[test]
fn of_several_entries_of_one_item_the_newest_stays_and_of_equals_the_last() {
    let (a, b) = (ItemId::Message(MessageId::fresh()), ItemId::Message(MessageId::fresh()));
    let entries = [entry(&a, 0, 2, "new"), entry(&b, 0, 1, "first"), entry(&a, 0, 1, "old"), entry(&b, 0, 1, "last")];
    let kept: Vec<_> = newest(entries.into_iter()).into_iter().map(|entry| entry.content).collect();
    assert_eq!(kept, ["new", "last"]);
}

#[tokio::test]
async fn what_is_older_than_what_is_stored_or_than_the_erasure_is_not_accepted() {
    let mut connection = database().await;
    let scope = memory_core::Scope::new("t", "s").unwrap();
    let mut owner = Owner::intern(&mut connection, &scope, "text/a").await.unwrap();
    owner.raise(Epoch(3));
    let item = ItemId::Message(MessageId::fresh());
    let accepted = accept(&mut connection, &mut owner, vec![entry(&item, 2, 9, "late")]).await.unwrap();
    assert!(accepted.is_empty());
    let first = accept(&mut connection, &mut owner, vec![entry(&item, 3, 5, "x")]).await.unwrap().remove(0);
    assert_eq!(first.before, Before::Absent);
    let Accepted { id, entry: stored, .. } = first;
    let Incoming { item, version, fields, digest, content: _ } = stored;
    let row = Row { id, item: &item, version, digest: &digest, block: Some(7), fields: &fields };
    put(&mut connection, owner.id, &[row]).await.unwrap();
    for (epoch, revision, content, before) in [
        (3, 4, "y", None),
        (3, 5, "x", Some(Before::Same(Some(7)))),
        (3, 5, "y", Some(Before::Other(Some(7)))),
        (4, 0, "x", Some(Before::Same(Some(7)))),
    ] {
        let entry = entry(&item, epoch, revision, content);
        let accepted = accept(&mut connection, &mut owner, vec![entry]).await.unwrap();
        assert_eq!(accepted.iter().map(|accepted| (accepted.id, accepted.before)).next(), before.map(|b| (id, b)));
    }
}

#[tokio::test]
async fn numbers_of_owners_are_never_given_twice() {
    let mut connection = database().await;
    let scope = memory_core::Scope::new("t", "s").unwrap();
    let mut owner = Owner::intern(&mut connection, &scope, "text/a").await.unwrap();
    let first = [owner.number(), owner.number()];
    owner.save(&mut connection).await.unwrap();
    let mut again = Owner::intern(&mut connection, &scope, "text/a").await.unwrap();
    assert_eq!(again.id, owner.id);
    assert!(!first.contains(&again.number()));
    let other = Owner::intern(&mut connection, &scope, "text/b").await.unwrap();
    assert_ne!(other.id, owner.id);
}

#[tokio::test]
async fn the_items_of_a_session_and_sessions_without_any_are_looked_up_and_not_looked_for() {
    let mut connection = database().await;
    for (sql, plan) in [
        (OF_SESSION, "SEARCH index_item USING INDEX index_item_by_session (owner=? AND session=?)"),
        (sessions::FORGET_EMPTY, "SEARCH index_session USING INTEGER PRIMARY KEY (rowid=?)"),
    ] {
        let mut explain = sqlx::QueryBuilder::<sqlx::Sqlite>::new("EXPLAIN QUERY PLAN ");
        let rows: Vec<(i64, i64, i64, String)> =
            explain.push(sql).build_query_as().fetch_all(&mut connection).await.unwrap();
        assert!(rows.iter().any(|row| row.3 == plan), "{sql}: {rows:?}");
    }
}
