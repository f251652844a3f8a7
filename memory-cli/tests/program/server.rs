//! The server as people run it: tokens, the link, a token that is revoked while it runs, and its end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use memory::store::time::Stopwatch;
use memory_testkit::RunningWatch;
use serde_json::{Value, json};

use crate::running::{Running, send};
use crate::support::{Bed, conversations, signal_until_the_end, unread};

#[test]
fn a_token_opens_its_owner_until_it_is_revoked_and_the_end_leaves_one_file() {
    let bed = Bed::new();
    bed.run(&["remember", "Ada has a cat"]);
    bed.of("bob").run(&["remember", "Bob has a dog"]);
    let token =
        |bed: &Bed, rights: &str| bed.json(&["token", "new", "--rights", rights])["token"].as_str().unwrap().to_owned();
    let (ada, bob) = (token(&bed, "read"), token(&bed.of("bob"), "read,write,forget"));
    let listed = bed.run(&["token", "list"]).stdout;
    assert!(listed.contains("ada of acme, read, made") && !listed.contains(&ada[21..]), "{listed}");
    let mut command = bed.bare();
    command.arg("--db").arg(bed.database());
    let running = Running::start(command, "127.0.0.1:0");
    let records = |token: &str| running.get("/v1/records", token);
    assert!(records(&ada).1.contains("cat") && !records(&ada).1.contains("dog"));
    assert!(records(&bob).1.contains("dog"));
    let id = &ada[4..20];
    assert_eq!(bed.run(&["token", "revoke", id]).stdout.trim(), format!("{id} revoked"));
    let begun = RunningWatch::start();
    while records(&ada).0 != 401 {
        assert!(begun.elapsed() < Duration::from_secs(5), "the token opens still");
        std::thread::yield_now();
    }
    assert_eq!(records(&bob).0, 200);
    assert_eq!(bed.run(&["token", "revoke", id]).code, 3);
    let (code, log) = running.stop();
    assert_eq!(code, Some(0), "{log}");
    bed.is_one_file();
    let line = log.lines().find(|line| line.contains("GET /v1/records")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["status"], &line["operation"]), (&200.into(), &"GET /v1/records".into()));
    assert!(!log.contains("acme") && !log.contains("a cat") && !log.contains(&bob[21..]), "{log}");
}

/// Returns a value whose numbers have single precision, as scores have: it may be written with more digits, or not.
fn in_single(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => json!(number.as_f64().unwrap_or_default() as f32),
        Value::Array(list) => list.iter().map(in_single).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), in_single(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn what_http_tells_of_an_item_is_what_the_program_tells_as_json() {
    let bed = Bed::new();
    bed.import(&conversations());
    bed.json(&["remember", "Ada has a parcel", "--importance", "0.9", "--tag", "post"]);
    let running = Running::start(bed.command(), "127.0.0.1:0").with_link();
    let token = running.token.clone().unwrap();
    let ask = |method: &str, path: &str, body: &Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, answer) = send(&running.address, &token, method, path, &body).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    // In the order of their text: lists are in orders of their own.
    let items = |answer: &Value, name: &str| {
        let mut items: Vec<String> =
            answer[name].as_array().unwrap().iter().map(|item| in_single(item).to_string()).collect();
        items.sort_unstable();
        items
    };
    let query = json!({ "query": "parcel" });
    let table: [(&[&str], &str, &str, Value, &str); 4] = [
        (&["sessions"], "GET", "/v1/sessions", Value::Null, "sessions"),
        (&["records"], "GET", "/v1/records", Value::Null, "records"),
        (&["show", "garden"], "GET", "/v1/sessions/garden/messages", Value::Null, "shown"),
        (&["search", "parcel"], "POST", "/v1/search", query.clone(), "hits"),
    ];
    for (args, method, path, body, name) in table {
        let (here, there) = (items(&bed.json(args), name), items(&ask(method, path, &body), name));
        assert!(!here.is_empty() && here == there, "{path}:\n{here:?}\n{there:?}");
    }
    let context = ask("POST", "/v1/sessions/garden/context", &query);
    let here = bed.json(&["--session", "garden", "context", "parcel"]);
    assert_eq!(context["messages"], here["messages"]);
    let names = |receipt: &Value| receipt.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&context["receipt"]), names(&here["receipt"]));
    assert_eq!(running.stop().0, Some(0));
}

