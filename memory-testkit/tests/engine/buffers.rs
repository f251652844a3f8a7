//! The settings of buffers: of the memory, and of one conversation.

use std::ops::Range;
use std::sync::Arc;

use memory_core::engine::{ContextRequest, Forget, PartKind, Search, Session};
use memory_core::rank::Ranking;
use memory_core::store::chat::{ChatStore as _, Compaction, NewMessage, Page, View};
use memory_core::window::{BufferConfig, Folding, Oversize};
use memory_core::{Block, Error, Message, Role, Seq, SeqRange};
use memory_testkit::doubles::StillSummarizer;

use crate::bench::{Bench, Taps};

async fn with(config: BufferConfig) -> (Bench, Session) {
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(config)).await;
    let talk = bench.session("ada");
    (bench, talk)
}

fn texts(messages: impl IntoIterator<Item = Arc<Message>>) -> Vec<String> {
    messages.into_iter().map(|message| message.text()).collect()
}

#[tokio::test]
async fn s0_3_s0_18_the_window_bounds_what_is_read_as_recent_and_what_a_context_shows() {
    let (bench, talk) = with(BufferConfig::default().with_window_messages(4)).await;
    talk.append(vec![bench.say(Role::System, "You are a gardener.")]).await.unwrap();
    talk.append(bench.chatter(20)).await.unwrap();
    let recent = texts(talk.recent().await.unwrap().into_iter().filter_map(|row| row.message));
    let newest = |n: usize| format!("Please water plant number {n} on the balcony.");
    assert_eq!((recent.len(), &recent[0], recent[3].as_str()), (4, &newest(18), "Plant 19 has had its water."));
    let context = talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await.unwrap();
    let shown = texts(context.parts.iter().map(|part| part.message.clone()));
    assert_eq!((shown[0].as_str(), &shown[1..]), ("You are a gardener.", &recent[..]));
    assert_eq!((context.receipt.history.outside, context.receipt.history.no_room), (36, 0));
    // Without settings, ten are recent, and the budget decides what a context shows.
    let plain = talk.with(BufferConfig::default()).unwrap();
    assert_eq!(plain.recent().await.unwrap().len(), 10);
    assert_eq!(plain.context("", 100_000).await.unwrap().parts.len(), 41);
}

#[tokio::test]
async fn s0_3_the_last_turn_is_shown_whole_even_if_it_has_more_messages() {
    let (bench, talk) = with(BufferConfig::default().with_window_messages(2)).await;
    talk.append(bench.chatter(3)).await.unwrap();
    talk.append(vec![bench.user("Which roses do I have?")]).await.unwrap();
    for step in 0..30 {
        let id = format!("call{step}");
        let call =
            Block::ToolCall { id: id.clone(), name: "look".into(), arguments: "{}".into(), extra: Default::default() };
        let result = Block::tool_result(&id, vec![Block::text("a rose")]);
        let now = bench.memory.now();
        let step = vec![
            Message::of_blocks(Role::Assistant, vec![call], now),
            Message::of_blocks(Role::Tool, vec![result], now),
        ];
        talk.append(step).await.unwrap();
    }
    let context = talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await.unwrap();
    assert_eq!((context.parts.len(), context.parts[0].message.text().as_str()), (61, "Which roses do I have?"));
}

