//! Index entries of messages: their own terms, and those of their neighbours.

use std::collections::BTreeMap;

use crate::analysis::Analysis;
use crate::fields::Fields;
use crate::id::{ItemId, Seq, SeqRange};
use crate::message::{Message, StoredMessage};
use crate::store::chat::SessionState;
use crate::store::text::{Term, TextEntry};

use super::changes::Changes;
use super::version::session_version;

/// The weights of terms of the messages one and two places away, relative to own terms.
const NEIGHBOUR_WEIGHTS: [f32; 2] = [0.4, 0.15];

/// Terms that would count less than this are not lent: those between two messages of over a thousand terms each.
const LEAST_LENT: f32 = 1e-4;

/// How many bytes of a title are searched, from its beginning.
const TITLE_BYTES: usize = 512;

/// How many messages on each side lend their terms. As many messages before a new one are indexed again.
pub const NEIGHBOURS: u64 = NEIGHBOUR_WEIGHTS.len() as u64;

/// Messages of more terms than this lend less, because they would drown others, and take less, because they need none.
const DAMPED_ABOVE: f32 = 30.0;

/// Returns the changes of a text index for the messages of one session in `range`.
///
/// `rows` holds the session's rows in the range and, if there are any, the two before and the two after it; state and rows
/// come from one read. Summaries are left out. A forgotten message is deleted from the index and lends nothing; so is an
/// instruction, because it is the application's text and no memory.
///
/// A message's own terms are those of [`searched_text`], those of its date in words and, for the first message of a session, those of
/// its [`title`](Message::title). Its near terms are those of the messages one and two numbers before and after it:
/// `count × w × min(1, 30 / terms of this) × min(1, 30 / terms of the neighbour)`, added up, where `w` is 0.4 at one place and
/// 0.15 at two. Dates are not lent, nor terms that would count less than 0.0001.
///
/// The version is [`session_version`], with how many of the message's two successors `rows` hold. So an entry made before a
/// successor arrived never replaces one made after.
pub fn message_entries(analysis: &Analysis, rows: &[StoredMessage], state: &SessionState, range: SeqRange) -> Changes {
    let near_range = SeqRange {
        first: Seq(range.first.0.saturating_sub(NEIGHBOURS)),
        last: Seq(range.last.0.saturating_add(NEIGHBOURS)),
    };
    entries(&analyse(analysis, rows.iter().filter(|row| near_range.contains(row.seq))), state, range)
}

/// Returns the text of a message that is searched: `Speaker: text`, or the text alone if it names no speaker.
pub fn searched_text(message: &Message) -> String {
    match &message.speaker {
        Some(speaker) => format!("{speaker}: {}", message.text()),
        None => message.text(),
    }
}

/// Returns the text that a row is searched by: that of its message, behind the title of the conversation that it opens.
fn titled_text(row: &StoredMessage, message: &Message) -> String {
    let text = searched_text(message);
    let title = message.title().filter(|_| row.seq == Seq(1));
    match title.and_then(|title| title.get(..title.floor_char_boundary(TITLE_BYTES))) {
        Some(title) => format!("{title}\n{text}"),
        None => text,
    }
}

/// Returns whether a text says anything in letters or digits. "👍" and a picture do not, and nobody searches for them by words.
pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Analyses messages. Summaries are left out.
pub(super) fn analyse<'a>(
    analysis: &Analysis,
    rows: impl Iterator<Item = &'a StoredMessage>,
) -> BTreeMap<Seq, Analysed<'a>> {
    let ordinary = rows.filter(|row| row.covers.is_none());
    ordinary.map(|row| (row.seq, Analysed::new(analysis, row))).collect()
}

/// Returns the changes of [`message_entries`].
pub(super) fn entries(analysed: &BTreeMap<Seq, Analysed<'_>>, state: &SessionState, range: SeqRange) -> Changes {
    let mut changes = Changes::default();
    for (seq, this) in analysed {
        if !range.contains(*seq) {
            continue;
        }
        let item = ItemId::Message(this.row.id);
        let after = |place| analysed.get(&Seq(seq.0.checked_add(place)?));
        let successors = (1..=NEIGHBOURS).filter(|place| after(*place).is_some()).count() as u64;
        let version = session_version(state, successors);
        let Some(message) = this.message.filter(|message| has_words(&titled_text(this.row, message))) else {
            changes.deletions.push((item, version));
            continue;
        };
        let before = |place| analysed.get(&Seq(seq.0.checked_sub(place)?));
        let neighbours = (1..).zip(NEIGHBOUR_WEIGHTS).flat_map(|(place, weight)| {
            [before(place), after(place)].into_iter().flatten().map(move |neighbour| (neighbour, weight))
        });
        changes.puts.push(TextEntry {
            item,
            version,
            near: near(this, neighbours),
            own: this.own.clone(),
            fields: Fields::of_message(this.row, message),
        });
    }
    changes
}

/// Adds the terms of the date. A message without words gets none, so that its date alone does not make it findable.
fn with_date(analysis: &Analysis, words: &[(Term, u32)], message: &Message) -> Vec<(Term, u32)> {
    if words.is_empty() {
        return Vec::new();
    }
    let mut terms: BTreeMap<Term, u32> = words.iter().cloned().collect();
    for (term, count) in analysis.date(message.at) {
        let sum = terms.entry(term).or_default();
        *sum = sum.saturating_add(count);
    }
    terms.into_iter().collect()
}

/// A message with its terms.
pub(super) struct Analysed<'a> {
    pub(super) row: &'a StoredMessage,
    /// None if it was forgotten, or is an instruction.
    pub(super) message: Option<&'a Message>,
    /// Its own terms, with those of its title.
    pub(super) own: Vec<(Term, u32)>,
    /// The terms of its text alone, without the date.
    words: Vec<(Term, u32)>,
    /// The factor for its terms in its neighbours' entries, and for neighbours' terms in its own.
    damping: f32,
}

impl<'a> Analysed<'a> {
    fn new(analysis: &Analysis, row: &'a StoredMessage) -> Self {
        let message = row.message.as_deref().filter(|message| !message.role.is_instruction());
        let words = message.map(|message| analysis.document(&titled_text(row, message))).unwrap_or_default();
        let own = message.map(|message| with_date(analysis, &words, message)).unwrap_or_default();
        let length = words.iter().fold(0u32, |sum, (_, count)| sum.saturating_add(*count));
        let damping = if length == 0 { 1.0 } else { (DAMPED_ABOVE / length as f32).min(1.0) };
        Self { row, message, own, words, damping }
    }
}

/// Returns the terms of the neighbours with their damped counts, each term once, sorted.
fn near<'a>(this: &Analysed<'_>, neighbours: impl Iterator<Item = (&'a Analysed<'a>, f32)>) -> Vec<(Term, f32)> {
    let mut near: BTreeMap<&Term, f32> = BTreeMap::new();
    for (neighbour, weight) in neighbours {
        let weight = weight * this.damping * neighbour.damping;
        for (term, count) in &neighbour.words {
            *near.entry(term).or_default() += *count as f32 * weight;
        }
    }
    let lent = near.into_iter().filter(|(_, count)| *count >= LEAST_LENT);
    lent.map(|(term, count)| (term.clone(), count)).collect()
}
