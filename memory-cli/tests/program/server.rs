//! The server as people run it: tokens, the link, a token that is revoked while it runs, and its end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use memory::store::time::Stopwatch;

use crate::support::Bed;

/// A server that runs.
pub(crate) struct Running {
    child: Child,
    address: String,
    /// The token of its link.
    link: Option<String>,
    stdout: BufReader<ChildStdout>,
    log: JoinHandle<String>,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let command = command.args(["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut stdout, mut stderr) = (BufReader::new(child.stdout.take().unwrap()), child.stderr.take().unwrap());
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            stderr.read_to_string(&mut log).unwrap();
            log
        });
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default().to_owned();
        Self { child, address, link: None, stdout, log }
    }

    fn with_link(mut self) -> Self {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        self.link = line.trim().split("#token=").nth(1).map(str::to_owned);
        self
    }

    /// Sends a request, and returns its status and its body.
    fn get(&self, path: &str, token: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned())
    }

    /// Ends it as a service manager does, and returns its exit code and what it logged.
    fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        (code, self.log.join().unwrap())
    }
}

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
    let running = Running::start(command);
    let records = |token: &str| running.get("/v1/records", token);
    assert!(records(&ada).1.contains("cat") && !records(&ada).1.contains("dog"));
    assert!(records(&bob).1.contains("dog"));
    let id = &ada[4..20];
    assert_eq!(bed.run(&["token", "revoke", id]).stdout.trim(), format!("{id} revoked"));
    let begun = Stopwatch::start();
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
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["status"], &line["operation"]), (&200.into(), &"GET /v1/records".into()));
    assert!(!log.contains("acme") && !log.contains("a cat") && !log.contains(&bob[21..]), "{log}");
}

#[test]
fn the_link_of_a_server_on_this_machine_opens_the_owner_that_is_named() {
    let bed = Bed::new();
    let running = Running::start(bed.command()).with_link();
    let link = running.link.clone().unwrap();
    assert_eq!(running.get("/v1/sessions", &link).0, 200);
    assert_eq!(running.get("/v1/sessions", "mem_0").0, 401);
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
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    assert!(bed.run(&["serve", "--listen", &taken]).refused(2).contains("cannot listen"));
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
