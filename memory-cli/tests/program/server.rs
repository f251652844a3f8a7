//! The server as people run it: tokens, the link, a token that is revoked while it runs, and its end.

use std::time::Duration;

use memory::store::time::Stopwatch;

use crate::running::Running;
use crate::support::{Bed, unread};

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
        let (code, told) = unread(bed.command().args(args));
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
