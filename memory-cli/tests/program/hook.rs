//! The hooks of Claude Code: what is recalled before a prompt, the transcript stored after it, and an agent that is never held up.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::time::Duration;

use memory::window::CounterKind;
use memory_testkit::RunningWatch;
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::support::{Answer, Bed, answer};

/// Sends an event to a hook. Where others use the machine, an unoptimised program may have no time for it: then it says so, and the
/// event is sent again, as an agent sends the next one. Tests of how long a hook takes send it [`once`].
pub(crate) fn hook(bed: &Bed, event: &Value) -> Answer {
    hook_with(bed, &[], event)
}

fn hook_with(bed: &Bed, args: &[&str], event: &Value) -> Answer {
    let mut answers = std::iter::repeat_with(|| once(bed, args, event)).take(10).skip_while(is_late);
    answers.next().expect("a hook of ten has the time")
}

fn is_late(answer: &Answer) -> bool {
    ["it took too long", "no time to read"].iter().any(|late| answer.stderr.contains(*late))
}

fn once(bed: &Bed, args: &[&str], event: &Value) -> Answer {
    bed.run_with(&[&["hook", "claude-code"], args].concat(), event.to_string().as_bytes())
}

pub(crate) fn line(number: usize, role: &str, text: &str) -> String {
    let id = format!("0190b0a0-0000-7000-8000-{number:012}");
    let message = json!({ "role": role, "content": [{ "type": "text", "text": text }] });
    json!({ "type": role, "uuid": id, "timestamp": "2026-11-22T10:00:00Z", "message": message }).to_string()
}

fn ended(path: &str) -> Value {
    json!({ "hook_event_name": "Stop", "session_id": "s1", "transcript_path": path, "cwd": "/work/garden" })
}

#[test]
fn a_transcript_is_stored_once_and_recalled_before_the_next_prompt() {
    let bed = Bed::new();
    let first = [line(1, "user", "The parcel E-4471-B goes to Porto."), line(2, "assistant", "Noted.")].join("\n");
    let path = bed.file("transcript.jsonl", format!("{first}\n{{\"type\":\"user\",\"uu"));
    for _ in 0..2 {
        let answer = hook(&bed, &ended(&path));
        assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""));
        assert_eq!(bed.json(&["show", "s1"])["messages"], 2);
    }
    bed.file("transcript.jsonl", format!("{first}\n{}\n", line(3, "user", "And the letter?")));
    hook(&bed, &ended(&path));
    assert_eq!(bed.json(&["show", "s1"])["messages"], 3);
    let asks =
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s2", "prompt": "Where does E-4471-B go?" });
    let answer = hook(&bed, &asks).json();
    let told = &answer["hookSpecificOutput"];
    assert_eq!(told["hookEventName"], "UserPromptSubmit");
    assert!(told["additionalContext"].as_str().unwrap().contains("goes to Porto"), "{told}");
    let other = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s2", "prompt": "Xylophone repair?" });
    assert_eq!(hook(&bed, &other).stdout, "");
    assert_eq!(hook(&bed.of("bob"), &asks).stdout, "");
    bed.run(&["remember", "Decision: the garden project uses tabs", "--kind", "preference"]);
    let begins =
        json!({ "hook_event_name": "SessionStart", "session_id": "s3", "cwd": "/work/garden", "source": "startup" });
    assert!(hook(&bed, &begins).stdout.contains("uses tabs"));
}

#[test]
fn what_is_recalled_keeps_to_the_budget_by_an_estimate_that_is_never_too_low() {
    let bed = Bed::new();
    let about = |number: usize| match number % 2 {
        0 => format!("Parcel E-4471-B, note {number}: by the train of Monday it goes to Porto, and then by ship."),
        _ => format!("The kiln was fired to {number} degrees, and the glaze came out well on all of the cups."),
    };
    let lines: Vec<String> = (1..=24).map(|number| line(number, "user", &about(number))).collect();
    hook(&bed, &ended(&bed.file("transcript.jsonl", lines.join("\n"))));
    let asks =
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s2", "prompt": "Where does E-4471-B go?" });
    let answer = hook_with(&bed, &["--budget", "400"], &asks).json();
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let [estimate, count] = [CounterKind::Heuristic, CounterKind::O200k].map(|kind| kind.counter().count_text(told));
    // Another note has no room.
    assert!((200..=400).contains(&estimate) && count <= estimate, "{count} of {estimate}: {told}");
    // Less than the smallest budget is taken for it.
    let [least, less] = ["200", "3"].map(|budget| hook_with(&bed, &["--budget", budget], &asks).json());
    let told = least["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(CounterKind::Heuristic.counter().count_text(told) <= 200, "{told}");
    assert_eq!(less, least);
    // What the hook stored is counted as by every command.
    let context = bed.json(&["--session", "s1", "context", "Where does E-4471-B go?", "--budget", "4000"]);
    assert_eq!(context["receipt"]["recounted"], 0, "{context}");
}

#[test]
fn a_transcript_is_stored_before_it_is_compacted_and_when_its_session_ends() {
    let bed = Bed::new();
    let mut lines = Vec::new();
    for (number, name) in [(1, "PreCompact"), (2, "SessionEnd")] {
        lines.push(line(number, "user", &format!("Parcel {number} goes to Porto.")));
        let path = bed.file("transcript.jsonl", lines.join("\n"));
        let event = json!({
            "hook_event_name": name, "session_id": "s1", "transcript_path": path, "cwd": "/work/garden", "trigger": "auto",
            "custom_instructions": "", "reason": "logout",
        });
        for _ in 0..2 {
            let answer = hook(&bed, &event);
            assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""), "{name}");
            assert_eq!(bed.json(&["show", "s1"])["messages"], number, "{name}");
        }
    }
}

