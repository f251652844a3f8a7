//! Deleting from the index: exactly what was named.

use memory_core::store::text::{Deletion, TextEntry, TextQuery, Visibility};
use memory_core::{Epoch, SessionId, Unit, Version};

use super::build::{Change, entry, find, message, put, query, record, span};
use super::model::{TextModel, items};
use crate::generate::{HOSTILE_NAMES, deletion, session_deletion};
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    deletes_the_items_named_and_no_others,
    an_empty_deletion_deletes_nothing,
    deleting_what_is_not_there_changes_nothing,
    a_deletion_may_be_repeated,
    statistics_follow_a_deletion,
    a_deleted_item_may_be_put_again,
    deleting_a_session_takes_its_messages_and_spans_and_leaves_its_records,
    sessions_whose_names_resemble_a_deleted_one_stay,
    deleting_spares_other_owners,
    a_late_deletion_of_items_takes_nothing_newer,
    a_late_deletion_of_a_session_takes_nothing_newer,
    a_put_of_equal_content_counts_as_newer,
    versions_are_those_of_what_is_stored,
]);

async fn deletes_the_items_named_and_no_others(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let items_of = [message(1), message(2), message(3), record(1), record(2), span("s", 1)?, span("s", 10)?];
    let entries: Vec<_> = items_of.into_iter().map(|item| entry(item, &["river"])).collect::<Result<_, _>>()?;
    put(&bed.store, &ada, &entries).await?;
    let what = deletion(vec![message(2), record(1), span("s", 1)?]);
    bed.store.delete(&ada, &what).await?;
    let mut model = TextModel::of(&entries);
    model.delete(&what);
    for unit in [Unit::Message, Unit::Record, Unit::Span] {
        let query = TextQuery { unit, ..query(&["river"])? };
        model.check(&query, &bed.store.search(&ada, &query).await?)?;
    }
    Ok(())
}

async fn an_empty_deletion_deletes_nothing(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?, entry(message(2), &["river"])?]).await?;
    bed.store.delete(&ada, &deletion(Vec::new())).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [1, 2].map(message))
}

async fn deleting_what_is_not_there_changes_nothing(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    bed.store.delete(&ada, &deletion(vec![message(2), record(1), span("s", 0)?])).await?;
    bed.store.delete(&ada, &session_deletion("s")?).await?;
    bed.store.delete(&bed.scope("nobody")?, &deletion(vec![message(1)])).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(1)])
}

async fn a_deletion_may_be_repeated(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let kept = entry(message(2), &["river"])?.in_session("other")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?.in_session("s")?, kept]).await?;
    for what in [deletion(vec![message(1), message(1)]), session_deletion("s")?] {
        for _ in 0..2 {
            bed.store.delete(&ada, &what).await?;
            equal(find(&bed.store, &ada, &["river"]).await?, [message(2)])?;
        }
    }
    Ok(())
}

async fn statistics_follow_a_deletion(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries = [entry(message(1), &["river", "stone", "lamp"])?, entry(message(2), &["river"])?];
    put(&bed.store, &ada, &entries).await?;
    bed.store.delete(&ada, &deletion(vec![message(1)])).await?;
    let found = bed.store.search(&ada, &query(&["river", "stone"])?).await?;
    equal((found.documents, found.mean_length, found.containing), (1, 1.0, vec![1, 0]))
}

async fn a_deleted_item_may_be_put_again(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?.at_revision(3)]).await?;
    bed.store.delete(&ada, &deletion(vec![message(1)])).await?;
    put(&bed.store, &ada, &[entry(message(1), &["stone"])?.at_revision(4)]).await?;
    equal(find(&bed.store, &ada, &["river", "stone"]).await?, [message(1)])?;
    equal(find(&bed.store, &ada, &["river"]).await?, [])
}

async fn deleting_a_session_takes_its_messages_and_spans_and_leaves_its_records(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let of = |item, session: &str| entry(item, &["river"])?.in_session(session);
    let entries: Vec<TextEntry> = vec![
        of(message(1), "s")?,
        of(message(2), "other")?,
        entry(message(3), &["river"])?,
        of(record(1), "s")?,
        of(span("s", 0)?, "s")?,
        of(span("s", 7)?, "s")?,
        of(span("other", 0)?, "other")?,
    ];
    put(&bed.store, &ada, &entries).await?;
    bed.store.delete(&ada, &session_deletion("s")?).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [2, 3].map(message))?;
    let left = |unit| Ok::<_, memory_core::Error>(TextQuery { unit, ..query(&["river"])? });
    equal(items(&bed.store.search(&ada, &left(Unit::Record)?).await?), [record(1)])?;
    equal(items(&bed.store.search(&ada, &left(Unit::Span)?).await?), [span("other", 0)?])
}

