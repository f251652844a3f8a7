//! What filters see of a record that was told several times, and what is left when a telling is taken back.

use memory_core::record::{Record, Telling};
use memory_core::{Field, Filter, ItemId, MessageId, Result, Scalar, SessionId, Trust};

use super::shelf::{Shelf, fact, later, tell, texts};
use crate::chat::talk::MANY;
use crate::check::{Scene, equal};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    filters_see_the_fold_of_all_tellings,
    what_a_telling_added_is_found_no_more_when_it_is_taken_back,
]);

fn source(number: u8) -> ItemId {
    ItemId::Message(MessageId::of_content(&[number]))
}

/// Returns a telling by this trust that says its number in every list.
fn telling(number: u8, trust: Trust) -> Result<Telling> {
    let name = number.to_string();
    let mut telling = Telling::new(later(i64::from(number)), trust);
    telling.session = Some(SessionId::new(&format!("session{number}"))?);
    telling.run = Some(format!("run{number}"));
    telling.sources = vec![source(number)];
    telling.tags = vec![format!("tag{number}")];
    telling.metadata.insert("last".to_owned(), number.into());
    telling.metadata.insert(name, true.into());
    Ok(telling)
}

/// Returns a record that an untrusted telling, two of a person, and another untrusted one made.
fn told() -> Result<Record> {
    let first = telling(1, Trust::Untrusted)?;
    let record = tell(fact("told often"), |telling| *telling = first);
    let record = record.told(telling(2, Trust::User)?).told(telling(3, Trust::User)?);
    Ok(record.told(telling(4, Trust::Untrusted)?))
}

/// Checks which of the numbers 1 to 4 find the record, by each kind of list.
async fn shows(shelf: &Shelf, contributing: &[u8], any: &[u8], last: u8) -> Scene {
    for number in 1..=4u8 {
        let name = |what: &str| Scalar::from(format!("{what}{number}"));
        let contributes = contributing.contains(&number);
        for (field, value, promised) in [
            (Field::Session, name("session"), any.contains(&number)),
            (Field::Source, Scalar::from(source(number).key()), any.contains(&number)),
            (Field::Run, name("run"), contributes),
            (Field::Tag, name("tag"), contributes),
            (Field::Metadata(number.to_string()), Scalar::Bool(true), contributes),
            (Field::Metadata("last".to_owned()), Scalar::Int(i64::from(number)), number == last),
        ] {
            let filter = Filter::Eq(field, value);
            let found = shelf.records.store().scan(&shelf.scope, &filter, None, MANY).await?;
            let none = shelf.records.store().scan(&shelf.scope, &filter.clone().negate(), None, MANY).await?;
            check!(
                texts(&found).len() == usize::from(promised) && none.len() == usize::from(!promised),
                "{filter}: found {}, promised {promised}",
                found.len()
            );
        }
    }
    Ok(())
}

async fn filters_see_the_fold_of_all_tellings(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = told()?;
    shelf.put(&[&record]).await?;
    shows(&shelf, &[2, 3], &[1, 2, 3, 4], 3).await?;
    let trusted = Filter::range(Field::Trust, Some(Scalar::Int(Trust::User as i64)), None);
    equal(shelf.records.store().scan(&shelf.scope, &trusted, None, MANY).await?.len(), 1)?;
    let stored = shelf.get(&[record.id]).await?;
    equal(stored.first().map(|row| row.record.tellings().count()), Some(4))
}

async fn what_a_telling_added_is_found_no_more_when_it_is_taken_back(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let mut record = told()?;
    shelf.put(&[&record]).await?;
    for (taken_back, contributing, any, last) in
        [(3, &[2u8][..], &[1u8, 2, 4][..], 2), (2, &[1, 4], &[1, 4], 4), (1, &[4], &[4], 4)]
    {
        let left = record.without(|telling| telling.sources.contains(&source(taken_back)));
        check!(left.is_some(), "nothing is left without {taken_back}");
        record = left.unwrap_or(record);
        shelf.put(&[&record]).await?;
        shows(&shelf, contributing, any, last).await?;
    }
    let last = record.without(|telling| telling.sources.contains(&source(4)));
    check!(last.is_none(), "a record without a telling is left");
    Ok(())
}
