//! The engine under a seeded scheduler: 5,000 plays, or as many as `MEMORY_PLAYS` says; `MEMORY_SEED` plays that one alone.

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use memory_testkit::simulation::{Failed, Ground, Plan, play};

    /// Plays beyond the usual ones that found something once.
    const FOUND: [u64; 3] = [39_468, 47_123, 68_023];

    #[expect(clippy::disallowed_methods, reason = "the configuration of the test")]
    fn number(name: &str) -> Option<u64> {
        std::env::var(name).ok()?.parse().ok()
    }

    fn seeds() -> Vec<u64> {
        match number("MEMORY_SEED") {
            Some(seed) => vec![seed],
            None => FOUND.into_iter().chain(0..number("MEMORY_PLAYS").unwrap_or(5_000)).collect(),
        }
    }

    /// Plays seeds on every core, each play in one thread, and returns those that failed.
    fn play_all(seeds: &[u64], plan: &Plan) -> Vec<Failed> {
        let left = Mutex::new(seeds.iter().copied());
        let work = || {
            std::iter::from_fn(|| left.lock().unwrap().next())
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
            panic!("{first}\n\n{} of {} plays failed:\n{}", failed.len(), seeds.len(), lines.join("\n"));
        }
    }

    #[test]
    fn truth_and_every_index_agree_after_quiet() {
        all_pass(&Plan::new(Ground::reference));
    }
}
