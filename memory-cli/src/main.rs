//! The program `memory`: conversations in, contexts with receipts out.

mod assemble;
mod cli;
mod command;
mod config;
mod duration;
mod embedding;
mod eval;
mod failure;
mod forgetting;
mod hits;
mod line;
mod log;
mod look;
mod model;
mod moment;
mod output;
mod progress;
mod provider;
mod record;
mod sample;
mod sessions;
mod upkeep;
mod visible;
mod words;
mod wrap;

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::parser::ValueSource;
use memory::store::secrets::without_secrets;

use crate::cli::{Cli, Named};
use crate::failure::Failure;
use crate::line::Line;
use crate::look::{Colour, Look};
use crate::output::{Output, say};

/// How every line begins that says why a command failed.
const ERROR: &str = "error: ";

fn main() -> ExitCode {
    match parse(std::env::args_os()) {
        Ok((cli, named)) => {
            let is_hook = cli.command.is_hook();
            of_hook(is_hook, run(cli, named))
        }
        Err(error) => of_hook(calls_hook(std::env::args_os()), explain(&error)),
    }
}

/// Returns success for a hook, whatever was wrong: an agent waits for it, and some codes stop the agent.
fn of_hook(is_hook: bool, code: ExitCode) -> ExitCode {
    if is_hook { ExitCode::SUCCESS } else { code }
}

/// Returns the command line that is read. A variable that is set to nothing says nothing, but for the one that names the database, which
/// is refused where a database is opened.
fn interface() -> clap::Command {
    without_blank_variables(cli::command())
}

fn without_blank_variables(command: clap::Command) -> clap::Command {
    let says_nothing = |arg: &clap::Arg| arg.get_env().is_some_and(|name| name != "MEMORY_URL" && is_blank(name));
    let command = command.mut_args(|arg| if says_nothing(&arg) { arg.env(None::<&'static str>) } else { arg });
    command.mut_subcommands(without_blank_variables)
}

#[expect(clippy::disallowed_methods, reason = "this is configuration: which variables say something")]
fn is_blank(variable: &OsStr) -> bool {
    std::env::var_os(variable).is_some_and(|value| value.to_str().is_some_and(|value| value.trim().is_empty()))
}

/// Returns whether arguments that are wrong were meant for a hook.
fn calls_hook(args: impl Iterator<Item = OsString>) -> bool {
    let matches = interface().ignore_errors(true).try_get_matches_from(args);
    matches.is_ok_and(|matches| matches.subcommand_name() == Some("hook"))
}

fn parse(args: impl Iterator<Item = OsString>) -> Result<(Cli, Named), clap::Error> {
    let matches = interface().try_get_matches_from(args)?;
    let is_named = |option| matches.value_source(option) == Some(ValueSource::CommandLine);
    let named = Named { database: is_named("db"), embedder: is_named("embedder") };
    Ok((Cli::from_arg_matches(&matches)?, named))
}

fn run(cli: Cli, named: Named) -> ExitCode {
    log::begin(&cli.command);
    let mut output = Output::stdout(cli.global.json, Look::of_stdout(cli.global.color));
    if cli.command.outlasts_its_reader() {
        output = output.outlasting_its_reader();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&Failure::Inner(format!("the program cannot start: {error}"))),
    };
    let ended = runtime.block_on(command::run(cli, named, &mut output));
    // A thread that waits for stdin holds up nobody.
    runtime.shutdown_background();
    match ended {
        Ok(outcome) => outcome.code(),
        Err(failure) => fail(&failure),
    }
}

fn fail(failure: &Failure) -> ExitCode {
    if failure.is_closed_output() {
        return ExitCode::SUCCESS;
    }
    say(&format!("{ERROR}{}", failure.line()));
    ExitCode::from(failure.code())
}

/// Shows help and version on stdout; says in one line what is wrong with a command line.
fn explain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match show(&error.render().to_string()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&Failure::Output(error)),
        };
    }
    let text = without_arguments(error.render().to_string(), std::env::args_os());
    if !text.starts_with(ERROR) {
        // Called without a command: the help is the answer.
        text.trim_end().lines().for_each(say);
        return ExitCode::from(2);
    }
    let paragraphs = text.split("\n\n").take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more"));
    let words = paragraphs.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    say(&format!("{} (--help explains)", words.collect::<Vec<_>>().join("; ")));
    ExitCode::from(2)
}

/// Shows a text on stdout. What explains an option stays beside it where there is room.
fn show(text: &str) -> io::Result<()> {
    let mut output = Output::stdout(false, Look::of_stdout(Colour::Never));
    text.lines().try_for_each(|line| output.painted(&Line::of(line), 10))?;
    output.flush()
}

/// Returns a text that may quote arguments, without the secrets of the places among them.
fn without_arguments(mut text: String, args: impl Iterator<Item = OsString>) -> String {
    for arg in args {
        let arg = arg.to_string_lossy();
        // An option may hold its value behind an equals sign.
        for part in [Some(arg.as_ref()), arg.split_once('=').map(|(_, value)| value)].into_iter().flatten() {
            let shown = without_secrets(part);
            if shown != part {
                text = text.replace(part, &shown);
            }
        }
    }
    text
}
