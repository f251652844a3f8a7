//! Models and indexes that fail: the others answer, the receipt says so, and upkeep makes up for it later.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Search, SearchResults, Stage};

use super::world::{World, holds, texts};
use crate::doubles::{EmbedderMode, Faulty, Tapped, When};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_17_a_failing_embedder_is_told_and_words_still_find,
    s0_17_what_could_not_be_embedded_is_found_by_its_words_and_embedded_later,
    s0_17_an_index_that_does_not_answer_is_told_and_the_other_answers,
    s0_17_what_an_index_did_not_take_is_found_all_the_same_and_indexed_later,
    s0_17_an_index_that_took_nothing_for_hours_is_asked_again_within_seconds,
    s0_17_a_pass_tries_one_owner_of_an_index_that_is_away_and_the_next_pass_another,
    s0_17_without_an_answer_of_any_index_the_newest_messages_are_in_the_context,
]);

const AURORA: &str = "My rose is called Aurora.";

fn stages(found: &SearchResults) -> Vec<Stage> {
    found.receipt.degraded.iter().map(|degraded| degraded.stage).collect()
}

/// Returns whether the best hit was found by words, and whether by meaning.
fn ways(found: &SearchResults) -> Option<(bool, bool)> {
    let hit = found.hits.first()?;
    Some((hit.signals.text.is_some(), hit.signals.cosine.is_some()))
}

async fn s0_17_a_failing_embedder_is_told_and_words_still_find(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user(AURORA)]).await?;
    talk.append(world.chatter(60)).await?;
    world.tend().await?;
    world.ground.embedder.set(EmbedderMode::Fails);
    let context = talk.context("What is the name of my rose?", 400).await?;
    holds(&context, "Aurora")?;
    let degraded = &context.receipt.search.degraded;
    equal(degraded.iter().map(|degraded| degraded.stage).collect::<Vec<_>>(), [Stage::Embed])?;
    let found = talk.search(&Search::new("Aurora").limit(1)).await?;
    equal((texts(&found), stages(&found)), (vec![AURORA.to_owned()], vec![Stage::Embed]))
}

async fn s0_17_what_could_not_be_embedded_is_found_by_its_words_and_embedded_later(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    world.talk("ada")?.append(vec![world.user(AURORA)]).await?;
    let elsewhere = world.ground.reader("ada").await?;
    for mode in [EmbedderMode::Fails, EmbedderMode::TooFew] {
        world.ground.embedder.set(mode);
        let report = world.memory.upkeep_once().await?;
        check!(report.retried > 0 && report.dead == 0 && !report.failures.is_empty(), "{mode:?}: {report:?}");
        let found = elsewhere.search(&Search::new("Aurora")).await?;
        equal((ways(&found), stages(&found)), (Some((true, false)), vec![Stage::Embed]))?;
        world.ground.clock.advance(Duration::from_secs(5));
    }
    world.ground.embedder.set(EmbedderMode::Well);
    world.tend_later().await?;
    let found = elsewhere.search(&Search::new("Aurora")).await?;
    equal((ways(&found), stages(&found)), (Some((true, true)), vec![]))
}

async fn s0_17_an_index_that_does_not_answer_is_told_and_the_other_answers(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    world.talk("ada")?.append(vec![world.user(AURORA)]).await?;
    world.tend().await?;
    let fails = || Arc::new(Faulty::at(1, When::Before).of("search").lasting());
    let without_words =
        world.ground.open(|ground, builder| builder.text(Arc::new(Tapped::new(ground.text.clone(), fails()))));
    let without_meaning = world.ground.open(|ground, builder| {
        builder.vectors(Arc::new(Tapped::new(ground.vectors.clone(), fails())), ground.embedder.clone())
    });
    for (memory, promised, stage) in
        [(without_words.await?, (false, true), Stage::Text), (without_meaning.await?, (true, false), Stage::Vector)]
    {
        let found = memory.of(&world.ground.scope("ada")?).search(&Search::new("Aurora")).await?;
        equal((ways(&found), stages(&found)), (Some(promised), vec![stage]))?;
    }
    Ok(())
}

