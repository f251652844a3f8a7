//! Runs a program under test and returns its output.

use std::process::Command;

use crate::check::Failure;

/// Runs a program to its end and returns what it printed.
///
/// # Errors
/// Its stderr, if it exits with an error or if its output is not UTF-8.
#[track_caller]
pub fn printed(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| Failure::new(error.to_string()))?;
    if !output.status.success() {
        return Err(Failure::new(String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| Failure::new(error.to_string()))
}
