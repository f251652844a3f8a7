//! What survives the store's being closed and opened again, and another process beside it.

use memory_core::store::chat::{Placement, View};
use memory_core::{Error, Scope, Seq, SessionId};

use super::talk::{Talk, ids, new};
use crate::check::{Scene, equal};
use crate::upkeep::bury;
use crate::{Bed, Chat, Needs};

scenarios!(BESIDE: Chat = [
    what_one_opening_writes_another_reads,
    a_burial_fences_handles_of_other_openings,
]);

scenarios!(TABLE: Chat, Needs::Durability = [
    a_restart_keeps_conversations,
    a_restart_keeps_generations_revisions_and_epochs,
    a_restart_keeps_forgotten_ids_taken,
]);

/// A talk whose store is closed.
struct Left {
    scope: Scope,
    session: SessionId,
}

/// Lets go of the store, so that a restart closes it.
fn leave(talk: Talk) -> Left {
    Left { scope: talk.scope, session: talk.session }
}

impl Left {
    fn back(self, bed: &Bed<Chat>) -> Talk {
        Talk { chat: bed.store.clone(), scope: self.scope, session: self.session }
    }
}

async fn what_one_opening_writes_another_reads(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let other = Talk { chat: bed.reopen().await?, ..talk.clone() };
    talk.say(&["one", "two"]).await?;
    equal(other.log().await?, ["one", "two"])?;
    other.fold(1, 2, "summary").await?;
    equal(talk.window().await?, ["summary"])?;
    other.delete().await?;
    equal(talk.rows(View::All).await?, [])
}

async fn a_burial_fences_handles_of_other_openings(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let other = Talk { chat: bed.reopen().await?, ..talk.clone() };
    let fence = other.append(&[new("one")]).await?.state.fence;
    bury(talk.chat.upkeep(), &talk.scope).await?;
    fails!(other.append_with(Some(fence), &[new("late")]).await, Error::Fenced);
    Ok(())
}

async fn a_restart_keeps_conversations(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two", "three", "four"]).await?;
    talk.fold(1, 2, "inner").await?;
    talk.fold(1, 3, "outer").await?;
    let before = (talk.rows(View::All).await?, talk.state().await?);
    let left = leave(talk);
    let bed = bed.restart().await?;
    let talk = left.back(&bed);
    equal((talk.rows(View::All).await?, talk.state().await?), before)?;
    equal(talk.append(&[new("five")]).await?.placements, [Placement::Added(Seq(5))])?;
    talk.in_order().await
}

async fn a_restart_keeps_generations_revisions_and_epochs(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    talk.say(&["one", "two"]).await?;
    talk.fold(1, 2, "summary").await?;
    talk.delete().await?;
    let bob = Talk::new(&bed, "bob", "s")?;
    let fence = bob.append(&[new("one")]).await?.state.fence;
    bury(bob.chat.upkeep(), &bob.scope).await?;
    let before = (talk.state().await?, bob.state().await?.fence);
    let left = (leave(talk), leave(bob));
    let bed = bed.restart().await?;
    let (talk, bob) = (left.0.back(&bed), left.1.back(&bed));
    equal((talk.state().await?, bob.state().await?.fence), before)?;
    fails!(bob.append_with(Some(fence), &[new("late")]).await, Error::Fenced);
    Ok(())
}

async fn a_restart_keeps_forgotten_ids_taken(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let messages = talk.say(&["one", "two"]).await?;
    let forgotten: Vec<_> = ids(&messages).into_iter().take(1).collect();
    talk.chat.store().redact(&talk.scope, &forgotten).await?;
    let left = leave(talk);
    let bed = bed.restart().await?;
    let talk = left.back(&bed);
    equal(talk.append(&messages).await?.placements, [Placement::Forgotten, Placement::Already(Seq(2))])?;
    equal(talk.log().await?, ["", "two"])
}
