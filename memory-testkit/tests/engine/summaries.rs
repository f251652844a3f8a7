//! Windows that grow too full.

use std::sync::Arc;
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_core::engine::{Context, FoldShown, Forget, Memory, PartKind, Remember, Session};
use memory_core::model::Summarizer;
use memory_core::reference::{MemRecords, MemText};
use memory_core::store::chat::{Page, View};
use memory_core::window::BufferConfig;
use memory_core::{Filter, ItemId, Message, Role, Seq, StoredMessage, Truth};
use memory_testkit::doubles::StillSummarizer;

use crate::bench::{Bench, Taps, session};

async fn full(summarizer: Option<Arc<dyn Summarizer>>) -> (Bench, Session) {
    folding(BufferConfig::default(), summarizer).await
}

async fn folding(config: BufferConfig, summarizer: Option<Arc<dyn Summarizer>>) -> (Bench, Session) {
    let bench = Bench::with(Taps::default(), |builder| {
        let builder = builder.buffer(config.with_limit(1_500));
        match summarizer {
            Some(summarizer) => builder.summarizer(summarizer),
            None => builder,
        }
    })
    .await;
    let talk = bench.session("ada");
    talk.append(vec![bench.say(Role::System, "You are a gardener."), bench.user("My rose is called Aurora.")])
        .await
        .unwrap();
    talk.append(vec![bench.say(Role::Assistant, "A fine name.")]).await.unwrap();
    talk.append(bench.chatter(50)).await.unwrap();
    (bench, talk)
}

async fn log(talk: &Session) -> Vec<String> {
    let page = Page::after(Seq(0), 1_000, View::Log);
    let rows = talk.read(&page).await.unwrap().messages;
    rows.iter().map(|row| row.message.as_ref().unwrap().text()).collect()
}

/// Folds a full window by a policy, and returns its active rows.
async fn folded_by(config: BufferConfig) -> Vec<StoredMessage> {
    let (bench, talk) = folding(config, None).await;
    while bench.memory.upkeep_once().await.unwrap().summarised > 0 {}
    talk.read(&Page::newest(1_000)).await.unwrap().messages
}

#[tokio::test]
async fn every_setting_of_the_policy_of_folds_counts() {
    let summaries = |rows: &[StoredMessage]| rows.iter().filter(|row| row.covers.is_some()).count();
    let tokens = |rows: &[StoredMessage]| rows.iter().map(|row| row.tokens).sum::<u64>();
    let usual = folded_by(BufferConfig::default()).await;
    let never = folded_by(BufferConfig::default().with_shares(1.0, 1.0)).await;
    assert!(tokens(&usual) <= 750 && tokens(&never) > 750, "{} {}", tokens(&usual), tokens(&never));
    let deep = folded_by(BufferConfig::default().with_shares(0.8, 0.2)).await;
    assert!(tokens(&deep) < tokens(&usual), "{} {}", tokens(&deep), tokens(&usual));
    let kept = folded_by(BufferConfig::default().with_shares(0.8, 0.2).with_keep_turns(30)).await;
    assert!(kept.len() > deep.len() + 10, "{} {}", kept.len(), deep.len());
    let short = folded_by(BufferConfig::default().with_summary_tokens(40)).await;
    let largest = |rows: &[StoredMessage]| rows.iter().filter(|row| row.covers.is_some()).map(|row| row.tokens).max();
    assert!(largest(&short) < largest(&usual), "{:?} {:?}", largest(&short), largest(&usual));
    let counted = BufferConfig::default().with_shares(1.0, 1.0).with_capacity_messages(10);
    let many = folded_by(counted.with_max_summaries(500, 2)).await;
    let few = folded_by(counted.with_max_summaries(1, 2)).await;
    assert!(many.len() <= 12 + summaries(&many), "{}", many.len());
    assert!(summaries(&few) <= 1 && summaries(&many) > 1, "{} {}", summaries(&few), summaries(&many));
}

#[tokio::test]
async fn the_newest_summary_goes_in_before_older_messages() {
    let (bench, talk) = full(None).await;
    bench.memory.upkeep_once().await.unwrap();
    let rows = talk.read(&Page::newest(1_000)).await.unwrap().messages;
    let summary = rows.iter().rfind(|row| row.covers.is_some()).unwrap();
    let budget = 3 * summary.tokens;
    talk.append(bench.chatter(30)).await.unwrap();
    let context = talk.context("", budget).await.unwrap();
    let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    assert_eq!(kinds[..3], [PartKind::Instruction, PartKind::Summary, PartKind::History]);
    assert!(context.tokens() <= budget);
    // Where there is no room for it beside the last turn, the turn goes in.
    let context = talk.context("", 120).await.unwrap();
    assert!(context.parts.iter().all(|part| part.kind != PartKind::Summary));
}