#[tokio::test]
async fn s0_4_above_the_capacity_the_oldest_messages_leave_the_window_and_are_still_found() {
    let config = BufferConfig::default().with_capacity_messages(10).with_folding(Folding::Archive);
    let (bench, talk) = with(config).await;
    talk.append(vec![bench.say(Role::System, "You are a gardener."), bench.user("My rose is called Aurora.")])
        .await
        .unwrap();
    talk.append(vec![bench.say(Role::Assistant, "A fine name.")]).await.unwrap();
    talk.append(bench.chatter(12)).await.unwrap();
    let report = bench.memory.upkeep_once().await.unwrap();
    assert_eq!((report.archived, report.summarised), (16, 0));
    let shown = || async { talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await.unwrap() };
    let context = shown().await;
    let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    assert_eq!((kinds.len(), kinds[0], kinds[1]), (11, PartKind::Instruction, PartKind::History));
    assert_eq!((context.receipt.folds.len(), context.receipt.history.no_room), (0, 0));
    // Later ones leave too.
    talk.append(bench.chatter(3)).await.unwrap();
    assert_eq!(bench.memory.upkeep_once().await.unwrap().archived, 6);
    assert_eq!(shown().await.parts.len(), 11);
    let active = talk.read(&Page::newest(100)).await.unwrap().messages;
    assert_eq!(active.iter().filter(|row| row.is_archive()).count(), 2);
    let found = bench.owner("ada").search(&Search::new("Aurora")).await.unwrap();
    assert_eq!(found.hits[0].content.text(), "My rose is called Aurora.");
    assert!(
        talk.context("What is my rose called?", 2_000)
            .await
            .unwrap()
            .parts
            .iter()
            .any(|part| part.kind == PartKind::Recalled)
    );
    // It can be undone.
    let archive = active.iter().find(|row| row.is_archive()).unwrap().id;
    talk.unfold(archive).await.unwrap();
    let log = talk.read(&Page::after(Seq(0), 100, View::Log)).await.unwrap().messages;
    assert_eq!((log.len(), log.iter().filter(|row| row.archived_by.is_some()).count()), (33, 6));
}

#[tokio::test]
async fn s0_4_what_left_stays_away_although_a_message_beside_it_is_forgotten() {
    let config = BufferConfig::default().with_capacity_messages(10).with_folding(Folding::Archive);
    let (bench, talk) = with(config).await;
    let mut said = Vec::new();
    for _ in 0..4 {
        let some = bench.chatter(5);
        said.extend(some.iter().map(|message| message.id));
        talk.append(some).await.unwrap();
        bench.tend().await;
    }
    for id in [said[1], said[2], said[12]] {
        bench.owner("ada").forget(&Forget::Messages(vec![id])).await.unwrap();
        bench.tend().await;
        talk.append(Vec::new()).await.unwrap();
        bench.tend().await;
        assert_eq!(talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await.unwrap().parts.len(), 10);
    }
}

#[tokio::test]
async fn c5_what_is_summarised_and_what_is_searched_are_two_numbers() {
    let config = BufferConfig::default().with_capacity_messages(18).with_summarize_after(10);
    let (bench, talk) = with(config.with_folding(Folding::Archive)).await;
    talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    talk.append(vec![bench.say(Role::Assistant, "A fine name.")]).await.unwrap();
    talk.append(bench.chatter(6)).await.unwrap();
    assert_eq!(bench.memory.upkeep_once().await.unwrap().archived, 4);
    let rose = Search::new("rose Aurora");
    let found = async || talk.search(&rose).await.unwrap().hits.iter().any(|hit| hit.content.text().contains("Aurora"));
    assert!(found().await, "it left the window, and is among the newest eighteen");
    talk.append(bench.chatter(4)).await.unwrap();
    bench.memory.upkeep_once().await.unwrap();
    assert!(!found().await);
}

#[tokio::test]
async fn s0_12_a_conversation_with_a_capacity_is_searched_within_it() {
    let (bench, talk) = with(BufferConfig::default().with_capacity_messages(10)).await;
    talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    talk.append(bench.chatter(3)).await.unwrap();
    let rose = Search::new("rose Aurora");
    let found = |session: Session| {
        let rose = rose.clone();
        async move { session.search(&rose).await.unwrap().hits.iter().any(|hit| hit.content.text().contains("Aurora")) }
    };
    assert!(found(talk.clone()).await);
    talk.append(bench.chatter(5)).await.unwrap();
    assert!(!found(talk.clone()).await, "it is the eleventh from the end");
    bench.memory.upkeep_once().await.unwrap();
    assert!(!found(talk.clone()).await);
    assert!(found(talk.clone().with(BufferConfig::default()).unwrap()).await);
    let everywhere = bench.owner("ada").search(&rose).await.unwrap();
    assert_eq!(everywhere.hits[0].content.text(), "My rose is called Aurora.");
}

