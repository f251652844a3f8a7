//! Files that change while they are read.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::thread;

use super::{source, told};
use crate::import::files::read_all;
use crate::import::queue::queue;

/// More than a reader holds at once.
const LINES: usize = 5_000;

fn line(number: usize) -> String {
    format!("{{\"role\":\"user\",\"content\":\"message {number}\"}}")
}

fn lines(join: &str) -> String {
    (1..=LINES).map(line).collect::<Vec<_>>().join(join)
}

/// Reads a file of `text`, which `change` changes once the first item is read, and returns what is told of it.
fn read_while(text: &str, change: impl FnOnce(&mut File)) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.json");
    fs::write(&path, text).unwrap();
    let (sink, mut items) = queue(1);
    let reader = thread::spawn({
        let path = path.clone();
        move || read_all(&[path], &source(), &Arc::default(), &sink).is_ok()
    });
    let mut read = vec![items.blocking_next().unwrap()];
    change(&mut OpenOptions::new().append(true).open(&path).unwrap());
    read.extend(std::iter::from_fn(|| items.blocking_next()));
    assert!(reader.join().unwrap());
    told(&read)
}

/// Returns what is told of the first `count` messages.
fn messages(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{number} chat_history user message {number}")).collect()
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_refused_from_there_on() {
    for (text, why) in [
        (lines("\n"), "the file cannot be read: it became shorter while it was read"),
        (
            format!("[{}]", lines(",\n")),
            "not JSON from here on: it cannot be read: it became shorter while it was read",
        ),
    ] {
        // At the end of a line nothing else tells that something is missing.
        let cut = text[..100_000].rfind('\n').unwrap() + 1;
        let mut told = read_while(&text, |file| file.set_len(cut as u64).unwrap());
        let last = told.pop().unwrap();
        assert!(last.ends_with(&format!(" ! {why}")), "{last}");
        assert!((1..LINES).contains(&told.len()));
        assert_eq!(told, messages(told.len()));
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_read_to_its_new_end() {
    let more = format!("\n{}", line(LINES + 1));
    let told = read_while(&lines("\n"), |file| file.write_all(more.as_bytes()).unwrap());
    assert_eq!(told, messages(LINES + 1));
}

#[test]
fn a_line_that_is_half_written_is_refused_and_those_before_it_are_read() {
    let half = format!("\n{}", &line(LINES + 1)[..20]);
    let mut told = read_while(&lines("\n"), |file| file.write_all(half.as_bytes()).unwrap());
    assert_eq!(told.pop().unwrap(), format!("{} ! not JSON: it ends too soon", LINES + 1));
    assert_eq!(told, messages(LINES));
}