async fn sessions_whose_names_resemble_a_deleted_one_stay(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for (number, name) in HOSTILE_NAMES.iter().enumerate() {
        entries.push(entry(message(number as u64), &["river"])?.in_session(name)?);
        entries.push(entry(span(name, 1)?, &["river"])?.in_session(name)?);
    }
    put(&bed.store, &ada, &entries).await?;
    let mut model = TextModel::of(&entries);
    for name in ["a", "%", "*", "al?ce", "é", "_", "a.b", "\0"] {
        let what = session_deletion(name)?;
        bed.store.delete(&ada, &what).await?;
        model.delete(&what);
        for unit in [Unit::Message, Unit::Span] {
            let query = TextQuery { unit, ..query(&["river"])? };
            model.check(&query, &bed.store.search(&ada, &query).await?)?;
        }
    }
    Ok(())
}

async fn deleting_spares_other_owners(bed: Bed<Texts>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    for owner in [&ada, &bob] {
        put(&bed.store, owner, &[entry(message(1), &["river"])?.in_session("s")?]).await?;
        put(&bed.store, owner, &[entry(message(2), &["river"])?.in_session("s")?]).await?;
    }
    bed.store.delete(&ada, &deletion(vec![message(1)])).await?;
    equal(find(&bed.store, &bob, &["river"]).await?, [1, 2].map(message))?;
    bed.store.delete(&ada, &session_deletion("s")?).await?;
    equal(find(&bed.store, &bob, &["river"]).await?, [1, 2].map(message))?;
    equal(find(&bed.store, &ada, &["river"]).await?, [])
}

async fn a_late_deletion_of_items_takes_nothing_newer(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let at = |epoch: u64, revision: u64| Version { epoch: Epoch(epoch), revision };
    let entries = [
        entry(message(1), &["river"])?.in_epoch(1).at_revision(5),
        entry(message(2), &["river"])?.in_epoch(1).at_revision(6),
        entry(message(3), &["river"])?.in_epoch(1).at_revision(4),
        entry(message(4), &["river"])?.in_epoch(2),
        entry(message(5), &["river"])?.at_revision(9),
    ];
    put(&bed.store, &ada, &entries).await?;
    let late = Deletion::Items((1..=5).map(|number| (message(number), at(1, 5))).collect());
    bed.store.delete(&ada, &late).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [2, 4].map(message))?;
    let each = vec![(message(2), at(1, 6)), (message(4), at(1, u64::MAX)), (message(2), at(0, 0))];
    bed.store.delete(&ada, &Deletion::Items(each)).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(4)])?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?.in_epoch(1).at_revision(6)]).await?;
    bed.store.delete(&ada, &late).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [1, 4].map(message))
}

async fn a_late_deletion_of_a_session_takes_nothing_newer(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let of = |item, epoch, revision| {
        Ok::<_, memory_core::Error>(entry(item, &["river"])?.in_session("s")?.in_epoch(epoch).at_revision(revision))
    };
    let old = [of(message(1), 1, 3)?, of(message(2), 0, 9)?, of(span("s", 0)?, 1, 5)?, of(span("s", 1)?, 1, 2)?];
    let new = [of(message(1), 1, 6)?, of(message(3), 2, 0)?, of(span("s", 0)?, 1, 8)?];
    let mut model = TextModel::of(&old);
    put(&bed.store, &ada, &old).await?;
    put(&bed.store, &ada, &new).await?;
    model.put(&new);
    let late = Deletion::Session(SessionId::new("s")?, Version { epoch: Epoch(1), revision: 5 });
    for _ in 0..2 {
        bed.store.delete(&ada, &late).await?;
        model.delete(&late);
        for unit in [Unit::Message, Unit::Span] {
            let query = TextQuery { unit, ..query(&["river"])? };
            model.check(&query, &bed.store.search(&ada, &query).await?)?;
        }
    }
    equal(find(&bed.store, &ada, &["river"]).await?, [1, 3].map(message))
}

async fn a_put_of_equal_content_counts_as_newer(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    for revision in [3, 4] {
        put(&bed.store, &ada, &[entry(message(1), &["river"])?.at_revision(revision)]).await?;
    }
    let late = Deletion::Items(vec![(message(1), Version { epoch: Epoch(0), revision: 3 })]);
    bed.store.delete(&ada, &late).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(1)])
}

async fn versions_are_those_of_what_is_stored(bed: Bed<Texts>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let items = [message(1), message(2), record(1), span("s", 1)?, message(3)];
    equal(bed.store.versions(&ada, &items).await?, [])?;
    let entries = [
        entry(message(1), &["river"])?.in_epoch(1).at_revision(7),
        entry(record(1), &["river"])?.at_revision(2),
        entry(span("s", 1)?, &["river"])?.in_epoch(3),
        entry(message(3), &["river"])?,
    ];
    equal(bed.store.put(&ada, &entries, Visibility::AfterFlush).await?.len(), 0)?;
    put(&bed.store, &ada, &[entry(message(1), &["stone"])?.at_revision(9)]).await?;
    put(&bed.store, &bob, &[entry(message(2), &["river"])?]).await?;
    bed.store.delete(&ada, &deletion([message(3)])).await?;
    let mut model = TextModel::of(&entries);
    model.delete(&deletion([message(3)]));
    let mut found = bed.store.versions(&ada, &items).await?;
    found.sort();
    equal(found, model.versions(&items))?;
    equal(bed.store.versions(&ada, &[]).await?, [])
}
