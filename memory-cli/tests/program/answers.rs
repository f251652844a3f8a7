//! A chat in which a model answers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use memory_testkit::wire::{Asked, Reply, Server, anthropic, ollama, openai};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::support::{Answer, Bed, answer};

/// A server of models that lives as long as a test.
struct Models {
    server: Server,
    _runtime: Runtime,
}

impl Models {
    fn start(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let runtime = Runtime::new().unwrap();
        Self { server: runtime.block_on(Server::start(script)), _runtime: runtime }
    }

    fn url(&self) -> String {
        self.server.url("/v1")
    }
}

/// Answers with these pieces on each wire.
fn says(pieces: &'static [&'static str]) -> impl Fn(&Asked) -> Reply {
    move |asked| match asked.path.as_str() {
        "/v1/messages" => Reply::stream(anthropic::STREAM, anthropic::stream(pieces)),
        "/v1/api/chat" => Reply::stream(ollama::STREAM, ollama::stream(pieces)),
        _ => Reply::stream(openai::STREAM, openai::stream(pieces)),
    }
}

fn chat(bed: &Bed, models: &Models, args: &[&str], lines: &str) -> Answer {
    let mut command = bed.command();
    command.args(["chat", "--model", "m", "--base-url", &models.url()]).args(args);
    answer(&mut command, lines.as_bytes())
}

/// Returns who said what in the conversation.
fn talk(bed: &Bed) -> Vec<(String, String)> {
    let shown = bed.json(&["show", "chat_history", "-n", "0"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    shown["shown"].as_array().unwrap().iter().map(|row| (text(&row["role"]), text(&row["text"]))).collect()
}

fn pair(role: &str, text: &str) -> (String, String) {
    (role.to_owned(), text.to_owned())
}

#[test]
fn a_model_answers_with_what_was_said_before_and_its_answer_is_stored() {
    let models = Models::start(says(&["You are ", "Charlie", "."]));
    let bed = Bed::new();
    let said = chat(&bed, &models, &[], "My name is Charlie\nWhat is my name?\n");
    assert_eq!((said.code, said.stdout.as_str()), (0, "You are Charlie.\nYou are Charlie.\n"), "{}", said.stderr);
    let answer = || pair("assistant", "You are Charlie.");
    let expected = [pair("user", "My name is Charlie"), answer(), pair("user", "What is my name?"), answer()];
    assert_eq!(talk(&bed), expected);
    let sent = models.server.asked().pop().unwrap().json()["messages"].clone();
    let texts: Vec<&str> =
        sent.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["My name is Charlie", "You are Charlie.", "What is my name?"]);
}

#[test]
fn every_provider_answers_and_events_tell_the_pieces_and_the_whole() {
    for (provider, input) in [("openai", 19), ("azure", 19), ("anthropic", 25), ("ollama", 26)] {
        let models = Models::start(says(&["Lima", "."]));
        let said = chat(&Bed::new(), &models, &["--json", "--provider", provider], "Which capital?\n");
        assert_eq!(said.code, 0, "{provider}: {}", said.stderr);
        let events: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["stored", "piece", "piece", "answered"], "{provider}");
        let whole = &events[3];
        assert_eq!((&whole["text"], &whole["stop"], &whole["model"]), (&"Lima.".into(), &"end".into(), &"m".into()));
        assert_eq!((&whole["seq"], &whole["usage"]["input"]), (&2.into(), &input.into()));
    }
}

#[test]
fn what_was_recalled_is_shown_on_demand() {
    let models = Models::start(says(&["Tea."]));
    let bed = Bed::new();
    bed.json(&["remember", "Charlie likes green tea"]);
    let plain = chat(&bed, &models, &[], "What does Charlie like to drink?\n");
    assert_eq!(plain.stdout, "Tea.\n");
    let shown = chat(&bed, &models, &["--show-recalled"], "What does Charlie like?\n/why\n");
    let (before, behind) = shown.stdout.split_once("Tea.\n").unwrap();
    assert!(before.contains("recalled] 1 item:") && before.contains("green tea"), "{before}");
    assert!(behind.contains("-- receipt") && behind.contains("green tea"), "{behind}");
    let why = chat(&bed, &models, &[], "/why\n");
    assert!(why.code == 3 && why.stderr.contains("no model has answered yet"), "{}", why.stderr);
}

