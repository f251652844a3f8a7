//! Owners. Every call that touches data takes a [`Scope`]; there is no default and no wildcard.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::number;

/// The longest part of a scope, and the longest session name, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// What the subjects of agents and of teams begin with, and no other.
const AGENT: &str = "@agent/";
const TEAM: &str = "@team/";

/// The owner of data: a tenant and a subject within it. An agent and a team are subjects that no person can be.
///
/// Two scopes are the same owner exactly if both parts are byte for byte equal: no case folding, no Unicode
/// normalisation, no prefixes. Cheap to clone.
///
/// ```
/// use memory_core::Scope;
///
/// let ada = Scope::new("acme", "ada")?;
/// let planner = Scope::agent("acme", "planner")?;
/// let travel = Scope::team("acme", "travel")?;
/// assert_ne!(planner, Scope::new("acme", "planner")?);
/// assert!(Scope::new("acme", &planner.subject()).is_err(), "nobody can sign up as the agent");
/// # Ok::<(), memory_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    key: Arc<str>,
}

impl Scope {
    /// Returns the scope of `subject` within `tenant`, each 1 to 255 bytes of any text, but for subjects that begin as those of agents
    /// and teams do: `@agent/` and `@team/`. So a subject may come from outside.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a part is empty or longer than 255 bytes, or if the subject is an agent's or a team's.
    pub fn new(tenant: &str, subject: &str) -> Result<Self> {
        if let Some(kind) = [AGENT, TEAM].into_iter().find(|kind| subject.starts_with(kind)) {
            return Err(Error::invalid(format!("a subject that begins with {kind} is no person's")));
        }
        Self::from_names(tenant, subject)
    }

    /// Returns the scope of an agent within `tenant`: what it alone remembers, whoever it works for. A context shows it to others only
    /// where they name it ([`ContextRequest::sharing`](crate::engine::ContextRequest::sharing)).
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tenant is empty or longer than 255 bytes, or the name of the agent empty or longer than 248.
    pub fn agent(tenant: &str, agent: &str) -> Result<Self> {
        Self::of_kind(tenant, AGENT, agent)
    }

    /// Returns the scope of a team within `tenant`: what its members share by naming it
    /// ([`ContextRequest::sharing`](crate::engine::ContextRequest::sharing)), and its board.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tenant is empty or longer than 255 bytes, or the name of the team empty or longer than 249.
    pub fn team(tenant: &str, team: &str) -> Result<Self> {
        Self::of_kind(tenant, TEAM, team)
    }

    fn of_kind(tenant: &str, kind: &str, name: &str) -> Result<Self> {
        check_name(name, "the name")?;
        Self::from_names(tenant, &format!("{kind}{name}"))
    }

    /// Returns the scope that has this [`Scope::tenant`] and [`Scope::subject`], be it of an agent or a team too. For names that were
    /// shown or chosen by whoever keeps the memory; who comes from outside is a [`Scope::new`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if a part is empty or longer than 255 bytes.
    pub fn from_names(tenant: &str, subject: &str) -> Result<Self> {
        check_name(tenant, "the tenant")?;
        check_name(subject, "the subject")?;
        Ok(Self { key: format!("{}.{}", encode(tenant), encode(subject)).into() })
    }

    /// Returns the one encoding of this owner: injective, ASCII letters, digits, `-`, `_` and one `.`.
    ///
    /// Safe as a Redis hash tag, SQL value, payload keyword and routing value. Compare it for equality only.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the scope that [`Scope::key`] gave `key` for.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no scope has that key.
    pub fn from_key(key: &str) -> Result<Self> {
        let scope = key.split_once('.').and_then(|(tenant, subject)| {
            let scope = Self::from_names(&decode(tenant)?, &decode(subject)?).ok()?;
            (scope.key() == key).then_some(scope)
        });
        scope.ok_or_else(|| Error::invalid("not the key of a scope"))
    }

    /// Returns the tenant's name.
    pub fn tenant(&self) -> String {
        self.part(0)
    }

    /// Returns the subject's name, with what tells an agent's or a team's from others.
    pub fn subject(&self) -> String {
        self.part(1)
    }

    fn part(&self, index: usize) -> String {
        self.key.split('.').nth(index).and_then(decode).unwrap_or_default()
    }
}

/// Written as its [`Scope::key`].
impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({})", self.key)
    }
}

