//! Steps that fail, or are dropped: none behind them passes over what they read.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::engine::Scoped;
use memory_core::reference::MemChat;
use memory_core::{Error, Scope, Stores, Truth};
use memory_testkit::doubles::{Counting, Cut, Ending, Tap, Tapped};
use serde_json::json;

use super::whole_source;
use crate::import::Import;

/// Messages of the file, more than one batch of an import has.
const COUNT: usize = 600;

/// Lets the first append fail for good.
#[derive(Debug, Default)]
struct FailsOnce(AtomicBool);

impl Tap for FailsOnce {
    fn enter(&self, call: &'static str) -> memory_core::Result<()> {
        if call != "append" || self.0.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        Err(Error::corrupt("test", "a fault was ordered"))
    }

    fn leave(&self, _: &'static str, _: usize) -> memory_core::Result<()> {
        Ok(())
    }
}

/// Returns the handle of an owner whose conversations are behind a tap and a cut.
async fn owner(tap: Arc<dyn Tap>, cut: &Arc<Cut>) -> Scoped {
    let chat = Truth::chat(Arc::new(MemChat::default()));
    let chat = chat.layered(|store| Arc::new(Tapped::new(store, tap).cut_by(Arc::clone(cut))));
    let memory = crate::over(Stores { chat: Some(chat), ..Stores::default() }).build().await.unwrap();
    memory.of(&Scope::new("acme", "ada").unwrap())
}

fn import(ada: &Scoped) -> Import {
    let line = |n: usize| json!({"session": "talk", "role": "user", "content": format!("message {n}")});
    let lines: String = (0..COUNT).map(|n| format!("{}\n", line(n))).collect();
    Import::begin(ada.clone(), Cursor::new(lines.into_bytes()), whole_source()).unwrap()
}

/// Passes if the import does not go on, and another one stores every message.
async fn is_begun_again(ada: &Scoped, mut broken: Import) {
    for _ in 0..2 {
        let refused = broken.step().await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(broken.finish().committed(), 0);
    let mut again = import(ada);
    while again.step().await.unwrap().is_some() {}
    assert_eq!(again.finish().added, COUNT as u64);
}

#[tokio::test]
async fn no_step_goes_on_behind_one_that_failed() {
    let ada = owner(Arc::<FailsOnce>::default(), &Arc::default()).await;
    let mut broken = import(&ada);
    let failed = broken.step().await;
    assert!(matches!(failed, Err(Error::Corrupt { .. })), "{failed:?}");
    is_begun_again(&ada, broken).await;
}

#[tokio::test]
async fn no_step_goes_on_behind_one_that_was_dropped_while_it_wrote() {
    let cut = Arc::<Cut>::default();
    let ada = owner(Arc::<Counting>::default(), &cut).await;
    let mut broken = import(&ada);
    cut.arm_at("append", Ending::IsDroppedBefore);
    assert!(cut.give_up(broken.step()).await.is_none());
    is_begun_again(&ada, broken).await;
}
