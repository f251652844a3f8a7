//! What forgetting single messages promises.

use memory_core::store::chat::{NewMessage, Placement, Redacted, View};
use memory_core::{MessageId, Seq};

use super::talk::{Talk, contradicting, ids, new, numbers, only, texts};
use crate::check::{Failure, Scene, equal};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    a_forgotten_message_leaves_an_empty_marker,
    tells_what_it_touched_in_the_order_of_the_ids,
    a_forgotten_message_leaves_the_window,
    ids_and_numbers_of_forgotten_messages_stay_taken,
    a_summary_falls_with_a_message_it_covers,
    all_summaries_around_a_message_fall,
    a_summary_inside_a_fallen_one_stays,
    the_id_of_a_summary_removes_the_summary,
    a_mark_of_another_sessions_summary_stands_for_nothing,
    a_summary_brings_back_nothing_of_another_session,
    a_mark_that_names_a_message_stands_for_nothing,
    forgets_in_all_sessions_of_the_owner,
    skips_ids_that_are_absent_foreign_or_forgotten_already,
    an_empty_list_forgets_nothing,
    a_redaction_raises_the_revision_of_its_session,
]);

async fn five(bed: &Bed<Chat>) -> memory_core::Result<(Talk, Vec<NewMessage>)> {
    let talk = Talk::plain(bed)?;
    let messages = talk.say(&["one", "two", "three", "four", "five"]).await?;
    Ok((talk, messages))
}

/// Forgets messages by their numbers, counted from 1.
async fn forget(talk: &Talk, numbers: &[u64]) -> memory_core::Result<Vec<Redacted>> {
    let rows = talk.rows(View::Log).await?;
    let ids: Vec<_> = rows.iter().filter(|row| numbers.contains(&row.seq.0)).map(|row| row.id).collect();
    talk.chat.store().redact(&talk.scope, &ids).await
}

async fn a_forgotten_message_leaves_an_empty_marker(bed: Bed<Chat>) -> Scene {
    let (talk, messages) = five(&bed).await?;
    forget(&talk, &[2]).await?;
    for view in [View::Log, View::All] {
        let rows = talk.rows(view).await?;
        equal(numbers(&rows), [1, 2, 3, 4, 5])?;
        let marker = only(rows.into_iter().skip(1).take(1).collect())?;
        equal((marker.message, marker.tokens, marker.covers, marker.archived_by), (None, 0, None, None))?;
        equal(vec![marker.id], ids(&messages).into_iter().skip(1).take(1).collect::<Vec<_>>())?;
    }
    talk.in_order().await
}

async fn tells_what_it_touched_in_the_order_of_the_ids(bed: Bed<Chat>) -> Scene {
    let (talk, messages) = five(&bed).await?;
    let mut wanted = ids(&messages);
    wanted.reverse();
    wanted.extend(ids(&messages));
    let touched = talk.chat.store().redact(&talk.scope, &wanted).await?;
    wanted.truncate(5);
    equal(touched.iter().map(|touched| touched.id).collect::<Vec<_>>(), wanted)?;
    equal(touched.iter().map(|touched| touched.seq.0).collect::<Vec<_>>(), [5, 4, 3, 2, 1])?;
    check!(touched.iter().all(|touched| touched.session == talk.session), "another session is named");
    check!(touched.iter().all(|touched| touched.summaries.is_empty()), "there are no summaries");
    Ok(())
}

async fn a_forgotten_message_leaves_the_window(bed: Bed<Chat>) -> Scene {
    let (talk, messages) = five(&bed).await?;
    forget(&talk, &[1, 5]).await?;
    equal(talk.window().await?, ["two", "three", "four"])?;
    let state = talk.state().await?;
    equal((state.head, state.active_messages, state.active_tokens), (Seq(5), 3, 12))?;
    equal(texts(&talk.get(&ids(&messages)).await?), ["two", "three", "four"])
}