#[tokio::test]
async fn s0_12_a_conversation_is_searched_by_its_own_ranking() {
    let (bench, talk) = with(BufferConfig::default()).await;
    talk.append(vec![bench.user("Roses, roses, roses: I love roses.")]).await.unwrap();
    talk.append(bench.chatter(5)).await.unwrap();
    talk.append(vec![bench.user("Then came a letter about tea and some roses.")]).await.unwrap();
    bench.tend().await;
    let first = |session: Session| async move {
        session.search(&Search::new("roses")).await.unwrap().hits[0].content.text().starts_with("Then")
    };
    let newest = talk.clone().with(BufferConfig::default().with_ranking(Ranking::muxi(1.0))).unwrap();
    assert_eq!([first(talk.clone()).await, first(newest.clone()).await], [false, true]);
    // What a search says itself counts more.
    let own = newest.search(&Search::new("roses").ranking(Ranking::z_score())).await.unwrap();
    assert!(own.hits[0].content.text().starts_with("Roses"));
}

#[tokio::test]
async fn s0_22_the_presets_have_the_sizes_of_their_design() {
    let sizes = |config: BufferConfig| (config.window_messages, config.capacity_messages, config.ranking);
    assert_eq!(sizes(BufferConfig::high_recall()), (Some(15), Some(300), Ranking::muxi(0.1)));
    assert_eq!(sizes(BufferConfig::conversational()), (Some(10), Some(50), Ranking::muxi(0.6)));
    assert_eq!(sizes(BufferConfig::balanced()), (Some(10), Some(100), Ranking::muxi(0.3)));
    let (bench, talk) = with(BufferConfig::conversational()).await;
    talk.append(bench.chatter(40)).await.unwrap();
    assert!(bench.memory.upkeep_once().await.unwrap().summarised > 0);
    assert!(talk.state().await.unwrap().active_messages <= 51);
    assert_eq!(talk.recent().await.unwrap().len(), 10);
}

#[tokio::test]
async fn s2_2_upkeep_folds_a_conversation_by_the_settings_of_its_last_append() {
    let (bench, talk) = with(BufferConfig::default().with_capacity_messages(20)).await;
    let whole = bench.owner("ada").session(&crate::bench::session("whole"));
    let whole = whole.with(BufferConfig::default().with_folding(Folding::Off)).unwrap();
    talk.append(bench.chatter(20)).await.unwrap();
    whole.append(bench.chatter(20)).await.unwrap();
    bench.memory.upkeep_once().await.unwrap();
    assert!(talk.state().await.unwrap().active_messages < 40);
    assert_eq!(whole.state().await.unwrap().active_messages, 40);
    // A larger limit is told to every process with the next append.
    let wide = whole.with(BufferConfig::default().with_limit(200_000)).unwrap();
    wide.append(bench.chatter(1)).await.unwrap();
    assert_eq!(wide.state().await.unwrap().asked, 200_000);
}

#[tokio::test]
async fn s0_1_s2_2_five_memories_are_settings_of_one_conversation() {
    let (bench, talk) = with(BufferConfig::default()).await;
    talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    talk.append(bench.chatter(30)).await.unwrap();
    bench.tend().await;
    let question = "What is my rose called?";
    let kinds = async |config: BufferConfig, recall: usize| {
        let session = talk.clone().with(config).unwrap();
        let context = session.assemble(&ContextRequest::new(question, 600).recall(recall)).await.unwrap();
        let has = |kind: PartKind| context.parts.iter().any(|part| part.kind == kind);
        [has(PartKind::History), has(PartKind::Recalled), has(PartKind::Summary)]
    };
    // A token buffer, a vector memory, both, and with summaries; each over the same store.
    assert_eq!(kinds(BufferConfig::default(), 0).await, [true, false, false]);
    assert_eq!(kinds(BufferConfig::default().with_window_messages(1), 5).await, [true, true, false]);
    assert_eq!(kinds(BufferConfig::default(), 5).await, [true, true, false]);
    let folding = talk.clone().with(BufferConfig::default().with_limit(600)).unwrap();
    folding.append(bench.chatter(1)).await.unwrap();
    bench.tend().await;
    assert_eq!(kinds(BufferConfig::default(), 5).await, [true, true, true]);
}

#[tokio::test]
async fn s2_11_what_happens_to_a_turn_that_is_too_large_is_a_setting_and_a_request_may_say_otherwise() {
    let (bench, talk) = with(BufferConfig::default().with_oversize(Oversize::TruncateMiddle)).await;
    talk.append(vec![bench.user(&"a long story about roses ".repeat(200))]).await.unwrap();
    let context = talk.context("", 200).await.unwrap();
    assert_eq!((context.receipt.history.truncated, context.tokens() <= 200), (1, true));
    let strict = talk.assemble(&ContextRequest::new("", 200).oversize(Oversize::Error)).await;
    assert!(matches!(strict, Err(Error::OverBudget { .. })), "{strict:?}");
}

