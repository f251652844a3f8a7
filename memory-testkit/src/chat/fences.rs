//! What fences promise: no old handle writes into what has been deleted or erased.

use memory_core::store::chat::{Appended, Compaction, Fence, NewMessage, Placement, View};
use memory_core::{Epoch, Error, Result, Seq, StoredMessage};

use super::talk::{Talk, contradicting, new};
use crate::check::{Scene, equal};
use crate::upkeep::bury;
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    a_read_gives_the_fence_that_an_append_needs,
    refuses_the_fence_of_a_deleted_session,
    refuses_the_fence_of_a_buried_owner,
    refuses_a_fence_that_nobody_has_seen,
    checks_nothing_without_a_fence,
    a_deletion_fences_no_other_session,
    refuses_a_fold_from_before_a_deletion,
    refuses_a_fold_from_before_an_erasure,
    refuses_a_fold_with_a_fence_that_nobody_has_seen,
    refuses_to_restore_with_the_fence_of_a_deleted_session,
    refuses_to_restore_with_the_fence_of_a_buried_owner,
]);

async fn a_read_gives_the_fence_that_an_append_needs(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    for round in 1..=3 {
        let fence = talk.state().await?.fence;
        talk.append_with(Some(fence), &[new("one")]).await?;
        equal(talk.append_with(Some(fence), &[new("two")]).await?.placements, [Placement::Added(Seq(2))])?;
        equal(talk.state().await?.fence, fence)?;
        match round {
            1 => equal(talk.delete().await?, 2)?,
            _ => {
                let epoch = bury(talk.chat.upkeep(), &talk.scope).await?;
                talk.chat.store().erase(&talk.scope, epoch).await?;
            }
        }
    }
    Ok(())
}

async fn refuses_the_fence_of_a_deleted_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let old = talk.append(&[new("one")]).await?.state.fence;
    talk.delete().await?;
    fails!(talk.append_with(Some(old), &[new("late")]).await, Error::Fenced);
    equal(talk.log().await?, [""; 0])?;
    talk.say(&["begun again"]).await?;
    fails!(talk.append_with(Some(old), &[new("late")]).await, Error::Fenced);
    equal(talk.log().await?, ["begun again"])
}

async fn refuses_the_fence_of_a_buried_owner(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let old = talk.append(&[new("one")]).await?.state.fence;
    let unused = talk.beside("unused")?.state().await?.fence;
    let epoch = bury(talk.chat.upkeep(), &talk.scope).await?;
    fails!(talk.append_with(Some(old), &[new("late")]).await, Error::Fenced);
    fails!(talk.beside("unused")?.append_with(Some(unused), &[new("late")]).await, Error::Fenced);
    talk.chat.store().erase(&talk.scope, epoch).await?;
    fails!(talk.append_with(Some(old), &[new("late")]).await, Error::Fenced);
    equal(talk.log().await?, [""; 0])
}

async fn refuses_a_fence_that_nobody_has_seen(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    let Fence { epoch, generation } = talk.state().await?.fence;
    let strange = [Fence { epoch, generation: generation + 1 }, Fence { epoch: Epoch(epoch.0 + 1), generation }];
    for fence in strange {
        fails!(talk.append_with(Some(fence), &[new("two")]).await, Error::Fenced);
    }
    equal(talk.log().await?, ["one"])
}

async fn checks_nothing_without_a_fence(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    talk.delete().await?;
    talk.append_with(None, &[new("two")]).await?;
    let epoch = bury(talk.chat.upkeep(), &talk.scope).await?;
    talk.chat.store().erase(&talk.scope, epoch).await?;
    talk.append_with(None, &[new("three")]).await?;
    equal(talk.log().await?, ["three"])
}

async fn a_deletion_fences_no_other_session(bed: Bed<Chat>) -> Scene {
    let (one, other) = (Talk::plain(&bed)?, Talk::new(&bed, "ada", "t")?);
    one.say(&["one"]).await?;
    let fence = other.append(&[new("other")]).await?.state.fence;
    one.delete().await?;
    other.append_with(Some(fence), &[new("goes on")]).await?;
    equal(other.log().await?, ["other", "goes on"])
}

