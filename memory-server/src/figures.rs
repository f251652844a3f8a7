//! Figures for whoever runs the server, in the text form of Prometheus, on a listener of their own: those of the memory
//! ([`memory::store::figures`]), and those of [`OWN`]. `docs/operations.md` has them all.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use memory::receipt::JournalStatus;
use memory::store::figures::{FIGURES, Figure, FigureKind};
use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::app::App;
use crate::gate;

const REQUESTS: &str = "memory_requests_total";
const REQUEST_SECONDS: &str = "memory_request_seconds";
const PENDING: &str = "memory_index_pending";
const DEAD: &str = "memory_index_dead";
const UP: &str = "memory_store_up";
const WAITING: &str = "memory_journal_waiting";
const WAITING_BYTES: &str = "memory_journal_bytes";
const REFUSED: &str = "memory_journal_refused";

/// The figures of the server.
const OWN: &[Figure] = &[
    Figure {
        name: REQUESTS,
        kind: FigureKind::Counter,
        labels: &["operation", "status"],
        what: "requests that were answered",
    },
    Figure {
        name: REQUEST_SECONDS,
        kind: FigureKind::Histogram,
        labels: &["operation"],
        what: "how long these requests took",
    },
    Figure {
        name: PENDING,
        kind: FigureKind::Gauge,
        labels: &["index"],
        what: "notes that an index has not followed yet",
    },
    Figure { name: DEAD, kind: FigureKind::Gauge, labels: &["index"], what: "notes that were given up" },
    Figure {
        name: UP,
        kind: FigureKind::Gauge,
        labels: &["part"],
        what: "1 if the store of this part answers, else 0",
    },
    Figure {
        name: WAITING,
        kind: FigureKind::Gauge,
        labels: &[],
        what: "messages in the journal that wait for their store",
    },
    Figure { name: WAITING_BYTES, kind: FigureKind::Gauge, labels: &[], what: "bytes of these messages" },
    Figure {
        name: REFUSED,
        kind: FigureKind::Gauge,
        labels: &[],
        what: "messages in the journal that their store refused for good",
    },
];

/// The bounds of the histograms, in seconds. A call of a store in process takes microseconds.
const SECONDS: [f64; 13] = [0.000_03, 0.000_1, 0.000_3, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];

/// Returns what keeps the figures of this process; none if the program keeps them in a way of its own.
pub(crate) fn keeper() -> Option<&'static PrometheusHandle> {
    static KEEPER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        let recorder = PrometheusBuilder::new().set_buckets(&SECONDS).ok()?.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).ok()?;
        FIGURES.iter().chain(OWN).for_each(Figure::describe);
        Some(handle)
    };
    KEEPER.get_or_init(install).as_ref()
}

/// Counts a request.
pub(crate) fn count(operation: &str, status: u16, took: Duration) {
    counter!(REQUESTS, "operation" => operation.to_owned(), "status" => status.to_string()).increment(1);
    histogram!(REQUEST_SECONDS, "operation" => operation.to_owned()).record(took);
}

/// Returns the one route of the listener of figures.
pub(crate) fn router(app: &Arc<App>) -> Router {
    Router::new()
        .route("/metrics", get(figures))
        .layer(from_fn_with_state(Arc::clone(app), gate::address))
        .with_state(Arc::clone(app))
}

async fn figures(State(app): State<Arc<App>>) -> Response {
    let status = app.memory.status().await;
    for store in &status.stores {
        gauge!(UP, "part" => store.part).set(f64::from(u8::from(store.health.is_ok())));
    }
    for index in &status.indexes {
        let Ok(backlog) = &index.backlog else { continue };
        let name = index.name.as_str().to_owned();
        gauge!(PENDING, "index" => name.clone()).set(backlog.pending as f64);
        gauge!(DEAD, "index" => name).set(backlog.dead as f64);
    }
    if let Some(JournalStatus { waiting, bytes, refused }) = &status.journal {
        gauge!(WAITING).set(*waiting as f64);
        gauge!(WAITING_BYTES).set(*bytes as f64);
        if let Ok(refused) = refused {
            gauge!(REFUSED).set(*refused as f64);
        }
    }
    let text = keeper().map(PrometheusHandle::render).unwrap_or_default();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PAGE: &str = include_str!("../../docs/operations.md");
    const DASHBOARD: &str = include_str!("../../docs/operations/dashboard.json");
    const SCRAPE: &str = include_str!("../../docs/operations/prometheus.yml");

    fn all() -> impl Iterator<Item = &'static Figure> {
        FIGURES.iter().chain(OWN)
    }

    /// Returns the names of figures that a text holds.
    fn named(text: &str) -> BTreeSet<&str> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let words = text.split(|letter| !is_part(letter));
        words.filter(|word| word.starts_with("memory_") && word.len() > "memory_".len()).collect()
    }

    /// Returns the name of a figure under which a query asks for it.
    fn asked(figure: &Figure) -> Vec<String> {
        let endings: &[&str] =
            if figure.kind == FigureKind::Histogram { &["_bucket", "_sum", "_count"] } else { &[""] };
        endings.iter().map(|ending| format!("{}{ending}", figure.name)).collect()
    }

    #[test]
    fn s3_17_the_page_has_each_figure_once_with_its_labels() {
        let row = |figure: &Figure| {
            let kind = format!("{:?}", figure.kind).to_lowercase();
            let labels: Vec<String> = figure.labels.iter().map(|label| format!("`{label}`")).collect();
            format!("| `{}` | {kind} | {} | {} |", figure.name, labels.join(", "), figure.what)
        };
        let expected: Vec<String> = all().map(row).collect();
        let told: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| `memory_")).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn s3_17_dashboard_and_queries_ask_for_figures_that_there_are() {
        let known: BTreeSet<String> = all().flat_map(asked).collect();
        let unknown: Vec<&str> = named(DASHBOARD).into_iter().filter(|name| !known.contains(*name)).collect();
        assert_eq!(unknown, [""; 0]);
        let queries = PAGE.split("```promql").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        assert!(named(queries).len() >= 4);
        assert!(named(queries).iter().all(|name| known.contains(*name)), "{queries}");
        let asked_for = named(DASHBOARD);
        for figure in all() {
            assert!(
                asked(figure).iter().any(|name| asked_for.contains(name.as_str())),
                "no panel shows {}",
                figure.name
            );
        }
    }

    #[test]
    fn the_dashboard_is_one_and_its_labels_are_those_of_the_figures() {
        let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
        let panels = dashboard["panels"].as_array().unwrap();
        let labels: BTreeSet<&str> = all().flat_map(|figure| figure.labels.iter().copied()).chain(["le"]).collect();
        for panel in panels {
            for target in panel["targets"].as_array().unwrap() {
                let query = target["expr"].as_str().unwrap();
                let by = query.split("by (").skip(1).filter_map(|rest| rest.split(')').next());
                for label in by.flat_map(|list| list.split(',')).map(str::trim) {
                    assert!(labels.contains(label), "{label} in {query}");
                }
            }
        }
        assert!(panels.len() >= 8);
        assert!(SCRAPE.contains("metrics_path: /metrics"));
    }
}