#[tokio::test]
async fn a_summariser_that_fails_takes_no_message_out_of_the_window() {
    let bench = Bench::with(Taps::default(), |builder| {
        let config = BufferConfig::default().with_capacity_messages(10).with_keep_turns(1);
        builder.buffer(config).summarizer(Arc::new(StillSummarizer::Failing))
    })
    .await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(20)).await.unwrap();
    let report = bench.memory.upkeep_once().await.unwrap();
    // An extract stands in: a summary is there before any message leaves.
    assert!(report.replaced > 0 && report.archived >= 30, "{report:?}");
    let rows = talk.read(&Page::newest(100)).await.unwrap().messages;
    assert!(rows.iter().any(|row| row.covers.is_some() && !row.is_archive()));
}

/// Lets an agent look at these beds, and append what it sees.
async fn look_at(bench: &Bench, talk: &Session, beds: Range<usize>) {
    for bed in beds {
        let id = format!("call{bed}");
        let call =
            Block::ToolCall { id: id.clone(), name: "look".into(), arguments: "{}".into(), extra: Default::default() };
        let words = format!("Bed {bed} has {} roses, none in flower yet, as far as one can see from here.", bed * 7);
        let result = Block::tool_result(&id, vec![Block::text(words)]);
        let now = bench.memory.now();
        let step = vec![
            Message::of_blocks(Role::Assistant, vec![call], now),
            Message::of_blocks(Role::Tool, vec![result], now),
        ];
        talk.append(step).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_that_runs_long_gets_a_context_although_its_budget_is_far_below_the_limit() {
    let (bench, talk) = with(BufferConfig::default()).await;
    talk.append(vec![bench.user("Find all roses that flower in autumn.")]).await.unwrap();
    let request = ContextRequest::muxi("");
    for round in 0..2 {
        look_at(&bench, &talk, 200 * round..200 * (round + 1)).await;
        let before = talk.assemble(&request).await;
        assert!(matches!(before, Err(Error::OverBudget { .. })), "{before:?}");
        assert!(bench.memory.upkeep_once().await.unwrap().summarised > 0);
        let context = talk.assemble(&request).await.unwrap();
        let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
        assert_eq!(kinds[..2], [PartKind::History, PartKind::Summary]);
        assert_eq!(context.parts[0].message.text(), "Find all roses that flower in autumn.");
        assert!(context.tokens() <= 4_000);
    }
    let log = talk.read(&Page::after(Seq(0), 1_000, View::Log)).await.unwrap().messages;
    assert_eq!(log.len(), 801);
    // Where nothing is to be folded, the turn stays as it is.
    let whole = bench.owner("bob").session(&crate::bench::session("whole"));
    let whole = whole.with(BufferConfig::default().with_folding(Folding::Off)).unwrap();
    whole.append(vec![bench.user("Find all roses that flower in spring.")]).await.unwrap();
    look_at(&bench, &whole, 0..200).await;
    assert!(whole.assemble(&request).await.is_err());
    assert_eq!(bench.memory.upkeep_once().await.unwrap().summarised, 0);
    assert!(whole.assemble(&request).await.is_err());
}

#[tokio::test]
async fn an_agent_that_runs_long_on_one_request_gets_a_context_after_upkeep() {
    let (bench, talk) = with(BufferConfig::default().with_limit(1_500)).await;
    talk.append(vec![bench.user("Find all roses that flower in autumn.")]).await.unwrap();
    look_at(&bench, &talk, 0..60).await;
    let before = talk.context("", 1_500).await;
    assert!(matches!(before, Err(Error::OverBudget { .. })), "{before:?}");
    assert!(bench.memory.upkeep_once().await.unwrap().summarised > 0);
    let context = talk.context("", 1_500).await.unwrap();
    let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    assert_eq!(kinds[..2], [PartKind::History, PartKind::Summary]);
    assert_eq!(context.parts[0].message.text(), "Find all roses that flower in autumn.");
    assert!(context.parts.last().unwrap().message.blocks.iter().any(|block| matches!(block, Block::ToolResult { .. })));
    let log = talk.read(&Page::after(Seq(0), 200, View::Log)).await.unwrap().messages;
    assert_eq!(log.len(), 121);
}

#[tokio::test]
async fn settings_that_cannot_be_are_refused() {
    let talk = Bench::new().await.session("ada");
    let plain = BufferConfig::default();
    for config in [
        plain.with_window_messages(0),
        plain.with_capacity_messages(0),
        plain.with_limit(0),
        plain.with_window_messages(11).with_capacity_messages(10),
        plain.with_window_messages(10).with_stable_prefix(),
    ] {
        assert!(matches!(talk.clone().with(config), Err(Error::Invalid { .. })), "{config:?}");
    }
    assert!(talk.with(plain.with_window_messages(10).with_capacity_messages(10)).is_ok());
}

/// Returns the mean of the shares of the contexts' beginnings that were reused over 200 turns.
async fn reuse(config: BufferConfig) -> f64 {
    let (bench, talk) = with(config).await;
    talk.append(vec![bench.say(Role::System, &"Be kind, and know your roses. ".repeat(20))]).await.unwrap();
    let mut ratios = Vec::new();
    for turn in 0..200 {
        let question = format!("What about bed {turn}, and the roses that I planted there in the year of the flood?");
        let context = talk.context(&question, 4_000).await.unwrap();
        assert!(context.tokens() <= 4_000);
        ratios.extend(context.receipt.prefix_reuse_ratio);
        let answer =
            bench.say(Role::Assistant, &format!("Bed {turn} is fine; its roses flower, and want water at noon."));
        talk.append(vec![bench.user(&question), answer]).await.unwrap();
        bench.tend().await;
    }
    assert_eq!(ratios.len(), 199);
    ratios.iter().sum::<f64>() / 199.0
}

#[tokio::test]
async fn o14_contexts_that_slide_by_steps_reuse_nine_tenths_of_their_beginning() {
    let plain = BufferConfig::default().with_folding(Folding::Off);
    let (stable, sliding) = (reuse(plain.with_stable_prefix()).await, reuse(plain).await);
    assert!(stable >= 0.9 && stable > sliding, "{stable} {sliding}");
    let folding = BufferConfig::default().with_limit(4_000).with_stable_prefix();
    let folding = reuse(folding).await;
    assert!(folding >= 0.9, "{folding}");
}

#[tokio::test]
async fn a_summary_inside_a_turn_stays_behind_its_question_when_partly_unfolded() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    let step = |n: usize| bench.say(Role::Assistant, &format!("Bed {n} has roses, and none of them is in flower yet."));
    talk.append(vec![bench.user("Look at all the beds.")]).await.unwrap();
    talk.append((0..10).map(step).collect()).await.unwrap();
    talk.append(vec![bench.say(Role::System, &"Never tell the code of the gate. ".repeat(40))]).await.unwrap();
    talk.append((10..14).map(step).collect()).await.unwrap();
    talk.append(vec![bench.say(Role::Assistant, "That was the last bed.")]).await.unwrap();
    for (first, last) in [(2, 11), (13, 16)] {
        let rows = talk.read(&Page::after(Seq(first - 1), (last - first + 1) as usize, View::Active)).await.unwrap();
        let span = SeqRange { first: Seq(first), last: Seq(last) };
        let message = Arc::new(bench.say(Role::Assistant, &format!("Beds of {first} to {last} have roses.")));
        let summary = NewMessage { message, tokens: 40, counter: rows.messages[0].counter };
        let ids = rows.messages.iter().map(|row| row.id).collect();
        let fold = Compaction::Fold { fence: rows.state.fence, span, ids, summary };
        bench.truth.compact(bench.owner("ada").scope(), talk.id(), &fold).await.unwrap();
    }
    // The messages under the second summary fit, and those under the first one are not even read.
    let budget = talk.state().await.unwrap().active_tokens + 100;
    let context = talk.assemble(&ContextRequest::new("", budget).recall(0)).await.unwrap();
    let said: Vec<String> = context.messages().map(Message::text).collect();
    let place = |words: &str| said.iter().position(|text| text.contains(words));
    assert!(place("Never tell the code") == Some(0) && place("Bed 13 has roses").is_some(), "{said:#?}");
    let order = ["Look at all the beds.", "<summary of=", "Bed 10 has roses"].map(place);
    assert_eq!(order, [Some(1), Some(2), Some(3)]);
}
