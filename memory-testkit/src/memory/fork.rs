//! Branches: they share the past of a conversation as it was, without a copy of it, and nothing that was said after.

use std::sync::Arc;

use memory_core::engine::{ContextRequest, Forget, ForkPoint, HistoryEdge, Reason, Search, Session};
use memory_core::store::chat::{Page, View};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Block, Error, Message, MessageId, Role, Seq, StoredMessage};

use super::world::{World, session, texts};
use crate::doubles::Counting;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    a_branch_shows_its_past_and_never_what_was_said_after_it,
    a_branch_holds_no_copy_and_costs_the_same_whatever_the_length_of_its_past,
    a_branch_of_a_branch_goes_on_where_it_left,
    the_history_of_a_branch_is_read_from_either_end,
    the_newest_messages_the_title_and_the_figures_of_a_branch,
    a_branch_is_searched_with_its_past_and_nothing_said_after_it,
    an_answer_made_anew_in_a_branch_answers_the_inherited_question,
    calls_and_results_stay_together_where_a_branch_begins_between_them,
    what_is_folded_or_replaced_later_stays_in_a_branch_as_it_was_said,
    a_branch_at_a_replaced_message_goes_on_from_that_variant,
    a_short_budget_shows_the_instructions_and_the_summary_of_the_past,
    a_branch_keeps_the_summary_of_its_past_whatever_its_parent_folds_or_regenerates_later,
    contexts_of_a_branch_begin_alike_if_they_are_to,
]);

/// Returns what a context with room for everything shows of a conversation.
pub(super) async fn shown(talk: &Session) -> Result<Vec<String>, Failure> {
    let context = talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await?;
    equal(&context.receipt.search.degraded, &vec![])?;
    Ok(context.messages().map(Message::text).collect())
}

/// Returns the texts of a conversation's history.
pub(super) async fn history(talk: &Session) -> Result<Vec<String>, Failure> {
    let rows = talk.history(HistoryEdge::Oldest, 1_000).await?.messages;
    Ok(rows.iter().filter_map(|row| row.message.as_deref()).map(Message::text).collect())
}

/// Appends messages of a person, a turn each, and returns their ids.
pub(super) async fn say<const N: usize>(
    world: &World,
    talk: &Session,
    said: [&str; N],
) -> Result<[MessageId; N], Failure> {
    let messages = said.map(|text| world.user(text));
    let ids = messages.each_ref().map(|message| message.id);
    talk.append(messages.into()).await?;
    Ok(ids)
}

pub(super) async fn fork(talk: &Session, at: impl Into<ForkPoint>, name: &str) -> Result<Session, Failure> {
    Ok(talk.fork(at, &session(name)?).await?)
}

async fn a_branch_shows_its_past_and_never_what_was_said_after_it(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.say(Role::System, "You are a gardener.")]).await?;
    say(&world, &talk, ["My rose is called Aurora.", "It stands in bed four.", "I sold the rose Aurora."]).await?;
    let branch = fork(&talk, Seq(3), "what if").await?;
    say(&world, &branch, ["I moved the rose to bed five."]).await?;
    let past = ["You are a gardener.", "My rose is called Aurora.", "It stands in bed four."];
    equal(shown(&branch).await?, [&past[..], &["I moved the rose to bed five."]].concat())?;
    equal(shown(&talk).await?, [&past[..], &["I sold the rose Aurora."]].concat())?;
    world.tend().await?;
    // Nor is it recalled.
    let context = branch.context("Did I sell the rose Aurora?", 4_000).await?;
    check!(context.messages().all(|message| !message.text().contains("I sold")), "{context:#?}");
    let after = context.receipt.search.left_out.iter().find(|left| left.reason == Reason::AfterFork);
    check!(after.is_some(), "{:?}", context.receipt.search);
    equal((context.receipt.history.inherited, context.receipt.history.first), (3, Some(Seq(2))))
}

async fn a_branch_holds_no_copy_and_costs_the_same_whatever_the_length_of_its_past(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let long = world.talk("ada")?;
    long.append([vec![world.say(Role::System, "You are a gardener.")], world.chatter(1_000)].concat()).await?;
    long.flush().await?;
    let mut costs = Vec::new();
    for at in [20, 2_000] {
        let counting = Arc::<Counting>::default();
        let memory = world.ground.open_counted(&counting, |_, builder| builder).await?;
        let talk = memory.of(long.scoped().scope()).session(long.id());
        let branch = talk.fork(Seq(at), &session(&format!("at {at}"))?).await?;
        let forked = (counting.total(), counting.rows("read"), counting.rows("get"));
        equal(branch.read(&Page::after(Seq(0), 10, View::All)).await?.messages.len(), 1)?;
        branch.append(vec![world.user("And in winter?")]).await?;
        // Else a journal may send it while calls are counted.
        branch.flush().await?;
        counting.reset();
        let context = branch.assemble(&ContextRequest::new("", 200).recall(0)).await?;
        check!(context.receipt.history.inherited > 3, "{}", context.receipt);
        costs.push((forked, counting.total(), counting.rows("read")));
    }
    check!(
        costs.windows(2).all(|two| two.first() == two.last()) && costs.iter().all(|cost| cost.0.1 <= 4 && cost.2 < 30),
        "{costs:?}"
    );
    Ok(())
}

