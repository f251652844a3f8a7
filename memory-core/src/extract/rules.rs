//! Facts by rules: a few sentences in which people say something of themselves that cannot be mistaken. No model, no network.

mod beside;
mod own;
mod sentence;
mod table;

use async_trait::async_trait;

use crate::error::Result;
use crate::message::{Message, Role, StoredMessage};

use super::{Effect, ExtractRequest, Extractor, Operation, Slot, trust_of};

use beside::{Found, settled};
use own::{own_sentences, own_text};
use sentence::{Said, said};

/// The longest message that is read, in bytes: longer ones are pasted.
const LONGEST: usize = 4_096;
/// The longest name of a slot, value and tag, in bytes. An answer with a longer one is refused whole.
const BYTES: usize = 255;
/// The most operations of one answer; the newest facts are kept.
const MOST: usize = 32;

/// Finds facts by rules in what a person says: name, home, address, birthday, work, what they like and do not, names of relatives
/// and pets, allergies and diets. In English, German, Spanish, French and Portuguese. Whatever may mean something else is passed
/// over: questions, conditions, denials, quotations. What a tool has answered is nobody's word, also in a message of the person.
///
/// Another home, name, address or work replaces the one before; another dog, sister or liking stands beside it. Who no longer
/// lives or works somewhere takes that back.
///
/// ```
/// use std::sync::Arc;
///
/// use memory_core::engine::MemoryBuilder;
/// use memory_core::extract::RuleExtractor;
///
/// fn finds_facts(builder: MemoryBuilder) -> MemoryBuilder {
///     builder.extractor(Arc::new(RuleExtractor))
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleExtractor;

#[async_trait]
impl Extractor for RuleExtractor {
    fn name(&self) -> &str {
        "rules-1"
    }

    async fn extract(&self, request: &ExtractRequest) -> Result<Vec<Operation>> {
        let found = request.messages.iter().flat_map(facts).collect();
        let mut operations = settled(found, &request.known);
        operations.drain(..operations.len().saturating_sub(MOST));
        Ok(operations)
    }
}

/// Returns the facts in a message, if a person said it.
fn facts(row: &StoredMessage) -> Vec<Found<'_>> {
    let Some(message) = row.message.as_deref() else { return Vec::new() };
    let text = own_text(message);
    let is_own = message.role == Role::User && row.covers.is_none();
    if !is_own || text.len() > LONGEST || text.contains("```") {
        return Vec::new();
    }
    own_sentences(&text).into_iter().filter_map(said).map(|fact| found(row, message, fact)).collect()
}

fn found<'a>(row: &StoredMessage, message: &'a Message, fact: Said<'_>) -> Found<'a> {
    let Said { clause, value, slot, is_single, turn, kind, mut entities } = fact;
    entities.retain(|name| name.len() <= BYTES);
    // One owner's conversations may have several speakers, and each has a home.
    let name = slot.map(|slot| match &message.speaker {
        Some(speaker) => format!("{speaker}/{slot}"),
        None => slot,
    });
    let fits = |name: &String| name.len() <= BYTES && value.len() <= BYTES;
    let slot = name.filter(fits).map(|name| Slot { name, value: value.to_owned() });
    let operation = Operation {
        effect: Effect::Add,
        kind: kind.to_owned(),
        text: format!("{}: {clause}", message.author()),
        slot,
        entities,
        valid_from: Some(message.at),
        valid_to: None,
        sources: vec![row.id],
        quote: clause.to_owned(),
    };
    Found { operation, message, trust: trust_of(message), is_single, turn }
}

#[cfg(test)]
mod tests;
