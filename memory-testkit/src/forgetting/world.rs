//! A memory over the stores of a suite, and the same memory as a process with bad luck sees it.

use std::sync::Arc;

use memory_core::engine::{Memory, MemoryBuilder, Scoped};
use memory_core::layer::GuardPolicy;
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::store::text::TextStore;
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Analysis, Filter, ItemId, MessageId, RecordId, Result, Scalar, Scope, SessionId, Truth, filter};

use crate::doubles::{Counting, Cut, Tapped};
use crate::isolation::Stores;
use crate::{Bed, Chat, Records};

/// The session in which rounds are played.
pub(super) const TALK: &str = "talk";

/// The memories of a scenario, over one set of stores.
pub(super) struct World {
    pub(super) chat: Chat,
    pub(super) records: Records,
    /// Sees no faults.
    pub(super) sound: Memory,
    /// Has a call ended early when `cut` says so.
    pub(super) bare: Memory,
    /// The same behind guards, which ask again.
    pub(super) guarded: Memory,
    pub(super) cut: Arc<Cut>,
}

impl World {
    pub(super) async fn open(bed: &Bed<Stores>) -> Result<Self> {
        let chat = bed.store.chat.clone().unwrap_or_else(|| Truth::chat(Arc::<MemChat>::default()));
        let records = bed.store.records.clone().unwrap_or_else(|| Truth::records(Arc::<MemRecords>::default()));
        let text: Arc<dyn TextStore> = Arc::new(MemText::new(Analysis::english().name()));
        let (cut, calls) = (Arc::<Cut>::default(), Arc::<Counting>::default());
        let sound = builder(bed, chat.clone(), records.clone(), Arc::clone(&text)).build().await?;
        let unlucky = || {
            let chat = chat.clone().layered(|store| Arc::new(Tapped::new(store, calls.clone()).cut_by(cut.clone())));
            let records =
                records.clone().layered(|store| Arc::new(Tapped::new(store, calls.clone()).cut_by(cut.clone())));
            let text = Tapped::new(Arc::clone(&text), calls.clone()).cut_by(cut.clone());
            builder(bed, chat, records, Arc::new(text))
        };
        let bare = unlucky().build().await?;
        let guarded = unlucky().guard(GuardPolicy::default()).build().await?;
        Ok(Self { chat, records, sound, bare, guarded, cut })
    }
}

fn builder(bed: &Bed<Stores>, chat: Chat, records: Records, text: Arc<dyn TextStore>) -> MemoryBuilder {
    let builder = Memory::builder(chat, records).text(text).clock(bed.clock.clone());
    builder.buffer(BufferConfig::default().with_folding(Folding::Off))
}

pub(super) fn talk() -> Result<SessionId> {
    SessionId::new(TALK)
}

pub(super) fn message(item: &ItemId) -> Option<MessageId> {
    match item {
        ItemId::Message(id) => Some(*id),
        _ => None,
    }
}

pub(super) fn record(item: &ItemId) -> Option<RecordId> {
    match item {
        ItemId::Record(id) => Some(*id),
        _ => None,
    }
}

/// Returns which of `items` truth still holds, and the records that name one of them as their source.
pub(super) async fn left(scoped: &Scoped, items: &[ItemId]) -> Result<Vec<ItemId>> {
    let messages: Vec<_> = items.iter().filter_map(message).collect();
    let records: Vec<_> = items.iter().filter_map(record).collect();
    let messages = scoped.messages(&messages).await?.into_iter().map(|row| ItemId::Message(row.id));
    let mut left: Vec<ItemId> = messages.collect();
    left.extend(scoped.get(&records).await?.into_iter().map(|stored| ItemId::Record(stored.record.id)));
    for sources in items.chunks(500) {
        let sources = sources.iter().map(|item| Scalar::Text(item.key())).collect();
        let rows = scoped.records(&Filter::In(filter::Field::Source, sources), None, 10).await?;
        left.extend(rows.into_iter().map(|stored| ItemId::Record(stored.record.id)));
    }
    Ok(left)
}

/// Returns the owner of a round in all three memories: without faults, bare and behind guards.
pub(super) fn owner(world: &World, scope: &Scope) -> [Scoped; 3] {
    [&world.sound, &world.bare, &world.guarded].map(|memory| memory.of(scope))
}
