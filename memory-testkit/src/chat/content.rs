//! What stores promise for content and names: whatever they are given comes back byte for byte.

use std::sync::Arc;

use memory_core::store::chat::{NewMessage, Page, Placement, View};
use memory_core::{Message, MessageId, SessionId, StoredMessage};
use uuid::Uuid;

use super::talk::{MANY, Talk, new, sized, texts};
use crate::bad_input::refusal;
use crate::check::{Scene, equal};
use crate::generate::{self, HOSTILE_NAMES, Random};
use crate::{Bed, Chat, odd};

scenarios!(TABLE: Chat = [
    keeps_every_message_byte_for_byte,
    knows_odd_messages_again,
    keeps_odd_summaries_and_restored_rows,
    keeps_every_name_of_a_session,
    keeps_names_of_the_greatest_length,
    keeps_every_name_of_an_owner,
    keeps_every_id,
    keeps_the_largest_token_counts,
    no_sum_of_token_counts_begins_anew,
    a_sum_too_large_is_right_again_once_less_is_in_the_window,
    restores_token_counts_of_any_sum,
]);

/// Checks that a row holds exactly this message.
fn same(row: Option<&StoredMessage>, message: &Message) -> Scene {
    let stored = row.and_then(|row| row.message.as_deref());
    let bytes = stored.map(Message::encode);
    let start = message.text().chars().take(40).collect::<String>();
    check!(bytes.as_ref() == Some(&message.encode()), "the message that begins {start:?} came back as another");
    check!(stored == Some(message), "the message that begins {start:?} came back as an unequal one");
    Ok(())
}

async fn keeps_every_message_byte_for_byte(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages: Vec<_> = odd::messages().into_iter().map(Arc::new).collect();
    for message in &messages {
        talk.append(&[NewMessage::sized(message.clone(), 1)]).await?;
    }
    for view in [View::Active, View::Log, View::All] {
        let rows = talk.rows(view).await?;
        equal(rows.len(), messages.len())?;
        for (row, message) in rows.iter().zip(&messages) {
            same(Some(row), message)?;
        }
    }
    for message in &messages {
        same(talk.get(&[message.id]).await?.first(), message)?;
    }
    Ok(())
}

async fn knows_odd_messages_again(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let batch: Vec<_> = odd::messages().into_iter().map(|message| NewMessage::sized(message, 1)).collect();
    talk.append(&batch).await?;
    let again = talk.append(&batch).await?;
    let all_known = again.placements.iter().all(|placement| matches!(placement, Placement::Already(_)));
    check!(all_known, "a repeat was taken for something else: {:?}", again.placements);
    equal(again.state.head.0, batch.len() as u64)
}

async fn keeps_odd_summaries_and_restored_rows(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let bob = Talk::new(&bed, "bob", "s")?;
    let messages = odd::messages();
    for (place, message) in messages.iter().enumerate() {
        let seq = place as u64 + 1;
        talk.say(&["original"]).await?;
        let summary = NewMessage::sized(message.clone(), 1);
        talk.compact(&talk.plan(seq, seq, &summary).await?).await?;
    }
    let rows = talk.rows(View::All).await?;
    bob.chat.store().restore(&bob.scope, &bob.session, None, &rows).await?;
    for talk in [talk, bob] {
        for message in &messages {
            same(talk.get(&[message.id]).await?.first(), message)?;
        }
    }
    Ok(())
}

async fn keeps_every_name_of_a_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    for name in HOSTILE_NAMES {
        talk.beside(name)?.say(&[name]).await?;
    }
    for name in HOSTILE_NAMES {
        let session = talk.beside(name)?;
        let rows = session.rows(View::Log).await?;
        equal(texts(&rows), [*name])?;
        check!(rows.iter().all(|row| row.session.name() == *name), "{name:?} came back as another session");
        let state = session.state().await?;
        equal((state.session.name(), state.head.0), (*name, 1))?;
        equal(session.window().await?, [*name])?;
    }
    let listed = talk.chat.store().sessions(&talk.scope, None, MANY).await?;
    equal(listed.len(), HOSTILE_NAMES.len())
}

async fn keeps_names_of_the_greatest_length(bed: Bed<Chat>) -> Scene {
    // Their encodings are three times as long.
    for letter in ["a", "\0", "_"] {
        let name = letter.repeat(255);
        let session = SessionId::new(&name)?;
        let talk = Talk { session, scope: bed.scope(&name)?, ..Talk::plain(&bed)? };
        let shorter = talk.beside(&letter.repeat(254))?;
        talk.say(&["long"]).await?;
        shorter.say(&["shorter"]).await?;
        equal(talk.log().await?, ["long"])?;
        let states = talk.chat.store().sessions(&talk.scope, None, 10).await?;
        let names: Vec<_> = states.iter().map(|state| state.session.name().len()).collect();
        equal(names, [254, 255])?;
    }
    Ok(())
}

