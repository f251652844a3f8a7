//! What the model's errors mean.

use memory_core::{Cause, Error, Transience};

/// Returns the library's error for one of the model's. Its texts never hold what was to be embedded.
pub(super) fn classify(source: pocket_encoder::Error, doing: &'static str) -> Error {
    match source {
        pocket_encoder::Error::Input(what) => Error::invalid(what),
        source @ pocket_encoder::Error::Inference(_) => failed(source, doing),
    }
}

/// Returns the error of a thread that was stopped, or that panicked.
pub(super) fn stopped(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    failed(source, "embed")
}

/// Returns the error for vectors that add up to nothing.
pub(super) fn no_vector() -> Error {
    Error::invalid("the windows of the text point in opposite directions")
}

/// Nothing of it passes by itself: same text, same weights, same outcome.
fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>, doing: &'static str) -> Error {
    Error::Backend { backend: "local", doing, transience: Transience::Permanent, source: Cause::new(source) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_input_is_the_callers_and_the_rest_does_not_pass() {
        let input = classify(pocket_encoder::Error::Input("text must not be empty"), "embed");
        assert!(matches!(input, Error::Invalid { .. }));
        let inference = classify(pocket_encoder::Error::Inference("shape".to_owned()), "embed");
        assert!(!inference.is_retryable());
        assert_eq!(inference.to_string(), "local failed to embed");
    }
}