/// Returns other words under the ids of messages, as somebody has them who edited an export.
fn edited(messages: &[NewMessage]) -> Vec<NewMessage> {
    messages.iter().map(contradicting).collect()
}

async fn refuses_a_fold_from_before_a_deletion(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let said = talk.say(&["one", "two", "three"]).await?;
    let late = talk.plan(1, 2, &new("sums up one and two")).await?;
    talk.delete().await?;
    fails!(talk.compact(&late).await, Error::Fenced);
    talk.append(&edited(&said)).await?;
    let before = talk.state().await?;
    fails!(talk.compact(&late).await, Error::Fenced);
    equal(talk.state().await?, before)?;
    equal(talk.window().await?, ["something else altogether"; 3])?;
    talk.fold(1, 2, "sums up what is there").await?;
    talk.in_order().await
}

async fn refuses_a_fold_from_before_an_erasure(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let said = talk.say(&["one", "two", "three"]).await?;
    let late = talk.plan(1, 2, &new("sums up one and two")).await?;
    let epoch = bury(talk.chat.upkeep(), &talk.scope).await?;
    fails!(talk.compact(&late).await, Error::Fenced);
    talk.append(&edited(&said)).await?;
    fails!(talk.compact(&late).await, Error::Fenced);
    talk.chat.store().erase(&talk.scope, epoch).await?;
    fails!(talk.compact(&late).await, Error::Fenced);
    equal(talk.window().await?, ["something else altogether"; 3])?;
    talk.fold(1, 2, "sums up what is there").await?;
    talk.in_order().await
}

async fn refuses_a_fold_with_a_fence_that_nobody_has_seen(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two"]).await?;
    let plan = talk.plan(1, 2, &new("summary")).await?;
    let Fence { epoch, generation } = talk.state().await?.fence;
    let strange = [Fence { epoch, generation: generation + 1 }, Fence { epoch: Epoch(epoch.0 + 1), generation }];
    for strange in strange {
        let mut plan = plan.clone();
        if let Compaction::Fold { fence, .. } = &mut plan {
            *fence = strange;
        }
        fails!(talk.compact(&plan).await, Error::Fenced);
        fails!(talk.beside("unknown")?.compact(&plan).await, Error::Fenced);
    }
    equal(talk.window().await?, ["one", "two"])?;
    talk.compact(&plan).await?;
    equal(talk.window().await?, ["summary"])
}

async fn restore(talk: &Talk, fence: Fence, rows: &[StoredMessage]) -> Result<Appended> {
    talk.chat.store().restore(&talk.scope, &talk.session, Some(fence), rows).await
}

/// Three messages with a summary, as they are exported.
async fn exported(talk: &Talk) -> Result<Vec<StoredMessage>> {
    talk.say(&["one", "two", "three"]).await?;
    talk.fold(1, 2, "sums up one and two").await?;
    talk.rows(View::All).await
}

async fn refuses_to_restore_with_the_fence_of_a_deleted_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let (rows, old) = (exported(&talk).await?, talk.state().await?.fence);
    talk.delete().await?;
    let deleted = talk.state().await?;
    fails!(restore(&talk, old, &rows).await, Error::Fenced);
    equal(talk.state().await?, deleted.clone())?;
    equal(talk.rows(View::All).await?, [])?;
    restore(&talk, deleted.fence, &rows).await?;
    equal(talk.rows(View::All).await?, rows.clone())?;
    fails!(restore(&talk, old, &rows).await, Error::Fenced);
    talk.in_order().await
}

async fn refuses_to_restore_with_the_fence_of_a_buried_owner(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let (rows, old) = (exported(&talk).await?, talk.state().await?.fence);
    let unused = talk.beside("unused")?;
    let epoch = bury(talk.chat.upkeep(), &talk.scope).await?;
    fails!(restore(&talk, old, &rows).await, Error::Fenced);
    talk.chat.store().erase(&talk.scope, epoch).await?;
    fails!(restore(&talk, old, &rows).await, Error::Fenced);
    fails!(restore(&unused, Fence { epoch: old.epoch, generation: 0 }, &rows).await, Error::Fenced);
    equal(talk.chat.store().sessions(&talk.scope, None, 10).await?, [])?;
    restore(&talk, talk.state().await?.fence, &rows).await?;
    equal(talk.rows(View::All).await?, rows)
}