async fn ids_and_numbers_of_forgotten_messages_stay_taken(bed: Bed<Chat>) -> Scene {
    let (talk, messages) = five(&bed).await?;
    forget(&talk, &[4, 5]).await?;
    let replayed = talk.append(&messages).await?;
    let promised = [
        Placement::Already(Seq(1)),
        Placement::Already(Seq(2)),
        Placement::Already(Seq(3)),
        Placement::Forgotten,
        Placement::Forgotten,
    ];
    equal(replayed.placements, promised)?;
    let others: Vec<_> = messages.iter().skip(4).map(contradicting).collect();
    equal(talk.append(&others).await?.placements, [Placement::Forgotten])?;
    equal(talk.append(&[new("six")]).await?.placements, [Placement::Added(Seq(6))])?;
    equal(talk.log().await?, ["one", "two", "three", "", "", "six"])
}

async fn a_summary_falls_with_a_message_it_covers(bed: Bed<Chat>) -> Scene {
    let (talk, _) = five(&bed).await?;
    let summary = talk.fold(1, 3, "one, two and three").await?.message.id;
    let touched = only(forget(&talk, &[2]).await?)?;
    equal((touched.seq, touched.summaries), (Seq(2), vec![summary]))?;
    equal(talk.window().await?, ["one", "three", "four", "five"])?;
    equal(talk.get(&[summary]).await?, [])?;
    equal(texts(&talk.rows(View::All).await?), ["one", "", "three", "four", "five"])?;
    talk.in_order().await
}

async fn all_summaries_around_a_message_fall(bed: Bed<Chat>) -> Scene {
    let (talk, _) = five(&bed).await?;
    let inner = talk.fold(1, 2, "inner").await?.message.id;
    let outer = talk.fold(1, 4, "outer").await?.message.id;
    let mut fallen = only(forget(&talk, &[1]).await?)?.summaries;
    let mut promised = vec![inner, outer];
    fallen.sort();
    promised.sort();
    equal(fallen, promised)?;
    equal(talk.window().await?, ["two", "three", "four", "five"])?;
    talk.in_order().await
}

async fn a_summary_inside_a_fallen_one_stays(bed: Bed<Chat>) -> Scene {
    let (talk, _) = five(&bed).await?;
    talk.fold(1, 2, "inner").await?;
    let outer = talk.fold(1, 4, "outer").await?.message.id;
    equal(only(forget(&talk, &[4]).await?)?.summaries, [outer])?;
    equal(talk.window().await?, ["inner", "three", "five"])?;
    talk.in_order().await
}

async fn the_id_of_a_summary_removes_the_summary(bed: Bed<Chat>) -> Scene {
    let (talk, _) = five(&bed).await?;
    let inner = talk.fold(1, 2, "inner").await?.message.id;
    let outer = talk.fold(1, 4, "outer").await?.message.id;
    let touched = only(talk.chat.store().redact(&talk.scope, &[outer]).await?)?;
    equal((touched.id, touched.session.clone()), (outer, talk.session.clone()))?;
    equal(talk.window().await?, ["inner", "three", "four", "five"])?;
    talk.in_order().await?;
    // What an archived summary says, the one above it may say too.
    talk.fold(1, 4, "outer again").await?;
    talk.chat.store().redact(&talk.scope, &[inner]).await?;
    equal(talk.window().await?, ["one", "two", "three", "four", "five"])?;
    equal(talk.log().await?, ["one", "two", "three", "four", "five"])?;
    talk.in_order().await
}

/// Restores messages of these words into another session of the owner, all but the last with the mark of `by`.
async fn marked(
    bed: &Bed<Chat>,
    talk: &Talk,
    words: &[&str],
    by: MessageId,
) -> Result<(Talk, Vec<MessageId>), Failure> {
    let source = Talk::new(bed, "source", "t")?;
    source.say(words).await?;
    let mut rows = source.rows(View::All).await?;
    rows.iter_mut().take(words.len() - 1).for_each(|row| row.archived_by = Some(by));
    let other = talk.beside("t")?;
    other.chat.store().restore(&other.scope, &other.session, None, &rows).await?;
    Ok((other, rows.iter().map(|row| row.id).collect()))
}

