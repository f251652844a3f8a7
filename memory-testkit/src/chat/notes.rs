//! What notes promise for messages: appends move them on, changes behind them raise their stamp.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use memory_core::store::chat::{NewMessage, View};
use memory_core::store::upkeep::{IndexName, Note, Outcome, Target};
use memory_core::{Clock as _, Error, Seq, Timestamp};

use super::talk::{MANY, Talk, contradicting, ids, new, only};
use crate::check::{Failure, Scene, equal};
use crate::{Bed, Chat, Needs};

scenarios!(TABLE: Chat = [
    appends_move_a_note_on_without_touching_its_stamp,
    a_settlement_in_the_middle_leaves_the_rest,
    a_redaction_is_not_covered_by_a_settlement_under_way,
    a_redaction_of_what_is_indexed_is_noted,
    a_redaction_of_the_last_message_is_noted_within_the_session,
    a_redaction_behind_a_pending_note_widens_it,
    a_redaction_has_nobody_read_again_who_finds_facts,
    an_append_alone_leaves_a_retry_waiting,
    a_redaction_makes_a_retry_due_at_once,
    a_deleted_session_is_gone_until_it_is_settled,
    a_deleted_session_is_noted_from_one_up_to_zero,
    the_settlement_of_a_deletion_leaves_what_was_begun_since,
    a_restore_notes_its_rows,
    a_failed_append_notes_nothing,
    a_sweep_deletes_no_messages,
    an_indexer_beside_writers_misses_nothing,
]);

scenarios!(DURABLE: Chat, Needs::Durability = [a_restart_keeps_notes]);

/// Enlists an index and returns its name.
async fn enlist(bed: &Bed<Chat>) -> memory_core::Result<IndexName> {
    let index = IndexName::new("text/test-1")?;
    crate::upkeep::enlist(&**bed.store.upkeep(), &index).await?;
    Ok(index)
}

async fn due(bed: &Bed<Chat>, index: &IndexName) -> memory_core::Result<Vec<Note>> {
    bed.store.upkeep().pending(index, bed.clock.now(), MANY).await
}

async fn done(bed: &Bed<Chat>, index: &IndexName, note: &Note, through: u64) -> memory_core::Result<()> {
    bed.store.upkeep().settle(index, &[(note.clone(), Outcome::Done { through: Seq(through) })]).await
}

async fn appends_move_a_note_on_without_touching_its_stamp(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    talk.say(&["one", "two"]).await?;
    let first = only(due(&bed, &index).await?)?;
    equal((first.from, first.upto), (Seq(1), Seq(2)))?;
    talk.say(&["three", "four", "five"]).await?;
    let second = only(due(&bed, &index).await?)?;
    equal((second.from, second.upto, second.stamp), (Seq(1), Seq(5), first.stamp))?;
    done(&bed, &index, &first, 2).await?;
    let third = only(due(&bed, &index).await?)?;
    equal((third.from, third.upto, third.gone), (Seq(3), Seq(5), false))
}

async fn a_settlement_in_the_middle_leaves_the_rest(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    talk.say(&["one", "two", "three", "four", "five"]).await?;
    for (through, from) in [(2, 3), (2, 3), (4, 5)] {
        let note = only(due(&bed, &index).await?)?;
        done(&bed, &index, &note, through).await?;
        let left = only(due(&bed, &index).await?)?;
        equal((left.from, left.upto), (Seq(from), Seq(5)))?;
    }
    Ok(())
}

async fn a_redaction_is_not_covered_by_a_settlement_under_way(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    let messages = talk.say(&["one", "two", "three"]).await?;
    let note = only(due(&bed, &index).await?)?;
    let forgotten: Vec<_> = ids(&messages).into_iter().skip(1).take(1).collect();
    talk.chat.store().redact(&talk.scope, &forgotten).await?;
    done(&bed, &index, &note, 3).await?;
    let left = only(due(&bed, &index).await?)?;
    check!(left.stamp != note.stamp, "the stamp is still {}", left.stamp);
    check!(left.from <= Seq(2) && left.upto >= Seq(2), "the note covers {:?} to {:?}", left.from, left.upto);
    done(&bed, &index, &left, left.upto.0).await?;
    equal(due(&bed, &index).await?, [])
}

async fn a_redaction_of_what_is_indexed_is_noted(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    let messages = talk.say(&["one", "two", "three"]).await?;
    let note = only(due(&bed, &index).await?)?;
    done(&bed, &index, &note, 3).await?;
    let forgotten: Vec<_> = ids(&messages).into_iter().skip(1).take(1).collect();
    talk.chat.store().redact(&talk.scope, &forgotten).await?;
    let note = only(due(&bed, &index).await?)?;
    equal((&note.target, note.gone), (&Target::Messages(talk.session.clone()), false))?;
    check!(note.from <= Seq(2) && note.upto >= Seq(2), "the note covers {:?} to {:?}", note.from, note.upto);
    check!(note.upto <= Seq(3), "the note goes beyond the session, to {:?}", note.upto);
    Ok(())
}