#[tokio::test]
async fn a_context_with_room_shows_the_messages_under_a_summary_the_newest_first() {
    let (bench, talk) = full(None).await;
    let said = log(&talk).await;
    bench.memory.upkeep_once().await.unwrap();
    let texts = |context: &Context| context.messages().map(Message::text).collect::<Vec<_>>();
    // With all the room there is, folding costs nothing.
    let whole = talk.context("", 100_000).await.unwrap();
    assert_eq!(texts(&whole), said);
    assert!(whole.receipt.folds.iter().all(|fold| fold.shown == FoldShown::Messages), "{:?}", whole.receipt.folds);
    // With some, the newest messages under the summary stand behind it.
    let budget = talk.state().await.unwrap().active_tokens + 200;
    let some = talk.context("", budget).await.unwrap();
    assert_eq!(some.receipt.folds.last().unwrap().shown, FoldShown::Both);
    let kept = texts(&some).len() - 1 - some.receipt.folds.len();
    assert_eq!(texts(&some)[texts(&some).len() - kept..], said[said.len() - kept..], "the tail has no gap");
    assert!(some.receipt.history.unfolded > 0 && some.tokens() <= budget);
    // With none, the summary stands for them, and nothing is read for that.
    bench.chat.reset();
    let none = talk.context("", budget - 200).await.unwrap();
    assert_eq!(none.receipt.folds.last().unwrap().shown, FoldShown::Summary);
    assert_eq!((none.receipt.history.unfolded, bench.chat.calls("read")), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn a_summariser_that_fails_or_babbles_is_replaced_by_an_extract() {
    let bad = ["", " \n ", &"babble ".repeat(10_000)];
    let bad = bad.into_iter().map(StillSummarizer::saying);
    for summarizer in bad.chain([StillSummarizer::Failing, StillSummarizer::Panicking, StillSummarizer::Hanging]) {
        let (bench, talk) = full(Some(Arc::new(summarizer))).await;
        let before = log(&talk).await;
        let report = bench.memory.upkeep_once().await.unwrap();
        assert_eq!(report.failures.len(), 1, "{report:?}");
        assert!(report.replaced > 0 && report.completed == 0, "{report:?}");
        assert_eq!(log(&talk).await, before);
        let rows = talk.read(&Page::newest(1_000)).await.unwrap().messages;
        let summary = rows.iter().find(|row| row.covers.is_some()).unwrap();
        assert_eq!(summary.message.as_ref().unwrap().origin.as_deref(), Some("summary:extractive"));
    }
}

#[tokio::test]
async fn what_must_survive_is_added_to_a_summary_that_lacks_it() {
    let (bench, talk) = full(Some(Arc::new(StillSummarizer::saying("They spoke about plants.")))).await;
    let report = bench.memory.upkeep_once().await.unwrap();
    assert!(report.completed > 0 && report.replaced == 0 && report.failures.is_empty(), "{report:?}");
    let rows = talk.read(&Page::newest(1_000)).await.unwrap().messages;
    let summary = rows.iter().find(|row| row.covers.is_some()).unwrap();
    let text = summary.message.as_ref().unwrap().text();
    assert!(text.starts_with("They spoke about plants.\n") && text.contains("Aurora"), "{text}");
    assert!(summary.tokens < 1_500 / 2, "{}", summary.tokens);
}

/// Says enough for a window of so many tokens.
async fn talk_until(bench: &Bench, talk: &Session, tokens: u64) {
    let long = "word ".repeat(150);
    while talk.state().await.unwrap().active_tokens < tokens {
        talk.append(vec![bench.user(&long), bench.say(Role::Assistant, &long)]).await.unwrap();
    }
}

#[tokio::test]
async fn a_window_that_nobody_limited_is_folded_at_four_fifths_of_thirty_thousand() {
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(BufferConfig::default())).await;
    let talk = bench.session("ada");
    talk_until(&bench, &talk, 21_000).await;
    assert_eq!(bench.memory.upkeep_once().await.unwrap().summarised, 0);
    talk_until(&bench, &talk, 24_000).await;
    assert!(bench.memory.upkeep_once().await.unwrap().summarised > 0);
    assert!(talk.state().await.unwrap().active_tokens <= 15_000);
}

#[tokio::test]
async fn a_window_that_nobody_limited_is_folded_by_the_largest_budget_that_any_process_asked() {
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(BufferConfig::default())).await;
    let (talk, scope) = (bench.session("ada"), bench.owner("ada").scope().clone());
    talk.append(vec![bench.user("Good morning.")]).await.unwrap();
    let records = Truth::records(Arc::new(MemRecords::default()));
    let other = Memory::builder(Truth::chat(bench.truth.clone()), records).build().await.unwrap();
    let there = other.of(&scope).session(talk.id());
    there.context("", 100_000).await.unwrap();
    assert_eq!(talk.state().await.unwrap().asked, 0, "a read writes nothing");
    there.append(vec![bench.user("Good evening.")]).await.unwrap();
    there.context("", 60_000).await.unwrap();
    there.append(vec![bench.user("Good night.")]).await.unwrap();
    assert_eq!(talk.state().await.unwrap().asked, 100_000);
    talk_until(&bench, &talk, 70_000).await;
    assert_eq!(bench.memory.upkeep_once().await.unwrap().summarised, 0);
    talk_until(&bench, &talk, 80_000).await;
    assert!(bench.memory.upkeep_once().await.unwrap().summarised > 0);
}

