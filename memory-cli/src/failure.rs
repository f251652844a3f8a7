//! How a command ends: its exit code, and one line about the error.

use std::io;
use std::process::ExitCode;

/// How a command that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All was done.
    Done,
    /// Some was done; the output says what was not.
    Partial,
    /// The person stopped it; what is done stays.
    Interrupted,
    /// The person stopped it and did not wait until it had ended: nothing is closed.
    Abandoned,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or the input is wrong: one clause that says how to put it right.
    Usage(String),
    /// The memory refused or failed.
    Memory(memory::Error),
    /// What must go into a context does not fit: one clause that says what, and what helps.
    TooLong(String),
    /// The output cannot be written.
    Output(io::Error),
    /// The model did not answer; what was said is stored.
    Unanswered(String),
    /// Others are in the way: one clause that says what to do.
    Busy(String),
    /// Something of this program broke.
    Inner(String),
}

impl From<memory::Error> for Failure {
    fn from(error: memory::Error) -> Self {
        Self::Memory(error)
    }
}

impl From<memory::transfer::Error> for Failure {
    fn from(error: memory::transfer::Error) -> Self {
        use memory::transfer::Error;
        match error {
            Error::Memory(error) => Self::Memory(error),
            Error::Output(error) => Self::Output(error),
            busy @ Error::Busy(_) => Self::Busy(format!("{busy}: export it again")),
            other => Self::Inner(other.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Outcome {
    /// Returns the exit code.
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Partial => 3,
            Self::Interrupted | Self::Abandoned => 130,
        })
    }
}

impl Failure {
    /// Returns that no thread can be started.
    pub(crate) fn no_thread(error: &io::Error) -> Self {
        Self::Inner(format!("no thread can be started: {error}"))
    }

    /// Returns whether it only says that nobody reads the output any more.
    pub(crate) fn is_closed_output(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Memory(memory::Error::Invalid { .. } | memory::Error::IdConflict { .. }) => 2,
            Self::TooLong(_) | Self::Memory(memory::Error::OverBudget { .. }) => 4,
            Self::Memory(_) | Self::Output(_) | Self::Unanswered(_) | Self::Busy(_) | Self::Inner(_) => 1,
        }
    }

    /// Returns what went wrong with all its causes, as one line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Usage(what) | Self::TooLong(what) | Self::Busy(what) | Self::Inner(what) => one_line(what),
            Self::Unanswered(why) => one_line(&format!("the model did not answer: {why}")),
            Self::Memory(memory::Error::Invalid { what }) => one_line(what),
            Self::Memory(error) => error.with_causes(),
            Self::Output(error) => format!("the output cannot be written: {error}"),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use memory::store::error::{Cause, Transience};

    use super::*;

    #[test]
    fn the_remedy_decides_the_exit_code() {
        let backend = memory::Error::Backend {
            backend: "sqlite",
            doing: "append messages",
            transience: Transience::Permanent,
            source: Cause::new("disk\nfull"),
        };
        let busy = memory::transfer::Error::Busy(memory::SessionId::new("talk").unwrap());
        let table = [
            (Failure::Usage("say it".to_owned()), 2, "say it"),
            (Failure::Memory(memory::Error::invalid("no words")), 2, "no words"),
            (
                Failure::Memory(memory::Error::IdConflict { id: "7".to_owned() }),
                2,
                "the id 7 is taken by other content",
            ),
            (Failure::Memory(memory::Error::OverBudget { need: 9, budget: 3 }), 4, "9 tokens do not fit into 3"),
            (Failure::Memory(backend), 1, "sqlite failed to append messages: disk; full"),
            (Failure::Memory(memory::Error::corrupt("sqlite", "bad page")), 1, "sqlite holds damaged data: bad page"),
            (busy.into(), 1, "talk is written to while it is exported: export it again"),
        ];
        for (failure, code, line) in table {
            assert_eq!((failure.code(), failure.line().as_str()), (code, line));
        }
    }
}
