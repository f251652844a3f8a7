//! Errors, named by what the caller can do about them.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::secrets::text_without_secrets;

/// A result with the library's [`Error`] unless another is named, so that it can stand in for the standard library's.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, by remedy. Texts are one clause and never hold payload or secrets; sources are in the chain.
///
/// `Clone`, because one failed group commit answers many callers.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Fix the call.
    #[error("invalid call: {what}")]
    Invalid {
        /// What is wrong with it.
        what: String,
    },
    /// Read again, then decide.
    #[error("the stored state changed meanwhile")]
    Conflict,
    /// The id holds other content already; choose another id.
    #[error("the id {id} is taken by other content")]
    IdConflict {
        /// The id.
        id: String,
    },
    /// Open the handle again: its owner or session was erased meanwhile.
    #[error("the owner or session was erased after this handle was opened")]
    Fenced,
    /// Use the embedder that made the stored vectors, or embed them again.
    #[error("vectors of the space {found} do not belong to the space {expected}")]
    SpaceMismatch {
        /// The space of the store.
        expected: String,
        /// The space of the vectors given.
        found: String,
    },
    /// Shorten the input or raise the budget.
    #[error("{need} tokens do not fit into {budget}")]
    OverBudget {
        /// Tokens needed.
        need: u64,
        /// Tokens there are.
        budget: u64,
    },
    /// Wait, then try again.
    #[error("too many calls in flight")]
    Overloaded,
    /// Wait until the queue has drained.
    #[error("the write-behind queue is full")]
    QueueFull,
    /// Choose another backend or setting.
    #[error("{backend} cannot {what}")]
    Unsupported {
        /// The backend's name.
        backend: &'static str,
        /// What it cannot do.
        what: String,
    },
    /// Write where writing is allowed: this store was opened for reading alone.
    #[error("{backend} was opened for reading alone")]
    ReadOnly {
        /// The backend's name.
        backend: &'static str,
    },
    /// Restore from an export, or rebuild.
    #[error("{backend} holds damaged data")]
    Corrupt {
        /// The backend's name.
        backend: &'static str,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The backend failed; [`Error::is_retryable`] tells whether trying again can help.
    #[error("{backend} failed to {doing}")]
    Backend {
        /// The backend's name.
        backend: &'static str,
        /// What it was doing.
        doing: &'static str,
        /// Whether it may pass.
        transience: Transience,
        /// The cause.
        #[source]
        source: Cause,
    },
}

/// Whether a fault may pass by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transience {
    /// It may, perhaps after the time that the server named.
    Transient {
        /// The wait that the server asked for.
        after: Option<Duration>,
    },
    /// It may: this call exceeded its time limit, but others need not.
    Late,
    /// It will not.
    Permanent,
}

/// The source of an error, shared so that errors can be cloned. Shown without the secrets of places.
#[derive(Clone)]
pub struct Cause(Arc<dyn StdError + Send + Sync>);

impl Cause {
    /// Wraps `source`.
    pub fn new(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Arc::from(source.into()))
    }

    /// Returns whether it wraps an `E`.
    pub(crate) fn is<E: StdError + 'static>(&self) -> bool {
        self.0.is::<E>()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text_without_secrets(&self.0.to_string()))
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cause").field(&format_args!("{}", text_without_secrets(&format!("{:?}", self.0)))).finish()
    }
}

impl StdError for Cause {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// What is too long where the question alone may be, in words.
const QUESTION: &str = "the question, or the turn that begins with it,";

impl Error {
    /// Returns [`Error::Invalid`] with `what`.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// Returns [`Error::Corrupt`] of `backend`.
    pub fn corrupt(backend: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Corrupt { backend, source: Cause::new(source) }
    }

    /// Returns this error; [`Error::Corrupt`] with what is damaged, such as `the message 0190…`, before its cause.
    #[must_use]
    pub fn damaging(self, what: impl fmt::Display) -> Self {
        match self {
            Self::Corrupt { backend, source } => Self::corrupt(backend, format!("{what}: {source}")),
            other => other,
        }
    }

    /// Returns the error of a call that did not end in time, and may the next time.
    ///
    /// It is not [`Transience::Late`], by which guards judge the calls to their backends: this limit is one outside of all guards.
    pub(crate) fn timed_out(backend: &'static str, doing: &'static str) -> Self {
        let source = Cause::new(io::Error::from(io::ErrorKind::TimedOut));
        Self::Backend { backend, doing, transience: Transience::Transient { after: None }, source }
    }

    /// Returns the error with its causes as one line, without the secrets of places.
    pub fn with_causes(&self) -> String {
        let mut line = self.to_string();
        let mut source = self.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Some drivers repeat their cause in their own text.
            if !line.ends_with(&text) {
                line.push_str(": ");
                line.push_str(&text);
            }
            source = cause.source();
        }
        let parts: Vec<&str> = line.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect();
        text_without_secrets(&parts.join("; ")).into_owned()
    }

