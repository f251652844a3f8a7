//! The engine under a seeded scheduler: 5,000 plays, or as many as `MEMORY_PLAYS` says; `MEMORY_SEED` plays that one alone.

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use memory_core::engine::Forget;
    use memory_testkit::simulation::{Failed, Ground, Plan, play};

    #[expect(clippy::disallowed_methods, reason = "the configuration of the test")]
    fn number(name: &str) -> Option<u64> {
        std::env::var(name).ok()?.parse().ok()
    }

    /// Plays seeds on every core, each in one thread, and returns those that failed.
    fn play_all(seeds: std::ops::Range<u64>, plan: &Plan) -> Vec<Box<Failed>> {
        let next = AtomicU64::new(seeds.start);
        let work = || {
            let seeds = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds.end);
            std::iter::from_fn(seeds).filter_map(|seed| play(seed, plan).err()).collect::<Vec<_>>()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut failed: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            started.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        failed.sort_by_key(|failed| failed.seed);
        failed
    }

    #[test]
    fn truth_and_every_index_agree_after_quiet() {
        let seeds = match number("MEMORY_SEED") {
            Some(seed) => seed..seed + 1,
            None => 0..number("MEMORY_PLAYS").unwrap_or(5_000),
        };
        let plan = Plan::new(Ground::reference).late(match number("MEMORY_PLAN") {
            Some(1) => |_| true,
            Some(2) => |call| !matches!((call.part, call.method), (_, "delete" | "bury" | "erase")),
            Some(3) => {
                |call| !matches!((call.part, call.method), (_, "delete" | "bury" | "erase") | ("records", "put"))
            }
            Some(4) => |call| {
                !matches!(
                    (call.part, call.method),
                    (_, "delete" | "bury" | "erase") | ("records" | "text" | "vectors", "put")
                )
            },
            _ => |_| false,
        });
        let plan = plan.forgetting(match number("MEMORY_FORGET") {
            Some(0) => |_| false,
            Some(1) => |what| !matches!(what, Forget::Session(_)),
            _ => |_| true,
        });
        let failed = play_all(seeds.clone(), &plan);
        let lines = failed.iter().map(|failed| format!("{}: {}", failed.seed, failed.why.join("; ")));
        let lines: Vec<String> = lines.collect();
        if let Some(first) = failed.first() {
            panic!("{} of {} plays failed:\n{}\n\n{first}", failed.len(), seeds.end - seeds.start, lines.join("\n"));
        }
    }
}