#[test]
fn what_is_asked_about_a_long_log_is_answered_whether_it_stands_before_or_behind() {
    let bed = Bed::new();
    bed.run(&["remember", "The parcel E-4471-B goes to Porto"]);
    let lines = (0..4_000).map(|number| format!("[{number:05}] worker-{number} waited, host {:x} slept", number * 131));
    let (log, question) = (lines.collect::<Vec<_>>().join("\n"), "Where does E-4471-B go?");
    assert!(log.len() > 150_000);
    for prompt in [format!("{log}\n\n{question}\n"), format!("{question}\n\n{log}")] {
        let asks = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s2", "prompt": prompt });
        let answer = hook(&bed, &asks);
        assert!(answer.stdout.contains("goes to Porto"), "{}{}", answer.stdout, answer.stderr);
    }
}

/// How long a hook may take here. It gives up after 1.8 s (`PATIENCE`); what is measured from outside is also how long an
/// unoptimised program takes to start and to end where others use the machine.
const MOST: Duration = Duration::from_secs(4);

/// Writes a transcript that is longer than any hook has the time to read, and ends with these lines.
fn very_long(bed: &Bed, lines: &[String]) -> String {
    let path = bed.file("transcript.jsonl", "");
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(300 << 20).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    write!(file, "\n{}\n", lines.join("\n")).unwrap();
    path
}

#[test]
fn what_is_new_at_the_end_of_a_very_long_transcript_is_stored() {
    let bed = Bed::new();
    let mut lines = vec![line(1, "user", "The parcel goes to Porto."), line(2, "assistant", "Noted.")];
    hook(&bed, &ended(&bed.file("transcript.jsonl", lines.join("\n"))));
    for (number, text) in [(3, "And the letter?"), (4, "And the book?")] {
        lines.push(line(number, "user", text));
        let path = very_long(&bed, &lines);
        for _ in 0..2 {
            let answer = hook(&bed, &ended(&path));
            assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""));
            assert_eq!(bed.json(&["show", "s1"])["messages"], number);
        }
    }
}

#[test]
fn of_a_transcript_that_is_too_long_the_end_is_stored_and_the_rest_is_told_once() {
    let mut lines = vec![line(1, "user", "The parcel goes to Porto.")];
    // What a late hook stored is old to the next one, and then nothing is told: each has a memory of its own.
    let first = || {
        let bed = Bed::new();
        let answer = once(&bed, &[], &ended(&very_long(&bed, &lines)));
        (bed, answer)
    };
    let mut firsts = std::iter::repeat_with(first).take(10).skip_while(|(_, answer)| is_late(answer));
    let (bed, answer) = firsts.next().expect("a hook of ten has the time");
    assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.lines().count()), (0, "", 1), "{}", answer.stderr);
    assert!(answer.stderr.contains("are not stored"), "{}", answer.stderr);
    lines.push(line(2, "assistant", "Noted."));
    let answer = hook(&bed, &ended(&very_long(&bed, &lines)));
    assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""));
    assert_eq!(bed.json(&["show", "s1"])["messages"], 2);
}

/// Sends an event until all messages of its transcript are stored, and returns the memory. Returns none if a hook had no time to
/// read back to what is stored: it says that what is between is not stored, and no later one stores it.
fn all_stored(lines: &[String]) -> Option<Bed> {
    let bed = Bed::new();
    let path = bed.file("transcript.jsonl", lines.join("\n"));
    let (mut stored, mut late) = (0, 0);
    while stored < lines.len() as u64 {
        let answer = once(&bed, &[], &ended(&path));
        assert_eq!((answer.code, answer.stdout.as_str()), (0, ""), "{}", answer.stderr);
        if answer.stderr.contains("are not stored") {
            return None;
        }
        if is_late(&answer) {
            late += 1;
            assert!(late < 10, "a hook of ten has the time");
            continue;
        }
        let now = bed.json(&["show", "s1"])["messages"].as_u64().unwrap();
        assert!(now > stored, "{now} after {stored}: {}", answer.stderr);
        (stored, late) = (now, 0);
    }
    assert_eq!(stored, lines.len() as u64);
    Some(bed)
}

