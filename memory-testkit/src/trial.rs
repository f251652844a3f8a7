//! Plays scenarios, one at a time or a table of them.

use std::future::Future;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use memory_core::Digest;
use memory_core::store::{Durability, Health};

use crate::bed::{Bed, Opener, Subject};
use crate::check::Failure;
#[cfg(feature = "containers")]
use crate::check::Scene;
use crate::environment;
use crate::scenario::{Needs, Scenario};

/// The longest that a scenario may take, unless the environment says otherwise: it ends those that hang, on a machine that
/// has other things to do too.
const SCENARIO: Duration = Duration::from_secs(300);

/// The longest that a test of a backend's own may take.
#[cfg(feature = "containers")]
const OWN: Duration = Duration::from_secs(1_200);

/// How many scenarios of a table are played together by [`run_table`].
const AT_ONCE: usize = 8;

/// How a scenario ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The promise holds.
    Passed,
    /// The promise is broken. The text says what was found, where, and with which seed.
    Failed(String),
    /// The scenario was not played, for this reason.
    Ignored(String),
}

/// The verdict on a scenario, and the health of its store if that could be read.
pub(crate) type Played = (Verdict, Option<Health>);

/// How a scenario of a table ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The scenario, as `suite::scenario`.
    pub name: String,
    /// How it ended.
    pub verdict: Verdict,
}

/// Plays the scenarios of `table` whose names are in `only` (all of them if it is empty) on stores from `open`.
///
/// For tests of the kit itself: without a harness, without gaps. Needs a tokio runtime. A panic is a failure.
pub async fn run_table<S: Subject>(suite: &str, table: &[Scenario<S>], only: &[&str], open: Opener<S>) -> Vec<Outcome> {
    let chosen = table.iter().copied().filter(|scenario| only.is_empty() || only.contains(&scenario.name));
    let played = chosen.map(|scenario| {
        let open = open.clone();
        async move {
            let name = format!("{suite}::{}", scenario.name);
            Outcome { name, verdict: play(scenario, open).await.0 }
        }
    });
    stream::iter(played).buffered(AT_ONCE).collect().await
}

/// Plays one scenario in a task of its own, so that a panic or a hang fails it and nothing else.
pub(crate) async fn play<S: Subject>(scenario: Scenario<S>, open: Opener<S>) -> Played {
    let seed = environment::seed().unwrap_or_else(|| seed_of(scenario.name));
    match guard(attempt(scenario, open, seed), environment::limit(SCENARIO)).await {
        Ok(ended) => ended,
        Err(why) => (Verdict::Failed(format!("{why}\n    MEMORY_TEST_SEED={seed} repeats it")), None),
    }
}

/// Plays a test of a backend's own in the same way; it may start and kill servers, which takes its time.
#[cfg(feature = "containers")]
pub(crate) async fn play_own(test: impl Future<Output = Scene> + Send + 'static) -> Played {
    match guard(test, environment::limit(OWN)).await {
        Ok(()) => (Verdict::Passed, None),
        Err(why) => (Verdict::Failed(why), None),
    }
}

async fn guard<T: Send + 'static>(
    test: impl Future<Output = Result<T, Failure>> + Send + 'static,
    limit: Duration,
) -> Result<T, String> {
    let mut task = tokio::spawn(test);
    match tokio::time::timeout(limit, &mut task).await {
        Ok(Ok(Ok(ended))) => Ok(ended),
        Ok(Ok(Err(failure))) => Err(failure.to_string()),
        Ok(Err(stopped)) => Err(format!("the scenario panicked: {stopped}")),
        Err(_) => {
            task.abort();
            Err(format!("not done after {} s", limit.as_secs()))
        }
    }
}

async fn attempt<S: Subject>(scenario: Scenario<S>, open: Opener<S>, seed: u64) -> Result<Played, Failure> {
    let (bed, health) = Bed::make(&open, seed).await?;
    if let Some(reason) = missing(scenario.needs, bed.durability) {
        return Ok((Verdict::Ignored(reason.to_owned()), Some(health)));
    }
    (scenario.run)(bed).await?;
    Ok((Verdict::Passed, Some(health)))
}

fn missing(needs: Needs, durability: Durability) -> Option<&'static str> {
    match needs {
        Needs::Durability if durability == Durability::Volatile => Some("the store is volatile"),
        _ => None,
    }
}

/// Returns the seed that belongs to a scenario's name: the same in every run, another for every scenario.
fn seed_of(name: &str) -> u64 {
    Digest::of(&[name.as_bytes()]).0.iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memory_core::Error;

    use super::*;
    use crate::check::Scene;
    use crate::{Boxed, equal, opener};

    #[derive(Clone)]
    struct Volatile;

    impl Subject for Volatile {
        fn health(&self) -> Boxed<'_, memory_core::Result<Health>> {
            Box::pin(async { Ok(Health::new("test", "1", Durability::Volatile)) })
        }

        fn close(&self) -> Boxed<'_, memory_core::Result<()>> {
            Box::pin(async { Ok(()) })
        }
    }

    async fn passes(bed: Bed<Volatile>) -> Scene {
        equal(bed.scope("ada")?.tenant(), bed.tenant)
    }

    async fn fails(_: Bed<Volatile>) -> Scene {
        Err(Failure::new("no"))
    }

    async fn panics(_: Bed<Volatile>) -> Scene {
        panic!("at once")
    }

    async fn restarts(_: Bed<Volatile>) -> Scene {
        Ok(())
    }

    mod tables {
        use super::*;
        scenarios!(PLAIN: Volatile = [passes, fails, panics]);
        scenarios!(DURABLE: Volatile, Needs::Durability = [restarts]);
    }

    #[tokio::test]
    async fn tells_passed_failed_panicked_and_ignored_apart() {
        let table = [tables::PLAIN, tables::DURABLE].concat();
        let outcomes = run_table("test", &table, &[], opener(|_| async { Ok(Volatile) })).await;
        let names: Vec<_> = outcomes.iter().map(|outcome| outcome.name.as_str()).collect();
        assert_eq!(names, ["test::passes", "test::fails", "test::panics", "test::restarts"]);
        let verdicts: Vec<_> = outcomes.into_iter().map(|outcome| outcome.verdict).collect();
        assert_eq!(verdicts[0], Verdict::Passed);
        assert!(matches!(&verdicts[1], Verdict::Failed(why) if why.contains("no\n    MEMORY_TEST_SEED=")));
        assert!(matches!(&verdicts[2], Verdict::Failed(why) if why.contains("panicked")));
        assert_eq!(verdicts[3], Verdict::Ignored("the store is volatile".to_owned()));
    }

    #[tokio::test]
    async fn a_store_that_does_not_open_fails_every_scenario() {
        let open: Opener<Volatile> = Arc::new(|_| Box::pin(async { Err(Error::Overloaded) }));
        let outcomes = run_table("test", tables::PLAIN, &["passes"], open).await;
        assert_eq!(outcomes.len(), 1);
        assert!(outcomes.iter().all(|outcome| matches!(outcome.verdict, Verdict::Failed(_))));
    }
}
