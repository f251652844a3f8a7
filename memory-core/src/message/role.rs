//! The roles of speakers, and the levels of trust.

use serde::{Deserialize, Serialize};

/// The role of a speaker, as in chat models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the application.
    System,
    /// Instructions of the application, in the newer wording.
    Developer,
    /// A person.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
    /// The result of a function call, in the older wording.
    Function,
}

impl Role {
    /// Returns the role's name in chat JSON and in filters.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Function => "function",
        }
    }

    /// Returns the role called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::System, Self::Developer, Self::User, Self::Assistant, Self::Tool, Self::Function]
            .into_iter()
            .find(|role| role.name() == name)
    }

    /// Returns whether this is a role of instructions. Whether a message counts as one depends on its trust too:
    /// [`Message::is_instruction`](super::Message::is_instruction).
    pub fn is_instruction(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }

    /// Returns whether messages of this role answer a call.
    pub fn is_result(self) -> bool {
        matches!(self, Self::Tool | Self::Function)
    }
}

/// How far content may be believed, lowest first. Derived content has the lowest trust of its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// From outside, unchecked.
    Untrusted,
    /// From a tool.
    Tool,
    /// From the model.
    Assistant,
    /// From the person.
    User,
    /// From the application.
    System,
}

impl Trust {
    /// Returns the default trust of messages of `role`.
    pub fn of(role: Role) -> Self {
        match role {
            Role::System | Role::Developer => Self::System,
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool | Role::Function => Self::Tool,
        }
    }

    /// Returns the level's name in filters and exports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Tool => "tool",
            Self::Assistant => "assistant",
            Self::User => "user",
            Self::System => "system",
        }
    }
}
