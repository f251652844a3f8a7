//! The data of a set: conversations, and questions with their evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clap::ValueEnum;
use memory::{Message, MessageId, Timestamp};

/// A set that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetKind {
    /// LoCoMo: two people over many sessions; each question searches its own conversation
    Locomo,
    /// LongMemEval: each question searches all sessions, and a stand-in of 48
    Longmemeval,
    /// BEAM: long chats with an assistant; each question searches its own. A folder
    Beam,
    /// Small chats as people type them, with questions. A folder, such as memory-cli/chats/dev
    Chat,
    /// The sample conversation of the program, which needs no file, with questions of our own
    Sample,
}

/// A question, and where its evidence is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Its words.
    pub(crate) text: String,
    /// When it is asked, where the set says so.
    pub(crate) at: Option<Timestamp>,
    /// The rows of the table that it counts in.
    pub(crate) groups: Vec<String>,
    /// The messages that hold the evidence.
    pub(crate) turns: BTreeSet<MessageId>,
    /// The sessions that hold the evidence.
    pub(crate) sessions: BTreeSet<String>,
}

/// The conversations of one owner, and the questions that search them.
#[derive(Clone, Debug)]
pub(crate) struct Haystack {
    /// The owner.
    pub(crate) name: String,
    /// The sessions, by name.
    pub(crate) sessions: BTreeMap<String, Arc<Vec<Message>>>,
    /// The questions.
    pub(crate) questions: Vec<Question>,
}

/// A section of a set: haystacks whose figures are reported in one table.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// What is searched.
    pub(crate) title: String,
    /// The rows of its table, in order.
    pub(crate) groups: Vec<String>,
    /// The haystacks.
    pub(crate) haystacks: Vec<Haystack>,
}

/// A set.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    /// Its kind.
    pub(crate) kind: SetKind,
    /// Its sections.
    pub(crate) sections: Vec<Section>,
    /// Every session of the set by name.
    pub(crate) sessions: BTreeMap<String, Arc<Vec<Message>>>,
    /// The words of every question of the file, in its order, those that are left out too.
    pub(crate) asked: Vec<String>,
    /// Words to be said beside the figures.
    pub(crate) notes: Vec<String>,
}

impl Set {
    /// Returns a set of one section, whose table has the groups `first`, then the others by name.
    pub(super) fn of_haystacks(kind: SetKind, title: &str, first: &[&str], haystacks: Vec<Haystack>) -> Self {
        let questions = || haystacks.iter().flat_map(|haystack| &haystack.questions);
        let all: BTreeSet<&String> = questions().flat_map(|question| &question.groups).collect();
        let further = all.into_iter().filter(|group| !first.contains(&group.as_str())).cloned();
        let groups = first.iter().map(|group| (*group).to_owned()).chain(further).collect();
        let asked = questions().map(|question| question.text.clone()).collect();
        let sessions = haystacks.iter().flat_map(|haystack| haystack.sessions.clone()).collect();
        let section = Section { title: title.to_owned(), groups, haystacks };
        Self { kind, sections: vec![section], sessions, asked, notes: Vec::new() }
    }
}
