//! What the environment says to a run: the one place that reads it.

#[expect(clippy::disallowed_methods, reason = "the configuration of the kit")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Returns `MEMORY_TEST_SEED`: what chance begins with in every scenario, instead of a number from its name.
pub(crate) fn seed() -> Option<u64> {
    number("MEMORY_TEST_SEED")
}

/// Returns `MEMORY_TEST_CASES`: how many cases of isolation are tried, instead of the usual number.
pub(crate) fn cases() -> Option<usize> {
    number("MEMORY_TEST_CASES").and_then(|cases| usize::try_from(cases).ok())
}

/// Returns `MEMORY_TEST_STORM`: how many calls a cancel storm makes; 2,000 unless it says otherwise.
pub(crate) fn storm() -> usize {
    number("MEMORY_TEST_STORM").and_then(|calls| usize::try_from(calls).ok()).unwrap_or(2_000)
}
