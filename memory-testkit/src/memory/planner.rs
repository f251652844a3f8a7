//! One planner over all tiers: the newest messages, notes, records, conversations and the synopsis, within one budget.

use std::collections::HashSet;

use memory_core::engine::{Context, ContextRequest, PartKind, Reason, Remember, Scoped, WorkingNote};
use memory_core::window::BufferConfig;
use memory_core::{Error, Filter, ItemId, Role};

use super::world::{World, holds, kinds, session};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s1_16_the_preset_takes_ten_messages_five_of_each_tier_and_the_synopsis,
    s1_16_under_a_shrinking_budget_the_parts_go_in_the_order_of_their_claims,
    s1_1_a_context_without_a_conversation_holds_all_tiers,
    s1_1_an_owner_without_notes_and_synopsis_gets_what_there_was_before,
    s1_16_windows_that_cannot_be_are_refused,
]);

const QUESTION: &str = "Which train to Porto shall I take?";

/// Fills all tiers of an owner, more than a context takes of each.
async fn fill(world: &World, ada: &Scoped) -> Scene {
    for number in 0..8 {
        ada.remember(Remember::fact(format!("Train {number} to Porto has a dining car."))).await?;
        ada.note(WorkingNote::new(format!("Train {number} to Porto is on time."), "timetable")).await?;
    }
    ada.remember(Remember::preference("Ada likes a seat by the window.")).await?;
    let head = world.say(Role::System, "You are a travel agent.");
    ada.session(&session("talk")?).append([vec![head], world.chatter(30)].concat()).await?;
    ada.synopsis().await?;
    world.tend().await
}

fn count(context: &Context, words: &str) -> usize {
    context.parts.iter().map(|part| part.message.text().matches(words).count()).sum()
}

async fn s1_16_the_preset_takes_ten_messages_five_of_each_tier_and_the_synopsis(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    fill(&world, &ada).await?;
    let request = ContextRequest::muxi(QUESTION);
    equal((request.budget.limit, request.newest, request.notes, request.recall), (4_000, Some(10), 5, 5))?;
    let context = ada.session(&session("talk")?).assemble(&request).await?;
    let order = [PartKind::Instruction, PartKind::Synopsis, PartKind::History, PartKind::Recalled, PartKind::Query];
    equal(kinds(&context), order)?;
    let history = context.parts.iter().filter(|part| part.kind == PartKind::History).count();
    equal((history, context.receipt.history.outside > 0), (10, true))?;
    let recalled = context.receipt.included.iter().filter(|included| included.part == PartKind::Recalled).count();
    equal((recalled, count(&context, "on time.</item>")), (10, 5))?;
    holds(&context, "a seat by the window")?;
    check!(context.tokens() <= 4_000 && context.receipt.search.degraded.is_empty(), "{}", context.receipt);
    is_explained(&context)
}

/// Passes if each item stands in the receipt once: as included, or as left out for one reason; and all others that were found are
/// counted.
fn is_explained(context: &Context) -> Scene {
    let mut seen = HashSet::new();
    let included = context.receipt.included.iter().map(|included| &included.item);
    let left_out = context.receipt.search.left_out.iter().map(|left| &left.item);
    let twice: Vec<&ItemId> = included.chain(left_out).filter(|item| !seen.insert(*item)).collect();
    check!(twice.is_empty(), "told twice: {twice:?}");
    let search = &context.receipt.search;
    let told = context.receipt.included.iter().filter(|included| included.signals.is_some()).count();
    let found = told + search.left_out.len() + search.not_listed;
    let (by_words, by_meaning) = (search.text_candidates, search.vector_candidates);
    check!((by_words.max(by_meaning)..=by_words + by_meaning).contains(&found), "{found} are told: {search:?}");
    let parts: u64 = context.parts.iter().map(|part| part.tokens).sum();
    equal(parts, context.receipt.tokens.total)
}

async fn s1_16_under_a_shrinking_budget_the_parts_go_in_the_order_of_their_claims(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    fill(&world, &ada).await?;
    let talk = ada.session(&session("talk")?);
    let mut seen = HashSet::new();
    for budget in (20..=1_600).rev().step_by(20) {
        let mut request = ContextRequest::muxi(QUESTION);
        request.budget = budget.into();
        let context = match talk.assemble(&request).await {
            Ok(context) => context,
            // Not even the last turn fits.
            Err(Error::OverBudget { .. }) => break,
            Err(other) => return Err(other.into()),
        };
        check!(context.tokens() <= budget, "{} of {budget}", context.tokens());
        is_explained(&context)?;
        let kinds = kinds(&context);
        check!(kinds.is_sorted(), "{kinds:?}");
        for kind in [PartKind::Instruction, PartKind::History, PartKind::Query] {
            check!(kinds.contains(&kind), "{kind:?} is missing at {budget}: {kinds:?}");
        }
        let shown = context.receipt.synopsis.unwrap_or_default();
        equal(kinds.contains(&PartKind::Synopsis), shown.tokens > 0)?;
        check!(shown.tokens > 0 || shown.left_out == Some(Reason::NoRoom), "{shown:?} at {budget}");
        // What is left after system, query, last turn and synopsis is shared out: a third at most is recalled.
        let room = budget - context.receipt.tokens.query - shown.tokens;
        check!(context.receipt.tokens.recalled <= room / 3, "{} at {budget}", context.receipt.tokens);
        seen.insert((kinds.contains(&PartKind::Synopsis), kinds.contains(&PartKind::Recalled)));
    }
    check!(seen.len() > 2, "no budget was short: {seen:?}");
    Ok(())
}

