//! How long an agent waits for what a hook recalls before a prompt: the program from its start to its end, over a file of many messages.
//!
//! `cargo bench -p memory-cli --bench hook -- [RUNS] [MESSAGES]`

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use memory::store::time::Stopwatch;
use serde_json::json;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn plan() -> (usize, usize) {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = |place: usize, usual| arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(usual);
    (number(0, 300), number(1, 100_000))
}

/// The program, with a data folder of its own and its embedder.
fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memory"));
    command.env_clear().env("HOME", folder).env("XDG_DATA_HOME", folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.args(["--tenant", "acme", "--subject", "ada"]).stderr(Stdio::null());
    command
}

/// Runs a command with `input`, and returns what it printed.
fn run(command: &mut Command, input: &str) -> Outcome<String> {
    let mut child = command.spawn()?;
    child.stdin.take().ok_or("no stdin")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    if output.status.success() { Ok(String::from_utf8(output.stdout)?) } else { Err("the program failed".into()) }
}

fn measure() -> Outcome<()> {
    let (runs, messages) = plan();
    let folder = tempfile::tempdir()?;
    let mut lines = String::new();
    for number in 0..messages {
        let (session, plan) = (number / 50, number % 997);
        let text = format!("Message {number} says that plan {plan} needs water, and who brings it to the garden.");
        writeln!(lines, "{}", json!({ "session": format!("s{session}"), "role": "user", "content": text }))?;
    }
    run(program(folder.path()).args(["import", "-"]), &lines)?;
    let (mut times, mut answered) = (Vec::new(), 0);
    for number in 0..runs {
        let prompt = format!("What does plan {} need, and who brings it?", number * 7 % 997);
        let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "now", "prompt": prompt });
        let watch = Stopwatch::start();
        let answer = run(program(folder.path()).args(["hook", "claude-code"]), &event.to_string())?;
        times.push(watch.micros());
        answered += usize::from(answer.contains("additionalContext"));
    }
    times.sort_unstable();
    let at =
        |share: usize| times.get((runs * share / 100).min(runs.saturating_sub(1))).map_or(0, |micros| micros / 1_000);
    writeln!(
        std::io::stdout(),
        "{runs} recalls over {messages} messages, {answered} with an answer: p50 {} ms, p99 {} ms",
        at(50),
        at(99)
    )?;
    Ok(())
}
