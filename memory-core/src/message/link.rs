//! The row that begins a branch: whose past the branch shares, and up to which message.

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::{Builder, Uuid};

use super::{Message, Role, StoredMessage};
use crate::error::{Error, Result};
use crate::id::{MessageId, Seq, SessionId};
use crate::time::Timestamp;

/// The member of the metadata that holds the past.
const PAST: &str = "past";
/// The first byte of its id.
const MARK: u8 = 2;
/// How many conversations a branch shares the past of at most.
const MOST: usize = 64;

/// The last message that a branch shares with another conversation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    pub(crate) session: SessionId,
    /// Its number.
    #[serde(rename = "seq")]
    pub(crate) at: Seq,
    /// Its id, by which a conversation that was begun anew is told from this one.
    pub(crate) id: MessageId,
}

impl Point {
    fn to_json(&self) -> Value {
        json!({ "session": self.session, "seq": self.at, "id": self.id })
    }

    /// Returns whether a row stands where the branch leaves its conversation.
    pub(crate) fn is(&self, row: &StoredMessage) -> bool {
        (&row.session, row.seq, row.id) == (&self.session, self.at, self.id)
    }
}

/// The past that a branch shares: the last message of each conversation, the nearest first. No conversation is in it twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link(Vec<Point>);

impl Link {
    /// Returns the past of the conversation `branch` that leaves another one at `point`, whose own past is `before`.
    ///
    /// # Errors
    /// `Invalid` if there are too many conversations.
    pub(crate) fn new(branch: &SessionId, point: &Point, before: &[Point]) -> Result<Self> {
        let mut points: Vec<Point> = Vec::with_capacity(before.len() + 1);
        for point in [point].into_iter().chain(before) {
            // A name that comes again means a conversation that was deleted since.
            let is_again = |known: &Point| known.session == point.session;
            if point.session != *branch && !points.iter().any(is_again) {
                points.push(point.clone());
            }
        }
        if points.len() > MOST {
            return Err(Error::invalid(format!("a branch shares the past of at most {MOST} conversations")));
        }
        Ok(Self(points))
    }

    /// Returns the last message that is shared with each conversation, the nearest first.
    pub(crate) fn points(&self) -> &[Point] {
        &self.0
    }

    /// Returns the row that says it, said at `at`. The same branch and past give the same row.
    pub(crate) fn message(&self, branch: &SessionId, at: Timestamp) -> Message {
        let past: Value = self.0.iter().map(Point::to_json).collect();
        Message::of_blocks(Role::System, Vec::new(), at).with_id(self.id(branch)).with_metadata(PAST, past)
    }

    /// Returns what a row says; none if it begins no branch.
    pub(crate) fn of(row: &StoredMessage) -> Option<Self> {
        let message = row.message.as_deref().filter(|_| row.seq == Seq(1) && row.covers.is_none())?;
        if !message.is_instruction() || !message.blocks.is_empty() || !is_marked(row.id) {
            return None;
        }
        let link = Self(serde_json::from_value(message.metadata.get(PAST)?.clone()).ok()?);
        (link.id(&row.session) == row.id).then_some(link)
    }

    /// Returns the id of the row that begins `branch`.
    fn id(&self, branch: &SessionId) -> MessageId {
        let names = self.0.iter().map(|point| format!("{} {} {}", point.session.key(), point.at.0, point.id));
        let past = [branch.key().to_owned()].into_iter().chain(names).collect::<Vec<_>>().join("\n");
        let mut bytes = Uuid::new_v5(&Uuid::NAMESPACE_OID, past.as_bytes()).into_bytes();
        if let Some(byte) = bytes.first_mut() {
            *byte = MARK;
        }
        MessageId(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// Returns whether no message of a caller has this id, but perhaps a row that begins a branch.
fn is_marked(id: MessageId) -> bool {
    id.0.get_version_num() == 8 && id.0.as_bytes().first() == Some(&MARK)
}

impl StoredMessage {
    /// Returns whether it only marks its conversation as a branch of others ([`Session::fork`](crate::engine::Session::fork)). No
    /// context, search or history shows it.
    pub fn begins_branch(&self) -> bool {
        Link::of(self).is_some()
    }

    /// Returns the conversations whose past is shared by the branch that it begins, the nearest first; none if it begins no
    /// branch.
    pub fn shares_past_of(&self) -> Vec<SessionId> {
        let link = Link::of(self);
        link.iter().flat_map(Link::points).map(|point| point.session.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Trust;
    use crate::model::CounterId;

    fn session(name: &str) -> SessionId {
        SessionId::new(name).unwrap()
    }

    fn point(name: &str) -> Point {
        Point { session: session(name), at: Seq(7), id: MessageId::of_content(name.as_bytes()) }
    }

    fn row(message: Message, branch: &str) -> StoredMessage {
        let (id, session, counter) = (message.id, session(branch), CounterId::UNKNOWN);
        let (covers, archived_by, message) = (None, None, Some(message.into()));
        StoredMessage { id, session, seq: Seq(1), tokens: 0, counter, covers, archived_by, message }
    }

    #[test]
    fn a_row_says_what_it_was_made_of() {
        let link = Link::new(&session("b"), &point("a"), &[point("root")]).unwrap();
        let message = link.message(&session("b"), Timestamp(3));
        assert_eq!(link.message(&session("b"), Timestamp(3)), message);
        assert_eq!(Link::of(&row(message, "b")), Some(link));
    }

    #[test]
    fn what_was_not_made_for_the_branch_begins_none() {
        let link = Link::new(&session("b"), &point("a"), &[]).unwrap();
        let message = link.message(&session("b"), Timestamp(3));
        assert_eq!(Link::of(&row(message.clone(), "other")), None);
        assert_eq!(Link::of(&StoredMessage { seq: Seq(2), ..row(message.clone(), "b") }), None);
        for forged in [
            Message { trust: Trust::User, ..message.clone() },
            message.clone().with_id(MessageId::fresh()),
            message.clone().with_metadata(PAST, serde_json::json!([point("diary").to_json()])),
            message.with_metadata(PAST, "everything"),
        ] {
            assert_eq!(Link::of(&row(forged, "b")), None);
        }
    }

    #[test]
    fn a_conversation_is_in_no_past_twice_and_never_in_its_own() {
        let link = Link::new(&session("b"), &point("a"), &[point("b"), point("root"), point("a")]).unwrap();
        assert_eq!(link.points(), [point("a"), point("root")]);
        let many: Vec<Point> = (0..MOST).map(|n| point(&n.to_string())).collect();
        assert!(Link::new(&session("b"), &point("a"), &many[1..]).is_ok());
        assert!(matches!(Link::new(&session("b"), &point("a"), &many), Err(Error::Invalid { .. })));
    }
}
