//! Deleting from the index: exactly what was named, all its pieces, nobody else's.

use memory_core::text::Deletion;
use memory_core::vector::VectorEntry;
use memory_core::{ItemId, Result, SessionId};

use super::build::{Change, entry, find, put, query, toward};
use super::model::VectorModel;
use crate::generate::HOSTILE_NAMES;
use crate::text::{message, record, span};
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    deletes_the_items_named_with_all_their_pieces,
    an_empty_deletion_deletes_nothing,
    deleting_what_is_not_there_changes_nothing,
    a_deletion_may_be_repeated,
    a_deleted_item_may_be_put_again,
    deleting_a_session_takes_its_messages_and_spans_and_leaves_its_records,
    sessions_whose_names_resemble_a_deleted_one_stay,
    deleting_spares_other_owners,
]);

fn of(item: ItemId, session: &str) -> Result<VectorEntry> {
    let mut entry = entry(item, vec![toward(0, 0.5), toward(3, 0.5)]);
    entry.fields.session = Some(SessionId::new(session)?);
    Ok(entry)
}

async fn deletes_the_items_named_with_all_their_pieces(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let items = [message(1), message(2), record(1), record(2), span("s", 1)?, span("s", 10)?];
    let entries: Vec<_> = items.into_iter().map(|item| of(item, "s")).collect::<Result<_>>()?;
    put(&bed.store, &ada, &entries).await?;
    let what = Deletion::Items(vec![message(2), record(1), span("s", 1)?]);
    bed.store.delete(&ada, &what).await?;
    let mut model = VectorModel::of(&entries);
    model.delete(&what);
    for axis in [0, 3] {
        let query = query(&bed.store, toward(axis, 0.0));
        model.check(&query, &bed.store.search(&ada, &query).await?)?;
    }
    Ok(())
}

async fn an_empty_deletion_deletes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[of(message(1), "s")?, of(message(2), "s")?]).await?;
    bed.store.delete(&ada, &Deletion::Items(Vec::new())).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [1, 2].map(message))
}

async fn deleting_what_is_not_there_changes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[of(message(1), "s")?]).await?;
    bed.store.delete(&ada, &Deletion::Items(vec![message(2), record(1), span("s", 0)?])).await?;
    bed.store.delete(&ada, &Deletion::Session(SessionId::new("other")?)).await?;
    bed.store.delete(&bed.scope("nobody")?, &Deletion::Items(vec![message(1)])).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}

async fn a_deletion_may_be_repeated(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[of(message(1), "s")?, of(message(2), "other")?]).await?;
    for what in [Deletion::Items(vec![message(1), message(1)]), Deletion::Session(SessionId::new("s")?)] {
        for _ in 0..2 {
            bed.store.delete(&ada, &what).await?;
            equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(2)])?;
        }
    }
    Ok(())
}

async fn a_deleted_item_may_be_put_again(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(0, 0.1), toward(3, 0.1)]).at_revision(3)]).await?;
    bed.store.delete(&ada, &Deletion::Items(vec![message(1)])).await?;
    let again = entry(message(1), vec![toward(5, 0.1)]).at_revision(4);
    put(&bed.store, &ada, std::slice::from_ref(&again)).await?;
    let query = query(&bed.store, toward(0, 0.0));
    VectorModel::of(&[again]).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn deleting_a_session_takes_its_messages_and_spans_and_leaves_its_records(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let sessionless = entry(message(3), vec![toward(0, 0.5)]);
    let gone = [of(message(1), "s")?, of(span("s", 0)?, "s")?, of(span("s", 7)?, "s")?];
    let kept = [of(message(2), "other")?, sessionless, of(record(1), "s")?, of(span("other", 0)?, "other")?];
    put(&bed.store, &ada, &gone).await?;
    put(&bed.store, &ada, &kept).await?;
    bed.store.delete(&ada, &Deletion::Session(SessionId::new("s")?)).await?;
    let query = query(&bed.store, toward(0, 0.0));
    VectorModel::of(&kept).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn sessions_whose_names_resemble_a_deleted_one_stay(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for (number, name) in (0..).zip(HOSTILE_NAMES) {
        entries.push(of(message(number), name)?);
        entries.push(of(span(name, 1)?, name)?);
    }
    put(&bed.store, &ada, &entries).await?;
    let mut model = VectorModel::of(&entries);
    for name in ["a", "%", "*", "al?ce", "é", "_", "a.b", "\0"] {
        let what = Deletion::Session(SessionId::new(name)?);
        bed.store.delete(&ada, &what).await?;
        model.delete(&what);
        let mut query = query(&bed.store, toward(0, 0.0));
        query.limit = 1_000;
        model.check(&query, &bed.store.search(&ada, &query).await?)?;
    }
    Ok(())
}

async fn deleting_spares_other_owners(bed: Bed<Vectors>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    for owner in [&ada, &bob] {
        put(&bed.store, owner, &[of(message(1), "s")?, of(message(2), "s")?]).await?;
    }
    bed.store.delete(&ada, &Deletion::Items(vec![message(1)])).await?;
    equal(find(&bed.store, &bob, toward(0, 0.0)).await?, [1, 2].map(message))?;
    bed.store.delete(&ada, &Deletion::Session(SessionId::new("s")?)).await?;
    equal(find(&bed.store, &bob, toward(0, 0.0)).await?, [1, 2].map(message))?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [])
}
