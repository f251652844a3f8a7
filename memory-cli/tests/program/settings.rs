//! `--config FILE` and `memory config`.

use std::fs;
use std::path::Path;

use crate::support::{Bed, answer, conversations};

#[test]
fn s1_19_config_check_tells_line_and_remedy_of_every_broken_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../memory/tests/settings/broken");
    let bed = Bed::new();
    let mut checked = 0;
    for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|end| end != "yaml") {
            continue;
        }
        checked += 1;
        let path = file.to_str().unwrap();
        let mut command = bed.bare();
        command.env("USER_NAME", "hunter2").args(["config", "check", path]);
        let told = answer(&mut command, b"");
        assert_eq!(told.code, 2, "{path}: {}", told.stdout);
        assert_eq!(told.stdout, fs::read_to_string(file.with_extension("txt")).unwrap(), "{path}");
        assert!(told.stderr.contains("mistake") && told.stderr.lines().count() == 1, "{path}: {}", told.stderr);
        assert!(!format!("{}{}", told.stdout, told.stderr).contains("hunter2"), "{path}");
    }
    assert!(checked >= 30);
    let told = answer(bed.bare().args(["--json", "config", "check", "nowhere.yaml"]), b"");
    assert_eq!((told.code, told.json()["problems"][0]["line"].is_null()), (2, true));
}

#[test]
fn s1_19_a_file_says_where_the_database_and_its_journal_are_for_every_command() {
    let bed = Bed::new();
    let file = bed.file(
        "memory.yaml",
        "memory:\n  persistent: { connection_string: here.sqlite }\n  journal: { path: here.journal }\n  buffer: { vector_search: false }\n",
    );
    let talk = bed.file("talk.jsonl", conversations());
    let run = |args: &[&str]| {
        let mut command = bed.bare();
        command.args(["--config", &file, "--tenant", "acme", "--subject", "ada"]).args(args);
        answer(&mut command, b"")
    };
    assert!(run(&["config", "check"]).stdout.ends_with("memory.yaml: nothing is wrong\n"));
    let imported = run(&["import", &talk]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    assert!(bed.path("here.sqlite").exists() && bed.path("here.journal").exists());
    let stats = run(&["--json", "stats"]).json();
    assert_eq!((&stats["url"], &stats["owner"]["messages"]), (&"sqlite:here.sqlite".into(), &7.into()));
    assert_eq!(stats["journal"]["waiting"], 0);
    // What the command line names counts before the file.
    let elsewhere = run(&["--db", "there.sqlite", "remember", "likes tea"]);
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.stderr);
    assert!(bed.path("there.sqlite").exists());
    // The file that is named counts before variables.
    let mut command = bed.bare();
    command.env("MEMORY_CONFIG", &file).env("MEMORY_URL", "nowhere.sqlite").args(["--json", "stats"]);
    assert_eq!(answer(&mut command, b"").json()["url"], "sqlite:here.sqlite");
}

#[cfg(unix)]
#[test]
fn s1_19_a_file_that_is_too_large_or_has_no_end_is_not_read_whole() {
    let bed = Bed::new();
    let large = bed.file("large.yaml", "# é\n".repeat(400_000));
    for file in [large.as_str(), "/dev/zero"] {
        let told = answer(bed.bare().args(["config", "check", file]), b"");
        assert_eq!(told.code, 2, "{}", told.stderr);
        assert!(told.stdout.starts_with("the file has more than 1048576 bytes\n"), "{}", told.stdout);
        assert!(bed.run(&["--config", file, "sessions"]).refused(2).contains("more than 1048576 bytes"));
    }
    let binary = bed.file("binary.yaml", b"memory: \xff");
    assert!(bed.run(&["--config", &binary, "sessions"]).refused(2).contains("it is not UTF-8"));
}

#[test]
fn s1_19_a_broken_file_stops_every_command_before_anything_is_opened() {
    let bed = Bed::new();
    let file = bed.file("memory.yaml", "memory:\n  buffer:\n    max_sise: 8\n    fold: 1\n");
    let mut command = bed.command();
    let told = answer(command.args(["--config", &file, "remember", "likes tea"]), b"").refused(2).to_owned();
    assert!(told.contains("line 3 of the settings") && told.contains("did you mean `max_size`?"), "{told}");
    assert!(told.contains("1 more") && told.contains("memory config check"), "{told}");
    assert!(!bed.database().exists());
}

