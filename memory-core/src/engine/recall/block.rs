//! The block of recalled items: which hits fit, and what became of every candidate.

use std::collections::{HashMap, HashSet};

use crate::engine::hit::Hit;
use crate::engine::receipt::{Included, LeftOut, Reason, Signals};
use crate::engine::render;
use crate::id::{ItemId, MessageId, RecordId};
use crate::message::Message;
use crate::model::TokenCounter;
use crate::time::Timestamp;

use super::rank::Candidate;
use super::search::Taken;

/// The fewest tokens that a recalled item takes, with its origin and trust.
const LEAST: u64 = 8;
/// The most bytes of one token: a run of blanks.
const BYTES: u64 = 256;

/// The block of recalled items and its size.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The indexes of the hits in it, each with the tokens it added.
    taken: Vec<(usize, u64)>,
    pub(crate) message: Option<Message>,
    pub(crate) tokens: u64,
}

impl Block {
    /// Makes a block of the hits that are not in the window, best first, within `share` tokens.
    pub(crate) fn fill(
        hits: &[Hit],
        window: &HashSet<MessageId>,
        share: u64,
        counter: &dyn TokenCounter,
        now: Timestamp,
    ) -> Self {
        let mut block = Self::default();
        for (index, hit) in hits.iter().enumerate().filter(|(_, hit)| !is_in(window, &hit.item)) {
            let left = share.saturating_sub(block.tokens);
            // Each hit recounts the whole block, so a hit that cannot fit is skipped before that.
            if left < LEAST || hit.content.text().len() as u64 / BYTES > left {
                continue;
            }
            let contents = block.hits(hits).chain([hit]).map(|hit| &hit.content);
            let message = render::recalled(contents, now);
            let tokens = counter.count(&message);
            if tokens <= share {
                block.taken.push((index, tokens.saturating_sub(block.tokens)));
                (block.message, block.tokens) = (Some(message), tokens);
            }
        }
        block
    }

    /// Returns the hits in it. `hits` must be those that it was filled from.
    fn hits<'a>(&self, hits: &'a [Hit]) -> impl Iterator<Item = &'a Hit> {
        self.taken.iter().filter_map(|(index, _)| hits.get(*index))
    }

    /// Returns the records in it.
    pub(crate) fn records(&self, hits: &[Hit]) -> Vec<RecordId> {
        self.hits(hits).filter_map(|hit| hit.item.as_record()).collect()
    }

    /// Returns the items in it, for a receipt.
    pub(crate) fn included(&self, hits: &[Hit]) -> Vec<Included> {
        let taken = self.taken.iter().filter_map(|(index, tokens)| Some((hits.get(*index)?, *tokens)));
        let included = taken.map(|(hit, tokens)| Included {
            item: hit.item.clone(),
            part: crate::engine::PartKind::Recalled,
            tokens,
            signals: Some(hit.signals),
        });
        included.collect()
    }
}

/// What became of a search's candidates in a context.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    /// The messages of the window among them, with how they were found.
    pub(crate) in_window: HashMap<MessageId, Signals>,
    /// The candidates left out.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Fates {
    /// Sorts the candidates, once window and block are final: each is in one of them or left out.
    pub(crate) fn of(candidates: &[Candidate], taken: &Taken, block: &Block, window: &HashSet<MessageId>) -> Self {
        let no_room = taken.hits.iter().map(|hit| (&hit.item, Reason::NoRoom));
        let mut reasons: HashMap<&ItemId, Reason> =
            taken.left_out.iter().map(|left| (&left.item, left.reason)).chain(no_room).collect();
        for hit in block.hits(&taken.hits) {
            reasons.remove(&hit.item);
        }
        let mut fates = Self::default();
        for Candidate { item, signals } in candidates {
            if let Some(id) = item.as_message().filter(|id| window.contains(id)) {
                fates.in_window.insert(id, *signals);
            } else if let Some(reason) = reasons.get(item) {
                fates.left_out.push(LeftOut::new(item, *reason, *signals));
            }
        }
        fates
    }
}

/// Returns whether the item is a message of the window.
pub(crate) fn is_in(window: &HashSet<MessageId>, item: &ItemId) -> bool {
    item.as_message().is_some_and(|id| window.contains(&id))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::engine::Content;
    use crate::message::{Role, StoredMessage};
    use crate::window::MediaCosts;
    use crate::window::tokens::count_message;

    #[derive(Debug)]
    struct Letters;

    impl TokenCounter for Letters {
        fn name(&self) -> &str {
            "letters"
        }

        fn count(&self, message: &Message) -> u64 {
            count_message(message, &MediaCosts::USUAL, &|text| text.len() as u64)
        }

        fn count_text(&self, text: &str) -> u64 {
            text.len() as u64
        }
    }

    fn hit(text: &str) -> Hit {
        let message = Message::new(Role::User, text, Timestamp(0));
        let row = StoredMessage::of_tests(1, 0, message);
        Hit { item: ItemId::Message(row.id), content: Content::Message(row), signals: Signals::default() }
    }

    proptest! {
        #[test]
        fn what_has_no_room_in_the_block_does_not_fit_beside_what_is_there(
            texts in vec("[a-z &<\n]{0,120}", 0..8), share in 0..900_u64
        ) {
            let hits: Vec<Hit> = texts.iter().map(|text| hit(text)).collect();
            let block = Block::fill(&hits, &HashSet::new(), share, &Letters, Timestamp(0));
            prop_assert!(block.tokens <= share);
            let taken: Vec<&Hit> = block.hits(&hits).collect();
            for out in hits.iter().filter(|hit| taken.iter().all(|taken| taken.item != hit.item)) {
                let all = taken.iter().copied().chain([out]).map(|hit| &hit.content);
                prop_assert!(Letters.count(&render::recalled(all, Timestamp(0))) > share);
            }
        }
    }
}
