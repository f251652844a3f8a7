//! The actor of text stores.

use async_trait::async_trait;
use memory_core::store::text::{Deletion, TextEntry, TextQuery, Visibility};
use memory_core::{Epoch, Field, Filter, ItemId, MessageId, RecordId, Result, SessionId, Unit, Version};

use super::actor::Actor;
use super::owner::Owner;
use crate::generate::{Random, bound};
use crate::text::build::{entry, terms};
use crate::text::model::TextModel;
use crate::{Scene, Texts, equal};

/// Returns an item of a random unit; spans of all owners bear the same names.
pub(super) fn item(random: &mut Random, id: uuid::Uuid) -> Result<ItemId> {
    Ok(match random.below(4) {
        0 => ItemId::Record(RecordId(id)),
        1 => ItemId::Span(SessionId::new("s")?, u32::try_from(random.below(4)).unwrap_or(0)),
        _ => ItemId::Message(MessageId(id)),
    })
}

/// Returns items that may be anybody's.
pub(super) fn any_items(owner: &Owner, random: &mut Random) -> Result<Vec<ItemId>> {
    let mut items = Vec::new();
    for _ in 0..random.below(3) {
        let id = owner.any_id(random);
        items.push(item(random, id)?);
    }
    Ok(items)
}

/// Returns a deletion of nothing, of a session, or of items that may be anybody's.
pub(super) fn deletion(owner: &Owner, random: &mut Random) -> Result<Deletion> {
    if random.chance(1, 8) {
        return Ok(Deletion::Session(SessionId::new(random.pick(&["s", "t", "s%"]))?, bound(random)));
    }
    Ok(Deletion::Items(any_items(owner, random)?.into_iter().map(|item| (item, bound(random))).collect()))
}

/// Returns a filter that hides nothing, some owner's items, or all but them.
pub(super) fn filter(owner: &Owner, random: &mut Random) -> Filter {
    let field = if random.chance(1, 2) { Field::Tag } else { Field::Metadata("owner".to_owned()) };
    match random.below(4) {
        0 => Filter::eq(field, owner.any_mark(random)),
        1 => Filter::eq(field, owner.any_mark(random)).negate(),
        _ => Filter::All,
    }
}

pub(super) struct TextActor {
    store: Texts,
    owner: Owner,
    model: TextModel,
    epoch: Epoch,
}

impl TextActor {
    pub(super) fn new(store: Texts, owner: Owner) -> Self {
        Self { store, owner, model: TextModel::default(), epoch: Epoch(0) }
    }

    async fn put(&mut self, random: &mut Random) -> Scene {
        let mut entries = Vec::new();
        for _ in 0..1 + random.below(2) {
            let id = self.owner.id(random);
            let item = item(random, id)?;
            let words = [self.owner.mark.as_str(), random.pick(&["river", "stone", "OR"])];
            let mut fields = self.owner.fields(item.unit());
            fields.session = Some(SessionId::new("s")?);
            let late = u64::from(random.chance(1, 10));
            let version = Version { epoch: Epoch(self.epoch.0.saturating_sub(late)), revision: random.below(4) as u64 };
            entries.push(TextEntry { version, fields, ..entry(item, &words)? });
        }
        self.store.put(&self.owner.scope, &entries, Visibility::OnReturn).await?;
        self.model.put(&entries);
        Ok(())
    }

    async fn search(&mut self, random: &mut Random) -> Scene {
        let unit = match random.below(4) {
            0 => Unit::Record,
            1 => Unit::Span,
            _ => Unit::Message,
        };
        let mark = self.owner.any_mark(random);
        let (filter, limit) = (filter(&self.owner, random), 1 + random.below(12));
        self.ask(&TextQuery { terms: terms(&[&mark, "river"])?, unit, filter, limit }).await
    }

    async fn ask(&mut self, query: &TextQuery) -> Scene {
        let found = self.store.search(&self.owner.scope, query).await?;
        found.hits.iter().try_for_each(|hit| self.owner.owns(&hit.fields))?;
        self.model.check(query, &found)
    }
}

#[async_trait]
impl Actor for TextActor {
    async fn step(&mut self, random: &mut Random) -> Scene {
        match random.below(100) {
            0..=34 => self.put(random).await,
            35..=84 => self.search(random).await,
            85..=90 => {
                let items = any_items(&self.owner, random)?;
                let mut found = self.store.versions(&self.owner.scope, &items).await?;
                found.sort();
                found.dedup();
                equal(found, self.model.versions(&items))
            }
            91..=98 => {
                let what = deletion(&self.owner, random)?;
                self.store.delete(&self.owner.scope, &what).await?;
                self.model.delete(&what);
                Ok(())
            }
            _ => self.erase().await,
        }
    }

    async fn audit(&mut self) -> Scene {
        for unit in [Unit::Message, Unit::Record, Unit::Span] {
            let terms = terms(&[&self.owner.mark, "river", "stone", "OR"])?;
            self.ask(&TextQuery { terms, unit, filter: Filter::All, limit: 1_000 }).await?;
        }
        Ok(())
    }

    async fn erase(&mut self) -> Scene {
        self.epoch.0 += 1;
        let erased = self.store.erase(&self.owner.scope, self.epoch).await?;
        equal(erased.remaining, 0)?;
        self.model.erase(self.epoch);
        Ok(())
    }
}
