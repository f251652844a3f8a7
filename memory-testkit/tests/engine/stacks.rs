//! Calls fit on the stack of a thread, in an unoptimised build too: there a future stands on it at every step up to the caller.

use memory_core::engine::{ContextRequest, Forget, Remember, Search};
use tokio::runtime::Builder;

use crate::bench::Bench;

/// A quarter of what threads of a runtime have: the rest is for the stores, and for the program.
const STACK: usize = 512 << 10;

#[test]
fn every_call_fits_into_a_quarter_of_a_threads_stack() {
    let runtime = Builder::new_multi_thread().worker_threads(1).thread_stack_size(STACK).enable_all().build().unwrap();
    let calls = async {
        let bench = Bench::new().await;
        let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
        talk.append(vec![bench.user("I live in Porto")]).await.unwrap();
        ada.remember(Remember::fact("lives in Porto")).await.unwrap();
        bench.memory.upkeep_once().await.unwrap();
        assert_eq!(ada.search(&Search::new("Who lives in Porto?")).await.unwrap().hits.len(), 2);
        talk.assemble(&ContextRequest::muxi("Where do I live?")).await.unwrap();
        ada.assemble(&ContextRequest::muxi("Where do I live?")).await.unwrap();
        assert!(ada.forget(&Forget::Everything).await.unwrap().complete);
    };
    runtime.block_on(async { tokio::spawn(calls).await.unwrap() });
}
