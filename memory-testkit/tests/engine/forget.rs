//! Forgetting.

use std::sync::Arc;

use memory_core::engine::{Forget, Remember, Scoped, Search};
use memory_core::reference::MemCache;
use memory_core::store::upkeep::Upkeep as _;
use memory_core::{Epoch, Error, Filter, ItemId, Scope, SystemClock};
use memory_testkit::doubles::{Faulty, Tapped, When};

use crate::bench::{Bench, Taps, session};

async fn count(owner: &Scoped, words: &str) -> usize {
    let found = owner.search(&Search::new(words)).await.unwrap();
    assert_eq!(found.receipt.dropped_at_hydration, 0, "no index names what truth has forgotten");
    found.hits.len()
}

#[tokio::test]
async fn a_forgotten_message_leaves_no_word_behind() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let talk = ada.session(&session("talk"));
    let rose = bench.user("My rose is called Aurora.");
    let id = rose.id;
    talk.append(vec![bench.user("Good morning"), rose, bench.user("It needs water")]).await.unwrap();
    let derived = Remember::fact("Ada's rose is Aurora").with_source(ItemId::Message(id));
    let record = ada.remember(derived).await.unwrap();
    let further = Remember::fact("Aurora is a fine name").with_source(ItemId::Record(record.id));
    ada.remember(further).await.unwrap();
    bench.tend().await;
    assert!(count(&ada, "Aurora").await > 0);
    let receipt = ada.forget(&Forget::Messages(vec![id])).await.unwrap();
    assert_eq!((receipt.removed, receipt.derived, receipt.complete), (3, 2, true));
    // Neither itself, nor what was derived from it, nor its neighbours by its words; before any upkeep.
    let found = ada.search(&Search::new("Aurora rose called")).await.unwrap();
    assert!(found.hits.iter().all(|hit| hit.signals.text.is_none()), "{:?}", found.hits);
    assert!(found.hits.iter().all(|hit| !hit.content.text().contains("Aurora")));
    assert_eq!(ada.records(&Filter::All, None, 10).await.unwrap().len(), 0);
    assert_eq!(ada.messages(&[id]).await.unwrap().len(), 0);
    bench.tend().await;
    let found = ada.search(&Search::new("Aurora rose called")).await.unwrap();
    assert!(found.hits.iter().all(|hit| hit.signals.text.is_none()));
    let again = ada.forget(&Forget::Messages(vec![id])).await.unwrap();
    assert_eq!((again.removed, again.complete), (0, true));
}

#[tokio::test]
async fn the_records_of_a_session_fall_with_it_and_no_others() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.session(&session("talk")).append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    let of_talk = Remember::fact("Aurora stands by the gate").with_session(session("talk"));
    let record = ada.remember(of_talk).await.unwrap();
    let further = Remember::fact("The gate has a flower").with_source(ItemId::Record(record.id));
    ada.remember(further).await.unwrap();
    let of_other = Remember::fact("Boreas stands by the pond").with_session(session("other"));
    let other = ada.remember(of_other).await.unwrap();
    bench.tend().await;
    let receipt = ada.forget(&Forget::Session(session("talk"))).await.unwrap();
    assert_eq!((receipt.removed, receipt.complete), (3, true));
    let left: Vec<_> = ada.records(&Filter::All, None, 10).await.unwrap().iter().map(|row| row.record.id).collect();
    assert_eq!(left, [other.id]);
    let found = ada.search(&Search::new("Aurora gate flower")).await.unwrap();
    assert!(found.hits.iter().all(|hit| hit.signals.text.is_none()), "{:?}", found.hits);
}

#[tokio::test]
async fn a_forgotten_session_can_begin_again_and_old_handles_are_fenced() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let old = ada.session(&session("talk"));
    old.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    ada.session(&session("other")).append(vec![bench.user("My tulip is called Boreas.")]).await.unwrap();
    bench.tend().await;
    let receipt = ada.forget(&Forget::Session(session("talk"))).await.unwrap();
    assert_eq!((receipt.removed, receipt.complete), (1, true));
    assert_eq!(count(&ada, "Aurora").await, 1, "only the tulip is left to be near in meaning");
    assert!(matches!(old.append(vec![bench.user("late")]).await, Err(Error::Fenced)));
    let new = ada.session(&session("talk"));
    assert_eq!(new.append(vec![bench.user("My lily is called Aurora.")]).await.unwrap().head.0, 1);
    bench.tend().await;
    let found = ada.search(&Search::new("Aurora")).await.unwrap();
    assert_eq!(found.hits[0].content.text(), "My lily is called Aurora.");
}

