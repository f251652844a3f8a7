//! What deleting a session promises.

use memory_core::store::chat::{Fence, NewMessage, Placement, SessionState, View, revision_after_deletion};
use memory_core::{Error, Seq};

use super::talk::{Talk, contradicting, ids, new};
use crate::check::{Scene, equal};
use crate::upkeep::bury;
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    s2_8_a_deleted_session_is_gone,
    tells_how_many_messages_it_held,
    deletes_nothing_that_is_not_there,
    numbers_restart_and_the_generation_goes_on,
    the_revision_never_restarts,
    the_revision_tells_where_the_generation_began,
    ids_of_a_deleted_session_are_free_again,
    summaries_and_markers_go_with_their_session,
    a_deletion_touches_no_other_session_and_owner,
    a_late_deletion_spares_a_session_that_was_begun_since,
    a_deletion_spares_a_session_that_has_changed_since,
]);

async fn s2_8_a_deleted_session_is_gone(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = talk.say(&["one", "two"]).await?;
    talk.delete().await?;
    equal(talk.rows(View::All).await?, [])?;
    equal(talk.get(&ids(&messages)).await?, [])?;
    let state = talk.state().await?;
    equal((state.head, state.active_messages, state.active_tokens), (Seq(0), 0, 0))?;
    equal(state.last_at, memory_core::Timestamp(0))
}

async fn tells_how_many_messages_it_held(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = talk.say(&["one", "two", "three", "four"]).await?;
    talk.chat.store().redact(&talk.scope, &ids(&messages).into_iter().take(1).collect::<Vec<_>>()).await?;
    talk.fold(2, 3, "summary").await?;
    equal(talk.delete().await?, 3)?;
    equal(talk.delete().await?, 0)
}

async fn deletes_nothing_that_is_not_there(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    equal(talk.delete().await?, 0)?;
    let fence = talk.append(&[new("one")]).await?.state.fence;
    equal(talk.beside("t")?.delete().await?, 0)?;
    talk.append_with(Some(fence), &[new("two")]).await?;
    equal(talk.log().await?, ["one", "two"])
}

async fn numbers_restart_and_the_generation_goes_on(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    for generation in 0..3 {
        let appended = talk.append(&[new("one"), new("two")]).await?;
        equal(appended.placements, [Placement::Added(Seq(1)), Placement::Added(Seq(2))])?;
        equal(appended.state.fence.generation, generation)?;
        talk.delete().await?;
        // A second deletion of what is gone is no deletion.
        talk.delete().await?;
        equal(talk.state().await?.fence.generation, generation + 1)?;
    }
    Ok(())
}

async fn the_revision_never_restarts(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two"]).await?;
    talk.fold(1, 2, "summary").await?;
    let folded = talk.state().await?.revision;
    talk.delete().await?;
    let deleted = talk.state().await?.revision;
    check!(deleted > folded, "the deletion left the revision at {deleted}, it was {folded}");
    let begun = talk.append(&[new("begun again")]).await?.state.revision;
    equal(begun, deleted)
}

async fn the_revision_tells_where_the_generation_began(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    equal(talk.state().await?.began(), 0)?;
    let mut last = 0;
    for _ in 0..3 {
        talk.say(&["one", "two"]).await?;
        talk.fold(1, 2, "summary").await?;
        let folded = talk.state().await?;
        equal(folded.began(), last)?;
        talk.delete().await?;
        let deleted = talk.state().await?;
        equal(deleted.revision, revision_after_deletion(folded.revision))?;
        check!(deleted.began() > folded.revision, "it began at {}, not after {}", deleted.began(), folded.revision);
        last = deleted.began();
    }
    Ok(())
}

async fn ids_of_a_deleted_session_are_free_again(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = talk.say(&["one", "two"]).await?;
    let summary = talk.fold(1, 1, "summary").await?;
    talk.chat.store().redact(&talk.scope, &ids(&messages).into_iter().skip(1).collect::<Vec<_>>()).await?;
    talk.delete().await?;
    let others: Vec<NewMessage> = messages.iter().chain([&summary]).map(contradicting).collect();
    let placements = talk.beside("t")?.append(&others).await?.placements;
    equal(placements, [Placement::Added(Seq(1)), Placement::Added(Seq(2)), Placement::Added(Seq(3))])?;
    equal(talk.get(&ids(&others)).await?.len(), 3)?;
    // As a summary they are free too.
    let other = talk.beside("u")?;
    let message = new("one");
    other.append(std::slice::from_ref(&message)).await?;
    other.delete().await?;
    other.say(&["two", "three"]).await?;
    other.compact(&other.plan(1, 2, &contradicting(&message)).await?).await?;
    equal(other.window().await?, ["something else altogether"])
}

