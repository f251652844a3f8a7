//! Reads a set from its file.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use memory::import::{Format, Item, Items, Source};
use memory::{Message, Scope, Timestamp};
use serde_json::Value;

use super::set::{Set, SetKind};
use super::{beam, chats, locomo, longmemeval, sample};
use crate::failure::Failure;
use crate::sample::MESSAGES;

impl Set {
    /// Reads the set inside the program.
    pub(crate) fn sample() -> Result<Self, Failure> {
        sample::set(sessions(SetKind::Sample, MESSAGES.as_bytes().to_vec())?)
    }

    /// Reads a set that is a folder; none if it is a file.
    pub(crate) fn read_folder(kind: SetKind, path: &Path) -> Option<Result<Self, Failure>> {
        match kind {
            SetKind::Beam => Some(beam::set(path)),
            SetKind::Chat => Some(chats::set(path)),
            SetKind::Locomo | SetKind::Longmemeval | SetKind::Sample => None,
        }
    }

    /// Reads a set that is a file.
    pub(crate) fn read(kind: SetKind, mut input: impl Read) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|error| Failure::Usage(format!("the set cannot be read: {error}")))?;
        let values: Vec<Value> = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Usage(format!("the set is no JSON array, line {}", error.line())))?;
        let sessions = sessions(kind, bytes)?;
        if sessions.is_empty() {
            return Err(Failure::Usage("the file holds no conversation of this set".to_owned()));
        }
        Ok(match kind {
            SetKind::Locomo => locomo::set(&values, sessions),
            SetKind::Longmemeval => longmemeval::set(&values, sessions),
            _ => sample::set(sessions)?,
        })
    }
}

/// Reads the messages of a set as `memory import` reads them.
fn sessions(kind: SetKind, bytes: Vec<u8>) -> Result<BTreeMap<String, Arc<Vec<Message>>>, Failure> {
    let format = match kind {
        SetKind::Locomo => Format::Locomo,
        SetKind::Longmemeval => Format::Longmemeval,
        _ => Format::Openai,
    };
    // Whose it is and when matters to no set: each names its sessions and its times.
    let source = Source::new(&Scope::new("memory-eval", "set")?, "", Timestamp(0)).with_format(format).trusting_roles();
    let mut items = Items::of(Cursor::new(bytes), source).map_err(|error| Failure::no_thread(&error))?;
    let mut sessions: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    while let Some(item) = items.blocking_next()? {
        match item {
            Item::Message { session, message, .. } => sessions.entry(session).or_default().push(*message),
            Item::Rejected { line, why, .. } => return Err(Failure::Usage(format!("line {line}: {why}"))),
            _ => {}
        }
    }
    Ok(sessions.into_iter().map(|(name, messages)| (name, Arc::new(messages))).collect())
}