async fn keeps_every_name_of_an_owner(bed: Bed<Chat>) -> Scene {
    let plain = Talk::plain(&bed)?;
    let scopes = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 60)?;
    let talks: Vec<_> = scopes.into_iter().map(|scope| Talk { scope, ..plain.clone() }).collect();
    // One id for all of them: it is unique within an owner only.
    let id = MessageId::fresh();
    for talk in &talks {
        let message = (*new(talk.scope.key()).message).clone().with_id(id);
        talk.append(&[NewMessage::sized(message, 1)]).await?;
    }
    for talk in &talks {
        equal(talk.log().await?, [talk.scope.key()])?;
        equal(texts(&talk.get(&[id]).await?), [talk.scope.key()])?;
    }
    Ok(())
}

async fn keeps_every_id(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let ids = [Uuid::nil(), Uuid::max(), Uuid::from_u128(1), Uuid::from_u128(u128::MAX >> 1), Uuid::now_v7()];
    for id in ids {
        let message = (*new(&id.to_string()).message).clone().with_id(MessageId(id));
        talk.append(&[NewMessage::sized(message, 1)]).await?;
    }
    let rows = talk.get(&ids.map(MessageId)).await?;
    equal(texts(&rows), ids.map(|id| id.to_string()))?;
    equal(rows.iter().map(|row| row.id.0).collect::<Vec<_>>(), ids)
}

async fn keeps_the_largest_token_counts(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    // The sum of a session must still fit 63 bits.
    let large = u64::MAX >> 2;
    talk.append(&[sized("a", 0), sized("b", large)]).await?;
    equal(talk.state().await?.active_tokens, large)?;
    equal(texts(&talk.read(&Page::newest(10).within(large - 1)).await?), ["b"])?;
    equal(texts(&talk.read(&Page::newest(10).within(u64::MAX)).await?), ["a", "b"])
}

async fn no_sum_of_token_counts_begins_anew(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    let (most, mut kept) = (i64::MAX as u64, Vec::new());
    for count in [most - 1, most, most + 1, u64::MAX] {
        let message = sized("x", count);
        if refusal(&format!("{count} tokens"), talk.append(std::slice::from_ref(&message)).await)?.is_some() {
            kept.push(message.message.id);
        }
        let state = talk.state().await?;
        equal(state.active_messages, 1 + kept.len() as u64)?;
        let least = if kept.is_empty() { 3 } else { ALL_COUNT };
        check!(state.active_tokens >= least, "after {count} more the session counts {}", state.active_tokens);
        equal(talk.rows(View::Active).await?.len(), 1 + kept.len())?;
    }
    talk.chat.store().redact(&talk.scope, &kept).await?;
    equal(talk.state().await?.active_tokens, 3)?;
    talk.say(&["two"]).await?;
    equal(talk.state().await?.active_tokens, 6)
}

/// Nine quintillions: the largest sum that every backend can add up to.
const ALL_COUNT: u64 = 9_000_000_000_000_000_000;

/// Checks that a window of so many messages counts as too many tokens to be told.
async fn is_beyond(talk: &Talk, messages: u64) -> Scene {
    let state = talk.state().await?;
    equal(state.active_messages, messages)?;
    check!(state.active_tokens >= ALL_COUNT, "the session counts {}", state.active_tokens);
    Ok(())
}

/// Forgets messages one by one: the first leaves enough tokens behind, the second leaves one message of three tokens.
async fn shrinks(talk: &Talk, [first, second]: [MessageId; 2]) -> Scene {
    talk.chat.store().redact(&talk.scope, &[first]).await?;
    is_beyond(talk, 2).await?;
    talk.chat.store().redact(&talk.scope, &[second]).await?;
    equal(talk.state().await?.active_tokens, 3)?;
    talk.say(&["two"]).await?;
    talk.in_order().await
}

async fn a_sum_too_large_is_right_again_once_less_is_in_the_window(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let [one, two] = [sized("a", i64::MAX as u64), sized("b", i64::MAX as u64)];
    let (summary, ids) = (sized("summary", 0), [one.message.id, two.message.id]);
    talk.append(&[one]).await?;
    talk.compact(&talk.plan(1, 1, &summary).await?).await?;
    talk.append(&[two, new("one")]).await?;
    // An unfold cannot be refused for what the window holds by now.
    talk.unfold(&summary).await?;
    is_beyond(&talk, 3).await?;
    shrinks(&talk, ids).await
}

async fn restores_token_counts_of_any_sum(bed: Bed<Chat>) -> Scene {
    let (talk, bob) = (Talk::plain(&bed)?, Talk::new(&bed, "bob", "s")?);
    let messages = talk.say(&["a", "b", "one"]).await?;
    let mut rows = talk.rows(View::All).await?;
    rows.iter_mut().take(2).for_each(|row| row.tokens = i64::MAX as u64);
    bob.chat.store().restore(&bob.scope, &bob.session, None, &rows).await?;
    is_beyond(&bob, 3).await?;
    let [first, second, ..] = messages.as_slice() else { return Err("there are three messages".into()) };
    shrinks(&bob, [first.message.id, second.message.id]).await
}
