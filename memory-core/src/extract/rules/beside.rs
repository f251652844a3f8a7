//! How facts that were found stand beside each other, and beside what is known. Pure functions.

use serde_json::Value;

use crate::extract::{Effect, Operation, SLOT, VALUE, gives_no_more, repeats, says_no_more};
use crate::id::{ItemId, RecordId};
use crate::message::{Message, Trust};
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

use super::table::Turn;

/// A fact in a message, before anything is known of others.
pub(super) struct Found<'a> {
    pub(super) operation: Operation,
    /// The message that says it.
    pub(super) message: &'a Message,
    pub(super) trust: Trust,
    /// Whether its slot has one value at a time.
    pub(super) is_single: bool,
    pub(super) turn: Turn,
}

/// Returns the operations of facts, which are in the order in which they were said.
pub(super) fn settled(mut found: Vec<Found<'_>>, known: &[StoredRecord]) -> Vec<Operation> {
    for place in 0..found.len() {
        let (before, rest) = found.split_at_mut(place);
        let Some((fact, later)) = rest.split_first_mut() else { break };
        fact.operation.valid_to = fact.end(later);
        fact.join(before);
    }
    let mut replaced = Vec::new();
    found.into_iter().flat_map(|fact| fact.beside(known, &mut replaced)).collect()
}

