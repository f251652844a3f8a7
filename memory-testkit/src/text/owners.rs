//! Owners: nothing of one is found, counted, changed or weighed by another.

use memory_core::rank::{Bm25, bm25f};

use super::build::{Change, entry, find, message, near, put, query};
use super::model::TextModel;
use crate::crowd::together;
use crate::generate::{self, Random, deletion};
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    other_owners_change_no_score,
    one_item_of_two_owners_is_two_items,
    owners_with_hostile_names_stay_apart,
    owners_at_once_find_only_their_own,
]);

async fn other_owners_change_no_score(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let words = ["river", "stone", "lamp"];
    for number in 0..40 {
        let word = random.pick(&words);
        let entry = entry(message(number), &[word, random.pick(&["glass", "winter", "river"])])?;
        put(&bed.store, &ada, &[near(entry, &[(random.pick(&words), 0.5)])?]).await?;
    }
    let query = query(&words)?;
    let alone = bed.store.search(&ada, &query).await?;
    for owner in 0..50 {
        let scope = bed.scope(&format!("ada{owner}"))?;
        let mut entries = Vec::new();
        for number in 0..20 {
            entries.push(entry(message(number), &["river", "river", "stone", "lamp", "lamp", "lamp"])?.said_at(9));
        }
        put(&bed.store, &scope, &entries).await?;
    }
    let among_others = bed.store.search(&ada, &query).await?;
    equal(&among_others, &alone)?;
    let scores = |found| bm25f(&Bm25::default(), found);
    equal(scores(&among_others), scores(&alone))
}

async fn one_item_of_two_owners_is_two_items(bed: Bed<Texts>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    put(&bed.store, &ada, &[entry(message(1), &["river"])?.at_revision(9)]).await?;
    put(&bed.store, &bob, &[entry(message(1), &["stone", "stone"])?]).await?;
    put(&bed.store, &ada, &[entry(message(1), &["lamp"])?.at_revision(10)]).await?;
    equal(find(&bed.store, &ada, &["lamp"]).await?, [message(1)])?;
    equal(find(&bed.store, &ada, &["stone", "river"]).await?, [])?;
    equal(find(&bed.store, &bob, &["stone"]).await?, [message(1)])?;
    bed.store.delete(&bob, &deletion(vec![message(1)])).await?;
    equal(find(&bed.store, &ada, &["lamp"]).await?, [message(1)])
}

async fn owners_with_hostile_names_stay_apart(bed: Bed<Texts>) -> Scene {
    let mut random = Random::new(bed.seed);
    let owners = generate::owners(&mut random, &bed.tenant, 64)?;
    let mut models = Vec::new();
    for (number, owner) in owners.iter().enumerate() {
        let own = entry(message(1), &["river", &format!("owner{number}")])?.tagged(&format!("{number}"));
        let entries = [own, entry(message(100 + number as u64), &["river"])?];
        put(&bed.store, owner, &entries).await?;
        models.push(TextModel::of(&entries));
    }
    for (number, (owner, model)) in owners.iter().zip(&models).enumerate() {
        let query = query(&["river", &format!("owner{number}"), "owner0", "owner1"])?;
        model.check(&query, &bed.store.search(owner, &query).await?)?;
    }
    Ok(())
}

async fn owners_at_once_find_only_their_own(bed: Bed<Texts>) -> Scene {
    let mut random = Random::new(bed.seed);
    let owners = generate::owners(&mut random, &bed.tenant, 32)?;
    together(owners.into_iter().enumerate().map(|(number, owner)| {
        let store = bed.store.clone();
        async move {
            let mut model = TextModel::default();
            let query = query(&["river", "owner"])?;
            for step in 0..10 {
                let mut own = entry(message(step), &["river"])?.tagged(&format!("{number}"));
                own.own
                    .extend(entry(message(0), &["owner"])?.own.into_iter().map(|(term, _)| (term, 1 + number as u32)));
                put(&store, &owner, std::slice::from_ref(&own)).await?;
                model.put(&[own]);
                model.check(&query, &store.search(&owner, &query).await?)?;
            }
            Ok(())
        }
    }))
    .await
}
