//! The rows of the comparison: what is prepared for each, and the one call that is timed.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use memory::store::text::Visibility;
use memory::store::vectors::{VectorEntry, VectorQuery, VectorStore};
use memory::store::{CounterId, Epoch, Fields, Version};
use memory::window::CounterKind;
use memory::{
    BufferConfig, ContextRequest, Filter, Folding, ItemId, Memory, Message, MessageId, Result, Role, Scope, Scoped,
    Search, Seq, Session, SessionId, Settings, StoredMessage, Timestamp,
};

use crate::data::{Data, Line, space};

/// Tokens of a window.
const LIMIT: u64 = 3_000;
/// Hits of a search.
const HITS: usize = 10;
/// Messages of one append, and of a session where there are many.
const BATCH: usize = 200;
/// Owners among whom the vectors of `filtered` are divided.
const OWNERS: usize = 10;

/// What is timed.
#[derive(Debug)]
pub(crate) enum Row {
    /// The newest messages that fit into 3,000 tokens.
    Window(Session),
    /// One message more.
    Append(Session, Vec<String>),
    /// The nearest vectors of an owner: of the only one, or of one of ten.
    Near { store: Arc<dyn VectorStore>, owners: Vec<Scope>, sought: Vec<Vec<f32>>, numbers: HashMap<ItemId, u64> },
    /// The best messages by words, or by words and by meaning.
    Hybrid { scoped: Scoped, questions: Vec<String>, numbers: HashMap<ItemId, u64> },
}

impl Row {
    /// Prepares a row over a store; a file lies in `folder`.
    pub(crate) async fn prepare(
        row: &str,
        store: &str,
        data: Data,
        folder: &Path,
    ) -> std::result::Result<Self, Box<dyn Error>> {
        let url = match store {
            "memory" => "memory:".to_owned(),
            "sqlite" => format!("sqlite:{}", folder.join("memory.sqlite").display()),
            _ => return Err(format!("no store: {store}").into()),
        };
        Ok(match row {
            "window" => Self::Window(conversation(&url, &data.messages).await?),
            "append" => {
                let texts = data.messages.iter().take(1_000).map(|line| line.text.clone()).collect();
                Self::Append(conversation(&url, &data.messages).await?, texts)
            }
            "flat" => near(&url, data, 1).await?,
            "filtered" => near(&url, data, OWNERS).await?,
            "words" => hybrid(&url, data, false).await?,
            "hybrid" => hybrid(&url, data, true).await?,
            _ => return Err(format!("no row: {row}").into()),
        })
    }

    /// Does it once; returns the numbers of the messages found, or the number of the newest.
    pub(crate) async fn call(&self, number: usize) -> Result<Vec<u64>> {
        match self {
            Self::Window(session) => {
                let context = session.assemble(&ContextRequest::new("", LIMIT)).await?;
                let (first, last) = (context.receipt.history.first, context.receipt.history.last);
                Ok(first
                    .zip(last)
                    .map(|(first, last)| (first.0..=last.0).map(|seq| seq - 1).collect())
                    .unwrap_or_default())
            }
            Self::Append(session, texts) => {
                let text = texts.get(number % texts.len().max(1)).map_or("", String::as_str);
                let message = Message::new(Role::User, text, Timestamp(0));
                Ok(vec![session.append(vec![message]).await?.head.0])
            }
            Self::Near { store, owners, sought, numbers } => {
                let (Some(owner), Some(vector)) = (nth(owners, number), nth(sought, number)) else {
                    return Ok(Vec::new());
                };
                let query = VectorQuery {
                    space: space(),
                    vector: vector.clone(),
                    filter: Filter::All,
                    limit: HITS,
                    floor: None,
                    with_vectors: false,
                };
                let hits = store.search(owner, &query).await?;
                Ok(hits.iter().filter_map(|hit| numbers.get(&hit.item).copied()).collect())
            }
            Self::Hybrid { scoped, questions, numbers } => {
                let words = nth(questions, number).map_or("", String::as_str);
                let found = scoped.search(&Search::new(words).limit(HITS)).await?;
                Ok(found.hits.iter().filter_map(|hit| numbers.get(&hit.item).copied()).collect())
            }
        }
    }
}

