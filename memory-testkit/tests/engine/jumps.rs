//! A clock that is set back, forwards, or stands still: no order changes by it, and nothing comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use memory_core::engine::{Remember, Search};
use memory_core::rank::Decay;
use memory_core::store::chat::{Page, View};
use memory_core::{ItemId, Message, RecordId, Role, Seq, Timestamp};
use memory_testkit::generate::Random;

use crate::bench::Bench;

const JUMPS: usize = 10_000;

/// After how many jumps records are told and upkeep runs.
const ROUND: usize = 100;

const HOUR: Duration = Duration::from_secs(3_600);
const YEAR: Duration = Duration::from_secs(365 * 86_400);

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap()
}

/// Records that expire, as they were seen.
#[derive(Default)]
struct Seen {
    expire: BTreeMap<RecordId, Timestamp>,
    gone: BTreeSet<RecordId>,
}

impl Seen {
    /// Tells one more, lets upkeep delete what has expired, and asserts that nothing comes back, and that no search shows what has
    /// expired.
    async fn look(&mut self, bench: &Bench) {
        let (ada, now) = (bench.owner("ada"), bench.memory.now());
        let text = format!("The kettle number {} is on", self.expire.len());
        let told = ada.remember(Remember::fact(text).with_ttl(HOUR)).await.unwrap();
        self.expire.insert(told.id, Timestamp(now.0 + micros(HOUR)));
        bench.tend().await;
        let ids: Vec<RecordId> = self.expire.keys().copied().collect();
        let there: BTreeSet<RecordId> =
            ada.get(&ids).await.unwrap().into_iter().map(|stored| stored.record.id).collect();
        let back: Vec<&RecordId> = self.gone.intersection(&there).collect();
        assert!(back.is_empty() && there.contains(&told.id), "{back:?} came back");
        self.gone.extend(ids.iter().filter(|id| !there.contains(*id)));
        for hit in ada.search(&Search::new("kettle").limit(20)).await.unwrap().hits {
            let expires = if let ItemId::Record(id) = &hit.item { self.expire.get(id) } else { None };
            assert!(expires.is_none_or(|expires| *expires > now), "{:?} has expired", hit.item);
        }
    }
}

#[tokio::test]
async fn ten_thousand_jumps_of_the_clock_change_no_order_and_bring_nothing_back() {
    let bench = Bench::new().await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    let begun = bench.memory.now();
    let kept = ada.remember(Remember::fact("The boiler is in the cellar")).await.unwrap().id;
    let long = Remember::fact("The boiler is guaranteed").with_ttl(1_000 * YEAR);
    let kept = [kept, ada.remember(long).await.unwrap().id];
    let (mut dice, mut seen, mut last) = (Random::new(13), Seen::default(), begun);
    for jump in 0..JUMPS {
        let now = bench.memory.now().0;
        // An hour back, a year forwards, not at all, or to some time of the first hour.
        let to = match dice.below(4) {
            0 => now - micros(HOUR),
            1 => now + micros(YEAR),
            2 => now,
            _ => begun.0 + micros(Duration::from_secs(dice.number() % HOUR.as_secs())),
        };
        bench.clock.set(Timestamp(to));
        let message = Message::new(Role::User, format!("message {jump}"), bench.memory.now());
        talk.append(vec![message]).await.unwrap();
        let recency = Decay::SESSION.between(last, Timestamp(to));
        assert!((0.0..=1.0).contains(&recency), "{recency}");
        last = Timestamp(to);
        if jump % ROUND == 0 {
            seen.look(&bench).await;
            // What does not expire stays, however far the clock goes.
            assert_eq!(ada.get(&kept).await.unwrap().len(), kept.len());
        }
    }
    assert!(!seen.gone.is_empty(), "nothing has expired");
    let (mut after, mut count) = (Seq(0), 0);
    loop {
        let rows = talk.read(&Page::after(after, 1_000, View::Log)).await.unwrap().messages;
        let Some(newest) = rows.last() else { break };
        after = newest.seq;
        for row in rows {
            let text = row.message.map(|message| message.text());
            assert_eq!((row.seq, text), (Seq(count + 1), Some(format!("message {count}"))));
            count += 1;
        }
    }
    assert_eq!(count, JUMPS as u64);
}