async fn s0_17_what_an_index_did_not_take_is_found_all_the_same_and_indexed_later(bed: Bed<Stores>) -> Scene {
    let once = Arc::new(Faulty::at(1, When::Before).of("put"));
    let tap = once.clone();
    let world = World::with(&bed, |ground, builder| builder.text(Arc::new(Tapped::new(ground.text.clone(), tap))));
    let world = world.await?;
    world.talk("ada")?.append(vec![world.user(AURORA)]).await?;
    let report = world.memory.upkeep_once().await?;
    check!(once.has_failed() && report.retried > 0 && !report.failures.is_empty(), "{report:?}");
    let (here, elsewhere) = (world.owner("ada")?, world.ground.reader("ada").await?);
    equal(ways(&here.search(&Search::new("Aurora")).await?).map(|(words, _)| words), Some(true))?;
    equal(ways(&elsewhere.search(&Search::new("Aurora")).await?), Some((false, true)))?;
    world.tend_later().await?;
    for process in [here, elsewhere] {
        let found = process.search(&Search::new("Aurora")).await?;
        equal((ways(&found), stages(&found)), (Some((true, true)), vec![]))?;
    }
    Ok(())
}

async fn s0_17_an_index_that_took_nothing_for_hours_is_asked_again_within_seconds(bed: Bed<Stores>) -> Scene {
    let away = Arc::new(Faulty::at(1, When::Before).of("put").lasting());
    let world = World::with(&bed, |ground, builder| builder.text(Arc::new(Tapped::new(ground.text.clone(), away))));
    let world = world.await?;
    world.talk("ada")?.append(vec![world.user(AURORA)]).await?;
    for _ in 0..12 {
        check!(world.memory.upkeep_once().await?.retried > 0, "the index is asked again");
        world.ground.clock.advance(Duration::from_secs(1_800));
    }
    check!(world.memory.upkeep_once().await?.retried > 0, "the index is asked again");
    world.ground.clock.advance(Duration::from_secs(9));
    let back = world.ground.open(|_, builder| builder).await?;
    equal(back.upkeep_once().await?.retried, 0)?;
    let found = world.ground.reader("ada").await?.search(&Search::new("Aurora")).await?;
    equal((ways(&found), stages(&found)), (Some((true, true)), vec![]))
}

async fn s0_17_a_pass_tries_one_owner_of_an_index_that_is_away_and_the_next_pass_another(bed: Bed<Stores>) -> Scene {
    for puts_fail_on in [true, false] {
        let bed = bed.another(|_| {}).await?;
        let put = Faulty::at(1, When::Before).of("put");
        let put = Arc::new(if puts_fail_on { put.lasting() } else { put });
        let ping = Arc::new(Faulty::at(1, When::Before).of("ping").lasting());
        let world = World::with(&bed, |ground, builder| {
            builder.text(Arc::new(Tapped::new(Arc::new(Tapped::new(ground.text.clone(), put)), ping)))
        });
        let world = world.await?;
        for (owner, words) in [("ada", AURORA), ("bo", "Boreas is a tulip.")] {
            world.talk(owner)?.append(vec![world.user(words)]).await?;
        }
        let mut retried = Vec::new();
        for _ in 0..3 {
            let report = world.memory.upkeep_once().await?;
            equal(report.dead, 0)?;
            retried.push(report.retried);
        }
        equal(retried, if puts_fail_on { [1, 1, 0] } else { [1, 0, 0] })?;
        world.ground.clock.advance(Duration::from_secs(9));
        let back = world.ground.open(|_, builder| builder).await?;
        equal(back.upkeep_once().await?.retried, 0)?;
        for (owner, words) in [("ada", "Aurora"), ("bo", "Boreas")] {
            let found = world.ground.reader(owner).await?.search(&Search::new(words)).await?;
            equal((ways(&found), stages(&found)), (Some((true, true)), vec![]))?;
        }
    }
    Ok(())
}

async fn s0_17_without_an_answer_of_any_index_the_newest_messages_are_in_the_context(bed: Bed<Stores>) -> Scene {
    let fails = || Arc::new(Faulty::at(1, When::Before).of("search").lasting());
    let world = World::with(&bed, |ground, builder| {
        let vectors = Arc::new(Tapped::new(ground.vectors.clone(), fails()));
        builder.text(Arc::new(Tapped::new(ground.text.clone(), fails()))).vectors(vectors, ground.embedder.clone())
    });
    let world = world.await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user(AURORA)]).await?;
    let context = talk.context("What is the name of my rose?", 400).await?;
    holds(&context, "Aurora")?;
    let mut stages: Vec<_> = context.receipt.search.degraded.iter().map(|degraded| degraded.stage).collect();
    stages.sort();
    equal(stages, [Stage::Text, Stage::Vector])
}
