//! What an append promises.

use std::sync::Arc;

use memory_core::store::chat::{NewMessage, Placement, View};
use memory_core::{Error, Limits, Message, Role, Seq, Timestamp};

use super::talk::{NOON, Talk, contradicting, ids, new, numbers, texts};
use crate::check::{Scene, equal};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    numbers_messages_in_order_without_gaps,
    answers_with_the_state_afterwards,
    stores_all_of_a_batch_or_none,
    answers_already_to_a_repeat,
    a_repeat_with_another_token_count_changes_nothing,
    tells_new_from_old_in_a_mixed_batch,
    refuses_other_content_under_a_stored_id,
    refuses_an_id_of_another_session,
    refuses_two_contents_under_one_id_in_a_batch,
    takes_an_id_twice_in_a_batch_as_two_appends,
    an_empty_batch_makes_no_session,
    takes_one_id_of_two_owners_for_two_messages,
    s0_2_orders_by_number_and_not_by_time,
    keeps_the_latest_time_of_any_message,
    keeps_a_thousand_messages_of_one_moment_in_order,
    takes_the_largest_batches,
]);

async fn numbers_messages_in_order_without_gaps(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let first = talk.append(&[new("one"), new("two")]).await?;
    equal(first.placements, [Placement::Added(Seq(1)), Placement::Added(Seq(2))])?;
    let second = talk.append(&[new("three")]).await?;
    equal(second.placements, [Placement::Added(Seq(3))])?;
    let rows = talk.rows(View::Log).await?;
    equal(numbers(&rows), [1, 2, 3])?;
    equal(texts(&rows), ["one", "two", "three"])
}

async fn answers_with_the_state_afterwards(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let appended = talk.append(&[new("one"), new("three")]).await?;
    equal(appended.durability, bed.durability)?;
    let state = appended.state;
    equal((state.head, state.active_messages, state.active_tokens), (Seq(2), 2, 8))?;
    equal((&state.session, state.last_at), (&talk.session, NOON))?;
    equal(talk.state().await?, state)
}

async fn stores_all_of_a_batch_or_none(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let stored = talk.say(&["one"]).await?;
    let before = talk.state().await?;
    let mut batch = vec![new("two"), new("three")];
    batch.extend(stored.iter().map(contradicting));
    batch.push(new("four"));
    fails!(talk.append(&batch).await, Error::IdConflict { .. });
    equal(talk.log().await?, ["one"])?;
    equal(talk.state().await?, before)?;
    equal(talk.get(&ids(&batch)).await?.len(), 1)
}

async fn answers_already_to_a_repeat(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let batch = talk.say(&["one", "two"]).await?;
    talk.say(&["three"]).await?;
    let before = talk.state().await?;
    let again = talk.append(&batch).await?;
    equal(again.placements, [Placement::Already(Seq(1)), Placement::Already(Seq(2))])?;
    equal(&again.state, &before)?;
    equal(talk.log().await?, ["one", "two", "three"])
}

async fn a_repeat_with_another_token_count_changes_nothing(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let [stored, ..] = talk.say(&["one", "two"]).await?.try_into().unwrap_or([new(""), new("")]);
    let recounted = NewMessage { tokens: 1_000, ..stored };
    equal(talk.append(&[recounted]).await?.placements, [Placement::Already(Seq(1))])?;
    equal(talk.state().await?.active_tokens, 6)?;
    equal(talk.rows(View::Log).await?.iter().map(|row| row.tokens).collect::<Vec<_>>(), [3, 3])
}

async fn tells_new_from_old_in_a_mixed_batch(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let stored = talk.say(&["one", "two"]).await?;
    let mut batch = vec![new("three")];
    batch.extend(stored.into_iter().rev());
    batch.push(new("four"));
    let promised =
        [Placement::Added(Seq(3)), Placement::Already(Seq(2)), Placement::Already(Seq(1)), Placement::Added(Seq(4))];
    equal(talk.append(&batch).await?.placements, promised)?;
    equal(talk.log().await?, ["one", "two", "three", "four"])
}

