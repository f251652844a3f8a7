//! What a change of the window promises.

use memory_core::store::chat::{Compaction, NewMessage, View};
use memory_core::{Error, MessageId, Seq};

use super::talk::{NOON, Talk, contradicting, new, only, sized, span, texts};
use crate::check::{Scene, equal};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    a_fold_archives_a_stretch_behind_its_summary,
    a_fold_loses_no_message,
    a_fold_may_begin_behind_the_head,
    counts_a_summary_in_the_window,
    a_fold_takes_no_number_and_no_time,
    refuses_a_fold_of_other_rows_than_are_active,
    refuses_a_fold_that_cuts_a_summary,
    refuses_a_fold_that_leaves_the_session,
    refuses_a_fold_of_nothing,
    refuses_a_summary_under_a_taken_id,
    the_same_fold_again_is_success,
    an_unfold_makes_the_originals_active_again,
    the_unfold_of_a_summary_that_is_gone_is_success,
    folds_of_folds_are_undone_one_by_one,
    refuses_to_unfold_an_archived_summary,
    an_unfold_never_takes_a_message,
    every_change_raises_the_revision,
    appends_go_on_behind_a_fold,
    one_of_two_folds_at_once_wins,
]);

async fn five(bed: &Bed<Chat>) -> memory_core::Result<Talk> {
    let talk = Talk::plain(bed)?;
    talk.say(&["one", "two", "three", "four", "five"]).await?;
    Ok(talk)
}

async fn a_fold_archives_a_stretch_behind_its_summary(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let summary = talk.fold(1, 3, "summary").await?.message;
    equal(talk.window().await?, ["summary", "four", "five"])?;
    let row = only(talk.get(&[summary.id]).await?)?;
    equal((row.seq, row.covers, row.archived_by, row.tokens), (Seq(3), Some(span(1, 3)), None, 7))?;
    equal(row.message, Some(summary.clone()))?;
    let marks: Vec<_> = talk.rows(View::Log).await?.iter().map(|row| row.archived_by).collect();
    equal(marks, [Some(summary.id), Some(summary.id), Some(summary.id), None, None])?;
    talk.in_order().await
}

async fn a_fold_loses_no_message(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let before = talk.rows(View::Log).await?;
    talk.fold(1, 4, "summary").await?;
    let mut after = talk.rows(View::Log).await?;
    after.iter_mut().for_each(|row| row.archived_by = None);
    equal(after, before)
}

async fn a_fold_may_begin_behind_the_head(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    talk.fold(2, 4, "summary").await?;
    equal(talk.window().await?, ["one", "summary", "five"])?;
    talk.fold(1, 5, "all").await?;
    equal(talk.window().await?, ["all"])?;
    talk.in_order().await
}

async fn counts_a_summary_in_the_window(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.append(&[sized("a", 10), sized("b", 20), sized("c", 30)]).await?;
    let change = talk.plan(1, 2, &sized("summary", 4)).await?;
    let state = talk.compact(&change).await?;
    equal((state.active_messages, state.active_tokens, state.head), (2, 34, Seq(3)))?;
    equal(talk.state().await?, state)
}

async fn a_fold_takes_no_number_and_no_time(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let mut summary = new("summary");
    let mut message = (*summary.message).clone();
    message.at = memory_core::Timestamp(NOON.0 + 1);
    summary.message = message.into();
    let state = talk.compact(&talk.plan(1, 2, &summary).await?).await?;
    equal((state.head, state.last_at), (Seq(5), NOON))
}

