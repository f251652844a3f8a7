//! Which messages of a page are not kept. A pure function of the rows.

use crate::id::{MessageId, Seq};
use crate::message::{Message, StoredMessage};
use crate::time::Timestamp;
use crate::window::{answers_calls, makes_calls};

/// How far a retention reaches in a conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Up to this number nothing is kept.
    pub(super) upto: Seq,
    /// What was said by then is not kept.
    pub(super) cutoff: Option<Timestamp>,
    /// Whether all messages are too old, so that instructions go too.
    pub(super) is_all: bool,
}

/// A message that is to be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) seq: Seq,
    pub(super) id: MessageId,
    /// The summary that stands for it.
    pub(super) summary: Option<MessageId>,
}

/// What becomes of the rows of a page.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chosen {
    /// The messages to be forgotten.
    pub(super) taken: Vec<Taken>,
    /// The first number that stays, not counting instructions.
    pub(super) kept: Option<Seq>,
    /// When the oldest message was said that stays, not counting instructions.
    pub(super) oldest: Option<Timestamp>,
    /// The last number that was decided; none for an empty page.
    pub(super) last: Option<Seq>,
}

/// Chooses from a page of rows, oldest first. A call stays as long as a result of it does, and at the end of a page waits for the next one.
pub(super) fn choose(rows: &[StoredMessage], reach: &Reach) -> Chosen {
    let rows = rows.get(..whole(rows)).unwrap_or_default();
    let mut taken: Vec<bool> = rows.iter().map(|row| is_beyond(row, reach)).collect();
    let mut stays = false;
    for (row, is_taken) in rows.iter().zip(taken.iter_mut()).rev() {
        let Some(message) = row.message.as_deref() else { continue };
        *is_taken &= !stays;
        if is_result(message) {
            stays |= !*is_taken;
        } else if makes_calls(message) || !message.is_instruction() {
            stays = false;
        }
    }
    let mut chosen = Chosen { last: rows.last().map(|row| row.seq), ..Chosen::default() };
    for (row, is_taken) in rows.iter().zip(taken) {
        let Some(message) = row.message.as_deref() else { continue };
        if is_taken {
            chosen.taken.push(Taken { seq: row.seq, id: row.id, summary: row.archived_by });
        } else if !message.is_instruction() {
            chosen.kept = chosen.kept.or(Some(row.seq));
            chosen.oldest = chosen.oldest.into_iter().chain([message.at]).min();
        }
    }
    chosen
}

/// Returns how many rows of a page can be decided by it alone: those before a call at its end, unless that begins the page.
fn whole(rows: &[StoredMessage]) -> usize {
    let is_open = |row: &StoredMessage| row.message.as_deref().is_none_or(is_result);
    let last = rows.iter().rposition(|row| !is_open(row)).unwrap_or(0);
    let is_call = |row: &StoredMessage| row.message.as_deref().is_some_and(makes_calls);
    if last > 0 && rows.get(last).is_some_and(is_call) { last } else { rows.len() }
}

fn is_beyond(row: &StoredMessage, reach: &Reach) -> bool {
    let Some(message) = row.message.as_deref().filter(|_| !row.begins_branch()) else { return false };
    if message.is_instruction() {
        return reach.is_all;
    }
    row.seq <= reach.upto || reach.cutoff.is_some_and(|cutoff| message.at <= cutoff)
}

fn is_result(message: &Message) -> bool {
    message.role.is_result() || answers_calls(message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::SessionId;
    use crate::message::{Block, Role, Slot};
    use crate::model::CounterId;

    /// A page of messages, one a letter, said a second apart: a person, the model, a call, a result, an instruction, a forgotten one;
    /// a call and a result without ids, and those of the older dialect.
    fn page(letters: &str) -> Vec<StoredMessage> {
        let row = |(number, letter): (u64, char)| {
            let call = Block::ToolCall {
                id: "c".to_owned(),
                name: "n".to_owned(),
                arguments: String::new(),
                extra: serde_json::Map::new(),
            };
            let (role, block) = match letter {
                'u' => (Role::User, Block::text("u")),
                'c' => (Role::Assistant, call),
                'r' => (Role::Tool, Block::tool_result("c", Vec::new())),
                'i' => (Role::System, Block::text("i")),
                'n' => (Role::Assistant, Block::Other { slot: Slot::ToolCalls, value: json!({ "function": {} }) }),
                't' => (Role::Tool, Block::text("t")),
                'f' => (Role::Function, Block::text("f")),
                _ => (Role::Assistant, Block::text("a")),
            };
            let mut message = Message::of_blocks(role, vec![block], Timestamp(number as i64));
            if letter == 'l' {
                message.extra.insert("function_call".to_owned(), json!({ "name": "n", "arguments": "{}" }));
            }
            StoredMessage {
                id: message.id,
                session: SessionId::new("s").unwrap(),
                seq: Seq(number),
                tokens: 1,
                counter: CounterId::UNKNOWN,
                covers: None,
                archived_by: None,
                message: (letter != '-').then(|| message.into()),
            }
        };
        (1..).zip(letters.chars()).map(row).collect()
    }

    fn taken(letters: &str, reach: &Reach) -> (Vec<u64>, Option<u64>, Option<u64>) {
        let chosen = choose(&page(letters), reach);
        let taken = chosen.taken.iter().map(|taken| taken.seq.0).collect();
        (taken, chosen.kept.map(|seq| seq.0), chosen.last.map(|seq| seq.0))
    }

    const UPTO: Reach = Reach { upto: Seq(4), cutoff: None, is_all: false };

    #[test]
    fn a_call_stays_with_its_results_and_what_is_before_it_goes() {
        assert_eq!(taken("uacrru", &UPTO), (vec![1, 2], Some(3), Some(6)));
        assert_eq!(taken("ucrrua", &UPTO), (vec![1, 2, 3, 4], Some(5), Some(6)));
    }

    #[test]
    fn a_call_at_the_end_of_a_page_waits_for_the_next_page_unless_it_begins_it() {
        assert_eq!(taken("uacr", &UPTO), (vec![1, 2], None, Some(2)));
        assert_eq!(taken("cr", &UPTO), (vec![1, 2], None, Some(2)));
    }

    #[test]
    fn a_call_without_id_stays_with_its_results_as_one_with_an_id_does() {
        for letters in ["uacrru", "ucrrua", "uacr", "cr", "uuucirua"] {
            for (call, result) in [("n", "t"), ("l", "f")] {
                let unnamed = letters.replace('c', call).replace('r', result);
                assert_eq!(taken(&unnamed, &UPTO), taken(letters, &UPTO), "{unnamed}");
            }
        }
    }

    #[test]
    fn age_takes_what_was_said_by_then_and_instructions_only_with_all() {
        let old = Reach { upto: Seq(0), cutoff: Some(Timestamp(3)), is_all: false };
        assert_eq!(taken("iu-ua", &old), (vec![2], Some(4), Some(5)));
        assert_eq!(choose(&page("iu-ua"), &old).oldest, Some(Timestamp(4)));
        assert_eq!(taken("iua", &Reach { is_all: true, ..old }), (vec![1, 2, 3], None, Some(3)));
        assert_eq!(taken("", &old), (vec![], None, None));
    }
}
