//! What a search shows of a hit, in which width and colour, and a context as somebody or some model reads it.

use serde_json::{Value, json};

use crate::support::{Bed, answer, conversations, said};

fn filled() -> Bed {
    let bed = Bed::new();
    bed.import(&conversations());
    bed
}

#[test]
fn a_hit_tells_when_and_who_and_where_and_shows_the_passage_that_matched() {
    let bed = filled();
    let filler = "Nothing much happened on that day, as usual. ".repeat(20);
    let mut long: Value = serde_json::from_str(&said("0000000a-0000-4000-8000-000000000000", 9, "user", "")).unwrap();
    long["content"] = json!(format!("{filler}Then the heron stole two koi from the pond. {filler}"));
    long["metadata"] = json!({ "title": "Garden pond" });
    long["name"] = json!("Ada");
    bed.import(&format!("{long}\n"));
    let words = bed.run(&["search", "heron koi", "-k", "1"]).stdout;
    let (head, passage) = words.split_once('\n').unwrap();
    assert_eq!(head, "1. 2025-03-01 00:09  Ada (user)  Garden pond (0000000a #1)");
    assert!(passage.starts_with("   …") && passage.ends_with("…\n"), "{passage}");
    assert!(passage.contains("Then the heron stole two koi") && passage.lines().count() == 1, "{passage}");
    assert_eq!(bed.json(&["show", "0000000a"])["title"], "Garden pond");
    let found = bed.json(&["search", "herons", "-k", "1"]);
    let passage = &found["hits"][0]["passage"];
    let [from, to] = [0, 1].map(|at| usize::try_from(passage["matches"][0][at].as_u64().unwrap()).unwrap());
    let text: Vec<char> = passage["text"].as_str().unwrap().chars().collect();
    assert_eq!(text[from..to].iter().collect::<String>(), "heron");
    assert_eq!(found["hits"][0]["title"], "Garden pond");
}

#[test]
fn colour_is_for_terminals_or_whoever_wants_it() {
    let bed = filled();
    let run = |args: &[&str]| answer(bed.command().args(["search", "parcel", "-k", "1"]).args(args), b"").stdout;
    let plain = run(&[]);
    assert!(!plain.contains('\u{1b}') && plain == run(&["--color", "never"]), "{plain}");
    assert!(run(&["--color", "always"]).contains("my \u{1b}[1mparcel\u{1b}[0m E-4471-B"), "{plain}");
    assert!(!run(&["--color", "always", "--json"]).contains('\u{1b}'));
    assert!(bed.run(&["sessions", "--color", "blue"]).refused(2).contains("invalid value 'blue'"));
}

#[test]
fn lines_are_broken_at_words_where_a_width_is_known() {
    let bed = filled();
    let args = ["search", "parcel", "-k", "1"];
    let narrow = answer(bed.command().env("COLUMNS", "30").args(args), b"").stdout;
    assert!(narrow.ends_with("   My name is Charlie and my\n   parcel E-4471-B never\n   arrived.\n"), "{narrow}");
    for unknown in ["", "0", "wide"] {
        assert_eq!(answer(bed.command().env("COLUMNS", unknown).args(args), b"").stdout, bed.run(&args).stdout);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_asked_for_its_width_and_gets_colour() {
    let bed = filled();
    let program = bed.command();
    let words = std::iter::once(program.get_program()).chain(program.get_args());
    let words: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let screen = |lead: &str| {
        let line = format!("stty cols 30 rows 24; {lead} {} search parcel -k 1", words.join(" "));
        let script = bed.bare();
        let mut terminal = std::process::Command::new("script");
        terminal.args(["-qec", &line, "/dev/null"]).env_clear().env("TERM", "xterm").env("PATH", "/usr/bin:/bin");
        terminal.envs(script.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(bed.path(""));
        answer(&mut terminal, b"").stdout.replace('\r', "")
    };
    let shown = screen("");
    assert!(shown.contains("and my\n   \u{1b}[1mparcel\u{1b}[0m E"), "{shown:?}");
    let plain = screen("NO_COLOR=1");
    assert!(plain.ends_with("   My name is Charlie and my\n   parcel E-4471-B never\n   arrived.\n"), "{plain:?}");
}

#[test]
fn a_context_is_written_as_a_model_is_sent_it() {
    let bed = filled();
    let run =
        |dialect: &str| bed.run(&["context", "Is there a parcel?", "--session", "garden", "--as", dialect]).stdout;
    let openai: Value = serde_json::from_str(&run("openai")).unwrap();
    let messages = openai.as_array().unwrap();
    assert_eq!((&messages[0]["role"], &messages[2]["tool_calls"][0]["id"]), (&json!("system"), &json!("c1")));
    let anthropic: Value = serde_json::from_str(&run("anthropic")).unwrap();
    assert!(anthropic["system"].to_string().contains("You help") && anthropic["messages"].is_array(), "{anthropic}");
    let text = run("text");
    assert!(text.starts_with("[system] You help with the garden.\n") && text.contains("<memory note="), "{text}");
    assert!(text.ends_with("[user] Is there a parcel?\n"), "{text}");
    let both = bed.json(&["context", "x", "--session", "garden", "--as", "anthropic"]);
    assert!(both["system"].is_string() || both["system"].is_array(), "{both}");
    assert!(both["receipt"]["tokens"].is_object());
}

#[test]
fn a_person_reads_what_is_recalled_as_a_list() {
    let bed = filled();
    let words = bed.run(&["context", "Is there a parcel?", "--session", "garden", "--recall", "1"]).stdout;
    assert!(words.contains("\n[user, recalled] 1 item:\n  2025-03-01 00:1"), "{words}");
    assert!(
        !words.contains("<memory") && words.contains("\n[user, query] Is there a parcel?\n-- receipt\n"),
        "{words}"
    );
}

#[test]
fn times_are_read_as_questions_read_them() {
    let bed = filled();
    let count = |as_of: &str| bed.json(&["search", "parcel", "--as-of", as_of])["hits"].as_array().unwrap().len();
    assert_eq!((count("yesterday"), count("now"), count("in March 2025"), count("8 May 2019")), (2, 2, 2, 0));
    let refused = bed.run(&["search", "x", "--as-of", "someday"]);
    assert!(refused.refused(2).contains("yesterday, two weeks ago"), "{}", refused.stderr);
}
