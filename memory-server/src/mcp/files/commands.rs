//! The six commands, with the words of Claude's own memory tool.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use memory::Scoped;

use super::lines::{lines_of, numbered, size};
use super::path::{Place, ROOT};
use super::shelf::{self, Kept, Leavings, Listed};
use crate::caller::Caller;
use crate::mcp::answer::Fitting;
use crate::mcp::refusal::{Refusal, read};
use crate::token::Right;

/// How often a change is tried that loses against others.
const ATTEMPTS: usize = 100;
/// Lines before and behind a change that are shown with it.
const AROUND: usize = 2;

#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    View { path: String, view_range: Option<[i64; 2]> },
    Create { path: String, file_text: String },
    StrReplace { path: String, old_str: String, new_str: Option<String> },
    Insert { path: String, insert_line: i64, insert_text: String },
    Delete { path: String },
    Rename { old_path: String, new_path: String },
}

/// Carries out a command. The answer fits, however long the path is that it names.
pub(super) async fn run(arguments: Map<String, Value>, caller: &Caller, fitting: &Fitting) -> Result<String, Refusal> {
    let command: Command = read(arguments)?;
    let told = match command {
        Command::View { path, view_range } => {
            view(caller.allowed(Right::Read)?, &Place::parse(&path)?, &path, view_range).await?
        }
        Command::Create { path, file_text } => create(caller.allowed(Right::Write)?, &path, &file_text).await?,
        Command::StrReplace { path, old_str, new_str } => {
            // Also that nothing was replaced tells what stands there.
            caller.allowed(Right::Read)?;
            replace(caller.allowed(Right::Write)?, &path, &old_str, new_str.as_deref().unwrap_or_default()).await?
        }
        Command::Insert { path, insert_line, insert_text } => {
            // A refusal tells how many lines there are.
            caller.allowed(Right::Read)?;
            insert(caller.allowed(Right::Write)?, &path, insert_line, &insert_text).await?
        }
        Command::Delete { path } => delete(caller.allowed(Right::Forget)?, &path).await?,
        Command::Rename { old_path, new_path } => {
            // What is renamed leaves its old place for good.
            caller.allowed(Right::Write)?;
            rename(caller.allowed(Right::Forget)?, &old_path, &new_path).await?
        }
    };
    Ok(fitting.clip(&told))
}

fn absent(path: &str) -> Refusal {
    Refusal::new(format!("The path {path} does not exist. Please provide a valid path."))
}

async fn view(ada: &Scoped, place: &Place, path: &str, range: Option<[i64; 2]>) -> Result<String, Refusal> {
    if let Some(kept) = shelf::file(ada, place).await? {
        let lines: Vec<&str> = kept.content().split('\n').collect();
        let [first, last] = range.unwrap_or([1, -1]);
        let skipped = usize::try_from(first.max(1) - 1).unwrap_or(usize::MAX);
        let end = usize::try_from(last).ok().map_or(lines.len(), |last| last.min(lines.len()));
        let shown = lines.get(skipped.min(end)..end).unwrap_or_default();
        let text = numbered(shown.iter().copied(), skipped.saturating_add(1));
        return Ok(format!("Here's the content of {path} with line numbers:\n{text}"));
    }
    let files = shelf::below(ada, place).await?;
    if files.is_empty() && !place.is_root() {
        return Err(absent(path));
    }
    Ok(listing(place, &files))
}

/// Returns what lies up to two levels below a folder. A hidden name begins with a dot.
fn listing(place: &Place, files: &[Listed]) -> String {
    // Not as the agent wrote it, perhaps with a slash at its end.
    let path = place.as_str();
    let mut folders: HashMap<&str, usize> = HashMap::new();
    for file in files {
        for folder in place.below(&file.path).into_iter().flat_map(folders_of) {
            *folders.entry(folder).or_default() += file.bytes;
        }
    }
    let mut lines = vec![format!("{}\t{path}", size(files.iter().map(|file| file.bytes).sum()))];
    for file in files {
        let Some(rest) = place.below(&file.path) else { continue };
        if rest.split('/').take(2).any(|part| part.starts_with('.')) {
            continue;
        }
        for folder in folders_of(rest) {
            // A folder is told once, before the first of its files.
            if let Some(bytes) = folders.remove(folder) {
                lines.push(format!("{}\t{path}/{folder}/", size(bytes)));
            }
        }
        if rest.split('/').count() <= 2 {
            lines.push(format!("{}\t{path}/{rest}", size(file.bytes)));
        }
    }
    let head = format!("Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:");
    format!("{head}\n{}", lines.join("\n"))
}