#[cfg(feature = "server")]
#[test]
fn tokens_are_listed_made_and_revoked_whatever_is_wrong_with_the_settings() {
    let bed = Bed::new();
    let file = bed.file("memory.yaml", "memory:\n  buffer:\n    max_sise: 8\n");
    let run = |args: &[&str]| answer(bed.command().args(["--json", "--config", &file, "token"]).args(args), b"").json();
    let made = run(&["new"]);
    let id = made["id"].as_str().unwrap();
    assert_eq!(run(&["list"])["tokens"][0]["id"], made["id"]);
    assert_eq!(run(&["revoke", id])["outcome"], "revoked");
}

#[test]
fn s1_20_a_secret_of_the_environment_reaches_no_output() {
    let bed = Bed::new();
    let file = bed.file(
        "memory.yaml",
        "memory:\n  persistent:\n    connection_string: postgres://app:${{ secrets.DB_PASSWORD }}@127.0.0.1:1/memory\n",
    );
    let run = |secret: Option<&str>| {
        let mut command = bed.bare();
        command.args(["--config", &file, "stats"]).envs(secret.map(|secret| ("DB_PASSWORD", secret)));
        answer(&mut command, b"")
    };
    let missing = run(None).refused(2).to_owned();
    assert!(missing.contains("line 3") && missing.contains("the secret DB_PASSWORD is not set"), "{missing}");
    let told = run(Some("c4nary"));
    assert_ne!(told.code, 0);
    assert!(!format!("{}{}", told.stdout, told.stderr).contains("c4nary"), "{}", told.stderr);
}

#[cfg(feature = "elastic")]
#[test]
fn s3_15_a_place_without_a_host_is_shown_as_switched_off() {
    let bed = Bed::new();
    let file = bed.file("memory.yaml", "memory: { search: { text_url: 'elastic:' } }");
    assert_eq!(bed.run(&["remember", "likes tea"]).code, 0);
    let stats = bed.run(&["--config", &file, "stats"]);
    assert_eq!(stats.code, 0, "{}", stats.stderr);
    assert!(stats.stdout.contains("text       switched off: elastic cannot be used: ELASTIC_HOST is not set"));
    let disabled = &bed.json(&["--config", &file, "stats"])["disabled"][0];
    assert_eq!((&disabled["part"], &disabled["backend"]), (&"text".into(), &"elastic".into()));
}

#[cfg(all(feature = "elastic", feature = "static"))]
#[test]
fn no_model_is_said_to_be_missing_where_search_by_meaning_is_switched_off() {
    let bed = Bed::new();
    let run = |args: &[&str]| answer(bed.command().env_remove("MEMORY_EMBEDDER").args(args), b"");
    assert_eq!(run(&["remember", "likes tea"]).code, 0);
    let off = bed.file("off.yaml", "memory: { search: { text_url: 'elastic:', vectors_url: 'elastic:' } }");
    let told = run(&["--config", &off, "search", "tea"]).stderr;
    assert!(told.contains("search by meaning is switched off: elastic"), "{told}");
    assert!(!told.contains("not named here"), "{told}");
    let words = bed.file("words.yaml", "memory: { buffer: { vector_search: false } }");
    assert_eq!(run(&["--config", &words, "search", "tea"]).complaints(), "");
}

#[test]
fn s1_19_a_file_says_what_calls_have_that_say_nothing_else() {
    let bed = Bed::new();
    for text in ["Ada likes green tea", "Ada drinks tea at noon", "Ada keeps her tea in a tin"] {
        assert_eq!(bed.run(&["remember", text]).code, 0);
    }
    let yaml = "memory:\n  search: { limit: 2 }\n  context: { recall: 1, reserve: 200, unknown_model_tokens: 1000 }\n";
    let file = bed.file("memory.yaml", yaml);
    let run = |args: &[&str]| bed.json(&[&["--config", file.as_str()][..], args].concat());
    let hits = |args: &[&str]| run(args)["hits"].as_array().unwrap().len();
    assert_eq!((hits(&["search", "tea"]), hits(&["search", "tea", "-k", "3"])), (2, 3));
    let tokens = |args: &[&str]| {
        let tokens = &run(args)["receipt"]["tokens"];
        (tokens["limit"].as_u64(), tokens["reserved"].as_u64())
    };
    assert_eq!(tokens(&["context", "tea"]), (Some(800), Some(200)));
    assert_eq!(tokens(&["context", "tea", "--reserve", "0", "--budget", "500"]), (Some(500), Some(0)));
}

#[test]
fn s1_19_the_schema_names_the_settings() {
    let schema = answer(Bed::new().bare().args(["config", "schema"]), b"").json();
    let buffer = &schema["properties"]["memory"]["properties"]["buffer"]["properties"];
    assert_eq!(buffer["window_messages"]["anyOf"][0]["type"], "integer");
    assert!(buffer["max_size"].is_object() && buffer["windows"].is_null());
}
