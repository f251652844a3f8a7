//! The gate: what is nearly the same as a record counts as told again, or is dropped.

use memory_core::engine::{Forget, Remember, RememberReceipt, Remembered, Scoped, Search};
use memory_core::novelty::{Gate, Reason, Repeat};
use memory_core::{Filter, ItemId, Trust};

use super::world::{World, found, session};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s3_11_what_is_nearly_the_same_reinforces_before_it_is_indexed_and_after,
    s3_11_a_gate_may_drop_what_repeats,
    c31_particulars_kinds_and_agents_are_never_taken_for_the_same,
    a_gate_compares_within_its_kind_and_agent_however_many_others_say_it,
    a_gate_lends_no_trust_to_another_text,
    what_a_gate_folded_into_a_text_falls_with_the_source_of_that_text,
    what_was_told_in_a_session_takes_no_other_words_from_outside,
]);

const TEA: &str = "Ada likes a cup of green tea";
const STILL_TEA: &str = "Ada still likes a cup of green tea";

/// The embedder of the kit adds up vectors of words, so six of seven words in common make texts alike.
const THRESHOLD: f32 = 0.4;

fn gate() -> Gate {
    Gate::default().with_threshold(THRESHOLD)
}

async fn tell(owner: &Scoped, remember: Remember) -> Result<RememberReceipt, Failure> {
    Ok(owner.remember(remember.gated(gate())).await?)
}

async fn count(owner: &Scoped) -> Result<usize, Failure> {
    Ok(owner.records(&Filter::All, None, 100).await?.len())
}

async fn s3_11_what_is_nearly_the_same_reinforces_before_it_is_indexed_and_after(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let first = tell(&ada, Remember::fact(TEA)).await?;
    equal((first.outcome, first.novelty), (Remembered::Stored, None))?;
    for _ in 0..2 {
        let again = tell(&ada, Remember::fact(STILL_TEA)).await?;
        equal((again.id, again.outcome), (first.id, Remembered::Reinforced))?;
        check!(again.novelty.is_some_and(|novelty| novelty < THRESHOLD), "{again}");
        world.tend().await?;
    }
    equal(count(&ada).await?, 1)?;
    let other = tell(&ada, Remember::fact("Ada repairs old bicycles in winter")).await?;
    equal(other.outcome, Remembered::Stored)?;
    check!(other.novelty.is_some_and(|novelty| novelty >= THRESHOLD), "{other}");
    Ok(())
}

async fn s3_11_a_gate_may_drop_what_repeats(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let first = tell(&ada, Remember::fact(TEA)).await?;
    let skip = gate().with_repeat(Repeat::Skip);
    for _ in 0..2 {
        for (text, is_same) in [(TEA, true), (STILL_TEA, false)] {
            let told = ada.remember(Remember::fact(text).gated(skip)).await?;
            equal(told.novelty.is_none(), is_same)?;
            let alike = |novelty| Reason::Alike { to: first.id, novelty };
            let why = told.novelty.map_or(Reason::Equal(first.id), alike);
            equal((told.id, told.outcome, told.version), (first.id, Remembered::Skipped(why), first.version))?;
        }
        world.tend().await?;
    }
    let stored = ada.get(&[first.id]).await?;
    equal(stored.iter().map(|row| row.version).collect::<Vec<_>>(), [first.version])?;
    equal(count(&ada).await?, 1)
}

async fn c31_particulars_kinds_and_agents_are_never_taken_for_the_same(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    tell(&ada, Remember::fact("Ada drinks 2 cups of green tea")).await?;
    world.tend().await?;
    for other in [
        Remember::fact("Ada drinks 3 cups of green tea"),
        Remember::fact("Bob drinks 2 cups of green tea"),
        Remember::fact("Ada never drinks 2 cups of green tea"),
        Remember::preference("Ada still drinks 2 cups of green tea"),
        Remember::fact("Ada still drinks 2 cups of green tea").with_agent("planner"),
    ] {
        equal(tell(&ada, other).await?.outcome, Remembered::Stored)?;
    }
    let same = tell(&ada, Remember::fact("Ada still drinks 2 cups of green tea")).await?;
    equal(same.outcome, Remembered::Reinforced)?;
    // Another owner has told nothing yet.
    equal(tell(&world.owner("bob")?, Remember::fact("Ada drinks 2 cups of green tea")).await?.novelty, None)
}

