//! What record stores promise for content: whatever they are given comes back byte for byte.

use memory_core::record::{Record, Superseded, Telling};
use memory_core::{ItemId, MessageId, RecordId, SessionId, Timestamp, Trust};
use uuid::Uuid;

use super::shelf::{Shelf, fact, tell, texts};
use crate::check::{Scene, equal};
use crate::generate::{self, HOSTILE_NAMES, Random};
use crate::{Bed, Records, odd};

scenarios!(TABLE: Records = [
    s1_10_keeps_every_record_byte_for_byte,
    knows_odd_records_again,
    restores_odd_records_byte_for_byte,
    keeps_every_name_of_an_owner,
    keeps_every_id,
]);

/// Returns records that hold between them every field and every odd text and value.
fn odd_records() -> Vec<Record> {
    let mut records: Vec<_> = odd::texts().iter().map(|text| fact(text)).collect();
    records.extend(HOSTILE_NAMES.iter().map(|name| Record::new(*name, *name, Timestamp(0))));
    for at in [i64::MIN, -210_866_803_200_000_000, -1, 0, 4_102_444_800_000_000, i64::MAX].map(Timestamp) {
        let superseded = Some(Superseded { by: RecordId::fresh(), at });
        let record = tell(Record::new("fact", "when", at), |telling| {
            [telling.valid_from, telling.valid_to, telling.expires_at] = [Some(at); 3];
        });
        records.push(Record { superseded, ..record });
    }
    for importance in [0.0, -0.0, 0.1, 0.333_333_34, 1.0, f32::MIN_POSITIVE, 1e-45] {
        records.push(tell(fact("important"), |telling| telling.importance = Some(importance)));
    }
    for trust in [Trust::Untrusted, Trust::Tool, Trust::Assistant, Trust::User, Trust::System] {
        let record = tell(fact("trusted"), |telling| (telling.trust, telling.pinned) = (trust, true));
        records.push(Record { hold: true, ..record });
    }
    let everything = tell(fact("everything"), |telling| {
        telling.tags = HOSTILE_NAMES.iter().map(|name| (*name).to_owned()).collect();
        telling.tags.extend(["".to_owned(), "red".to_owned()]);
        telling.session = SessionId::new("a.b:c\0").ok();
        (telling.origin, telling.run) = (Some("import:\n'chat'".to_owned()), Some("\0".to_owned()));
        telling.sources = vec![ItemId::Message(MessageId::fresh()), ItemId::Record(RecordId(Uuid::nil()))];
        telling.metadata = odd::metadata();
    });
    let again =
        vec![everything.first.clone(), Telling::new(Timestamp(i64::MIN), Trust::Untrusted), everything.first.clone()];
    records.push(Record { again, agent: Some("a'b".to_owned()), ..everything });
    records
}

/// Checks that the stored record is this one, to the byte.
async fn same(shelf: &Shelf, record: &Record) -> Scene {
    let found = shelf.get(&[record.id]).await?;
    let stored = found.first().map(|row| row.record.encode());
    let start: String = record.text.chars().take(40).collect();
    check!(stored == Some(record.encode()), "the record that begins {start:?} came back as another");
    Ok(())
}

async fn s1_10_keeps_every_record_byte_for_byte(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records = odd_records();
    for record in &records {
        shelf.put(&[record]).await?;
        same(&shelf, record).await?;
    }
    let mut promised: Vec<_> = records.iter().map(|record| (record.id, record.encode())).collect();
    promised.sort();
    let scanned: Vec<_> = shelf.all().await?.iter().map(|row| (row.record.id, row.record.encode())).collect();
    check!(scanned == promised, "a scan shows other records than were put");
    Ok(())
}

async fn knows_odd_records_again(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records = odd_records();
    let batch: Vec<_> = records.iter().collect();
    equal(shelf.put(&batch).await?, vec![1; records.len()])?;
    equal(shelf.put(&batch).await?, vec![1; records.len()])
}

async fn restores_odd_records_byte_for_byte(bed: Bed<Records>) -> Scene {
    let (ada, bob) = (Shelf::plain(&bed)?, Shelf::new(&bed, "bob")?);
    let records = odd_records();
    ada.put(&records.iter().collect::<Vec<_>>()).await?;
    bob.restore(&ada.all().await?).await?;
    for record in &records {
        same(&bob, record).await?;
    }
    Ok(())
}

async fn keeps_every_name_of_an_owner(bed: Bed<Records>) -> Scene {
    let plain = Shelf::plain(&bed)?;
    let scopes = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 60)?;
    let shelves: Vec<_> = scopes.into_iter().map(|scope| Shelf { scope, ..plain.clone() }).collect();
    // One id for all of them: it is unique within an owner only.
    let id = RecordId::fresh();
    for shelf in &shelves {
        shelf.put(&[&Record { id, ..fact(shelf.scope.key()) }]).await?;
    }
    for shelf in &shelves {
        equal(texts(&shelf.all().await?), [shelf.scope.key()])?;
        equal(texts(&shelf.get(&[id]).await?), [shelf.scope.key()])?;
    }
    Ok(())
}

async fn keeps_every_id(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let ids = [Uuid::nil(), Uuid::max(), Uuid::from_u128(1), Uuid::from_u128(u128::MAX >> 1), Uuid::now_v7()];
    for id in ids {
        shelf.put(&[&Record { id: RecordId(id), ..fact(&id.to_string()) }]).await?;
    }
    let rows = shelf.get(&ids.map(RecordId)).await?;
    equal(texts(&rows), ids.map(|id| id.to_string()))
}