    /// Returns what of a context is too long, and what helps, as one clause; none if that is not the error. The context was to have
    /// `limit` tokens, `reserve` of them kept free, and a question or none.
    ///
    /// ```
    /// use memory_core::Error;
    ///
    /// let told = Error::OverBudget { need: 34, budget: 5 }.of_context(10, 0, true);
    /// let what = "the newest turn, with the instructions, is too long";
    /// let words = format!("{what}: 34 tokens do not fit into 5 of the budget of 10: raise the budget");
    /// assert_eq!(told, Some(words));
    /// ```
    pub fn of_context(&self, limit: u64, reserve: u64, asks: bool) -> Option<String> {
        let Self::OverBudget { budget, .. } = self else { return None };
        let Some(room) = limit.checked_sub(reserve) else {
            return Some(format!(
                "{reserve} tokens cannot be kept free of a budget of {limit}: raise the budget, or keep fewer free"
            ));
        };
        let of = if *budget < limit { format!(" of the budget of {limit}") } else { String::new() };
        // The question is counted first, unless the newest turn begins with it: all else has what it leaves.
        Some(if asks && *budget == room {
            format!("{QUESTION} is too long: {self}{of}: raise the budget, or ask in fewer words")
        } else {
            format!("the newest turn, with the instructions, is too long: {self}{of}: raise the budget")
        })
    }

    /// Returns whether the same call can succeed later. Holds for writes too: every write may be repeated.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Overloaded
                | Self::QueueFull
                | Self::Backend { transience: Transience::Transient { .. } | Transience::Late, .. }
        )
    }

    /// Returns how long to wait before the next call, as the backend or its guard said; zero if neither did.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use memory_core::{Cause, Error, Transience};
    ///
    /// let transience = Transience::Transient { after: Some(Duration::from_secs(7)) };
    /// let error = Error::Backend { backend: "mine", doing: "read messages", transience, source: Cause::new("busy") };
    /// assert_eq!(error.retry_after(), Duration::from_secs(7));
    /// assert_eq!(Error::Overloaded.retry_after(), Duration::ZERO);
    /// ```
    pub fn retry_after(&self) -> Duration {
        match self {
            Self::Backend { transience: Transience::Transient { after: Some(after) }, .. } => *after,
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_on_one_line() {
        let cause = io::Error::new(io::ErrorKind::NotFound, Cause::new("no such\nfile"));
        let error = Error::Backend {
            backend: "sqlite",
            doing: "open the file",
            transience: Transience::Permanent,
            source: Cause::new(cause),
        };
        // An input error repeats the text of what it wraps.
        assert_eq!(error.with_causes(), "sqlite failed to open the file: no such; file");
        assert_eq!(Error::Conflict.with_causes(), "the stored state changed meanwhile");
    }

    #[test]
    fn what_does_not_fit_into_a_context_is_named_with_what_helps() {
        let told = |need, budget, limit, reserve, asks| {
            let told = Error::OverBudget { need, budget }.of_context(limit, reserve, asks).unwrap();
            told.split(" is too long").next().unwrap().to_owned()
        };
        assert_eq!(told(34, 10, 10, 0, true), QUESTION);
        assert_eq!(told(34, 6, 10, 4, true), QUESTION);
        assert_eq!(told(34, 5, 10, 4, true), "the newest turn, with the instructions,");
        assert_eq!(told(34, 10, 10, 0, false), "the newest turn, with the instructions,");
        let kept = "11 tokens cannot be kept free of a budget of 10: raise the budget, or keep fewer free";
        assert_eq!(told(11, 10, 10, 11, false), kept);
        assert_eq!(Error::Overloaded.of_context(10, 0, true), None);
    }

    #[test]
    fn a_wait_is_zero_unless_it_was_told() {
        let second = Duration::from_secs(1);
        for (transience, wait) in [
            (Transience::Transient { after: Some(second) }, second),
            (Transience::Transient { after: None }, Duration::ZERO),
            (Transience::Late, Duration::ZERO),
            (Transience::Permanent, Duration::ZERO),
        ] {
            let error = Error::Backend { backend: "test", doing: "answer", transience, source: Cause::new("away") };
            assert_eq!(error.retry_after(), wait, "{transience:?}");
        }
    }

    #[test]
    fn causes_show_no_secrets() {
        let inner = io::Error::other("no way to POSTGRES://ada:hunter2@h/d");
        let error = Error::corrupt("postgres", Cause::new(io::Error::other(inner)));
        for shown in [error.with_causes(), format!("{error:?}"), error.source().map(ToString::to_string).unwrap()] {
            assert!(!shown.contains("hunter2") && shown.contains("POSTGRES://ada"), "{shown}");
        }
    }
}
