//! What a URL says of how much is asked of a backend at once, and for how long: `?pool=N&deadline=TIME`.

use std::time::Duration;

use memory_core::layer::GuardPolicy;
use memory_core::{Error, Result};

use super::url::take;

/// The largest pool.
const MOST: usize = 1_000;
/// The shortest and the longest deadline.
const DEADLINES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(3_600)];

/// How much is asked of a backend at once, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tuning {
    /// How many calls run at once, or connections.
    pub(super) pool: Option<usize>,
    /// How long a call may take, with all its attempts.
    pub(super) deadline: Option<Duration>,
}

impl Tuning {
    /// Takes it out of a URL, and returns what is left of that.
    pub(super) fn take(url: &str) -> Result<(String, Self)> {
        let (url, pool) = take(url, "pool");
        let (url, deadline) = take(&url, "deadline");
        let tuning = Self {
            pool: pool.as_deref().map(pool_of).transpose()?,
            deadline: deadline.as_deref().map(time).transpose()?,
        };
        Ok((url, tuning))
    }

    /// Returns the policy of the guard before a server, where it is `usual` unless the URL says otherwise.
    pub(super) fn policy(self, usual: &GuardPolicy) -> GuardPolicy {
        let deadline = self.deadline.unwrap_or(usual.deadline);
        let bulk = usual.bulk_deadline.max(deadline);
        let (pool, queue) = (self.pool.unwrap_or(usual.concurrency), usual.queue);
        usual.clone().with_deadline(deadline).with_bulk_deadline(bulk).with_concurrency(pool, queue)
    }

    /// Returns how long a driver may take for one attempt, where it is `usual` with the usual deadline. `policy` says the deadline
    /// if the URL does not; of one above the longest, that one counts.
    #[cfg(any(test, feature = "redis", feature = "postgres", feature = "qdrant", feature = "elastic"))]
    pub(super) fn share(self, policy: &GuardPolicy, usual: Duration) -> Duration {
        let [_, most] = DEADLINES;
        let deadline = self.deadline.unwrap_or(policy.deadline).min(most);
        deadline.mul_f64(usual.div_duration_f64(GuardPolicy::default().deadline))
    }
}

fn pool_of(text: &str) -> Result<usize> {
    let pool = text.parse().ok().filter(|pool| (1..=MOST).contains(pool));
    pool.ok_or_else(|| Error::invalid(format!("pool is a number from 1 to {MOST}")))
}

/// Reads a whole number with its unit.
fn time(text: &str) -> Result<Duration> {
    let number = |text: &str| text.parse::<u32>().ok().map(u64::from);
    let time = match text.strip_suffix("ms") {
        Some(text) => number(text).map(Duration::from_millis),
        None => text.strip_suffix('s').and_then(number).map(Duration::from_secs),
    };
    let [least, most] = DEADLINES;
    let time = time.filter(|time| (least..=most).contains(time));
    time.ok_or_else(|| Error::invalid("deadline is a time from 50ms to 3600s, such as 500ms or 10s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_and_deadline_are_taken_out_of_a_url_and_the_rest_stays() {
        let (url, tuning) = Tuning::take("postgres://h/d?pool=4&schema=a&deadline=1500ms").unwrap();
        assert_eq!(url, "postgres://h/d?schema=a");
        assert_eq!(tuning, Tuning { pool: Some(4), deadline: Some(Duration::from_millis(1_500)) });
        assert_eq!(Tuning::take("redis://h").unwrap(), ("redis://h".to_owned(), Tuning::default()));
        for bad in
            ["pool=0", "pool=1001", "pool=x", "pool=", "deadline=5", "deadline=0s", "deadline=2h", "deadline=-1s"]
        {
            assert!(matches!(Tuning::take(&format!("redis://h?{bad}")), Err(Error::Invalid { .. })), "{bad}");
        }
    }

    #[test]
    fn a_deadline_is_that_of_the_guard_and_attempts_have_their_share() {
        let usual = GuardPolicy::default();
        assert_eq!(Tuning::default().policy(&usual), usual);
        let tuning = Tuning { pool: Some(4), deadline: Some(Duration::from_secs(12)) };
        let policy = tuning.policy(&usual);
        assert_eq!((policy.deadline, policy.bulk_deadline), (Duration::from_secs(12), Duration::from_secs(60)));
        assert_eq!((policy.concurrency, policy.queue), (4, 256));
        assert_eq!(tuning.share(&usual, Duration::from_secs(2)), Duration::from_secs(4));
        let of_settings = GuardPolicy::default().with_deadline(Duration::from_secs(3));
        let endless = GuardPolicy::default().with_deadline(Duration::MAX);
        for (policy, expected) in [(&usual, 2), (&of_settings, 1), (&endless, 1_200)] {
            assert_eq!(Tuning::default().share(policy, Duration::from_secs(2)), Duration::from_secs(expected));
        }
        assert_eq!(tuning.share(&of_settings, Duration::from_secs(2)), Duration::from_secs(4));
        let slow = Tuning { pool: None, deadline: Some(Duration::from_secs(300)) };
        assert_eq!(slow.policy(&usual).bulk_deadline, Duration::from_secs(300));
    }
}
