//! The commands, one file each, and what runs them.

mod backup;
mod call;
mod chat;
mod context;
mod demo;
mod eval;
mod export;
mod facts;
mod forget;
mod fork;
#[cfg(feature = "server")]
mod hook;
mod import;
mod indexes;
mod manual;
#[cfg(feature = "server")]
mod mcp;
mod moving;
mod owners;
mod queue;
mod records;
mod remember;
mod search;
#[cfg(feature = "server")]
mod serve;
mod sessions;
mod settings;
mod show;
mod stats;
mod stopping;
#[cfg(feature = "server")]
mod token;

use memory::Settings;

use crate::cli::{Cli, Command, Named};
use crate::config::COUNTER;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};

use call::Call;

/// Runs what the command line asks for.
pub(crate) async fn run(cli: Cli, named: Named, output: &mut Output) -> Result<Outcome, Failure> {
    let settings = if goes_by_settings(&cli.command) { call::settings(&cli.global)? } else { Settings::default() };
    let call = Call::new(cli.global, named, settings, cli.command.stores());
    if cli.command.counts() {
        COUNTER.load_ahead();
    }
    let outcome = if cli.command.stops_itself() {
        dispatch(&cli.command, &call, output).await
    } else {
        tokio::select! {
            // The command first: a question on the terminal, asked before anything is awaited, is stopped as usual.
            biased;
            outcome = dispatch(&cli.command, &call, output) => outcome,
            Ok(()) = tokio::signal::ctrl_c() => {
                stopped(&cli.command, output);
                Ok(Outcome::Interrupted)
            }
        }
    };
    let is_left = cli.command.is_hook() || matches!(outcome, Ok(Outcome::Abandoned));
    let is_closed = is_left || close(&call).await;
    let outcome = ended(outcome, output)?;
    Ok(if is_closed { outcome } else { Outcome::Abandoned })
}

/// Returns whether a command goes by the settings. What does not works whatever is wrong with them.
fn goes_by_settings(command: &Command) -> bool {
    match command {
        #[cfg(feature = "server")]
        Command::Token(_) => false,
        Command::Config(_) | Command::Completions(_) | Command::Man(_) => false,
        _ => true,
    }
}

/// Closes what was opened, and returns whether that came to its end: a person who stops the command then, or once more, does not wait.
async fn close(call: &Call) -> bool {
    tokio::select! {
        // First, so that it is listened to before closing begins.
        biased;
        Ok(()) = stopping::once_more() => {
            say("stopped before the database was closed; nothing is lost, and the next command goes on with what is left");
            false
        }
        () = call.close() => true,
    }
}

/// Writes what is still held back, and returns how the command ended. Why it failed, or what it did not do, is told also if nobody reads
/// the output any more.
fn ended(outcome: Result<Outcome, Failure>, output: &mut Output) -> Result<Outcome, Failure> {
    let flushed = output.flush();
    let outcome = outcome?;
    flushed?;
    Ok(outcome)
}

/// Says what is true of a command that is stopped now.
fn stopped(command: &Command, output: &Output) {
    if output.has_answered() {
        say("stopped while the indexes followed; what was told is done, and the next command goes on with them");
    } else {
        say(command.when_stopped());
    }
}

async fn dispatch(command: &Command, call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    match command {
        Command::Demo => demo::run(call, output).await,
        Command::Import(args) => import::run(call, args, output).await,
        Command::Context(args) => context::run(call, args, output).await,
        Command::Search(args) => search::run(call, args, output).await,
        Command::Remember(args) => remember::run(call, args, output).await,
        Command::Forget(args) => forget::run(call, args, output).await,
        Command::Sessions(args) => sessions::run(call, args, output).await,
        Command::Show(args) => show::run(call, args, output).await,
        Command::Fork(args) => fork::run(call, args, output).await,
        Command::Records(args) => records::run(call, args, output).await,
        Command::Facts(args) => facts::run(call, args, output).await,
        Command::Stats(args) => stats::run(call, args, output).await,
        Command::Reindex(args) => indexes::reindex(call, args, output).await,
        Command::Retire(args) => indexes::retire(call, args, output).await,
        Command::Queue(args) => queue::run(call, args, output).await,
        Command::Export => export::run(call, output).await,
        Command::Backup(args) => backup::run(call, args, output).await,
        Command::Owners => owners::run(call, output).await,
        Command::Move(args) => moving::run(call, args, output).await,
        Command::Eval(args) => eval::run(call, args, output).await,
        Command::Chat(args) => chat::run(call, args, output).await,
        #[cfg(feature = "server")]
        Command::Serve(args) => serve::run(call, args, output).await,
        #[cfg(feature = "server")]
        Command::Mcp(args) => mcp::run(call, args, output).await,
        #[cfg(feature = "server")]
        Command::Hook(args) => hook::run(call, args, output).await,
        #[cfg(feature = "server")]
        Command::Token(args) => token::run(&call.global, args, output),
        Command::Config(args) => settings::run(&call.global, args, output),
        Command::Completions(args) => manual::completions(args, output),
        Command::Man(args) => manual::pages(args, output),
    }
}