impl Found<'_> {
    /// Returns when the fact ends by those that were said after it: at the first with no less trust that has another value in
    /// its slot or takes its own back. A message that tells two values replaces none, unless it says that something has changed.
    fn end(&self, later: &[Found<'_>]) -> Option<Timestamp> {
        let mine = self.operation.slot.as_ref().filter(|_| self.is_single && self.turn != Turn::Over)?;
        let replaces = |fact: &&Found<'_>| {
            let is_after = fact.turn != Turn::Steady || fact.operation.sources != self.operation.sources;
            let slot = fact.operation.slot.as_ref();
            let ends = |value: &str| match fact.turn {
                Turn::Over => repeats(&mine.name, value, &mine.value),
                Turn::News => value != mine.value,
                Turn::Steady => !repeats(&mine.name, value, &mine.value),
            };
            let is_end = slot.is_some_and(|slot| slot.name == mine.name && ends(&slot.value));
            is_after && is_end && fact.trust >= self.trust
        };
        later.iter().find(replaces).map(|fact| fact.message.at.max(self.message.at))
    }

    /// Returns whether `value`, which is known, says what this fact says, or more. News says something else than what is known,
    /// unless it has the same value.
    fn is_told_by(&self, value: &str) -> bool {
        let slot = self.operation.slot.as_ref();
        let may_be_less = self.is_single && self.turn != Turn::News;
        slot.is_some_and(|slot| slot.value == value || may_be_less && repeats(&slot.name, &slot.value, value))
    }

    /// Takes the words of a fact before it that says the same or more, so that both are one record. Where these words say more than
    /// its own message, it has the other's sources too, and is forgotten with them.
    fn join(&mut self, before: &[Found<'_>]) {
        let says_it = |fact: &&Found<'_>| {
            let slots = fact.operation.slot.as_ref().zip(self.operation.slot.as_ref());
            let is_open = fact.operation.valid_to.is_none_or(|end| end > self.message.at);
            let is_both = self.turn != Turn::Over && fact.turn != Turn::Over;
            let is_same = slots.is_some_and(|(slot, mine)| slot.name == mine.name && self.is_told_by(&slot.value));
            is_open && is_both && is_same && fact.trust >= self.trust
        };
        let Some(former) = before.iter().rev().find(says_it) else { return };
        let Operation { kind, text, slot, valid_from, mut sources, .. } = former.operation.clone();
        if !says_no_more(&text, &[], &[self.message]) {
            let own = std::mem::take(&mut self.operation.sources);
            sources.extend(own.into_iter().filter(|id| !former.operation.sources.contains(id)));
            self.operation.sources = sources;
        }
        (self.operation.kind, self.operation.text, self.operation.slot) = (kind, text, slot);
        self.operation.valid_from = self.operation.valid_from.min(valid_from);
    }

    /// Returns the operations, now that the owner's records are seen: what is known is told again, or confirmed if it says more; a
    /// newer value takes the place of older ones, news from before what is known ends where that begins, and what is so no longer
    /// is taken back. `replaced` are the records that have ended already.
    fn beside(mut self, known: &[StoredRecord], replaced: &mut Vec<RecordId>) -> Vec<Operation> {
        let Some(slot) = self.operation.slot.clone() else { return vec![self.operation] };
        let in_slot = known.iter().map(|stored| &*stored.record).filter(|record| {
            text_of(record, SLOT).is_some_and(|name| name == slot.name) && !replaced.contains(&record.id)
        });
        let filled = in_slot.map(|record| (record, text_of(record, VALUE).unwrap_or_default()));
        let (told, others): (Vec<_>, Vec<_>) = filled.partition(|(_, value)| self.is_told_by(value));
        if self.turn == Turn::Over {
            let over = told.into_iter().map(|(record, _)| record).filter(|record| self.replaces(record));
            let over: Vec<RecordId> = over.map(|record| record.id).collect();
            replaced.extend(&over);
            return self.with_effects(over.into_iter().map(Effect::Retract).collect());
        }

        let is_open = |record: &Record| self.operation.valid_to.is_none_or(|end| record.begins() < end);
        let joined = told.iter().filter(|(record, _)| record.trust() >= self.trust && is_open(record));
        let joined = joined.max_by_key(|(_, value)| *value == slot.value).cloned();
        // The words of somebody who is trusted less are not told with more trust.
        let is_weaker = |record: &Record| record.trust() < self.trust && record.text != self.operation.text;
        let weaker = told.iter().filter(|(record, _)| is_weaker(record));
        let rivals = others.iter().filter(|_| self.is_single).chain(weaker);
        let rivals: Vec<&Record> = rivals.map(|(record, _)| *record).collect();

        if joined.is_none() {
            let begins = |record: &&Record| (record.trust() >= self.trust).then(|| record.begins());
            let next = rivals.iter().filter_map(begins).filter(|begins| *begins > self.message.at).min();
            self.operation.valid_to = self.operation.valid_to.into_iter().chain(next).min();
        }
        let old: Vec<RecordId> =
            rivals.into_iter().filter(|record| self.replaces(record)).map(|record| record.id).collect();
        replaced.extend(&old);
        self.with(joined, old)
    }

    /// Returns whether the fact may end a record in its slot.
    fn replaces(&self, record: &Record) -> bool {
        let is_beside = self.operation.sources.iter().any(|id| record.sources().contains(&&ItemId::Message(*id)));
        let is_weak = record.trust() <= self.trust.min(Trust::User) && !record.is_pinned();
        self.operation.valid_to.is_none() && record.begins() <= self.message.at && is_weak && !is_beside
    }

    /// Returns the operations that tell the fact, in the words of the record `joined` if there is one, and end those in `old`.
    fn with(mut self, joined: Option<(&Record, String)>, old: Vec<RecordId>) -> Vec<Operation> {
        let said = [self.message];
        let is_own = |value: &str| self.operation.slot.as_ref().is_some_and(|slot| slot.value == value);
        let is_said =
            |record: &Record, value: &str| says_no_more(&record.text, &[], &said) && gives_no_more(value, &said);
        let is_told_here = |record: &Record, value: &str| {
            record.text == self.operation.text && is_own(value) || is_said(record, value)
        };
        let mut effects: Vec<Effect> = match joined {
            Some((record, value)) if !is_told_here(record, &value) => {
                let ended = old.into_iter().map(Effect::Retract);
                std::iter::once(Effect::Confirm(record.id)).chain(ended).collect()
            }
            Some((record, value)) => {
                (self.operation.text, self.operation.kind) = (record.text.clone(), record.kind.clone());
                self.operation.valid_from = Some(record.begins().min(self.message.at));
                if let Some(slot) = &mut self.operation.slot {
                    slot.value = value;
                }
                old.into_iter().map(Effect::Change).collect()
            }
            None => old.into_iter().map(Effect::Change).collect(),
        };
        if effects.is_empty() {
            effects.push(Effect::Add);
        }
        self.with_effects(effects)
    }

    fn with_effects(self, effects: Vec<Effect>) -> Vec<Operation> {
        effects.into_iter().map(|effect| Operation { effect, ..self.operation.clone() }).collect()
    }
}

/// Returns a text in a record's metadata.
fn text_of(record: &Record, key: &str) -> Option<String> {
    record.metadata().get(key).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests;
