//! The synopsis in a context: which halves fit beside what goes before them.

use std::sync::Arc;

use crate::engine::handle::Scoped;
use crate::engine::receipt::{Degraded, PartKind, Reason, Stage, SynopsisShown};
use crate::engine::render;
use crate::engine::synopsis::Synopsis;
use crate::message::Message;
use crate::model::TokenCounter;
use crate::time::Timestamp;

/// One message of a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The part of the context it stands in.
    pub kind: PartKind,
    /// The message to send.
    pub message: Arc<Message>,
    /// Its tokens.
    pub tokens: u64,
}

/// The synopsis of a context.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The message, if it found room.
    pub(crate) part: Option<Part>,
    /// What the receipt tells of it; none if there is no synopsis.
    pub(crate) shown: Option<SynopsisShown>,
}

impl Told {
    /// Returns as many halves as take at most `most` tokens and leave room for what `has_room` is asked about: both, or who the owner
    /// is, or what the owner is about.
    pub(super) fn of(
        synopsis: &Synopsis,
        most: u64,
        counter: &dyn TokenCounter,
        now: Timestamp,
        has_room: impl Fn(u64) -> bool,
    ) -> Self {
        if synopsis.is_empty() {
            return Self::default();
        }
        let of = |identity: bool, context: bool| Synopsis {
            identity: synopsis.identity.clone().filter(|_| identity),
            context: synopsis.context.clone().filter(|_| context),
        };
        for some in [of(true, true), of(true, false), of(false, true)].into_iter().filter(|some| !some.is_empty()) {
            let message = render::synopsis(some.halves().map(|(half, text)| (half.name(), text)), now);
            let tokens = counter.count(&message);
            if tokens <= most && has_room(tokens) {
                let shown = SynopsisShown {
                    tokens,
                    identity: some.identity.is_some(),
                    context: some.context.is_some(),
                    is_stale: some.halves().any(|(_, half)| half.is_stale),
                    history_tokens: some.halves().map(|(_, half)| half.history_tokens).max().unwrap_or(0),
                    left_out: (some != *synopsis).then_some(Reason::NoRoom),
                };
                let part = Part { kind: PartKind::Synopsis, message: Arc::new(message), tokens };
                return Self { part: Some(part), shown: Some(shown) };
            }
        }
        Self { part: None, shown: Some(SynopsisShown { left_out: Some(Reason::NoRoom), ..SynopsisShown::default() }) }
    }

    pub(super) fn tokens(&self) -> u64 {
        self.part.as_ref().map_or(0, |part| part.tokens)
    }
}

impl Scoped {
    /// Returns the owner's synopsis for a context; none if the owner has none. It has the time that a search has for an index.
    pub(super) async fn synopsis_for(&self, is_wanted: bool) -> (Synopsis, Option<Degraded>) {
        let inner = self.inner();
        if !is_wanted || !inner.synopses.has(self.scope()) {
            return (Synopsis::default(), None);
        }
        match inner.in_time("read a synopsis", self.synopsis()).await {
            Ok(synopsis) => (synopsis, None),
            Err(error) => (Synopsis::default(), Some(Degraded::new(Stage::Synopsis, &error))),
        }
    }
}
