//! What becomes of branches: forgetting, deleting, calls that are repeated or cut off, and what is refused.

use std::sync::Arc;

use memory_core::engine::{ContextRequest, Forget, ForkPoint, HistoryEdge, Remember, Stage};
use memory_core::store::chat::{Page, View};
use memory_core::window::BufferConfig;
use memory_core::{Error, Filter, ItemId, Message, MessageId, Seq};

use super::fork::{fork, history, say, shown};
use super::world::{World, session};
use crate::doubles::{Cut, Ending};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    what_is_forgotten_is_gone_from_every_branch,
    a_deleted_past_is_told_and_no_new_conversation_takes_its_place,
    forgetting_a_branch_leaves_its_past,
    the_same_call_gives_the_same_branch_and_another_one_conflicts,
    a_fork_that_ends_with_its_process_at_any_call_is_completed_by_the_same_call,
    what_cannot_be_forked_or_edited_is_refused,
    what_was_told_from_an_inherited_message_falls_with_it,
    an_old_handle_makes_no_branch_of_a_conversation_begun_anew,
]);

async fn what_is_forgotten_is_gone_from_every_branch(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, ["a1", "a2", "a3"]).await?;
    let b = fork(&talk, ids[2], "b").await?;
    let c = fork(&b, Seq(1), "c").await?;
    say(&world, &c, ["c1"]).await?;
    // Also the message at which they leave.
    for (id, left) in [(ids[1], vec!["a1", "a3"]), (ids[2], vec!["a1"])] {
        talk.scoped().forget(&Forget::Messages(vec![id])).await?;
        equal(shown(&b).await?, left.clone())?;
        equal(shown(&c).await?, [&left[..], &["c1"]].concat())?;
        equal(history(&c).await?, [&left[..], &["c1"]].concat())?;
    }
    Ok(())
}

async fn a_deleted_past_is_told_and_no_new_conversation_takes_its_place(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, ["a1", "a2"]).await?;
    let b = fork(&talk, ids[1], "b").await?;
    let of_b = say(&world, &b, ["b1"]).await?;
    let c = fork(&b, of_b[0], "c").await?;
    say(&world, &c, ["c1"]).await?;
    talk.scoped().forget(&Forget::Session(talk.id().clone())).await?;
    for _ in 0..2 {
        for (branch, left) in [(&b, vec!["b1"]), (&c, vec!["b1", "c1"])] {
            let context = branch.assemble(&ContextRequest::new("", 4_000).recall(0)).await?;
            equal(context.messages().map(Message::text).collect::<Vec<_>>(), left.clone())?;
            let stages: Vec<Stage> = context.receipt.search.degraded.iter().map(|degraded| degraded.stage).collect();
            equal(stages, [Stage::Chat])?;
            let page = branch.history(HistoryEdge::Newest, 10).await?;
            equal((page.messages.len(), page.gone), (left.len(), vec![talk.id().clone()]))?;
        }
        // Another conversation of that name is no past of theirs.
        let ids = say(&world, &world.talk("ada")?, ["secret", "more", "and more"]).await?;
        let refused = b.fork(ids[0], &session("from another")?).await;
        check!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
        for row in talk.scoped().messages(&ids).await? {
            for edge in [HistoryEdge::Before(&row), HistoryEdge::After(&row)] {
                let page = b.history(edge, 10).await;
                check!(matches!(page, Err(Error::Invalid { .. })), "{edge:?}: {page:?}");
            }
        }
    }
    // The name may be used for a branch, too.
    let other = world.talk("ada")?;
    talk.scoped().forget(&Forget::Session(other.id().clone())).await?;
    let again = fork(&c, Seq(2), talk.id().name()).await?;
    equal(shown(&again).await?, ["b1", "c1"])
}

async fn forgetting_a_branch_leaves_its_past(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, ["a1", "a2"]).await?;
    let b = fork(&talk, ids[1], "b").await?;
    let of_b = say(&world, &b, ["b1"]).await?;
    let receipt = talk.scoped().forget(&Forget::Session(b.id().clone())).await?;
    check!(receipt.complete && receipt.removed == 1, "{receipt}");
    equal(shown(&talk).await?, ["a1", "a2"])?;
    equal(talk.scoped().messages(&[&ids[..], &of_b].concat()).await?.len(), 2)?;
    let again = fork(&talk, Seq(1), "b").await?;
    equal(shown(&again).await?, ["a1"])
}

async fn the_same_call_gives_the_same_branch_and_another_one_conflicts(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, ["a1", "a2"]).await?;
    for _ in 0..2 {
        let b = fork(&talk, ids[0], "b").await?;
        fork(&talk, Seq(1), "b").await?;
        say(&world, &b, ["b1"]).await?;
    }
    equal(shown(&talk.scoped().session(&session("b")?)).await?, ["a1", "b1", "b1"])?;
    let conflicts = |answer| matches!(answer, Err(Error::Conflict));
    check!(conflicts(talk.fork(Seq(2), &session("b")?).await), "another past");
    say(&world, &talk.scoped().session(&session("used")?), ["mine"]).await?;
    check!(conflicts(talk.fork(Seq(2), &session("used")?).await), "a conversation with messages");
    equal(shown(&talk.scoped().session(&session("used")?)).await?, ["mine"])
}

