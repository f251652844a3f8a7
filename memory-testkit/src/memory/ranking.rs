//! The order of what is found: by recency, by importance, by a reranker, and without near-duplicates.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{ContextRequest, Remember, Scoped, Search};
use memory_core::rank::{Ranking, Weights};

use super::world::{World, holds, texts};
use crate::doubles::{FakeReranker, RerankerMode};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_9_similarity_and_recency_are_weighed_as_the_ranking_says,
    s1_11_what_matters_more_stands_first_if_the_ranking_says_so,
    s1_11_of_equals_the_one_that_matters_more_stands_first_by_default,
    s3_13_as_many_candidates_are_ranked_as_the_ranking_says,
    o11_a_reranker_orders_the_best_candidates_and_the_receipt_tells_its_scores,
    o11_near_duplicates_stand_behind_what_adds_something,
]);

/// A kiln's best text by words is the longest, which the reranker likes least.
const LONG: &str = "Kiln kiln kiln kiln: the kiln of the kiln workshop, said the kiln master";

fn by_words(words: &str) -> Search {
    Search::new(words).ranking(Ranking::ZScore(Weights { text: 1.0, vector: 0.0 }))
}

/// Tells facts, one second after the other, and indexes them.
async fn told(world: &World, facts: &[&str]) -> Result<Scoped, Failure> {
    let ada = world.owner("ada")?;
    for fact in facts {
        world.ground.clock.advance(Duration::from_secs(1));
        ada.remember(Remember::fact(*fact)).await?;
    }
    world.tend().await?;
    Ok(ada)
}

async fn s0_9_similarity_and_recency_are_weighed_as_the_ranking_says(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (old, new) = ("the red rose needs water", "the next bus is late");
    let ada = told(&world, &[old, new]).await?;
    for (weight, first) in [(0.0, old), (0.3, old), (1.0, new)] {
        let found = ada.search(&Search::new(old).ranking(Ranking::muxi(weight))).await?;
        equal(texts(&found).first().map(String::as_str), Some(first))?;
        for hit in &found.hits {
            let cosine = hit.signals.cosine.ok_or("a fact has no cosine")?;
            // The newer of two has the recency 1 by its rank, the older one a half.
            let recency = if hit.content.text() == new { 1.0 } else { 0.5 };
            let promised = (1.0 - weight) * cosine.max(0.0) + weight * recency;
            check!((hit.signals.score - promised).abs() < 1e-4, "{weight}: {:?} is not {promised}", hit.signals);
        }
        equal(found.hits.len(), 2)?;
    }
    Ok(())
}

async fn s1_11_what_matters_more_stands_first_if_the_ranking_says_so(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    // The one that matters is the older one, which a tie would put last.
    ada.remember(Remember::fact("the red rose needs water").with_importance(1.0)).await?;
    world.ground.clock.advance(Duration::from_secs(60));
    ada.remember(Remember::fact("the tea rose needs water").with_importance(0.0)).await?;
    world.tend().await?;
    let first = async |ranking| {
        let found = ada.search(&Search::new("which rose needs water").ranking(ranking)).await?;
        texts(&found).into_iter().next().ok_or(Failure::new("nothing is found"))
    };
    let weights = Weights { text: 1.0, vector: 0.0 };
    equal(first(Ranking::MinMax(weights)).await?, "the tea rose needs water")?;
    let Ranking::Weighted { recency_weight, recency, importance_weight, .. } = Ranking::weighted() else {
        return Err("the ranking is another".into());
    };
    let weighted = Ranking::Weighted { weights, recency_weight, recency, importance_weight };
    equal(first(weighted).await?, "the red rose needs water")
}

async fn s1_11_of_equals_the_one_that_matters_more_stands_first_by_default(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    for (colour, importance) in [("red", 1.0), ("tea", 0.0), ("dog", 0.5)] {
        let fact = format!("the {colour} rose needs water");
        ada.remember(Remember::fact(fact).with_importance(importance)).await?;
        world.ground.clock.advance(Duration::from_secs(60));
    }
    world.tend().await?;
    let found = ada.search(&by_words("which rose needs water")).await?;
    equal(texts(&found), ["red", "dog", "tea"].map(|colour| format!("the {colour} rose needs water")))
}

async fn s3_13_as_many_candidates_are_ranked_as_the_ranking_says(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    world.talk("ada")?.append((0..200).map(|n| world.user(&format!("rose {n}"))).collect()).await?;
    world.tend().await?;
    let ada = world.ground.reader("ada").await?;
    for (ranking, limit, promised) in [
        (Ranking::kari(), 5, 24),
        (Ranking::kari(), 30, 30),
        (Ranking::default(), 5, 100),
        (Ranking::default(), 15, 150),
    ] {
        let found = ada.search(&Search::new("rose").ranking(ranking).limit(limit)).await?;
        equal((found.receipt.text_candidates, found.hits.len()), (promised, limit))?;
    }
    Ok(())
}

async fn o11_a_reranker_orders_the_best_candidates_and_the_receipt_tells_its_scores(bed: Bed<Stores>) -> Scene {
    let reranker = Arc::new(FakeReranker::new(RerankerMode::Well));
    let world = World::with(&bed, |_, builder| builder.reranker(reranker.clone())).await?;
    let ada = told(&world, &[LONG, "The kiln is blue and stands outside", "Our kiln"]).await?;
    let found = ada.search(&by_words("kiln").limit(2)).await?;
    equal(texts(&found), ["Our kiln", "The kiln is blue and stands outside"])?;
    equal(found.hits.iter().map(|hit| hit.signals.reranked).collect::<Vec<_>>(), [Some(-8.0), Some(-35.0)])?;
    let [left_out] = found.receipt.left_out.as_slice() else { return Err(format!("{:?}", found.receipt).into()) };
    equal(left_out.signals.reranked, Some(-(LONG.len() as f32)))?;
    check!(left_out.signals.to_string().ends_with("reranked -72.000"), "{}", left_out.signals);
    equal(&found.receipt.degraded, &vec![])?;
    // Where it fails, the order of the ranking stands.
    reranker.set(RerankerMode::Fails);
    let found = ada.search(&by_words("kiln").limit(1)).await?;
    equal(texts(&found), [LONG])?;
    equal(found.receipt.degraded.len(), 1)
}

async fn o11_near_duplicates_stand_behind_what_adds_something(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let facts = ["Kiln temperature is 900 degrees", "Kiln temperature is 901 degrees", "A blue kiln stands outside"];
    let ada = told(&world, &facts).await?;
    let search = by_words("kiln temperature").limit(2);
    let alike = texts(&ada.search(&search).await?);
    check!(alike.iter().all(|text| text.contains("temperature")), "found {alike:?}");
    equal(texts(&ada.search(&search.clone().mmr(1.0)).await?), alike.clone())?;
    let various = texts(&ada.search(&search.clone().mmr(0.3)).await?);
    equal(various, alike.into_iter().take(1).chain(["A blue kiln stands outside".to_owned()]).collect::<Vec<_>>())?;

    let request = |lambda| ContextRequest::new("What temperature has the kiln?", 1_000).recall(2).mmr(lambda);
    holds(&world.talk("ada")?.assemble(&request(0.3)).await?, "blue kiln")?;
    for lambda in [-0.1, 1.1, f32::NAN] {
        check!(ada.search(&search.clone().mmr(lambda)).await.is_err(), "{lambda} is taken by a search");
        check!(world.talk("ada")?.assemble(&request(lambda)).await.is_err(), "{lambda} is taken by a context");
    }
    Ok(())
}
