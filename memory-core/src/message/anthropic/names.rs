//! The names in Anthropic's dialect.

/// The type of a call, which its [`super::Block::ToolCall`] keeps.
pub(crate) const CALL: &str = "tool_use";
/// The type of a result.
pub(crate) const RESULT: &str = "tool_result";
/// The type of a reasoning block, and the member that holds its text.
pub(crate) const THINKING: &str = "thinking";
/// The types of media blocks.
pub(crate) const MEDIA: [&str; 2] = ["image", "document"];
/// The types of blocks that no other dialect has.
const OWN: [&str; 7] = [CALL, RESULT, THINKING, "redacted_thinking", "image", "document", "server_tool_use"];

/// Returns whether no other dialect has blocks of the type `kind`.
pub(crate) fn is_own(kind: &str) -> bool {
    OWN.contains(&kind)
}