async fn a_mark_of_another_sessions_summary_stands_for_nothing(bed: Bed<Chat>) -> Scene {
    let (talk, _) = five(&bed).await?;
    let summary = talk.fold(1, 4, "one to four").await?.message.id;
    let before = (talk.state().await?, talk.rows(View::All).await?);
    let (other, restored) = marked(&bed, &talk, &["six", "seven"], summary).await?;
    // Summaries of both sessions stand alike, so that they are easily taken for each other.
    other.say(&["eight", "nine"]).await?;
    other.fold(3, 4, "eight and nine").await?;
    let first: Vec<_> = restored.into_iter().take(1).collect();
    equal(talk.chat.store().redact(&talk.scope, &first).await?.len(), 1)?;
    equal((talk.state().await?, talk.rows(View::All).await?), before)?;
    talk.in_order().await?;
    equal(other.window().await?, ["seven", "eight and nine"])?;
    other.in_order().await
}

async fn a_summary_brings_back_nothing_of_another_session(bed: Bed<Chat>) -> Scene {
    let (talk, _) = five(&bed).await?;
    let first = talk.fold(1, 2, "one and two").await?;
    let second = talk.fold(3, 4, "three and four").await?.message.id;
    let (other, _) = marked(&bed, &talk, &["six", "seven"], first.message.id).await?;
    let before = (other.state().await?, other.rows(View::All).await?);
    talk.unfold(&first).await?;
    talk.chat.store().redact(&talk.scope, &[second]).await?;
    equal(talk.window().await?, ["one", "two", "three", "four", "five"])?;
    talk.in_order().await?;
    equal((other.state().await?, other.rows(View::All).await?), before)
}

async fn a_mark_that_names_a_message_stands_for_nothing(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let source = Talk::new(&bed, "source", "s")?;
    let messages = source.say(&["one", "two", "three"]).await?;
    let mut rows = source.rows(View::All).await?;
    let named = ids(&messages).into_iter().next();
    rows.iter_mut().skip(1).take(1).for_each(|row| row.archived_by = named);
    talk.chat.store().restore(&talk.scope, &talk.session, None, &rows).await?;
    equal(talk.window().await?, ["one", "three"])?;
    forget(&talk, &[2]).await?;
    equal(talk.log().await?, ["one", "", "three"])?;
    equal(talk.window().await?, ["one", "three"])?;
    talk.in_order().await
}

async fn forgets_in_all_sessions_of_the_owner(bed: Bed<Chat>) -> Scene {
    let (talk, messages) = five(&bed).await?;
    let other = talk.beside("t")?;
    let mut wanted = ids(&other.say(&["six", "seven"]).await?);
    wanted.extend(ids(&messages).into_iter().take(1));
    let touched = talk.chat.store().redact(&talk.scope, &wanted).await?;
    equal(touched.iter().map(|touched| touched.session.name()).collect::<Vec<_>>(), ["t", "t", "s"])?;
    equal(other.window().await?, [""; 0])?;
    equal(talk.window().await?, ["two", "three", "four", "five"])?;
    other.in_order().await
}

async fn skips_ids_that_are_absent_foreign_or_forgotten_already(bed: Bed<Chat>) -> Scene {
    let (talk, messages) = five(&bed).await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    let mut strange = ids(&bob.say(&["secret"]).await?);
    strange.push(MessageId::fresh());
    let first: Vec<_> = ids(&messages).into_iter().take(1).collect();
    talk.chat.store().redact(&talk.scope, &first).await?;
    strange.extend(first);
    let before = talk.state().await?;
    equal(talk.chat.store().redact(&talk.scope, &strange).await?, [])?;
    equal(talk.state().await?, before)?;
    equal(bob.log().await?, ["secret"])
}

async fn an_empty_list_forgets_nothing(bed: Bed<Chat>) -> Scene {
    let (talk, _) = five(&bed).await?;
    let before = talk.state().await?;
    equal(talk.chat.store().redact(&talk.scope, &[]).await?, [])?;
    equal(talk.state().await?, before)
}

async fn a_redaction_raises_the_revision_of_its_session(bed: Bed<Chat>) -> Scene {
    let (talk, _) = five(&bed).await?;
    let other = talk.beside("t")?;
    other.say(&["six"]).await?;
    let before = (talk.state().await?.revision, other.state().await?.revision);
    forget(&talk, &[3]).await?;
    let after = talk.state().await?;
    check!(after.revision > before.0, "the revision stays at {}", after.revision);
    equal(other.state().await?.revision, before.1)?;
    talk.append_with(Some(after.fence), &[new("six")]).await?;
    talk.in_order().await
}
