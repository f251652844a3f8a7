//! This program as a process of one of its tests.

use std::io::Write as _;
use std::process::ExitCode;

pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Returns what follows upon `mark` on the command line, if this process was started with it.
pub(crate) fn told(mark: &str) -> Option<Vec<String>> {
    let mut arguments = std::env::args().skip(1);
    (arguments.next()? == mark).then(|| arguments.collect())
}

/// Does the work of this process, and returns how it ended; what went wrong is said with `name`.
pub(crate) fn ended(name: &str, work: impl Future<Output = Outcome<()>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(work)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{name}: {error}");
            ExitCode::FAILURE
        }
    }
}
