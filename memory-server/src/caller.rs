//! Who calls: the owner that the token names, and what may be done there. A handler reaches data by [`Reads`], [`Writes`] or
//! [`Forgets`] alone, so none is without an owner, and none without a right.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderMap};
use axum::http::request::Parts;
use memory::{Gate, Memory, Remember, Scope, Scoped, Timestamp};

use crate::access::Tokens;
use crate::problem::Problem;
use crate::token::{Grant, Right};

/// The header by which the holder of a tenant's token says whose memory is meant.
pub(crate) const SUBJECT: &str = "memory-subject";

/// Who calls.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) grant: Arc<Grant>,
    scoped: Scoped,
}

impl Caller {
    /// Returns who calls, by the headers of the request.
    pub(crate) fn of(headers: &HeaderMap, tokens: &Tokens, memory: &Memory) -> Result<Self, Problem> {
        let grant = bearer(headers).and_then(|token| tokens.find(token, memory.now()));
        let grant = grant.ok_or_else(Problem::unauthorised)?;
        let scope = owner(&grant, headers)?;
        Ok(Self { scoped: memory.of(&scope), grant })
    }

    /// Returns who calls where no request comes: a process that serves one owner.
    pub(crate) fn trusted(scoped: Scoped, grant: Grant) -> Self {
        Self { grant: Arc::new(grant), scoped }
    }

    /// Returns the same with a handle that has seen nothing of the owner yet, as each request over HTTP has one. A handle that was used
    /// before an erasure of the owner writes no more.
    pub(crate) fn anew(&self) -> Self {
        Self { grant: Arc::clone(&self.grant), scoped: self.scoped.memory().of(self.scoped.scope()) }
    }

    /// Returns the present time.
    pub(crate) fn now(&self) -> Timestamp {
        self.scoped.memory().now()
    }

    /// Returns whether the caller may be told what is known. Who may write alone is answered as if nothing was.
    pub(crate) fn may_read(&self) -> bool {
        self.grant.rights().allow(Right::Read)
    }

    /// Returns what is to be remembered, past the gate of the memory where the caller may not be told what is known: which record it
    /// repeats would tell.
    pub(crate) fn past_the_gate(&self, remember: Remember) -> Remember {
        match self.scoped.memory().defaults().gate {
            Some(_) if !self.may_read() => remember.gated(Gate::default().with_threshold(0.0)),
            _ => remember,
        }
    }

    /// Returns the owner's memory if the token allows that.
    pub(crate) fn allowed(&self, right: Right) -> Result<&Scoped, Problem> {
        if self.grant.rights().allow(right) {
            return Ok(&self.scoped);
        }
        let name = match right {
            Right::Read => "read",
            Right::Write => "write",
            Right::Forget => "forget",
        };
        Err(Problem::new(StatusCode::FORBIDDEN, format!("the token has no right to {name}")))
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// Returns the owner: the token's, or of its tenant the subject that the header names.
fn owner(grant: &Grant, headers: &HeaderMap) -> Result<Scope, Problem> {
    let mut named = headers.get_all(SUBJECT).iter();
    let subject = match (named.next(), named.next()) {
        (None, _) => None,
        (Some(one), None) => Some(std::str::from_utf8(one.as_bytes()).map_err(|_| unclear())?),
        (Some(_), Some(_)) => return Err(unclear()),
    };
    let subject = match subject {
        // It means every subject, and is none.
        Some(subject) if grant.is_of_tenant() && subject == grant.subject() => return Err(unclear()),
        // It comes from outside, and names no agent and no team.
        Some(subject) if grant.is_of_tenant() => return Ok(Scope::new(grant.tenant(), subject)?),
        None if grant.is_of_tenant() => return Err(unclear()),
        Some(subject) if subject != grant.subject() => {
            return Err(Problem::new(StatusCode::FORBIDDEN, "the token is of another subject"));
        }
        _ => grant.subject(),
    };
    Ok(Scope::from_names(grant.tenant(), subject)?)
}

fn unclear() -> Problem {
    Problem::bad("the token is of a whole tenant: name one subject in the header Memory-Subject")
}

macro_rules! callers {
    ($($(#[$doc:meta])* $name:ident: $right:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name(pub(crate) Scoped);

        impl<S: Sync> FromRequestParts<S> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
                let caller = parts.extensions.get::<Caller>().ok_or_else(Problem::unauthorised)?;
                caller.allowed($right).cloned().map(Self)
            }
        }
    )*};
}

callers! {
    /// The memory of an owner, to be read.
    Reads: Right::Read;
    /// The memory of an owner, to be written.
    Writes: Right::Write;
    /// The memory of an owner, of which something is to be forgotten.
    Forgets: Right::Forget;
}
