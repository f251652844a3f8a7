//! Settings of windows: how much of a conversation is recent, shown, searched and kept, and the figures that tell it.

use std::sync::Arc;

use memory_core::engine::{ContextRequest, Forget, PartKind, Search, Session};
use memory_core::store::chat::{Page, View};
use memory_core::window::{BufferConfig, Folding, MemoryStats};
use memory_core::{Message, Role, Seq};

use super::world::{World, kinds, session, texts};
use crate::doubles::Counting;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_3_s0_18_the_window_bounds_what_is_recent_and_what_a_context_shows,
    s0_4_what_was_archived_without_a_summary_is_found_and_comes_back,
    s0_12_a_conversation_with_a_capacity_is_searched_within_it_before_and_after_it_is_folded,
    s0_12_neither_instructions_nor_what_was_replaced_or_forgotten_use_a_capacity_up,
    s0_12_a_search_within_a_capacity_counts_no_more_than_a_thousand_rows,
    s0_22_a_preset_keeps_the_size_of_its_window,
    s2_2_upkeep_folds_each_conversation_by_the_settings_of_its_last_append,
    s2_2_upkeep_elsewhere_folds_by_its_own_settings_until_an_append_there_says_others,
    s4_12_the_figures_of_a_conversation_are_told_as_it_is_folded_and_archived,
    s4_12_how_often_a_conversation_was_summarised_is_told_although_summaries_are_merged_and_leave,
]);

async fn opened(bed: &Bed<Stores>, config: BufferConfig) -> Result<(World, Session), Failure> {
    let world = World::with(bed, |_, builder| builder.buffer(config)).await?;
    let talk = world.talk("ada")?;
    Ok((world, talk))
}

async fn recent(talk: &Session) -> Result<Vec<String>, Failure> {
    let rows = talk.recent().await?;
    Ok(rows.iter().filter_map(|row| row.message.as_deref()).map(Message::text).collect())
}

async fn s0_3_s0_18_the_window_bounds_what_is_recent_and_what_a_context_shows(bed: Bed<Stores>) -> Scene {
    let (world, talk) = opened(&bed, BufferConfig::default().with_window_messages(4)).await?;
    talk.append(vec![world.say(Role::System, "You are a gardener.")]).await?;
    talk.append(world.chatter(20)).await?;
    talk.flush().await?;
    let newest = recent(&talk).await?;
    let turn =
        |n: usize| [format!("Please water plant number {n} on the balcony."), format!("Plant {n} has had its water.")];
    equal(&newest, &[turn(18), turn(19)].concat())?;
    // By the same settings another process reads the same.
    let config = *talk.buffer();
    let elsewhere = world.ground.open(|_, builder| builder.buffer(config)).await?;
    for talk in [talk.clone(), elsewhere.of(talk.scoped().scope()).session(talk.id())] {
        equal(recent(&talk).await?, newest.clone())?;
        let context = talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await?;
        let shown: Vec<String> = context.messages().map(Message::text).collect();
        equal(shown, [vec!["You are a gardener.".to_owned()], newest.clone()].concat())?;
        let history = &context.receipt.history;
        equal((history.outside, history.no_room), (36, 0))?;
    }
    // Without settings, ten are recent, and the budget decides what a context shows.
    let plain = talk.with(BufferConfig::default())?;
    equal(recent(&plain).await?.len(), 10)?;
    equal(plain.context("", 100_000).await?.parts.len(), 41)
}

async fn s0_4_what_was_archived_without_a_summary_is_found_and_comes_back(bed: Bed<Stores>) -> Scene {
    let config = BufferConfig::default().with_capacity_messages(10).with_folding(Folding::Archive);
    let (world, talk) = opened(&bed, config).await?;
    talk.append(vec![world.say(Role::System, "You are a gardener."), world.user("My rose is called Aurora.")]).await?;
    talk.append(world.chatter(12)).await?;
    let report = world.memory.upkeep_once().await?;
    equal((report.archived, report.summarised, report.failures), (15, 0, vec![]))?;
    let context = talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await?;
    equal((context.parts.len(), kinds(&context)), (11, vec![PartKind::Instruction, PartKind::History]))?;
    // By the index alone.
    let reader = world.ground.reader("ada").await?;
    equal(texts(&reader.search(&Search::new("Aurora").limit(1)).await?), ["My rose is called Aurora."])?;
    let all = Page::after(Seq(0), 100, View::All);
    let before = talk.read(&all).await?.messages;
    equal(before.iter().filter(|row| row.archived_by.is_some()).count(), 15)?;
    let archive = before.iter().find(|row| row.is_archive()).ok_or("nothing stands for what was archived")?.id;
    talk.unfold(archive).await?;
    let rows = talk.read(&all).await?.messages;
    equal((rows.len(), rows.iter().filter(|row| row.archived_by.is_some()).count()), (26, 0))?;
    let said = before.into_iter().filter(|row| !row.is_archive()).map(|row| (row.seq, row.message));
    equal(rows.into_iter().map(|row| (row.seq, row.message)).collect::<Vec<_>>(), said.collect::<Vec<_>>())
}