#[test]
fn why_shows_nothing_of_a_conversation_that_was_purged() {
    let models = Models::start(says(&["Tea."]));
    let bed = Bed::new();
    bed.json(&["remember", "Charlie likes green tea"]);
    let id = bed.json(&["search", "tea"])["hits"][0]["id"].as_str().unwrap().to_owned();
    for forget in ["/purge".to_owned(), format!("/forget {id}")] {
        let said = chat(&bed, &models, &[], &format!("What does Charlie like?\n{forget}\n/why\n"));
        assert!(said.code == 3 && said.stderr.contains("no model has answered yet"), "{forget}: {}", said.stderr);
        assert!(said.stdout.contains("forgotten"), "{forget}: {}", said.stdout);
        assert!(!said.stdout.contains("Charlie"), "{forget}: {}", said.stdout);
    }
}

#[test]
fn the_key_of_a_vendor_is_told_to_no_other_server_and_shown_nowhere() {
    let models = Models::start(|asked| match asked.header("authorization") {
        Some(key) => Reply::status(401, &openai::error(key, key, key)),
        None => Reply::status(401, &openai::error("invalid_request_error", "invalid_api_key", "no key")),
    });
    let ask = |name: &str, args: &[&str]| {
        let bed = Bed::new();
        let mut command = bed.command();
        command.env(name, "sk-canary").args(["chat", "--model", "m", "--base-url", &models.url()]).args(args);
        let said = answer(&mut command, b"Hello\n");
        assert!(said.code == 3 && said.stderr.contains("the model did not answer"), "{}", said.stderr);
        assert!(!format!("{}{}", said.stdout, said.stderr).contains("canary"), "{}", said.stderr);
        models.server.asked().pop().unwrap().header("authorization").map(str::to_owned)
    };
    assert_eq!(ask("OPENAI_API_KEY", &[]), None);
    assert_eq!(ask("OPENAI_API_KEY", &["--provider", "openai"]), None);
    assert_eq!(ask("MEMORY_API_KEY", &[]).as_deref(), Some("Bearer sk-canary"));
    assert_eq!(ask("MINE", &["--key-env", "MINE"]).as_deref(), Some("Bearer sk-canary"));
}

#[test]
fn what_is_missing_is_told_before_anything_is_stored() {
    let bed = Bed::new();
    let refused = |args: &[&str]| answer(bed.command().arg("chat").args(args), b"Hello\n").refused(2).to_owned();
    assert!(refused(&["--provider", "ollama"]).contains("--model"));
    assert!(refused(&["--provider", "openai", "--model", "m"]).contains("OPENAI_API_KEY"));
    assert!(refused(&["--provider", "azure", "--model", "m"]).contains("--base-url"));
    assert!(refused(&["--base-url", "http://models.example.org/v1", "--model", "m"]).contains("MEMORY_IN_CLEAR"));
    assert!(refused(&["--summaries"]).contains("--provider"));
    assert!(refused(&["--facts"]).contains("nobody finds facts"));
    let keyless = refused(&["--base-url", "http://127.0.0.1:1", "--model", "m", "--key-env", "CANARY"]);
    assert!(keyless.contains("--key-env") && !keyless.contains("CANARY"), "{keyless}");
    assert!(!bed.database().exists());
}