#[tokio::test]
async fn forgetting_a_message_takes_the_summary_that_covers_it() {
    let (bench, talk) = full(None).await;
    bench.memory.upkeep_once().await.unwrap();
    let rows = talk.read(&Page::after(Seq(1), 1, View::Log)).await.unwrap().messages;
    let receipt = bench.owner("ada").forget(&memory_core::engine::Forget::Messages(vec![rows[0].id])).await.unwrap();
    assert!(receipt.derived >= 1 && receipt.complete);
    let rows = talk.read(&Page::newest(1_000)).await.unwrap().messages;
    assert!(rows.iter().all(|row| !row.message.as_ref().unwrap().text().contains("Aurora")));
}

#[tokio::test]
async fn a_record_that_was_made_from_a_summary_falls_with_the_session() {
    let (bench, talk) = full(None).await;
    bench.memory.upkeep_once().await.unwrap();
    let rows = talk.read(&Page::after(Seq(0), 1_000, View::All)).await.unwrap().messages;
    let summary = rows.iter().find(|row| row.covers.is_some()).unwrap().id;
    let ada = bench.owner("ada");
    ada.remember(Remember::fact("Ada has a balcony").with_source(ItemId::Message(summary))).await.unwrap();
    let receipt = ada.forget(&Forget::Session(talk.id().clone())).await.unwrap();
    assert_eq!(receipt.derived, 1, "{receipt:?}");
    assert_eq!(ada.records(&Filter::All, None, 10).await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_window_that_another_process_filled_is_summarised_by_whoever_runs_upkeep() {
    let (bench, talk) = full(None).await;
    let keeper = bench.elsewhere().text(Arc::new(MemText::new(Analysis::english().name())));
    let keeper = keeper.buffer(BufferConfig::default().with_limit(1_500)).build().await.unwrap();
    let report = keeper.upkeep_once().await.unwrap();
    assert!(report.summarised > 0 && report.failures.is_empty(), "{report:?}");
    assert!(talk.state().await.unwrap().active_tokens <= 750);
}

#[tokio::test(start_paused = true)]
async fn a_summariser_that_hangs_leaves_some_sessions_to_the_next_pass() {
    let bench = Bench::with(Taps::default(), |builder| {
        builder.buffer(BufferConfig::default().with_limit(300)).summarizer(Arc::new(StillSummarizer::Hanging))
    })
    .await;
    let sessions: Vec<_> = (0..12).map(|n| bench.owner(&format!("owner {n}")).session(&session("talk"))).collect();
    for talk in &sessions {
        talk.append(bench.chatter(15)).await.unwrap();
    }
    let mut folded = Vec::new();
    while folded.iter().filter(|folds| **folds > 0).count() < 2 || folded.last() != Some(&0) {
        let begun = tokio::time::Instant::now();
        folded.push(bench.memory.upkeep_once().await.unwrap().summarised);
        assert!(begun.elapsed() < Duration::from_secs(600), "{folded:?}");
    }
    for talk in &sessions {
        let rows = talk.read(&Page::newest(1_000)).await.unwrap().messages;
        assert!(rows.iter().any(|row| row.covers.is_some()));
    }
}
