//! How a file is to be read, and what it does not say itself.

use memory_core::{Scope, Timestamp};

use super::format::Format;

/// The longest line or element that is read, in bytes.
const LONGEST: usize = 32 << 20;

/// How a file is to be read, and what it does not say itself: the owner, a session, a time.
#[derive(Clone, Debug)]
pub struct Source {
    /// The format; told by the content if none.
    pub(super) format: Option<Format>,
    /// The session of messages that name none.
    pub(super) session: String,
    /// The beginning of the names of conversations that have none.
    pub(super) stem: String,
    /// Whether the first of these conversations is named by the session instead, and the others by it and their number.
    pub(super) names_conversations: bool,
    /// The time of messages that have none.
    pub(super) now: Timestamp,
    /// Tenant and subject of the owner who imports. An export of another owner is not trusted by itself.
    pub(super) owner: (String, String),
    /// Whether messages speak with the trust of the roles that the file gives them.
    pub(super) trusts_roles: bool,
    /// The longest line or element that is read, in bytes.
    pub(super) longest: usize,
    /// The name of the file, if it stands among others of which not each holds conversations.
    pub(super) among_others: Option<String>,
}

impl Source {
    /// Returns a source whose format is told by its content, read for `owner`.
    ///
    /// Messages that name no session come into `session`; those without a time are given `now`, and keep it when the
    /// file is imported again.
    pub fn new(owner: &Scope, session: &str, now: Timestamp) -> Self {
        Self {
            format: None,
            session: session.to_owned(),
            stem: session.to_owned(),
            names_conversations: false,
            now,
            owner: (owner.tenant(), owner.subject()),
            trusts_roles: false,
            longest: LONGEST,
            among_others: None,
        }
    }

    /// Sets the format.
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the stem of names for conversations without one: a `/` and the number of the line that they begin on follow it. Default the
    /// session.
    #[must_use]
    pub fn with_stem(self, stem: impl Into<String>) -> Self {
        Self { stem: stem.into(), ..self }
    }

    /// Lets the session name conversations without a name too: the first one is that session, the second one `SESSION.2`, and so on
    /// over all files in their order. Default: they are named by the stem and their line.
    #[must_use]
    pub fn naming_conversations(self) -> Self {
        Self { names_conversations: true, ..self }
    }

    /// Lets messages speak with the trust of the roles that the file gives them, so that its system messages become
    /// instructions, and accepts an export of another owner. Default: what a file says is trusted as little as a
    /// document, but for an export of the same owner.
    #[must_use]
    pub fn trusting_roles(self) -> Self {
        Self { trusts_roles: true, ..self }
    }
}
