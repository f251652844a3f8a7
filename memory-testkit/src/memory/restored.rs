//! What was exported and is restored: under another owner it is the same window, with the same contexts.

use std::sync::Arc;

use memory_core::engine::{ContextRequest, Remember, Search};
use memory_core::store::chat::{Page, View};
use memory_core::window::BufferConfig;
use memory_core::{Filter, Message, Record, Seq, StoredRecord, Unit};

use super::world::{World, found};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    o13_a_window_that_is_restored_elsewhere_gives_the_same_contexts,
]);

fn contents(rows: Vec<StoredRecord>) -> Vec<Arc<Record>> {
    rows.into_iter().map(|row| row.record).collect()
}

async fn o13_a_window_that_is_restored_elsewhere_gives_the_same_contexts(bed: Bed<Stores>) -> Scene {
    let window = BufferConfig::default().with_capacity_messages(60);
    let world = World::with(&bed, |_, builder| builder.buffer(window)).await?;
    let talk = world.talk("ada")?;
    talk.append([vec![world.user("My rose is called Aurora.")], world.chatter(100)].concat()).await?;
    for n in 0..5 {
        talk.scoped().remember(Remember::fact(format!("Rose {n} stands in bed {n}"))).await?;
    }
    while world.memory.upkeep_once().await?.summarised > 0 {}
    let all = Page::after(Seq(0), 1_000, View::All);
    let rows = talk.read(&all).await?.messages;
    let records = talk.scoped().records(&Filter::All, None, 100).await?;
    check!(rows.iter().any(|row| row.archived_by.is_some()), "nothing was folded");

    let bob = world.owner("bob")?;
    let again = bob.session(talk.id());
    again.restore(&rows).await?;
    bob.restore(&records).await?;
    equal(again.read(&all).await?.messages, rows)?;
    equal(contents(bob.records(&Filter::All, None, 100).await?), contents(records))?;
    for budget in [300, 600, 2_000] {
        let request = ContextRequest::new("", budget).recall(0);
        let (first, second) = (talk.assemble(&request).await?, again.assemble(&request).await?);
        equal(second.messages().collect::<Vec<&Message>>(), first.messages().collect::<Vec<&Message>>())?;
        equal((second.tokens(), &second.receipt.history), (first.tokens(), &first.receipt.history))?;
    }
    // The indexes follow.
    world.tend().await?;
    let roses = Search::new("rose bed").only(Unit::Record);
    equal(found(&bob, &roses).await?, found(talk.scoped(), &roses).await?)
}
