//! MCP over the standard streams, as clients start it: one process each, over one file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::{Bed, answer, signal};

/// A client of a process of its own.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Client {
    fn start(bed: &Bed, options: &[&str]) -> Self {
        let mut command = bed.command();
        command.arg("mcp").args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, calls: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        assert_eq!(client.ask("initialize", &hello).unwrap()["result"]["serverInfo"]["name"], "memory");
        writeln!(client.input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
        client
    }

    /// Sends a request; none if the process is gone before it answers.
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.calls += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": params });
        writeln!(self.input, "{request}").ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// Calls a tool, again where it says so: on a busy machine others may hold the file for long.
    fn tool(&mut self, name: &str, arguments: &Value) -> Option<String> {
        let call = json!({ "name": name, "arguments": arguments });
        let mut answer = self.ask("tools/call", &call)?;
        for _ in 0..20 {
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
            if answer["result"]["isError"] != true || !text.ends_with("; try again") {
                break;
            }
            answer = self.ask("tools/call", &call)?;
        }
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        Some(answer["result"]["content"][0]["text"].as_str().unwrap().to_owned())
    }

    /// Closes its input, as a client does that ends.
    fn end(self) {
        let Self { mut child, input, output, .. } = self;
        drop((input, output));
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn of_four_processes_over_one_file_every_acknowledged_write_is_there_though_one_is_killed() {
    const WRITES: usize = 50;

    let bed = Bed::new();
    let mut threads = Vec::new();
    for number in 0..4 {
        let bed = bed.of("ada");
        let mut client = Client::start(&bed, &["--tools", "graph"]);
        let writes = move || {
            let mut acknowledged = Vec::new();
            for write in 0..WRITES {
                if number == 0 && write == WRITES / 2 {
                    client.child.kill().unwrap();
                }
                let name = format!("entity {number} {write}");
                let entities = json!({ "entities": [{ "name": name, "entityType": "t", "observations": [] }] });
                match client.tool("create_entities", &entities) {
                    Some(_) => acknowledged.push(name),
                    None => break,
                }
            }
            if number == 0 {
                client.child.wait().unwrap();
            } else {
                client.end();
            }
            acknowledged
        };
        threads.push(std::thread::spawn(writes));
    }
    let acknowledged: Vec<String> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert!(acknowledged.len() >= 3 * WRITES + WRITES / 2 - 1, "{}", acknowledged.len());
    let mut client = Client::start(&bed, &["--tools", "graph", "--max-tokens", "100000"]);
    let graph: Value = serde_json::from_str(&client.tool("read_graph", &json!({})).unwrap()).unwrap();
    client.end();
    let there: Vec<&str> =
        graph["entities"].as_array().unwrap().iter().map(|entity| entity["name"].as_str().unwrap()).collect();
    let lost: Vec<&String> = acknowledged.iter().filter(|name| !there.contains(&name.as_str())).collect();
    assert!(lost.is_empty(), "{lost:?}");
    bed.is_one_file();
}

#[test]
fn what_an_agent_adds_the_program_finds_and_a_closed_input_ends_it() {
    let bed = Bed::new();
    let mut client = Client::start(&bed, &[]);
    let tools = client.ask("tools/list", &json!({})).unwrap();
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 6);
    client.tool("add_memory", &json!({ "text": "Ada has a cat" })).unwrap();
    assert!(client.tool("search_memories", &json!({ "query": "cat" })).unwrap().contains("Ada has a cat"));
    client.end();
    bed.is_one_file();
    assert_eq!(bed.json(&["records"])["records"][0]["trust"], "assistant");
    assert_eq!(bed.run_with(&["mcp"], b"").code, 0);
    assert_eq!(bed.run_with(&["mcp"], b"not json\n").code, 0);
}

#[test]
fn a_signal_ends_it_and_the_database_is_one_file() {
    for name in ["-TERM", "-INT"] {
        let bed = Bed::new();
        let mut client = Client::start(&bed, &[]);
        client.tool("add_memory", &json!({ "text": "Ada has a cat" })).unwrap();
        assert!(bed.path("memory.sqlite-wal").exists(), "nothing is to be closed");
        signal(name, &client.child);
        // Its input stays open: a client may wait for the end before it closes that.
        assert_eq!(client.child.wait().unwrap().code(), Some(130), "{name}");
        bed.is_one_file();
        assert_eq!(bed.json(&["records"])["records"][0]["text"], "Ada has a cat");
    }
}

#[test]
fn calls_that_are_sent_without_waiting_are_answered_in_their_order_and_all_of_them() {
    const WRITES: u64 = 30;

    let bed = Bed::new();
    let call = |id: u64, name: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let mut lines = vec![
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ];
    let view = json!({ "command": "view", "path": "/memories/plants.md" });
    let create = json!({ "command": "create", "path": "/memories/plants.md", "file_text": "plants\n" });
    lines.push(call(1, "memory", create));
    // Each insertion stands behind the one before it only if that is written already.
    lines.extend((1..=WRITES).map(|number| {
        let text = format!("plant {number}\n");
        let insert =
            json!({ "command": "insert", "path": "/memories/plants.md", "insert_line": number, "insert_text": text });
        call(number + 1, "memory", insert)
    }));
    lines.push(call(WRITES + 2, "memory", view));
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answers = bed.run_with(&["mcp", "--tools", "files"], input.as_bytes());
    let answers: Vec<Value> = answers.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    assert_eq!(ids, (0..=WRITES + 2).collect::<Vec<_>>());
    let file = answers.last().unwrap()["result"]["content"][0]["text"].as_str().unwrap();
    let places: Vec<Option<usize>> = (1..=WRITES).map(|number| file.find(&format!("plant {number}\n"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{file}");
}

#[test]
fn a_file_of_descriptions_takes_the_place_of_those_of_the_tools_and_a_wrong_one_is_refused() {
    let bed = Bed::new();
    let file = bed.file("words.json", r#"{"add_memory": "Merke dir das."}"#);
    let mut client = Client::start(&bed, &["--descriptions", &file]);
    let tools = client.ask("tools/list", &json!({})).unwrap()["result"]["tools"].clone();
    client.end();
    let description = |name: &str| {
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name);
        tool.unwrap()["description"].as_str().unwrap().to_owned()
    };
    assert_eq!(description("add_memory"), "Merke dir das.");
    assert!(description("search_memories").contains("Search"), "{tools}");
    for (name, content) in
        [("no.json", "add_memory: text"), ("list.json", "[]"), ("number.json", r#"{"add_memory": 3}"#)]
    {
        let file = bed.file(name, content);
        for command in [&["mcp"][..], &["serve", "--listen", "127.0.0.1:0"]] {
            let refused = bed.run(&[command, &["--descriptions", &file]].concat());
            let why = format!("{file} is no JSON of names and descriptions: ");
            assert!(refused.refused(2).starts_with(&why), "{name} {command:?}: {}", refused.stderr);
        }
    }
    let refused = bed.run(&["mcp", "--descriptions", "nowhere.json"]);
    assert!(refused.refused(2).starts_with("the file nowhere.json cannot be read: "), "{}", refused.stderr);
}

#[test]
fn the_configuration_of_a_client_names_this_program_and_owner() {
    let bed = Bed::new();
    let json = |client: &str| bed.run(&["mcp", "--tools", "files", "config", client]).stdout;
    let value: Value = serde_json::from_str(&json("claude-desktop")).unwrap();
    let entry = &value["mcpServers"]["memory"];
    let words: Vec<&str> = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(&words[..5], ["mcp", "--tenant", "acme", "--subject", "ada"]);
    assert_eq!(&words[words.len() - 2..], ["--tools", "files"]);
    assert!(entry["command"].as_str().unwrap().ends_with("memory"));
    // A client starts the program in a folder of its own, so what is named is named from the root.
    let mut command = bed.bare();
    command.args([
        "--tenant",
        "a",
        "--subject",
        "b",
        "--db",
        "own.sqlite?pool=2",
        "--embedder",
        "openai:small@http://127.0.0.1:9/v1",
    ]);
    command.args(["mcp", "--descriptions", "words.json", "config", "cursor"]);
    let value = answer(&mut command, b"").json();
    let args = value["mcpServers"]["memory"]["args"].to_string();
    let database = format!("\"--db\",\"sqlite:{}?pool=2\"", bed.path("own.sqlite").display());
    assert!(args.contains(&database), "{args}");
    assert!(args.contains("\"--embedder\",\"openai:small@http://127.0.0.1:9/v1\""), "{args}");
    assert!(args.contains(&format!("\"--descriptions\",\"{}\"", bed.path("words.json").display())), "{args}");
    assert!(json("vscode").contains("\"servers\"") && json("codex").starts_with("[mcp_servers.memory]"));
    assert!(bed.run(&["mcp", "--tools", "none"]).refused(2).contains("core, chatgpt, graph and files"));
}

#[test]
fn what_agents_are_offered_is_said_before_the_client_or_behind_it() {
    let bed = Bed::new();
    let words = bed.file("words.json", "{}");
    let options = ["--tools", "graph", "--max-tokens", "900", "--allow-forget", "--descriptions", &words];
    let before = bed.run(&[&["mcp"], &options[..], &["config", "cursor"]].concat());
    let behind = bed.run(&[&["mcp", "config", "cursor"], &options[..]].concat());
    assert_eq!((behind.code, behind.stdout.as_str()), (0, before.stdout.as_str()), "{}", behind.stderr);
    assert!(behind.stdout.contains("graph") && behind.stdout.contains("900"), "{}", behind.stdout);
    let split = bed.run(&[&["mcp"], &options[..2], &["config", "cursor"], &options[2..]].concat());
    assert_eq!(split.stdout, before.stdout);
    let file = bed.file("memory.jsonl", "");
    assert_eq!(bed.run(&["mcp", "import", &file, "--tools", "graph"]).code, 0);
}

#[test]
fn a_database_that_a_variable_names_is_in_the_configuration_and_its_password_is_not() {
    let bed = Bed::new();
    let config = |url: &str, more: &[&str]| {
        let mut command = bed.bare();
        command.env("MEMORY_URL", url).args(["--tenant", "a", "--subject", "b"]).args(more);
        answer(command.args(["mcp", "config", "cursor"]), b"")
    };
    let told = config("own.sqlite", &[]);
    let args = told.json()["mcpServers"]["memory"]["args"].to_string();
    let database = format!("\"--db\",\"sqlite:{}\"", bed.path("own.sqlite").display());
    assert!(args.contains(&database) && args.contains("\"--embedder\",\"none\""), "{args}");
    assert_eq!(told.stderr, "");
    let file = bed.file("memory.yaml", "memory: { persistent: { connection_string: here.sqlite } }");
    assert!(!config("own.sqlite", &["--config", &file]).stdout.contains("--db"), "the file says it");
    #[cfg(feature = "redis")]
    {
        let told = config("redis://ada:hunter2@localhost", &[]);
        assert!(told.stdout.contains("redis://ada@localhost") && !told.stdout.contains("hunter2"), "{}", told.stdout);
        assert!(told.stderr.starts_with("note: the password of the database is not in it"), "{}", told.stderr);
    }
}

#[test]
fn the_configuration_of_every_client_is_one_line_of_json_if_json_is_asked_for() {
    let bed = Bed::new();
    for (client, list) in [("codex", "mcp_servers"), ("vscode", "servers"), ("claude-code", "mcpServers")] {
        let told = bed.run(&["--json", "mcp", "config", client]);
        assert_eq!(told.stdout.lines().count(), 1, "{}", told.stdout);
        assert_eq!(told.json()[list]["memory"]["args"][0], "mcp", "{client}");
    }
}

#[test]
fn a_graph_that_the_memory_does_not_take_is_no_fault_of_its_file() {
    let bed = Bed::new();
    let entity = |name: &str| {
        let entity = json!({ "type": "entity", "name": name, "entityType": "person", "observations": [] });
        bed.file(&format!("{name}.jsonl"), entity.to_string())
    };
    let imported = bed.run(&["mcp", "import", &entity("Ada")]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    let path = format!("{}?mode=ro", bed.database().display());
    let mut command = bed.bare();
    command.args(["--db", &path, "--tenant", "acme", "--subject", "ada", "mcp", "import", &entity("Bob")]);
    assert_eq!(answer(&mut command, b"").refused(1), "sqlite was opened for reading alone");
    assert!(bed.run(&["mcp", "import", "nowhere.jsonl"]).refused(2).contains("nowhere.jsonl cannot be read"));
    let words = bed.file("words.txt", "no graph\n");
    assert!(bed.run(&["mcp", "import", &words]).refused(2).contains("is an entity or a relation"));
    let entity = r#"{"type":"entity","name":"Cy","entityType":"person","observations":[]}"#;
    let partly = bed.file("partly.jsonl", format!("no graph\n{entity}\n"));
    let told = bed.run(&["mcp", "import", &partly]);
    assert_eq!(told.code, 3);
    assert!(told.stderr.starts_with("rejected: line 1: not JSON"), "{}", told.stderr);
    assert!(bed.run(&["mcp", "--max-tokens", "0"]).refused(2).contains("max_tokens is from 200 to 100000"));
}