async fn a_gate_compares_within_its_kind_and_agent_however_many_others_say_it(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let mut near = Vec::new();
    for other in 0..20 {
        near.push(Remember::fact(TEA).with_agent(format!("agent {other}")));
        near.push(Remember::new(format!("kind {other}"), TEA));
        near.push(Remember::new(format!("kind {other}"), TEA).with_agent("planner"));
    }
    ada.remember_all(near).await?;
    let of_agent = ada.remember(Remember::fact(STILL_TEA).with_agent("planner")).await?;
    let of_nobody = ada.remember(Remember::fact(STILL_TEA)).await?;
    world.tend().await?;
    for (known, told) in [(of_agent, Remember::fact(TEA).with_agent("planner")), (of_nobody, Remember::fact(TEA))] {
        let told = tell(&ada, told).await?;
        equal((told.id, told.outcome), (known.id, Remembered::Reinforced))?;
    }
    Ok(())
}

async fn a_gate_lends_no_trust_to_another_text(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for (subject, is_indexed) in [("ada", false), ("bob", true)] {
        let owner = world.owner(subject)?;
        let read = tell(&owner, Remember::fact(TEA).with_trust(Trust::Untrusted).with_origin("web")).await?;
        if is_indexed {
            world.tend().await?;
        }
        let said = tell(&owner, Remember::fact(STILL_TEA).with_trust(Trust::User)).await?;
        equal(said.outcome, Remembered::Stored)?;
        let trusted = Search::new("cup of green tea").min_trust(Trust::User);
        equal(found(&owner, &trusted).await?, [STILL_TEA])?;
        // What is trusted less says nothing new.
        let less = Remember::fact("Ada likes still a cup of green tea").with_trust(Trust::Untrusted);
        equal(tell(&owner, less).await?.outcome, Remembered::Reinforced)?;
        let stored = owner.get(&[read.id]).await?;
        equal(stored.iter().map(|stored| stored.record.trust()).collect::<Vec<_>>(), [Trust::Untrusted])?;
    }
    Ok(())
}

async fn what_a_gate_folded_into_a_text_falls_with_the_source_of_that_text(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for (subject, forgets_text, left) in [("ada", true, 0), ("bob", false, 1)] {
        let owner = world.owner(subject)?;
        let [one, two] = ["Green tea for me.", "Green tea, still."].map(|text| world.user(text));
        let (first, second) = (one.id, two.id);
        world.talk(subject)?.append(vec![one, two]).await?;
        let told = tell(&owner, Remember::fact(TEA).with_source(ItemId::Message(first))).await?;
        for _ in 0..2 {
            let again = tell(&owner, Remember::fact(STILL_TEA).with_source(ItemId::Message(second))).await?;
            equal((again.id, again.outcome), (told.id, Remembered::Reinforced))?;
        }
        owner.forget(&Forget::Messages(vec![if forgets_text { first } else { second }])).await?;
        equal(owner.get(&[told.id]).await?.len(), left)?;
    }
    Ok(())
}

async fn what_was_told_in_a_session_takes_no_other_words_from_outside(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, home) = (world.owner("ada")?, session("home")?);
    tell(&ada, Remember::fact(TEA).with_session(home.clone())).await?;
    let inside = tell(&ada, Remember::fact(STILL_TEA).with_session(home.clone())).await?;
    equal(inside.outcome, Remembered::Reinforced)?;
    let outside = tell(&ada, Remember::fact(STILL_TEA)).await?;
    equal(outside.outcome, Remembered::Stored)?;
    ada.forget(&Forget::Session(home)).await?;
    let left = ada.records(&Filter::All, None, 100).await?;
    equal(left.iter().map(|stored| stored.record.id).collect::<Vec<_>>(), [outside.id])
}
