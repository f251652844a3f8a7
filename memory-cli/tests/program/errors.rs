//! What goes wrong is one line, with the exit code that the documentation names.

use std::fs;

use crate::support::{Bed, answer, conversations};

#[test]
fn a_command_without_an_owner_says_how_to_give_one() {
    let bed = Bed::new();
    let commands: [&[&str]; 8] = [
        &["search", "x"],
        &["context"],
        &["sessions"],
        &["show", "x"],
        &["records"],
        &["export"],
        &["chat"],
        &["import", "-"],
    ];
    for args in commands {
        let line = answer(bed.bare().args(args), b"");
        let line = line.refused(2);
        assert!(line.contains("--tenant NAME --subject NAME") && line.contains("MEMORY_TENANT"), "{args:?}: {line}");
    }
    assert!(answer(bed.bare().args(["--tenant", "a", "sessions"]), b"").refused(2).contains("MEMORY_SUBJECT"));
    assert!(!bed.path("memory").exists(), "a wrong call makes no file");
}

#[test]
fn a_wrong_command_line_is_told_in_one_line() {
    let bed = Bed::new();
    bed.json(&["remember", "one"]);
    let table = [
        (&["--jsn", "sessions"][..], "unexpected argument '--jsn'"),
        (&["search"], "<QUERY>"),
        (&["search", "x", "-k", "many"], "invalid value 'many'"),
        (&["search", "x", "-k", "0"], "a search returns 1 to"),
        (&["search", "x", "-k", "-1"], "invalid value '-1'"),
        (&["context", "x", "--budget", "-5"], "invalid value '-5'"),
        (&["search", "x", "--filter", "role ="], "filter, character 7: expected a value"),
        (&["search", "x", "--filter", "rle = user"], "unit, session, seq, role"),
        (&["search", "x", "--as-of", "someday"], "not a time"),
        (&["remember", "x", "--ttl", "soon"], "7d"),
        (&["remember", "x", "--ttl", "0s"], "longer than zero"),
        (&["remember", "x", "--importance", "2"], "between 0 and 1"),
        (&["remember", "x", "--importance", "-1"], "between 0 and 1"),
        (&["remember", "x", "--novelty", "3"], "novelty is from 0 to 2"),
        (&["search", "x", "--mmr", "-1"], "maximal marginal relevance is from 0 to 1"),
        (&["remember", ""], "1 to"),
        (&["remember", " "], "more than blanks"),
        (&["remember", "x", "--tag", ""], "tags of 1 to 255 bytes"),
        (&["forget"], "one of --id, --session and --all"),
        (&["forget", "--all", "--session", "x"], "too much is named: say only one of --id, --session and --all"),
        (&["forget", "--id", "7"], "not the id of a message"),
        (&["forget", "--all"], "say --yes"),
        (&["forget", "--session", "chat"], "there is no session chat"),
        (&["forget", "--id", "0196b7a5-36b8-7b39-b8b8-6a3fbb3a4e5c"], "there is no message or record 0196b7a5-"),
        (&["export", "--session", "chat"], "there is no session chat"),
        (&["context", "--session", ""], "the session's name"),
        (&["context", "x", "--as", "prose"], "invalid value 'prose'"),
        (&["sessions", "--sort", "size"], "invalid value 'size'"),
        (&["sessions", "-n", "-1"], "invalid value '-1'"),
        (&["show"], "<SESSION|ID>"),
        (&["show", "chat"], "there is no session chat"),
        (&["show", "chat", "--around", "x"], "there is no session chat"),
        (&["show", "0196b7a5-36b8-7b39-b8b8-6a3fbb3a4e5c"], "there is no session, message or record 0196b7a5-"),
        (&["records", "--filter", "kind ="], "expected a value"),
        (&["records", "edit", "7", "x"], "not the id of a record"),
        (&["records", "--as-of", "someday"], "not a time"),
        (&["backup"], "<FILE>"),
        (&["fly"], "unrecognized subcommand 'fly'"),
    ];
    for (args, part) in table {
        let answer = bed.run(args);
        let line = answer.refused(2);
        assert!(line.contains(part), "{args:?}: {line}");
    }
    // What no token could name is not begun; what was begun before is still read.
    for args in [&["remember", "x"][..], &["import", "-"], &["chat"]] {
        assert!(bed.of("*").run(args).refused(2).contains("no owner is called *"), "{args:?}");
    }
    assert_eq!(bed.of("*").run(&["sessions"]).code, 0);
    let empty = answer(bed.bare().args(["--tenant", "", "--subject", "ada", "sessions"]), b"");
    assert!(empty.refused(2).contains("the tenant must hold"));
}