async fn s1_1_a_context_without_a_conversation_holds_all_tiers(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    fill(&world, &ada).await?;
    let said = world.user("My ticket to Porto has the number PT-77.");
    ada.session(&session("older")?).append(vec![said]).await?;
    world.tend().await?;
    let context = ada.context("Which ticket to Porto is on which train?", 2_000).await?;
    equal(kinds(&context), [PartKind::Synopsis, PartKind::Recalled, PartKind::Query])?;
    for words in ["PT-77", "on time", "a seat by the window"] {
        holds(&context, words)?;
    }
    is_explained(&context)?;
    // Within a short budget, too, and without anything to recall.
    for budget in [30, 60, 120, 240, 480] {
        let context = ada.context(QUESTION, budget).await?;
        check!(context.tokens() <= budget && kinds(&context).contains(&PartKind::Query), "{context:?}");
        is_explained(&context)?;
    }
    check!(matches!(ada.context(QUESTION, 3).await, Err(Error::OverBudget { .. })), "a query that does not fit");
    let nobody = world.owner("nobody")?.context(QUESTION, 1_000).await?;
    equal(kinds(&nobody), [PartKind::Query])?;
    // Another owner's tiers are not among them.
    let bob = world.owner("bob")?;
    bob.note(WorkingNote::new("Bob's train to Porto is full.", "timetable")).await?;
    equal(count(&bob.context(QUESTION, 1_000).await?, "on time"), 0)?;
    equal(count(&ada.context(QUESTION, 4_000).await?, "Bob"), 0)
}

async fn s1_1_an_owner_without_notes_and_synopsis_gets_what_there_was_before(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let [ada, bob] = [world.owner("ada")?, world.owner("bob")?];
    for owner in [&ada, &bob] {
        owner.remember(Remember::fact("The train to Porto has a dining car.")).await?;
        let said = world.chatter(3).into_iter().map(|message| {
            let id = memory_core::MessageId::of_content(message.text().as_bytes());
            memory_core::Message { at: memory_core::Timestamp(0), ..message.with_id(id) }
        });
        owner.session(&session("talk")?).append(said.collect()).await?;
    }
    world.tend().await?;
    // Bob has both: for ada, nothing is different.
    bob.note(WorkingNote::new("The train to Porto is late.", "timetable")).await?;
    bob.synopsis().await?;
    world.tend().await?;
    let plain = ContextRequest::new(QUESTION, 2_000).notes(0).synopsis(false);
    let [by_default, without] = [ContextRequest::new(QUESTION, 2_000), plain];
    let of = |owner: &Scoped, request: ContextRequest| {
        let talk = session("talk").map(|id| owner.session(&id));
        async move { Ok::<Context, Failure>(talk?.assemble(&request).await?) }
    };
    let context = of(&ada, by_default.clone()).await?;
    equal(context.to_openai(), of(&ada, without.clone()).await?.to_openai())?;
    let told = serde_json::to_value(&context.receipt).map_err(|error| Failure::new(error.to_string()))?.to_string();
    check!(!told.contains("notes") && !told.contains("synopsis"), "{told}");
    equal(of(&bob, without).await?.to_openai(), context.to_openai())?;
    check!(of(&bob, by_default).await?.parts.len() > context.parts.len(), "bob's tiers are not shown");
    equal(ada.records(&Filter::All, None, 9).await?.len(), 1)
}

async fn s1_16_windows_that_cannot_be_are_refused(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(world.chatter(20)).await?;
    let of = |newest| ContextRequest::new("", 2_000).newest(newest);
    check!(matches!(talk.assemble(&of(0)).await, Err(Error::Invalid { .. })), "a window of nothing");
    let small = talk.clone().with(BufferConfig::default().with_capacity_messages(5))?;
    check!(matches!(small.assemble(&of(6)).await, Err(Error::Invalid { .. })), "a window above its capacity");
    let stable = talk.with(BufferConfig::default().with_stable_prefix())?;
    equal(stable.assemble(&of(4)).await?.parts.len(), 4)
}