async fn a_redaction_of_the_last_message_is_noted_within_the_session(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    let messages = talk.say(&["one", "two", "three"]).await?;
    let note = only(due(&bed, &index).await?)?;
    done(&bed, &index, &note, 3).await?;
    talk.chat.store().redact(&talk.scope, &ids(&messages).into_iter().skip(2).collect::<Vec<_>>()).await?;
    let note = only(due(&bed, &index).await?)?;
    check!(note.from <= Seq(3), "the note begins at {:?}", note.from);
    equal(note.upto, Seq(3))
}

async fn a_redaction_behind_a_pending_note_widens_it(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    let messages = talk.say(&["one", "two", "three", "four", "five", "six"]).await?;
    let note = only(due(&bed, &index).await?)?;
    done(&bed, &index, &note, 5).await?;
    talk.chat.store().redact(&talk.scope, &ids(&messages).into_iter().skip(1).take(1).collect::<Vec<_>>()).await?;
    let note = only(due(&bed, &index).await?)?;
    check!(note.from <= Seq(2), "the note begins at {:?}, behind the change", note.from);
    equal(note.upto, Seq(6))
}

async fn a_redaction_has_nobody_read_again_who_finds_facts(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    let reader = IndexName::new(&format!("{}test-1", IndexName::FACTS))?;
    crate::upkeep::enlist(&**bed.store.upkeep(), &reader).await?;
    let said = ids(&talk.say(&["one", "two", "three", "four"]).await?);
    done(&bed, &reader, &only(due(&bed, &reader).await?)?, 3).await?;
    let left = only(due(&bed, &reader).await?)?;
    // One that was read, and the one that is still to be read.
    let forgotten: Vec<_> = said.iter().copied().skip(1).step_by(2).collect();
    talk.chat.store().redact(&talk.scope, &forgotten).await?;
    equal(only(due(&bed, &reader).await?)?, left.clone())?;
    // A settlement under way covers it.
    done(&bed, &reader, &left, 4).await?;
    talk.chat.store().redact(&talk.scope, &said).await?;
    equal(due(&bed, &reader).await?, [])?;
    equal(only(due(&bed, &index).await?)?.upto, Seq(4))?;
    talk.say(&["five"]).await?;
    let note = only(due(&bed, &reader).await?)?;
    equal((note.from, note.upto), (Seq(5), Seq(5)))?;
    talk.delete().await?;
    check!(only(due(&bed, &reader).await?)?.gone, "the deletion is not noted");
    Ok(())
}

/// Appends three messages and asks for another try of their note in a minute.
async fn retried(bed: &Bed<Chat>, index: &IndexName) -> Result<(Talk, Vec<NewMessage>), Failure> {
    let talk = Talk::plain(bed)?;
    let messages = talk.say(&["one", "two", "three"]).await?;
    let note = only(due(bed, index).await?)?;
    let at = bed.clock.now().checked_add(Duration::from_secs(60))?;
    bed.store.upkeep().settle(index, &[(note, Outcome::Retry { at, why: "busy".to_owned() })]).await?;
    equal(due(bed, index).await?, [])?;
    Ok((talk, messages))
}

async fn an_append_alone_leaves_a_retry_waiting(bed: Bed<Chat>) -> Scene {
    let index = enlist(&bed).await?;
    let (talk, _) = retried(&bed, &index).await?;
    talk.say(&["four"]).await?;
    equal(due(&bed, &index).await?, [])?;
    bed.clock.advance(Duration::from_secs(60));
    let note = only(due(&bed, &index).await?)?;
    equal((note.from, note.upto, note.attempts), (Seq(1), Seq(4), 1))
}

async fn a_redaction_makes_a_retry_due_at_once(bed: Bed<Chat>) -> Scene {
    let index = enlist(&bed).await?;
    let (talk, messages) = retried(&bed, &index).await?;
    talk.chat.store().redact(&talk.scope, &ids(&messages).into_iter().take(1).collect::<Vec<_>>()).await?;
    let note = only(due(&bed, &index).await?)?;
    equal((note.from, note.upto), (Seq(1), Seq(3)))
}

async fn a_deleted_session_is_noted_from_one_up_to_zero(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    talk.say(&["one", "two"]).await?;
    talk.delete().await?;
    let note = only(due(&bed, &index).await?)?;
    equal((note.from, note.upto, note.gone), (Seq(1), Seq(0), true))?;
    done(&bed, &index, &note, 0).await?;
    equal(due(&bed, &index).await?, [])
}

