//! The scenarios of each kind of store alone.

use super::cast::play;
use super::stores::Stores;
use crate::{Bed, Scene};

scenarios!(MESSAGES: Stores = [messages_stay_with_their_owner]);
scenarios!(RECORDS: Stores = [records_stay_with_their_owner]);
scenarios!(TEXTS: Stores = [texts_stay_with_their_owner]);
scenarios!(VECTORS: Stores = [vectors_stay_with_their_owner]);
scenarios!(CACHES: Stores = [cached_values_stay_with_their_owner]);
scenarios!(BOARDS: Stores = [boards_stay_with_their_owner]);
scenarios!(JOURNALS: Stores = [queued_messages_stay_with_their_owner]);

async fn messages_stay_with_their_owner(bed: Bed<Stores>) -> Scene {
    let stores = Stores { chat: bed.store.chat.clone(), ..Stores::default() };
    play(&bed, stores).await
}

async fn records_stay_with_their_owner(bed: Bed<Stores>) -> Scene {
    let stores = Stores { records: bed.store.records.clone(), ..Stores::default() };
    play(&bed, stores).await
}

async fn texts_stay_with_their_owner(bed: Bed<Stores>) -> Scene {
    let stores = Stores { text: bed.store.text.clone(), ..Stores::default() };
    play(&bed, stores).await
}

async fn vectors_stay_with_their_owner(bed: Bed<Stores>) -> Scene {
    let stores = Stores { vectors: bed.store.vectors.clone(), ..Stores::default() };
    play(&bed, stores).await
}

async fn cached_values_stay_with_their_owner(bed: Bed<Stores>) -> Scene {
    let stores = Stores { cache: bed.store.cache.clone(), ..Stores::default() };
    play(&bed, stores).await
}

async fn boards_stay_with_their_owner(bed: Bed<Stores>) -> Scene {
    let stores = Stores { blackboard: bed.store.blackboard.clone(), ..Stores::default() };
    play(&bed, stores).await
}

async fn queued_messages_stay_with_their_owner(bed: Bed<Stores>) -> Scene {
    let stores = Stores { journal: bed.store.journal.clone(), ..Stores::default() };
    play(&bed, stores).await
}
