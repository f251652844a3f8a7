//! Messages of one session on their way into the database, and the ids under which they are stored there.
//!
//! A conversation that was branched off from another has the messages of that too, under the same ids, and an owner has each id once.
//! So a message of a session that the file names, and that another session has with the same words, gets an id of its own. It is made
//! of the session and of the id in the file, so that a second import finds it.

use std::collections::{HashMap, HashSet};
use std::io;

use memory_core::engine::Session;
use memory_core::error::{Cause, Transience};
use memory_core::message::{Defaults, TITLE};
use memory_core::{Block, Error, Message, MessageId, Result, SessionId, StoredMessage};

use super::identity::message_id;
use super::openai::set_apart;
use super::patience::patiently;

/// Messages of one session.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) session: Session,
    pub(super) all: Vec<Message>,
    /// Of each, whether the file does not tell its time.
    are_timeless: Vec<bool>,
    /// Whether the file names the session. Else it may be the same conversation under another name.
    session_is_told: bool,
}

/// Returns the ids of the messages of each session that stand with the same words in a session before it.
pub(super) fn shared<'a, M: Iterator<Item = &'a Message>>(
    sessions: impl Iterator<Item = (&'a SessionId, M)>,
) -> HashMap<SessionId, HashSet<MessageId>> {
    let mut first: HashMap<MessageId, (&SessionId, &Message)> = HashMap::new();
    let mut shared: HashMap<SessionId, HashSet<MessageId>> = HashMap::new();
    for (session, messages) in sessions {
        for message in messages {
            let (at, there) = *first.entry(message.id).or_insert((session, message));
            if at != session && says_the_same(message, there) {
                shared.entry(session.clone()).or_default().insert(message.id);
            }
        }
    }
    shared
}

impl Messages {
    /// Begins with none of `session`, which the file names or does not.
    pub(super) fn of(session: Session, session_is_told: bool) -> Self {
        Self { session, all: Vec::new(), are_timeless: Vec::new(), session_is_told }
    }

    pub(super) fn push(&mut self, message: Message, is_timeless: bool) {
        self.all.push(message);
        self.are_timeless.push(is_timeless);
    }

    /// Parts them from other sessions, and gives those whose times are not told the time under which they are stored.
    pub(super) async fn prepare(&mut self, shared: &HashSet<MessageId>) -> Result<()> {
        if !self.session_is_told && !self.are_timeless.contains(&true) {
            return Ok(());
        }
        let (stored, _) = self.part(shared).await?;
        for (message, _) in self.all.iter_mut().zip(&self.are_timeless).filter(|(_, is_timeless)| **is_timeless) {
            message.at =
                stored.get(&message.id).and_then(|row| row.message.as_ref()).map_or(message.at, |there| there.at);
        }
        Ok(())
    }

    /// Gives those an id of their own that another session has with the same words or, if they are not stored yet, that are `shared`.
    /// Returns the rows under the ids that the messages then have, and how many ids are new.
    ///
    /// Own ids are looked up first: where one is known, the message was stored under it before, and the other session may be gone.
    async fn part(&mut self, shared: &HashSet<MessageId>) -> Result<(HashMap<MessageId, StoredMessage>, u64)> {
        let session = &self.session;
        let own = |message: &Message| message_id(session.id().name(), 0, &["branched", &message.id.to_string()]);
        // None for a session that the file does not name.
        let own_ids: Vec<MessageId> = self.all.iter().filter(|_| self.session_is_told).map(own).collect();
        let ids: Vec<MessageId> = self.all.iter().map(|message| message.id).chain(own_ids.iter().copied()).collect();
        let known = patiently(|| async {
            let known = session.scoped().known(&ids).await?;
            // What is not told might be stored, or forgotten.
            if known.complete { Ok(known) } else { Err(incomplete()) }
        });
        let known = known.await?;
        let mut rows: HashMap<MessageId, StoredMessage> = known.messages.into_iter().map(|row| (row.id, row)).collect();
        let mut parted = 0;
        for (message, own) in self.all.iter_mut().zip(own_ids) {
            let is_known = rows.contains_key(&own) || known.forgotten.contains(&own);
            let is_elsewhere = match rows.get(&message.id).and_then(|row| Some((row, row.message.as_deref()?))) {
                Some((row, there)) => {
                    let is_same = || says_the_same(message, there) || says_the_same(message, &read_anew(there));
                    row.session != *session.id() && is_same()
                }
                // What was forgotten is not brought back under another id.
                None => shared.contains(&message.id) && !known.forgotten.contains(&message.id),
            };
            if is_known || is_elsewhere {
                message.id = own;
                parted += 1;
            }
        }
        let ids: HashSet<MessageId> = self.all.iter().map(|message| message.id).collect();
        rows.retain(|id, _| ids.contains(id));
        Ok((rows, parted))
    }

    /// Makes messages that are stored with equal words as they are there, whatever their trust, title and what stands aside, and their time
    /// if it is not told; and gives others an id of their own, if another session has them by now. Returns how many differed, and how many of
    /// these in their trust. Whether roles are trusted is said when something is imported first, and a conversation may be renamed: a
    /// later import of it is no conflict, nor is one at the same time.
    pub(super) async fn keep_stored(&mut self) -> Result<(u64, u64)> {
        let (stored, mut kept) = self.part(&HashSet::new()).await?;
        let mut trusted = 0;
        for (message, is_timeless) in self.all.iter_mut().zip(&self.are_timeless) {
            let there = stored.get(&message.id).and_then(|row| row.message.as_deref());
            let Some(there) = there.filter(|there| *there != message) else { continue };
            let (mut like, anew) = (message.clone(), read_anew(there));
            (like.trust, like.aside) = (there.trust, there.aside.clone());
            if *is_timeless {
                like.at = there.at;
            }
            match anew.metadata.get(TITLE) {
                Some(title) => like = like.with_metadata(TITLE, title.clone()),
                None => _ = like.metadata.remove(TITLE),
            }
            if like == *there || like == anew {
                (kept, trusted) = (kept + 1, trusted + u64::from(message.trust != there.trust));
                *message = there.clone();
            }
        }
        Ok((kept, trusted))
    }
}

/// Returns a stored message as chat JSON is read now. Earlier versions kept foreign members beside the words, and did not know some texts.
fn read_anew(there: &Message) -> Message {
    let mut anew = there.clone();
    if there.blocks.iter().any(|block| matches!(block, Block::Other { .. })) {
        let read = Message::from_openai(&there.to_openai(), Defaults { id: there.id, at: there.at });
        anew.blocks = read.map_or(anew.blocks, |read| read.blocks);
    }
    set_apart(&mut anew);
    anew
}

/// Returns that the database did not answer, and only what waits for it was read.
fn incomplete() -> Error {
    let source = Cause::new(io::Error::other("it does not answer, and only what waits in the journal was read"));
    Error::Backend {
        backend: "the database",
        doing: "read messages",
        transience: Transience::Transient { after: None },
        source,
    }
}

/// Returns whether two messages are the same one. Where neither has words of its own, what stands aside is what it says.
fn says_the_same(one: &Message, other: &Message) -> bool {
    let is_alike = one.role == other.role && one.blocks == other.blocks && one.extra == other.extra;
    is_alike && (!one.blocks.is_empty() || one.aside == other.aside)
}
