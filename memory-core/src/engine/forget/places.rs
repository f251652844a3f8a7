//! The places of forgotten messages: their numbers, the summaries that cover them, and their neighbours.

use std::collections::HashSet;

use crate::engine::damage::Salvaged;
use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::index::NEIGHBOURS;
use crate::store::chat::Redacted;

use super::bounds::BATCH;

/// How many messages of a session are indexed again together.
const STRETCH: u64 = 256;

/// What is known of messages before they are forgotten.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// How many of them are stored.
    pub(super) asked: u64,
    /// The summaries that cover them, the summaries that cover those, and so on.
    pub(super) summaries: Vec<MessageId>,
    /// How many of these summaries are stored; a restored row may name one that is not.
    pub(super) fallen: u64,
    /// The places of the messages. Summaries are not indexed, so they have none here.
    pub(super) places: Vec<(SessionId, Seq)>,
}

impl Standing {
    /// Adds what the redaction found, in case something was written since the messages were read.
    pub(super) fn add(&mut self, redacted: Vec<Redacted>) {
        for Redacted { session, seq, summaries, .. } in redacted {
            self.places.push((session, seq));
            self.add_summaries(summaries);
        }
    }

    /// Adds those of these summaries that were not known.
    pub(super) fn add_summaries(&mut self, summaries: Vec<MessageId>) {
        let new: Vec<_> = summaries.into_iter().filter(|summary| !self.summaries.contains(summary)).collect();
        self.fallen += new.len() as u64;
        self.summaries.extend(new);
    }

    /// Returns the summaries behind the first `known` ones.
    pub(super) fn summaries_since(&self, known: usize) -> &[MessageId] {
        self.summaries.get(known..).unwrap_or_default()
    }
}

impl Scoped {
    /// Reads where messages stand, and which summaries cover them.
    pub(super) async fn standing(&self, ids: &[MessageId]) -> Result<Standing> {
        let mut standing = Standing::default();
        let mut seen = HashSet::new();
        let mut next: Vec<MessageId> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
        let mut is_asked = true;
        while !next.is_empty() {
            let mut above = Vec::new();
            for batch in next.chunks(BATCH) {
                // The store tells the place of one that is damaged, and what covers it, when it forgets it.
                let Salvaged { read: rows, damaged } = self.said_or_damaged(batch).await?;
                let count = if is_asked { &mut standing.asked } else { &mut standing.fallen };
                *count += (rows.len() + damaged.len()) as u64;
                above.extend(rows.iter().filter_map(|row| row.archived_by).filter(|summary| seen.insert(*summary)));
                let messages = rows.into_iter().filter(|row| row.covers.is_none());
                standing.places.extend(messages.map(|row| (row.session, row.seq)));
            }
            standing.summaries.extend(&above);
            next = above;
            is_asked = false;
        }
        Ok(standing)
    }
}

/// Returns the neighbours of the places, as ranges of sessions that do not overlap. Each is indexed again as a whole.
pub(super) fn neighbourhoods(mut places: Vec<(SessionId, Seq)>) -> Vec<(SessionId, SeqRange)> {
    places.sort_unstable();
    let mut found: Vec<(SessionId, SeqRange)> = Vec::new();
    for (session, Seq(seq)) in places {
        let (first, last) = (Seq(seq.saturating_sub(NEIGHBOURS).max(1)), Seq(seq.saturating_add(NEIGHBOURS)));
        match found.last_mut() {
            Some((same, range)) if *same == session && first <= range.last && last.0 - range.first.0 < STRETCH => {
                range.last = range.last.max(last);
            }
            _ => found.push((session, SeqRange { first, last })),
        }
    }
    found
}
