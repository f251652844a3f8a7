//! The server that a bench measures.

use std::error::Error;
use std::future::Future;
use std::io::Write as _;
use std::process::ExitCode;

use tokio::runtime::Runtime;

use crate::environment;

/// What the function of a bench returns.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Runs a bench against the server of `backend`, such as `redis`: that of `MEMORY_TEST_REDIS_URL`. Without one, and when
/// the bench fails, a line on stderr says why.
pub fn against<F>(backend: &str, bench: impl FnOnce(String) -> F) -> ExitCode
where
    F: Future<Output = Outcome<()>>,
{
    told_at_the_end(|| {
        let url = environment::url(backend).ok_or_else(|| {
            format!("{} is not set: it names the server to measure", environment::variable(backend, "URL"))
        })?;
        Runtime::new()?.block_on(bench(url))
    })
}

/// Runs a bench that needs no server. When it fails, a line on stderr says why.
pub fn alone<F: Future<Output = Outcome<()>>>(bench: impl FnOnce() -> F) -> ExitCode {
    told_at_the_end(|| Runtime::new()?.block_on(bench()))
}

fn told_at_the_end(bench: impl FnOnce() -> Outcome<()>) -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is no other place to complain to.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Turns the error of a driver into one of ours.
///
/// # Errors
/// `Invalid` with the driver's own words.
pub fn told<T, E: std::fmt::Display>(answer: Result<T, E>) -> memory_core::Result<T> {
    answer.map_err(|error| memory_core::Error::invalid(error.to_string()))
}

/// Returns the numbers among the arguments of the bench, such as `151 20` in `cargo bench … -- 151 20`; the usual one where
/// none stands.
pub fn numbers<const N: usize>(usual: [usize; N]) -> [usize; N] {
    let mut given = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    usual.map(|usual| given.next().unwrap_or(usual))
}
