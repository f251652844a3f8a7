//! Records as a person keeps them: listed by time, and changed in place.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use memory_core::engine::{Forget, Remember, Remembered, Search};
use memory_core::{Error, Field, Filter, ItemId, Record, RecordId, Timestamp, Unit};

use super::world::{World, found, session};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    records_are_listed_by_time_in_pages,
    an_update_changes_what_was_told_with_a_record_and_the_index_follows,
    an_update_that_changes_nothing_writes_nothing,
    an_update_keeps_what_another_wrote_meanwhile,
    an_update_refuses_what_it_may_not_change,
    a_statement_with_a_forgotten_link_is_still_one_record,
    a_record_named_twice_is_forgotten_once,
    what_a_telling_added_is_in_no_index_when_a_forget_is_complete,
    a_fact_that_was_over_when_it_was_told_is_one_record,
    a_fact_that_has_expired_on_hold_takes_no_more_tellings,
]);

async fn records_are_listed_by_time_in_pages(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, bob) = (world.owner("ada")?, world.owner("bob")?);
    for number in 0..7 {
        world.user("time goes by");
        ada.remember(Remember::fact(format!("fact {number}"))).await?;
        bob.remember(Remember::fact(format!("fact {number} of another"))).await?;
    }
    let (mut listed, mut before) = (Vec::new(), None);
    loop {
        let page = ada.latest(&Filter::All, before, 3).await?;
        let Some(last) = page.last() else { break };
        before = Some((last.record.created_at(), last.record.id));
        listed.extend(page.into_iter().map(|stored| stored.record.text.clone()));
        check!(listed.len() <= 7, "pages go on for ever");
    }
    equal(listed, ["fact 6", "fact 5", "fact 4", "fact 3", "fact 2", "fact 1", "fact 0"])
}

async fn an_update_changes_what_was_told_with_a_record_and_the_index_follows(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let told =
        ada.remember(Remember::fact("Ada's flight leaves at nine").with_tag("draft").with_importance(0.2)).await?;
    world.tend().await?;
    let updated = ada.update(told.id, |record| {
        record.hold = true;
        for telling in record.tellings_mut() {
            telling.tags = vec!["travel".to_owned()];
            telling.importance = Some(0.9);
        }
    });
    let updated = updated.await?;
    check!(updated.version > told.version, "{} follows {}", updated.version, told.version);
    equal(&ada.get(&[told.id]).await?, &vec![updated.clone()])?;
    equal(
        (updated.record.tags(), updated.record.importance(), updated.record.hold),
        (vec!["travel"], Some(0.9), true),
    )?;
    world.tend().await?;
    for (tag, promised) in [("draft", Vec::new()), ("travel", vec![ItemId::Record(told.id)])] {
        let search = Search::new("flight").only(Unit::Record).matching(Filter::eq(Field::Tag, tag));
        let hits = ada.search(&search).await?;
        equal(hits.hits.into_iter().map(|hit| hit.item).collect::<Vec<_>>(), promised)?;
    }
    // The same words told again are still the same record.
    let again = ada.remember(Remember::fact("Ada's flight leaves at nine")).await?;
    equal((again.id, again.outcome), (told.id, Remembered::Reinforced))
}

async fn an_update_that_changes_nothing_writes_nothing(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let told = ada.remember(Remember::fact("Ada likes tea").with_tag("drink")).await?;
    let same = ada.update(told.id, |_| {}).await?;
    equal(same.version, told.version)?;
    let tag = |record: &mut Record| record.first.tags = vec!["hot".to_owned()];
    let once = ada.update(told.id, tag).await?.version;
    equal(ada.update(told.id, tag).await?.version, once)
}