async fn refuses_a_fold_of_other_rows_than_are_active(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let all: Vec<_> = talk.rows(View::Log).await?.iter().map(|row| row.id).collect();
    let (before, fence) = (talk.rows(View::All).await?, talk.state().await?.fence);
    let mut swapped: Vec<_> = all.iter().copied().take(3).collect();
    swapped.swap(0, 1);
    let wrong: [Vec<MessageId>; 6] = [
        all.iter().copied().take(2).collect(),
        all.iter().copied().take(4).collect(),
        all.iter().copied().skip(1).take(3).collect(),
        swapped,
        vec![MessageId::fresh(); 3],
        Vec::new(),
    ];
    for ids in wrong {
        let change = Compaction::Fold { fence, span: span(1, 3), ids, summary: new("summary") };
        fails!(talk.compact(&change).await, Error::Conflict);
    }
    equal(talk.rows(View::All).await?, before)?;
    talk.fold(1, 2, "first").await?;
    let ids = all.into_iter().take(2).collect();
    let archived = Compaction::Fold { fence, span: span(1, 2), ids, summary: new("again") };
    fails!(talk.compact(&archived).await, Error::Conflict);
    equal(talk.window().await?, ["first", "three", "four", "five"])
}

async fn refuses_a_fold_that_cuts_a_summary(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    talk.fold(2, 4, "inner").await?;
    for (first, last) in [(3, 5), (3, 4), (4, 4), (1, 3), (1, 2), (2, 3)] {
        let change = talk.plan(first, last, &new("outer")).await?;
        fails!(talk.compact(&change).await, Error::Conflict);
    }
    equal(talk.window().await?, ["one", "inner", "five"])?;
    talk.in_order().await
}

async fn refuses_a_fold_that_leaves_the_session(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    for (first, last) in [(0, 3), (4, 6), (1, u64::MAX), (6, 7), (3, 2)] {
        let change = talk.plan(first, last, &new("summary")).await?;
        fails!(talk.compact(&change).await, Error::Conflict);
    }
    equal(talk.window().await?.len(), 5)
}

async fn refuses_a_fold_of_nothing(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let second = only(talk.rows(View::Log).await?.into_iter().skip(1).take(1).collect())?;
    talk.chat.store().redact(&talk.scope, &[second.id]).await?;
    let fence = talk.state().await?.fence;
    let nothing = Compaction::Fold { fence, span: span(2, 2), ids: Vec::new(), summary: new("summary") };
    fails!(talk.compact(&nothing).await, Error::Conflict);
    fails!(talk.beside("unknown")?.compact(&nothing).await, Error::Conflict);
    equal(talk.window().await?, ["one", "three", "four", "five"])
}

async fn refuses_a_summary_under_a_taken_id(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let elsewhere = talk.beside("t")?.say(&["elsewhere"]).await?;
    let summary = talk.fold(1, 2, "summary").await?;
    let mut taken = vec![contradicting(&summary)];
    taken.extend(elsewhere.iter().map(contradicting));
    taken.extend(talk.rows(View::Log).await?.iter().take(4).filter_map(|row| {
        let message = row.message.clone()?;
        Some(contradicting(&NewMessage::sized(message, 1)))
    }));
    for summary in taken {
        let change = talk.plan(3, 4, &summary).await?;
        fails!(talk.compact(&change).await, Error::IdConflict { .. });
    }
    equal(talk.window().await?, ["summary", "three", "four", "five"])
}

async fn the_same_fold_again_is_success(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let change = talk.plan(1, 3, &new("summary")).await?;
    let first = talk.compact(&change).await?;
    equal(talk.compact(&change).await?, first)?;
    talk.say(&["six"]).await?;
    let before = talk.state().await?;
    equal(talk.compact(&change).await?, before)?;
    equal(talk.window().await?, ["summary", "four", "five", "six"])?;
    talk.in_order().await
}

async fn an_unfold_makes_the_originals_active_again(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let before = (talk.rows(View::All).await?, talk.state().await?);
    let summary = talk.fold(2, 4, "summary").await?;
    let state = talk.unfold(&summary).await?;
    equal(&talk.rows(View::All).await?, &before.0)?;
    equal((state.active_messages, state.active_tokens), (before.1.active_messages, before.1.active_tokens))?;
    equal(talk.get(&[summary.message.id]).await?, [])?;
    talk.in_order().await
}