async fn a_branch_of_a_branch_goes_on_where_it_left(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, ["a1", "a2", "a3"]).await?;
    let b = fork(&talk, ids[1], "b").await?;
    let of_b = say(&world, &b, ["b1", "b2"]).await?;
    let c = fork(&b, of_b[0], "c").await?;
    say(&world, &c, ["c1"]).await?;
    say(&world, &b, ["b3"]).await?;
    equal(shown(&c).await?, ["a1", "a2", "b1", "c1"])?;
    equal(history(&c).await?, ["a1", "a2", "b1", "c1"])?;
    // At an inherited message, and at the number where the branch begins, it is a branch of the conversation that holds it.
    let d = fork(&c, ids[0], "d").await?;
    equal(shown(&d).await?, ["a1"])?;
    let e = fork(&b, Seq(1), "e").await?;
    equal(shown(&e).await?, ["a1", "a2"])?;
    talk.scoped().forget(&Forget::Session(b.id().clone())).await?;
    equal((shown(&d).await?, shown(&e).await?), (vec!["a1".to_owned()], vec!["a1".to_owned(), "a2".to_owned()]))
}

async fn the_history_of_a_branch_is_read_from_either_end(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let ids = say(&world, &talk, ["a1", "a2", "a3", "a4"]).await?;
    let b = fork(&talk, ids[2], "b").await?;
    let of_b = say(&world, &b, ["b1", "b2"]).await?;
    let c = fork(&b, of_b[1], "c").await?;
    say(&world, &c, ["c1"]).await?;
    let all = ["a1", "a2", "a3", "b1", "b2", "c1"];
    equal(history(&c).await?, all)?;
    for limit in 1..=7 {
        let mut forwards = c.history(HistoryEdge::Oldest, limit).await?.messages;
        let mut backwards = c.history(HistoryEdge::Newest, limit).await?.messages;
        check!(forwards.len() == limit.min(6) && backwards.len() == limit.min(6), "a page is short of {limit}");
        while let Some(last) = forwards.last().cloned() {
            let page = c.history(HistoryEdge::After(&last), limit).await?.messages;
            if page.is_empty() {
                break;
            }
            forwards.extend(page);
        }
        while let Some(first) = backwards.first().cloned() {
            let mut page = c.history(HistoryEdge::Before(&first), limit).await?.messages;
            if page.is_empty() {
                break;
            }
            page.extend(backwards);
            backwards = page;
        }
        let said = forwards.iter().filter_map(|row| Some(row.message.as_ref()?.text()));
        equal(said.collect::<Vec<_>>(), all)?;
        equal(backwards, forwards)?;
    }
    // What was said after the branch is in no history of it.
    let later = talk.history(HistoryEdge::Newest, 1).await?.messages;
    let later = later.first().ok_or("there is no message")?;
    for edge in [HistoryEdge::Before(later), HistoryEdge::After(later)] {
        check!(matches!(c.history(edge, 5).await, Err(Error::Invalid { .. })), "a foreign message begins a page");
    }
    Ok(())
}

async fn the_newest_messages_the_title_and_the_figures_of_a_branch(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let first = world.user("My rose is called Aurora.").with_metadata("title", "Roses");
    talk.append([vec![first], world.chatter(10)].concat()).await?;
    let branch = fork(&talk, Seq(15), "b").await?;
    equal(branch.title().await?.map(|title| title.text), Some("Roses".to_owned()))?;
    say(&world, &branch, ["b1", "b2"]).await?;
    let recent: Vec<Seq> = branch.recent().await?.iter().map(|row| row.seq).collect();
    equal(recent, [8, 9, 10, 11, 12, 13, 14, 15, 2, 3].map(Seq))?;
    let stats = branch.stats().await?;
    equal((stats.total_entries, stats.eviction_count), (2, 0))?;
    let newest = branch.scoped().search(&Search::new("").limit(3)).await?;
    equal(texts(&newest).get(..2), Some(&["b2".to_owned(), "b1".to_owned()][..]))
}

