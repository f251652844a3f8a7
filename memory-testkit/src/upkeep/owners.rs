//! What the list of owners promises, and what every store says of itself.

use memory_core::Scope;

use super::keeper::{Follower, Keeper};
use crate::chat::talk::MANY;
use crate::check::{Scene, equal};
use crate::generate::{self, Random};
use crate::upkeep::bury;
use crate::{Bed, Chat, Records};

scenarios!(CHAT: Chat, RECORDS: Records = [
    lists_owners_in_the_order_of_their_keys,
    lists_owners_with_a_tombstone_alone,
    lists_no_owner_who_wrote_nothing,
    names_its_backend_and_its_server,
]);

async fn lists_owners_in_the_order_of_their_keys<S: Keeper>(bed: Bed<S>) -> Scene {
    let mut scopes = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 40)?;
    for scope in &scopes {
        bed.store.write(scope, "a").await?;
    }
    scopes.sort_by(|one, other| one.key().cmp(other.key()));
    equal(&bed.store.upkeep().owners(None, MANY).await?, &scopes)?;
    let mut paged: Vec<Scope> = Vec::new();
    loop {
        let page = bed.store.upkeep().owners(paged.last(), 7).await?;
        if page.is_empty() {
            break;
        }
        check!(page.len() <= 7, "a page of {} owners where 7 were asked for", page.len());
        paged.extend(page);
        check!(paged.len() <= scopes.len(), "pages go on for ever");
    }
    equal(&paged, &scopes)?;
    equal(bed.store.upkeep().owners(None, 0).await?, [])
}

async fn lists_owners_with_a_tombstone_alone<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    follower.write(&["a"]).await?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    follower.store.erase(&follower.scope, epoch).await?;
    let bob = bed.scope("bob")?;
    bury(follower.store.upkeep(), &bob).await?;
    equal(follower.store.upkeep().owners(None, 10).await?, [follower.scope, bob])
}

async fn lists_no_owner_who_wrote_nothing<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    follower.write(&["a"]).await?;
    let bob = bed.scope("bob")?;
    check!(!follower.store.holds(&bob, "a").await?, "the other owner has something");
    equal(follower.store.upkeep().epoch(&bob).await?, memory_core::Epoch(0))?;
    equal(follower.store.upkeep().owners(None, 10).await?, [follower.scope])
}

async fn names_its_backend_and_its_server<S: Keeper>(bed: Bed<S>) -> Scene {
    let upkeep = bed.store.upkeep();
    check!(!upkeep.backend().is_empty(), "the backend has no name");
    let health = upkeep.ping().await?;
    check!(!health.server.is_empty() && !health.version.is_empty(), "found {health:?}");
    equal(health.durability, bed.durability)?;
    equal(bed.reopen().await?.upkeep().ping().await?, health)
}
