//! Whether the server runs, and whether it can answer. Neither needs a token, and neither tells anything of an owner.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;
use serde_json::json;

use super::json as answer;
use crate::app::App;
use crate::problem::Problem;

/// Says that the server runs.
pub(crate) async fn health() -> Response<Body> {
    answer(&json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// Says whether the stores answer, and the server is not about to stop.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    let not_ready = |why| Problem::later(StatusCode::SERVICE_UNAVAILABLE, why).into_response();
    if app.is_draining() {
        return not_ready("the server is about to stop");
    }
    if app.answers().await { answer(&json!({ "status": "ready" })) } else { not_ready("a store does not answer") }
}
