//! One message and one record whose bytes have changed on the disk, in a memory over a file.

use std::sync::Arc;

use memory_core::engine::{Forget, HistoryEdge, Memory, Remember, Scoped, Search};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Analysis, Message, RecordId, Role, Scope, SessionId, Truth};

use crate::error::Doing;
use crate::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText};

async fn memory(file: &Sqlite) -> Memory {
    let chat = Truth::chat(Arc::new(SqliteChat::new(file)));
    let builder = Memory::builder(chat, Truth::records(Arc::new(SqliteRecords::new(file))));
    let builder = builder.text(Arc::new(SqliteText::new(file, Analysis::english().name())));
    builder.buffer(BufferConfig::default().with_folding(Folding::Off)).build().await.unwrap()
}

async fn damage(file: &Sqlite, sql: &'static str) {
    let change = file.write("damage", move |connection| {
        Box::pin(async move { sqlx::query(sql).execute(connection).await.doing("damage").map(|_| ()) })
    });
    change.await.unwrap();
}

/// Returns how many boilers are found, and what the receipt says of stages that failed.
async fn found(ada: &Scoped) -> (usize, String) {
    let found = ada.search(&Search::new("boilers").limit(50)).await.unwrap();
    let told: Vec<&str> = found.receipt.degraded.iter().map(|degraded| degraded.why.as_str()).collect();
    (found.hits.len(), told.join("; "))
}

#[tokio::test]
async fn a_damaged_item_hides_no_other_and_can_be_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let file = Sqlite::connect(SqliteConfig::new(folder.path().join("memory.db"))).await.unwrap();
    let first = memory(&file).await;
    let ada = first.of(&Scope::new("acme", "ada").unwrap());
    let talk = ada.session(&SessionId::new("talk").unwrap());
    let said: Vec<Message> =
        (0..12).map(|n| Message::new(Role::User, format!("Talk number {n} about boilers."), first.now())).collect();
    let message = said[8].id;
    talk.append(said).await.unwrap();
    let mut records = Vec::new();
    for n in 0..3 {
        records.push(ada.remember(Remember::fact(format!("Fact {n} about boilers"))).await.unwrap().id);
    }
    first.upkeep_once().await.unwrap();
    let record: RecordId = records[1];
    damage(&file, "UPDATE message SET body = CAST(substr(body, 1, length(body) - 1) || x'00' AS BLOB) WHERE seq = 9")
        .await;
    damage(&file, "UPDATE record SET body = CAST(substr(body, 1, length(body) - 1) || x'00' AS BLOB) WHERE item = 2")
        .await;

    let second = memory(&file).await;
    let ada = second.of(ada.scope());
    let (count, told) = found(&ada).await;
    assert_eq!(count, 13, "{told}");
    assert!(told.contains(&message.to_string()) && told.contains(&record.to_string()), "{told}");
    let talk = ada.session(talk.id());
    let damage = talk.history(HistoryEdge::Newest, 50).await.unwrap_err().with_causes();
    assert!(damage.contains(&message.to_string()), "{damage}");

    let forgotten = ada.forget(&Forget::Messages(vec![message])).await.unwrap();
    assert_eq!((forgotten.removed, forgotten.complete), (1, true));
    let forgotten = ada.forget(&Forget::Records(vec![record])).await.unwrap();
    assert_eq!((forgotten.removed, forgotten.complete), (1, true));
    assert_eq!(found(&ada).await, (13, String::new()));
    assert_eq!(talk.history(HistoryEdge::Newest, 50).await.unwrap().messages.len(), 12);
    second.upkeep_once().await.unwrap();
    assert_eq!(found(&ada).await, (13, String::new()));
}
