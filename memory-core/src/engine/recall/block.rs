//! The block of recalled items: which hits fit, and what became of every candidate.

use foldhash::{HashMap, HashSet};

use crate::engine::hit::Hit;
use crate::engine::receipt::{Included, LeftOut, Reason, Signals};
use crate::engine::render;
use crate::id::MessageId;
use crate::message::Message;
use crate::model::TokenCounter;
use crate::time::Timestamp;

use super::rank::{Candidate, Key};
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
        for (index, hit) in hits.iter().enumerate().filter(|(_, hit)| !is_in(window, key(hit))) {
            let left = share.saturating_sub(block.tokens);
            // Each hit recounts the whole block, so a hit that cannot fit is skipped before that.
            if left < LEAST || hit.content.text().len() as u64 / BYTES > left {
                continue;
            }
            let message = render::recalled(block.hits(hits).chain([hit]), now);
            let tokens = counter.count(&message);
            if tokens <= share {
                block.taken.push((index, tokens.saturating_sub(block.tokens)));
                (block.message, block.tokens) = (Some(message), tokens);
            }
        }
        block
    }

    /// Returns the hits in it. `hits` must be those that it was filled from.
    pub(crate) fn hits<'a>(&self, hits: &'a [Hit]) -> impl Iterator<Item = &'a Hit> {
        self.taken.iter().filter_map(|(index, _)| hits.get(*index))
    }

    /// Returns the items in it, for a receipt.
    pub(crate) fn included(&self, hits: &[Hit]) -> Vec<Included> {
        let taken = self.taken.iter().filter_map(|(index, tokens)| Some((hits.get(*index)?, *tokens)));
        let included = taken.map(|(hit, tokens)| Included {
            item: hit.item.clone(),
            part: crate::engine::PartKind::Recalled,
            tokens,
            signals: Some(hit.signals),
            shared_by: hit.shared_by.clone(),
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
    /// How many candidates stand in the window or in the block.
    pub(crate) went_in: usize,
}

impl Fates {
    /// Sorts the candidates, once window and block are final: each is in one of them or left out.
    pub(crate) fn of(candidates: &[Candidate], taken: &Taken, block: &Block, window: &HashSet<MessageId>) -> Self {
        let no_room = taken.hits.iter().map(|hit| (key(hit), Reason::NoRoom));
        let left_out = taken.left_out.iter().map(|left| ((left.shared_by.as_ref(), &left.item), left.reason));
        let mut reasons: HashMap<Key<'_>, Reason> = left_out.chain(no_room).collect();
        for hit in block.hits(&taken.hits) {
            reasons.remove(&key(hit));
        }
        let mut fates = Self::default();
        for candidate in candidates {
            if let Some(id) = in_window(window, candidate.key()) {
                fates.in_window.insert(id, candidate.signals);
            } else if let Some(reason) = reasons.get(&candidate.key()) {
                fates.left_out.push(candidate.left_out(*reason));
            }
        }
        fates.went_in = fates.in_window.len() + block.taken.len();
        fates
    }
}

/// Returns whether the item is a message of the window. What others share never is, whatever its id.
pub(crate) fn is_in(window: &HashSet<MessageId>, key: Key<'_>) -> bool {
    in_window(window, key).is_some()
}

fn in_window(window: &HashSet<MessageId>, (shared_by, item): Key<'_>) -> Option<MessageId> {
    item.as_message().filter(|id| shared_by.is_none() && window.contains(id))
}

/// Returns what tells a hit from those of all owners.
pub(crate) fn key(hit: &Hit) -> Key<'_> {
    (hit.shared_by.as_ref(), &hit.item)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::engine::Content;
    use crate::id::ItemId;
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
        let (item, signals) = (ItemId::Message(row.id), Signals::default());
        Hit { item, content: Content::Message(row), shared_by: None, signals }
    }

    proptest! {
        #[test]
        fn what_has_no_room_in_the_block_does_not_fit_beside_what_is_there(
            texts in vec("[a-z &<\n]{0,120}", 0..8), share in 0..900_u64
        ) {
            let hits: Vec<Hit> = texts.iter().map(|text| hit(text)).collect();
            let block = Block::fill(&hits, &HashSet::default(), share, &Letters, Timestamp(0));
            prop_assert!(block.tokens <= share);
            let taken: Vec<&Hit> = block.hits(&hits).collect();
            for out in hits.iter().filter(|hit| taken.iter().all(|taken| taken.item != hit.item)) {
                let all = taken.iter().copied().chain([out]);
                prop_assert!(Letters.count(&render::recalled(all, Timestamp(0))) > share);
            }
        }
    }
}