async fn an_update_keeps_what_another_wrote_meanwhile(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let told = ada.remember(Remember::fact("Ada likes tea")).await?;
    let calls = AtomicU32::new(0);
    let tags = ["a", "b", "c", "d", "e", "f"];
    let add = |tag: &'static str| {
        let (ada, calls) = (&ada, &calls);
        async move {
            let change = |record: &mut Record| {
                calls.fetch_add(1, Ordering::Relaxed);
                if !record.first.tags.iter().any(|known| known == tag) {
                    record.first.tags.push(tag.to_owned());
                }
            };
            ada.update(told.id, change).await
        }
    };
    futures_util::future::try_join_all(tags.map(add)).await?;
    let stored = ada.get(&[told.id]).await?;
    let mut kept: Vec<_> = stored.iter().flat_map(|stored| stored.record.tags()).collect();
    kept.sort_unstable();
    equal(kept, tags.to_vec())?;
    check!(calls.load(Ordering::Relaxed) >= 6, "each change is asked for");
    Ok(())
}

async fn an_update_refuses_what_it_may_not_change(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, bob) = (world.owner("ada")?, world.owner("bob")?);
    let told = ada.remember(Remember::fact("Ada likes tea")).await?;
    fails!(ada.update(told.id, |record| record.text = "Ada likes coffee".to_owned()).await, Error::Invalid { .. });
    fails!(ada.update(told.id, |record| record.kind = "preference".to_owned()).await, Error::Invalid { .. });
    fails!(ada.update(told.id, |record| record.id = RecordId::fresh()).await, Error::Invalid { .. });
    fails!(ada.update(told.id, |record| record.agent = Some("planner".to_owned())).await, Error::Invalid { .. });
    fails!(ada.update(told.id, |record| record.doomed = true).await, Error::Invalid { .. });
    let unknown = ItemId::Record(RecordId::fresh());
    let derive = |record: &mut Record| record.first.sources.push(unknown.clone());
    fails!(ada.update(told.id, derive).await, Error::Invalid { .. });
    fails!(ada.update(told.id, |record| record.first.tags = vec!["x".repeat(1 << 20)]).await, Error::Invalid { .. });
    fails!(bob.update(told.id, |record| record.hold = true).await, Error::Invalid { .. });
    fails!(ada.update(RecordId::fresh(), |_| {}).await, Error::Invalid { .. });
    equal(ada.get(&[told.id]).await?.first().map(|stored| stored.version), Some(told.version))?;
    equal(found(&ada, &Search::new("tea")).await?.len(), 1)
}

async fn a_statement_with_a_forgotten_link_is_still_one_record(bed: Bed<Stores>) -> Scene {
    const ROME: &str = "Ada lives in Rome";
    let world = World::open(&bed).await?;
    for (subject, missing) in [("ada", vec![0]), ("bob", vec![2]), ("eve", vec![0, 1, 2])] {
        let owner = world.owner(subject)?;
        let mut gone = Vec::new();
        for (link, city) in ["Oslo", "Bern", "Kiel"].into_iter().enumerate() {
            let told = owner.remember(Remember::fact(ROME)).await?;
            equal(told.outcome, Remembered::Stored)?;
            gone.extend(missing.contains(&link).then_some(told.id));
            world.user("time goes by");
            owner.supersede(told.id, Remember::fact(format!("Ada lives in {city}"))).await?;
            world.user("time goes by");
        }
        let last = owner.remember(Remember::fact(ROME)).await?;
        equal(last.outcome, Remembered::Stored)?;
        owner.forget(&Forget::Records(gone)).await?;
        let again = owner.remember(Remember::fact(ROME)).await?;
        equal((again.id, again.outcome), (last.id, Remembered::Reinforced))?;
        let again = owner.remember_all(vec![Remember::fact(ROME)]).await?;
        equal(again.iter().map(|told| told.id).collect::<Vec<_>>(), [last.id])?;
        let current = owner.records(&Filter::current(world.memory.now()), None, 100).await?;
        equal(current.iter().filter(|stored| stored.record.text == ROME).count(), 1)?;
    }
    Ok(())
}

