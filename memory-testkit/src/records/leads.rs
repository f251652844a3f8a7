//! What scans by session and by source promise. A forget uses them to find the records that are derived from its
//! target.

use memory_core::record::{Record, Telling};
use memory_core::{Field, Filter, ItemId, MessageId, RecordId, Scalar, SessionId, StoredRecord};

use super::shelf::{Shelf, fact, ids, later, reworded, tell};
use crate::check::{Scene, equal};
use crate::generate::Random;
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    follows_sources_and_sessions_as_they_are_now,
    pages_through_what_has_one_of_many_sources,
]);

/// A session and a message.
#[derive(Clone)]
struct Origin {
    session: SessionId,
    message: ItemId,
}

impl Origin {
    fn new(random: &mut Random, number: usize) -> memory_core::Result<Self> {
        let session = SessionId::new(&format!("talk {number}"))?;
        Ok(Self { session, message: ItemId::Message(MessageId(random.id())) })
    }

    /// Returns the record as told in this session from this message.
    fn of(&self, record: Record) -> Record {
        tell(record, |telling| self.tell(telling))
    }

    fn tell(&self, telling: &mut Telling) {
        telling.session = Some(self.session.clone());
        telling.sources = vec![self.message.clone()];
    }

    /// Checks which records are found by the session, and by the message, each alone and among others.
    async fn leads_to(&self, shelf: &Shelf, promised: &[RecordId]) -> Scene {
        let mut promised = promised.to_vec();
        promised.sort();
        for (field, value) in [(Field::Session, self.session.name().to_owned()), (Field::Source, self.message.key())] {
            let value = Scalar::Text(value);
            let among = vec![Scalar::from("no such thing"), value.clone(), Scalar::Int(7), value.clone()];
            for filter in [
                Filter::Eq(field.clone(), value.clone()),
                Filter::In(field.clone(), vec![value.clone()]),
                Filter::In(field.clone(), among),
                Filter::And(vec![Filter::Eq(field.clone(), value.clone()), Filter::Exists(Field::Kind)]),
            ] {
                let found = shelf.records.store().scan(&shelf.scope, &filter, None, 100).await?;
                equal(ids(&found), promised.clone())?;
            }
        }
        Ok(())
    }
}

async fn follows_sources_and_sessions_as_they_are_now(bed: Bed<Records>) -> Scene {
    let (shelf, other, mut random) = (Shelf::plain(&bed)?, Shelf::new(&bed, "bob")?, Random::new(bed.seed));
    let [first, second, third] = [1, 2, 3].map(|number| Origin::new(&mut random, number));
    let (first, second, third) = (first?, second?, third?);
    let (moving, still) = (fact("what moves"), first.of(fact("what stays")));
    let (id, stays) = (moving.id, still.id);
    shelf.put(&[&first.of(moving.clone()), &still]).await?;
    other.put(&[&first.of(fact("another owner's"))]).await?;
    first.leads_to(&shelf, &[id, stays]).await?;
    // A later put has another session and another source.
    shelf.put(&[&second.of(reworded(&moving, "what moved"))]).await?;
    first.leads_to(&shelf, &[stays]).await?;
    second.leads_to(&shelf, &[id]).await?;
    // Or further ones.
    let mut told = second.of(reworded(&moving, "what moved on"));
    let mut again = told.first.clone();
    third.tell(&mut again);
    told.again = vec![Telling { at: later(1), ..again }];
    shelf.put(&[&told]).await?;
    second.leads_to(&shelf, &[id]).await?;
    third.leads_to(&shelf, &[id]).await?;
    shelf.touch(&[id, stays], later(2)).await?;
    third.leads_to(&shelf, &[id]).await?;
    // Nothing leads to what is deleted.
    equal(shelf.delete(&[id]).await?, 1)?;
    for origin in [&second, &third] {
        origin.leads_to(&shelf, &[]).await?;
    }
    shelf.put(&[&first.of(reworded(&moving, "what came back"))]).await?;
    first.leads_to(&shelf, &[id, stays]).await?;
    second.leads_to(&shelf, &[]).await?;
    let rows = shelf.get(&[id]).await?;
    let newer = rows.iter().map(|row| StoredRecord {
        record: third.of(reworded(&moving, "what was restored")).into(),
        version: row.version + 7,
        ..row.clone()
    });
    shelf.restore(&newer.collect::<Vec<_>>()).await?;
    first.leads_to(&shelf, &[stays]).await?;
    third.leads_to(&shelf, &[id]).await
}

async fn pages_through_what_has_one_of_many_sources(bed: Bed<Records>) -> Scene {
    let (shelf, mut random) = (Shelf::plain(&bed)?, Random::new(bed.seed));
    let sources: Vec<_> = (0..20).map(|_| ItemId::Message(MessageId(random.id()))).collect();
    let session = SessionId::new("talk")?;
    let records: Vec<_> = (0..37)
        .map(|number: usize| {
            let record = tell(fact(&format!("fact {number}")), |telling| {
                // Two of those sought, and one that is not.
                telling.sources = [number, number + 1, 19]
                    .map(|place| sources.get(place % 20).cloned())
                    .into_iter()
                    .flatten()
                    .collect();
                telling.session = Some(session.clone());
            });
            Record { id: RecordId(random.id()), ..record }
        })
        .collect();
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let mut promised: Vec<_> = records.iter().map(|record| record.id).collect();
    promised.sort();
    let sought = sources.iter().take(19).map(|source| Scalar::Text(source.key())).collect();
    for filter in [Filter::In(Field::Source, sought), Filter::eq(Field::Session, session.name())] {
        for size in [1, 2, 5, 36, 37, 38] {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = shelf.records.store().scan(&shelf.scope, &filter, after, size).await?;
                found.extend(ids(&page));
                after = found.last().copied();
                if page.len() < size {
                    break;
                }
            }
            equal(&found, &promised)?;
        }
    }
    Ok(())
}
