//! Every writing method is repeated after a lost answer: the outcome is as if the first answer had arrived.

use std::sync::Arc;

use memory_core::store::chat::{Compaction, NewMessage, Placement, View};
use memory_core::{Epoch, Error, Seq};

use super::talk::{Talk, equal_rows, new};
use crate::check::{Scene, equal};
use crate::doubles::{Faulty, Tapped, When};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    append_is_repeated_after_a_lost_answer,
    restore_is_repeated_after_a_lost_answer,
    fold_is_repeated_after_a_lost_answer,
    unfold_is_repeated_after_a_lost_answer,
    redact_is_repeated_after_a_lost_answer,
    delete_is_repeated_after_a_lost_answer,
    erase_is_repeated_after_a_lost_answer,
]);

/// Returns equal sessions of two owners, and the second one once more with the first answer to `method` lost.
async fn pair(bed: &Bed<Chat>, method: &'static str) -> memory_core::Result<(Talk, Talk, Talk)> {
    let (ada, bob) = (Talk::new(bed, "ada", "s")?, Talk::new(bed, "bob", "s")?);
    let messages: Vec<_> = ["one", "two", "three"].map(new).to_vec();
    let summary = new("summary");
    for talk in [&ada, &bob] {
        talk.append(&messages).await?;
        talk.compact(&talk.plan(1, 2, &summary).await?).await?;
    }
    let tap = Arc::new(Faulty::at(1, When::LostAnswer).of(method));
    let layered = bob.chat.clone().layered(|store| Arc::new(Tapped::new(store, tap)));
    let cut = Talk { chat: layered, ..bob.clone() };
    Ok((ada, bob, cut))
}

/// Checks that two sessions read alike.
async fn alike(one: &Talk, other: &Talk) -> Scene {
    equal_rows(&other.rows(View::All).await?, &one.rows(View::All).await?)?;
    equal(other.state().await?, one.state().await?)?;
    other.in_order().await
}

async fn append_is_repeated_after_a_lost_answer(bed: Bed<Chat>) -> Scene {
    let (ada, bob, cut) = pair(&bed, "append").await?;
    let batch: [NewMessage; 2] = ["four", "five"].map(new);
    let fence = ada.append(&batch).await?.state.fence;
    fails!(cut.append_with(Some(fence), &batch).await, Error::Backend { .. });
    let repeated = cut.append_with(Some(fence), &batch).await?;
    equal(repeated.placements, [Placement::Already(Seq(4)), Placement::Already(Seq(5))])?;
    alike(&ada, &bob).await
}

async fn restore_is_repeated_after_a_lost_answer(bed: Bed<Chat>) -> Scene {
    let (ada, bob, cut) = pair(&bed, "restore").await?;
    ada.say(&["four", "five", "six"]).await?;
    ada.fold(4, 5, "four and five").await?;
    let rows = ada.rows(View::All).await?;
    fails!(cut.chat.store().restore(&cut.scope, &cut.session, None, &rows).await, Error::Backend { .. });
    let repeated = cut.chat.store().restore(&cut.scope, &cut.session, None, &rows).await?;
    equal(repeated.placements, (1..=6).map(|number| Placement::Already(Seq(number))).collect::<Vec<_>>())?;
    equal(bob.rows(View::All).await?, rows)?;
    bob.in_order().await
}

async fn fold_is_repeated_after_a_lost_answer(bed: Bed<Chat>) -> Scene {
    let (ada, bob, cut) = pair(&bed, "compact").await?;
    let change = ada.plan(1, 3, &new("all")).await?;
    let first = ada.compact(&change).await?;
    fails!(cut.compact(&change).await, Error::Backend { .. });
    equal(cut.compact(&change).await?, first)?;
    alike(&ada, &bob).await
}

async fn unfold_is_repeated_after_a_lost_answer(bed: Bed<Chat>) -> Scene {
    let (ada, bob, cut) = pair(&bed, "compact").await?;
    for row in ada.rows(View::All).await?.into_iter().filter(|row| row.covers.is_some()) {
        let change = Compaction::Unfold { summary: row.id };
        let first = ada.compact(&change).await?;
        fails!(cut.compact(&change).await, Error::Backend { .. });
        equal(cut.compact(&change).await?, first)?;
    }
    equal(bob.window().await?, ["one", "two", "three"])?;
    alike(&ada, &bob).await
}

async fn redact_is_repeated_after_a_lost_answer(bed: Bed<Chat>) -> Scene {
    let (ada, bob, cut) = pair(&bed, "redact").await?;
    let wanted: Vec<_> = ada.rows(View::Log).await?.iter().take(1).map(|row| row.id).collect();
    equal(ada.chat.store().redact(&ada.scope, &wanted).await?.len(), 1)?;
    fails!(cut.chat.store().redact(&cut.scope, &wanted).await, Error::Backend { .. });
    equal(cut.chat.store().redact(&cut.scope, &wanted).await?, [])?;
    equal(bob.window().await?, ["two", "three"])?;
    alike(&ada, &bob).await
}

async fn delete_is_repeated_after_a_lost_answer(bed: Bed<Chat>) -> Scene {
    let (ada, bob, cut) = pair(&bed, "delete").await?;
    equal(ada.delete().await?, 3)?;
    fails!(cut.delete().await, Error::Backend { .. });
    equal(cut.delete().await?, 0)?;
    alike(&ada, &bob).await
}

async fn erase_is_repeated_after_a_lost_answer(bed: Bed<Chat>) -> Scene {
    let (ada, bob, cut) = pair(&bed, "erase").await?;
    let old = bob.state().await?.fence;
    ada.chat.store().erase(&ada.scope, Epoch(1)).await?;
    fails!(cut.chat.store().erase(&cut.scope, Epoch(1)).await, Error::Backend { .. });
    equal(cut.chat.store().erase(&cut.scope, Epoch(1)).await?.remaining, 0)?;
    fails!(bob.append_with(Some(old), &[new("late")]).await, Error::Fenced);
    alike(&ada, &bob).await
}