async fn a_deleted_session_is_gone_until_it_is_settled(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    talk.say(&["one", "two", "three"]).await?;
    let note = only(due(&bed, &index).await?)?;
    done(&bed, &index, &note, 3).await?;
    talk.delete().await?;
    talk.say(&["begun again"]).await?;
    let note = only(due(&bed, &index).await?)?;
    equal((note.gone, note.from, note.upto), (true, Seq(1), Seq(1)))?;
    done(&bed, &index, &note, 1).await?;
    equal(due(&bed, &index).await?, [])?;
    talk.say(&["two"]).await?;
    let note = only(due(&bed, &index).await?)?;
    equal((note.gone, note.from, note.upto), (false, Seq(2), Seq(2)))
}

async fn the_settlement_of_a_deletion_leaves_what_was_begun_since(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    talk.say(&["one", "two", "three"]).await?;
    talk.delete().await?;
    let gone = only(due(&bed, &index).await?)?;
    check!(gone.gone, "the deletion is not noted");
    talk.say(&["begun", "again"]).await?;
    done(&bed, &index, &gone, gone.upto.0).await?;
    let left = only(due(&bed, &index).await?)?;
    equal((left.gone, left.from, left.upto), (false, Seq(1), Seq(2)))
}

async fn a_restore_notes_its_rows(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two", "three"]).await?;
    talk.fold(1, 2, "summary").await?;
    let rows = talk.rows(View::All).await?;
    let (index, bob) = (enlist(&bed).await?, Talk::new(&bed, "bob", "s")?);
    bob.chat.store().restore(&bob.scope, &bob.session, None, &rows).await?;
    let notes = due(&bed, &index).await?;
    let note = only(notes.into_iter().filter(|note| note.scope == bob.scope).collect())?;
    equal((note.target, note.from, note.upto), (Target::Messages(bob.session), Seq(1), Seq(3)))
}

async fn a_failed_append_notes_nothing(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    let stored = talk.say(&["one"]).await?;
    let fence = talk.state().await?.fence;
    let note = only(due(&bed, &index).await?)?;
    done(&bed, &index, &note, 1).await?;
    let mut batch = vec![new("two")];
    batch.extend(stored.iter().map(contradicting));
    fails!(talk.append(&batch).await, Error::IdConflict { .. });
    let strange = memory_core::store::chat::Fence { generation: fence.generation + 1, ..fence };
    fails!(talk.append_with(Some(strange), &[new("three")]).await, Error::Fenced);
    talk.append(&[]).await?;
    equal(due(&bed, &index).await?, [])
}

async fn a_sweep_deletes_no_messages(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    equal(talk.chat.upkeep().sweep(Timestamp(i64::MAX), MANY).await?, 0)?;
    equal(talk.log().await?, ["one"])
}

/// Takes what is due, "indexes" it and settles, until the writers are done and nothing is due.
async fn index_all(
    bed: &Bed<Chat>,
    index: &IndexName,
    writing: impl Future<Output = Scene>,
) -> Result<BTreeSet<u64>, Failure> {
    let mut seen = BTreeSet::new();
    let mut writing = std::pin::pin!(writing);
    let mut is_over = false;
    loop {
        let notes = due(bed, index).await?;
        if is_over && notes.is_empty() {
            return Ok(seen);
        }
        tokio::task::yield_now().await;
        for note in &notes {
            // At most three at a time, so that notes are settled in the middle too.
            let through = note.upto.0.min(note.from.0 + 2);
            seen.extend(note.from.0..=through);
            done(bed, index, note, through).await?;
        }
        if !is_over {
            tokio::select! {
                biased;
                ended = &mut writing => { ended?; is_over = true; }
                () = tokio::task::yield_now() => {}
            }
        }
    }
}

async fn an_indexer_beside_writers_misses_nothing(bed: Bed<Chat>) -> Scene {
    let (index, talk) = (enlist(&bed).await?, Talk::plain(&bed)?);
    let writers = (0..4).map(|writer| {
        let talk = talk.clone();
        tokio::spawn(async move {
            for round in 0..25 {
                talk.append(&[new(&format!("{writer} {round}")), new("and more")]).await?;
                tokio::task::yield_now().await;
            }
            Ok::<_, Error>(())
        })
    });
    let writing = async {
        for ended in join_all(writers).await {
            ended.map_err(|error| Failure::new(error.to_string()))??;
        }
        Ok(())
    };
    let seen = index_all(&bed, &index, writing).await?;
    equal(seen, (1..=200).collect::<BTreeSet<_>>())
}

async fn a_restart_keeps_notes(bed: Bed<Chat>) -> Scene {
    let index = enlist(&bed).await?;
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two", "three"]).await?;
    let note = only(due(&bed, &index).await?)?;
    done(&bed, &index, &note, 1).await?;
    let before = due(&bed, &index).await?;
    let (scope, session) = (talk.scope, talk.session);
    drop(talk.chat);
    let bed = bed.restart().await?;
    equal(due(&bed, &index).await?, before)?;
    let talk = Talk { chat: bed.store.clone(), scope, session };
    talk.say(&["four"]).await?;
    equal(only(due(&bed, &index).await?)?.upto, Seq(4))
}