/// Sends a request with these lines of headers, and returns the answer.
fn ask(running: &Running, target: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(&running.address).unwrap();
    let address = &running.address;
    write!(stream, "GET {target} HTTP/1.1\r\nhost: {address}\r\n{headers}connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_line_of_the_log_names_request_and_trace_and_no_token_that_stood_in_an_address() {
    let bed = Bed::new();
    let mut command = bed.command();
    command.env("RUST_LOG", "trace");
    let running = Running::start(command, "127.0.0.1:0").with_link();
    let link = running.token.clone().unwrap();
    let targets = [
        format!("/v1/records?token={link}"),
        format!("/v1/sessions/{link}"),
        format!("/{link}?"),
        format!("/%6dem%5F{}", &link[4..]),
        format!("http://{link}@{}/v1/records", running.address),
    ];
    for target in &targets {
        let answer = ask(&running, target, &format!("authorization: Bearer {link}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 400") && !answer.contains(&link[21..]), "{answer}");
    }
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (request, trace) in [("first", trace), ("second", "of a client {}")] {
        let headers = format!("authorization: Bearer {link}\r\nx-request-id: {request}\r\ntraceparent: {trace}\r\n");
        let answer = ask(&running, "/v1/records", &headers);
        let is_named = answer.contains(&format!("\r\nx-request-id: {request}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200") && is_named, "{answer}");
    }
    let (code, log) = running.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(!log.contains(&link) && !log.contains(&link[21..]) && !log.contains("of a client"), "{log}");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines: Vec<Value> = lines.filter(|line| line["target"] == "memory_server::request").collect();
    let named = |request: &str| lines.iter().find(|line| line["request"] == request).unwrap_or_else(|| panic!("{log}"));
    let (first, second) = (named("first"), named("second"));
    assert_eq!((&first["trace"], &first["status"]), (&trace.into(), &200.into()));
    assert_eq!(second.get("trace"), None);
    let refused: Vec<&Value> = lines.iter().filter(|line| line["status"] == 400).collect();
    assert_eq!(refused.len(), targets.len(), "{log}");
    assert!(refused.iter().all(|line| line["request"].is_string() && line.get("trace").is_none()), "{log}");
}

/// The body of a request that is under way.
const TEA: &str = "{\"text\":\"Ada likes tea\"}";

/// Starts a server, and begins a request of which the body is missing.
fn under_way(bed: &Bed) -> (Running, TcpStream) {
    let running = Running::start(bed.command(), "127.0.0.1:0").with_link();
    let (address, link) = (&running.address, running.token.as_deref().unwrap());
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1/records HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {link}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\nexpect: 100-continue\r\n\r\n",
        TEA.len()
    )
    .unwrap();
    // It answers so when it waits for the body.
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    (running, stream)
}

#[test]
fn whoever_stops_a_server_twice_does_not_wait_for_a_request_under_way() {
    let bed = Bed::new();
    let (mut running, _stream) = under_way(&bed);
    running.signal("-INT");
    // What comes within half a second is the same stop.
    std::thread::sleep(Duration::from_secs(1));
    signal_until_the_end("-INT", &mut running.process.0);
    let (code, log) = running.ended();
    assert_eq!(code, Some(130), "{log}");
    assert!(log.contains("stopped before what was under way had ended"), "{log}");
}

