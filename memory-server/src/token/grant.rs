//! What a token opens: whose memory, what may be done there, and until when.

use std::str::FromStr;

use memory::store::Digest;
use memory::{Error, Result, Scope, Timestamp};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::{Token, hex, unhex};

/// The subject of a token that opens a whole tenant.
const ANY: &str = "*";

/// Something that a token may allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// To read, search and export.
    Read,
    /// To store and to change.
    Write,
    /// To delete for good.
    Forget,
}

/// What a token allows: `read,write,forget` or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rights(Vec<Right>);

impl Rights {
    /// Returns all rights.
    pub fn all() -> Self {
        Self(vec![Right::Read, Right::Write, Right::Forget])
    }

    /// Returns whether `right` is among them.
    pub fn allow(&self, right: Right) -> bool {
        self.0.contains(&right)
    }

    /// Returns their names, with commas between.
    pub fn names(&self) -> String {
        let names = self.0.iter().map(|right| match right {
            Right::Read => "read",
            Right::Write => "write",
            Right::Forget => "forget",
        });
        names.collect::<Vec<_>>().join(",")
    }
}

impl FromStr for Rights {
    type Err = Error;

    /// Reads names with commas between.
    ///
    /// # Errors
    /// `Invalid` for another name, and for none.
    fn from_str(text: &str) -> Result<Self> {
        let mut rights = Vec::new();
        for name in text.split(',').map(str::trim) {
            rights.push(match name {
                "read" => Right::Read,
                "write" => Right::Write,
                "forget" => Right::Forget,
                _ => return Err(Error::invalid("the rights are read, write and forget, with commas between")),
            });
        }
        rights.sort();
        rights.dedup();
        Ok(Self(rights))
    }
}

/// What is known of a token: never its secret, of which the digest is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    id: String,
    digest: Digest,
    tenant: String,
    /// None for every subject of the tenant.
    subject: Option<String>,
    rights: Rights,
    made_at: Timestamp,
    expires_at: Option<Timestamp>,
}

/// A grant as the file holds it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    id: String,
    sha256: String,
    tenant: String,
    subject: String,
    rights: Rights,
    made_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

impl Grant {
    /// Lets `token` open the memory of `subject` in `tenant`; of every subject, if it is `*`.
    ///
    /// # Errors
    /// `Invalid` for names that no owner has.
    pub fn new(token: &Token, tenant: &str, subject: &str, rights: Rights, made_at: Timestamp) -> Result<Self> {
        Scope::from_names(tenant, subject)?;
        let (id, digest) = (token.id.clone(), token.digest());
        let subject = (subject != ANY).then(|| subject.to_owned());
        Ok(Self { id, digest, tenant: tenant.to_owned(), subject, rights, made_at, expires_at: None })
    }

    /// Lets it open nothing from `at` on.
    #[must_use]
    pub fn expiring(mut self, at: Timestamp) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Returns the public id of the token.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the tenant.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Returns the subject, `*` for every one of the tenant.
    pub fn subject(&self) -> &str {
        self.subject.as_deref().unwrap_or(ANY)
    }

    /// Returns what it allows.
    pub fn rights(&self) -> &Rights {
        &self.rights
    }

    /// Returns when it was made.
    pub fn made_at(&self) -> Timestamp {
        self.made_at
    }

    /// Returns when it expires.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// Returns whether it opens every subject of its tenant.
    pub(crate) fn is_of_tenant(&self) -> bool {
        self.subject.is_none()
    }

    /// Returns whether `token` holds the secret, in a time that does not tell how much of it is right.
    pub(crate) fn is_of(&self, token: &Token) -> bool {
        self.digest.0.ct_eq(&token.digest().0).into()
    }

    /// Returns whether it has expired at `now`.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Returns a grant that no token has, to compare with where none is found.
    pub(crate) fn of_nobody() -> Self {
        Self {
            id: String::new(),
            digest: Digest([0; 32]),
            tenant: String::new(),
            subject: None,
            rights: Rights(Vec::new()),
            made_at: Timestamp(0),
            expires_at: Some(Timestamp(i64::MIN)),
        }
    }

    pub(super) fn to_row(&self) -> Row {
        Row {
            id: self.id.clone(),
            sha256: hex(&self.digest.0),
            tenant: self.tenant.clone(),
            subject: self.subject().to_owned(),
            rights: self.rights.clone(),
            made_at: self.made_at,
            expires_at: self.expires_at,
        }
    }

    pub(super) fn of_row(row: Row) -> Option<Self> {
        let Row { id, sha256, tenant, subject, rights, made_at, expires_at } = row;
        Scope::from_names(&tenant, &subject).ok()?;
        let subject = (subject != ANY).then_some(subject);
        Some(Self { digest: unhex(&sha256)?, id, tenant, subject, rights, made_at, expires_at })
    }
}