async fn s0_12_a_conversation_with_a_capacity_is_searched_within_it_before_and_after_it_is_folded(
    bed: Bed<Stores>,
) -> Scene {
    let (world, talk) = opened(&bed, BufferConfig::default().with_capacity_messages(10)).await?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    talk.append(world.chatter(3)).await?;
    talk.flush().await?;
    check!(finds_aurora(&talk).await?, "it is among the newest ten");
    talk.append(world.chatter(5)).await?;
    talk.flush().await?;
    for _ in 0..2 {
        check!(!finds_aurora(&talk).await?, "it is not among the newest ten");
        check!(finds_aurora(&talk.clone().with(BufferConfig::default())?).await?, "without a capacity all is searched");
        world.tend().await?;
    }
    let everywhere = talk.scoped().search(&Search::new("rose Aurora").limit(1)).await?;
    equal(texts(&everywhere), ["My rose is called Aurora."])
}

async fn s0_12_neither_instructions_nor_what_was_replaced_or_forgotten_use_a_capacity_up(bed: Bed<Stores>) -> Scene {
    let (world, talk) = opened(&bed, BufferConfig::default().with_capacity_messages(10)).await?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    talk.append((0..10).map(|_| world.say(Role::System, "You are a gardener.")).collect()).await?;
    let slips = world.chatter(5);
    let ids = slips.iter().map(|message| message.id).collect();
    talk.append(slips).await?;
    talk.flush().await?;
    talk.scoped().forget(&Forget::Messages(ids)).await?;
    let answer = world.say(Role::Assistant, "A fine name.");
    let mut from = answer.id;
    talk.append(vec![answer]).await?;
    for n in 0..10 {
        let anew = world.say(Role::Assistant, &format!("A fine name, for the {n}th time."));
        let next = anew.id;
        talk.replace(from, vec![anew]).await?;
        from = next;
    }
    talk.append(world.chatter(4)).await?;
    talk.flush().await?;
    for _ in 0..2 {
        check!(finds_aurora(&talk).await?, "it is the tenth message from the end");
        world.tend().await?;
    }
    talk.append(vec![world.user("Good night.")]).await?;
    talk.flush().await?;
    check!(!finds_aurora(&talk).await?, "it is the eleventh message from the end");
    Ok(())
}

async fn s0_12_a_search_within_a_capacity_counts_no_more_than_a_thousand_rows(bed: Bed<Stores>) -> Scene {
    let config = BufferConfig::default().with_capacity_messages(10);
    let (world, talk) = opened(&bed, config).await?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    talk.append((0..1_300).map(|_| world.say(Role::System, "You are a gardener.")).collect()).await?;
    talk.flush().await?;
    world.tend().await?;
    let counting = Arc::<Counting>::default();
    let memory = world.ground.open_counted(&counting, |_, builder| builder.buffer(config)).await?;
    let there = memory.of(talk.scoped().scope()).session(talk.id());
    counting.reset();
    check!(!finds_aurora(&there).await?, "a thousand rows were counted, and ten numbers before them");
    let (calls, rows) = (counting.calls("read"), counting.rows("read"));
    check!(rows <= 1_100 && calls <= 8, "{rows} rows in {calls} calls");
    Ok(())
}

async fn finds_aurora(talk: &Session) -> Result<bool, Failure> {
    let found = talk.search(&Search::new("rose Aurora")).await?;
    Ok(texts(&found).iter().any(|text| text == "My rose is called Aurora."))
}

async fn s0_22_a_preset_keeps_the_size_of_its_window(bed: Bed<Stores>) -> Scene {
    let (world, talk) = opened(&bed, BufferConfig::conversational()).await?;
    talk.append(world.chatter(40)).await?;
    check!(world.memory.upkeep_once().await?.summarised > 0, "nothing was folded");
    let state = talk.state().await?;
    check!(state.head == Seq(80) && state.active_messages <= 51, "{state:?}");
    equal(recent(&talk).await?.len(), 10)
}

