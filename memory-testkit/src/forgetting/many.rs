//! More than one page of what falls together.

use memory_core::engine::Forget;
use memory_core::{Filter, ItemId, Record, Role, StoredRecord};

use super::plot::said;
use super::world::{World, left, talk};
use crate::chat::talk::NOON;
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    all_falls_that_was_derived_from_one_message,
    all_falls_that_was_derived_in_one_session,
]);

/// Records derived from one source: more than are read together.
const MANY: usize = 600;
/// Messages of a long session.
const LONG: usize = 700;

fn derived(text: &str, source: ItemId) -> StoredRecord {
    let mut record = Record::new("fact", text, NOON);
    record.first.sources = vec![source];
    StoredRecord { record: record.into(), version: 1, accessed_at: None, access_count: 0 }
}

fn items(rows: &[StoredRecord]) -> Vec<ItemId> {
    rows.iter().map(|row| ItemId::Record(row.record.id)).collect()
}

async fn all_falls_that_was_derived_from_one_message(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.sound.of(&bed.scope("ada")?);
    let messages = vec![said(Role::User, "my pin is 4711"), said(Role::User, "good morning")];
    let ids: Vec<_> = messages.iter().map(|message| message.id).collect();
    ada.session(&talk()?).append(messages).await?;
    let of = |place: usize| ids.get(place).copied().map(ItemId::Message).ok_or("nothing was said");
    let (pin, morning) = (of(0)?, of(1)?);
    let first: Vec<_> = (0..MANY).map(|n| derived(&format!("pin {n}"), pin.clone())).collect();
    let second: Vec<_> = items(&first).into_iter().map(|source| derived("a pin", source)).collect();
    let other = [derived("polite", morning)];
    for rows in [&first[..], &second[..], &other[..]] {
        ada.restore(rows).await?;
    }
    let receipt = ada.forget(&Forget::Messages(ids.iter().take(1).copied().collect())).await?;
    equal((receipt.removed, receipt.derived, receipt.complete), (1 + 2 * MANY as u64, 2 * MANY as u64, true))?;
    let fallen: Vec<_> = [items(&first), items(&second)].concat();
    equal(left(&ada, &fallen).await?, [])?;
    equal(ada.records(&Filter::All, None, 10).await?.len(), 1)
}

async fn all_falls_that_was_derived_in_one_session(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.sound.of(&bed.scope("ada")?);
    let messages: Vec<_> = (0..LONG).map(|n| said(Role::User, &format!("pin {n}"))).collect();
    let rows: Vec<_> = messages.iter().map(|message| derived("a pin", ItemId::Message(message.id))).collect();
    ada.session(&talk()?).append(messages).await?;
    ada.restore(&rows).await?;
    let receipt = ada.forget(&Forget::Session(talk()?)).await?;
    equal((receipt.removed, receipt.derived, receipt.complete), (2 * LONG as u64, LONG as u64, true))?;
    equal(left(&ada, &items(&rows)).await?, [])?;
    equal(ada.records(&Filter::All, None, 10).await?.len(), 0)
}
