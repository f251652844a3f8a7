//! Models that answer: messages in, text out.

use std::fmt::Debug;

use async_trait::async_trait;
use memory_core::{Message, Result};

/// Answers conversations.
///
/// The model is sent the messages of a request as they are, and may end its answer early: [`Answer::stop`] tells. A call that is
/// dropped asks for nothing more.
///
/// ```
/// use async_trait::async_trait;
/// use memory_core::{Message, Result};
/// use memory_models::{Answer, ChatModel, ChatRequest, Pieces, StopReason};
///
/// /// Says how much it was told.
/// #[derive(Debug)]
/// struct Counts;
///
/// #[async_trait]
/// impl ChatModel for Counts {
///     fn name(&self) -> &str {
///         "counts"
///     }
///
///     async fn answer(&self, request: &ChatRequest) -> Result<Answer> {
///         Ok(Answer { text: format!("{} messages", request.messages.len()), stop: StopReason::End, usage: None })
///     }
///
///     async fn stream(&self, request: &ChatRequest, piece: &mut Pieces<'_>) -> Result<Answer> {
///         let answer = self.answer(request).await?;
///         piece(&answer.text);
///         Ok(answer)
///     }
/// }
/// ```
#[async_trait]
pub trait ChatModel: Debug + Send + Sync + 'static {
    /// Returns the model's name, which stands in what is derived from its answers.
    fn name(&self) -> &str;

    /// Returns the answer as a whole.
    async fn answer(&self, request: &ChatRequest) -> Result<Answer>;

    /// Gives the answer to `piece` as it comes, and returns it when it is whole: its text is that of all pieces together.
    ///
    /// # Errors
    /// After pieces, an error says that the answer broke off: what was given is no whole answer, and must not be kept as one.
    async fn stream(&self, request: &ChatRequest, piece: &mut Pieces<'_>) -> Result<Answer>;
}

/// Takes the pieces of an answer as they come.
pub type Pieces<'a> = dyn FnMut(&str) + Send + 'a;

/// What a model is asked.
///
/// ```
/// use memory_core::{Message, Role, Timestamp};
/// use memory_models::ChatRequest;
///
/// let question = Message::new(Role::User, "What is the capital of Peru?", Timestamp(0));
/// let request = ChatRequest::new(vec![question]).with_max_tokens(200);
/// assert_eq!(request.max_tokens, Some(200));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The messages, oldest first, such as `Context::messages` gives them.
    pub messages: Vec<Message>,
    /// The most tokens that the answer may have, thinking included; unless given, what the model takes by itself.
    pub max_tokens: Option<u64>,
    /// How freely the model chooses its words, 0 for the likeliest; unless given, what the model takes by itself.
    pub temperature: Option<f32>,
}

impl ChatRequest {
    /// Returns a request to answer `messages`.
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, max_tokens: None, temperature: None }
    }

    /// Sets the most tokens that the answer may have.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets how freely the model chooses its words.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its words, without what the model thought.
    pub text: String,
    /// Why it ended.
    pub stop: StopReason,
    /// The tokens that it took, if the model tells.
    pub usage: Option<Usage>,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The model had said all.
    End,
    /// It reached the most tokens that it might have, so it is cut.
    Length,
    /// The model, or who runs it, refused to say more.
    Refused,
    /// The model wants a tool to be called.
    Tool,
    /// For another reason.
    Other,
}

impl StopReason {
    /// Returns its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Tool => "tool",
            Self::Other => "other",
        }
    }
}

/// Tokens as the model counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the request, those that a cache held included.
    pub input: u64,
    /// Of the answer, thinking included.
    pub output: u64,
}