async fn s2_2_upkeep_folds_each_conversation_by_the_settings_of_its_last_append(bed: Bed<Stores>) -> Scene {
    let (world, talk) = opened(&bed, BufferConfig::default().with_capacity_messages(20)).await?;
    let whole = world.owner("ada")?.session(&session("whole")?);
    let whole = whole.with(BufferConfig::default().with_folding(Folding::Off))?;
    talk.append(world.chatter(20)).await?;
    whole.append(world.chatter(20)).await?;
    world.tend().await?;
    let active = talk.state().await?.active_messages;
    check!(active < 40, "{active} messages are in a window of twenty");
    equal(whole.state().await?.active_messages, 40)?;
    // A larger limit is told to every process with the next append.
    let wide = whole.with(BufferConfig::default().with_limit(200_000))?;
    wide.append(world.chatter(1)).await?;
    wide.flush().await?;
    let elsewhere = world.ground.open(|_, builder| builder).await?.of(wide.scoped().scope()).session(wide.id());
    equal(elsewhere.state().await?.asked, 200_000)
}

async fn s2_2_upkeep_elsewhere_folds_by_its_own_settings_until_an_append_there_says_others(bed: Bed<Stores>) -> Scene {
    let common = BufferConfig::default().with_capacity_messages(20);
    let (world, _) = opened(&bed, common).await?;
    let ada = world.owner("ada")?;
    let off = BufferConfig::default().with_folding(Folding::Off);
    for name in ["said", "unsaid"] {
        let whole = ada.session(&session(name)?).with(off)?;
        whole.append(world.chatter(20)).await?;
        whole.flush().await?;
    }
    let elsewhere = world.ground.open(|_, builder| builder.buffer(common)).await?;
    let there = elsewhere.of(ada.scope());
    let (said, unsaid) = (there.session(&session("said")?).with(off)?, there.session(&session("unsaid")?));
    // No message is needed for that.
    said.append(Vec::new()).await?;
    check!(elsewhere.upkeep_once().await?.summarised > 0, "nothing is folded by the settings of the other memory");
    equal(said.state().await?.active_messages, 40)?;
    let active = unsaid.state().await?.active_messages;
    check!(active < 40, "{active} messages are in a window of twenty");
    Ok(())
}

async fn s4_12_the_figures_of_a_conversation_are_told_as_it_is_folded_and_archived(bed: Bed<Stores>) -> Scene {
    let config = BufferConfig::default().with_capacity_messages(10).with_limit(5_000);
    let (world, talk) = opened(&bed, config).await?;
    talk.append(world.chatter(10)).await?;
    talk.flush().await?;
    let tokens = talk.state().await?.active_tokens;
    let promised = MemoryStats { total_entries: 20, total_tokens: tokens, capacity: 5_000, ..MemoryStats::default() };
    equal(talk.stats().await?, promised)?;
    world.tend().await?;
    let folded = talk.stats().await?;
    equal((folded.total_entries, folded.summarization_count, folded.eviction_count), (11, 1, 10))?;
    check!(folded.total_tokens < tokens, "{folded:?} of {tokens} tokens");
    let archiving = talk.with(config.with_capacity_messages(4).with_folding(Folding::Archive))?;
    archiving.append(world.chatter(1)).await?;
    world.tend().await?;
    let left = archiving.stats().await?;
    equal((left.total_entries, left.summarization_count, left.eviction_count), (5, 1, 18))
}

async fn s4_12_how_often_a_conversation_was_summarised_is_told_although_summaries_are_merged_and_leave(
    bed: Bed<Stores>,
) -> Scene {
    let config = BufferConfig::default().with_capacity_messages(20).with_max_summaries(3, 3);
    let (world, talk) = opened(&bed, config).await?;
    let mut summarised = 0;
    for _ in 0..12 {
        talk.append(world.chatter(6)).await?;
        talk.flush().await?;
        summarised += world.memory.upkeep_once().await?.summarised as u64;
        equal(talk.stats().await?.summarization_count, summarised)?;
    }
    let active = talk.read(&Page::newest(100)).await?.messages;
    let summaries: Vec<_> = active.into_iter().filter(|row| row.covers.is_some()).collect();
    check!(summaries.len() <= 3 && summarised > 6, "{} summaries of {summarised}", summaries.len());
    // The oldest is one of summaries.
    let merged = summaries.first().ok_or("there is no summary")?;
    talk.unfold(merged.id).await?;
    equal(talk.stats().await?.summarization_count, summarised - 1)?;
    // Those that leave without a summary are counted on.
    let archiving = talk.with(config.with_max_summaries(1, 2).with_folding(Folding::Archive))?;
    archiving.append(world.chatter(1)).await?;
    archiving.flush().await?;
    world.memory.upkeep_once().await?;
    let active = archiving.read(&Page::newest(100)).await?.messages;
    check!(active.iter().any(|row| row.is_archive()), "no summary left the window: {active:?}");
    equal(archiving.stats().await?.summarization_count, summarised - 1)
}