#[tokio::test]
async fn forgetting_everything_fences_old_handles_and_touches_no_other_owner() {
    let bench = Bench::new().await;
    for owner in ["ada", "bob"] {
        bench.session(owner).append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
        bench.owner(owner).remember(Remember::fact("Aurora is a rose")).await.unwrap();
    }
    bench.tend().await;
    let ada = bench.owner("ada");
    let (old, scoped) = (ada.session(&session("talk")), ada.clone());
    old.append(vec![bench.user("one more")]).await.unwrap();
    scoped.remember(Remember::fact("one more")).await.unwrap();
    let receipt = ada.forget(&Forget::Everything).await.unwrap();
    assert!(receipt.complete && receipt.removed >= 3, "{receipt:?}");
    assert!(receipt.stores.iter().all(|store| store.remaining == Some(0)));
    assert_eq!(count(&bench.owner("ada"), "Aurora rose").await, 0);
    assert!(matches!(old.append(vec![bench.user("late")]).await, Err(Error::Fenced)));
    assert!(matches!(scoped.remember(Remember::fact("late")).await, Err(Error::Fenced)));
    bench.tend().await;
    assert_eq!(count(&bench.owner("ada"), "Aurora rose").await, 0);
    assert_eq!(count(&bench.owner("bob"), "Aurora rose").await, 2);
    // The owner may begin anew.
    bench.session("ada").append(vec![bench.user("Hello again, rose.")]).await.unwrap();
    bench.tend().await;
    assert_eq!(count(&bench.owner("ada"), "rose").await, 1);
}

#[tokio::test]
async fn an_erasure_that_an_index_failed_is_finished_by_upkeep() {
    let failing = Arc::new(Faulty::at(1, When::Before).of("erase"));
    let taps = Taps { text: failing, ..Taps::default() };
    let bench = Bench::with(taps, |builder| builder).await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    let receipt = bench.owner("ada").forget(&Forget::Everything).await.unwrap();
    assert!(!receipt.complete);
    let text = receipt.stores.iter().find(|store| store.part == "text").unwrap();
    assert!(text.remaining.is_none() && text.why.is_some());
    // Nothing can be recalled all the same; upkeep completes the rest.
    let found = bench.owner("ada").search(&Search::new("Aurora")).await.unwrap();
    assert_eq!(found.hits.len(), 0);
    bench.tend().await;
    assert_eq!(count(&bench.owner("ada"), "Aurora").await, 0);
    let status = bench.memory.status().await;
    assert!(status.indexes.iter().all(|index| index.backlog.clone().unwrap().pending == 0));
}

#[tokio::test]
async fn a_cache_that_is_away_keeps_no_erasure_from_the_indexes() {
    let away = Arc::new(Faulty::at(1, When::Before).of("erase").lasting());
    let cache = Arc::new(Tapped::new(Arc::new(MemCache::new(Arc::new(SystemClock))), away));
    let bench = Bench::with(Taps::default(), |builder| builder.cache(cache)).await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    // An erasure that was cut off at once.
    bench.truth.bury(&Scope::new("acme", "ada").unwrap(), Epoch(0)).await.unwrap();
    let _the_cache_fails = bench.memory.upkeep_once().await.unwrap();
    assert_eq!(count(&bench.owner("ada"), "Aurora").await, 0);
}

#[tokio::test]
async fn forgetting_nothing_forgets_nothing() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    for nothing in [Forget::Messages(vec![]), Forget::Records(vec![]), Forget::Session(session("none"))] {
        let receipt = ada.forget(&nothing).await.unwrap();
        assert_eq!((receipt.removed, receipt.complete), (0, true));
    }
    assert_eq!(count(&ada, "Aurora").await, 1);
}

#[tokio::test]
async fn many_messages_are_forgotten_with_few_reads_and_leave_no_word_behind() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let talk = ada.session(&session("talk"));
    let letter = |n: u32| char::from_digit(10 + n, 36).unwrap();
    let name = |n: u32| format!("zq{}{}x", letter(n / 26), letter(n % 26));
    let said: Vec<_> = (0..300).map(|n| bench.user(&format!("{} grows", name(n)))).collect();
    let ids: Vec<_> = said.iter().skip(10).take(250).map(|message| message.id).collect();
    talk.append(said).await.unwrap();
    bench.tend().await;
    bench.chat.reset();
    let receipt = ada.forget(&Forget::Messages(ids)).await.unwrap();
    assert_eq!((receipt.removed, receipt.complete), (250, true));
    assert!(bench.chat.calls("read") <= 4, "{} reads", bench.chat.calls("read"));
    for n in [10, 11, 130, 258, 259, 9, 260] {
        let found = ada.search(&Search::new(name(n))).await.unwrap();
        let is_found = found.hits.iter().any(|hit| hit.signals.text.is_some());
        assert_eq!(is_found, !(10..260).contains(&n), "{n}");
    }
}
