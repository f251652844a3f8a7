//! Programs under test, as a person runs them.

use std::process::Command;

use crate::check::Failure;

/// Runs a program to its end and returns what it printed.
///
/// # Errors
/// What it said on stderr, if it did not succeed or printed what is no text.
#[track_caller]
pub fn printed(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| Failure::new(error.to_string()))?;
    if !output.status.success() {
        return Err(Failure::new(String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| Failure::new(error.to_string()))
}