#[test]
fn s1_19_the_model_of_the_settings_answers_unless_the_command_names_another() {
    let models = Models::start(says(&["Lima."]));
    let bed = Bed::new();
    let yaml = format!(
        "memory:\n  chat:\n    model: openai/ours\n    base_url: {}\n    api_key: ${{{{ secrets.MINE }}}}\n",
        models.url()
    );
    let file = bed.file("memory.yaml", yaml);
    let ask = |args: &[&str]| {
        let mut command = bed.command();
        command.env("MINE", "sk-canary").args(["--config", &file, "chat"]).args(args);
        let said = answer(&mut command, b"Which capital?\n");
        assert_eq!((said.code, said.stdout.as_str()), (0, "Lima.\n"), "{}", said.stderr);
        let asked = models.server.asked().pop().unwrap();
        (asked.json()["model"].as_str().unwrap().to_owned(), asked.header("authorization").map(str::to_owned))
    };
    let ours = || ("ours".to_owned(), Some("Bearer sk-canary".to_owned()));
    assert_eq!(ask(&[]), ours());
    assert_eq!(ask(&["--model", "gpt-4o"]), ours(), "alone it gives a budget");
    assert_eq!(ask(&["--model", "theirs", "--base-url", &models.url()]), ("theirs".to_owned(), None));
}

#[test]
fn an_answer_cannot_steer_the_terminal() {
    let models = Models::start(says(&["a\u{1b}[2J", "b\r", "\nc\u{202e}"]));
    let said = chat(&Bed::new(), &models, &[], "Hello\n");
    assert_eq!(said.stdout, "a\\u{1b}[2Jb\nc\\u{202e}\n");
}

#[test]
fn a_model_that_fails_costs_its_answer_alone() {
    let models = Models::start(|asked| {
        let messages = asked.json()["messages"].to_string();
        let whole = Reply::stream(openai::STREAM, openai::stream(&["One ", "two ", "three"]));
        match messages.matches("Hello").count() {
            1 => Reply::status(400, &openai::error("invalid_request_error", "x", "canary")),
            2 => whole.clone().cut_at(whole.size() - 700),
            _ => whole,
        }
    });
    let bed = Bed::new();
    let said = chat(&bed, &models, &[], "Hello 1\nHello 2\nHello 3\n");
    assert_eq!(said.code, 3, "{}", said.stderr);
    let errors: Vec<&str> =
        said.stderr.lines().filter(|line| line.starts_with("error: the model did not answer: ")).collect();
    assert!(errors.len() == 2 && errors[1].ends_with("the answer broke off"), "{}", said.stderr);
    assert!(!said.stderr.contains("canary"), "{}", said.stderr);
    let expected =
        [pair("user", "Hello 1"), pair("user", "Hello 2"), pair("user", "Hello 3"), pair("assistant", "One two three")];
    assert_eq!(talk(&bed), expected);
}

#[test]
fn what_broke_an_answer_off_is_told_on_a_line_of_its_own() {
    let whole = Reply::stream(openai::STREAM, openai::stream(&["Hello ", "no end"]));
    let models = Models::start(move |_| whole.clone().cut_at(whole.size() - 300));
    let (mut reader, writer) = std::io::pipe().unwrap();
    let bed = Bed::new();
    let mut command = bed.command();
    command.args(["chat", "--model", "m", "--base-url", &models.url()]).stdin(Stdio::piped());
    let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
    // The command holds ends of the pipe.
    drop(command);
    child.stdin.take().unwrap().write_all(b"Hello?\n").unwrap();
    let told = std::io::read_to_string(&mut reader).unwrap();
    assert!(told.contains("\nHello ") && told.contains("\nerror: the model did not answer"), "{told}");
    child.wait().unwrap();
}

