//! What a fact rests on: the messages that say its words, also where its extractor names others. A pure function.

use std::collections::HashSet;

use crate::analysis::Analysis;
use crate::id::MessageId;
use crate::store::text::Term;

use super::{Effect, ExtractRequest, Operation};

/// Adds to the sources of an operation each message of the request that says more of its words than these do: more words that stand
/// in none of them than words that do. The words of a record that it replaces do not count. What only ends a record has no words.
pub(crate) fn ground(operation: &mut Operation, request: &ExtractRequest, analysis: &Analysis) {
    let words = words_of(operation, request, analysis);
    let rows = request.messages.iter().filter_map(|row| Some((row.id, row.message.as_deref()?)));
    let heard = rows.map(|(id, message)| (id, terms(analysis, &format!("{} {}", message.author(), message.text()))));
    let heard: Vec<(MessageId, HashSet<Term>)> =
        heard.map(|(id, terms)| (id, words.intersection(&terms).cloned().collect())).collect();
    loop {
        let (named, others): (Vec<_>, Vec<_>) = heard.iter().partition(|(id, _)| operation.sources.contains(id));
        let said: HashSet<&Term> = named.iter().flat_map(|(_, terms)| terms).collect();
        let more = others.iter().map(|(id, terms)| (terms.iter().filter(|term| !said.contains(term)).count(), *id));
        match more.max_by_key(|(count, _)| *count) {
            Some((count, id)) if count > said.len() => operation.sources.push(id),
            _ => return,
        }
    }
}

fn words_of(operation: &Operation, request: &ExtractRequest, analysis: &Analysis) -> HashSet<Term> {
    let text_of = |id| request.known.iter().find(|stored| stored.record.id == id).map(|stored| &*stored.record.text);
    let text = match operation.effect {
        Effect::Retract(_) => return HashSet::new(),
        Effect::Confirm(id) => text_of(id).unwrap_or_default().to_owned(),
        Effect::Add | Effect::Change(_) | Effect::Correct(_) => {
            let value = operation.slot.as_ref().map(|slot| slot.value.as_str()).unwrap_or_default();
            format!("{} {value}", operation.text)
        }
    };
    let mut words: HashSet<Term> = analysis.informative(&text).into_iter().collect();
    if let Some(old) = operation.effect.replaced().and_then(text_of) {
        let old = terms(analysis, old);
        words.retain(|word| !old.contains(word));
    }
    words
}

fn terms(analysis: &Analysis, text: &str) -> HashSet<Term> {
    analysis.document(text).into_iter().map(|(term, _)| term).collect()
}

#[cfg(test)]
mod tests;
