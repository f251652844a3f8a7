//! What indexes promise for `scan`, which lists the items of an owner. Upkeep compares this list with truth.

use async_trait::async_trait;
use memory_core::store::text::{Deletion, TextStore, Visibility};
use memory_core::store::vectors::VectorStore;
use memory_core::{Epoch, ItemId, Result, Scope, Version};

use crate::bed::Subject;
use crate::check::{Scene, equal};
use crate::generate::{HOSTILE_NAMES, Random, deletion, session_deletion};
use crate::text::build::{self as text, message, record, revision, span};
use crate::vectors::build as vectors;
use crate::{Bed, Texts, Vectors};

scenarios!(TEXT: Texts, VECTORS: Vectors = [
    a_scan_lists_each_item_once_with_its_version,
    a_scan_goes_on_behind_the_item_named_stored_or_not,
    a_scan_lists_nothing_that_was_deleted_or_erased,
    a_scan_lists_nothing_of_other_owners,
    a_scan_finds_all_that_stays_while_others_come_and_go,
    a_scan_of_any_limit_lists_all_items_once,
]);

/// A store that lists what it holds of an owner.
#[async_trait]
trait Lists: Subject {
    /// Puts items of several words or pieces each, findable on return.
    async fn keep(&self, scope: &Scope, items: &[(ItemId, Version)]) -> Scene;

    async fn page(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>>;

    async fn drop_items(&self, scope: &Scope, what: &Deletion) -> Result<()>;

    async fn erase_all(&self, scope: &Scope, below: Epoch) -> Result<()>;
}

#[async_trait]
impl Lists for Texts {
    async fn keep(&self, scope: &Scope, items: &[(ItemId, Version)]) -> Scene {
        let mut entries = Vec::with_capacity(items.len());
        for (item, version) in items {
            let mut entry = text::entry(item.clone(), &["river", "stone", "lamp"])?;
            (entry.version, entry.fields.session) = (*version, session_of(item)?);
            entries.push(entry);
        }
        equal(self.put(scope, &entries, Visibility::OnReturn).await?.len(), 0)
    }

    async fn page(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        self.scan(scope, after, limit).await
    }

    async fn drop_items(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        TextStore::delete(self.as_ref(), scope, what).await
    }

    async fn erase_all(&self, scope: &Scope, below: Epoch) -> Result<()> {
        self.erase(scope, below).await.map(|_| ())
    }
}

#[async_trait]
impl Lists for Vectors {
    async fn keep(&self, scope: &Scope, items: &[(ItemId, Version)]) -> Scene {
        let mut entries = Vec::with_capacity(items.len());
        for (item, version) in items {
            let pieces = (1..=3).map(|piece| vec![piece as f32; self.space().dimension]).collect();
            let mut entry = vectors::entry(item.clone(), pieces);
            (entry.version, entry.fields.session) = (*version, session_of(item)?);
            entries.push(entry);
        }
        equal(self.put(scope, &entries, Visibility::OnReturn).await?.len(), 0)
    }

    async fn page(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        self.scan(scope, after, limit).await
    }

    async fn drop_items(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        VectorStore::delete(self.as_ref(), scope, what).await
    }

