//! Entries of messages: their own terms, and those of the messages beside them.

use std::collections::BTreeMap;

use crate::analysis::Analysis;
use crate::chat::SessionState;
use crate::fields::Fields;
use crate::id::{ItemId, Seq, SeqRange, Version};
use crate::index::{Changes, searched_text};
use crate::message::{Message, StoredMessage};
use crate::text::{Term, TextEntry};

/// How much a neighbour's term counts beside an own one.
const NEIGHBOUR_WEIGHT: f32 = 0.4;

/// Messages of more terms than this lend less and take less: what is long speaks for itself, and would drown others.
const DAMPED_ABOVE: f32 = 30.0;

/// Returns what a text index must do for the messages of one session that stand in `range`.
///
/// `rows` holds the session's rows in the range and, where there are any, the one before and the one after it; state and
/// rows come from one read. Summaries are no messages of their own and are left out; a forgotten message is deleted from
/// the index and lends nothing.
///
/// A message's own terms are those of [`searched_text`]; near it are the terms of the messages with the numbers just
/// before and after it: `count × 0.4 × min(1, 30 / terms of this) × min(1, 30 / terms of the neighbour)`, added up.
///
/// The version is twice the session's revision, plus one if `rows` hold its successor: so an entry made before the
/// successor arrived never replaces the one made after.
pub fn message_entries(analysis: &Analysis, rows: &[StoredMessage], state: &SessionState, range: SeqRange) -> Changes {
    let near_range =
        SeqRange { first: Seq(range.first.0.saturating_sub(1)), last: Seq(range.last.0.saturating_add(1)) };
    let ordinary = rows.iter().filter(|row| row.covers.is_none() && near_range.contains(row.seq));
    let analysed: BTreeMap<Seq, Analysed<'_>> = ordinary.map(|row| (row.seq, Analysed::new(analysis, row))).collect();

    let mut changes = Changes::default();
    for (seq, this) in &analysed {
        if !range.contains(*seq) {
            continue;
        }
        let item = ItemId::Message(this.row.id);
        let Some(message) = this.message else {
            changes.deletions.push(item);
            continue;
        };
        let before = seq.0.checked_sub(1).and_then(|seq| analysed.get(&Seq(seq)));
        let after = seq.0.checked_add(1).and_then(|seq| analysed.get(&Seq(seq)));
        let revision = state.revision.saturating_mul(2).saturating_add(u64::from(after.is_some()));
        changes.puts.push(TextEntry {
            item,
            version: Version { epoch: state.fence.epoch, revision },
            own: this.terms.clone(),
            near: near(this, before, after),
            fields: Fields::of_message(this.row, message),
        });
    }
    changes
}

struct Analysed<'a> {
    row: &'a StoredMessage,
    message: Option<&'a Message>,
    terms: Vec<(Term, u32)>,
    /// How much the message's terms count where they are lent, and neighbours' terms with it.
    damping: f32,
}

impl<'a> Analysed<'a> {
    fn new(analysis: &Analysis, row: &'a StoredMessage) -> Self {
        let message = row.message.as_deref();
        let terms = message.map(|message| analysis.document(&searched_text(message))).unwrap_or_default();
        let length = terms.iter().fold(0u32, |sum, (_, count)| sum.saturating_add(*count));
        let damping = if length == 0 { 1.0 } else { (DAMPED_ABOVE / length as f32).min(1.0) };
        Self { row, message, terms, damping }
    }
}

/// Returns the terms of the neighbours with their damped counts, each term once, sorted.
fn near(this: &Analysed<'_>, before: Option<&Analysed<'_>>, after: Option<&Analysed<'_>>) -> Vec<(Term, f32)> {
    let mut near: BTreeMap<&Term, f32> = BTreeMap::new();
    for neighbour in before.into_iter().chain(after) {
        let weight = NEIGHBOUR_WEIGHT * this.damping * neighbour.damping;
        for (term, count) in &neighbour.terms {
            *near.entry(term).or_default() += *count as f32 * weight;
        }
    }
    near.into_iter().map(|(term, count)| (term.clone(), count)).collect()
}
