//! Names of the dialect.

/// The members in which chat messages hold the model's reasoning, in the order of their blocks.
pub(super) const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// The kinds of call: a function with `arguments`, and a custom tool with `input`. The kind names the member that holds
/// the tool's name and words.
pub(super) const CALLS: [(&str, &str); 2] = [("function", "arguments"), ("custom", "input")];

/// The types of pieces that are media.
pub(super) const MEDIA: [&str; 3] = ["image_url", "input_audio", "file"];
