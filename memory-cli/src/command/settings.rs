//! `memory config`: looking at a file of settings, and the schema of such files.

use std::path::Path;

use memory::Settings;
use serde_json::{Value, json};

use crate::cli::{Config, ConfigAction, Global};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::visible::visible;
use crate::words::plural;

pub(super) fn run(global: &Global, args: &Config, output: &mut Output) -> Result<Outcome, Failure> {
    match &args.action {
        ConfigAction::Schema => {
            output.whole(&Settings::schema())?;
            Ok(Outcome::Done)
        }
        ConfigAction::Check { file } => {
            let none = || Failure::Usage("say which file: memory config check FILE".to_owned());
            check(file.as_deref().or(global.config.as_deref()).ok_or_else(none)?, output)
        }
    }
}

fn check(file: &Path, output: &mut Output) -> Result<Outcome, Failure> {
    let shown = visible(&file.display().to_string());
    let error = Settings::from_file(file).and_then(|settings| settings.or_env().check_places()).err();
    let problems = error.as_ref().map(|error| error.problems()).unwrap_or_default();
    if output.is_json() {
        let told = problems.iter().map(|problem| {
            let line = Some(problem.line).filter(|line| *line > 0);
            json!({ "line": line, "column": line.map(|_| problem.column), "what": problem.what, "remedy": problem.remedy })
        });
        output.json(&json!({ "file": shown, "problems": told.collect::<Vec<Value>>() }))?;
    } else {
        match &error {
            Some(error) => error.to_string().lines().try_for_each(|line| output.line(line))?,
            None => output.line(&format!("{shown}: nothing is wrong"))?,
        }
    }
    output.flush()?;
    match problems.len() {
        0 => Ok(Outcome::Done),
        count => Err(Failure::Usage(format!("{shown} has {count} {}", plural(count, "mistake")))),
    }
}
