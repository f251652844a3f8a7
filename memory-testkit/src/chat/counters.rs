//! What stores keep for budgets: the counter of each message's tokens, and the largest budget that was asked for.

use memory_core::store::chat::{Append, NewMessage, Placement, View};
use memory_core::{CounterId, Seq, StoredMessage};

use super::talk::{Talk, ids, new};
use crate::check::{Scene, equal};
use crate::{Bed, Chat, Needs};

scenarios!(TABLE: Chat = [
    keeps_who_counted_each_message,
    a_repeat_of_another_counter_changes_no_count,
    a_forgotten_message_has_no_counter,
    restores_who_counted,
    keeps_the_largest_budget_asked,
    a_deleted_session_knows_no_budget,
]);

scenarios!(DURABLE: Chat, Needs::Durability = [
    a_restart_keeps_who_counted_and_the_budget,
]);

/// The numbers at the ends, one between them, and nobody's.
const COUNTERS: [CounterId; 4] = [CounterId(1), CounterId(u32::MAX), CounterId(0x811c_9dc5), CounterId::UNKNOWN];

fn counted(text: &str, counter: CounterId) -> NewMessage {
    NewMessage { counter, ..new(text) }
}

/// Appends a message of each counter, and returns them.
async fn four(talk: &Talk) -> memory_core::Result<Vec<NewMessage>> {
    let texts = ["one", "two", "three", "four"];
    let messages: Vec<_> = texts.into_iter().zip(COUNTERS).map(|(text, counter)| counted(text, counter)).collect();
    talk.append(&messages).await?;
    Ok(messages)
}

fn counters(rows: &[StoredMessage]) -> Vec<CounterId> {
    rows.iter().map(|row| row.counter).collect()
}

async fn keeps_who_counted_each_message(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = four(&talk).await?;
    for view in [View::Active, View::Log, View::All] {
        equal(counters(&talk.rows(view).await?), COUNTERS)?;
    }
    let mut reversed = ids(&messages);
    reversed.reverse();
    let mut found = counters(&talk.get(&reversed).await?);
    found.reverse();
    equal(found, COUNTERS)?;
    let summary = counted("summary", CounterId(7));
    talk.compact(&talk.plan(1, 2, &summary).await?).await?;
    equal(counters(&talk.rows(View::Active).await?), [CounterId(7), CounterId(0x811c_9dc5), CounterId::UNKNOWN])?;
    talk.unfold(&summary).await?;
    equal(counters(&talk.rows(View::All).await?), COUNTERS)
}

async fn a_repeat_of_another_counter_changes_no_count(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = four(&talk).await?;
    let again: Vec<_> =
        messages.into_iter().map(|new| NewMessage { tokens: 99, counter: CounterId(5), ..new }).collect();
    let before = talk.rows(View::All).await?;
    equal(talk.append(&again).await?.placements, (1..=4).map(|seq| Placement::Already(Seq(seq))).collect::<Vec<_>>())?;
    equal(talk.rows(View::All).await?, before)
}

async fn a_forgotten_message_has_no_counter(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = four(&talk).await?;
    let first: Vec<_> = ids(&messages).into_iter().take(1).collect();
    talk.chat.store().redact(&talk.scope, &first).await?;
    let rows = talk.rows(View::Log).await?;
    equal(counters(&rows), [&[CounterId::UNKNOWN], &COUNTERS[1..]].concat())?;
    equal(rows.iter().map(|row| row.tokens).collect::<Vec<_>>(), [0, 3, 5, 4])
}

async fn restores_who_counted(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    four(&talk).await?;
    talk.compact(&talk.plan(1, 2, &counted("summary", CounterId(7))).await?).await?;
    let rows = talk.rows(View::All).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    bob.chat.store().restore(&bob.scope, &bob.session, None, &rows).await?;
    equal(counters(&bob.rows(View::All).await?), counters(&rows))
}

/// Appends messages after a context was asked for so many tokens; returns what the session knows then.
async fn ask(talk: &Talk, asked: u64, messages: Vec<NewMessage>) -> memory_core::Result<u64> {
    let batch = Append { asked, ..Append::new(messages) };
    Ok(talk.chat.store().append(&talk.scope, &talk.session, &batch).await?.state.asked)
}

async fn keeps_the_largest_budget_asked(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    equal(talk.state().await?.asked, 0)?;
    for (asked, known) in [(0, 0), (40_000, 40_000), (0, 40_000), (128_000, 128_000), (50_000, 128_000)] {
        equal(ask(&talk, asked, vec![new("words")]).await?, known)?;
        equal(talk.state().await?.asked, known)?;
    }
    talk.fold(1, 2, "summary").await?;
    let listed = talk.chat.store().sessions(&talk.scope, None, 10).await?;
    equal(listed.iter().map(|state| state.asked).collect::<Vec<_>>(), [128_000])?;
    // Nothing is asked of a session by a batch that changes nothing.
    let again = talk.say(&["more words"]).await?;
    equal(ask(&talk, 200_000, again).await?, 128_000)?;
    equal(talk.beside("t")?.state().await?.asked, 0)
}

async fn a_deleted_session_knows_no_budget(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    ask(&talk, 40_000, vec![new("words")]).await?;
    talk.delete().await?;
    equal(talk.state().await?.asked, 0)?;
    equal(ask(&talk, 0, vec![new("again")]).await?, 0)
}

async fn a_restart_keeps_who_counted_and_the_budget(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    four(&talk).await?;
    ask(&talk, 40_000, vec![counted("five", CounterId(9))]).await?;
    let (scope, session) = (talk.scope.clone(), talk.session.clone());
    drop(talk);
    let bed = bed.restart().await?;
    let talk = Talk { chat: bed.store.clone(), scope, session };
    equal(counters(&talk.rows(View::All).await?), [COUNTERS.as_slice(), &[CounterId(9)]].concat())?;
    equal(talk.state().await?.asked, 40_000)
}
