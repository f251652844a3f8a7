//! What a search is asked: its bounds, filters, and a vector in place of words.

use memory_core::engine::{Remember, Search, Stage};
use memory_core::model::{Embedder as _, Purpose};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Error, Field, Filter, Role, Trust, Unit};

use super::world::{World, found, session, texts};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_12_a_session_is_searched_alone,
    s0_12_a_search_finds_ten_unless_it_is_told_otherwise,
    s0_13_filters_are_pushed_down_and_never_starve_the_answer,
    s0_14_a_given_vector_is_used_in_place_of_words_and_embeds_nothing,
    s0_14_a_vector_of_another_space_is_refused_and_words_still_find,
    s0_16_a_user_in_the_metadata_is_a_plain_filter_and_isolates_nothing,
    s3_13_the_preset_of_kari_asks_for_five_that_match,
    s4_11_several_questions_are_answered_in_their_order,
]);

async fn s0_12_a_session_is_searched_alone(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let (one, other) = (ada.session(&session("one")?), ada.session(&session("other")?));
    one.append(vec![world.user("My rose is called Aurora.")]).await?;
    other.append(vec![world.user("Another rose is called Boreas.")]).await?;
    ada.remember(Remember::fact("Aurora is a rose").with_session(one.id().clone())).await?;
    let rose = Search::new("rose");
    let nobody = rose.clone().matching(Filter::eq(Field::Role, "assistant"));
    for _ in 0..2 {
        let mut here = texts(&one.search(&rose).await?);
        here.sort();
        equal(here, ["Aurora is a rose", "My rose is called Aurora."])?;
        equal(texts(&other.search(&rose).await?), ["Another rose is called Boreas."])?;
        equal(texts(&other.search(&nobody).await?), [""; 0])?;
        equal(ada.search(&rose).await?.hits.len(), 3)?;
        world.tend().await?;
    }
    Ok(())
}

async fn s0_12_a_search_finds_ten_unless_it_is_told_otherwise(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append((0..14).map(|number| world.user(&format!("rose {number}"))).collect()).await?;
    for _ in 0..2 {
        let rose = Search::new("rose");
        equal(talk.search(&rose).await?.hits.len(), 10)?;
        equal(talk.search(&rose.clone().limit(3)).await?.hits.len(), 3)?;
        equal(talk.search(&rose.limit(20)).await?.hits.len(), 14)?;
        world.tend().await?;
    }
    Ok(())
}

async fn s0_13_filters_are_pushed_down_and_never_starve_the_answer(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append((0..500).map(|n| world.user(&format!("rose rose rose {n}"))).collect()).await?;
    let one = world.say(Role::Assistant, "a rose among many words that nobody asked for").with_metadata("bed", 7);
    talk.append(vec![one]).await?;
    world.tend().await?;
    let ada = world.ground.reader("ada").await?;
    let rose = Search::new("rose");
    for filter in [Filter::eq(Field::Role, "assistant"), Filter::eq(Field::Metadata("bed".into()), 7)] {
        let found = ada.search(&rose.clone().limit(3).matching(filter)).await?;
        let receipt = &found.receipt;
        equal((found.hits.len(), receipt.text_candidates, receipt.vector_candidates), (1, 1, 1))?;
        equal(receipt.dropped_at_hydration, 0)?;
    }
    equal(ada.search(&rose.clone().limit(600).min_trust(Trust::User)).await?.hits.len(), 500)?;
    equal(ada.search(&rose.only(Unit::Record)).await?.hits.len(), 0)
}

async fn s0_14_a_given_vector_is_used_in_place_of_words_and_embeds_nothing(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    world.talk("ada")?.append(vec![world.user("My rose is called Aurora."), world.user("The bus is late.")]).await?;
    world.tend().await?;
    let vector = world.ground.embedder.embed(&["late bus"], Purpose::Query).await?.pop().ok_or("there is no vector")?;
    let asked = world.ground.embedder.asked();
    for words in ["", "the rose Aurora"] {
        let search = Search::new(words).vector(world.ground.embedder.space().clone(), vector.clone());
        let found = world.owner("ada")?.search(&search).await?;
        let nearest = found.hits.iter().find(|hit| hit.signals.vector_rank == Some(1)).ok_or("nothing is near")?;
        equal(nearest.content.text(), "The bus is late.")?;
        equal(&found.receipt.degraded, &vec![])?;
    }
    equal(world.ground.embedder.asked(), asked)
}

async fn s0_14_a_vector_of_another_space_is_refused_and_words_still_find(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    world.talk("ada")?.append(vec![world.user("My rose is called Aurora.")]).await?;
    world.tend().await?;
    let space = EmbeddingSpace { model: "other".to_owned(), ..world.ground.embedder.space().clone() };
    for (words, hits) in [("", 0), ("Aurora", 1)] {
        let search = Search::new(words).vector(space.clone(), vec![1.0; space.dimension]);
        let found = world.owner("ada")?.search(&search).await?;
        let stages: Vec<Stage> = found.receipt.degraded.iter().map(|degraded| degraded.stage).collect();
        equal((found.hits.len(), stages), (hits, vec![Stage::Vector]))?;
    }
    Ok(())
}

async fn s0_16_a_user_in_the_metadata_is_a_plain_filter_and_isolates_nothing(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, bob) = (world.owner("ada")?, world.owner("bob")?);
    for user in ["eve", "mallory"] {
        let said = world.user(&format!("The rose of {user}")).with_metadata("user_id", user);
        world.talk("ada")?.append(vec![said]).await?;
        ada.remember(Remember::fact(format!("{user} has a rose")).with_metadata("user_id", user)).await?;
    }
    let rose = Search::new("rose");
    let of_eve = rose.clone().matching(Filter::eq(Field::Metadata("user_id".into()), "eve"));
    for _ in 0..2 {
        // All of it belongs to one owner, who sees all of it.
        equal(
            found(&ada, &rose).await?,
            ["The rose of eve", "The rose of mallory", "eve has a rose", "mallory has a rose"],
        )?;
        equal(found(&ada, &of_eve).await?, ["The rose of eve", "eve has a rose"])?;
        // Who names another's user has what is there of himself: nothing.
        equal(found(&bob, &of_eve).await?, [""; 0])?;
        world.tend().await?;
    }
    Ok(())
}

async fn s3_13_the_preset_of_kari_asks_for_five_that_match(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    for number in 0..8 {
        ada.remember(Remember::fact(format!("Rose {number} stands in bed {number}"))).await?;
    }
    ada.remember(Remember::preference("Ada likes a rose more than a tulip")).await?;
    world.tend().await?;
    equal(ada.recall(&Search::kari("the roses")).await?.hits.len(), 5)?;
    let liked = Search::kari("the roses").matching(Filter::eq(Field::Kind, "preference"));
    equal(texts(&ada.recall(&liked).await?), ["Ada likes a rose more than a tulip"])
}

async fn s4_11_several_questions_are_answered_in_their_order(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    for number in 0..12 {
        ada.remember(Remember::fact(format!("Plant number {number} stands in the bed of {number} stones"))).await?;
    }
    world.tend().await?;
    let searches: Vec<Search> = (0..12).map(|number| Search::new(format!("plant number {number}")).limit(1)).collect();
    let answers = ada.recall_many(&searches).await?;
    equal(answers.len(), searches.len())?;
    for (search, answer) in searches.iter().zip(&answers) {
        equal(&answer.hits, &ada.search(search).await?.hits)?;
    }
    let bad = [Search::new("plants"), Search::new("plants").limit(0)];
    fails!(ada.recall_many(&bad).await, Error::Invalid { .. });
    Ok(())
}
