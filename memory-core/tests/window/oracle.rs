//! The plain meaning of a legal context, and the largest one by trying every start.

use memory_core::StoredMessage;
use memory_core::message::{Block, Role};
use memory_core::window::Budget;

/// What a row of a generated history is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Absent,
    Summary,
    Instruction,
    User,
    Reply,
    Calls(Vec<String>),
    /// The ids answered; none for a legacy function's result.
    Results(Vec<String>),
}

impl Kind {
    pub(crate) fn of(row: &StoredMessage) -> Self {
        let Some(message) = row.message.as_ref().filter(|_| row.archived_by.is_none()) else { return Self::Absent };
        if row.covers.is_some() {
            return Self::Summary;
        }
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for block in &message.blocks {
            match block {
                Block::ToolCall { id, .. } => calls.push(id.clone()),
                Block::ToolResult { id, .. } => results.push(id.clone()),
                _ => {}
            }
        }
        if message.extra.contains_key("function_call") {
            calls.push("legacy".to_owned());
        }
        match message.role {
            Role::System | Role::Developer => Self::Instruction,
            Role::User => Self::User,
            Role::Assistant if calls.is_empty() => Self::Reply,
            Role::Assistant => Self::Calls(calls),
            Role::Tool | Role::Function => Self::Results(results),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Best {
    Fits(Vec<usize>),
    Over { need: u64 },
}

/// Returns the rows of the largest legal context.
pub(crate) fn best(rows: &[StoredMessage], budget: &Budget, keep_unfinished: bool) -> Best {
    let kinds: Vec<_> = rows.iter().map(Kind::of).collect();
    let pinned: Vec<_> = (0..rows.len()).filter(|index| kinds[*index] == Kind::Instruction).collect();
    let order = in_order(&kinds, keep_unfinished);
    let cost = |list: &[usize]| list.iter().chain(&pinned).map(|index| u128::from(rows[*index].tokens)).sum::<u128>();
    let need = |list: &[usize]| {
        let need = u64::try_from(cost(list)).unwrap_or(u64::MAX);
        need.saturating_add(budget.reserve)
    };
    if budget.reserve > budget.limit {
        return Best::Over { need: budget.reserve };
    }
    let room = u128::from(budget.limit - budget.reserve);
    let newest = (0..order.len()).rev().find(|at| kinds[order[*at]] == Kind::User).unwrap_or(order.len());
    let last_turn = from_start(&kinds, &order[newest..]);
    if cost(&last_turn) > room {
        let need = need(&last_turn);
        return Best::Over { need };
    }
    let starts = (0..=order.len()).map(|at| from_start(&kinds, &order[at..]));
    let legal = starts.filter(|list| cost(list) <= room);
    let largest = legal.max_by_key(Vec::len).unwrap_or_default();
    Best::Fits(pinned.iter().copied().chain(largest).collect())
}

/// Returns what stands in a context that begins with these rows: all but what stands before the first person.
fn from_start(kinds: &[Kind], rows: &[usize]) -> Vec<usize> {
    let first = rows.iter().position(|index| kinds[*index] == Kind::User).unwrap_or(rows.len());
    let is_shown = |(at, index): &(usize, &usize)| *at >= first || kinds[**index] == Kind::Summary;
    rows.iter().enumerate().filter(is_shown).map(|(_, index)| *index).collect()
}

/// Returns the rows that some context shows in their order: no instructions, and only whole groups.
fn in_order(kinds: &[Kind], keep_unfinished: bool) -> Vec<usize> {
    let spoken: Vec<_> =
        (0..kinds.len()).filter(|index| !matches!(kinds[*index], Kind::Absent | Kind::Instruction)).collect();
    let mut order = Vec::new();
    let mut at = 0;
    while at < spoken.len() {
        match &kinds[spoken[at]] {
            Kind::Results(_) => at += 1,
            Kind::Calls(calls) => {
                let behind = spoken[at + 1..].iter().take_while(|index| matches!(kinds[**index], Kind::Results(_)));
                let behind: Vec<_> = behind.copied().collect();
                let (group, is_whole) = group(kinds, calls, &behind);
                let is_last = at + 1 + behind.len() == spoken.len();
                if is_whole || (is_last && keep_unfinished) {
                    order.push(spoken[at]);
                    order.extend(group);
                }
                at += 1 + behind.len();
            }
            _ => {
                order.push(spoken[at]);
                at += 1;
            }
        }
    }
    order
}

/// Returns the results behind some calls that answer them, and whether all are answered.
fn group(kinds: &[Kind], calls: &[String], behind: &[usize]) -> (Vec<usize>, bool) {
    let mut waiting = calls.to_vec();
    let mut answers = Vec::new();
    for index in behind {
        let Kind::Results(results) = &kinds[*index] else { unreachable!() };
        let mut left = waiting.clone();
        if results.is_empty() && !left.is_empty() {
            left.remove(0);
        } else if results.is_empty() || !results.iter().all(|id| remove(&mut left, id)) {
            continue;
        }
        waiting = left;
        answers.push(*index);
    }
    (answers, waiting.is_empty())
}

fn remove(list: &mut Vec<String>, id: &str) -> bool {
    let found = list.iter().position(|call| call == id);
    found.map(|at| list.remove(at)).is_some()
}

/// Fails unless each message with calls has all its results right behind it, and no result stands elsewhere.
pub(crate) fn check_groups(kinds: &[Kind], keep_unfinished: bool) {
    let mut waiting: Vec<String> = Vec::new();
    for kind in kinds {
        let Kind::Results(results) = kind else {
            assert!(waiting.is_empty(), "calls without results in {kinds:?}");
            if let Kind::Calls(calls) = kind {
                waiting.clone_from(calls);
            }
            continue;
        };
        let answered = if results.is_empty() { waiting.iter().take(1).cloned().collect() } else { results.clone() };
        assert!(!answered.is_empty(), "a result without a call in {kinds:?}");
        assert!(answered.iter().all(|id| remove(&mut waiting, id)), "a result without its call in {kinds:?}");
    }
    assert!(waiting.is_empty() || keep_unfinished, "calls without results at the end of {kinds:?}");
}