async fn a_branch_is_searched_with_its_past_and_nothing_said_after_it(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    say(&world, &talk, ["The rose stands in bed four.", "The rose was sold."]).await?;
    let branch = fork(&talk, Seq(1), "b").await?;
    say(&world, &branch, ["The rose is in bloom."]).await?;
    for _ in 0..2 {
        for search in [Search::new("rose"), Search::new("")] {
            let mut found = texts(&branch.search(&search.limit(10)).await?);
            found.sort();
            equal(found, ["The rose is in bloom.", "The rose stands in bed four."])?;
        }
        world.tend().await?;
    }
    // The row that begins the branch is no message.
    let narrow = branch.clone().with(BufferConfig::default().with_capacity_messages(1))?;
    equal(texts(&narrow.search(&Search::new("rose")).await?), ["The rose is in bloom."])?;
    let wider = branch.with(BufferConfig::default().with_capacity_messages(2))?;
    let mut both = texts(&wider.search(&Search::new("rose")).await?);
    both.sort();
    equal(both, ["The rose is in bloom.", "The rose stands in bed four."])
}

async fn an_answer_made_anew_in_a_branch_answers_the_inherited_question(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let (question, answer) = (world.user("Where are the tulips?"), world.say(Role::Assistant, "In bed four."));
    let at = question.id;
    talk.append(vec![question, answer]).await?;
    let branch = fork(&talk, at, "b").await?;
    // The question is the last message already.
    let asked = branch.context("Where are the tulips?", 1_000).await?;
    equal(asked.messages().map(Message::text).collect::<Vec<_>>(), ["Where are the tulips?"])?;
    let mut draft = branch.draft();
    draft.push("In bed ");
    draft.push("five.");
    draft.finish().await?;
    equal(shown(&branch).await?, ["Where are the tulips?", "In bed five."])?;
    let newest = branch.history(HistoryEdge::Newest, 1).await?.messages.pop().ok_or("there is no answer")?;
    branch.replace(newest.id, vec![world.say(Role::Assistant, "In bed six.")]).await?;
    equal(shown(&branch).await?, ["Where are the tulips?", "In bed six."])
}

async fn calls_and_results_stay_together_where_a_branch_begins_between_them(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let call = Block::ToolCall {
        id: "c1".to_owned(),
        name: "weather".to_owned(),
        arguments: "{}".to_owned(),
        extra: serde_json::Map::new(),
    };
    let called = Message::of_blocks(Role::Assistant, vec![call], world.memory.now());
    let at = called.id;
    talk.append(vec![world.user("Will it rain?"), called]).await?;
    let branch = fork(&talk, at, "b").await?;
    let result = Block::tool_result("c1", vec![Block::text("Rain.")]);
    branch.append(vec![Message::of_blocks(Role::Tool, vec![result], world.memory.now())]).await?;
    branch.append(vec![world.say(Role::Assistant, "It will.")]).await?;
    equal(shown(&branch).await?, ["Will it rain?", "weather {}", "Rain.", "It will."])
}

async fn what_is_folded_or_replaced_later_stays_in_a_branch_as_it_was_said(bed: Bed<Stores>) -> Scene {
    let config = BufferConfig::default().with_limit(600).with_folding(Folding::Summaries);
    let world = World::with(&bed, |_, builder| builder.buffer(config)).await?;
    let talk = world.talk("ada")?;
    talk.append(world.chatter(30)).await?;
    let ids = say(&world, &talk, ["Where are the tulips?", "Where are the daisies?"]).await?;
    let before = history(&talk).await?;
    let branch = fork(&talk, ids[1], "b").await?;
    equal(shown(&branch).await?, before.clone())?;
    check!(world.memory.upkeep_once().await?.summarised > 0, "nothing was folded");
    talk.replace(ids[0], vec![world.user("Where are the asters?")]).await?;
    equal(shown(&branch).await?, before.clone())?;
    equal(history(&branch).await?, before)?;
    // What was replaced before the branch is not shown.
    let later = fork(&talk, Seq(63), "c").await?;
    let (shown, rows) = (shown(&later).await?, later.history(HistoryEdge::Newest, 3).await?.messages);
    equal((shown.len(), shown.last().map(String::as_str)), (61, Some("Where are the asters?")))?;
    equal(rows.iter().map(|row| row.is_replaced()).collect::<Vec<_>>(), [true, true, false])
}

