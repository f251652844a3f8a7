//! What the erasure of an owner promises for conversations.

use memory_core::store::chat::{Fence, Placement, View};
use memory_core::{Epoch, Error, Seq};

use super::talk::{MANY, Talk, contradicting, ids, new};
use crate::check::{Scene, equal};
use crate::generate::{self, Random};
use crate::upkeep::bury;
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    a_buried_owner_reads_as_empty,
    an_erased_owner_is_gone,
    an_erasure_may_be_repeated,
    an_erasure_leaves_all_other_owners_as_they_are,
    an_erasure_below_the_first_epoch_removes_nothing,
    an_erasure_fences_older_epochs_without_a_burial,
    what_is_written_behind_the_burial_stays,
    an_append_between_burial_and_erasure_is_kept_or_refused,
    ids_of_an_erased_owner_are_free_again,
]);

/// Buries the owner and erases it; returns how much was removed.
async fn erase(talk: &Talk) -> Result<u64, crate::Failure> {
    let epoch = bury(talk.chat.upkeep(), &talk.scope).await?;
    let erased = talk.chat.store().erase(&talk.scope, epoch).await?;
    equal(erased.remaining, 0)?;
    Ok(erased.removed)
}

async fn a_buried_owner_reads_as_empty(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = talk.say(&["one", "two", "three"]).await?;
    let summary = talk.fold(1, 2, "summary").await?;
    bury(talk.chat.upkeep(), &talk.scope).await?;
    for view in [View::Active, View::Log, View::All] {
        equal(talk.rows(view).await?, [])?;
    }
    equal(talk.get(&ids(&messages)).await?, [])?;
    equal(talk.get(&[summary.message.id]).await?, [])?;
    equal(talk.chat.store().sessions(&talk.scope, None, MANY).await?, [])?;
    equal(talk.chat.store().redact(&talk.scope, &ids(&messages)).await?, [])?;
    equal(talk.delete().await?, 0)
}

async fn an_erased_owner_is_gone(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let mut wanted = ids(&talk.say(&["one", "two", "three"]).await?);
    wanted.push(talk.fold(1, 2, "summary").await?.message.id);
    talk.beside("t")?.say(&["four"]).await?;
    check!(erase(&talk).await? > 0, "nothing was removed");
    equal(talk.rows(View::All).await?, [])?;
    equal(talk.get(&wanted).await?, [])?;
    equal(talk.chat.store().sessions(&talk.scope, None, MANY).await?, [])?;
    let state = talk.state().await?;
    equal((state.head, state.active_messages, state.fence.epoch), (Seq(0), 0, Epoch(1)))
}

async fn an_erasure_may_be_repeated(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    erase(&talk).await?;
    let again = talk.chat.store().erase(&talk.scope, Epoch(1)).await?;
    equal((again.removed, again.remaining), (0, 0))?;
    talk.say(&["begun again"]).await?;
    let again = talk.chat.store().erase(&talk.scope, Epoch(1)).await?;
    equal((again.removed, again.remaining), (0, 0))?;
    equal(talk.log().await?, ["begun again"])
}

/// Returns everything that can be read of an owner, content as its bytes.
async fn picture(talk: &Talk) -> memory_core::Result<impl PartialEq + std::fmt::Debug + use<>> {
    let states = talk.chat.store().sessions(&talk.scope, None, MANY).await?;
    let mut rows = Vec::new();
    for state in &states {
        let talk = Talk { session: state.session.clone(), ..talk.clone() };
        rows.extend(talk.rows(View::All).await?);
    }
    let bytes: Vec<_> = rows.iter().map(|row| row.message.as_ref().map(|message| message.encode())).collect();
    let epoch = talk.chat.upkeep().epoch(&talk.scope).await?;
    Ok((states, rows, bytes, epoch))
}

