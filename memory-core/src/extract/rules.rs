//! Facts by rules: a few sentences in which people say something of themselves that cannot be mistaken. No model, no network.

mod sentence;
mod table;

use async_trait::async_trait;

use crate::error::Result;
use crate::message::{Message, Role, StoredMessage, Trust};
use crate::record::StoredRecord;
use crate::time::Timestamp;
use crate::window::sentences;

use super::{Effect, ExtractRequest, Extractor, Operation, SLOT, Slot, VALUE};

use sentence::{Said, said};

/// The longest message that is read, in bytes: longer ones are pasted.
const LONGEST: usize = 4_096;
/// The most operations of one answer; the newest facts are kept.
const MOST: usize = 32;

/// Finds facts by rules in what a person says: name, home, address, birthday, work, what they like and do not, names of relatives
/// and pets, allergies and diets. In English, German, Spanish, French and Portuguese. Whatever may mean something else is passed
/// over: questions, conditions, denials, quotations.
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
        let mut found: Vec<Found> = request.messages.iter().flat_map(facts).collect();
        let ends: Vec<Option<Timestamp>> =
            (0..found.len()).map(|place| found.get(place).and_then(|fact| fact.end(found.get(place + 1..)))).collect();
        for (fact, end) in found.iter_mut().zip(ends) {
            fact.operation.valid_to = end;
        }
        let mut operations: Vec<Operation> = found.into_iter().map(|fact| fact.beside(&request.known)).collect();
        operations.drain(..operations.len().saturating_sub(MOST));
        Ok(operations)
    }
}

/// A fact in a message, before anything is known of others.
struct Found {
    operation: Operation,
    at: Timestamp,
    trust: Trust,
}

impl Found {
    /// Returns when the fact ends by those that were said after it: at the first with another value in its slot and no less trust.
    fn end(&self, later: Option<&[Found]>) -> Option<Timestamp> {
        let mine = self.operation.slot.as_ref()?;
        let is_other = |slot: &Slot| slot.name == mine.name && slot.value != mine.value;
        let other = |fact: &&Found| fact.trust >= self.trust && fact.operation.slot.as_ref().is_some_and(is_other);
        later?.iter().find(other).map(|fact| fact.at.max(self.at))
    }

    /// Returns the operation, now that the owner's records are seen: the same value is told again, a newer one takes the place of
    /// an older one, and news from before what is known ends where that begins.
    fn beside(self, known: &[StoredRecord]) -> Operation {
        let Self { mut operation, at, trust } = self;
        let Some(slot) = &operation.slot else { return operation };
        let holds = |stored: &StoredRecord, key: &str, text: &str| {
            stored.record.metadata().get(key).and_then(|value| value.as_str()) == Some(text)
        };
        let Some(stored) = known.iter().find(|stored| holds(stored, SLOT, &slot.name)) else { return operation };
        let record = &stored.record;
        let begins = record.validity().0.unwrap_or(record.created_at());
        if holds(stored, VALUE, &slot.value) {
            (operation.text, operation.kind) = (record.text.clone(), record.kind.clone());
            operation.valid_from = Some(begins.min(at));
        } else if begins > at {
            operation.valid_to = Some(operation.valid_to.map_or(begins, |to| to.min(begins)));
        } else if operation.valid_to.is_none() && !record.is_pinned() && record.trust() <= trust.min(Trust::User) {
            operation.effect = Effect::Change(record.id);
        }
        operation
    }
}

/// Returns the facts in a message, if a person said it.
fn facts(row: &StoredMessage) -> Vec<Found> {
    let Some(message) = row.message.as_deref() else { return Vec::new() };
    let text = message.text();
    let is_own = message.role == Role::User && row.covers.is_none();
    if !is_own || text.len() > LONGEST || text.contains("```") {
        return Vec::new();
    }
    sentences(&text).filter_map(said).map(|fact| found(row, message, fact)).collect()
}

fn found(row: &StoredMessage, message: &Message, fact: Said<'_>) -> Found {
    let Said { clause, value, slot, kind, entities } = fact;
    // One owner's conversations may have several speakers, and each has a home.
    let name = slot.map(|slot| match &message.speaker {
        Some(speaker) => format!("{speaker}/{slot}"),
        None => slot,
    });
    let slot = name.filter(|name| name.len() <= 255).map(|name| Slot { name, value: value.to_owned() });
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
    Found { operation, at: message.at, trust: message.trust }
}
