//! Servers that a suite looks up, and tests of a backend's own on them.

use std::future::Future;

use memory_core::Result;

use super::stage::Need;
use super::{PlannedTest, Suite};
use crate::check::Scene;
use crate::services::{Answer, Servers, Service, probe};
use crate::trial::play_own;

impl Suite {
    /// Declares that the suite needs a server: `MEMORY_TEST_X_URL`, else a container of `MEMORY_TEST_X_IMAGE` or of the
    /// official image. Its URL is `Setting::url`; with several servers, that of the first.
    ///
    /// It is looked up when the first test is played and removed after the last. Without an engine or an image, tests are
    /// ignored, or fail where `MEMORY_REQUIRE` names the server or says `all`. With `CI=true` only containers will do.
    ///
    /// `ask` connects to a URL and returns what the server says of itself: its version, a
    /// [`Health`](memory_core::store::Health) or an [`Answer`]. It is called every 50 ms until it does.
    #[must_use]
    pub fn service<F, R, A>(mut self, service: Service, ask: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<A>> + Send + 'static,
        A: Into<Answer>,
    {
        self.stage.servers = self.stage.servers.with(service, probe(ask));
        self
    }

    /// Adds a test of the backend's own on the servers that all tests share.
    #[must_use]
    pub fn test<F, R>(self, name: &'static str, test: F) -> Self
    where
        F: FnOnce(Servers) -> R + Send + 'static,
        R: Future<Output = Scene> + Send + 'static,
    {
        self.with_plan(name, Need::Server, test)
    }

    /// Adds a test of the backend's own that starts servers for itself, to configure or to kill them.
    #[must_use]
    pub fn alone<F, R>(self, name: &'static str, test: F) -> Self
    where
        F: FnOnce(Servers) -> R + Send + 'static,
        R: Future<Output = Scene> + Send + 'static,
    {
        self.with_plan(name, Need::Images, test)
    }

    fn with_plan<F, R>(mut self, name: &'static str, need: Need, test: F) -> Self
    where
        F: FnOnce(Servers) -> R + Send + 'static,
        R: Future<Output = Scene> + Send + 'static,
    {
        self.plans.push(PlannedTest {
            name: name.to_owned(),
            need,
            play: Box::new(move |stage| {
                let servers = stage.servers.clone();
                // The test begins within its own task, so that a panic before its first await is caught too.
                Box::pin(play_own(async move { test(servers).await }))
            }),
        });
        self
    }
}
