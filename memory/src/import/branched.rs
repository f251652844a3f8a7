//! Conversations that share messages: one that was branched off from another has the messages of that too, under the same ids.
//!
//! An owner has each id once. So such a message gets an id that is made of its conversation and of the id in the file, and a second
//! import finds it by that.

use std::collections::{HashMap, HashSet};

use memory_core::engine::Session;
use memory_core::{Message, MessageId, Result, SessionId, StoredMessage};

use super::identity::message_id;
use super::patience::patiently;

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

/// Gives those of the messages an id of their own that are stored in another conversation with the same words or, if they are not
/// stored yet, are `shared`. Returns the rows that are stored under the ids that the messages then have, and how many ids are new.
///
/// The ids of their own are looked up first: the other conversation may have been forgotten since they were stored or forgotten.
pub(super) async fn part(
    session: &Session,
    messages: &mut [Message],
    shared: &HashSet<MessageId>,
) -> Result<(Vec<StoredMessage>, u64)> {
    let own = |id: &MessageId| message_id(session.id().name(), 0, &["branched", &id.to_string()]);
    let ids: Vec<MessageId> = messages.iter().flat_map(|message| [message.id, own(&message.id)]).collect();
    let known = patiently(|| session.scoped().known(&ids)).await?;
    let rows: HashMap<MessageId, &StoredMessage> = known.messages.iter().map(|row| (row.id, row)).collect();
    let mut parted = 0;
    for message in messages.iter_mut() {
        let own = own(&message.id);
        let is_known = rows.contains_key(&own) || known.forgotten.contains(&own);
        let is_elsewhere = match rows.get(&message.id).and_then(|row| Some((row, row.message.as_deref()?))) {
            Some((row, there)) => row.session != *session.id() && says_the_same(message, there),
            // What was forgotten is not brought back under another id.
            None => shared.contains(&message.id) && !known.forgotten.contains(&message.id),
        };
        if is_known || is_elsewhere {
            message.id = own;
            parted += 1;
        }
    }
    let ids: HashSet<MessageId> = messages.iter().map(|message| message.id).collect();
    Ok((known.messages.into_iter().filter(|row| ids.contains(&row.id)).collect(), parted))
}

fn says_the_same(one: &Message, other: &Message) -> bool {
    one.role == other.role && one.blocks == other.blocks
}
