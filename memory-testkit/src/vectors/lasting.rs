//! What lasts: across a restart, among tasks at once, and when callers give up halfway.

use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorQuery;
use memory_core::{Epoch, Scope};

use super::build::{Change, entry, find, put, query, toward};
use super::model::VectorModel;
use crate::crowd::{together, until};
use crate::dropped::give_up;
use crate::generate::{self, Random, deletion};
use crate::text::build::message;
use crate::{Bed, Failure, Needs, Scene, Vectors, environment, equal};

scenarios!(TABLE: Vectors = [
    versions_put_at_once_leave_the_newest,
    calls_given_up_halfway_happen_fully_or_not_at_all,
]);

scenarios!(DURABLE: Vectors, Needs::Durability = [
    opening_again_keeps_entries_deletions_and_erasures,
    a_second_opening_sees_what_the_first_puts,
]);

const TASKS: usize = 16;

async fn versions_put_at_once_leave_the_newest(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let mut revisions: Vec<u64> = (1..=64).collect();
    random.shuffle(&mut revisions);
    let of = |revision: u64| entry(message(1), vec![toward(0, revision as f32), toward(4, 0.1)]).at_revision(revision);
    together(revisions.chunks(8).map(|part| {
        let (store, ada, part) = (bed.store.clone(), ada.clone(), part.to_vec());
        async move {
            for revision in part {
                put(&store, &ada, &[of(revision)]).await?;
            }
            Ok(())
        }
    }))
    .await?;
    let query = query(&bed.store, toward(0, 64.0));
    VectorModel::of(&[of(64)]).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn calls_given_up_halfway_happen_fully_or_not_at_all(bed: Bed<Vectors>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, TASKS)?;
    together(owners.into_iter().enumerate().map(|(number, owner)| {
        let (store, random) = (bed.store.clone(), Random::new(bed.seed ^ number as u64));
        storm(store, owner, format!("owner{number}"), random)
    }))
    .await
}

/// Puts three items together in ever newer revisions and searches for them, most calls given up; the time in an
/// item's fields is its revision.
async fn storm(store: Vectors, owner: Scope, tag: String, mut random: Random) -> Scene {
    let query = query(&store, toward(0, 0.0));
    for call in 1..=environment::storm(2_000) / TASKS {
        if random.chance(1, 5) {
            let revision = |number: u64| {
                let pieces = (0..1 + call % 3).map(|piece| toward(piece, 0.5)).collect();
                entry(message(number), pieces).at_revision(call as u64).said_at(call as i64).tagged(&tag)
            };
            let entries = [revision(0), revision(1), revision(2)];
            if let Some(answer) = give_up(&mut random, store.put(&owner, &entries, Visibility::OnReturn)).await {
                equal(answer?.len(), 0)?;
            }
        } else if let Some(answer) = give_up(&mut random, store.search(&owner, &query)).await {
            let hits = answer?;
            let own = hits.iter().all(|hit| hit.fields.tags == [tag.as_str()]);
            check!(own, "the answer to another call: {hits:?}");
        }
        if call % 25 == 0 {
            until(|| whole(&store, &owner, &query)).await?;
        }
    }
    Ok(())
}

/// Passes if the three items are there in one revision, or none of them is.
async fn whole(store: &Vectors, owner: &Scope, query: &VectorQuery) -> Scene {
    let hits = store.search(owner, query).await?;
    let revision = hits.first().map(|hit| hit.fields.at);
    let is_whole = hits.is_empty() || hits.len() == 3 && hits.iter().all(|hit| Some(hit.fields.at) == revision);
    if is_whole { Ok(()) } else { Err(Failure::new(format!("part of a put: {hits:?}"))) }
}

async fn opening_again_keeps_entries_deletions_and_erasures(bed: Bed<Vectors>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let kept = entry(message(1), vec![toward(0, 0.5), toward(4, 0.1)]).at_revision(5).tagged("t");
    let bulk = entry(message(3), vec![toward(2, 0.5)]);
    put(&bed.store, &ada, &[kept.clone(), entry(message(2), vec![toward(0, 0.1)])]).await?;
    bed.store.put(&ada, std::slice::from_ref(&bulk), Visibility::AfterFlush).await?;
    bed.store.flush().await?;
    bed.store.delete(&ada, &deletion(vec![message(2)])).await?;
    put(&bed.store, &bob, &[entry(message(1), vec![toward(0, 0.5)])]).await?;
    bed.store.erase(&bob, Epoch(3)).await?;
    let bed = bed.restart().await?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(6, 0.5)]).at_revision(4)]).await?;
    bed.store.put(&bob, &[entry(message(1), vec![toward(0, 0.5)]).in_epoch(2)], Visibility::OnReturn).await?;
    let mut query = query(&bed.store, toward(0, 0.0));
    query.with_vectors = true;
    VectorModel::of(&[kept, bulk]).check(&query, &bed.store.search(&ada, &query).await?)?;
    VectorModel::default().check(&query, &bed.store.search(&bob, &query).await?)
}

async fn a_second_opening_sees_what_the_first_puts(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let second = bed.reopen().await?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(0, 0.5)])]).await?;
    equal(find(&second, &ada, toward(0, 0.0)).await?, [message(1)])?;
    let newer = entry(message(1), vec![toward(4, 0.5)]).at_revision(2);
    put(&second, &ada, std::slice::from_ref(&newer)).await?;
    let query = query(&bed.store, toward(0, 0.0));
    VectorModel::of(&[newer]).check(&query, &bed.store.search(&ada, &query).await?)
}
