//! Refusing a method that an address does not take: the answer names those that it takes.

use std::sync::Arc;

use axum::Extension;
use axum::extract::MatchedPath;
use axum::http::{Method, StatusCode};
use utoipa::openapi::OpenApi;

use crate::problem::Problem;

/// A longer method is not repeated.
const LONGEST: usize = 16;

/// Refuses the method of a request.
pub(crate) async fn refuse(method: Method, path: MatchedPath, Extension(document): Extension<Arc<OpenApi>>) -> Problem {
    let taken = taken(&document, path.as_str());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, words(method.as_str(), &taken))
}

/// Returns the methods that an address takes. What is no operation of the document is a file or a state to be read.
fn taken(document: &OpenApi, path: &str) -> Vec<&'static str> {
    let Some(item) = document.paths.paths.get(path) else { return vec!["GET"] };
    let methods = [("GET", &item.get), ("POST", &item.post), ("PUT", &item.put), ("DELETE", &item.delete)];
    methods.into_iter().filter(|(_, operation)| operation.is_some()).map(|(method, _)| method).collect()
}

/// Returns why a method is refused where these are taken.
fn words(method: &str, taken: &[&str]) -> String {
    let method = if method.len() > LONGEST { "this method" } else { method };
    format!("{method} is not for this address: use {}", taken.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn the_methods_that_are_taken_are_named() {
        assert_eq!(words("PUT", &["POST"]), "PUT is not for this address: use POST");
        assert_eq!(words("PATCH", &["GET", "PUT"]), "PATCH is not for this address: use GET or PUT");
        assert_eq!(words(&"X".repeat(99), &["GET"]), "this method is not for this address: use GET");
    }
}
