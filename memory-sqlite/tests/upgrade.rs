//! A file that an earlier version made is brought up to date, loses nothing, and answers as it did.

use std::path::Path;
use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, Search};
use memory_core::store::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Message, Role, Scope, SessionId, Timestamp, Truth};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

/// Makes the file as version 8 left it: two conversations, a record, a message forgotten, indexes of words and of meaning.
async fn make(path: &Path) -> sqlx::Result<()> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true).foreign_keys(false);
    let mut connection = options.connect().await?;
    sqlx::raw_sql(include_str!("fixtures/version-8.sql")).execute(&mut connection).await?;
    Ok(())
}

async fn open(file: &Sqlite) -> memory_core::Result<Memory> {
    let chat = Truth::chat(Arc::new(SqliteChat::new(file)));
    let records = Truth::records(Arc::new(SqliteRecords::new(file)));
    let text = Arc::new(SqliteText::new(file, Analysis::english().name()));
    let buffer = BufferConfig::default().with_folding(Folding::Off);
    Memory::builder(chat, records).text(text).buffer(buffer).build().await
}

#[tokio::test]
async fn a_file_of_version_8_answers_as_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    make(&path).await.unwrap();
    let file = Sqlite::connect(SqliteConfig::new(&path)).await.unwrap();
    let memory = open(&file).await.unwrap();
    while memory.upkeep_once().await.unwrap().indexed > 0 {}
    let owner = memory.of(&Scope::new("acme", "ada").unwrap());
    let call = "m-a980ba85-bfc2-5d13-b287-558143a6f03d";
    let (boiler, plumber) = ("m-ca8c31ea-eada-5d1c-bb8d-c56ae1afcad0", "m-56f00757-df55-57de-9b49-89e0e8b81ae3");
    for (words, expected) in [
        ("dentist", &[call, boiler][..]),
        ("boiler", &[boiler, plumber]),
        ("nachtzug porto", &["m-db4b8acb-333c-5170-bd61-4fc990940370", "m-09715f3a-b8d2-5f3f-a3d0-f422189427e6"]),
        // Another message that named him was forgotten.
        ("plumber", &[plumber]),
        ("penicillin", &["r-178e60d0-4539-5754-89ef-534de3baefe9"]),
    ] {
        let found = owner.search(&Search::new(words)).await.unwrap();
        assert!(found.receipt.degraded.is_empty(), "{:?}", found.receipt.degraded);
        let found: Vec<String> = found.hits.iter().map(|hit| hit.item.key()).take(expected.len()).collect();
        assert_eq!(found, expected, "{words}");
    }
}

#[tokio::test]
async fn messages_of_before_and_after_are_read_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    make(&path).await.unwrap();
    let chat = SqliteChat::new(&Sqlite::connect(SqliteConfig::new(&path)).await.unwrap());
    let (owner, session) = (Scope::new("acme", "ada").unwrap(), SessionId::new("monday").unwrap());
    let message = Arc::new(Message::new(Role::User, "She called back on Saturday.", Timestamp(0)));
    chat.append(&owner, &session, &Append::new(vec![NewMessage::sized(message, 6)])).await.unwrap();
    let page = chat.read(&owner, &session, &Page::newest(10)).await.unwrap();
    let texts: Vec<String> = page.messages.iter().map(|row| row.message.as_ref().unwrap().text()).collect();
    assert_eq!(
        texts,
        [
            "My dentist is Dr. Okafor in Mill Lane, remind me to call her.",
            "Noted: the dentist is Dr. Okafor. When shall I remind you?",
            "On Friday, please. And the boiler makes a strange noise since yesterday.",
            "Then the plumber should look at the boiler before the weekend.",
            "She called back on Saturday.",
        ]
    );
}
