//! The document of all operations.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::http::Response;
use utoipa::openapi::OpenApi;

use super::{Problems, json};
use crate::caller::Reads;

/// Returns this document.
#[utoipa::path(get, path = "/v1/openapi.json", tag = "server", security(("token" = [])),
    responses((status = 200, description = "OpenAPI 3.1.", body = Object), Problems))]
pub(crate) async fn document(_: Reads, Extension(document): Extension<Arc<OpenApi>>) -> Response<Body> {
    json(&*document)
}
