//! Search on a board: by words and by meaning, ties by key.

use std::time::Duration;

use memory_core::store::blackboard::{BlackboardEntry, BoardHit, BoardQuery};
use memory_core::{Error, Scope};

use super::EPOCH;
use crate::text::build::terms;
use crate::{Bed, Boards, Scene, equal};

scenarios!(TABLE: Boards = [
    entries_that_share_the_most_words_stand_first,
    entries_without_a_shared_word_are_no_hits,
    the_nearest_entries_stand_first,
    entries_of_another_dimension_are_skipped,
    words_or_meaning_find_an_entry_and_the_better_counts,
    ties_stand_by_key_where_the_limit_cuts,
    expired_entries_take_no_place,
    a_replaced_entry_is_found_by_its_new_words_only,
    a_hit_is_the_entry_as_it_was_put,
]);

async fn post(bed: &Bed<Boards>, team: &Scope, key: &str, words: &[&str], vector: Option<&[f32]>) -> Scene {
    let entry = BlackboardEntry {
        terms: terms(words)?,
        vector: vector.map(<[f32]>::to_vec),
        ..BlackboardEntry::new(key, format!("value of {key}"))
    };
    bed.store.put(team, EPOCH, &entry).await?;
    Ok(())
}

async fn words(bed: &Bed<Boards>, team: &Scope, words: &[&str], limit: usize) -> memory_core::Result<Vec<BoardHit>> {
    bed.store.search(team, EPOCH, &BoardQuery::Terms(terms(words)?), limit).await
}

fn keys(hits: &[BoardHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.entry.key.as_str()).collect()
}

fn rounded(hits: &[BoardHit]) -> Vec<f32> {
    hits.iter().map(|hit| (hit.similarity.value() * 1_000.0).round() / 1_000.0).collect()
}

async fn entries_that_share_the_most_words_stand_first(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    post(&bed, &team, "one", &["river"], None).await?;
    post(&bed, &team, "three", &["river", "stone", "lamp"], None).await?;
    post(&bed, &team, "two", &["stone", "lamp", "glass", "winter"], None).await?;
    let found = words(&bed, &team, &["river", "stone", "lamp", "absent"], 9).await?;
    equal(keys(&found), ["three", "two", "one"])?;
    equal(rounded(&found), [0.75, 0.5, 0.25])
}

async fn entries_without_a_shared_word_are_no_hits(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    post(&bed, &team, "plan", &["teapot", "OR"], Some(&[1.0])).await?;
    post(&bed, &team, "mute", &[], None).await?;
    for query in [&["tea"][..], &["or"], &["TEAPOT", "absent"], &[]] {
        equal(words(&bed, &team, query, 9).await?.len(), 0)?;
    }
    equal(words(&bed, &bed.scope("nobody")?, &["teapot"], 9).await?.len(), 0)
}

async fn the_nearest_entries_stand_first(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    post(&bed, &team, "far", &[], Some(&[-5.0, 0.0])).await?;
    post(&bed, &team, "near", &[], Some(&[30.0, 40.0])).await?;
    post(&bed, &team, "nearest", &[], Some(&[0.1, 0.0])).await?;
    post(&bed, &team, "mute", &["river"], None).await?;
    let found = bed.store.search(&team, EPOCH, &BoardQuery::Vector(vec![7.0, 0.0]), 9).await?;
    equal(keys(&found), ["nearest", "near", "far"])?;
    equal(rounded(&found), [1.0, 0.6, -1.0])
}

async fn entries_of_another_dimension_are_skipped(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    post(&bed, &team, "one", &[], Some(&[1.0])).await?;
    post(&bed, &team, "two", &[], Some(&[1.0, 0.5])).await?;
    post(&bed, &team, "three", &[], Some(&[1.0, 0.5, 0.5])).await?;
    let found = bed.store.search(&team, EPOCH, &BoardQuery::Vector(vec![1.0, 0.5]), 9).await?;
    equal(keys(&found), ["two"])
}

