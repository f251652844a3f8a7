//! Our side of the comparison: holds the messages of a folder, and does one thing with them as often as it is told.
//!
//! usage: memory-peers ROW STORE FOLDER, with ROW window, append, flat, filtered, words or hybrid, and STORE memory or sqlite.
//! Each line of stdin is a command, each line of stdout its answer as JSON: `check N` answers what N questions find,
//! `run` is timed.

mod data;
mod rows;
mod timing;

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::{Value, json};

use data::Data;
use rows::Row;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [row, store, folder] = arguments.as_slice() else { return Err("usage: memory-peers ROW STORE FOLDER".into()) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let scratch = tempfile::tempdir()?;
    let data = Data::read(Path::new(folder))?;
    let row = runtime.block_on(Row::prepare(row, store, data, scratch.path()))?;
    let mut output = std::io::stdout().lock();
    say(&mut output, &json!({ "ready": true }))?;
    for line in std::io::stdin().lock().lines() {
        let answer = runtime.block_on(answer(&row, line?.trim()))?;
        say(&mut output, &answer)?;
    }
    Ok(())
}

async fn answer(row: &Row, command: &str) -> Result<Value, Box<dyn Error>> {
    if let Some(count) = command.strip_prefix("check ") {
        let mut answers = Vec::new();
        for number in 0..count.parse()? {
            answers.push(row.call(number).await?);
        }
        return Ok(json!({ "answers": answers }));
    }
    if command != "run" {
        return Err(format!("no command: {command}").into());
    }
    Ok(timing::run(async |number| row.call(number).await.map(|_| ())).await?)
}

fn say(output: &mut impl Write, answer: &Value) -> std::io::Result<()> {
    writeln!(output, "{answer}")?;
    output.flush()
}
