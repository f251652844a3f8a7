//! The environment variables of the kit. No other file reads them.

use std::path::PathBuf;
use std::time::Duration;

#[expect(clippy::disallowed_methods, reason = "the configuration of the kit")]
fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number(name: &str) -> Option<u64> {
    text(name)?.parse().ok()
}

/// Returns `MEMORY_TEST_SEED`: the seed of every scenario. Without it, each scenario has a seed made from its name.
pub(crate) fn seed() -> Option<u64> {
    number("MEMORY_TEST_SEED")
}

/// Returns `MEMORY_TEST_CASES`: how many cases of isolation are tried, instead of the usual number.
pub(crate) fn cases() -> Option<usize> {
    number("MEMORY_TEST_CASES").and_then(|cases| usize::try_from(cases).ok())
}

/// Returns `MEMORY_TEST_HISTORIES`: how many histories of a whole memory are played; `usual` unless it says otherwise.
pub(crate) fn histories(usual: usize) -> usize {
    number("MEMORY_TEST_HISTORIES").and_then(|histories| usize::try_from(histories).ok()).unwrap_or(usual)
}

/// Returns `MEMORY_TEST_STORM`: how many calls a cancel storm makes; `usual` unless it says otherwise.
pub(crate) fn storm(usual: usize) -> usize {
    number("MEMORY_TEST_STORM").and_then(|calls| usize::try_from(calls).ok()).unwrap_or(usual)
}

/// Returns `MEMORY_TEST_OPERATIONS`: how many operations a siege plays; `usual` unless it says otherwise.
pub(crate) fn operations(usual: usize) -> usize {
    number("MEMORY_TEST_OPERATIONS").and_then(|operations| usize::try_from(operations).ok()).unwrap_or(usual)
}

/// Returns `MEMORY_TEST_ROUNDS`: how often a test repeats what it does to a server, such as a kill; `usual` times unless it
/// says otherwise.
pub fn rounds(usual: usize) -> usize {
    number("MEMORY_TEST_ROUNDS").and_then(|rounds| usize::try_from(rounds).ok()).unwrap_or(usual)
}

/// Returns `MEMORY_TEST_LENGTH`: how many messages a long conversation has beside which a short one must cost the same; `usual`
/// unless it says otherwise.
pub fn length(usual: usize) -> usize {
    number("MEMORY_TEST_LENGTH").and_then(|length| usize::try_from(length).ok()).unwrap_or(usual)
}

/// Returns `MEMORY_TEST_MESSAGES`: how many messages an index is filled with that is to lose them; `usual` unless it says
/// otherwise.
#[cfg(feature = "containers")]
pub(crate) fn messages(usual: usize) -> usize {
    number("MEMORY_TEST_MESSAGES").and_then(|messages| usize::try_from(messages).ok()).unwrap_or(usual)
}

/// Returns `MEMORY_TEST_REPORT`: the folder that reports are written into.
pub(crate) fn report() -> Option<PathBuf> {
    text("MEMORY_TEST_REPORT").map(PathBuf::from)
}

/// Returns `MEMORY_TEST_LIMIT`: the longest that a test may take, in seconds; `usual` unless it says otherwise.
pub(crate) fn limit(usual: Duration) -> Duration {
    number("MEMORY_TEST_LIMIT").map_or(usual, Duration::from_secs)
}

/// Returns the name of the variable that says `what` about the server of `backend`.
pub(crate) fn variable(backend: &str, what: &str) -> String {
    format!("MEMORY_TEST_{}_{what}", backend.to_uppercase())
}

/// Returns `MEMORY_TEST_X_URL`: a server of `backend` that runs already.
pub(crate) fn url(backend: &str) -> Option<String> {
    text(&variable(backend, "URL"))
}

/// What is said about the server of one backend.
#[cfg(feature = "containers")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    /// `MEMORY_TEST_X_URL`: a server that runs already.
    pub(crate) url: Option<String>,
    /// `MEMORY_TEST_X_IMAGE`: what to start instead of the official image.
    pub(crate) image: Option<String>,
    /// `MEMORY_REQUIRE`: the backends, or `all`, whose missing server is a failure.
    pub(crate) require: String,
    /// `CI=true`: only containers will do.
    pub(crate) containers_only: bool,
    /// `MEMORY_TEST_REUSE=1`: the container stays for the next process.
    pub(crate) reuse: bool,
    /// `MEMORY_TEST_RUN`: the run that containers belong to, so that it can remove what is left.
    pub(crate) run: Option<String>,
}

#[cfg(feature = "containers")]
impl Wishes {
    /// Returns what the environment says about `backend`.
    pub(crate) fn about(backend: &str) -> Self {
        Self {
            url: url(backend),
            image: text(&variable(backend, "IMAGE")),
            require: text("MEMORY_REQUIRE").unwrap_or_default(),
            containers_only: text("CI").as_deref() == Some("true"),
            reuse: text("MEMORY_TEST_REUSE").as_deref() == Some("1"),
            run: text("MEMORY_TEST_RUN"),
        }
    }
}