/// Returns the first two folders that a path leads through.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').take(2).filter_map(move |(end, _)| path.get(..end))
}

/// Returns whether something lies at `place`, or below it.
async fn is_taken(ada: &Scoped, place: &Place) -> Result<bool, Refusal> {
    Ok(shelf::file(ada, place).await?.is_some() || shelf::is_folder(ada, place).await?)
}

/// Refuses a path whose folders are files.
async fn check_folders(ada: &Scoped, place: &Place) -> Result<(), Refusal> {
    for folder in place.folders() {
        if shelf::file(ada, &Place::parse(folder)?).await?.is_some() {
            return Err(Refusal::new(format!("{folder} is a file, not a directory.")));
        }
    }
    Ok(())
}

async fn create(ada: &Scoped, path: &str, content: &str) -> Result<String, Refusal> {
    let place = Place::parse(path)?;
    check_folders(ada, &place).await?;
    let is_folder = place.is_root() || shelf::is_folder(ada, &place).await?;
    if is_folder || !shelf::make(ada, &place, content).await? {
        return Err(Refusal::new(format!("File {path} already exists")));
    }
    Ok(format!("File created successfully at: {path}"))
}

/// Changes a file by `change`, again if somebody else changed it meanwhile. Returns what `change` told.
async fn edit(
    ada: &Scoped,
    path: &str,
    change: impl Fn(&str) -> Result<(String, String), Refusal>,
) -> Result<String, Refusal> {
    let place = Place::parse(path)?;
    for _ in 0..ATTEMPTS {
        let Some(kept) = shelf::file(ada, &place).await? else {
            let is_folder = is_taken(ada, &place).await? || place.is_root();
            let not_a_file = || Refusal::new(format!("The path {path} is not a file."));
            return Err(if is_folder { not_a_file() } else { absent(path) });
        };
        let (content, told) = change(kept.content())?;
        if shelf::rewrite(ada, &place, &kept, &content).await? {
            return Ok(told);
        }
    }
    Err(Refusal::new("Others change the file all the while: try again."))
}

/// Replaces what stands once in a file.
async fn replace(ada: &Scoped, path: &str, old: &str, new: &str) -> Result<String, Refusal> {
    edit(ada, path, |content| {
        let line_of = |place: usize| content.get(..place).unwrap_or_default().matches('\n').count();
        if old.is_empty() {
            return Err(Refusal::new("No replacement was performed, old_str is empty."));
        }
        let places: Vec<usize> = content.match_indices(old).map(|(place, _)| place).collect();
        let changed = match places.as_slice() {
            [] => {
                let why = format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.");
                return Err(Refusal::new(why));
            }
            [one] => line_of(*one),
            several => {
                let lines: Vec<String> = several.iter().map(|place| (line_of(*place) + 1).to_string()).collect();
                return Err(Refusal::new(format!(
                    "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                    lines.join(", ")
                )));
            }
        };
        let content = content.replace(old, new);
        let lines: Vec<&str> = content.split('\n').collect();
        let first = changed.saturating_sub(AROUND);
        let shown = lines.get(first..lines.len().min(changed + AROUND + 1)).unwrap_or_default();
        let shown = numbered(shown.iter().copied(), first + 1);
        let head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
        Ok((content, format!("{head}\n{shown}")))
    })
    .await
}

/// Inserts lines into a file.
async fn insert(ada: &Scoped, path: &str, line: i64, text: &str) -> Result<String, Refusal> {
    edit(ada, path, |content| {
        let mut lines = lines_of(content);
        let count = lines.len();
        let place = usize::try_from(line).ok().filter(|place| *place <= count);
        let place = place.ok_or_else(|| {
            let range = format!("It should be within the range [0, {count}].");
            Refusal::new(format!("Invalid `insert_line` parameter: {line}. {range}"))
        })?;
        lines.insert(place, text.trim_end_matches('\n'));
        let mut content = lines.join("\n");
        if !content.ends_with('\n') {
            content.push('\n');
        }
        Ok((content, format!("The file {path} has been edited.")))
    })
    .await
}