async fn a_fork_that_ends_with_its_process_at_any_call_is_completed_by_the_same_call(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for ending in [Ending::IsDroppedBefore, Ending::IsDroppedAfter] {
        for nth in 1.. {
            let talk = world.talk(&format!("{ending:?} {nth}"))?;
            let ids = say(&world, &talk, ["a1", "a2"]).await?;
            let cut = Arc::<Cut>::default();
            let dying = world.ground.open_cut_by(&cut, |_, builder| builder).await?;
            let dying = dying.of(talk.scoped().scope()).session(talk.id());
            cut.arm(nth, ending);
            let answer = cut.give_up(dying.fork(ids[0], &session("b")?)).await;
            let branch = fork(&talk, ids[0], "b").await?;
            say(&world, &branch, ["b1"]).await?;
            equal(shown(&branch).await?, ["a1", "b1"])?;
            if let Some(answer) = answer {
                answer?;
                check!(nth > 3, "a fork makes {nth} calls");
                break;
            }
        }
    }
    Ok(())
}

async fn what_cannot_be_forked_or_edited_is_refused(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, ["a1", "a2", "a3"]).await?;
    let foreign = say(&world, &world.talk("bob")?, ["bob's"]).await?;
    talk.scoped().forget(&Forget::Messages(vec![ids[1]])).await?;
    let b = fork(&talk, Seq(1), "b").await?;
    let other = session("other")?;
    let nowhere = talk.scoped().session(&session("nowhere")?);
    for (from, at) in [
        (&talk, ForkPoint::Number(Seq(0))),
        (&talk, Seq(4).into()),
        (&talk, Seq(u64::MAX).into()),
        (&talk, Seq(2).into()),
        (&talk, ids[1].into()),
        (&talk, foreign[0].into()),
        (&talk, MessageId::fresh().into()),
        (&b, ids[2].into()),
        (&nowhere, Seq(1).into()),
        (&nowhere, ids[0].into()),
    ] {
        let answer = from.fork(at, &other).await;
        check!(matches!(answer, Err(Error::Invalid { .. })), "{at:?} of {:?}: {answer:?}", from.id());
    }
    check!(matches!(talk.fork(Seq(1), talk.id()).await, Err(Error::Invalid { .. })), "a branch of itself onto itself");
    equal(talk.scoped().session(&other).state().await?.head, Seq(0))?;
    let edit = b.replace(ids[0], vec![world.user("b1")]).await;
    check!(matches!(edit, Err(Error::Invalid { .. })), "an inherited message is edited: {edit:?}");
    for new in [Vec::new(), vec![world.user("a2 anew")]] {
        fails!(talk.replace(ids[1], new).await, Error::Invalid { .. });
    }
    what_is_folded_is_not_edited(&bed).await?;
    equal((shown(&b).await?, shown(&talk).await?), (vec!["a1".to_owned()], vec!["a1".to_owned(), "a3".to_owned()]))
}

/// Neither a message that a summary covers nor the summary itself can be replaced, and trying it changes nothing.
async fn what_is_folded_is_not_edited(bed: &Bed<Stores>) -> Scene {
    let window = BufferConfig::default().with_capacity_messages(50);
    let world = World::with(bed, |_, builder| builder.buffer(window)).await?;
    let talk = world.talk("eve")?;
    let said = [world.chatter(25), vec![world.user("My rose is called Aurora.")]].concat();
    let first = said.first().map(|message| message.id).ok_or("nothing was said")?;
    talk.append(said).await?;
    equal(world.memory.upkeep_once().await?.summarised, 1)?;
    let all = Page::after(Seq(0), 1_000, View::All);
    let rows = talk.read(&all).await?.messages;
    let summary = rows.iter().find(|row| row.covers.is_some()).map(|row| row.id).ok_or("nothing was folded")?;
    let covered = rows.iter().find(|row| row.id == first).and_then(|row| row.archived_by);
    equal(covered, Some(summary))?;
    for from in [first, summary] {
        for new in [Vec::new(), vec![world.user("something else")]] {
            fails!(talk.replace(from, new).await, Error::Invalid { .. });
        }
    }
    equal(talk.read(&all).await?.messages, rows)
}

async fn what_was_told_from_an_inherited_message_falls_with_it(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, ["My rose is called Aurora."]).await?;
    let branch = fork(&talk, ids[0], "b").await?;
    let fact = Remember::fact("The rose is called Aurora").with_session(branch.id().clone());
    branch.scoped().remember(fact.with_source(ItemId::Message(ids[0]))).await?;
    talk.scoped().forget(&Forget::Messages(ids.into())).await?;
    equal(branch.scoped().records(&Filter::All, None, 10).await?.len(), 0)
}

async fn an_old_handle_makes_no_branch_of_a_conversation_begun_anew(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let old = world.talk("ada")?;
    say(&world, &old, ["a1"]).await?;
    old.scoped().forget(&Forget::Session(old.id().clone())).await?;
    let anew = world.talk("ada")?;
    let ids = say(&world, &anew, ["b1"]).await?;
    for at in [ForkPoint::Number(Seq(1)), ForkPoint::Message(ids[0])] {
        fails!(old.fork(at, &session("b")?).await, Error::Fenced);
    }
    equal(shown(&fork(&anew, Seq(1), "b").await?).await?, ["b1"])
}
