//! The server goes away and comes back, half of the time each: in turn it refuses connections, and stands still.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memory_testkit::bench::Outcome;
use memory_testkit::faults::Proxy;
use memory_testkit::services::Server;
use tokio::time::sleep;

/// How long the server is there, and how long it is away.
const SPELL: Duration = Duration::from_secs(30);

/// How the server is.
const STATES: [&str; 3] = ["there", "refusing", "frozen"];

/// How the server is now.
#[derive(Debug, Default)]
pub(crate) struct Outages {
    state: AtomicUsize,
}

impl Outages {
    /// Returns how the server is, in a word.
    pub(crate) fn state(&self) -> &'static str {
        STATES.get(self.state.load(Ordering::Relaxed)).copied().unwrap_or_default()
    }

    /// Lets the server go and come back without end.
    pub(crate) async fn alternate(&self, server: &Server, proxy: &Proxy) -> Outcome<()> {
        for state in [1, 2].into_iter().cycle() {
            sleep(SPELL).await;
            self.state.store(state, Ordering::Relaxed);
            if state == 1 {
                proxy.refuse();
            } else {
                server.stop().await?;
            }
            sleep(SPELL).await;
            self.end(server, proxy).await?;
        }
        Ok(())
    }

    /// Brings the server back, if it is away.
    pub(crate) async fn end(&self, server: &Server, proxy: &Proxy) -> Outcome<()> {
        match self.state.swap(0, Ordering::Relaxed) {
            1 => proxy.heal(),
            2 => server.cont().await?,
            _ => {}
        }
        Ok(())
    }
}
