//! The sample conversation inside the program, with questions and their answers.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The messages, a line each, as `memory import` reads them.
pub(crate) const MESSAGES: &str = include_str!("sample/messages.jsonl");

const QUESTIONS: &str = include_str!("sample/questions.json");

/// What is asked of the sample.
#[derive(Debug, Deserialize)]
pub(crate) struct Questions {
    /// Questions with the places of their answers.
    pub(crate) recall: Vec<Question>,
    /// Questions that share no word with their answers; the first is shown by `memory demo`.
    pub(crate) in_other_words: Vec<Question>,
    /// Moments of a conversation in which a model is asked.
    pub(crate) context: Vec<Situation>,
}

/// A question, and where its answer is.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Question {
    /// Its words.
    pub(crate) question: String,
    /// The answer.
    pub(crate) answer: String,
    /// The messages that hold the answer, as `session#number`.
    pub(crate) evidence: Vec<String>,
}

/// A moment of a conversation.
#[derive(Debug, Deserialize)]
pub(crate) struct Situation {
    /// The session.
    pub(crate) session: String,
    /// What the person says.
    pub(crate) query: String,
    /// The tokens that a context may have.
    pub(crate) budget: u64,
}

/// Reads the questions.
pub(crate) fn questions() -> Result<Questions, Failure> {
    serde_json::from_str(QUESTIONS).map_err(|error| Failure::Inner(format!("the questions are damaged: {error}")))
}