async fn words_or_meaning_find_an_entry_and_the_better_counts(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    post(&bed, &team, "words", &["river", "stone"], None).await?;
    post(&bed, &team, "meaning", &["lamp"], Some(&[3.0, 4.0])).await?;
    post(&bed, &team, "both", &["river"], Some(&[0.8, 0.6])).await?;
    post(&bed, &team, "one word", &["stone"], Some(&[-1.0, 0.0])).await?;
    for (key, vector) in [("right angle", [0.0, 1.0]), ("opposite", [-1.0, 0.0])] {
        post(&bed, &team, key, &["lamp"], Some(&vector)).await?;
    }
    post(&bed, &team, "other dimension", &["lamp"], Some(&[1.0])).await?;
    let query = BoardQuery::Either(terms(&["river", "stone"])?, vec![2.0, 0.0]);
    let found = bed.store.search(&team, EPOCH, &query, 9).await?;
    equal(keys(&found), ["words", "both", "meaning", "one word"])?;
    equal(rounded(&found), [1.0, 0.8, 0.6, 0.5])?;
    let found = bed.store.search(&team, EPOCH, &BoardQuery::Either(Vec::new(), vec![2.0, 0.0]), 9).await?;
    equal(keys(&found), ["both", "meaning"])?;
    fails!(bed.store.search(&team, EPOCH, &BoardQuery::Either(Vec::new(), vec![0.0]), 9).await, Error::Invalid { .. });
    Ok(())
}

async fn ties_stand_by_key_where_the_limit_cuts(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for key in ["d", "a", "B", "c", "e", "é", "b"] {
        post(&bed, &team, key, &["river"], Some(&[1.0, 1.0])).await?;
    }
    let order = ["B", "a", "b", "c", "d", "e", "é"];
    for limit in [1, 3, 7, 100] {
        let promised = order.into_iter().take(limit).collect::<Vec<_>>();
        equal(keys(&words(&bed, &team, &["river"], limit).await?), &promised[..])?;
        let found = bed.store.search(&team, EPOCH, &BoardQuery::Vector(vec![1.0, 1.0]), limit).await?;
        equal(keys(&found), promised)?;
    }
    Ok(())
}

async fn expired_entries_take_no_place(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for key in ["a", "b", "c"] {
        let entry = BlackboardEntry {
            terms: terms(&["river", "stone"])?,
            vector: Some(vec![1.0]),
            ..BlackboardEntry::new(key, "v")
        };
        bed.store.put(&team, EPOCH, &entry.with_ttl(Duration::from_secs(10))).await?;
    }
    post(&bed, &team, "d", &["river"], Some(&[0.5])).await?;
    bed.clock.advance(Duration::from_secs(10));
    equal(keys(&words(&bed, &team, &["river", "stone"], 1).await?), ["d"])?;
    let found = bed.store.search(&team, EPOCH, &BoardQuery::Vector(vec![1.0]), 1).await?;
    equal(keys(&found), ["d"])
}

async fn a_replaced_entry_is_found_by_its_new_words_only(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    post(&bed, &team, "plan", &["river"], Some(&[1.0, 0.0])).await?;
    post(&bed, &team, "plan", &["stone"], None).await?;
    equal(words(&bed, &team, &["river"], 9).await?.len(), 0)?;
    equal(bed.store.search(&team, EPOCH, &BoardQuery::Vector(vec![1.0, 0.0]), 9).await?.len(), 0)?;
    equal(keys(&words(&bed, &team, &["stone"], 9).await?), ["plan"])?;
    bed.store.delete(&team, EPOCH, "plan").await?;
    equal(words(&bed, &team, &["stone"], 9).await?.len(), 0)
}

async fn a_hit_is_the_entry_as_it_was_put(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    post(&bed, &team, "plan", &["river"], Some(&[1.0])).await?;
    let found = words(&bed, &team, &["river"], 9).await?;
    let hit = found.first().ok_or("no hit")?;
    equal(hit.entry.value.as_str(), "value of plan")?;
    equal((hit.entry.at, hit.entry.expires_at), (memory_core::Clock::now(&*bed.clock), None))
}
