//! The result of an import: how much was stored, rejected and left out.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::item::LeftOut;
use super::position::{Position, Within};
use super::refusal::Refusal;

/// Rejections, notes and conversations with something left out that are told one by one.
const TOLD: usize = 1_000;

/// Something that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rejection {
    /// The file, if it is one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the file that it ends on; 1 if the whole file is refused.
    pub line: u64,
    /// Where in the line.
    #[serde(flatten)]
    pub within: Within,
    /// Why.
    pub why: Refusal,
}

/// The result of an import, so far or in all.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Stored now.
    pub added: u64,
    /// Stored before.
    pub already: u64,
    /// Stored before and forgotten since: not stored again.
    pub forgotten: u64,
    /// Not taken: refused by the reader or by the memory.
    pub rejected: u64,
    /// The first thousand of those not taken, by their lines.
    pub rejections: Vec<Rejection>,
    /// How much is left out of each kind, although nothing is wrong with it.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// The same for each of the first thousand conversations that lack something.
    pub left_out_of: BTreeMap<String, BTreeMap<LeftOut, u64>>,
    /// The titles of those conversations, as far as they have one.
    pub titles: BTreeMap<String, String>,
    /// What else is to be said, a clause each.
    pub notes: Vec<String>,
    /// Messages of the roles `system` and `developer` that are no instructions, because nobody said that the file is to
    /// be trusted: contexts leave them out.
    pub quoted: u64,
    /// Instructions that an export brought.
    pub instructions: u64,
    /// Whether the file is an export, which keeps roles and trust as they were.
    pub is_export: bool,
    /// Messages that were stored before with another trust, which they keep.
    pub trusted_before: u64,
    /// The files, where there may be several: those that were read, those that were refused, and those without conversations.
    pub files: u64,
    /// How many of these hold no conversations, and are not refused for anything else.
    pub no_conversation: u64,
    /// The names of the first thousand of those.
    pub no_conversation_in: Vec<String>,
    /// Of each file, how many lines came before it, and its name.
    pub(super) begun: Vec<(u64, String)>,
    /// The file under way, as long as nothing came of it.
    pub(super) bare: Option<String>,
    /// Fingerprints of the names.
    pub(super) sessions: HashSet<u64>,
}

impl Tally {
    /// Returns how many sessions the items belong to.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Returns how many items are durable.
    pub fn committed(&self) -> u64 {
        self.added + self.already + self.forgotten
    }

    pub(super) fn reject(&mut self, Position { line, within, .. }: Position, why: Refusal) {
        self.rejected += 1;
        if self.rejections.len() < TOLD {
            let before = self.begun.partition_point(|(before, _)| *before < line);
            let file = before.checked_sub(1).and_then(|file| self.begun.get(file));
            let line = line - file.map_or(0, |(before, _)| *before);
            self.rejections.push(Rejection { file: file.map(|(_, name)| name.clone()), line, within, why });
        }
    }

    pub(super) fn begin_file(&mut self, line: u64, name: String) {
        self.end_file();
        self.files += 1;
        self.bare = Some(name.clone());
        self.begun.push((line, name));
    }

    /// Notes that something came of the file under way.
    pub(super) fn is_of_use(&mut self) {
        self.bare = None;
    }

    /// Ends the file under way: one that is empty holds no conversations, as one of another kind.
    fn end_file(&mut self) {
        if let Some(name) = self.bare.take() {
            self.count_without_conversation(name);
        }
    }

    /// Counts a file without conversations, which was begun or was told by its name.
    pub(super) fn pass_over(&mut self, name: String) {
        if self.bare.take_if(|bare| *bare == name).is_none() {
            self.end_file();
            self.files += 1;
        }
        self.count_without_conversation(name);
    }

    fn count_without_conversation(&mut self, name: String) {
        self.no_conversation += 1;
        if self.no_conversation_in.len() < TOLD {
            self.no_conversation_in.push(name);
        }
    }

    pub(super) fn leave_out(&mut self, session: String, title: Option<String>, what: LeftOut) {
        *self.left_out.entry(what).or_default() += 1;
        if self.left_out_of.len() < TOLD || self.left_out_of.contains_key(&session) {
            self.titles.extend(title.map(|title| (session.clone(), title)));
            *self.left_out_of.entry(session).or_default().entry(what).or_default() += 1;
        }
    }

    pub(super) fn note(&mut self, text: String) {
        if self.notes.len() < TOLD {
            self.notes.push(text);
        }
    }

    /// Ends the import: what is told comes in order.
    pub(super) fn finish(&mut self) {
        self.end_file();
        let place = |one: &Rejection| (one.file.clone(), one.line, one.within);
        self.rejections.sort_by_cached_key(place);
    }
}
