//! Changes of a record in its place, compared with the version that was seen; and the chain of what took the place of what.

use std::collections::{HashMap, HashSet};
use std::iter::successors;
use std::time::Duration;

use futures_util::future::join_all;
use memory_core::engine::{Forget, Remember, Remembered, Scoped, Search};
use memory_core::store::records::Expect;
use memory_core::{Error, ItemId, Record, RecordId, StoredRecord};

use super::world::{World, found};
use crate::generate::Random;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    a_put_takes_place_only_over_the_version_that_was_seen,
    of_many_that_change_a_record_after_one_look_one_succeeds,
    a_fact_is_told_anew_where_its_record_was_given_another_text,
    a_put_derives_nothing_from_what_was_forgotten,
    the_history_of_a_record_is_the_chain_that_a_model_keeps,
]);

/// How many tasks change a record at once.
const TASKS: usize = 16;
/// How many records are superseded, or told, by chance.
const CHANGES: usize = 60;

async fn stored(owner: &Scoped, id: RecordId) -> Result<StoredRecord, Failure> {
    owner.get(&[id]).await?.pop().ok_or_else(|| Failure::new("the record is gone"))
}

/// Returns the record with another text.
fn reworded(stored: &StoredRecord, text: &str) -> Record {
    Record { text: text.to_owned(), ..(*stored.record).clone() }
}

async fn a_put_takes_place_only_over_the_version_that_was_seen(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let note = Record::new("note", "The shed is green", world.memory.now());
    let id = note.id;
    fails!(ada.put(note.clone(), Expect::Version(1)).await, Error::Conflict);
    equal(ada.put(note.clone(), Expect::Absent).await?, 1)?;
    let seen = stored(&ada, id).await?;
    let blue = reworded(&seen, "The shed is blue");
    fails!(ada.put(blue.clone(), Expect::Absent).await, Error::IdConflict { .. });
    equal(ada.put(blue.clone(), Expect::Version(1)).await?, 2)?;
    // The answer was lost, and the call is repeated.
    equal(ada.put(blue, Expect::Version(1)).await?, 2)?;
    fails!(ada.put(reworded(&seen, "The shed is red"), Expect::Version(1)).await, Error::Conflict);
    for _ in 0..2 {
        equal(found(&ada, &Search::new("shed")).await?, ["The shed is blue"])?;
        world.tend().await?;
    }
    // Who deletes something else meanwhile is in nobody's way.
    let other = ada.remember(Remember::fact("Ada has a hedge")).await?;
    ada.forget(&Forget::Records(vec![other.id])).await?;
    equal(ada.put(reworded(&seen, "The shed is red"), Expect::Version(2)).await?, 3)?;
    fails!(world.owner("bob")?.put(reworded(&seen, "The shed is mine"), Expect::Version(3)).await, Error::Conflict);
    equal(stored(&ada, id).await?.record.text.as_str(), "The shed is red")
}

async fn of_many_that_change_a_record_after_one_look_one_succeeds(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let told = ada.remember(Remember::fact("The count is 0")).await?;
    let seen = stored(&ada, told.id).await?;
    let puts = (1..=TASKS).map(|number| {
        let record = reworded(&seen, &format!("The count is {number}"));
        let ada = &ada;
        async move { (record.text.clone(), ada.put(record, Expect::Version(1)).await) }
    });
    let mut won = Vec::new();
    for put in join_all(puts).await {
        match put {
            (text, Ok(_)) => won.push(text),
            (_, Err(Error::Conflict)) => {}
            (_, Err(error)) => return Err(error.into()),
        }
    }
    equal(won, [stored(&ada, told.id).await?.record.text.clone()])
}

async fn a_fact_is_told_anew_where_its_record_was_given_another_text(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let told = ada.remember(Remember::fact("Ada has two cats")).await?;
    ada.put(reworded(&stored(&ada, told.id).await?, "Ada has three cats"), Expect::Version(1)).await?;
    for outcome in [Remembered::Stored, Remembered::Reinforced] {
        let again = ada.remember(Remember::fact("Ada has two cats")).await?;
        equal(again.outcome, outcome)?;
        check!(again.id != told.id, "it was told to a record that says something else");
    }
    equal(stored(&ada, told.id).await?.record.tellings().count(), 1)?;
    equal(found(&ada, &Search::new("cats")).await?, ["Ada has three cats", "Ada has two cats"])
}

async fn a_put_derives_nothing_from_what_was_forgotten(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let source = ada.remember(Remember::fact("Ada has a hedge")).await?;
    let derived = Remember::fact("Ada has a garden").with_source(ItemId::Record(source.id));
    let derived = ada.remember(derived).await?;
    let seen = stored(&ada, derived.id).await?;
    ada.forget(&Forget::Records(vec![source.id])).await?;
    fails!(ada.put(reworded(&seen, "Ada gardens"), Expect::Anything).await, Error::Invalid { .. });
    equal(ada.get(&[derived.id]).await?, vec![])
}

async fn the_history_of_a_record_is_the_chain_that_a_model_keeps(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, mut random) = (world.owner("ada")?, Random::new(19));
    let (mut current, mut newer): (Vec<(RecordId, String)>, HashMap<RecordId, RecordId>) = Default::default();
    for number in 0..CHANGES {
        world.ground.clock.advance(Duration::from_secs(1));
        let text = format!("Fact number {number}");
        let chosen = random.below(current.len() * 3 + 1);
        let old = (chosen < current.len()).then(|| current.swap_remove(chosen));
        // Now and then with what is known already: then two chains end in one record.
        let known = current.get(random.below(CHANGES)).cloned().filter(|_| old.is_some());
        let text = known.map_or(text, |(_, text)| text);
        let fact = Remember::fact(&text);
        let receipt = match &old {
            Some((old, _)) => ada.supersede(*old, fact).await?,
            None => ada.remember(fact).await?,
        };
        newer.extend(old.map(|(old, _)| (old, receipt.id)));
        if receipt.outcome == Remembered::Stored {
            current.push((receipt.id, text));
        }
    }
    let after = |id: RecordId| successors(Some(id), |id| newer.get(id).copied());
    let all: HashSet<RecordId> = newer.keys().copied().chain(current.iter().map(|(id, _)| *id)).collect();
    for id in &all {
        let before = all.iter().copied().filter(|older| after(*older).any(|newer| newer == *id));
        let promised: HashSet<RecordId> = before.chain(after(*id)).collect();
        let history = ada.history(*id).await?;
        let (last, rest) = history.split_last().ok_or("no history")?;
        check!(last.record.superseded.is_none(), "the chain does not end in what is current");
        let times: Option<Vec<_>> = rest.iter().map(|stored| stored.record.superseded.map(|by| by.at)).collect();
        check!(times.is_some_and(|times| times.is_sorted()), "the chain is out of order");
        equal(history.len(), promised.len())?;
        equal(ada.chain(*id).await?, history.iter().map(|stored| stored.record.id).collect::<Vec<_>>())?;
        equal(history.iter().map(|stored| stored.record.id).collect::<HashSet<_>>(), promised)?;
    }
    check!(newer.len() > CHANGES / 8, "too little was superseded");
    let first = all.iter().next().copied().ok_or("nothing was told")?;
    equal(world.owner("bob")?.history(first).await?, vec![])
}