#[test]
fn without_a_home_folder_the_option_is_named_that_says_where() {
    let bed = Bed::new();
    let homeless = |args: &[&str]| {
        let mut command = bed.bare();
        command.env_remove("HOME").env_remove("XDG_DATA_HOME").env_remove("APPDATA");
        answer(command.args(["--tenant", "a", "--subject", "b"]).args(args), b"")
    };
    assert!(homeless(&["sessions"]).refused(2).contains("--db sqlite:PATH"));
    #[cfg(feature = "server")]
    {
        assert!(homeless(&["token", "list"]).refused(2).contains("--tokens FILE"));
    }
}

#[test]
fn a_database_of_another_kind_is_refused() {
    let bed = Bed::new();
    let owner = ["--tenant", "a", "--subject", "b", "sessions"];
    for url in ["mysql://localhost/x", "mongodb:x"] {
        let line = answer(bed.bare().args(["--db", url]).args(owner), b"");
        assert!(line.refused(2).contains("no kind of database"));
    }
}

#[test]
fn a_file_that_cannot_be_imported_is_named() {
    let bed = Bed::new();
    assert!(bed.run(&["import", "nowhere.jsonl"]).refused(2).contains("nowhere.jsonl cannot be read"));
    std::fs::create_dir(bed.path("empty")).unwrap();
    let folder = bed.run(&["import", bed.path("empty").to_str().unwrap()]);
    assert_eq!(folder.code, 2, "{}", folder.stderr);
    assert!(folder.stderr.contains("nothing could be imported: there is no message in it"), "{}", folder.stderr);
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    let bed = Bed::new();
    let text = "these are the minutes of the meeting\n".repeat(400);
    fs::write(bed.database(), &text).unwrap();
    let file = bed.database();
    let line = format!("{0} is no database; to read a chat into one: memory import {0}", file.display());
    let copy = ["backup", "copy.sqlite"];
    for args in
        [&["sessions"][..], &["search", "x"], &["forget", "--all", "--yes"], &["stats"], &["import", "-"], &copy]
    {
        assert_eq!(bed.run(args).refused(2), line, "{args:?}");
    }
    for (from, to, side) in [("memory.sqlite", "b.sqlite", "--from"), ("a.sqlite", "memory.sqlite", "--to")] {
        fs::write(bed.path("a.sqlite"), "").unwrap();
        let moved = answer(bed.bare().args(["move", "--all-owners", "--from", from, "--to", to]), b"");
        assert!(moved.refused(2).starts_with(&format!("{side}: memory.sqlite is no database; ")), "{}", moved.stderr);
    }
    assert_eq!(fs::read_to_string(bed.database()).unwrap(), text);
}

#[test]
fn a_folder_in_the_place_of_the_database_or_no_folder_at_all_is_told() {
    let bed = Bed::new();
    fs::create_dir(bed.database()).unwrap();
    assert!(bed.run(&["sessions"]).refused(1).contains("open the file: it is a folder"));
    let missing = bed.path("none/of/these/memory.sqlite");
    let remember = ["--tenant", "a", "--subject", "b", "remember", "one"];
    let answer = answer(bed.bare().arg("--db").arg(missing).args(remember), b"");
    assert!(answer.refused(1).contains("open the file: its folder does not exist"));
}