/// How often an owner has been erased. Writes that carry an older epoch are refused or dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Returns `Ok` if an owner's epoch can rise on from here. Truth stores check the bound of every erasure.
    ///
    /// # Errors
    /// [`Error::Invalid`] above [`LARGEST`](crate::number::LARGEST).
    pub fn check(self) -> Result<()> {
        number::check("an epoch", self.0)
    }
}

pub(crate) fn check_name(name: &str, what: &str) -> Result<()> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(Error::invalid(format!("{what} must hold 1 to {MAX_NAME_BYTES} bytes, not {}", name.len())));
    }
    Ok(())
}

/// Returns `name` with every byte but ASCII letters, digits and `-` written as `_` and two hex digits.
pub(crate) fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("_{byte:02x}"));
        }
    }
    out
}

/// Returns the name that [`encode`] gave `key` for, if there is one.
pub(crate) fn decode(key: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(key.len());
    let mut rest = key.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'_' {
            let hex = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    (encode(&name) == key).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names over an alphabet that has broken other libraries.
    fn hostile() -> impl Strategy<Value = String> {
        let letters = prop::sample::select(vec![
            "a", "b", "A", ":", ".", "-", "_", "*", "?", "[", "]", "%", "\\", "/", "{", "}", " ", "\0", "\n", "é",
            "e\u{301}", "\u{202e}", "用", "😀", "_2e",
        ]);
        prop::collection::vec(letters, 1..5).prop_map(|parts| parts.concat())
    }

    proptest! {
        // `PROPTEST_CASES` asks for more.
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(20_000)))]
        #[test]
        fn keys_are_injective_over_hostile_names(a in (hostile(), hostile()), b in (hostile(), hostile())) {
            let (x, y) = (Scope::new(&a.0, &a.1).unwrap(), Scope::new(&b.0, &b.1).unwrap());
            prop_assert_eq!(x.key() == y.key(), a == b);
            prop_assert_eq!((x.tenant(), x.subject()), a);
            prop_assert!(x.key().bytes().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(&c)));
            prop_assert_eq!(Scope::from_key(x.key()).unwrap(), x);
        }

        #[test]
        fn agents_and_teams_share_no_key_with_anyone(a in (hostile(), hostile()), b in (hostile(), hostile())) {
            let (agent, other) = (Scope::agent(&a.0, &a.1).unwrap(), Scope::agent(&b.0, &b.1).unwrap());
            let (team, person) = (Scope::team(&b.0, &b.1).unwrap(), Scope::new(&b.0, &b.1).unwrap());
            prop_assert_eq!(agent == other, a == b);
            prop_assert!(agent != team && agent != person && team != person && other != team && other != person);
        }
    }

    #[test]
    fn no_subject_from_outside_is_an_agent_or_a_team() {
        for scope in [Scope::agent("acme", "planner").unwrap(), Scope::team("acme", "planner").unwrap()] {
            let subject = scope.subject();
            assert!(matches!(Scope::new("acme", &subject), Err(Error::Invalid { .. })), "{subject}");
            assert_eq!(Scope::from_names("acme", &subject).unwrap(), scope);
            assert_eq!(Scope::from_key(scope.key()).unwrap(), scope);
        }
        for name in ["", &*"x".repeat(250)] {
            assert!(matches!(Scope::agent("acme", name), Err(Error::Invalid { .. })));
            assert!(matches!(Scope::team("acme", name), Err(Error::Invalid { .. })));
        }
        assert!(Scope::agent("acme", &"x".repeat(248)).is_ok() && Scope::team("acme", &"x".repeat(249)).is_ok());
    }

    #[test]
    fn refuses_empty_and_overlong_parts() {
        for (tenant, subject) in [("", "a"), ("a", ""), (&*"x".repeat(256), "a"), ("a", &*"é".repeat(128))] {
            assert!(matches!(Scope::new(tenant, subject), Err(Error::Invalid { .. })));
        }
        assert!(Scope::new(&"x".repeat(255), "a").is_ok());
    }

    #[test]
    fn refuses_keys_that_no_scope_has() {
        for key in ["", "a", ".", "a.", ".b", "a.b.c", "a.b_", "a.b_4", "a.b_41", "a.b_zz", "a.b_FF", "é.b", "a.b_ff"]
        {
            assert!(Scope::from_key(key).is_err(), "{key}");
        }
    }
}
