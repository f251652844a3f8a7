//! Index entries of spans: 64 messages of a session as one document, which lends weight to its messages.

use std::collections::BTreeMap;

use crate::fields::Fields;
use crate::id::{ItemId, Seq, SeqRange};
use crate::store::chat::SessionState;
use crate::store::text::{Term, TextEntry};

use super::changes::Changes;
use super::message::Analysed;
use super::version::{session_version, span_of, span_range};

fn touches(range: SeqRange, seq: Seq) -> bool {
    seq.0 > 0 && (span_of(range.first)..=span_of(range.last)).contains(&span_of(seq))
}

/// Returns the changes of a text index for the spans of one session that `range` touches.
///
/// `analysed` holds all rows of these spans ([`span_range`]); state and rows come from one read. A span's own terms are those
/// of its messages, added up; it has no neighbours. A span of which nothing is left is deleted.
///
/// The version is [`session_version`], with the place of the newest message in the span, 1 to 64. Both only rise, and
/// nothing else changes a span.
pub(super) fn entries(analysed: &BTreeMap<Seq, Analysed<'_>>, state: &SessionState, range: SeqRange) -> Changes {
    let mut spans: BTreeMap<u32, Vec<&Analysed<'_>>> = BTreeMap::new();
    for (seq, message) in analysed.iter().filter(|(seq, _)| touches(range, **seq)) {
        spans.entry(span_of(*seq)).or_default().push(message);
    }
    let mut changes = Changes::default();
    for (number, messages) in spans {
        let Some(last) = messages.iter().map(|message| message.row.seq).max() else { continue };
        let place = last.0.saturating_sub(span_range(number).first.0).saturating_add(1);
        let (item, version) = (ItemId::Span(state.session.clone(), number), session_version(state, place));
        let Some(at) = messages.iter().filter_map(|message| Some(message.message?.at)).max() else {
            changes.deletions.push((item, version));
            continue;
        };
        let fields = Fields::of_span(&state.session, last, at);
        changes.puts.push(TextEntry { item, version, own: own(&messages), near: Vec::new(), fields });
    }
    changes
}

/// Returns the terms of all messages, each once, sorted.
fn own(messages: &[&Analysed<'_>]) -> Vec<(Term, u32)> {
    let mut own: BTreeMap<&Term, u32> = BTreeMap::new();
    for (term, count) in messages.iter().flat_map(|message| &message.own) {
        let sum = own.entry(term).or_default();
        *sum = sum.saturating_add(*count);
    }
    own.into_iter().map(|(term, count)| (term.clone(), count)).collect()
}
