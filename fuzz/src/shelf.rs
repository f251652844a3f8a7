//! Items in a file of SQLite, to be parted by filters: records, messages, and an index of words.

use std::sync::Arc;

use memory::sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText};
use memory_core::store::chat::{Append, ChatStore as _, NewMessage, Page, View};
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore as _};
use memory_core::store::text::{Term, TextEntry, TextQuery, TextStore as _, Visibility};
use memory_core::{Epoch, Error, Fields, Filter, ItemId, Record, Scope, Seq, SessionId, StoredMessage, Unit, Version};
use tempfile::TempDir;

use crate::items;

/// How many items of each kind there are.
const ITEMS: usize = 24;
const UNITS: [Unit; 3] = [Unit::Message, Unit::Record, Unit::Span];

/// Items in a file of SQLite.
pub struct Shelf {
    _folder: TempDir,
    scope: Scope,
    session: SessionId,
    records: SqliteRecords,
    chat: SqliteChat,
    text: SqliteText,
    held: Vec<Arc<Record>>,
    rows: Vec<StoredMessage>,
    entries: Vec<TextEntry>,
    fields: Vec<Fields>,
}

impl Shelf {
    /// Fills a file with items whose fields hold what has broken filters elsewhere.
    pub async fn fill() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Sqlite::connect(SqliteConfig::new(folder.path().join("shelf.sqlite"))).await.expect("a file");
        let (scope, session) = (Scope::new("acme", "ada").expect("an owner"), SessionId::new("s").expect("a name"));
        let (records, chat) = (SqliteRecords::new(&file), SqliteChat::new(&file));
        let text = SqliteText::new(&file, "plain");

        let held: Vec<_> = (0..ITEMS).map(|number| Arc::new(items::record(number))).collect();
        let puts = held.iter().map(|record| Put { record: Arc::clone(record), expect: Expect::Absent }).collect();
        records.put(&scope, &RecordBatch { fence: None, puts }).await.expect("records");

        let messages = (0..ITEMS).map(|number| NewMessage::sized(items::message(number), 1)).collect();
        chat.append(&scope, &session, &Append::new(messages)).await.expect("messages");
        let page = Page::after(Seq(0), ITEMS, View::Log);
        let rows = chat.read(&scope, &session, &page).await.expect("messages").messages;

        let entries: Vec<_> = UNITS.iter().flat_map(|unit| (0..ITEMS).map(|number| entry(number, *unit))).collect();
        text.put(&scope, &entries, Visibility::OnReturn).await.expect("an index");

        let of_row = |row: &StoredMessage| row.message.as_ref().map(|message| Fields::of_message(row, message));
        let of_records = held.iter().map(|record| Fields::of_record(record));
        let of_entries = entries.iter().map(|entry| entry.fields.clone());
        let fields = rows.iter().filter_map(of_row).chain(of_records).chain(of_entries).collect();
        Self { _folder: folder, scope, session, records, chat, text, held, rows, entries, fields }
    }

    /// Returns what filters see of all items.
    pub fn fields(&self) -> &[Fields] {
        &self.fields
    }

    /// Asks every store for what matches, and compares that with what the definition says.
    pub async fn agrees(&self, filter: &Filter) {
        let found = self.records.scan(&self.scope, filter, None, usize::MAX).await;
        let promised = self.held.iter().filter(|record| filter.matches(&Fields::of_record(record)));
        let mut promised: Vec<_> = promised.map(|record| record.id).collect();
        promised.sort();
        same(filter, found.map(|rows| rows.iter().map(|row| row.record.id).collect()), promised);

        let page = Page::after(Seq(0), ITEMS, View::Active).matching(filter.clone());
        let found = self.chat.read(&self.scope, &self.session, &page).await;
        let matches = |row: &&StoredMessage| {
            row.message.as_ref().is_some_and(|message| filter.matches(&Fields::of_message(row, message)))
        };
        let promised = self.rows.iter().filter(matches).map(|row| row.seq).collect();
        same(filter, found.map(|slice| slice.messages.iter().map(|row| row.seq).collect()), promised);

        for unit in UNITS {
            let terms = vec![Term::new("river").expect("a term")];
            let query = TextQuery { terms, unit, filter: filter.clone(), limit: ITEMS };
            let found = self.text.search(&self.scope, &query).await;
            let found = found.map(|found| {
                let mut items: Vec<ItemId> = found.hits.into_iter().map(|hit| hit.item).collect();
                items.sort();
                items
            });
            let of_unit = self.entries.iter().filter(|entry| entry.fields.unit == unit);
            let mut promised: Vec<ItemId> =
                of_unit.filter(|entry| filter.matches(&entry.fields)).map(|entry| entry.item.clone()).collect();
            promised.sort();
            same(filter, found, promised);
        }
    }
}

/// Asserts that a store found what was promised.
fn same<T: PartialEq + std::fmt::Debug>(filter: &Filter, found: Result<Vec<T>, Error>, promised: Vec<T>) {
    match found {
        Ok(found) => assert_eq!(found, promised, "{filter}"),
        Err(error) => panic!("{filter}: {error:?}"),
    }
}

fn entry(number: usize, unit: Unit) -> TextEntry {
    let version = Version { epoch: Epoch(0), revision: 1 };
    let own = vec![(Term::new("river").expect("a term"), 1)];
    TextEntry { item: items::item(number, unit), version, own, near: Vec::new(), fields: items::fields(number, unit) }
}
