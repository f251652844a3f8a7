//! LoCoMo (snap-research/LoCoMo): conversations of two people, and questions in five categories.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memory::{Message, MessageId};
use serde_json::Value;

use super::set::{Haystack, Question, Section, Set, SetKind};

const HEADLINE: &str = "categories 1-4";
const ALL: &str = "all five categories";
const CATEGORIES: [&str; 5] = ["1 multi-hop", "2 temporal", "3 open-domain", "4 single-hop", "5 adversarial"];

/// Puts the set together: each question searches all turns of its own conversation.
pub(super) fn set(values: &[Value], sessions: BTreeMap<String, Arc<Vec<Message>>>) -> Set {
    let haystacks: Vec<Haystack> = values.iter().filter_map(|value| haystack(value, &sessions)).collect();
    let groups = [HEADLINE, ALL].iter().chain(&CATEGORIES).map(|group| (*group).to_owned()).collect();
    let part = Section { title: "LoCoMo".to_owned(), groups, haystacks };
    Set { kind: SetKind::Locomo, sections: vec![part], sessions, asked: Vec::new(), notes: Vec::new() }
}

fn haystack(value: &Value, sessions: &BTreeMap<String, Arc<Vec<Message>>>) -> Option<Haystack> {
    let name = value.get("sample_id")?.as_str()?;
    let own = format!("{name}/");
    let own: BTreeMap<String, Arc<Vec<Message>>> =
        sessions.iter().filter(|(session, _)| session.starts_with(&own)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let turns: BTreeMap<&str, (MessageId, &String)> = own
        .iter()
        .flat_map(|(session, messages)| messages.iter().map(move |message| (session, message)))
        .filter_map(|(session, message)| Some((message.metadata.get("dia_id")?.as_str()?, (message.id, session))))
        .collect();
    let questions = value.get("qa")?.as_array()?.iter().filter_map(|qa| question(qa, &turns)).collect();
    Some(Haystack { name: name.to_owned(), questions, sessions: own })
}

/// Reads a question; none if no evidence is left after cleaning.
fn question(qa: &Value, turns: &BTreeMap<&str, (MessageId, &String)>) -> Option<Question> {
    let category = usize::try_from(qa.get("category")?.as_u64()?).ok()?;
    let mut groups = vec![ALL.to_owned(), (*CATEGORIES.get(category.checked_sub(1)?)?).to_owned()];
    if category != CATEGORIES.len() {
        groups.push(HEADLINE.to_owned());
    }
    let evidence = qa.get("evidence")?.as_array()?.iter().filter_map(Value::as_str);
    let gold: Vec<_> = evidence.flat_map(dia_ids).filter_map(|id| turns.get(id.as_str())).collect();
    let turns: BTreeSet<MessageId> = gold.iter().map(|(id, _)| *id).collect();
    let sessions = gold.iter().map(|(_, session)| (*session).clone()).collect();
    let text = qa.get("question")?.as_str()?.to_owned();
    (!turns.is_empty()).then_some(Question { text, at: None, groups, turns, sessions })
}

/// Returns the ids in a string of evidence: `D:?(\d+):(\d+)` anywhere, written `D<a>:<b>` without leading zeros.
fn dia_ids(evidence: &str) -> Vec<String> {
    let number = |text: &str| {
        let digits: &str = text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        digits.parse::<u64>().ok().map(|number| (number, digits.len()))
    };
    let ids = evidence.match_indices('D').filter_map(|(at, _)| {
        let rest = evidence.get(at + 1..)?;
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        let (session, length) = number(rest)?;
        let (turn, _) = number(rest.get(length..)?.strip_prefix(':')?)?;
        Some(format!("D{session}:{turn}"))
    });
    ids.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_evidence_is_cleaned() {
        assert_eq!(dia_ids("D8:6; D9:17"), ["D8:6", "D9:17"]);
        assert_eq!(dia_ids("D:11:26"), ["D11:26"]);
        assert_eq!(dia_ids("D30:05"), ["D30:5"]);
        assert_eq!(dia_ids("D1:1 D2:2 D3:3"), ["D1:1", "D2:2", "D3:3"]);
        assert!(dia_ids("D").is_empty());
    }
}