async fn refuses_other_content_under_a_stored_id(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let stored = talk.say(&["one"]).await?;
    for other in stored.iter().map(contradicting) {
        let id = other.message.id.to_string();
        fails!(talk.append(&[other]).await, Error::IdConflict { id: ref named } if *named == id);
    }
    equal(talk.log().await?, ["one"])
}

async fn refuses_an_id_of_another_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let stored = talk.say(&["one"]).await?;
    let other = talk.beside("t")?;
    fails!(other.append(&stored).await, Error::IdConflict { .. });
    equal(other.log().await?, [""; 0])?;
    equal(talk.log().await?, ["one"])
}

async fn refuses_two_contents_under_one_id_in_a_batch(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let first = new("one");
    let second = contradicting(&first);
    fails!(talk.append(&[first, second]).await, Error::IdConflict { .. });
    equal(talk.log().await?, [""; 0])
}

async fn takes_an_id_twice_in_a_batch_as_two_appends(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let twice = new("one");
    let appended = talk.append(&[twice.clone(), twice, new("two")]).await?;
    let promised = [Placement::Added(Seq(1)), Placement::Already(Seq(1)), Placement::Added(Seq(2))];
    equal(appended.placements, promised)?;
    equal(talk.log().await?, ["one", "two"])?;
    talk.in_order().await
}

async fn an_empty_batch_makes_no_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let appended = talk.append(&[]).await?;
    equal(appended.placements, [])?;
    equal(appended.state.head, Seq(0))?;
    equal(talk.chat.store().sessions(&talk.scope, None, 10).await?, [])?;
    equal(talk.chat.upkeep().owners(None, 10).await?, [])
}

async fn takes_one_id_of_two_owners_for_two_messages(bed: Bed<Chat>) -> Scene {
    let (ada, bob) = (Talk::plain(&bed)?, Talk::new(&bed, "bob", "s")?);
    let stored = ada.say(&["one"]).await?;
    let others: Vec<_> = stored.iter().map(contradicting).collect();
    equal(bob.append(&others).await?.placements, [Placement::Added(Seq(1))])?;
    equal(ada.log().await?, ["one"])?;
    equal(bob.log().await?, ["something else altogether"])
}

async fn s0_2_orders_by_number_and_not_by_time(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    for (text, at) in [("late", 3), ("early", -1), ("between", 2)] {
        let message = Arc::new(Message::new(Role::User, text, Timestamp(at)));
        talk.append(&[NewMessage::sized(message, 1)]).await?;
    }
    equal(talk.log().await?, ["late", "early", "between"])?;
    equal(talk.window().await?, ["late", "early", "between"])
}

async fn keeps_the_latest_time_of_any_message(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    for (at, latest) in [(5, 5), (9, 9), (7, 9)] {
        let message = Arc::new(Message::new(Role::User, "tick", Timestamp(at)));
        let appended = talk.append(&[NewMessage::sized(message, 1)]).await?;
        equal(appended.state.last_at, Timestamp(latest))?;
    }
    equal(talk.state().await?.last_at, Timestamp(9))
}

async fn keeps_a_thousand_messages_of_one_moment_in_order(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let words: Vec<_> = (0..1_000).map(|number| format!("message {number}")).collect();
    for part in words.chunks(250) {
        talk.append(&part.iter().map(|text| new(text)).collect::<Vec<_>>()).await?;
    }
    equal(talk.log().await?, words)?;
    talk.in_order().await
}

async fn takes_the_largest_batches(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let batch: Vec<_> = (0..Limits::default().messages).map(|number| new(&number.to_string())).collect();
    let placements = talk.append(&batch).await?.placements;
    equal(placements.last(), Some(&Placement::Added(Seq(batch.len() as u64))))?;
    check!(
        talk.append(&batch).await?.placements.iter().all(|place| matches!(place, Placement::Already(_))),
        "not known"
    );
    equal(talk.get(&ids(&batch)).await?.len(), batch.len())?;
    talk.fold(1, batch.len() as u64, "summary").await?;
    equal(talk.window().await?, ["summary"])?;
    equal(talk.chat.store().redact(&talk.scope, &ids(&batch)).await?.len(), batch.len())?;
    equal(talk.window().await?, [""; 0])?;
    talk.delete().await?;
    equal(talk.rows(View::All).await?, [])
}