#[test]
fn a_stop_that_is_sent_twice_at_once_lets_a_request_under_way_end() {
    for _ in 0..10 {
        let bed = Bed::new();
        let (running, mut stream) = under_way(&bed);
        let begun = Stopwatch::start();
        running.signal("-INT");
        running.signal("-INT");
        let mut answer = String::new();
        let answered = stream.write_all(TEA.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        let (code, log) = running.ended();
        // Where the machine stops between the two, the second one is another stop.
        if code == Some(130) && begun.elapsed() >= Duration::from_millis(500) {
            continue;
        }
        assert_eq!(code, Some(0), "{log}");
        answered.unwrap();
        assert!(answer.contains("HTTP/1.1 200"), "{answer}");
        assert_eq!(bed.json(&["records"])["total"], 1);
        return;
    }
    panic!("no two signals of ten came within half a second");
}

#[test]
fn the_link_of_a_server_on_this_machine_opens_the_owner_that_is_named() {
    let bed = Bed::new();
    let running = Running::start(bed.command(), "127.0.0.1:0").with_link();
    let link = running.token.clone().unwrap();
    assert_eq!(running.get("/v1/sessions", &link).0, 200);
    assert_eq!(running.get("/v1/sessions", "mem_0").0, 401);
    assert_eq!(running.stop().0, Some(0));
}

#[test]
fn no_link_is_printed_where_others_read_it_or_where_it_would_open_more_than_one_owner() {
    let bed = Bed::new();
    bed.json(&["token", "new"]);
    let printed = |command: std::process::Command| Running::start(command, "127.0.0.1:0").stop().1;
    assert!(printed(bed.command()).contains("token="));
    for (name, value) in [("MEMORY_BEHIND_PROXY", "true"), ("MEMORY_HOSTS", "memory.example.org")] {
        let mut command = bed.command();
        command.env(name, value);
        assert!(!printed(command).contains("token="), "{name}");
    }
    let every = Bed::new();
    every.of("*").json(&["token", "new"]);
    let mut nobody = every.bare();
    nobody.arg("--db").arg(every.database());
    assert!(!printed(nobody).contains("token="));
}

#[test]
fn a_server_on_another_address_of_this_machine_is_called_by_it() {
    let bed = Bed::new();
    let running = Running::start(bed.command(), "127.0.0.2:0").with_link();
    let link = running.token.clone().unwrap();
    assert_eq!(running.get("/v1/sessions", &link).0, 200);
    assert_eq!(running.stop().0, Some(0));
}

#[test]
fn a_server_that_others_reach_needs_tokens_encryption_and_a_name() {
    let bed = Bed::new();
    let serve = |more: &[&str]| bed.run(&[&["serve", "--listen", "0.0.0.0:0"], more].concat());
    assert!(serve(&[]).refused(2).contains("holds no token"));
    bed.json(&["token", "new"]);
    assert!(serve(&[]).refused(2).contains("--behind-proxy"));
    assert!(serve(&["--behind-proxy"]).refused(2).contains("--host"));
    #[cfg(feature = "tls")]
    {
        let lone = serve(&["--host", "memory.example.org", "--tls-certificate", "certificate.pem"]);
        assert!(lone.refused(2).contains("--tls-key"));
        let files = ["--host", "h", "--tls-certificate", "certificate.pem", "--tls-key", "key.pem"];
        assert!(serve(&files).refused(2).contains("no certificate and its key"));
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    assert!(bed.run(&["serve", "--listen", &taken]).refused(2).contains("cannot listen"));
}

#[test]
fn a_token_is_revoked_in_the_file_that_a_link_names_and_by_the_whole_of_it() {
    let bed = Bed::new();
    let (file, link, lost) = (bed.path("tokens"), bed.path("link"), bed.path("lost"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    std::os::unix::fs::symlink(bed.path("nothing"), &lost).unwrap();
    let at = |path: &std::path::Path, args: &[&str]| bed.run(&[args, &["--tokens", path.to_str().unwrap()]].concat());
    let new = || at(&file, &["--json", "token", "new"]).json()["token"].as_str().unwrap().to_owned();
    let (one, two) = (new(), new());
    let count = |path| at(path, &["token", "list"]).stdout.matches("of acme").count();
    assert_eq!((count(&file), count(&link)), (2, 2));
    let answer = at(&link, &["token", "revoke", &one[4..20]]);
    assert_eq!((answer.code, answer.stdout), (0, format!("{} revoked\n", &one[4..20])));
    assert!(link.is_symlink());
    assert_eq!((count(&file), count(&link)), (1, 1));
    let answer = at(&file, &["token", "revoke", &two]);
    assert_eq!((answer.code, answer.stdout), (0, format!("{} revoked\n", &two[4..20])));
    assert_eq!((count(&file), count(&link)), (0, 0));
    let answer = at(&file, &["token", "revoke", &two]);
    assert_eq!((answer.code, answer.stdout), (3, format!("{} unknown\n", &two[4..20])));
    at(&lost, &["token", "new"]).refused(2);
    assert!(lost.is_symlink());
}

#[test]
fn a_token_that_would_be_dead_at_once_is_not_made() {
    let bed = Bed::new();
    assert!(bed.run(&["token", "new", "--expires", "0s"]).refused(2).contains("longer than zero"));
    assert_eq!(bed.json(&["token", "list"])["tokens"], serde_json::json!([]));
}

#[test]
fn a_token_stands_on_one_line_however_narrow_the_terminal_is() {
    let bed = Bed::new();
    let mut command = bed.command();
    command.env("COLUMNS", "80").args(["token", "new"]);
    let shown = crate::support::answer(&mut command, b"").stdout;
    assert_eq!((shown.lines().count(), shown.trim_end().len()), (1, 85), "{shown}");
}

#[test]
fn a_token_that_nobody_reads_is_not_made() {
    let bed = Bed::new();
    for args in [&["token", "new"][..], &["--json", "token", "new"]] {
        let (code, told) = unread(bed.command().args(args), b"");
        assert!(code == Some(1) && told.contains("nobody reads it, so no token was made"), "{told}");
    }
    assert_eq!(bed.json(&["token", "list"])["tokens"], serde_json::json!([]));
}

#[test]
fn a_file_of_tokens_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let bed = Bed::new();
    let path = bed.path("tokens");
    let tokens = ["--tokens", path.to_str().unwrap()];
    bed.json(&[&["token", "new"], &tokens[..]].concat());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    for command in [&["token", "list"][..], &["token", "new"], &["serve"]] {
        assert!(bed.run(&[command, &tokens[..]].concat()).refused(2).contains("chmod 600"), "{command:?}");
    }
    let damaged = bed.file("damaged", "[]");
    std::fs::set_permissions(&damaged, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(bed.run(&["token", "list", "--tokens", &damaged]).refused(2).contains("no file of tokens"));
}
