//! What lasts: across a restart, among tasks at once, and when callers give up halfway.

use memory_core::store::text::{TextQuery, Visibility};
use memory_core::{Epoch, Scope};

use super::build::{Change, entry, find, message, near, put, query};
use super::model::TextModel;
use crate::crowd::{together, until};
use crate::dropped::give_up;
use crate::generate::{self, Random, deletion};
use crate::{Bed, Failure, Needs, Scene, Texts, environment, equal};

scenarios!(TABLE: Texts = [
    versions_put_at_once_leave_the_newest,
    calls_given_up_halfway_happen_fully_or_not_at_all,
]);

scenarios!(DURABLE: Texts, Needs::Durability = [
    opening_again_keeps_entries_deletions_and_erasures,
    a_second_opening_sees_what_the_first_puts,
]);

const TASKS: usize = 16;

async fn versions_put_at_once_leave_the_newest(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let mut revisions: Vec<u64> = (1..=64).collect();
    random.shuffle(&mut revisions);
    together(revisions.chunks(8).map(|part| {
        let (store, ada, part) = (bed.store.clone(), ada.clone(), part.to_vec());
        async move {
            for revision in part {
                put(&store, &ada, &[entry(message(1), &[&format!("v{revision}")])?.at_revision(revision)]).await?;
            }
            Ok(())
        }
    }))
    .await?;
    equal(find(&bed.store, &ada, &["v64"]).await?, [message(1)])?;
    let found = bed.store.search(&ada, &query(&["v63", "v62", "v1"])?).await?;
    equal((found.documents, found.hits.len()), (1, 0))
}

async fn calls_given_up_halfway_happen_fully_or_not_at_all(bed: Bed<Texts>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, TASKS)?;
    together(owners.into_iter().enumerate().map(|(number, owner)| {
        let (store, random) = (bed.store.clone(), Random::new(bed.seed ^ number as u64));
        storm(store, owner, format!("owner{number}"), random)
    }))
    .await
}

/// Puts three items together in ever newer revisions and searches for them, most calls given up; the count of the
/// owner's word is the revision.
async fn storm(store: Texts, owner: Scope, word: String, mut random: Random) -> Scene {
    let query = query(&[&word, "river"])?;
    for call in 1..=environment::storm(2_000) / TASKS {
        if random.chance(1, 5) {
            let mut entries = Vec::new();
            for number in 0..3 {
                let mut entry = entry(message(number), &[&word])?.at_revision(call as u64).tagged(&word);
                entry.own.iter_mut().for_each(|(_, count)| *count = u32::try_from(call).unwrap_or(0));
                entries.push(entry);
            }
            if let Some(answer) = give_up(&mut random, store.put(&owner, &entries, Visibility::OnReturn)).await {
                equal(answer?.len(), 0)?;
            }
        } else if let Some(answer) = give_up(&mut random, store.search(&owner, &query)).await {
            let hits = answer?.hits;
            let own = hits.iter().all(|hit| hit.fields.tags == [word.as_str()] && hit.own.first() == Some(&hit.length));
            check!(own, "the answer to another call: {hits:?}");
        }
        if call % 25 == 0 {
            until(|| whole(&store, &owner, &query)).await?;
        }
    }
    Ok(())
}

/// Passes if the three items are there in one revision, or none of them is.
async fn whole(store: &Texts, owner: &Scope, query: &TextQuery) -> Scene {
    let hits = store.search(owner, query).await?.hits;
    let revision = hits.first().map(|hit| hit.length);
    let is_whole = hits.is_empty() || hits.len() == 3 && hits.iter().all(|hit| Some(hit.length) == revision);
    if is_whole { Ok(()) } else { Err(Failure::new(format!("part of a put: {hits:?}"))) }
}

async fn opening_again_keeps_entries_deletions_and_erasures(bed: Bed<Texts>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let entries = [
        near(entry(message(1), &["river", "river"])?.at_revision(5).tagged("t"), &[("stone", 0.1)])?,
        entry(message(2), &["river"])?,
    ];
    put(&bed.store, &ada, &entries).await?;
    bed.store.put(&ada, &[entry(message(3), &["stone"])?], Visibility::AfterFlush).await?;
    bed.store.flush().await?;
    bed.store.delete(&ada, &deletion(vec![message(2)])).await?;
    put(&bed.store, &bob, &[entry(message(1), &["river"])?]).await?;
    bed.store.erase(&bob, Epoch(3)).await?;
    let bed = bed.restart().await?;
    put(&bed.store, &ada, &[entry(message(1), &["lamp"])?.at_revision(4)]).await?;
    bed.store.put(&bob, &[entry(message(1), &["river"])?.in_epoch(2)], Visibility::OnReturn).await?;
    let [first, _] = entries;
    let model = TextModel::of(&[first, entry(message(3), &["stone"])?]);
    let query = query(&["river", "stone", "lamp"])?;
    model.check(&query, &bed.store.search(&ada, &query).await?)?;
    TextModel::default().check(&query, &bed.store.search(&bob, &query).await?)
}

async fn a_second_opening_sees_what_the_first_puts(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let second = bed.reopen().await?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    equal(find(&second, &ada, &["river"]).await?, [message(1)])?;
    put(&second, &ada, &[entry(message(1), &["stone"])?.at_revision(2)]).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [])?;
    equal(find(&bed.store, &ada, &["stone"]).await?, [message(1)])
}