fn nth<T>(items: &[T], number: usize) -> Option<&T> {
    items.get(number % items.len().max(1))
}

async fn build(settings: Settings) -> Result<Memory> {
    // What the peers count with.
    let builder = settings.open().await?.counter(CounterKind::Cl100k.counter());
    builder.buffer(BufferConfig::default().with_folding(Folding::Off)).build().await
}

fn message(line: &Line) -> Message {
    let role = if line.role == "user" { Role::User } else { Role::Assistant };
    Message::new(role, line.text.as_str(), Timestamp(i64::try_from(line.id).unwrap_or(0))).with_id(id(line.id))
}

fn id(number: u64) -> MessageId {
    MessageId::of_content(&number.to_le_bytes())
}

fn numbers(lines: &[Line]) -> HashMap<ItemId, u64> {
    lines.iter().map(|line| (ItemId::Message(id(line.id)), line.id)).collect()
}

/// Opens a memory with one long conversation.
async fn conversation(url: &str, lines: &[Line]) -> Result<Session> {
    let memory = build(Settings::new(url).without_embedder()).await?;
    let session = memory.of(&Scope::new("peers", "one")?).session(&SessionId::new("talk")?);
    for lines in lines.chunks(BATCH) {
        session.append(lines.iter().map(message).collect()).await?;
    }
    Ok(session)
}

/// Fills a vector store alone, the messages divided among `count` owners.
async fn near(url: &str, data: Data, count: usize) -> std::result::Result<Row, Box<dyn Error>> {
    let stores = Settings::new(url).with_embedder(data.embedder()).connect().await?;
    let (store, _) = stores.vectors.into_iter().next().ok_or("no store for vectors")?;
    let owners: Vec<Scope> =
        (0..count).map(|owner| Scope::new("peers", &format!("owner {owner}"))).collect::<Result<_>>()?;
    let session = SessionId::new("talk")?;
    for (place, owner) in owners.iter().enumerate() {
        let own = data.messages.iter().zip(&data.vectors).filter(|(line, _)| line.owner as usize % count == place);
        let entries: Vec<VectorEntry> = own.map(|(line, vector)| entry(line, vector, &session)).collect();
        for entries in entries.chunks(1_000) {
            store.put(owner, entries, Visibility::AfterFlush).await?;
        }
    }
    store.flush().await?;
    Ok(Row::Near { store, owners, sought: data.sought, numbers: numbers(&data.messages) })
}

fn entry(line: &Line, vector: &[f32], session: &SessionId) -> VectorEntry {
    let message = Arc::new(message(line));
    let row = StoredMessage {
        id: message.id,
        session: session.clone(),
        seq: Seq(line.id + 1),
        tokens: 0,
        counter: CounterId::UNKNOWN,
        covers: None,
        archived_by: None,
        message: Some(message.clone()),
    };
    let (item, version) = (ItemId::Message(message.id), Version { epoch: Epoch(0), revision: 0 });
    VectorEntry { item, version, pieces: vec![vector.to_vec()], fields: Fields::of_message(&row, &message) }
}

/// Opens a memory with many conversations of one owner, indexed by words, and by meaning too if that is wished.
async fn hybrid(url: &str, data: Data, by_meaning: bool) -> std::result::Result<Row, Box<dyn Error>> {
    let settings = Settings::new(url);
    let memory =
        build(if by_meaning { settings.with_embedder(data.embedder()) } else { settings.without_embedder() }).await?;
    let scoped = memory.of(&Scope::new("peers", "one")?);
    for (number, lines) in data.messages.chunks(BATCH).enumerate() {
        let session = scoped.session(&SessionId::new(&format!("session {number}"))?);
        session.append(lines.iter().map(message).collect()).await?;
    }
    let report = memory.upkeep_once().await?;
    if let Some(failure) = report.failures.first() {
        return Err(format!("the indexes are not complete: {failure}").into());
    }
    let questions = data.questions.iter().map(|line| line.text.clone()).collect();
    Ok(Row::Hybrid { scoped, questions, numbers: numbers(&data.messages) })
}