async fn summaries_and_markers_go_with_their_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = talk.say(&["one", "two", "three"]).await?;
    let summary = talk.fold(1, 2, "summary").await?.message.id;
    talk.chat.store().redact(&talk.scope, &ids(&messages).into_iter().skip(2).collect::<Vec<_>>()).await?;
    talk.delete().await?;
    equal(talk.get(&[summary]).await?, [])?;
    talk.say(&["begun again"]).await?;
    equal(talk.rows(View::All).await?.len(), 1)?;
    talk.in_order().await
}

async fn a_deletion_touches_no_other_session_and_owner(bed: Bed<Chat>) -> Scene {
    let talk = Talk::new(&bed, "ada", "ab")?;
    let others = [talk.beside("a")?, talk.beside("abc")?, talk.beside("AB")?, Talk::new(&bed, "bob", "ab")?];
    talk.say(&["one"]).await?;
    let mut before = Vec::new();
    for other in &others {
        other.say(&["kept"]).await?;
        before.push((other.rows(View::All).await?, other.state().await?));
    }
    talk.delete().await?;
    for (other, before) in others.iter().zip(before) {
        equal((other.rows(View::All).await?, other.state().await?), before)?;
    }
    Ok(())
}

async fn a_late_deletion_spares_a_session_that_was_begun_since(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let mut late = Vec::new();
    for _ in 0..2 {
        talk.say(&["one", "two"]).await?;
        let seen = talk.state().await?;
        equal(talk.chat.store().delete(&talk.scope, &seen).await?, 2)?;
        late.push(seen);
        talk.say(&["begun", "since"]).await?;
        for seen in &late {
            equal(talk.chat.store().delete(&talk.scope, seen).await?, 0)?;
        }
        equal(talk.log().await?, ["begun", "since"])?;
        talk.delete().await?;
    }
    talk.say(&["before"]).await?;
    let seen = talk.state().await?;
    bury(talk.chat.upkeep(), &talk.scope).await?;
    talk.say(&["after"]).await?;
    equal(talk.chat.store().delete(&talk.scope, &seen).await?, 0)?;
    equal(talk.log().await?, ["after"])?;
    let ahead = Fence { epoch: seen.fence.epoch, generation: u64::MAX };
    equal(talk.chat.store().delete(&talk.scope, &SessionState { fence: ahead, ..seen }).await?, 0)?;
    equal(talk.delete().await?, 1)
}

async fn a_deletion_spares_a_session_that_has_changed_since(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let first = talk.say(&["one", "two", "three"]).await?;
    let seen = talk.state().await?;
    talk.say(&["four"]).await?;
    is_refused(&talk, &seen).await?;
    let seen = talk.state().await?;
    let summary = talk.fold(1, 2, "summary").await?;
    is_refused(&talk, &seen).await?;
    let seen = talk.state().await?;
    talk.unfold(&summary).await?;
    is_refused(&talk, &seen).await?;
    let seen = talk.state().await?;
    talk.chat.store().redact(&talk.scope, &ids(&first).into_iter().take(1).collect::<Vec<_>>()).await?;
    is_refused(&talk, &seen).await?;
    // One of another history, as it is where a failover has lost the last writes.
    let seen = talk.state().await?;
    let ahead = Fence { generation: seen.fence.generation + 1, ..seen.fence };
    is_refused(&talk, &SessionState { fence: ahead, ..seen.clone() }).await?;
    equal(talk.chat.store().delete(&talk.scope, &seen).await?, 3)
}

async fn is_refused(talk: &Talk, seen: &SessionState) -> Scene {
    let now = (talk.state().await?, talk.rows(View::All).await?);
    fails!(talk.chat.store().delete(&talk.scope, seen).await, Error::Conflict);
    equal((talk.state().await?, talk.rows(View::All).await?), now)
}
