//! `memory completions` and `memory man`: what a package of the program brings for shells and for `man`.

use std::fs;

use crate::cli::{Completions, Man, command};
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// Writes the completions of a shell to stdout.
pub(super) fn completions(args: &Completions, output: &mut Output) -> Result<Outcome, Failure> {
    // Made whole first: the generator ends the program if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "memory", &mut script);
    output.lines().write_all(&script)?;
    Ok(Outcome::Done)
}

/// Writes a page for the program and one for each command.
pub(super) fn pages(args: &Man, output: &mut Output) -> Result<Outcome, Failure> {
    let failed = |error| Failure::Usage(format!("{}: {error}", args.folder.display()));
    fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(command(), &args.folder).map_err(failed)?;
    output.line(&format!("manual pages: {}", args.folder.display()))?;
    Ok(Outcome::Done)
}
