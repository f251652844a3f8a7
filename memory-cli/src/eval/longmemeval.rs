//! LongMemEval (xiaowu0162/LongMemEval): questions about sessions of one person with an assistant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memory::import::{longmemeval_time, message_id};
use memory::{Message, MessageId, Role};
use serde_json::Value;

use super::set::{Haystack, Question, Section, Set, SetKind};

const ALL: &str = "all questions";
/// Sessions of a stand-in haystack.
const STAND_IN: usize = 48;

type Sessions = BTreeMap<String, Arc<Vec<Message>>>;

/// Puts the set together: the pool, where each question searches all sessions, and the stand-in, where it searches its
/// own and those that a hash picks. Questions that have no answer are left out.
pub(super) fn set(values: &[Value], sessions: Sessions) -> Set {
    let asked: Vec<&Value> = values.iter().filter(|value| !id(value).ends_with("_abs")).collect();
    let questions: Vec<Question> = asked.iter().filter_map(|value| question(value)).collect();
    let kinds: BTreeSet<&str> = asked.iter().map(|value| kind(value)).collect();
    let groups: Vec<String> = std::iter::once(ALL).chain(kinds).map(str::to_owned).collect();
    let stand_ins = asked.iter().filter_map(|value| {
        let question = question(value)?;
        let sessions = stand_in(id(value), &question, &sessions);
        Some(Haystack { name: format!("stand-in {}", id(value)), sessions, questions: vec![question] })
    });
    let stand_ins = Section {
        title: format!("LongMemEval, stand-in of {STAND_IN} sessions"),
        groups: groups.clone(),
        haystacks: stand_ins.collect(),
    };
    let pool = Haystack { name: "pool".to_owned(), sessions: sessions.clone(), questions };
    let pool =
        Section { title: format!("LongMemEval, pool of {} sessions", sessions.len()), groups, haystacks: vec![pool] };
    let notes = vec![format!(
        "the stand-in is not LongMemEval_S: the {STAND_IN} sessions are evidence of other questions, all of one kind"
    )];
    let words = |value: &Value| value.get("question").and_then(Value::as_str).unwrap_or_default().to_owned();
    let words = values.iter().map(words).collect();
    Set { kind: SetKind::Longmemeval, sections: vec![pool, stand_ins], sessions, asked: words, notes }
}

fn id(value: &Value) -> &str {
    value.get("question_id").and_then(Value::as_str).unwrap_or_default()
}

fn kind(value: &Value) -> &str {
    value.get("question_type").and_then(Value::as_str).unwrap_or_default()
}

fn question(value: &Value) -> Option<Question> {
    let names = |list: &str| {
        let names = value.get(list).and_then(Value::as_array)?;
        Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
    };
    let mut turns: BTreeSet<MessageId> = BTreeSet::new();
    for (session, messages) in names("haystack_session_ids")?.iter().zip(value.get("haystack_sessions")?.as_array()?) {
        for (index, turn) in (0u64..).zip(messages.as_array()?) {
            let has_answer = turn.get("has_answer").and_then(Value::as_bool).unwrap_or(false);
            let role = turn.get("role").and_then(Value::as_str).and_then(Role::from_name);
            if let (true, Some(role), Some(text)) = (has_answer, role, turn.get("content").and_then(Value::as_str)) {
                turns.insert(message_id(session, index, &[role.name(), text]));
            }
        }
    }
    let text = value.get("question")?.as_str()?.to_owned();
    let sessions = names("answer_session_ids")?.into_iter().collect();
    let at = value.get("question_date").and_then(Value::as_str).and_then(longmemeval_time);
    Some(Question { text, at, groups: vec![ALL.to_owned(), kind(value).to_owned()], turns, sessions })
}

/// Returns the question's own sessions, filled up by ascending SHA-256 of `question|session`. A session that shares its
/// root with an evidence session is never drawn.
fn stand_in(question_id: &str, question: &Question, sessions: &Sessions) -> Sessions {
    let roots: BTreeSet<&str> = question.sessions.iter().map(|session| root(session)).collect();
    let mut others: Vec<_> = sessions
        .iter()
        .filter(|(name, _)| !roots.contains(root(name)))
        .map(|(name, messages)| (sha256(&format!("{question_id}|{name}")), name, messages))
        .collect();
    others.sort_by_key(|(hash, ..)| *hash);
    let own = sessions.iter().filter(|(name, _)| question.sessions.contains(*name));
    let missing = STAND_IN.saturating_sub(question.sessions.len());
    let others = others.into_iter().take(missing).map(|(_, name, messages)| (name, messages));
    own.chain(others).map(|(name, messages)| (name.clone(), messages.clone())).collect()
}

fn sha256(text: &str) -> [u8; 32] {
    use sha2::Digest as _;
    sha2::Sha256::digest(text).into()
}

/// Returns a session's id without `(_abs)?_<digits>` at its end.
fn root(session: &str) -> &str {
    let Some((head, tail)) = session.rsplit_once('_') else { return session };
    if tail.is_empty() || !tail.bytes().all(|byte| byte.is_ascii_digit()) {
        return session;
    }
    head.strip_suffix("_abs").unwrap_or(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_one_root_are_told() {
        assert_eq!(root("answer_280352e9"), "answer_280352e9");
        assert_eq!(root("answer_280352e9_1"), "answer_280352e9");
        assert_eq!(root("answer_280352e9_abs_2"), "answer_280352e9");
        assert_eq!(root("plain"), "plain");
    }
}
