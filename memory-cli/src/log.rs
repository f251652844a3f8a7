//! What the program logs to stderr: nothing, unless `RUST_LOG` says what. Lines hold no content: events of this project hold ids and
//! numbers alone, and those of other crates are left out.

use std::io::{self, Write};

use memory::store::secrets::text_without_secrets;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::cli::Command;
use crate::output::say;

/// Returns what `RUST_LOG` asks for, such as `debug` or `memory_sqlite=trace,info`; none if it is not set, or cannot be read.
pub(crate) fn wanted() -> Option<Targets> {
    #[expect(clippy::disallowed_methods, reason = "this is configuration: what is logged")]
    let text = std::env::var("RUST_LOG").ok().filter(|text| !text.trim().is_empty())?;
    match text.parse() {
        Ok(wanted) => Some(wanted),
        Err(error) => {
            say(&format!("warning: RUST_LOG cannot be read, so nothing is logged: {error}"));
            None
        }
    }
}

/// Writes what is wanted to stderr from now on, unless the command logs in a form of its own.
pub(crate) fn begin(command: &Command) {
    #[cfg(feature = "server")]
    if matches!(command, Command::Serve(_)) {
        return;
    }
    #[cfg(not(feature = "server"))]
    let _ = command;
    let Some(wanted) = wanted() else { return };
    let ours = filter_fn(|metadata| metadata.target().starts_with("memory"));
    let lines = fmt::layer().with_ansi(false).with_writer(|| Lines);
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(wanted).with(ours).with(lines));
}

/// Writes lines without the secrets of places.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        io::stderr().write_all(text_without_secrets(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
