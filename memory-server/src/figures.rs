//! Figures for whoever runs the server, in the text form of Prometheus, on a listener of their own.
//!
//! | name | labels | what |
//! |---|---|---|
//! | `memory_requests_total` | `operation`, `status` | requests |
//! | `memory_request_seconds` | `operation` | how long they took |
//! | `memory_index_pending`, `memory_index_dead` | `index` | notes that an index has not followed, and that were given up |
//! | `memory_store_up` | `part` | 1 if the store answers |

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::app::App;
use crate::gate;

/// The bounds of the histogram, in seconds.
const SECONDS: [f64; 10] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];

/// Returns what keeps the figures of this process; none if the program keeps them in a way of its own.
pub(crate) fn keeper() -> Option<&'static PrometheusHandle> {
    static KEEPER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        let recorder = PrometheusBuilder::new().set_buckets(&SECONDS).ok()?.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).ok().map(|()| handle)
    };
    KEEPER.get_or_init(install).as_ref()
}

/// Counts a request.
pub(crate) fn count(operation: &str, status: u16, took: Duration) {
    counter!("memory_requests_total", "operation" => operation.to_owned(), "status" => status.to_string()).increment(1);
    histogram!("memory_request_seconds", "operation" => operation.to_owned()).record(took);
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
        gauge!("memory_store_up", "part" => store.part).set(f64::from(u8::from(store.health.is_ok())));
    }
    for index in &status.indexes {
        let Ok(backlog) = &index.backlog else { continue };
        let name = index.name.as_str().to_owned();
        gauge!("memory_index_pending", "index" => name.clone()).set(backlog.pending as f64);
        gauge!("memory_index_dead", "index" => name).set(backlog.dead as f64);
    }
    let text = keeper().map(PrometheusHandle::render).unwrap_or_default();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
