//! Owners: nothing of one is found, changed or crowded out by another.

use super::build::{Change, entry, find, put, query, toward};
use super::model::VectorModel;
use crate::crowd::together;
use crate::generate::{self, Cluster, Random, deletion};
use crate::text::build::message;
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    other_owners_change_no_answer,
    one_item_of_two_owners_is_two_items,
    owners_with_hostile_names_stay_apart,
    owners_at_once_find_only_their_own,
]);

async fn other_owners_change_no_answer(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let cluster = Cluster::new(&mut random, 4, bed.store.space().dimension);
    for number in 0..40 {
        put(&bed.store, &ada, &[entry(message(number), vec![cluster.draw(&mut random)])]).await?;
    }
    let sought = cluster.draw(&mut random);
    let mut query = query(&bed.store, sought.clone());
    query.limit = 10;
    let alone = bed.store.search(&ada, &query).await?;
    equal(alone.len(), 10)?;
    for owner in 0..50 {
        let scope = bed.scope(&format!("ada{owner}"))?;
        let entries: Vec<_> = (0..20).map(|number| entry(message(number), vec![sought.clone()]).said_at(9)).collect();
        put(&bed.store, &scope, &entries).await?;
    }
    equal(bed.store.search(&ada, &query).await?, alone)
}

async fn one_item_of_two_owners_is_two_items(bed: Bed<Vectors>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let (of_ada, of_bob) =
        (entry(message(1), vec![toward(0, 0.1)]).at_revision(9), entry(message(1), vec![toward(4, 0.1)]));
    put(&bed.store, &ada, std::slice::from_ref(&of_ada)).await?;
    put(&bed.store, &bob, std::slice::from_ref(&of_bob)).await?;
    let query = query(&bed.store, toward(0, 0.0));
    VectorModel::of(&[of_ada]).check(&query, &bed.store.search(&ada, &query).await?)?;
    VectorModel::of(&[of_bob]).check(&query, &bed.store.search(&bob, &query).await?)?;
    bed.store.delete(&bob, &deletion(vec![message(1)])).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}

async fn owners_with_hostile_names_stay_apart(bed: Bed<Vectors>) -> Scene {
    let mut random = Random::new(bed.seed);
    let owners = generate::owners(&mut random, &bed.tenant, 64)?;
    let mut models = Vec::new();
    for (number, owner) in (0..).zip(&owners) {
        let own = entry(message(1), vec![toward(0, number as f32 / 10.0)]).tagged(&format!("{number}"));
        let entries = [own, entry(message(100 + number), vec![toward(0, 0.1)])];
        put(&bed.store, owner, &entries).await?;
        models.push(VectorModel::of(&entries));
    }
    let query = query(&bed.store, toward(0, 0.0));
    for (owner, model) in owners.iter().zip(&models) {
        model.check(&query, &bed.store.search(owner, &query).await?)?;
    }
    Ok(())
}

async fn owners_at_once_find_only_their_own(bed: Bed<Vectors>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 32)?;
    together(owners.into_iter().enumerate().map(|(number, owner)| {
        let store = bed.store.clone();
        async move {
            let mut model = VectorModel::default();
            let query = query(&store, toward(0, 0.0));
            for step in 0..10 {
                let own =
                    entry(message(step), vec![toward(0, number as f32 + step as f32)]).tagged(&format!("{number}"));
                put(&store, &owner, std::slice::from_ref(&own)).await?;
                model.put(&[own]);
                model.check(&query, &store.search(&owner, &query).await?)?;
            }
            Ok(())
        }
    }))
    .await
}
