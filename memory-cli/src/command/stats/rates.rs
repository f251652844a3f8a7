//! How much a running program does: two looks at the figures that it tells, some time apart.

use std::net::SocketAddr;
use std::time::Duration;

use memory::store::time::Stopwatch;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::cli::Stats;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// How long the program may take to tell its figures, and how many bytes they may have.
const PATIENCE: Duration = Duration::from_secs(5);
const BYTES: u64 = 16 << 20;

/// What is counted: its name, and the series that count it, each a figure with some of its labels.
const COUNTED: &[(&str, &[&[&str]])] = &[
    ("appends", &[&["memory_store_calls_total", "part=\"chat\"", "operation=\"append\"", "outcome=\"ok\""]]),
    ("record_puts", &[&["memory_store_calls_total", "part=\"records\"", "operation=\"put\"", "outcome=\"ok\""]]),
    (
        "answers",
        &[&["memory_events_total", "event=\"recalled\""], &["memory_events_total", "event=\"recalled_in_part\""]],
    ),
    (
        "hits",
        &[
            &["memory_event_items_total", "event=\"recalled\""],
            &["memory_event_items_total", "event=\"recalled_in_part\""],
        ],
    ),
    ("embedded_texts", &[&["memory_event_items_total", "event=\"embedded\""]]),
    ("store_calls", &[&["memory_store_calls_total"]]),
    (
        "failed_store_calls",
        &[
            &["memory_store_calls_total", "outcome=\"failed\""],
            &["memory_store_calls_total", "outcome=\"late\""],
            &["memory_store_calls_total", "outcome=\"refused\""],
        ],
    ),
    ("requests", &[&["memory_requests_total"]]),
];

/// Shows how much the program at `address` did a second, within the time that the arguments say.
pub(super) async fn run(address: SocketAddr, args: &Stats, output: &mut Output) -> Result<Outcome, Failure> {
    let (watch, before) = (Stopwatch::start(), figures(address).await?);
    sleep(args.over).await;
    let seconds = watch.elapsed().as_secs_f64();
    let rates = between(&before, &figures(address).await?, seconds)
        .ok_or_else(|| Failure::Inner(format!("the program at {address} began anew meanwhile: ask once more")))?;
    if output.is_json() {
        let rates: serde_json::Map<_, _> = rates.iter().map(|(name, rate)| ((*name).to_owned(), json!(rate))).collect();
        output.json(&json!({ "address": address, "seconds": seconds, "per_second": rates }))?;
    } else {
        output.line(&format!("a second, over {seconds:.0} s, of the program at {address}"))?;
        for (name, rate) in rates {
            output.line(&format!("{:<19} {rate:.2}", name.replace('_', " ")))?;
        }
    }
    Ok(Outcome::Done)
}

/// Returns what was counted a second between two looks; none if a counter has fallen, as it does when a program begins anew.
fn between(before: &str, after: &str, seconds: f64) -> Option<Vec<(&'static str, f64)>> {
    let rate = |(name, series): &(&'static str, &[&[&str]])| {
        let [before, after] = [before, after].map(|text| series.iter().map(|series| sum(text, series)).sum::<f64>());
        (after >= before).then(|| (*name, (after - before) / seconds))
    };
    COUNTED.iter().map(rate).collect()
}

/// Adds up the series of a figure that have all of these labels.
fn sum(text: &str, series: &[&str]) -> f64 {
    let Some((figure, labels)) = series.split_first() else { return 0.0 };
    let lines = text.lines().filter(|line| line.strip_prefix(figure).is_some_and(|rest| rest.starts_with(['{', ' '])));
    let lines = lines.filter(|line| labels.iter().all(|label| line.contains(label)));
    lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
}

/// Returns the figures that a program tells at `/metrics`.
async fn figures(address: SocketAddr) -> Result<String, Failure> {
    let told = timeout(PATIENCE, ask(address)).await;
    let told = told.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()));
    let told = told.map_err(|error| Failure::Inner(format!("{address} tells no figures: {error}")))?;
    match told.split_once("\r\n\r\n") {
        Some((head, body)) if head.lines().next().is_some_and(|line| line.contains(" 200 ")) => Ok(body.to_owned()),
        _ => Err(Failure::Inner(format!("{address} tells no figures: `memory serve --metrics` does"))),
    }
}

async fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.take(BYTES).read_to_string(&mut answer).await?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: &str = "# TYPE memory_store_calls_total counter
memory_store_calls_total{backend=\"sqlite\",part=\"chat\",operation=\"append\",outcome=\"ok\"} APPENDS
memory_store_calls_total{backend=\"sqlite\",part=\"text\",operation=\"search\",outcome=\"late\"} 2
memory_events_total{event=\"recalled\"} 4
memory_event_items_total{event=\"recalled\"} HITS
memory_event_items_total_of_another 900
";

    fn look(appends: &str, hits: &str) -> String {
        CALLS.replace("APPENDS", appends).replace("HITS", hits)
    }

    #[test]
    fn rates_are_differences_by_the_time_between() {
        let rates = between(&look("10", "3"), &look("30", "8"), 10.0).unwrap();
        let rate = |name| rates.iter().find(|(known, _)| *known == name).unwrap().1;
        let names = ["appends", "hits", "answers", "store_calls", "failed_store_calls", "requests"];
        assert_eq!(names.map(rate), [2.0, 0.5, 0.0, 2.0, 0.0, 0.0]);
        assert_eq!(between("", &look("30", "8"), 10.0).unwrap()[0], ("appends", 3.0));
    }

    #[test]
    fn a_program_that_began_anew_has_no_rate() {
        assert_eq!(between(&look("30", "8"), &look("1", "8"), 10.0), None);
    }
}
