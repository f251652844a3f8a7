//! What the environment says to a run: the one place that reads it.

#[expect(clippy::disallowed_methods, reason = "the configuration of the kit")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Returns `MEMORY_TEST_SEED`: what chance begins with in every scenario, instead of a number from its name.
pub(crate) fn seed() -> Option<u64> {
    number("MEMORY_TEST_SEED")
}
