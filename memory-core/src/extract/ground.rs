//! What a fact rests on: the messages that say its words, also where its extractor names others. A pure function.

use std::collections::HashSet;

use crate::analysis::Analysis;
use crate::id::{ItemId, MessageId};
use crate::message::Message;
use crate::record::Record;
use crate::store::text::Term;
use crate::window::sentences;

use super::denial::denies;
use super::{Effect, ExtractRequest, Operation};

/// A message as it was heard: its words, and not the name of who says it.
struct Heard<'a> {
    id: MessageId,
    message: &'a Message,
    text: String,
    terms: HashSet<Term>,
}

/// The words that an operation is about, without the names of those who are said to say it.
struct Words {
    /// Those that it adds.
    new: HashSet<Term>,
    /// Those of the record that it replaces or ends.
    old: HashSet<Term>,
}

/// Adds messages of the request to the sources of an operation:
///
/// - each that says more of its words than these do: more words that stand in none of them than words that do. The words of a record
///   that it replaces do not count;
/// - what a bare *ok* answers;
/// - where a record is replaced or ended, and those that are quoted say no word of the record or of what takes its place, each that
///   says a word of the record. A bare *no longer* may end what a message says, unless that says an end itself.
pub(crate) fn ground(operation: &mut Operation, request: &ExtractRequest, analysis: &Analysis) {
    let rows = request.messages.iter().filter_map(|row| Some((row.id, row.message.as_deref()?)));
    let heard: Vec<Heard<'_>> = rows.map(|(id, message)| Heard::of(id, message, analysis)).collect();
    let quote = operation.quote.trim();
    let is_quoted = |said: &Heard<'_>| operation.sources.contains(&said.id) && said.text.contains(quote);
    let quoted: Vec<usize> = (0..).zip(&heard).filter(|(_, said)| is_quoted(said)).map(|(place, _)| place).collect();
    let words = Words::of(operation, request, &heard, analysis);

    let mut more = answered(&heard, &quoted, analysis);
    let replaced = operation.effect.replaced();
    if let Some(known) = request.known.iter().find(|stored| Some(stored.record.id) == replaced) {
        more.extend(ended(&known.record, &heard, &quoted, &words, analysis));
    }
    for id in more {
        if !operation.sources.contains(&id) {
            operation.sources.push(id);
        }
    }
    add_those_who_say_more(operation, &heard, &words);
}

impl<'a> Heard<'a> {
    fn of(id: MessageId, message: &'a Message, analysis: &Analysis) -> Self {
        let text = message.text();
        let terms = terms(analysis, &text);
        Self { id, message, text, terms }
    }

    /// Returns whether it says anything, and not only *ok* or *thanks*.
    fn says_something(&self, analysis: &Analysis) -> bool {
        !analysis.informative(&self.text).is_empty() || denies(&self.text)
    }

    fn says_any(&self, words: &HashSet<Term>) -> bool {
        !self.terms.is_disjoint(words)
    }
}

impl Words {
    fn of(operation: &Operation, request: &ExtractRequest, heard: &[Heard<'_>], analysis: &Analysis) -> Self {
        let text_of =
            |id| request.known.iter().find(|stored| stored.record.id == id).map(|stored| &*stored.record.text);
        let value = operation.slot.as_ref().map(|slot| slot.value.as_str()).unwrap_or_default();
        let text = match operation.effect {
            // Only another value in its slot tells what the record makes room for.
            Effect::Retract(_) => value.to_owned(),
            Effect::Confirm(id) => text_of(id).unwrap_or_default().to_owned(),
            Effect::Add | Effect::Change(_) | Effect::Correct(_) => format!("{} {value}", operation.text),
        };
        let authors = heard.iter().filter(|said| operation.sources.contains(&said.id));
        let names: HashSet<Term> = authors.flat_map(|said| terms(analysis, &said.message.author())).collect();
        let mut new: HashSet<Term> = analysis.informative(&text).into_iter().collect();
        let replaced = operation.effect.replaced().and_then(text_of).unwrap_or_default();
        let all = terms(analysis, replaced);
        new.retain(|word| !names.contains(word) && !all.contains(word));
        let old = analysis.informative(replaced).into_iter().filter(|word| !names.contains(word)).collect();
        Self { new, old }
    }
}

/// Returns what the quoted messages answer, if they say nothing themselves: whatever was said before the last of them, back to
/// somebody else.
fn answered(heard: &[Heard<'_>], quoted: &[usize], analysis: &Analysis) -> Vec<MessageId> {
    let says_something = |place: &usize| heard.get(*place).is_some_and(|said| said.says_something(analysis));
    if quoted.iter().any(says_something) {
        return Vec::new();
    }
    let Some((place, last)) = quoted.last().and_then(|place| Some((*place, heard.get(*place)?))) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for before in heard.iter().take(place).rev().filter(|said| said.says_something(analysis)) {
        found.push(before.id);
        if before.message.author() != last.message.author() {
            break;
        }
    }
    found
}

/// Returns the messages that say a word of the record that is replaced or ended, where none that is quoted speaks of it.
fn ended(record: &Record, heard: &[Heard<'_>], quoted: &[usize], words: &Words, analysis: &Analysis) -> Vec<MessageId> {
    let told = record.sources();
    // Who has told a record has not ended it by the same words.
    let is_later = |said: &Heard<'_>| !told.contains(&&ItemId::Message(said.id));
    let mut speakers = quoted.iter().filter_map(|place| heard.get(*place));
    if speakers.clone().any(|said| said.says_any(&words.new) || is_later(said) && said.says_any(&words.old)) {
        return Vec::new();
    }
    let is_denial = speakers.any(|said| is_later(said) && denies(&said.text));
    let is_end = |said: &Heard<'_>| {
        let mut denials = sentences(&said.text).filter(|sentence| denies(sentence));
        denials.any(|sentence| !terms(analysis, sentence).is_disjoint(&words.old))
    };
    let is_claim = |said: &&Heard<'_>| said.says_any(&words.old) && (!is_denial || is_end(said));
    heard.iter().filter(is_claim).map(|said| said.id).collect()
}

/// Adds each message that says more of the new words than the sources do; of several, the one that says most.
fn add_those_who_say_more(operation: &mut Operation, heard: &[Heard<'_>], words: &Words) {
    if matches!(operation.effect, Effect::Retract(_)) {
        return;
    }
    let heard: Vec<(MessageId, HashSet<&Term>)> =
        heard.iter().map(|said| (said.id, words.new.intersection(&said.terms).collect())).collect();
    loop {
        let (named, others): (Vec<_>, Vec<_>) = heard.iter().partition(|(id, _)| operation.sources.contains(id));
        let said: HashSet<&Term> = named.iter().flat_map(|(_, terms)| terms).copied().collect();
        let more = others.iter().map(|(id, terms)| (terms.iter().filter(|term| !said.contains(*term)).count(), *id));
        match more.max_by_key(|(count, _)| *count) {
            Some((count, id)) if count > said.len() => operation.sources.push(id),
            _ => return,
        }
    }
}

fn terms(analysis: &Analysis, text: &str) -> HashSet<Term> {
    analysis.document(text).into_iter().map(|(term, _)| term).collect()
}

#[cfg(test)]
mod tests;
