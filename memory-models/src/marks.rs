//! What is given to a model as data, between marks that no text of it can end.

/// Returns a text as it stands between marks.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns a text as it stands within a mark.
pub(crate) fn attribute(text: &str) -> String {
    escaped(text).replace('"', "&quot;").replace('\n', " ")
}