async fn a_branch_at_a_replaced_message_goes_on_from_that_variant(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let (question, first) = (world.user("What is my rose called?"), world.say(Role::Assistant, "Peony."));
    let variant = first.id;
    talk.append(vec![question, first]).await?;
    talk.replace(variant, vec![world.say(Role::Assistant, "Aurora.")]).await?;
    let branch = fork(&talk, variant, "b").await?;
    say(&world, &branch, ["Are you sure?"]).await?;
    equal(shown(&branch).await?, ["What is my rose called?", "Peony.", "Are you sure?"])
}

async fn a_short_budget_shows_the_instructions_and_the_summary_of_the_past(bed: Bed<Stores>) -> Scene {
    let config = BufferConfig::default().with_limit(600).with_folding(Folding::Summaries);
    let world = World::with(&bed, |_, builder| builder.buffer(config)).await?;
    let talk = world.talk("ada")?;
    talk.append([vec![world.say(Role::System, "You are a gardener.")], world.chatter(30)].concat()).await?;
    check!(world.memory.upkeep_once().await?.summarised > 0, "nothing was folded");
    let branch = fork(&talk, Seq(61), "b").await?;
    let context = branch.assemble(&ContextRequest::new("", 600).recall(0)).await?;
    let said: Vec<String> = context.messages().map(Message::text).collect();
    equal(said.first().map(String::as_str), Some("You are a gardener."))?;
    check!(said.get(1).is_some_and(|text| text.starts_with("<summary of=")), "{said:#?}");
    equal(said.last().map(String::as_str), Some("Plant 29 has had its water."))?;
    // A summary of what was said after the branch as well is none of its past.
    let early = fork(&talk, Seq(5), "c").await?;
    let all = ["You are a gardener.", "Please water plant number 0 on the balcony.", "Plant 0 has had its water."];
    equal(shown(&early).await?.get(..3), Some(&all.map(str::to_owned)[..]))?;
    let tight = early.assemble(&ContextRequest::new("", 60).recall(0)).await?;
    check!(tight.messages().all(|message| !message.text().starts_with("<summary")), "{tight:#?}");
    Ok(())
}

async fn a_branch_keeps_the_summary_of_its_past_whatever_its_parent_folds_or_regenerates_later(
    bed: Bed<Stores>,
) -> Scene {
    let config = BufferConfig::default().with_limit(600).with_folding(Folding::Summaries).with_max_summaries(1, 2);
    let world = World::with(&bed, |_, builder| builder.buffer(config)).await?;
    let talk = world.talk("ada")?;
    talk.append(world.chatter(30)).await?;
    check!(world.memory.upkeep_once().await?.summarised > 0, "nothing was folded");
    let before = fork(&talk, Seq(60), "before").await?;
    let answer = talk.recent().await?.pop().ok_or("nothing was said")?.id;
    talk.replace(answer, vec![world.say(Role::Assistant, "Plant 29 is gone.")]).await?;
    let after = fork(&talk, Seq(61), "after").await?;
    for round in 0..4 {
        for branch in [&before, &after] {
            let context = branch.assemble(&ContextRequest::new("", 600).recall(0)).await?;
            let said: Vec<String> = context.messages().map(Message::text).collect();
            let is_summarised = said.first().is_some_and(|text| text.starts_with("<summary of="));
            check!(is_summarised, "{:?}, round {round}: {said:#?}", branch.id());
        }
        talk.append(world.chatter(30)).await?;
        for _ in 0..3 {
            world.tend().await?;
        }
    }
    // In the end not even the summary was in the window.
    let all = talk.read(&Page::after(Seq(0), 1_000, View::All)).await?.messages;
    let is_folded_again = |row: &StoredMessage| row.covers.is_some() && !row.is_archive() && row.archived_by.is_some();
    check!(all.iter().any(is_folded_again), "no summary was folded");
    Ok(())
}

async fn contexts_of_a_branch_begin_alike_if_they_are_to(bed: Bed<Stores>) -> Scene {
    let config = BufferConfig::default().with_folding(Folding::Off).with_stable_prefix();
    let world = World::with(&bed, |_, builder| builder.buffer(config)).await?;
    let talk = world.talk("ada")?;
    talk.append([vec![world.say(Role::System, "You are a gardener.")], world.chatter(60)].concat()).await?;
    let branch = fork(&talk, Seq(100), "b").await?;
    let mut reused = Vec::new();
    for _ in 0..40 {
        branch.append(world.chatter(1)).await?;
        let context = branch.context("What is next?", 1_500).await?;
        reused.extend(context.receipt.prefix_reuse_ratio);
    }
    let mean = reused.iter().sum::<f64>() / reused.len() as f64;
    check!(reused.len() == 39 && mean > 0.9, "{mean} is reused: {reused:?}");
    Ok(())
}
