//! Retention: how long, and how much, of what is stored is kept, and for whom.

use std::collections::HashMap;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::scope::Scope;

/// How long, and how much, is kept. What is beyond any of these bounds is forgotten by upkeep, for good and with all that was derived from
/// it, as [`Scoped::forget`](super::Scoped::forget) does. Without a bound everything is kept.
///
/// The bounds of messages hold for each conversation by itself. Its oldest messages go first, by number; an old message that follows
/// 256 younger ones waits for these. A call stays as long as a result of it does. Instructions of the application go only when all
/// messages of the conversation are too old. A summary falls with the oldest message that it covers; what else it covered is in the
/// window again, and may be folded anew. Pinned records and those on hold are never taken, nor is what they were derived from. Records
/// that matter may be kept longer than others ([`Retention::with_importance`]), and of too many those that matter least go first
/// ([`Retention::with_records`]).
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::engine::{MemoryBuilder, Retained, Retention};
///
/// const DAY: Duration = Duration::from_secs(24 * 3_600);
///
/// fn kept(builder: MemoryBuilder) -> MemoryBuilder {
///     let usual = Retention::default().with_age(365 * DAY).with_record_age(730 * DAY);
///     let trial = Retention::default().with_messages(1_000).with_bytes(10 << 20).with_records(10_000);
///     builder.retention(Retained::Everything, usual).retention(Retained::Tenant("trial".to_owned()), trial)
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Retention {
    /// The age from which a message is forgotten, counted from when it was said.
    pub age: Option<Duration>,
    /// How many of the newest numbers of a conversation are kept; numbers of forgotten messages count.
    pub messages: Option<u64>,
    /// How many bytes of a conversation are kept: as many of the newest messages as fit
    /// ([`Message::encoded_len`](crate::Message::encoded_len)).
    pub bytes: Option<u64>,
    /// The age from which a record is forgotten, counted from its newest telling.
    pub record_age: Option<Duration>,
    /// The importance from which a record is kept beyond its age, more than 0 and at most 1 ([`importance`](crate::rank::importance)).
    pub importance: Option<f32>,
    /// How many records of an owner are kept: those that matter most ([`importance`](crate::rank::importance)).
    pub records: Option<u64>,
}

impl Retention {
    /// Sets the age from which a message is forgotten.
    #[must_use]
    pub fn with_age(mut self, age: Duration) -> Self {
        self.age = Some(age);
        self
    }

    /// Sets how many of the newest messages of each conversation are kept.
    #[must_use]
    pub fn with_messages(mut self, messages: u64) -> Self {
        self.messages = Some(messages);
        self
    }

    /// Sets how many bytes of each conversation are kept.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Sets the age from which a record is forgotten.
    #[must_use]
    pub fn with_record_age(mut self, age: Duration) -> Self {
        self.record_age = Some(age);
        self
    }

    /// Sets the importance from which a record is kept beyond its age: 30 % how new it is, 30 % how often it was recalled, 40 % what its
    /// teller said. So an unused record lapses some time after its age, and a record in use is kept.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use memory_core::engine::Retention;
    ///
    /// // After a month a record without a word on its importance is kept if it was recalled nine times.
    /// let month = Duration::from_secs(30 * 24 * 3_600);
    /// let kept = Retention::default().with_record_age(month).with_importance(0.4);
    /// assert!(kept.check().is_ok());
    /// ```
    #[must_use]
    pub fn with_importance(mut self, least: f32) -> Self {
        self.importance = Some(least);
        self
    }

    /// Sets how many records of an owner are kept. Of more, those that matter least are forgotten: upkeep counts the records of each
    /// owner once an hour, and then forgets at most 50,000. What has expired counts no more; what is protected counts, and stays. A
    /// record from which one was derived that is kept stays with it, and the next least goes instead.
    #[must_use]
    pub fn with_records(mut self, records: u64) -> Self {
        self.records = Some(records);
        self
    }

    /// Returns `Ok` if something may be kept.
    ///
    /// # Errors
    /// `Invalid` for a bound of 0, and for an importance that is not above 0 and at most 1.
    pub fn check(&self) -> Result<()> {
        let is_none = |age: Option<Duration>| age.is_some_and(|age| age.is_zero());
        let counts = [self.messages, self.bytes, self.records];
        if is_none(self.age) || is_none(self.record_age) || counts.contains(&Some(0)) {
            return Err(Error::invalid("a retention of 0 keeps nothing: forget instead"));
        }
        if self.importance.is_some_and(|least| !(least > 0.0 && least <= 1.0)) {
            return Err(Error::invalid("an importance from which records are kept is above 0 and at most 1"));
        }
        Ok(())
    }