async fn an_erasure_leaves_all_other_owners_as_they_are(bed: Bed<Chat>) -> Scene {
    let scopes = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 50)?;
    let plain = Talk::plain(&bed)?;
    let talks: Vec<_> = scopes.into_iter().map(|scope| Talk { scope, ..plain.clone() }).collect();
    let mut before = Vec::new();
    for talk in &talks {
        talk.say(&["one", talk.scope.key(), "three"]).await?;
        talk.fold(1, 2, "summary").await?;
        before.push(picture(talk).await?);
    }
    let erased = usize::try_from(bed.seed % 50).unwrap_or(0);
    for talk in talks.iter().skip(erased).take(1) {
        erase(talk).await?;
        equal(talk.log().await?, [""; 0])?;
    }
    for (place, (talk, before)) in talks.iter().zip(before).enumerate() {
        check!(place == erased || picture(talk).await? == before, "the erasure changed {}", talk.scope.key());
    }
    Ok(())
}

async fn an_erasure_below_the_first_epoch_removes_nothing(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let fence = talk.append(&[new("one")]).await?.state.fence;
    equal(talk.chat.store().erase(&talk.scope, Epoch(0)).await?.removed, 0)?;
    talk.append_with(Some(fence), &[new("two")]).await?;
    equal(talk.log().await?, ["one", "two"])
}

async fn an_erasure_fences_older_epochs_without_a_burial(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let old = talk.append(&[new("one")]).await?.state.fence;
    let erased = talk.chat.store().erase(&talk.scope, Epoch(3)).await?;
    check!(erased.removed > 0 && erased.remaining == 0, "found {erased:?}");
    for epoch in 0..3 {
        let fence = Fence { epoch: Epoch(epoch), ..old };
        fails!(talk.append_with(Some(fence), &[new("late")]).await, Error::Fenced);
    }
    equal(talk.chat.upkeep().epoch(&talk.scope).await?, Epoch(3))?;
    let fence = talk.state().await?.fence;
    talk.append_with(Some(fence), &[new("begun again")]).await?;
    equal(talk.log().await?, ["begun again"])
}

async fn what_is_written_behind_the_burial_stays(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one"]).await?;
    let epoch = bury(talk.chat.upkeep(), &talk.scope).await?;
    let later = talk.beside("begun behind the burial")?;
    let fence = later.state().await?.fence;
    equal(fence.epoch, epoch)?;
    later.append_with(Some(fence), &[new("two")]).await?;
    equal(talk.chat.store().erase(&talk.scope, epoch).await?.remaining, 0)?;
    equal(talk.log().await?, [""; 0])?;
    equal(later.log().await?, ["two"])?;
    later.append_with(Some(fence), &[new("three")]).await?;
    later.in_order().await
}

async fn an_append_between_burial_and_erasure_is_kept_or_refused(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let old = talk.say(&["one", "two"]).await?;
    let epoch = bury(talk.chat.upkeep(), &talk.scope).await?;
    let fence = talk.state().await?.fence;
    let repeated = talk.append_with(Some(fence), &old).await.is_ok();
    let appended = talk.append_with(Some(fence), &[new("three")]).await.is_ok();
    equal(talk.chat.store().erase(&talk.scope, epoch).await?.remaining, 0)?;
    let mut promised = Vec::new();
    promised.extend(if repeated { &["one", "two"][..] } else { &[] });
    promised.extend(appended.then_some("three"));
    equal(talk.log().await?, promised)?;
    talk.in_order().await
}

async fn ids_of_an_erased_owner_are_free_again(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = talk.say(&["one", "two"]).await?;
    let forgotten: Vec<_> = ids(&messages).into_iter().take(1).collect();
    talk.chat.store().redact(&talk.scope, &forgotten).await?;
    erase(&talk).await?;
    let others: Vec<_> = messages.iter().map(contradicting).collect();
    let placements = talk.beside("t")?.append(&others).await?.placements;
    equal(placements, [Placement::Added(Seq(1)), Placement::Added(Seq(2))])
}
