//! Ids for messages that have none, and fingerprints of names.

use std::hash::{DefaultHasher, Hasher};

use memory_core::MessageId;

/// Returns the id that an import gives to the message at `index` of a session, counted from 0, if the file gives it
/// none: a second import of the file finds it stored.
///
/// `said` is what makes the message. LongMemEval: the role and the content. LoCoMo: the speaker and the content.
pub fn message_id(session: &str, index: u64, said: &[&str]) -> MessageId {
    let parts = || std::iter::once(&session).chain(said);
    // Room for all of it at once: what grows is held twice while it moves.
    let mut bytes = Vec::with_capacity(64 + parts().map(|part| part.len() + 8).sum::<usize>());
    bytes.extend(b"import");
    bytes.extend(index.to_le_bytes());
    for part in parts() {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    MessageId::of_content(&bytes)
}

/// Returns a small stand-in for a name, where a file may hold millions of them.
pub(super) fn fingerprint(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name.as_bytes());
    hasher.finish()
}