    /// Returns whether it bounds messages.
    pub(super) fn bounds_messages(&self) -> bool {
        self.age.is_some() || self.messages.is_some() || self.bytes.is_some()
    }
}

/// For whom a retention holds. If several match, only the narrowest applies: a conversation's before its owner's, an owner's before its
/// tenant's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Retained {
    /// All owners.
    Everything,
    /// The owners of a tenant, by its name.
    Tenant(String),
    /// An owner.
    Owner(Scope),
    /// A conversation of an owner; its records are the owner's.
    Session(Scope, SessionId),
}

/// The retention of everybody.
#[derive(Clone, Debug, Default)]
pub(super) struct Retentions {
    all: Retention,
    tenants: HashMap<String, Retention>,
    owners: HashMap<Scope, Retention>,
    sessions: HashMap<Scope, HashMap<SessionId, Retention>>,
}

impl Retentions {
    pub(super) fn set(&mut self, whose: Retained, retention: Retention) {
        match whose {
            Retained::Everything => self.all = retention,
            Retained::Tenant(tenant) => drop(self.tenants.insert(tenant, retention)),
            Retained::Owner(scope) => drop(self.owners.insert(scope, retention)),
            Retained::Session(scope, session) => {
                self.sessions.entry(scope).or_default().insert(session, retention);
            }
        }
    }

    /// Returns `Ok` if each can be kept.
    ///
    /// # Errors
    /// As [`Retention::check`].
    pub(super) fn check(&self) -> Result<()> {
        let sessions = self.sessions.values().flat_map(HashMap::values);
        let mut all = [&self.all].into_iter().chain(self.tenants.values()).chain(self.owners.values()).chain(sessions);
        all.try_for_each(Retention::check)
    }

    /// Returns whether nothing is bounded.
    pub(super) fn is_empty(&self) -> bool {
        let others = self.tenants.is_empty() && self.owners.is_empty() && self.sessions.is_empty();
        others && self.all == Retention::default()
    }

    /// Returns what holds for an owner.
    pub(super) fn of(&self, scope: &Scope) -> Retention {
        let of_tenant = || self.tenants.get(&scope.tenant());
        *self.owners.get(scope).or_else(of_tenant).unwrap_or(&self.all)
    }

    /// Returns what holds for a conversation.
    pub(super) fn of_session(&self, scope: &Scope, session: &SessionId) -> Retention {
        let own = self.sessions.get(scope).and_then(|sessions| sessions.get(session));
        own.copied().unwrap_or_else(|| self.of(scope))
    }

    /// Returns whether any conversation of an owner is bounded.
    pub(super) fn bounds_messages_of(&self, scope: &Scope) -> bool {
        self.sessions.contains_key(scope) || self.of(scope).bounds_messages()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_retention_holds_alone() {
        let [ada, bob] = ["ada", "bob"].map(|subject| Scope::new("acme", subject).unwrap());
        let cy = Scope::new("other", "cy").unwrap();
        let [s, t] = ["s", "t"].map(|name| SessionId::new(name).unwrap());
        let keep = |messages| Retention::default().with_messages(messages);
        let mut retentions = Retentions::default();
        assert!(retentions.is_empty());
        retentions.set(Retained::Everything, keep(1));
        retentions.set(Retained::Tenant("acme".to_owned()), keep(2));
        retentions.set(Retained::Owner(ada.clone()), keep(3));
        retentions.set(Retained::Session(ada.clone(), s.clone()), Retention::default());
        let found = [(&cy, &s), (&bob, &s), (&ada, &t), (&ada, &s)].map(|(who, talk)| retentions.of_session(who, talk));
        assert_eq!(found, [keep(1), keep(2), keep(3), Retention::default()]);
    }

    #[test]
    fn a_retention_of_nothing_is_refused() {
        let none = Retention::default();
        for zero in [none.with_age(Duration::ZERO), none.with_messages(0), none.with_bytes(0), none.with_records(0)] {
            let mut retentions = Retentions::default();
            retentions.set(Retained::Tenant("acme".to_owned()), zero);
            assert!(matches!(retentions.check(), Err(Error::Invalid { .. })), "{zero:?}");
        }
        assert!(none.with_record_age(Duration::ZERO).check().is_err());
        for least in [0.0, -0.5, 1.5, f32::NAN] {
            assert!(none.with_importance(least).check().is_err(), "{least}");
        }
        assert!(none.check().is_ok() && none.with_importance(1.0).check().is_ok());
    }
}
