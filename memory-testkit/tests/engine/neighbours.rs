//! Owners behind one guard: what one of them asks is late, and what that means for the others.

use std::sync::Arc;
use std::time::Duration;

use memory_core::layer::{Guard, GuardPolicy, Guarded};
use memory_core::reference::MemRecords;
use memory_core::store::records::RecordStore as _;
use memory_core::time::SystemClock;
use memory_core::{Filter, Result, Scope};
use memory_testkit::doubles::{Counting, Tapped};

/// A store that answers at once, and one on the same server that is asked with a slow filter.
struct Server {
    guard: Arc<Guard>,
    quick: Guarded<MemRecords>,
    slow: Guarded<Tapped<MemRecords>>,
}

impl Server {
    fn new() -> Self {
        let guard = Guard::new("server", GuardPolicy::default().with_retries(0), Arc::new(SystemClock));
        let records = Arc::<MemRecords>::default();
        let slow = Tapped::new(records.clone(), Arc::new(Counting::default())).slow(Duration::from_secs(3_600));
        let slow = Guarded::new(Arc::new(slow), guard.clone());
        Self { quick: Guarded::new(records, guard.clone()), slow, guard }
    }

    async fn quick(&self, owner: &str) -> Result<()> {
        self.quick.scan(&scope(owner), &Filter::All, None, 10).await.map(|_| ())
    }

    async fn slow(&self, owner: &str) -> Result<()> {
        self.slow.scan(&scope(owner), &Filter::All, None, 10).await.map(|_| ())
    }
}

fn scope(owner: &str) -> Scope {
    Scope::new("acme", owner).unwrap()
}

#[tokio::test(start_paused = true)]
async fn slow_calls_of_one_owner_leave_the_others_served() {
    let server = Server::new();
    for _ in 0..40 {
        assert!(server.slow("ada").await.unwrap_err().is_retryable());
        server.quick("bob").await.unwrap();
    }
    assert!(!server.guard.is_open());
    assert!(server.quick("ada").await.unwrap_err().is_retryable(), "ada is refused at once for a while");
}

#[tokio::test(start_paused = true)]
async fn slow_calls_of_several_owners_refuse_everyone() {
    let server = Server::new();
    for owner in ["ada", "bob", "cyd", "dan", "eve"] {
        assert!(!server.guard.is_open());
        server.slow(owner).await.unwrap_err();
    }
    assert!(server.guard.is_open());
    server.quick("fay").await.unwrap_err();
}
