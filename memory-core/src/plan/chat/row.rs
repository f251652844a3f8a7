//! Messages as rows, encoded before the transaction.

use std::sync::Arc;

use super::id_conflict;
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::id::{MessageId, Seq, SessionId};
use crate::message::Message;
use crate::model::CounterId;
use crate::number::stored;
use crate::store::chat::{NewMessage, Placement};

/// A message or summary, ready to be stored. `F` holds the values that a store keeps for filters outside its columns.
#[derive(Clone, Debug)]
pub struct Row<F> {
    /// Its id.
    pub id: MessageId,
    /// Its tokens.
    pub tokens: i64,
    /// The counter that counted them.
    pub counter: CounterId,
    /// The digest of the content; empty for a marker.
    pub digest: Vec<u8>,
    /// The content; none for a marker, which only keeps an id taken.
    pub content: Option<Content<F>>,
}

/// The content of a row.
#[derive(Clone, Debug)]
pub struct Content<F> {
    /// The message, for its columns.
    pub message: Arc<Message>,
    /// Its canonical text.
    pub body: String,
    /// The values for filters outside the columns.
    pub facets: F,
}

/// The position of a row.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Its number.
    pub seq: i64,
    /// 0 for a message; summaries with the same number have the layers above.
    pub layer: i64,
    /// The first number that a summary covers.
    pub first: Option<i64>,
    /// The summary that has archived it.
    pub archived_by: Option<MessageId>,
}

/// A row that is stored under an id.
#[derive(Clone, Debug)]
pub struct KnownRow {
    /// Whether it is in the session at hand.
    pub is_here: bool,
    /// Whether it is or was a summary.
    pub is_summary: bool,
    /// Whether only its marker is left.
    pub is_forgotten: bool,
    /// The digest of its content.
    pub digest: Vec<u8>,
}

impl<F: Default> Row<F> {
    /// Encodes a message of `session`. `facets` is called only if there may be any.
    ///
    /// # Errors
    /// `Invalid` for more tokens than a signed number can count.
    pub fn encode(session: &SessionId, new: &NewMessage, facets: impl Fn(&Fields) -> F) -> Result<Self> {
        let NewMessage { message, tokens, counter } = new;
        let body = String::from_utf8(message.encode()).map_err(|_| Error::invalid("the message is no text"))?;
        let has_lists = !message.metadata.is_empty() || !message.sources.is_empty();
        let has_facets = has_lists || message.agent.is_some() || message.run.is_some();
        // Its number is not known yet.
        let fields = || Fields::of_message(&new.row(session, Seq(0)), message);
        let facets = if has_facets { facets(&fields()) } else { F::default() };
        Ok(Self {
            id: message.id,
            tokens: stored(*tokens)?,
            counter: *counter,
            digest: Message::digest_of(session, body.as_bytes()).0.to_vec(),
            content: Some(Content { message: Arc::clone(message), body, facets }),
        })
    }
}

impl<F> Row<F> {
    /// Returns the marker that keeps an id taken.
    pub fn marker(id: MessageId) -> Self {
        Self { id, tokens: 0, counter: CounterId::UNKNOWN, digest: Vec::new(), content: None }
    }
}

impl Position {
    /// Returns the position of an active message.
    pub fn of_message(seq: i64) -> Self {
        Self { seq, layer: 0, first: None, archived_by: None }
    }

    /// Returns whether this is the position of an active message.
    pub fn is_plain(&self) -> bool {
        self.layer == 0 && self.first.is_none() && self.archived_by.is_none()
    }
}

impl KnownRow {
    /// Returns the placement of a row whose id this row has taken, at the number `seq`.
    ///
    /// # Errors
    /// `IdConflict` for other content.
    pub fn meet<F>(&self, row: &Row<F>, seq: Seq) -> Result<Placement> {
        match &row.content {
            Some(_) if self.is_forgotten => Ok(Placement::Forgotten),
            Some(_) if self.digest != row.digest => Err(id_conflict(row.id)),
            _ => Ok(Placement::Already(seq)),
        }
    }
}
