//! How long an owner of many records takes to forget a session and to be forgotten, and what a put of records costs.

use std::sync::Arc;

use memory_core::engine::{Forget, Memory};
use memory_core::layer::GuardPolicy;
use memory_core::store::chat::{Append, ChatStore, NewMessage};
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{
    Field, Filter, ItemId, Message, MessageId, Record, RecordId, Result, Role, Scalar, Scope, SessionId, Timestamp,
    Truth,
};
use uuid::Uuid;

use super::{Outcome, Times, heading, say};

/// Records of a batch, and of a session.
const BATCH: usize = 1_000;
const OF_SESSION: usize = 10;
/// Sessions that are forgotten, their messages, and the records that were derived from these, from two each.
const ROUNDS: usize = 20;
const MESSAGES: usize = 20;
const DERIVED: usize = 5;

/// Puts `count` records of an owner, each told in a session and derived from a message, forgets some more sessions, and the owner.
///
/// # Errors
/// The first error of a store, or an error if a record is left.
pub async fn forgetting(chat: Truth<dyn ChatStore>, records: Truth<dyn RecordStore>, count: usize) -> Outcome<()> {
    let scope = Scope::new(&Uuid::now_v7().to_string(), "ada")?;
    heading();
    let put = async |number: usize| {
        let rows = (0..BATCH).map(|place| {
            let session = SessionId::new(&format!("session {}", (number * BATCH + place) / OF_SESSION))?;
            Ok(derived(Some(&session), &[ItemId::Message(MessageId::fresh())]))
        });
        records.store().put(&scope, &batch(rows.collect::<Result<_>>()?)).await.map(|_| ())
    };
    Times::of(count / BATCH, put).await?.report(&format!("put {BATCH} records"));
    let plain = async |_| {
        let rows = (0..BATCH).map(|_| derived(None, &[])).collect();
        records.store().put(&scope, &batch(rows)).await.map(|_| ())
    };
    Times::of(ROUNDS, plain).await?.report(&format!("put {BATCH} records without session or source"));
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        rounds.push(Round::store(&chat, &records, &scope, round).await?);
    }
    let builder = Memory::builder(chat, records.clone()).guard(GuardPolicy::default());
    let memory = builder.buffer(BufferConfig::default().with_folding(Folding::Off)).build().await?;
    let owner = memory.of(&scope);
    let forget = async |round: usize| match rounds.get(round) {
        Some(round) => owner.forget(&Forget::Session(round.session.clone())).await.map(|_| ()),
        None => Ok(()),
    };
    let name = format!("forget a session of {MESSAGES} messages");
    Times::of(ROUNDS, forget).await?.report(&name);
    for round in &rounds {
        let left = records.store().scan(&scope, &Filter::In(Field::Source, round.sources()), None, 10).await?;
        if !left.is_empty() {
            return Err(format!("{} derived records are left", left.len()).into());
        }
    }
    let everything = async |_| owner.forget(&Forget::Everything).await.map(|_| ());
    Times::of(1, everything).await?.report("forget the owner");
    if !records.store().scan(&scope, &Filter::All, None, 1).await?.is_empty() {
        return Err("a record of the forgotten owner is left".into());
    }
    say(&format!(
        "{count} records of the owner, {DERIVED} derived from the messages of each session that was forgotten"
    ));
    Ok(())
}

/// A session that is to be forgotten.
struct Round {
    session: SessionId,
    messages: Vec<MessageId>,
}

impl Round {
    async fn store(
        chat: &Truth<dyn ChatStore>,
        records: &Truth<dyn RecordStore>,
        scope: &Scope,
        number: usize,
    ) -> Result<Self> {
        let session = SessionId::new(&format!("talk {number}"))?;
        let said = |_| NewMessage::sized(Message::new(Role::User, "the boiler was mended by Otto", Timestamp(1)), 8);
        let messages: Vec<NewMessage> = (0..MESSAGES).map(said).collect();
        let round = Self { session, messages: messages.iter().map(|message| message.message.id).collect() };
        chat.store().append(scope, &round.session, &Append::new(messages)).await?;
        let pairs = round.messages.chunks(2).take(DERIVED);
        let of = |pair: &[MessageId]| derived(None, &pair.iter().copied().map(ItemId::Message).collect::<Vec<_>>());
        records.store().put(scope, &batch(pairs.map(of).collect())).await?;
        Ok(round)
    }

    fn sources(&self) -> Vec<Scalar> {
        self.messages.iter().map(|id| Scalar::Text(ItemId::Message(*id).key())).collect()
    }
}

fn derived(session: Option<&SessionId>, sources: &[ItemId]) -> Record {
    let mut record = Record::new("fact", "the boiler was mended by Otto", Timestamp(1));
    record.id = RecordId(Uuid::now_v7());
    record.first.session = session.cloned();
    record.first.sources = sources.to_vec();
    record
}

fn batch(records: Vec<Record>) -> RecordBatch {
    let put = |record| Put { record: Arc::new(record), expect: Expect::Anything };
    RecordBatch { fence: None, puts: records.into_iter().map(put).collect() }
}