async fn the_unfold_of_a_summary_that_is_gone_is_success(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let summary = talk.fold(2, 4, "summary").await?;
    let first = talk.unfold(&summary).await?;
    equal(&talk.unfold(&summary).await?, &first)?;
    equal(talk.unfold(&new("never there")).await?, first)?;
    equal(talk.window().await?.len(), 5)
}

async fn folds_of_folds_are_undone_one_by_one(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let inner = talk.fold(1, 2, "inner").await?;
    let middle = talk.fold(1, 3, "middle").await?;
    let outer = talk.fold(1, 4, "outer").await?;
    equal(talk.window().await?, ["outer", "five"])?;
    let all = texts(&talk.rows(View::All).await?);
    equal(all, ["one", "two", "inner", "three", "middle", "four", "outer", "five"])?;
    talk.in_order().await?;
    talk.unfold(&outer).await?;
    equal(talk.window().await?, ["middle", "four", "five"])?;
    talk.unfold(&middle).await?;
    equal(talk.window().await?, ["inner", "three", "four", "five"])?;
    talk.unfold(&inner).await?;
    equal(talk.window().await?, ["one", "two", "three", "four", "five"])?;
    talk.in_order().await
}

async fn refuses_to_unfold_an_archived_summary(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let inner = talk.fold(1, 2, "inner").await?;
    talk.fold(1, 3, "outer").await?;
    fails!(talk.unfold(&inner).await, Error::Conflict);
    equal(talk.window().await?, ["outer", "four", "five"])?;
    talk.in_order().await
}

async fn an_unfold_never_takes_a_message(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let six = only(talk.say(&["six"]).await?)?;
    // Whatever the answer to such a call is, nothing happens.
    let _ = talk.unfold(&six).await;
    let summary = talk.fold(1, 2, "summary").await?;
    let _ = talk.beside("t")?.unfold(&summary).await;
    let bob = Talk::new(&bed, "bob", "s")?;
    let _ = bob.unfold(&summary).await;
    equal(talk.window().await?, ["summary", "three", "four", "five", "six"])?;
    talk.in_order().await
}

async fn every_change_raises_the_revision(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let mut last = talk.state().await?.revision;
    let summary = new("summary");
    for _ in 0..2 {
        let folded = talk.compact(&talk.plan(1, 2, &summary).await?).await?.revision;
        check!(folded > last, "the fold left the revision at {folded}");
        let unfolded = talk.unfold(&summary).await?.revision;
        check!(unfolded > folded, "the unfold left the revision at {unfolded}");
        last = unfolded;
    }
    talk.say(&["six"]).await?;
    equal(talk.state().await?.revision, last)
}

async fn appends_go_on_behind_a_fold(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    talk.fold(1, 5, "summary").await?;
    let fence = talk.state().await?.fence;
    talk.append_with(Some(fence), &[new("six")]).await?;
    equal(talk.window().await?, ["summary", "six"])?;
    equal(talk.log().await?, ["one", "two", "three", "four", "five", "six"])?;
    talk.in_order().await
}

async fn one_of_two_folds_at_once_wins(bed: Bed<Chat>) -> Scene {
    let talk = five(&bed).await?;
    let (short, long) = (talk.plan(1, 3, &new("short")).await?, talk.plan(1, 4, &new("long")).await?);
    let (first, second) = tokio::join!(talk.compact(&short), talk.compact(&long));
    match (first, second) {
        (Ok(_), Err(Error::Conflict)) => equal(talk.window().await?, ["short", "four", "five"])?,
        (Err(Error::Conflict), Ok(_)) => equal(talk.window().await?, ["long", "five"])?,
        other => check!(false, "found {other:?}, promised one success and one conflict"),
    }
    talk.in_order().await
}
