//! What is moved to servers is indexed there as it was before, item by item: words on one server, meanings on another.

use memory::store::text::Deletion;
use memory::transfer::Move;
use memory::{Forget, ItemId, Memory, Message, Remember, Result, Role, Scope, SessionId, Settings, Stores};
use memory_testkit::services::Servers;
use memory_testkit::{Scene, check, equal};

use crate::erasure::settled;
use crate::places::{Places, embedder};

/// How many items are read in one page.
const PAGE: usize = 64;

/// Says and notes what an owner has: more than a page, some of it forgotten and some of it superseded.
async fn tell(memory: &Memory, owner: &Scope) -> Result<()> {
    let ada = memory.of(owner);
    let session = ada.session(&SessionId::new("talk")?);
    let say = |number| Message::new(Role::User, format!("parcel {number} is a red kite"), memory.now());
    let said: Vec<Message> = (0..150).map(say).collect();
    let forgotten = said.iter().step_by(40).map(|message| message.id).collect();
    session.append(said).await?;
    let mut last = None;
    for number in 0..20 {
        last = Some(ada.remember(Remember::fact(format!("kite {number} flies"))).await?.id);
    }
    if let Some(last) = last {
        ada.supersede(last, Remember::fact("the last kite fell")).await?;
    }
    ada.forget(&Forget::Messages(forgotten)).await?;
    Ok(())
}

/// Returns which items the indexes of words and of meaning hold of an owner. Their versions are those of the truth that they follow.
async fn items(stores: &Stores, owner: &Scope) -> Result<[Vec<ItemId>; 2]> {
    let (mut words, mut meanings) = (Vec::new(), Vec::new());
    while let Some(text) = &stores.text {
        let page = text.scan(owner, words.last(), PAGE).await?;
        if page.is_empty() {
            break;
        }
        words.extend(page.into_iter().map(|(item, _)| item));
    }
    while let Some((vectors, _)) = stores.vectors.first() {
        let page = vectors.scan(owner, meanings.last(), PAGE).await?;
        if page.is_empty() {
            break;
        }
        meanings.extend(page.into_iter().map(|(item, _)| item));
    }
    // Each store scans in an order of its own.
    words.sort();
    meanings.sort();
    Ok([words, meanings])
}

pub(crate) async fn indexed_alike(servers: Servers) -> Scene {
    let source = Settings::new("memory:").with_embedder(embedder()).connect().await?;
    let target = Places::shared(&servers)?.open().await?;
    let owners: Vec<Scope> = ["ada", "bob"].map(|name| Scope::new("moved", name)).into_iter().collect::<Result<_>>()?;
    let memory = memory::over(source.clone()).build().await?;
    for owner in &owners {
        tell(&memory, owner).await?;
    }
    settled(&memory).await?;
    let mut moving = Move::new(&source, target.clone());
    for owner in &owners {
        let moved = moving.owner(owner).await?;
        check!(moved.problems.is_empty(), "{:?}", moved.problems);
    }
    settled(&memory::over(target.clone()).build().await?).await?;
    for owner in &owners {
        let before = items(&source, owner).await?;
        check!(before.iter().all(|index| index.len() > 160), "too little to compare: {before:?}");
        equal(items(&target, owner).await?, before)?;
    }
    // An item that is missing would show.
    let (Some(owner), Some(text)) = (owners.first(), &target.text) else { return Ok(()) };
    let one = text.scan(owner, None, 1).await?;
    text.delete(owner, &Deletion::Items(one)).await?;
    text.flush().await?;
    check!(items(&target, owner).await? != items(&source, owner).await?, "a missing item does not show");
    Ok(())
}
