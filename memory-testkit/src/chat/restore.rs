//! What restoring rows promises: exports and moves come back as they were.

use memory_core::store::chat::{Appended, Placement, View};
use memory_core::{Error, Seq, StoredMessage};

use super::talk::{Talk, contradicting, ids, new, texts};
use crate::check::{Scene, equal};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    a_restored_session_equals_the_exported_one,
    restores_page_by_page,
    restores_under_another_name,
    rows_already_there_are_already,
    a_restored_marker_keeps_its_id_taken,
    a_restored_summary_can_be_unfolded,
    appends_go_on_behind_restored_rows,
    refuses_a_gap,
    refuses_a_number_that_another_message_has,
    refuses_other_content_under_a_restored_id,
    refuses_to_restore_an_id_of_another_session,
    refuses_other_content_in_the_place_of_a_row,
    restores_all_rows_or_none,
]);

/// Makes a session with everything in it: nested folds, an archived message forgotten, an active one forgotten.
async fn rich(bed: &Bed<Chat>) -> memory_core::Result<Talk> {
    let talk = Talk::plain(bed)?;
    talk.say(&["one", "two", "three", "four", "five", "six", "seven"]).await?;
    let rows = talk.rows(View::Log).await?;
    let forgotten: Vec<_> = rows.iter().filter(|row| [2, 6].contains(&row.seq.0)).map(|row| row.id).collect();
    talk.chat.store().redact(&talk.scope, &forgotten).await?;
    talk.fold(1, 3, "inner").await?;
    talk.fold(1, 4, "outer").await?;
    Ok(talk)
}

async fn restore(talk: &Talk, rows: &[StoredMessage]) -> memory_core::Result<Appended> {
    talk.chat.store().restore(&talk.scope, &talk.session, None, rows).await
}

/// Returns what must be equal after a round trip; the session's name may have changed.
async fn picture(talk: &Talk) -> memory_core::Result<impl PartialEq + std::fmt::Debug + use<>> {
    let mut rows = talk.rows(View::All).await?;
    let names: Vec<_> = rows.iter().map(|row| row.session == talk.session).collect();
    let plain = memory_core::SessionId::new("any")?;
    rows.iter_mut().for_each(|row| row.session = plain.clone());
    let state = talk.state().await?;
    Ok((rows, names, state.head, state.active_messages, state.active_tokens, state.last_at, talk.window().await?))
}

async fn a_restored_session_equals_the_exported_one(bed: Bed<Chat>) -> Scene {
    let talk = rich(&bed).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    let restored = restore(&bob, &talk.rows(View::All).await?).await?;
    equal(restored.placements, (1..=7).map(|number| Placement::Added(Seq(number))).collect::<Vec<_>>())?;
    equal(restored.state, bob.state().await?)?;
    equal(picture(&bob).await?, picture(&talk).await?)?;
    bob.in_order().await
}

async fn restores_page_by_page(bed: Bed<Chat>) -> Scene {
    let talk = rich(&bed).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    let rows = talk.rows(View::All).await?;
    for page in rows.chunk_by(|one, next| one.seq == next.seq) {
        restore(&bob, page).await?;
    }
    equal(picture(&bob).await?, picture(&talk).await?)?;
    bob.in_order().await
}

async fn restores_under_another_name(bed: Bed<Chat>) -> Scene {
    let talk = rich(&bed).await?;
    let rows = talk.rows(View::All).await?;
    let before = picture(&talk).await?;
    talk.delete().await?;
    let renamed = talk.beside("renamed")?;
    restore(&renamed, &rows).await?;
    equal(picture(&renamed).await?, before)?;
    let wanted: Vec<_> = rows.iter().map(|row| row.id).collect();
    check!(renamed.get(&wanted).await?.iter().all(|row| row.session == renamed.session), "a row names the old session");
    // The new name is part of what was said, so that a repeat is known for one.
    let again = renamed.say(&["eight"]).await?;
    equal(renamed.append(&again).await?.placements, [Placement::Already(Seq(8))])
}

async fn rows_already_there_are_already(bed: Bed<Chat>) -> Scene {
    let talk = rich(&bed).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    let rows = talk.rows(View::All).await?;
    let head: Vec<_> = rows.iter().filter(|row| row.seq <= Seq(5)).cloned().collect();
    restore(&bob, &head).await?;
    let restored = restore(&bob, &rows).await?;
    let mut promised: Vec<_> = (1..=5).map(|number| Placement::Already(Seq(number))).collect();
    promised.extend([Placement::Added(Seq(6)), Placement::Added(Seq(7))]);
    // A marker is known too, whether as a row that is there or as a message forgotten.
    let placements: Vec<_> = restored.placements.into_iter().enumerate().filter(|(place, _)| *place != 1).collect();
    equal(placements, promised.into_iter().enumerate().filter(|(place, _)| *place != 1).collect::<Vec<_>>())?;
    equal(picture(&bob).await?, picture(&talk).await?)?;
    let before = bob.state().await?;
    equal(restore(&bob, &rows).await?.state, before)?;
    equal(picture(&bob).await?, picture(&talk).await?)
}

