//! Deleting from the index: exactly what was named, all its pieces, nobody else's.

use memory_core::store::text::{Deletion, Visibility};
use memory_core::store::vectors::VectorEntry;
use memory_core::{Epoch, Error, ItemId, Result, SessionId, Version};

use super::build::{Change, entry, find, put, query, toward};
use super::model::VectorModel;
use crate::generate::{HOSTILE_NAMES, deletion, session_deletion};
use crate::text::build::{message, record, span};
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    s0_7_deletes_the_items_named_with_all_their_pieces,
    an_empty_deletion_deletes_nothing,
    deleting_what_is_not_there_changes_nothing,
    a_deletion_may_be_repeated,
    a_deleted_item_may_be_put_again,
    deleting_a_session_takes_its_messages_and_spans_and_leaves_its_records,
    sessions_whose_names_resemble_a_deleted_one_stay,
    deleting_spares_other_owners,
    a_late_deletion_of_items_takes_nothing_newer,
    a_late_deletion_of_a_session_takes_nothing_newer,
    a_put_of_equal_content_counts_as_newer,
    versions_are_those_of_what_is_stored,
]);

fn of(item: ItemId, session: &str) -> Result<VectorEntry> {
    let mut entry = entry(item, vec![toward(0, 0.5), toward(3, 0.5)]);
    entry.fields.session = Some(SessionId::new(session)?);
    Ok(entry)
}

async fn s0_7_deletes_the_items_named_with_all_their_pieces(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let items = [message(1), message(2), record(1), record(2), span("s", 1)?, span("s", 10)?];
    let entries: Vec<_> = items.into_iter().map(|item| of(item, "s")).collect::<Result<_>>()?;
    put(&bed.store, &ada, &entries).await?;
    let what = deletion(vec![message(2), record(1), span("s", 1)?]);
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
    bed.store.delete(&ada, &deletion(Vec::new())).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [1, 2].map(message))
}

async fn deleting_what_is_not_there_changes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[of(message(1), "s")?]).await?;
    bed.store.delete(&ada, &deletion(vec![message(2), record(1), span("s", 0)?])).await?;
    bed.store.delete(&ada, &session_deletion("other")?).await?;
    bed.store.delete(&bed.scope("nobody")?, &deletion(vec![message(1)])).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}

async fn a_deletion_may_be_repeated(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[of(message(1), "s")?, of(message(2), "other")?]).await?;
    for what in [deletion(vec![message(1), message(1)]), session_deletion("s")?] {
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
    bed.store.delete(&ada, &deletion(vec![message(1)])).await?;
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
    bed.store.delete(&ada, &session_deletion("s")?).await?;
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
        let what = session_deletion(name)?;
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
    bed.store.delete(&ada, &deletion(vec![message(1)])).await?;
    equal(find(&bed.store, &bob, toward(0, 0.0)).await?, [1, 2].map(message))?;
    bed.store.delete(&ada, &session_deletion("s")?).await?;
    equal(find(&bed.store, &bob, toward(0, 0.0)).await?, [1, 2].map(message))?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [])
}

async fn a_late_deletion_of_items_takes_nothing_newer(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let at = |epoch: u64, revision: u64| Version { epoch: Epoch(epoch), revision };
    let of = |number, version| Ok::<_, Error>(VectorEntry { version, ..of(message(number), "s")? });
    let entries = [of(1, at(1, 5))?, of(2, at(1, 6))?, of(3, at(1, 4))?, of(4, at(2, 0))?, of(5, at(0, 9))?];
    put(&bed.store, &ada, &entries).await?;
    let late = Deletion::Items((1..=5).map(|number| (message(number), at(1, 5))).collect());
    bed.store.delete(&ada, &late).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [2, 4].map(message))?;
    let each = vec![(message(2), at(1, 6)), (message(4), at(1, u64::MAX)), (message(2), at(0, 0))];
    bed.store.delete(&ada, &Deletion::Items(each)).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(4)])?;
    put(&bed.store, &ada, &[of(1, at(1, 6))?]).await?;
    bed.store.delete(&ada, &late).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [1, 4].map(message))
}

async fn a_late_deletion_of_a_session_takes_nothing_newer(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let of = |item, epoch, revision| {
        let version = Version { epoch: Epoch(epoch), revision };
        Ok::<_, Error>(VectorEntry { version, ..of(item, "s")? })
    };
    let old = [of(message(1), 1, 3)?, of(message(2), 0, 9)?, of(span("s", 0)?, 1, 5)?, of(span("s", 1)?, 1, 2)?];
    let new = [of(message(1), 1, 6)?, of(message(3), 2, 0)?, of(span("s", 0)?, 1, 8)?];
    put(&bed.store, &ada, &old).await?;
    put(&bed.store, &ada, &new).await?;
    let late = Deletion::Session(SessionId::new("s")?, Version { epoch: Epoch(1), revision: 5 });
    let query = query(&bed.store, toward(0, 0.0));
    for _ in 0..2 {
        bed.store.delete(&ada, &late).await?;
        VectorModel::of(&new).check(&query, &bed.store.search(&ada, &query).await?)?;
    }
    Ok(())
}

async fn a_put_of_equal_content_counts_as_newer(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    for revision in [3, 4] {
        put(&bed.store, &ada, &[of(message(1), "s")?.at_revision(revision)]).await?;
    }
    let late = Deletion::Items(vec![(message(1), Version { epoch: Epoch(0), revision: 3 })]);
    bed.store.delete(&ada, &late).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}

async fn versions_are_those_of_what_is_stored(bed: Bed<Vectors>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let items = [message(1), message(2), record(1), span("s", 1)?, message(3)];
    equal(bed.store.versions(&ada, &items).await?, [])?;
    let entries = [
        VectorEntry { version: Version { epoch: Epoch(1), revision: 7 }, ..of(message(1), "s")? },
        of(record(1), "s")?.at_revision(2),
        VectorEntry { version: Version { epoch: Epoch(3), revision: 0 }, ..of(span("s", 1)?, "s")? },
        of(message(3), "s")?,
    ];
    equal(bed.store.put(&ada, &entries, Visibility::AfterFlush).await?.len(), 0)?;
    put(&bed.store, &ada, &[of(message(1), "s")?.at_revision(9)]).await?;
    put(&bed.store, &bob, &[of(message(2), "s")?]).await?;
    bed.store.delete(&ada, &deletion([message(3)])).await?;
    let mut model = VectorModel::of(&entries);
    model.delete(&deletion([message(3)]));
    let mut found = bed.store.versions(&ada, &items).await?;
    found.sort();
    equal(found, model.versions(&items))?;
    equal(bed.store.versions(&ada, &[]).await?, [])
}
