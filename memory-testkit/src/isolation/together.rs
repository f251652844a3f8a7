//! All stores of a backend at once, and the erasure of one owner among fifty.

use super::cast::{Cast, play};
use super::stores::Stores;
use crate::crowd::together;
use crate::{Bed, Scene};

scenarios!(TABLE: Stores = [
    o2_calls_on_all_stores_stay_with_their_owner,
    erasing_one_of_fifty_owners_everywhere_leaves_the_others_as_they_are,
]);

const FIFTY: usize = 50;

async fn o2_calls_on_all_stores_stay_with_their_owner(bed: Bed<Stores>) -> Scene {
    let stores = bed.store.clone();
    play(&bed, stores).await
}

async fn erasing_one_of_fifty_owners_everywhere_leaves_the_others_as_they_are(bed: Bed<Stores>) -> Scene {
    let mut casts = Cast::of_owners(&bed.store, &bed.tenant, bed.seed, FIFTY)?;
    for cast in &mut casts {
        cast.play(20).await?;
    }
    for erased in [10, 0, 20] {
        if let Some(cast) = casts.get_mut(erased) {
            cast.erase().await?;
        }
        for cast in &mut casts {
            cast.audit().await?;
        }
    }
    together(casts.into_iter().map(|mut cast| async move { cast.play(10).await })).await
}