async fn delete(ada: &Scoped, path: &str) -> Result<String, Refusal> {
    let place = Place::parse(path)?;
    if place.is_root() {
        return Err(Refusal::new(format!("Cannot delete the {ROOT} directory itself")));
    }
    let files = shelf::at_or_below(ada, &place).await?;
    shelf::sweep(ada, &place).await?;
    if files.is_empty() {
        return Err(Refusal::new(format!("The path {path} does not exist")));
    }
    shelf::remove(ada, &files).await?;
    Ok(format!("Successfully deleted {path}"))
}

/// Makes the new files before it removes the old ones: whatever ends between leaves both, and loses nothing.
async fn rename(ada: &Scoped, old_path: &str, new_path: &str) -> Result<String, Refusal> {
    let (old, new) = (Place::parse(old_path)?, Place::parse(new_path)?);
    if old.is_root() {
        return Err(Refusal::new(format!("Cannot rename the {ROOT} directory itself")));
    }
    if new.is_root() || is_taken(ada, &new).await? {
        return Err(Refusal::new(format!("The destination {new_path} already exists")));
    }
    let files = shelf::at_or_below(ada, &old).await?;
    let absent = || Refusal::new(format!("The path {old_path} does not exist"));
    if files.is_empty() {
        return Err(absent());
    }
    if old.below(new.as_str()).is_some() {
        return Err(Refusal::new("A directory cannot be moved into itself."));
    }
    check_folders(ada, &new).await?;
    // All new paths are checked before any file is touched.
    let route = |file: &Listed| -> Result<(Place, Place), Refusal> {
        let to = old.below(&file.path).map_or_else(|| Ok(new.clone()), |rest| new.with(rest))?;
        Ok((Place::parse(&file.path)?, to))
    };
    let routes = files.iter().map(route).collect::<Result<Vec<(Place, Place)>, Refusal>>()?;
    let leavings = Leavings::new()?;
    let moved = move_files(ada, &routes, &leavings).await;
    // Also after an error: what was moved by then stands at its new place.
    leavings.forget(ada).await?;
    shelf::sweep(ada, &old).await?;
    if moved? { Ok(format!("Successfully renamed {old_path} to {new_path}")) } else { Err(absent()) }
}

/// Moves files, and returns whether any was there still.
async fn move_files(ada: &Scoped, routes: &[(Place, Place)], leavings: &Leavings) -> Result<bool, Refusal> {
    let mut is_any = false;
    for (from, place) in routes {
        is_any |= move_file(ada, from, place, leavings).await?;
    }
    Ok(is_any)
}

/// Moves a file, and returns false if somebody deleted it since it was listed.
async fn move_file(ada: &Scoped, from: &Place, place: &Place, leavings: &Leavings) -> Result<bool, Refusal> {
    let Some(kept) = shelf::file(ada, from).await? else { return Ok(false) };
    if !shelf::copy(ada, &kept, place).await? {
        let (from, to) = (from.as_str(), place.as_str());
        return Err(Refusal::new(format!("The destination {to} already exists: {from} is still there.")));
    }
    follow(ada, from, kept, place, leavings).await?;
    Ok(true)
}

/// Closes the old file. What somebody wrote into it since it was copied goes to `place` too.
async fn follow(ada: &Scoped, from: &Place, mut kept: Kept, place: &Place, leavings: &Leavings) -> Result<(), Refusal> {
    for _ in 0..ATTEMPTS {
        if leavings.leave(ada, &kept).await? {
            return Ok(());
        }
        // Somebody deleted it: then nothing is lost.
        let Some(changed) = shelf::file(ada, from).await? else { return Ok(()) };
        let moved = shelf::file(ada, place).await?.filter(|moved| moved.content() == kept.content());
        let is_taken_along = match moved {
            Some(moved) => shelf::copy_again(ada, &changed, place, &moved).await?,
            None => false,
        };
        if !is_taken_along {
            break;
        }
        kept = changed;
    }
    let (from, to) = (from.as_str(), place.as_str());
    Err(Refusal::new(format!(
        "Others change the file all the while: {from} is still there, and {to} has what it held."
    )))
}
