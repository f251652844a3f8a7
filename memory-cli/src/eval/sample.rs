//! The sample conversation of the program, with questions of our own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memory::{Message, MessageId};

use super::set::{Haystack, Question, Section, Set, SetKind};
use crate::failure::Failure;
use crate::sample::{self, Questions, questions};

const ALL: &str = "all questions";
const OTHER_WORDS: &str = "in other words";

/// Puts the set together: each question searches the whole conversation, and is asked when it ends.
pub(super) fn set(sessions: BTreeMap<String, Arc<Vec<Message>>>) -> Result<Set, Failure> {
    let Questions { recall, in_other_words, .. } = questions()?;
    let words = recall.iter().chain(&in_other_words).map(|asked| asked.question.clone()).collect();
    let at = sessions.values().flat_map(|messages| messages.iter()).map(|message| message.at).max();
    let question = |asked: sample::Question, group: &str| {
        let places: Vec<_> = asked.evidence.iter().filter_map(|place| place.rsplit_once('#')).collect();
        let turns: BTreeSet<MessageId> = places.iter().filter_map(|place| message(&sessions, *place)).collect();
        let of_session = places.iter().map(|(session, _)| (*session).to_owned()).collect();
        Question { text: asked.question, at, groups: vec![group.to_owned()], turns, sessions: of_session }
    };
    let recall = recall.into_iter().map(|asked| question(asked, ALL));
    let others = in_other_words.into_iter().map(|asked| question(asked, OTHER_WORDS));
    let questions = recall.chain(others).collect();
    let haystack = Haystack { name: "sample".to_owned(), sessions: sessions.clone(), questions };
    let groups = [ALL, OTHER_WORDS].map(str::to_owned).to_vec();
    let part = Section { title: "sample conversation".to_owned(), groups, haystacks: vec![haystack] };
    Ok(Set { kind: SetKind::Sample, sections: vec![part], sessions, asked: words, notes: Vec::new() })
}

/// Returns the message of a session with this number, counted from 1.
fn message(sessions: &BTreeMap<String, Arc<Vec<Message>>>, (session, number): (&str, &str)) -> Option<MessageId> {
    let index = number.parse::<usize>().ok()?.checked_sub(1)?;
    Some(sessions.get(session)?.get(index)?.id)
}