#[test]
fn an_answer_that_the_model_ended_early_is_stored_with_why() {
    let body = openai::stream(&["Half an"]).replace(r#""finish_reason":"stop""#, r#""finish_reason":"length""#);
    let models = Models::start(move |_| Reply::stream(openai::STREAM, body.clone()));
    let bed = Bed::new();
    let said = chat(&bed, &models, &["--max-tokens", "2"], "Hello\n");
    assert!(said.code == 0 && said.stderr.contains("ended with \"length\""), "{}", said.stderr);
    assert_eq!(talk(&bed), [pair("user", "Hello"), pair("assistant", "Half an")]);
    let shown = bed.json(&["show", "chat_history", "-n", "0"]);
    let stops: Vec<&Value> = (0..2).map(|n| &shown["shown"][n]["metadata"]["stop"]).collect();
    assert_eq!(stops, [&Value::Null, &Value::from("length")]);
}

#[test]
fn an_answer_that_ended_for_a_reason_of_the_servers_own_is_whole() {
    let body = openai::stream(&["All of it"]).replace(r#""finish_reason":"stop""#, r#""finish_reason":"eos""#);
    let models = Models::start(move |_| Reply::stream(openai::STREAM, body.clone()));
    let bed = Bed::new();
    let said = chat(&bed, &models, &[], "Hello\n");
    assert!(said.code == 0 && !said.stderr.contains("ended with"), "{}", said.stderr);
    let shown = bed.json(&["show", "chat_history", "-n", "0"]);
    assert_eq!(shown["shown"][1]["text"], "All of it");
    assert_eq!(shown["shown"][1]["metadata"]["stop"], Value::Null);
}

#[test]
fn ollama_is_asked_to_hold_as_much_as_the_budget_allows() {
    let models = Models::start(says(&["Blue."]));
    let line = format!("{}\n", "sea ".repeat(40_000));
    let said = chat(&Bed::new(), &models, &["--provider", "ollama", "--budget", "60000"], &line);
    assert_eq!((said.code, said.stdout.as_str()), (0, "Blue.\n"), "{}", said.stderr);
    assert!(models.server.asked()[0].json()["options"]["num_ctx"].as_u64() >= Some(65_536));
}

#[cfg(unix)]
#[test]
fn a_model_is_asked_no_more_where_nobody_reads_its_answers() {
    let models = Models::start(says(&["Yes."]));
    let bed = Bed::new();
    let mut command = bed.command();
    command.args(["chat", "--model", "m", "--base-url", &models.url()]);
    assert_eq!(crate::support::unread(&mut command, b"one\ntwo\nthree\n").0, Some(0));
    assert_eq!(models.server.requests(), 1, "its first answer tells that nobody reads it");
    let expected = [pair("user", "one"), pair("assistant", "Yes."), pair("user", "two"), pair("user", "three")];
    assert_eq!(talk(&bed), expected);
}

#[test]
fn s4_17a_the_model_summarises_what_outgrows_the_budget_if_it_is_asked_to() {
    let models = Models::start(|asked| match asked.json()["stream"] == true {
        true => Reply::stream(openai::STREAM, openai::stream(&["I see."])),
        false => Reply::json(&openai::answer("They talked about old boats and the harbour.")),
    });
    let bed = Bed::new();
    let line = |n: usize| {
        format!("Boat number {n} lies in the old harbour, and its owner wants to sell it before the winter comes.\n")
    };
    let lines: String = (0..40).map(line).collect();
    let said = chat(&bed, &models, &["--budget", "600", "--summaries"], &lines);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let sent = models.server.asked().pop().unwrap().json()["messages"].to_string();
    assert!(sent.contains("They talked about old boats and the harbour."), "{sent}");
}

#[test]
fn the_model_finds_facts_in_what_is_said_if_it_is_asked_to() {
    let found = r#"[{"op":"add","kind":"fact","text":"user has a boat","sources":[1],"quote":"I have a boat"}]"#;
    let models = Models::start(move |asked| match asked.json()["stream"] == true {
        true => Reply::stream(openai::STREAM, openai::stream(&["I see."])),
        false => Reply::json(&openai::answer(found)),
    });
    let bed = Bed::new();
    let said = chat(&bed, &models, &["--facts"], "I have a boat.\n");
    assert_eq!((said.code, said.stdout.as_str()), (0, "I see.\n"), "{}", said.stderr);
    let known = bed.json(&["records"]);
    assert_eq!((&known["total"], &known["records"][0]["text"]), (&1.into(), &"user has a boat".into()));
    assert_eq!(bed.json(&["facts"])["on"], false, "without the option nobody finds any");
    assert_eq!(bed.json(&["facts", "off"])["on"], false);
}

const TURNS: usize = 50;

fn pieces(turn: usize) -> Vec<String> {
    (0..6).map(|piece| format!("part {piece} of the answer to turn {turn}. ")).collect()
}

/// A chat that runs.
struct Running {
    child: Child,
    input: ChildStdin,
    events: BufReader<ChildStdout>,
}

impl Running {
    fn start(bed: &Bed, url: &str) -> Self {
        let mut command = bed.command();
        command.args(["--json", "chat", "--model", "m", "--budget", "100000", "--base-url", url]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, events) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, events }
    }

    fn say(&mut self, turn: usize) {
        writeln!(self.input, "turn {turn}: what of it?").unwrap();
    }

    /// Waits for so many events of a kind.
    fn wait(&mut self, kind: &str, count: usize) {
        let mut seen = 0;
        while seen < count {
            let mut line = String::new();
            assert!(self.events.read_line(&mut line).unwrap() > 0, "the chat ended before {kind}");
            seen += usize::from(serde_json::from_str::<Value>(&line).unwrap()["event"] == kind);
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// How a turn is killed: after so many pieces of an answer that hangs there, or that goes on.
fn kill_at(turn: usize) -> Option<(usize, bool)> {
    match turn % 5 {
        0 => Some((1 + turn % 4, true)),
        3 => Some((turn % 3, false)),
        _ => None,
    }
}

#[test]
fn of_50_turns_with_kills_within_answers_nothing_said_is_lost_and_nothing_half_is_kept() {
    let models = Models::start(|asked| {
        let sent = asked.json()["messages"].clone();
        let last = sent.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        let turn: usize = last.split(['n', ':']).nth(1).unwrap().trim().parse().unwrap();
        let pieces = pieces(turn);
        let body = openai::stream(&pieces.iter().map(String::as_str).collect::<Vec<_>>());
        let whole = Reply::stream(openai::STREAM, body.clone()).until_closed();
        match kill_at(turn) {
            // In the middle of a piece, behind so many.
            Some((count, true)) => {
                let size = whole.head_size() + body.find(&format!("part {count} of")).unwrap();
                whole.hang_at(size)
            }
            _ => whole,
        }
    });
    let bed = Bed::new();
    let mut running = Running::start(&bed, &models.url());
    for turn in 0..TURNS {
        running.say(turn);
        match kill_at(turn) {
            None => running.wait("answered", 1),
            Some((count, _)) => {
                running.wait(if count == 0 { "stored" } else { "piece" }, count.max(1));
                running.kill();
                running = Running::start(&bed, &models.url());
            }
        }
    }
    running.kill();

    let mut talk = talk(&bed).into_iter().peekable();
    for turn in 0..TURNS {
        assert_eq!(talk.next(), Some(pair("user", &format!("turn {turn}: what of it?"))), "what was said is lost");
        let whole = pair("assistant", &pieces(turn).concat());
        let answered = talk.next_if(|(role, _)| role == "assistant");
        match kill_at(turn) {
            None => assert_eq!(answered, Some(whole), "an answer that was told as whole is lost"),
            Some((_, true)) => assert_eq!(answered, None, "half an answer is kept"),
            // Whether it was whole when it was killed is chance, but it is never half.
            Some((_, false)) => assert!(answered.is_none_or(|answered| answered == whole), "turn {turn}"),
        }
    }
    assert_eq!(talk.next(), None);
    let last = models.server.asked().pop().unwrap().json()["messages"].to_string();
    assert!((0..TURNS).all(|turn| last.contains(&format!("turn {turn}: what of it?"))), "the model is told all of it");
}