#[test]
fn a_database_of_a_newer_version_or_another_application_is_refused_and_kept() {
    let bed = Bed::new();
    bed.import(&conversations());
    bed.is_one_file();
    let whole = fs::read(bed.database()).unwrap();
    // The file's own header: the version of its tables, and the application's number.
    for (offset, part) in [(60, "newer version"), (68, "another application")] {
        let mut changed = whole.clone();
        changed[offset..offset + 4].copy_from_slice(&[0, 0, 0x77, 0x77]);
        fs::write(bed.database(), &changed).unwrap();
        assert!(bed.run(&["sessions"]).refused(1).contains(part));
        assert!(fs::read(bed.database()).unwrap() == changed, "the file is as it was");
    }
    fs::write(bed.database(), &whole).unwrap();
    assert_eq!(bed.json(&["sessions"])["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_damaged_database_is_told_without_a_backtrace() {
    let bed = Bed::new();
    bed.import(&conversations());
    bed.is_one_file();
    let mut bytes = fs::read(bed.database()).unwrap();
    let end = bytes.len();
    bytes[4_096..end].fill(0x5a);
    fs::write(bed.database(), bytes).unwrap();
    let answer = bed.run(&["export"]);
    assert_eq!(answer.code, 1, "{}", answer.stderr);
    assert!(!answer.stderr.contains("panicked") && !answer.stderr.contains("backtrace"), "{}", answer.stderr);
    assert!(answer.stderr.lines().last().unwrap().starts_with("error: "), "{}", answer.stderr);
}

#[test]
fn a_context_that_cannot_be_kept_within_its_budget_is_an_exit_code_of_its_own() {
    let bed = Bed::new();
    bed.import(&conversations());
    assert!(bed.run(&["context", "What is with my parcel?", "--budget", "3"]).refused(4).contains("do not fit into 3"));
    assert_eq!(bed.run(&["context", "--budget", "10", "--reserve", "11"]).code, 4);
    for (args, told) in [
        (
            ["What is with my parcel?", "--budget", "3", "--reserve", "1"],
            "the question, or the turn that begins with it, is too long: ",
        ),
        (["So?", "--budget", "10", "--reserve", "0"], "the newest turn, with the instructions, is too long: "),
        (["", "--budget", "10", "--reserve", "11"], "11 tokens cannot be kept free of a budget of 10: "),
    ] {
        let answer = bed.run(&[&["context", "--session", "chat_history"][..], &args].concat());
        let line = answer.refused(4);
        assert!(line.starts_with(told) && line.contains("raise the budget"), "{line}");
    }
}

#[test]
fn help_and_version_are_results() {
    let bed = Bed::new();
    for args in [&["--help"][..], &["help", "import"], &["--version"], &["search", "--help"]] {
        let answer = answer(bed.bare().args(args), b"");
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{args:?}");
        assert!(!answer.stdout.is_empty());
    }
    let nothing = answer(bed.bare().env_remove("MEMORY_EMBEDDER"), b"");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (2, ""));
    assert!(nothing.stderr.contains("memory demo"));
}

#[test]
fn a_mistyped_database_is_not_made() {
    let bed = Bed::new();
    let typo = bed.path("memroy.sqlite");
    let commands: [&[&str]; 10] = [
        &["search", "x"],
        &["context", "x"],
        &["sessions"],
        &["show", "x"],
        &["records"],
        &["owners"],
        &["backup", "copy"],
        &["stats"],
        &["export"],
        &["forget", "--all", "--yes"],
    ];
    for args in commands {
        let answer =
            answer(bed.bare().arg("--db").arg(&typo).args(["--tenant", "acme", "--subject", "ada"]).args(args), b"");
        assert!(answer.refused(2).contains("there is no database") && !typo.exists(), "{args:?}: {}", answer.stderr);
    }
    // Of the data folder everybody may ask before anything is stored.
    assert_eq!(answer(bed.bare().args(["--tenant", "acme", "--subject", "ada", "stats"]), b"").code, 0);
}

#[test]
fn every_command_leaves_one_file_however_it_ends() {
    let bed = Bed::new();
    let file = bed.file("conversation.jsonl", conversations());
    let table = [
        (&["import", &file][..], 0),
        (&["search", "parcel"], 0),
        (&["context", "parcel"], 0),
        (&["remember", "one"], 0),
        (&["sessions"], 0),
        (&["show", "garden"], 0),
        (&["records"], 0),
        (&["owners"], 0),
        (&["backup", "copy.sqlite"], 0),
        (&["stats"], 0),
        (&["export"], 0),
        (&["chat"], 0),
        (&["context", "parcel", "--budget", "3"], 4),
        (&["import", "nowhere.jsonl"], 2),
        (&["remember", ""], 2),
        (&["forget", "--session", "garden"], 0),
        (&["forget", "--all", "--yes"], 0),
    ];
    for (args, code) in table {
        let answer = bed.run_with(args, b"a line\n");
        assert_eq!(answer.code, code, "{args:?}: {}", answer.stderr);
        bed.is_one_file();
    }
}

#[cfg(unix)]
#[test]
fn a_reader_who_goes_away_is_no_error() {
    let bed = Bed::new();
    bed.import(&conversations());
    assert_eq!(crate::support::unread(bed.command().arg("export"), b""), (Some(0), String::new()));
    bed.is_one_file();
}

#[cfg(unix)]
#[test]
fn what_was_not_done_is_told_also_where_nobody_reads_the_output() {
    let bed = Bed::new();
    let unread = |args: &[&str]| crate::support::unread(bed.command().args(args), b"");
    let half = bed.file("half.jsonl", "{\"role\":\"user\",\"content\":\"kept\"}\n{\"role\":\n");
    assert_eq!(unread(&["import", &half]).0, Some(3));
    let nothing = bed.file("nothing.jsonl", "{}\n");
    let (code, told) = unread(&["import", &nothing]);
    assert!(code == Some(2) && told.contains("error: nothing could be imported: line 1"), "{told}");
    let broken = bed.file("broken.yaml", "memory:\n  buffer:\n    max_sise: 8\n");
    let (code, told) = unread(&["config", "check", &broken]);
    assert!(code == Some(2) && told.ends_with("broken.yaml has 1 mistake\n"), "{told}");
    assert_eq!(unread(&["sessions"]), (Some(0), String::new()));
}
