//! An index that takes some entries of a session and not others.

use std::sync::Arc;

use memory_core::Error;
use memory_core::analysis::Analysis;
use memory_core::methods::*;
use memory_core::reference::MemText;
use memory_testkit::broken_store;
use memory_testkit::doubles::{Counting, Tapped};

use crate::bench::{Bench, Taps};

memory_core::store_methods!(Store, TextStore => broken_store { MemText {} });

/// Takes all entries but the first, for which it has no time.
#[derive(Debug)]
struct Busy;

#[async_trait]
impl Break for Busy {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let Some((first, others)) = entries.split_first() else { return Ok(Vec::new()) };
        let mut rejected = inner.put(scope, others, visibility).await?;
        rejected.push(Rejected { item: first.item.clone(), error: Error::Overloaded });
        Ok(rejected)
    }
}

#[tokio::test]
async fn what_was_put_is_flushed_also_if_no_note_is_done() {
    let calls = Arc::new(Counting::default());
    let (inner, tap) = (MemText::new(Analysis::english().name()), calls.clone());
    let text = Tapped::new(Arc::new(Mutant { inner, broken: Busy }), tap);
    let bench = Bench::with(Taps::default(), |builder| builder.text(Arc::new(text))).await;
    let said = ["My rose is called Aurora.", "It stands in bed four."].map(|words| bench.user(words));
    bench.session("ada").append(said.to_vec()).await.unwrap();
    let report = bench.memory.upkeep_once().await.unwrap();
    assert_eq!((report.retried, report.dead), (1, 0), "{report:?}");
    // The memory does not read what was put any more: the index alone shows it.
    assert_eq!((calls.calls("put"), calls.calls("flush")), (1, 1));
}
