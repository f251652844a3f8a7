//! Filters pushed down by conversation stores.

use memory_core::store::chat::{Append, Edge, NewMessage, Page, View};
use memory_core::{Fields, Filter, Seq, SessionId, StoredMessage};

use super::{FILTERS, ITEMS, filters, limit, message};
use crate::generate::Random;
use crate::{Bed, Chat, Scene, equal};

scenarios!(TABLE: Chat = [s0_15_o10_random_filters_give_the_answer_of_brute_force]);

async fn s0_15_o10_random_filters_give_the_answer_of_brute_force(bed: Bed<Chat>) -> Scene {
    let (ada, session, store) = (bed.scope("ada")?, SessionId::new("s")?, bed.store.store());
    let mut random = Random::new(bed.seed);
    let messages = (0..ITEMS).map(|_| NewMessage::sized(message(&mut random), 1)).collect();
    store.append(&ada, &session, &Append::new(messages)).await?;
    let rows = store.read(&ada, &session, &Page::after(Seq(0), ITEMS, View::Log)).await?.messages;
    equal(rows.len(), ITEMS)?;
    for filter in filters(&mut random, FILTERS) {
        let seq = Seq(1 + random.below(ITEMS) as u64);
        let (edge, limit) = (random.below(3), limit(&mut random));
        let edge = [Edge::After(seq), Edge::Before(seq)].get(edge).copied().unwrap_or(Edge::Newest);
        let page = Page { edge, limit, tokens: None, view: View::Active, filter: Some(filter.clone()) };
        let promised = expected(&rows, &filter, edge, limit);
        let found: Vec<_> = store.read(&ada, &session, &page).await?.messages.iter().map(|row| row.seq).collect();
        check!(found == promised, "{filter:?} at {edge:?}: found {found:?}, promised {promised:?}");
    }
    Ok(())
}

/// Returns the numbers of the page, by brute force.
fn expected(rows: &[StoredMessage], filter: &Filter, edge: Edge, limit: usize) -> Vec<Seq> {
    let matches = |row: &&StoredMessage| {
        row.message.as_ref().is_some_and(|message| filter.matches(&Fields::of_message(row, message)))
    };
    let inside = |row: &&StoredMessage| match edge {
        Edge::Newest => true,
        Edge::Before(seq) => row.seq < seq,
        Edge::After(seq) => row.seq > seq,
    };
    let matching: Vec<Seq> = rows.iter().filter(inside).filter(matches).map(|row| row.seq).collect();
    let skipped = if matches!(edge, Edge::After(_)) { 0 } else { matching.len().saturating_sub(limit) };
    matching.into_iter().skip(skipped).take(limit).collect()
}
