//! How much of a context is the beginning of the one before, which a provider's prompt cache may hold.

use std::hash::BuildHasher as _;
use std::sync::{Arc, LazyLock};

use foldhash::quality::RandomState;

use crate::engine::handle::Session;
use crate::engine::inner::Begun;
use crate::engine::receipt::{Included, PartKind};
use crate::message::Message;

impl Begun {
    fn of(included: &Included, message: &Message) -> Self {
        static HASHES: LazyLock<RandomState> = LazyLock::new(RandomState::default);
        Self { shown: HASHES.hash_one((&included.item, message.text())), tokens: included.tokens }
    }
}

impl Session {
    /// Returns the share of the beginning of the conversation's previous context with which the context of `included` begins too, and
    /// takes this one for the next. Each item before those that were recalled is one of its `messages`.
    pub(super) fn reuse<'a>(&self, included: &[Included], messages: impl Iterator<Item = &'a Message>) -> Option<f64> {
        let is_stable =
            |kind| matches!(kind, PartKind::Instruction | PartKind::Synopsis | PartKind::Summary | PartKind::History);
        let items = included.iter().take_while(|included| is_stable(included.part));
        let now: Arc<[Begun]> = items.zip(messages).map(|(included, message)| Begun::of(included, message)).collect();
        let beginnings = &self.scoped().inner().beginnings;
        let before = beginnings.replace(self.scoped().scope(), self.id(), Arc::clone(&now))?;
        let same = before.iter().zip(now.iter()).take_while(|(one, other)| one == other).count();
        let sum = |items: &[Begun]| items.iter().map(|begun| begun.tokens as f64).sum::<f64>();
        let all = sum(&before);
        (all > 0.0).then(|| sum(before.get(..same).unwrap_or_default()) / all)
    }
}
