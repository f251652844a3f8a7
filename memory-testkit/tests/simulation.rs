//! The engine under a seeded scheduler: 5,000 plays, or as many as `MEMORY_PLAYS` says; `MEMORY_SEED` plays that one alone.

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::atomic::{AtomicU64, Ordering};

    use memory_testkit::simulation::{Failed, Ground, Plan, play};

    #[expect(clippy::disallowed_methods, reason = "the configuration of the test")]
    fn number(name: &str) -> Option<u64> {
        std::env::var(name).ok()?.parse().ok()
    }

    fn seeds() -> Range<u64> {
        match number("MEMORY_SEED") {
            Some(seed) => seed..seed + 1,
            None => 0..number("MEMORY_PLAYS").unwrap_or(5_000),
        }
    }

    /// Plays seeds on every core, each play in one thread, and returns those that failed.
    fn play_all(seeds: &Range<u64>, plan: &Plan) -> Vec<Failed> {
        let next = AtomicU64::new(seeds.start);
        let work = || {
            let seeds = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds.end);
            std::iter::from_fn(seeds)
                .filter_map(|seed| play(seed, plan).err().map(|failed| *failed))
                .collect::<Vec<_>>()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut failed: Vec<Failed> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            started.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        failed.sort_by_key(|failed| failed.seed);
        failed
    }

    fn all_pass(plan: &Plan) {
        let seeds = seeds();
        let failed = play_all(&seeds, plan);
        let line = |failed: &Failed| format!("{}: {}", failed.seed, failed.why.join("; "));
        let lines: Vec<String> = failed.iter().map(line).collect();
        if let Some(first) = failed.first() {
            panic!("{first}\n\n{} of {} plays failed:\n{}", failed.len(), seeds.end - seeds.start, lines.join("\n"));
        }
    }

    #[test]
    fn truth_and_every_index_agree_after_quiet() {
        all_pass(&Plan::new(Ground::reference));
    }
}
