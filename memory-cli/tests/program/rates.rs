//! `memory stats --metrics`: two looks at the figures of a program that runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use crate::support::{Answer, Bed, answer};

/// Answers each request at `/metrics` with the next text.
fn tell(texts: Vec<(&'static str, String)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (status, text) in texts {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /metrics HTTP/1.1\r\n"));
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        }
    });
    address
}

fn figures(answers: u32, hits: u32) -> (&'static str, String) {
    let text = format!(
        "memory_events_total{{event=\"recalled\"}} {answers}\nmemory_event_items_total{{event=\"recalled\"}} {hits}\n"
    );
    ("200 OK", text)
}

fn stats(bed: &Bed, address: SocketAddr, more: &[&str]) -> Answer {
    let address = address.to_string();
    answer(bed.bare().args(["stats", "--metrics", &address, "--over", "1s"]).args(more), b"")
}

#[test]
fn s3_17_rates_are_those_of_the_program_that_runs() {
    let bed = Bed::new();
    let said = stats(&bed, tell(vec![figures(10, 30), figures(14, 50)]), &["--json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let told = said.json();
    let rate = |name: &str| told["per_second"][name].as_f64().unwrap();
    assert!(rate("answers") > 0.0 && rate("answers") <= 4.0, "{told}");
    // However long a second was here.
    assert!((rate("hits") / rate("answers") - 5.0).abs() < 1e-9, "{told}");
    assert_eq!(rate("appends"), 0.0);
    assert!(!bed.database().exists(), "no database is opened");
    let said = stats(&bed, tell(vec![figures(1, 1), figures(1, 1)]), &[]);
    assert!(said.stdout.contains("answers             0.00"), "{}", said.stdout);
}

#[test]
fn who_tells_no_figures_or_began_anew_is_said_to() {
    let bed = Bed::new();
    let absent = stats(&bed, tell(vec![("404 Not Found", String::new())]), &[]);
    assert!(absent.stderr.contains("tells no figures: `memory serve --metrics` does"), "{}", absent.stderr);
    let anew = stats(&bed, tell(vec![figures(10, 30), figures(1, 1)]), &[]);
    assert!(anew.stderr.contains("began anew meanwhile"), "{}", anew.stderr);
    assert_eq!((absent.code, anew.code), (1, 1));
}
