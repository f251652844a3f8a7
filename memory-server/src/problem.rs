//! What went wrong, as problem JSON: what the caller can do stands in the status and in `retryable`.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use memory::Error;
use serde::Serialize;
use utoipa::ToSchema;

/// An answer that is none: RFC 9457, with `retryable`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: the status and `detail` say it all.
    r#type: &'static str,
    /// The name of the status.
    title: &'static str,
    /// The status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong, in one clause.
    detail: String,
    /// Whether the same request can succeed later.
    retryable: bool,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or_default();
        Self { r#type: "about:blank", title, status: status.as_u16(), detail: detail.into(), retryable: false }
    }

    /// The request is wrong.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// There is no such thing, or it is another owner's: the same answer.
    pub(crate) fn absent(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no such {what}"))
    }

    /// The token is missing, unknown, wrong, expired or revoked: the same answer.
    pub(crate) fn unauthorised() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "a valid token is needed: Authorization: Bearer mem_…")
    }

    /// The same request is welcome in a moment.
    pub(crate) fn later(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::new(status, detail) }
    }

    /// Returns what is wrong in words, and whether the same call may do better.
    pub(crate) fn words(self) -> String {
        if self.retryable { format!("{}; try again", self.detail) } else { self.detail }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Invalid { .. } => StatusCode::BAD_REQUEST,
            Error::Conflict | Error::IdConflict { .. } | Error::Fenced => StatusCode::CONFLICT,
            Error::OverBudget { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Overloaded | Error::QueueFull => StatusCode::SERVICE_UNAVAILABLE,
            Error::Unsupported { .. } | Error::ReadOnly { .. } => StatusCode::NOT_IMPLEMENTED,
            other if other.is_retryable() => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        // Causes may name places; they are for whoever runs the server.
        if status.is_server_error() {
            tracing::warn!(error = error.with_causes(), "a request failed");
        }
        let detail = match &error {
            Error::Invalid { what } => what.clone(),
            other => other.to_string(),
        };
        let retryable = error.is_retryable() || matches!(error, Error::Fenced);
        Self { retryable, ..Self::new(status, detail) }
    }
}

impl From<memory::transfer::Error> for Problem {
    fn from(error: memory::transfer::Error) -> Self {
        use memory::transfer::Error;
        match error {
            Error::Memory(error) => error.into(),
            Error::Busy(_) => Self::later(StatusCode::SERVICE_UNAVAILABLE, "a session is written to meanwhile"),
            other => {
                tracing::warn!(error = %other, "an export failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the export failed")
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let status = self.status();
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"memory\""));
        }
        if self.retryable && matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_did_meanwhile_is_a_conflict() {
        for error in [Error::Conflict, Error::IdConflict { id: "7".to_owned() }, Error::Fenced] {
            assert_eq!(Problem::from(error).status(), StatusCode::CONFLICT);
        }
    }
}
