//! What is too large is refused at every door, and of a long question the rarest words are sought.

use std::sync::Arc;

use memory_core::engine::{Remember, Search, Stage};
use memory_core::model::TokenCounter;
use memory_core::rank::{Ranking, Recency, Weights};
use memory_core::store::chat::{Page, View};
use memory_core::window::BufferConfig;
use memory_core::{Error, ItemId, Limits, Message, MessageId, Seq, StoredRecord};
use memory_testkit::doubles::{Faulty, When};

use crate::bench::{Bench, Taps};

/// Counts as many tokens as there can be.
#[derive(Debug)]
struct Boundless;

impl TokenCounter for Boundless {
    fn name(&self) -> &str {
        "boundless"
    }

    fn count(&self, _: &Message) -> u64 {
        u64::MAX
    }

    fn count_text(&self, _: &str) -> u64 {
        u64::MAX
    }
}

fn is_invalid<T: std::fmt::Debug>(answer: &Result<T, Error>) -> bool {
    matches!(answer, Err(Error::Invalid { .. }))
}

#[tokio::test]
async fn a_record_that_is_too_large_in_any_part_is_not_remembered() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let sources =
        (0..200_000).fold(Remember::fact("x"), |fact, _| fact.with_source(ItemId::Message(MessageId::fresh())));
    let long = "o".repeat(64 << 20);
    let all = [Remember::fact("x").with_origin(&long), Remember::fact("x").with_metadata("k", long), sources];
    for remember in all {
        assert!(is_invalid(&ada.remember(remember).await));
    }
    assert_eq!(ada.records(&memory_core::Filter::All, None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn counts_at_the_end_of_their_type_are_neither_appended_nor_restored() {
    let boundless = Bench::with(Taps::default(), |builder| builder.counter(Arc::new(Boundless))).await;
    assert!(is_invalid(&boundless.session("ada").append(vec![boundless.user("one")]).await));

    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("one")]).await.unwrap();
    bench.owner("ada").remember(Remember::fact("a rose")).await.unwrap();
    let rows = talk.read(&Page::after(Seq(0), 10, View::All)).await.unwrap().messages;
    let records = bench.owner("ada").records(&memory_core::Filter::All, None, 10).await.unwrap();
    let bob = bench.owner("bob");
    for count in [i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
        let mut rows = rows.clone();
        rows[0].tokens = count;
        assert!(is_invalid(&bench.session("bob").restore(&rows).await), "{count} tokens");
        let records: Vec<_> = records.iter().map(|row| StoredRecord { access_count: count, ..row.clone() }).collect();
        assert!(is_invalid(&bob.restore(&records).await), "{count} accesses");
    }
    assert!(bench.session("bob").restore(&rows).await.is_ok() && bob.restore(&records).await.is_ok());
}

#[tokio::test]
async fn a_ranking_whose_scores_cannot_be_compared_is_refused() {
    let bench = Bench::new().await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    let rankings = |number: f32| {
        let sides = [Weights { text: number, vector: 1.0 }, Weights { text: 1.0, vector: number }];
        let (weights, recency) = (Weights { text: 1.0, vector: 1.0 }, Recency::Rank);
        let weighted = |recency_weight, importance_weight| Ranking::Weighted {
            weights,
            recency_weight,
            recency,
            importance_weight,
        };
        let blend = Ranking::Blend { recency_weight: number, recency, clips: true, candidates: 100 };
        let rrf = Ranking::Rrf { k: number, weights };
        let others = [rrf, blend, weighted(number, 0.1), weighted(0.1, number)];
        [&sides.map(Ranking::ZScore)[..], &sides.map(Ranking::MinMax), &others].concat()
    };
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.1, f32::MAX, 1_000_001.0] {
        for ranking in rankings(number) {
            let found = ada.search(&Search::new("Aurora").ranking(ranking)).await;
            assert!(is_invalid(&found), "{ranking:?}: {found:?}");
        }
    }
    for ranking in [0.0, 1.0].into_iter().flat_map(rankings) {
        assert!(ada.search(&Search::new("Aurora").ranking(ranking)).await.is_ok(), "{ranking:?}");
    }
    let above = Ranking::Blend { recency_weight: 1.1, recency: Recency::Rank, clips: true, candidates: 100 };
    assert!(is_invalid(&ada.search(&Search::new("Aurora").ranking(above)).await));
    // So is that of a conversation.
    let talk = talk.with(BufferConfig::default().with_ranking(above)).unwrap();
    assert!(is_invalid(&talk.context("Aurora", 1_000).await));
}

/// Ten texts of a thousand words that all of them hold, and one with a word of its own.
async fn library() -> Bench {
    let bench = Bench::new().await;
    let text = common(1_000).join(" ");
    let talk = bench.session("ada");
    talk.append((0..10).map(|_| bench.user(&text)).collect()).await.unwrap();
    talk.append(vec![bench.user(&format!("{text} zyx"))]).await.unwrap();
    bench.tend().await;
    bench
}

fn common(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("commonplace{number:04}")).collect()
}

#[tokio::test]
async fn of_a_question_of_a_thousand_words_the_rarest_are_sought_and_the_receipt_says_so() {
    let bench = library().await;
    let question = format!("{} zyx nowhere", common(700).join(" "));
    let most = Limits::default().query_terms;
    let found = bench.owner("ada").search(&Search::new(question.as_str()).limit(1)).await.unwrap();
    let receipt = found.receipt;
    assert!(found.hits[0].content.text().ends_with("zyx"));
    assert!(receipt.terms.iter().any(|term| term == "zyx") && !receipt.terms.iter().any(|term| term == "nowher"));
    assert_eq!(receipt.terms.len(), most);
    // Each word is sought as a whole and by its letters and digits.
    assert!(receipt.terms_left_out > 700 - most, "{}", receipt.terms_left_out);

    let context = bench.session("ada").context(&question, 2_000_000).await.unwrap();
    assert_eq!(context.receipt.search.terms, receipt.terms);
    assert_eq!(context.receipt.search.terms_left_out, receipt.terms_left_out);
}

#[tokio::test]
async fn a_question_of_no_more_terms_than_are_sought_is_sought_whole() {
    let bench = library().await;
    let words: Vec<String> =
        common(64).iter().map(|word| word.replace(char::is_numeric, "") + &letters(word)).collect();
    let found = bench.owner("ada").search(&Search::new(words.join(" "))).await.unwrap();
    assert_eq!((found.receipt.terms.len(), found.receipt.terms_left_out), (64, 0));
}

/// Returns the digits of a word as letters.
fn letters(word: &str) -> String {
    word.bytes().filter(u8::is_ascii_digit).map(|digit| char::from(digit - b'0' + b'a')).collect()
}

#[tokio::test]
async fn a_long_question_is_cut_too_where_the_index_of_words_is_away() {
    let taps = Taps { text: Arc::new(Faulty::at(1, When::Before).of("search").lasting()), ..Taps::default() };
    let bench = Bench::with(taps, |builder| builder).await;
    let found = bench.owner("ada").search(&Search::new(common(700).join(" "))).await.unwrap();
    assert!(found.receipt.degraded.iter().any(|degraded| degraded.stage == Stage::Text));
    assert_eq!(found.receipt.terms.len(), Limits::default().query_terms);
}
