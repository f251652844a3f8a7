//! How much of a context is the beginning of the one before, which a provider's prompt cache may hold.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::engine::receipt::{Included, PartKind};
use crate::id::ItemId;
use crate::message::Message;
use crate::sync::Lock;

/// What the newest context of a handle began with, up to what was recalled and asked.
#[derive(Debug, Default)]
pub(crate) struct Beginning(Lock<Option<Vec<Begun>>>);

/// An item of a context, as it was shown.
#[derive(Debug, PartialEq)]
struct Begun {
    item: ItemId,
    tokens: u64,
    /// The hash of its text: a synopsis that was rewritten is the same item.
    words: u64,
}

impl Begun {
    fn of(included: &Included, message: &Message) -> Self {
        let mut words = DefaultHasher::new();
        message.text().hash(&mut words);
        Self { item: included.item.clone(), tokens: included.tokens, words: words.finish() }
    }
}

impl Beginning {
    /// Returns the share of the previous context's beginning with which the context of `included` begins too, and takes this one for
    /// the next. Each item before those that were recalled is one of its `messages`.
    pub(super) fn reuse<'a>(&self, included: &[Included], messages: impl Iterator<Item = &'a Message>) -> Option<f64> {
        let is_stable =
            |kind| matches!(kind, PartKind::Instruction | PartKind::Synopsis | PartKind::Summary | PartKind::History);
        let items = included.iter().take_while(|included| is_stable(included.part));
        let now: Vec<Begun> = items.zip(messages).map(|(included, message)| Begun::of(included, message)).collect();
        let mut kept = self.0.lock();
        let before = kept.replace(now)?;
        let same = before.iter().zip(kept.iter().flatten()).take_while(|(one, other)| one == other).count();
        let sum = |items: &[Begun]| items.iter().map(|begun| begun.tokens as f64).sum::<f64>();
        let all = sum(&before);
        (all > 0.0).then(|| sum(before.get(..same).unwrap_or_default()) / all)
    }
}
