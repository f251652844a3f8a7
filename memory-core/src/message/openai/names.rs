//! The names in OpenAI's dialect.

/// The members in which chat messages hold the model's reasoning, in the order of their blocks.
pub(super) const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// The kinds of call: a function with `arguments`, and a custom tool with `input`. The member of the kind's name holds the
/// tool's name and its input.
pub(super) const CALLS: [(&str, &str); 2] = [("function", "arguments"), ("custom", "input")];

/// The types of media blocks.
pub(super) const MEDIA: [&str; 3] = ["image_url", "input_audio", "file"];
