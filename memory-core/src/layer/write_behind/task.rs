//! The task that sends what is due.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::shared::Shared;

/// How long it sleeps where nothing waits; it is woken before.
const IDLE: Duration = Duration::from_secs(3_600);

/// How many sessions send at once.
const AT_ONCE: usize = 8;

/// Begins the task. It ends with the layer.
pub(super) fn begin(shared: &Arc<Shared>) {
    let (weak, wake) = (Arc::downgrade(shared), Arc::clone(&shared.wake));
    tokio::spawn(async move {
        while let Some(next) = send_due(&weak) {
            if let Some(shared) = weak.upgrade() {
                shared.drop_stale().await;
            }
            tokio::select! {
                () = wake.notified() => {}
                () = sleep_until(next) => {}
            }
        }
    });
}

/// Sends what is due, each session in a task of its own. Returns when to look again; none once the layer is gone or closed.
fn send_due(weak: &Weak<Shared>) -> Option<Instant> {
    let shared = weak.upgrade()?;
    if shared.is_closed.load(Ordering::Acquire) {
        return None;
    }
    let now = Instant::now();
    loop {
        let mut queue = shared.queue.lock();
        if queue.flights() >= AT_ONCE {
            // Whoever lands wakes the task.
            return Some(now + IDLE);
        }
        match queue.next(now) {
            Ok(sending) => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    // What failed is logged, and tried again.
                    let _ = shared.carry(sending).await;
                });
            }
            Err(at) => return Some(at.unwrap_or(now + IDLE)),
        }
    }
}
