//! The window: reading the tail of a session in memory and fitting it into 3,000 tokens, at growing lengths.
//!
//! Goal: at most 5 µs at 100,000 messages, and flat from 100 to 100,000. Fitting a window of 100,000 messages of which all are given, not
//! one page: below 1 ms with the ledger that is kept beside them (O3). Without one each row is read once, which is measured beside it.

use std::hint::black_box;
use std::sync::Arc;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use memory_core::engine::{ContextRequest, Memory};
use memory_core::model::TokenCounter;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::window::{Budget, BufferConfig, FitOptions, Folding, HeuristicCounter, Ledger, fit, fit_with};
use memory_core::{CounterId, Message, Role, Scope, SessionId, StoredMessage, Timestamp, Truth};
use tokio::runtime::Runtime;

const LIMIT: u64 = 3_000;
/// Makes a message of about 63 tokens, the mean of ordinary chat.
const WORDS: &str = "with the words that people say to one another when they have time enough to say them in full";

fn messages(count: usize) -> Vec<NewMessage> {
    let message = |n: usize| {
        let role = if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
        let at = Timestamp(i64::try_from(n).unwrap_or(0));
        let message = Message::new(role, format!("message {n} {WORDS}"), at);
        let (tokens, counter) = (HeuristicCounter.count(&message), CounterId::of(&HeuristicCounter));
        NewMessage { tokens, counter, message: Arc::new(message) }
    };
    (0..count).map(message).collect()
}

fn window(criterion: &mut Criterion) {
    let Ok(runtime) = Runtime::new() else { return };
    let mut group = criterion.benchmark_group("window");
    for count in [100, 1_000, 10_000, 100_000] {
        let chat = Arc::new(MemChat::default());
        let (scope, session) = (Scope::new("acme", "ada"), SessionId::new("talk"));
        let (Ok(scope), Ok(session)) = (scope, session) else { return };
        let batch = Append::new(messages(count));
        let appended = runtime.block_on(chat.append(&scope, &session, &batch));
        assert!(appended.is_ok());
        let page = Page::newest(20_000).within(LIMIT);
        let budget = Budget::new(LIMIT);
        let options = FitOptions::default();
        group.bench_function(BenchmarkId::new("read and fit", count), |bencher| {
            bencher.iter(|| {
                let slice = runtime.block_on(chat.read(&scope, &session, &page));
                let rows: Vec<StoredMessage> = slice.map(|slice| slice.messages).unwrap_or_default();
                black_box(fit(&rows, &budget, &options, &HeuristicCounter).is_ok())
            });
        });
        let slice = runtime.block_on(chat.read(&scope, &session, &page));
        let rows = slice.map(|slice| slice.messages).unwrap_or_default();
        group.bench_function(BenchmarkId::new("fit", count), |bencher| {
            bencher.iter(|| black_box(fit(&rows, &budget, &options, &HeuristicCounter)));
        });
        let slice = runtime.block_on(chat.read(&scope, &session, &Page::newest(count)));
        let all = slice.map(|slice| slice.messages).unwrap_or_default();
        assert_eq!(all.len(), count);
        whole(&mut group, &all);
        let records = Truth::records(Arc::new(MemRecords::default()));
        let builder = Memory::builder(Truth::chat(chat.clone()), records);
        let memory = runtime.block_on(builder.buffer(BufferConfig::default().with_folding(Folding::Off)).build());
        let Ok(memory) = memory else { return };
        let talk = memory.of(&scope).session(&session);
        let request = ContextRequest::new("", LIMIT);
        group.bench_function(BenchmarkId::new("context without query", count), |bencher| {
            bencher.iter(|| black_box(runtime.block_on(talk.assemble(&request))));
        });
    }
    group.finish();
}

/// Fits windows of which all rows are given: into the usual budget, and into one that holds them all.
fn whole(group: &mut BenchmarkGroup<'_, WallTime>, rows: &[StoredMessage]) {
    let count = rows.len();
    let (ledger, options) = (Ledger::of(rows), FitOptions::default());
    for (name, budget) in [("few", Budget::new(LIMIT)), ("all", Budget::new(u64::MAX))] {
        group.bench_function(BenchmarkId::new(format!("fit {name} of all with their ledger"), count), |bencher| {
            bencher.iter(|| black_box(fit_with(&ledger, rows, &budget, &options, &HeuristicCounter)));
        });
        group.bench_function(BenchmarkId::new(format!("count and fit {name} of all"), count), |bencher| {
            bencher.iter(|| black_box(fit(rows, &budget, &options, &HeuristicCounter)));
        });
    }
}

criterion_group!(benches, window);
criterion_main!(benches);