    async fn erase_all(&self, scope: &Scope, below: Epoch) -> Result<()> {
        self.erase(scope, below).await.map(|_| ())
    }
}

/// Messages stand in the session of their number, and spans in that of their name.
fn session_of(item: &ItemId) -> Result<Option<memory_core::SessionId>> {
    Ok(match item {
        ItemId::Message(_) => Some(memory_core::SessionId::new("s")?),
        ItemId::Span(session, _) => Some(session.clone()),
        ItemId::Record(_) => None,
    })
}

/// Returns every unit, with names of sessions that are hard to order.
fn items() -> Result<Vec<(ItemId, Version)>> {
    let mut items: Vec<ItemId> = (1..=20).flat_map(|number| [message(number), record(number)]).collect();
    for name in HOSTILE_NAMES {
        items.extend([span(name, 0)?, span(name, 10)?, span(name, 9)?]);
    }
    let versions = (0..).map(|number| Version { epoch: Epoch(number % 3), revision: number });
    Ok(items.into_iter().zip(versions).collect())
}

/// Reads all pages of `size`; each but the last is full.
async fn all(store: &impl Lists, scope: &Scope, size: usize) -> Result<Vec<(ItemId, Version)>, crate::Failure> {
    let mut listed: Vec<(ItemId, Version)> = Vec::new();
    loop {
        let page = store.page(scope, listed.last().map(|(item, _)| item), size).await?;
        check!(page.len() <= size, "a page of {} where {size} were asked for", page.len());
        check!(listed.len() < 100_000, "pages go on for ever");
        let is_last = page.len() < size;
        listed.extend(page);
        if is_last {
            return Ok(listed);
        }
    }
}

/// Passes if the owner's items are `promised`, each once, whatever the size of pages.
async fn lists(store: &impl Lists, scope: &Scope, mut promised: Vec<(ItemId, Version)>) -> Scene {
    promised.sort();
    for size in [1_000, 7, 1] {
        let mut listed = all(store, scope, size).await?;
        listed.sort();
        equal(&listed, &promised)?;
    }
    equal(store.page(scope, None, 0).await?, [])
}

async fn a_scan_lists_each_item_once_with_its_version<S: Lists>(bed: Bed<S>) -> Scene {
    let (ada, mut items) = (bed.scope("ada")?, items()?);
    lists(&bed.store, &ada, Vec::new()).await?;
    bed.store.keep(&ada, &items).await?;
    lists(&bed.store, &ada, items.clone()).await?;
    // Put again, some newer and some older: the newest version counts.
    for (place, (_, version)) in items.iter_mut().enumerate() {
        version.revision += u64::from(place % 2 == 0);
    }
    bed.store.keep(&ada, &items).await?;
    let older: Vec<_> =
        items.iter().map(|(item, _)| (item.clone(), Version { epoch: Epoch(0), revision: 0 })).collect();
    let newer = older.into_iter().zip(&items).filter(|((_, old), (_, new))| old < new).map(|(old, _)| old);
    bed.store.keep(&ada, &newer.collect::<Vec<_>>()).await?;
    lists(&bed.store, &ada, items).await
}

async fn a_scan_goes_on_behind_the_item_named_stored_or_not<S: Lists>(bed: Bed<S>) -> Scene {
    let (ada, items) = (bed.scope("ada")?, items()?);
    bed.store.keep(&ada, &items).await?;
    let order = all(&bed.store, &ada, 1_000).await?;
    // The items named are deleted meanwhile, as what was compared may be.
    for (place, (item, _)) in order.iter().enumerate().filter(|(place, _)| place % 3 == 0) {
        bed.store.drop_items(&ada, &deletion([item.clone()])).await?;
        let page = bed.store.page(&ada, Some(item), 2).await?;
        let promised: Vec<_> = order.iter().skip(place + 1).take(2).cloned().collect();
        equal(page, promised)?;
    }
    Ok(())
}

async fn a_scan_lists_nothing_that_was_deleted_or_erased<S: Lists>(bed: Bed<S>) -> Scene {
    let (ada, mut items) = (bed.scope("ada")?, items()?);
    bed.store.keep(&ada, &items).await?;
    bed.store.drop_items(&ada, &deletion([message(3), record(4), span("a", 9)?])).await?;
    bed.store.drop_items(&ada, &session_deletion("%")?).await?;
    let gone = [message(3), record(4), span("a", 9)?, span("%", 0)?, span("%", 9)?, span("%", 10)?];
    items.retain(|(item, _)| !gone.contains(item));
    lists(&bed.store, &ada, items.clone()).await?;
    bed.store.erase_all(&ada, Epoch(2)).await?;
    items.retain(|(_, version)| version.epoch >= Epoch(2));
    lists(&bed.store, &ada, items.clone()).await?;
    // What comes from before the erasure stays out, and what is put since is listed.
    let since = (message(50), Version { epoch: Epoch(2), revision: 1 });
    bed.store.keep(&ada, &[since.clone(), (message(51), Version { epoch: Epoch(1), revision: 9 })]).await?;
    lists(&bed.store, &ada, [items, vec![since]].concat()).await
}

async fn a_scan_lists_nothing_of_other_owners<S: Lists>(bed: Bed<S>) -> Scene {
    let owners = crate::generate::owners(&mut Random::new(bed.seed), &bed.tenant, 12)?;
    let at = |revision| Version { epoch: Epoch(0), revision };
    let items_of = |owner: u64| vec![(message(1), at(owner)), (message(owner + 2), at(1)), (record(owner), at(2))];
    for (number, owner) in (0..).zip(&owners) {
        bed.store.keep(owner, &items_of(number)).await?;
    }
    for (number, owner) in (0..).zip(&owners) {
        lists(&bed.store, owner, items_of(number)).await?;
    }
    lists(&bed.store, &bed.scope("nobody")?, Vec::new()).await
}

async fn a_scan_finds_all_that_stays_while_others_come_and_go<S: Lists>(bed: Bed<S>) -> Scene {
    let (ada, items) = (bed.scope("ada")?, items()?);
    bed.store.keep(&ada, &items).await?;
    let (mut random, mut listed) = (Random::new(bed.seed), Vec::<(ItemId, Version)>::new());
    let stays = |item: &ItemId| matches!(item, ItemId::Message(_));
    loop {
        let page = bed.store.page(&ada, listed.last().map(|(item, _)| item), 5).await?;
        if page.is_empty() {
            break;
        }
        listed.extend(page);
        check!(listed.len() < 10_000, "pages go on for ever");
        let come = record(100 + random.below(40) as u64);
        bed.store.keep(&ada, &[(come, Version { epoch: Epoch(0), revision: 1 })]).await?;
        let gone = items.get(random.below(items.len())).filter(|(item, _)| !stays(item));
        bed.store.drop_items(&ada, &deletion(gone.map(|(item, _)| item.clone()))).await?;
    }
    let messages = |items: Vec<(ItemId, Version)>| -> Vec<(ItemId, Version)> {
        let mut messages: Vec<_> = items.into_iter().filter(|(item, _)| stays(item)).collect();
        messages.sort();
        messages
    };
    equal(messages(listed), messages(items))
}

async fn a_scan_of_any_limit_lists_all_items_once<S: Lists>(bed: Bed<S>) -> Scene {
    let ada = bed.scope("ada")?;
    let items: Vec<_> = (0..1_100).map(|number| (message(number), revision(1))).collect();
    for part in items.chunks(275) {
        bed.store.keep(&ada, part).await?;
    }
    for limit in [usize::MAX, usize::MAX - 1, 1 << 40, 1 << 31, 100_000, 1_100] {
        let listed = bed.store.page(&ada, None, limit).await?;
        let mut found = listed.clone();
        found.sort();
        check!(found == items, "{limit} lists {} items", listed.len());
        let behind = listed.get(49).map(|(item, _)| item);
        let rest = listed.get(50..).unwrap_or_default();
        equal(bed.store.page(&ada, behind, limit).await?, rest)?;
    }
    Ok(())
}
