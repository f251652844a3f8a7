//! Several imports of one file at once.

use std::io::Cursor;

use memory_core::{Scope, Timestamp};
use serde_json::json;
use tokio::task::JoinSet;

use super::{NOW, whole_source};
use crate::import::{Import, Source, Tally};

const COUNT: usize = 2_000;

/// Whose times nobody tells: each import has another idea of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn imports_of_one_file_at_once_store_each_message_once_and_reject_none() {
    let line =
        |n: usize| json!({"session": format!("s{}", n / 100), "role": "user", "content": format!("message {n}")});
    let lines: String = (0..COUNT).map(|n| format!("{}\n", line(n))).collect();
    for _ in 0..5 {
        let memory = crate::open("memory:").await.unwrap().build().await.unwrap();
        let ada = memory.of(&Scope::new("acme", "ada").unwrap());
        let imports = (0..3).map(|number| {
            let source = Source { now: Timestamp(NOW.0 + number * 1_000_000), ..whole_source() };
            to_end(Import::begin(ada.clone(), Cursor::new(lines.clone().into_bytes()), source).unwrap())
        });
        let tallies = imports.collect::<JoinSet<Tally>>().join_all().await;
        assert!(tallies.iter().all(|tally| tally.rejections.is_empty()), "{tallies:?}");
        assert_eq!(tallies.iter().map(|tally| tally.added).sum::<u64>(), COUNT as u64);
        assert_eq!(tallies.iter().map(Tally::committed).collect::<Vec<_>>(), [COUNT as u64; 3]);
        memory.close().await.unwrap();
    }
}

async fn to_end(mut import: Import) -> Tally {
    while import.step().await.unwrap().is_some() {}
    import.finish()
}
