//! How a scenario fails: it returns a [`Failure`] with a text and a line, instead of panicking.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use memory_core::Error;

/// What a scenario returns.
pub type Scene = Result<(), Failure>;

/// The delay that a busy machine may add to a call. Tests use it to check that a call ends at all; how fast it is,
/// benches measure.
pub const SLACK: Duration = Duration::from_secs(5);

/// Why a scenario failed, and the line of the scenario that says so.
#[derive(Clone, Debug)]
pub struct Failure {
    what: String,
    at: &'static Location<'static>,
}

impl Failure {
    /// Returns a failure at the caller's line.
    #[track_caller]
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), at: Location::caller() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.at.file(), self.at.line(), self.what)
    }
}

impl From<Error> for Failure {
    #[track_caller]
    fn from(error: Error) -> Self {
        Self::new(error.with_causes())
    }
}

impl From<String> for Failure {
    #[track_caller]
    fn from(what: String) -> Self {
        Self::new(what)
    }
}

impl From<&str> for Failure {
    #[track_caller]
    fn from(what: &str) -> Self {
        Self::new(what)
    }
}

/// Returns `Ok` if what was found equals what is promised.
///
/// # Errors
/// A [`Failure`] at the caller's line that shows both.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "values and references alike, as assert_eq takes them")]
pub fn equal<A: PartialEq<B> + fmt::Debug, B: fmt::Debug>(found: A, promised: B) -> Scene {
    if found == promised {
        return Ok(());
    }
    Err(Failure::new(format!("found    {found:?}\n    promised {promised:?}")))
}

/// Fails the scenario with a formatted text unless the condition holds.
#[macro_export]
macro_rules! check {
    ($condition:expr, $($what:tt)+) => {
        match $condition {
            true => {}
            false => return Err($crate::Failure::new(format!($($what)+))),
        }
    };
}

/// Fails the scenario unless the result is an error that matches the pattern.
#[macro_export]
macro_rules! fails {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => {
                let promised = stringify!($pattern);
                return Err($crate::Failure::new(format!("found    {other:?}\n    promised the error {promised}")));
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_error() -> Scene {
        Err(Error::corrupt("sqlite", "bad page"))?;
        Ok(())
    }

    fn of_check(number: u32) -> Scene {
        check!(number == 1, "the number is {number}");
        fails!(Err::<(), _>(Error::Conflict), Error::Conflict);
        fails!(Ok::<_, Error>(number), Error::Fenced);
        Ok(())
    }

    #[test]
    fn failures_name_the_line_and_the_chain_of_causes() {
        let text = of_error().unwrap_err().to_string();
        assert!(text.contains("check.rs:"), "{text}");
        assert!(text.ends_with("sqlite holds damaged data: bad page"), "{text}");
    }

    #[test]
    fn macros_say_what_was_found_and_promised() {
        assert!(of_check(2).unwrap_err().to_string().ends_with("the number is 2"));
        assert!(of_check(1).unwrap_err().to_string().contains("promised the error Error::Fenced"));
        assert!(equal(1, 2).unwrap_err().to_string().contains("promised 2"));
        assert!(equal(vec![1], [1]).is_ok());
    }
}
