//! A program whose indexes or cache are away opens, says so, and answers with what there is.

use std::process::Command;

use crate::support::{Bed, answer, conversations};

/// The address of a port on which nothing listens, and that no other test is given.
const NOBODY: &str = "127.0.0.1:1";

fn without_words(bed: &Bed) -> Command {
    let mut command = bed.command();
    command.env("MEMORY_TEXT_URL", format!("ELASTIC+http://{NOBODY}"));
    command
}

/// A command over a truth at `url`, behind a journal.
fn behind(bed: &Bed, url: &str, args: &[&str]) -> Command {
    let mut command = bed.bare();
    command.env("SESSION_BUFFER_PATH", bed.path("journal.sqlite")).env("MEMORY_URL", url);
    command.args(["--tenant", "acme", "--subject", "ada"]).args(args);
    command
}

#[test]
fn an_index_that_is_away_is_told_and_the_rest_answers() {
    let bed = Bed::new();
    let file = bed.file("conversation.jsonl", conversations());
    // What stores is stored, what is listed is whole, what is searched may lack something.
    let table: [(&[&str], i32, &str); 6] = [
        (&["import", &file], 0, "7 added"),
        (&["remember", "Charlie likes tea"], 0, "remembered"),
        (&["sessions"], 0, "2 sessions"),
        (&["search", ""], 0, "Charlie likes tea"),
        (&["search", "parcel"], 3, "degraded  text"),
        (&["context", "parcel"], 3, "My name is Charlie"),
    ];
    for (args, code, part) in table {
        let answer = answer(without_words(&bed).args(args), b"");
        assert_eq!(answer.code, code, "{args:?}: {}{}", answer.stdout, answer.stderr);
        assert!(answer.stdout.contains(part), "{args:?}: {}", answer.stdout);
        let told = answer.stderr.lines().filter(|line| line.contains("elastic does not answer")).count();
        assert_eq!(told, 1, "{args:?}: {}", answer.stderr);
    }
    let stats = answer(without_words(&bed).arg("stats"), b"");
    assert_eq!(stats.code, 1, "{}", stats.stderr);
    assert!(stats.stdout.contains("text       does not answer") && stats.stdout.contains("3 notes to be indexed"));
}

#[test]
fn an_index_that_cannot_be_filled_again_is_told_by_the_exit_code() {
    let bed = Bed::new();
    let file = bed.file("conversation.jsonl", conversations());
    assert_eq!(answer(without_words(&bed).args(["import", &file]), b"").code, 0);
    let reindexed = answer(without_words(&bed).arg("reindex"), b"");
    assert_eq!(reindexed.code, 3, "{}{}", reindexed.stdout, reindexed.stderr);
    assert!(reindexed.stdout.contains("2 notes wait") && !reindexed.stdout.contains("everything is put"));
}

#[test]
fn a_cache_that_is_away_is_told_and_the_answer_is_whole() {
    let bed = Bed::new();
    bed.import(&conversations());
    let mut search = bed.command();
    search.env("MEMORY_CACHE_URL", format!("redis://{NOBODY}")).args(["search", "parcel"]);
    let found = answer(&mut search, b"");
    assert_eq!(found.code, 0, "{}", found.stderr);
    assert!(found.stdout.contains("E-4471-B") && found.stderr.contains("redis does not answer"), "{}", found.stderr);
}

#[test]
fn a_truth_that_is_away_is_an_error() {
    let bed = Bed::new();
    let url = format!("redis://:hunter2@{NOBODY}");
    let owner = ["--tenant", "a", "--subject", "b", "sessions"];
    let refused = answer(bed.bare().args(["--db", &url]).args(owner), b"");
    let line = refused.refused(1);
    assert!(line.starts_with("redis failed to connect") && !line.contains("hunter2"), "{line}");
}

#[test]
fn s3_6_with_a_journal_a_truth_that_is_away_is_gone_on_without() {
    // With the embedder of the build too, which has to be chosen without the truth.
    for (url, embedder) in [("redis", Some("none")), ("redis", None), ("postgres", None), ("postgres", Some("static"))]
    {
        let (bed, named) = (Bed::new(), format!("{url}://{NOBODY}"));
        let behind = |args: &[&str]| {
            let mut command = behind(&bed, &named, args);
            command.env_remove("MEMORY_EMBEDDER").envs(embedder.map(|name| ("MEMORY_EMBEDDER", name)));
            command
        };
        let said = answer(&mut behind(&["chat"]), b"My rose is called Aurora.\n");
        let told = format!("{url} does not answer");
        assert!(said.stdout.contains("Aurora") && said.stderr.contains(&told), "{embedder:?}: {}", said.stderr);
        // Another process sees what the first one left.
        let context = answer(&mut behind(&["context", "What is my rose called?"]), b"");
        assert!(context.stdout.contains("Aurora"), "{}{}", context.stdout, context.stderr);
        let queue = answer(&mut behind(&["--json", "queue"]), b"");
        assert_eq!((queue.code, queue.json()["waiting"].as_u64()), (0, Some(1)), "{}", queue.stderr);
        // What the owner has cannot be counted; what waits can.
        let stats = answer(&mut behind(&["stats"]), b"");
        assert_eq!(stats.code, 1, "{}", stats.stderr);
        assert!(stats.stdout.contains("journal    1 waiting"), "{}{}", stats.stdout, stats.stderr);
    }
}

#[cfg(unix)]
#[test]
fn whoever_stops_the_program_twice_does_not_wait_for_a_truth_that_is_away() {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::process::Stdio;

    use crate::support::{signal, signal_until_the_end};

    let (bed, url) = (Bed::new(), format!("redis://{NOBODY}"));
    let mut chat = behind(&bed, &url, &["chat"]);
    let mut child = chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"My rose is called Aurora.\n").unwrap();
    let (mut shown, mut told) = (child.stdout.take().unwrap(), BufReader::new(child.stderr.take().unwrap()));
    // Its context stands there when the line is in the journal.
    shown.read_exact(&mut [0]).unwrap();
    signal("-INT", &child);
    let mut line = String::new();
    while !line.starts_with("stopped; every message") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "the chat ended by itself");
    }
    // What comes within half a second is the same stop.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(signal_until_the_end("-INT", &mut child), Some(130));
    line.clear();
    told.read_to_string(&mut line).unwrap();
    assert!(line.contains("stopped before the database was closed; nothing is lost"), "{line}");
    drop(input);
    let queue = answer(&mut behind(&bed, &url, &["--json", "queue"]), b"").json();
    assert_eq!(queue["waiting"], 1);
}
