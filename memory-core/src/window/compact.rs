//! Planning folds: whether a window is too full, and how much of it leaves.

#[cfg(test)]
mod tests;

use super::buffer::BufferConfig;
use super::fold::{FoldPlan, FoldReason};
use super::pairing::begins_turn;
use super::turns::Window;
use crate::message::StoredMessage;

/// How full a window is, 1 at its limit: the larger of its share of tokens and its share of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Pressure(pub f64);

impl Pressure {
    /// Returns the pressure of a window of `tokens` and `messages`. A limit or capacity of `None` adds no pressure.
    pub fn of(tokens: u64, limit: Option<u64>, messages: u64, capacity: Option<u64>) -> Self {
        let share = |part: u64, whole: Option<u64>| match whole {
            None => 0.0,
            Some(0) if part > 0 => f64::INFINITY,
            Some(whole) => part as f64 / whole.max(1) as f64,
        };
        Self(share(tokens, limit).max(share(messages, capacity)))
    }
}

/// Active rows of a session that were not read for a plan, because they are newer than those that were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beyond {
    /// Their tokens.
    pub tokens: u64,
    /// How many there are.
    pub messages: u64,
}

/// Plans the next fold of a window; none if the window is not too full.
///
/// `rows` are the active rows of a session, or the oldest of them, oldest first; `beyond` counts the others. The window has a `limit`
/// of tokens, or none.
///
/// - More than 256 rows side by side that stand for messages without a summary: makes one of them.
/// - Too many summaries: folds the oldest [`BufferConfig::merge`] of them, if there are some side by side.
/// - Tokens at [`BufferConfig::high`] of the limit: if summaries have more than their [`BufferConfig::summary_share`], folds the
///   oldest summaries. Else folds the oldest messages, until the rest with the new summary is within [`BufferConfig::low`]. If
///   no message may be folded, folds the oldest summaries. If there are none and the newest turn alone is that large, folds
///   inside it: the oldest calls with their results, but neither the person's message nor the newest of them. Summaries
///   inside of a turn are merged by the same share.
/// - More messages than [`BufferConfig::folds_above`]: folds the oldest, down to that number. For a summary it takes at least 20 %
///   of it, and at least 10 messages.
///
/// A fold takes whole turns, never the newest [`BufferConfig::keep_turns`]; without summaries never the newest. So the rest begins with
/// a person's message, and no call is separated from its results. A fold takes no instructions and ends before them. If whole
/// turns allow less than wanted, it takes what they allow; call it again after the fold. Only where nothing else may be folded, because
/// instructions stand in the midst of turns, it ends before such instructions: no context begins with the reply behind them, which leaves
/// with the next fold.
pub fn plan_fold(
    rows: &[StoredMessage],
    config: &BufferConfig,
    limit: Option<u64>,
    beyond: Beyond,
) -> Option<FoldPlan> {
    let window = Window::of(rows);
    if let Some(plan) = window.merge_archives(config) {
        return Some(plan);
    }
    if window.summaries() > config.max_summaries
        && let Some(plan) = window.merge(config)
    {
        return Some(plan);
    }
    let tokens = window.tokens.saturating_add(beyond.tokens);
    let largest = window.largest_turn(config);
    let is_at =
        |tokens: u64, limit: &u64| tokens > 0 && tokens as f64 >= config.threshold(largest, *limit) * *limit as f64;
    if let Some(limit) = limit.filter(|limit| is_at(tokens, limit)) {
        let share = config.summary_share * limit as f64;
        if window.summary_tokens() as f64 > share
            && let Some(plan) = window.merge(config)
        {
            return Some(plan);
        }
        if window.inner_tokens() as f64 > share
            && let Some(plan) = window.merge_inner(config)
        {
            return Some(plan);
        }
        let goal = (config.end(largest, limit) * limit as f64).floor() as u64;
        let keeps_goal = |folded: u64, _: u64| {
            let left = tokens.saturating_sub(folded).saturating_add(config.bound(folded));
            left <= goal
        };
        let inside = || is_at(window.last_turn(), &limit).then(|| window.fold_inside(config, keeps_goal)).flatten();
        let apart = || window.fold_apart(config, FoldReason::Tokens, keeps_goal);
        let plan = window.fold(config, FoldReason::Tokens, keeps_goal);
        return plan.or_else(|| window.merge(config)).or_else(inside).or_else(apart);
    }
    let messages = window.messages().saturating_add(beyond.messages);
    let over = messages.saturating_sub(config.folds_above().unwrap_or(u64::MAX));
    if over == 0 {
        return None;
    }
    let is_batch = |_: u64, count: u64| count >= config.batch(over);
    let plan = window.fold(config, FoldReason::Messages, is_batch);
    plan.or_else(|| window.fold_apart(config, FoldReason::Messages, is_batch))
}

/// Plans the next fold inside the newest turn of a window, where contexts leave `room` tokens to that turn: by the shares by which
/// [`plan_fold`] folds a turn that alone exceeds the limit. None if the turn has less, if the person's message that begins it does
/// not fit, so that no fold helps, or if nothing inside of the turn may be folded.
///
/// `rows` are the newest active rows of a session, oldest first.
pub(crate) fn plan_turn(rows: &[StoredMessage], config: &BufferConfig, room: u64) -> Option<FoldPlan> {
    let rows = rows.get(rows.iter().rposition(begins_turn)?..)?;
    if rows.first()?.tokens >= room {
        return None;
    }
    let window = Window::of(rows);
    let turn = window.last_turn();
    if (turn as f64) < config.threshold(turn, room) * room as f64 {
        return None;
    }
    if window.inner_tokens() as f64 > config.summary_share * room as f64
        && let Some(plan) = window.merge_inner(config)
    {
        return Some(plan);
    }
    let goal = (config.end(turn, room) * room as f64).floor() as u64;
    window.fold_inside(config, |folded, _| turn.saturating_sub(folded).saturating_add(config.bound(folded)) <= goal)
}
