//! What every context keeps to, whatever was said: over generated conversations of both dialects, 2,400 contexts, or as many as
//! `MEMORY_CONTEXTS` says.

#[cfg(test)]
#[path = "contexts/dialects.rs"]
mod dialects;
#[cfg(test)]
#[path = "contexts/promises.rs"]
mod promises;
#[cfg(test)]
#[path = "contexts/worlds.rs"]
mod worlds;

#[cfg(test)]
mod tests {
    use memory_core::Error;

    use super::promises::{Seen, check};
    use super::worlds::World;

    /// Contexts that are asked of each generated conversation.
    const ASKED: u64 = 12;

    #[expect(clippy::disallowed_methods, reason = "the one setting of these tests")]
    fn contexts() -> u64 {
        std::env::var("MEMORY_CONTEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(2_400)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn every_context_keeps_budget_receipt_and_dialects() {
        let mut seen = Seen::default();
        for seed in 0..contexts().div_ceil(ASKED) {
            let mut world = World::new(seed).await;
            for _ in 0..ASKED {
                let asked = world.ask();
                match asked.session.assemble(&asked.request).await {
                    Ok(context) => check(&world, &asked, &context, &mut seen).await,
                    Err(Error::OverBudget { need, budget }) => seen.over(need, budget),
                    Err(error) => panic!("seed {seed}: {error}"),
                }
            }
        }
        println!("{seen:?}");
        seen.enough();
    }
}
