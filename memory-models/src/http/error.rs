//! From what a server or the way to it says to errors named by remedy.

#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use memory_core::error::{Cause, Error, Transience};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The longest wait that an error tells, whatever a server asks for.
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);

/// The longest answer in which the kind of an error is looked for.
const TELLING_BYTES: usize = 64 << 10;

/// What a server may say of itself that changes what the caller does. Anything else it says may quote what it was sent, or the key.
///
/// Codes of [OpenAI](https://platform.openai.com/docs/guides/error-codes), types of
/// [Anthropic](https://platform.claude.com/docs/en/api/errors) and of text-embeddings-inference (its `openapi.json`).
const KNOWN: [&str; 20] = [
    "api_error",
    "authentication_error",
    "billing_error",
    "context_length_exceeded",
    "insufficient_quota",
    "invalid_api_key",
    "invalid_request_error",
    "model_not_found",
    "not_found_error",
    "overloaded_error",
    "permission_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "request_too_large",
    "server_error",
    "string_above_max_length",
    "timeout_error",
    "tokens_limit_exceeded",
    "unsupported_parameter",
    "unsupported_value",
];

/// What went wrong, in no words of the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The server answered with an error.
    Status {
        /// The HTTP status.
        status: u16,
        /// What kind of error it says it is, if that is known.
        code: Option<&'static str>,
        /// How long it asks to wait.
        after: Option<Duration>,
    },
    /// The server told an error within an answer.
    Told(Option<&'static str>),
    /// The server has asked to wait so long.
    Paused(Duration),
    /// No connection.
    Refused,
    /// No byte for too long.
    Silent,
    /// The call's time is up.
    Late,
    /// The answer broke off.
    Cut,
    /// The answer is longer than it may be.
    TooLong,
    /// The answer is none of this API, for this reason.
    Garbled(&'static str),
    /// The request could not be made.
    Unsent,
    /// Too many calls wait already.
    Crowded,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, code: None, .. } => write!(f, "the server answered {status}"),
            Self::Status { status, code: Some(code), .. } => write!(f, "the server answered {status}, {code}"),
            Self::Told(None) => f.write_str("the server told an error within its answer"),
            Self::Told(Some(code)) => write!(f, "the server told an error within its answer, {code}"),
            Self::Paused(after) => write!(f, "the server asked to wait {} seconds more", after.as_secs().max(1)),
            Self::Refused => f.write_str("no connection to the server"),
            Self::Silent => f.write_str("the server was silent for too long"),
            Self::Late => f.write_str("no whole answer in time"),
            Self::Cut => f.write_str("the answer broke off"),
            Self::TooLong => f.write_str("the answer is longer than it may be"),
            Self::Garbled(why) => write!(f, "the answer is none of this API: {why}"),
            Self::Unsent => f.write_str("the request could not be made"),
            Self::Crowded => f.write_str("too many calls wait"),
        }
    }
}

impl StdError for Fault {}

impl Fault {
    /// Returns the fault that the client met, without its words.
    pub(super) fn of_client(source: &reqwest::Error) -> Self {
        if source.is_connect() {
            Self::Refused
        } else if source.is_timeout() {
            Self::Silent
        } else if source.is_builder() || source.is_redirect() {
            Self::Unsent
        } else {
            Self::Cut
        }
    }

    /// Returns the fault that an answer with an error status tells.
    pub(super) fn of_status(status: u16, body: &[u8], after: Option<Duration>) -> Self {
        let code = serde_json::from_slice(body).ok().and_then(|body: Value| code_of(&body));
        Self::Status { status, code, after }
    }

    /// Returns the fault of an error that an answer tells in place of what was asked for; none if it tells none.
    pub(super) fn told_in(body: &[u8]) -> Option<Self> {
        // A list would be taken for the members in order.
        let body = body.trim_ascii_start();
        serde_json::from_slice::<Telling>(body).ok().filter(|_| body.starts_with(b"{"))?.error?;
        // A value of JSON takes many times its text.
        let body = Some(body).filter(|body| body.len() <= TELLING_BYTES);
        Some(Self::Told(body.and_then(|body| code_of(&serde_json::from_slice(body).ok()?))))
    }

    /// Returns whether the same request may be answered later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Status { code: Some("insufficient_quota" | "billing_error"), .. } => false,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500 | 502..=504 | 520..=529),
            Self::Told(code) => !matches!(
                code,
                Some(
                    "authentication_error"
                        | "billing_error"
                        | "context_length_exceeded"
                        | "insufficient_quota"
                        | "invalid_api_key"
                        | "invalid_request_error"
                        | "model_not_found"
                        | "not_found_error"
                        | "permission_error"
                        | "request_too_large"
                )
            ),
            Self::Paused(_) | Self::Refused | Self::Silent | Self::Late | Self::Cut | Self::Crowded => true,
            Self::TooLong | Self::Garbled(_) | Self::Unsent => false,
        }
    }

    /// Returns whether the call as it is cannot be answered by any model of this kind.
    fn is_the_calls(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 400 | 413 | 422),
            Self::Told(Some("context_length_exceeded" | "invalid_request_error" | "request_too_large")) => true,
            _ => false,
        }
    }

    /// Returns how long the server asks to wait.
    pub(super) fn after(&self) -> Option<Duration> {
        match self {
            Self::Status { after, .. } => after.map(|after| after.min(LONGEST_WAIT)),
            Self::Paused(after) => Some(*after),
            _ => None,
        }
    }

    /// Returns the error of a call to `backend` that met this while `doing` something.
    pub(super) fn while_doing(self, backend: &'static str, doing: &'static str) -> Error {
        if self.is_the_calls() {
            return Error::invalid(format!("{backend} refuses to {doing}: {self}"));
        }
        let transience = match &self {
            Self::Crowded => return Error::Overloaded,
            Self::Late | Self::Silent => Transience::Late,
            fault if fault.may_pass() => Transience::Transient { after: fault.after() },
            _ => Transience::Permanent,
        };
        Error::Backend { backend, doing, transience, source: Cause::new(self) }
    }
}

/// An answer that may tell an error.
#[derive(Deserialize)]
struct Telling {
    error: Option<IgnoredAny>,
}

/// Returns what kind of error an answer tells, if it is a known one. OpenAI has a `code` and a `type` in `error`, Anthropic a `type`,
/// Ollama a text in place of the object.
fn code_of(body: &Value) -> Option<&'static str> {
    let error = body.get("error").unwrap_or(body);
    let names = ["code", "type", "error_type"].into_iter().filter_map(|member| error.get(member)?.as_str());
    names.filter_map(|name| KNOWN.into_iter().find(|known| *known == name)).next()
}
