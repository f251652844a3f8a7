//! Owners and sessions: a page of one holds nothing of another, whatever the names.

use memory_core::SessionId;

use super::build::{EVER, batch, ids, queued};
use crate::generate::{self, HOSTILE_NAMES, Random};
use crate::{Bed, Journals, Scene, equal};

scenarios!(TABLE: Journals = [
    a_page_of_one_owner_holds_nothing_of_others,
    a_page_of_one_session_holds_nothing_of_others,
    one_id_of_two_owners_is_two_messages,
]);

async fn a_page_of_one_owner_holds_nothing_of_others(bed: Bed<Journals>) -> Scene {
    let session = SessionId::new("s")?;
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 64)?;
    for part in owners.chunks(bed.setting.capacity) {
        for (number, owner) in (0..).zip(part) {
            bed.store.push(owner, &session, &batch([number])).await?;
        }
        for (number, owner) in (0..).zip(part) {
            let found = bed.store.queued(Some(owner), None, 99).await?;
            equal(ids(&found), [number])?;
            equal(found.into_iter().map(|queued| queued.scope).collect::<Vec<_>>(), std::slice::from_ref(owner))?;
        }
        for owner in part {
            equal(bed.store.erase(owner, None, EVER).await?, 1)?;
        }
        equal(queued(&bed.store).await?.len(), 0)?;
    }
    Ok(())
}

async fn a_page_of_one_session_holds_nothing_of_others(bed: Bed<Journals>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let sessions: Vec<SessionId> = HOSTILE_NAMES.iter().map(|name| SessionId::new(name)).collect::<Result<_, _>>()?;
    for part in sessions.chunks(bed.setting.capacity / 2) {
        for (number, session) in (0..).zip(part) {
            bed.store.push(&ada, session, &batch([number])).await?;
            bed.store.push(&bob, session, &batch([100 + number])).await?;
        }
        for (number, session) in (0..).zip(part) {
            equal(ids(&bed.store.queued(Some(&ada), Some(session), 99).await?), [number])?;
            let found = bed.store.queued(Some(&bob), Some(session), 99).await?;
            equal(found.into_iter().map(|queued| queued.session).collect::<Vec<_>>(), std::slice::from_ref(session))?;
        }
        for owner in [&ada, &bob] {
            equal(bed.store.erase(owner, None, EVER).await?, part.len() as u64)?;
        }
    }
    Ok(())
}

async fn one_id_of_two_owners_is_two_messages(bed: Bed<Journals>) -> Scene {
    let (ada, bob, session) = (bed.scope("ada")?, bed.scope("bob")?, SessionId::new("s")?);
    bed.store.push(&ada, &session, &batch([1])).await?;
    let second = bed.store.push(&bob, &session, &batch([1])).await?;
    bed.store.acknowledge(&[second]).await?;
    let left = queued(&bed.store).await?;
    equal(left.into_iter().map(|queued| queued.scope).collect::<Vec<_>>(), [ada])
}