async fn a_restored_marker_keeps_its_id_taken(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = talk.say(&["one", "two"]).await?;
    talk.chat.store().redact(&talk.scope, &ids(&messages)).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    restore(&bob, &talk.rows(View::All).await?).await?;
    equal(bob.append(&messages).await?.placements, [Placement::Forgotten, Placement::Forgotten])?;
    equal(bob.append(&[new("three")]).await?.placements, [Placement::Added(Seq(3))])?;
    bob.in_order().await
}

async fn a_restored_summary_can_be_unfolded(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two", "three"]).await?;
    let inner = talk.fold(1, 2, "inner").await?;
    let outer = talk.fold(1, 3, "outer").await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    restore(&bob, &talk.rows(View::All).await?).await?;
    equal(bob.window().await?, ["outer"])?;
    fails!(bob.unfold(&inner).await, Error::Conflict);
    bob.unfold(&outer).await?;
    equal(bob.window().await?, ["inner", "three"])?;
    bob.unfold(&inner).await?;
    equal(bob.window().await?, ["one", "two", "three"])?;
    bob.in_order().await
}

async fn appends_go_on_behind_restored_rows(bed: Bed<Chat>) -> Scene {
    let talk = rich(&bed).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    restore(&bob, &talk.rows(View::All).await?).await?;
    let fence = bob.state().await?.fence;
    equal(bob.append_with(Some(fence), &[new("eight")]).await?.placements, [Placement::Added(Seq(8))])?;
    equal(bob.window().await?, ["outer", "five", "seven", "eight"])?;
    bob.in_order().await
}

async fn refuses_a_gap(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two", "three"]).await?;
    let rows = talk.rows(View::All).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    let (second, third): (Vec<_>, Vec<_>) = rows.iter().skip(1).cloned().partition(|row| row.seq == Seq(2));
    fails!(restore(&bob, &second).await, Error::Conflict);
    let first: Vec<_> = rows.iter().take(1).cloned().collect();
    restore(&bob, &first).await?;
    fails!(restore(&bob, &third).await, Error::Conflict);
    equal(bob.log().await?, ["one"])
}

async fn refuses_a_number_that_another_message_has(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two"]).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    bob.say(&["mine"]).await?;
    fails!(restore(&bob, &talk.rows(View::All).await?).await, Error::Conflict);
    equal(bob.log().await?, ["mine"])
}

async fn refuses_other_content_under_a_restored_id(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let stored = talk.say(&["one"]).await?;
    let bob = Talk::new(&bed, "bob", "elsewhere")?;
    let others: Vec<_> = stored.iter().map(contradicting).collect();
    bob.append(&others).await?;
    fails!(restore(&bob.beside("s")?, &talk.rows(View::All).await?).await, Error::IdConflict { .. });
    equal(bob.beside("s")?.log().await?, [""; 0])?;
    equal(bob.log().await?, ["something else altogether"])
}

async fn refuses_to_restore_an_id_of_another_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    let other = talk.beside("t")?;
    fails!(restore(&other, &talk.rows(View::All).await?).await, Error::IdConflict { .. });
    equal(other.rows(View::All).await?, [])?;
    equal(talk.log().await?, ["one"])
}

async fn refuses_other_content_in_the_place_of_a_row(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let stored = talk.say(&["one", "two"]).await?;
    let mut rows = talk.rows(View::All).await?;
    for (row, other) in rows.iter_mut().zip(&stored).skip(1) {
        row.message = Some(contradicting(other).message);
    }
    fails!(restore(&talk, &rows).await, Error::IdConflict { .. });
    equal(talk.log().await?, ["one", "two"])
}

async fn restores_all_rows_or_none(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let stored = talk.say(&["one", "two", "three"]).await?;
    let bob = Talk::new(&bed, "bob", "elsewhere")?;
    let last: Vec<_> = stored.iter().skip(2).map(contradicting).collect();
    bob.append(&last).await?;
    let target = bob.beside("s")?;
    fails!(restore(&target, &talk.rows(View::All).await?).await, Error::IdConflict { .. });
    equal(target.rows(View::All).await?, [])?;
    let sessions = bob.chat.store().sessions(&bob.scope, None, 10).await?;
    equal(sessions.len(), 1)?;
    equal(texts(&bob.rows(View::All).await?).len(), 1)
}