async fn a_record_named_twice_is_forgotten_once(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let rose = ada.remember(Remember::fact("Ada has a rose")).await?.id;
    let derived = Remember::fact("Ada likes flowers").with_source(ItemId::Record(rose));
    let tea = ada.remember(Remember::fact("Ada likes tea")).await?.id;
    ada.remember(derived).await?;
    let twice = Forget::Records(vec![rose, tea, rose, tea]);
    for (removed, derived) in [(3, 1), (0, 0)] {
        let receipt = ada.forget(&twice).await?;
        equal((receipt.removed, receipt.derived, receipt.complete), (removed, derived, true))?;
    }
    equal(ada.records(&Filter::All, None, 10).await?, [])
}

async fn what_a_telling_added_is_in_no_index_when_a_forget_is_complete(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let fact = || Remember::fact("Ada lives in Rome");
    for subject in ["of a message", "of a record", "of a conversation"] {
        let ada = world.owner(subject)?;
        let id = ada.remember(fact()).await?.id;
        let again = fact().with_metadata("door_code", "4711").with_tag("door");
        let (again, forget) = match subject {
            "of a message" => {
                let said = world.user("I live in Rome, and the code of my door is 4711.");
                let source = said.id;
                world.talk(subject)?.append(vec![said]).await?;
                (again.with_source(ItemId::Message(source)), Forget::Messages(vec![source]))
            }
            "of a record" => {
                let source = ada.remember(Remember::fact("The code of Ada's door is 4711")).await?.id;
                (again.with_source(ItemId::Record(source)), Forget::Records(vec![source]))
            }
            _ => (again.with_session(session("home")?), Forget::Session(session("home")?)),
        };
        equal(ada.remember(again).await?.id, id)?;
        world.tend().await?;
        // A process that wrote nothing asks the indexes alone.
        let reader = world.ground.reader(subject).await?;
        let rome = Search::new("Rome").only(Unit::Record);
        let of_door = [Filter::eq(Field::Tag, "door"), Filter::eq(Field::Metadata("door_code".into()), "4711")];
        for (left, is_forgotten) in [(1, false), (0, true)] {
            if is_forgotten {
                check!(ada.forget(&forget).await?.complete, "something {subject} is left");
            }
            for filter in of_door.clone() {
                let receipt = reader.search(&rome.clone().matching(filter)).await?.receipt;
                equal((receipt.text_candidates, receipt.vector_candidates), (left, left))?;
            }
        }
        let hits = reader.search(&rome).await?.hits;
        equal(hits.iter().map(|hit| hit.item.clone()).collect::<Vec<_>>(), [ItemId::Record(id)])?;
        let in_both = hits.iter().all(|hit| hit.signals.text.is_some() && hit.signals.cosine.is_some());
        check!(in_both, "not in both indexes: {hits:?}");
    }
    Ok(())
}

async fn a_fact_that_was_over_when_it_was_told_is_one_record(bed: Bed<Stores>) -> Scene {
    let ada = World::open(&bed).await?.owner("ada")?;
    let lived = || Remember::fact("Ada lived in Lyon").valid(None, Some(Timestamp(1)));
    let first = ada.remember(lived()).await?;
    for _ in 0..3 {
        let again = ada.remember(lived()).await?;
        equal((again.id, again.outcome), (first.id, Remembered::Reinforced))?;
    }
    let now = ada.remember(Remember::fact("Ada lived in Lyon")).await?;
    check!(now.id != first.id, "what is true again is another record");
    equal(ada.remember(lived()).await?.id, first.id)?;
    equal(ada.latest(&Filter::All, None, 9).await?.len(), 2)
}

async fn a_fact_that_has_expired_on_hold_takes_no_more_tellings(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let code = || Remember::fact("The code of the gate is 4711");
    let first = ada.remember(code().with_ttl(Duration::from_secs(60))).await?;
    ada.update(first.id, |record| record.hold = true).await?;
    world.ground.clock.advance(Duration::from_secs(120));
    let again = ada.remember(code()).await?;
    check!(again.id != first.id, "what is kept as evidence takes no more tellings");
    equal(ada.remember(code()).await?.id, again.id)?;
    // The one that is kept as evidence, and the one that is current.
    equal(ada.latest(&Filter::All, None, 9).await?.len(), 2)
}