#[test]
fn what_one_hook_has_no_time_to_store_the_next_ones_store() {
    let more = "On Monday a train takes it there. ".repeat(20);
    let lines: Vec<String> =
        (1..=6_000).map(|number| line(number, "user", &format!("Parcel {number} goes to Porto. {more}"))).collect();
    let bed = (0..10).find_map(|_| all_stored(&lines)).expect("the hooks of one memory of ten have the time");
    let newest = bed.run(&["show", "s1"]).stdout;
    assert!(newest.contains("Parcel 6000 goes"), "{newest}");
}

#[test]
fn whatever_is_wrong_the_agent_goes_on_within_two_seconds() {
    let bed = Bed::new();
    let damaged = bed.file("damaged.sqlite", vec![b'x'; 5_000]);
    let asks = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Hm?" }).to_string();
    let missing = ended("/nowhere/transcript.jsonl").to_string();
    let there = bed.database().to_str().unwrap().to_owned();
    let cases = [
        ("no database", there.as_str(), asks.as_str()),
        ("a damaged database", &damaged, &asks),
        ("a database that cannot be", "/proc/none/x.sqlite", &asks),
        ("no transcript", &there, &missing),
        ("bad JSON", &there, "{"),
        ("nothing", &there, ""),
        ("another event", &there, "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\"}"),
        ("no session", &there, "{\"hook_event_name\":\"Stop\",\"session_id\":\"\"}"),
    ];
    for (what, database, event) in cases {
        let begun = RunningWatch::start();
        let mut command = bed.bare();
        command.args(["--tenant", "acme", "--subject", "ada", "--db", database, "hook", "claude-code"]);
        let answer = answer(&mut command, event.as_bytes());
        assert_eq!((answer.code, answer.stdout.as_str()), (0, ""), "{what}: {}", answer.stderr);
        assert!(begun.elapsed() < MOST, "{what} took {:?}", begun.elapsed());
        assert!(answer.stderr.lines().count() <= 1, "{what}: {}", answer.stderr);
        assert!(what != "no transcript" || answer.stderr.contains("/nowhere/transcript.jsonl"), "{}", answer.stderr);
    }
}

#[test]
fn a_wrong_call_of_a_hook_and_settings_that_cannot_be_read_do_not_stop_the_agent() {
    let bed = Bed::new();
    let broken = bed.file("broken.yaml", "memory: [");
    let asks = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Hm?" }).to_string();
    for (args, config) in [
        (&["hook", "claude-code"][..], broken.as_str()),
        (&["hook", "claude-code"], "/nowhere/settings.yaml"),
        (&["hook", "claude-code", "--budge", "3"], ""),
        (&["--tenant", "acme", "hook"], ""),
        (&["hook", "another-agent"], ""),
    ] {
        let mut command = bed.bare();
        command.args(args);
        if !config.is_empty() {
            command.env("MEMORY_CONFIG", config);
        }
        let answer = answer(&mut command, asks.as_bytes());
        assert_eq!((answer.code, answer.stdout.as_str()), (0, ""), "{args:?}: {}", answer.stderr);
        assert!(answer.stderr.starts_with("error: "), "{args:?}: {}", answer.stderr);
    }
    assert_eq!(bed.run(&["search", "hook", "--budge"]).code, 2);
}

/// Holds a file of SQLite so that nobody else reads or writes it.
fn held(path: &std::path::Path, work: impl FnOnce()) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut file = options.connect().await.unwrap();
        sqlx::query("PRAGMA locking_mode = EXCLUSIVE").execute(&mut file).await.unwrap();
        sqlx::query("BEGIN EXCLUSIVE").execute(&mut file).await.unwrap();
        work();
        sqlx::query("ROLLBACK").execute(&mut file).await.unwrap();
        file.close().await.unwrap();
    });
}

#[test]
fn a_file_that_others_hold_does_not_hold_up_the_agent_and_the_next_hook_stores_the_transcript() {
    let bed = Bed::new();
    bed.run(&["remember", "Ada has a cat"]);
    let path = bed.file("transcript.jsonl", line(1, "user", "The parcel goes to Porto."));
    let asks = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s2", "prompt": "What does Ada have?" });
    held(&bed.database(), || {
        for event in [&ended(&path), &asks] {
            let begun = RunningWatch::start();
            let answer = once(&bed, &[], event);
            assert_eq!((answer.code, answer.stdout.as_str()), (0, ""), "{}", answer.stderr);
            assert!(begun.elapsed() < MOST, "{:?}", begun.elapsed());
        }
    });
    assert_eq!(hook(&bed, &ended(&path)).code, 0);
    assert_eq!(bed.json(&["show", "s1"])["messages"], 1);
    assert!(hook(&bed, &asks).stdout.contains("Ada has a cat"));
}

#[test]
fn an_event_that_is_no_text_is_told_as_what_it_is() {
    let told = Bed::new().run_with(&["hook", "claude-code"], b"{\xff}");
    assert_eq!((told.code, told.stdout.as_str()), (0, ""));
    assert!(told.stderr.starts_with("memory: the event cannot be read: "), "{}", told.stderr);
}
