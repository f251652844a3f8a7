//! `memory token`: who may call a server.

use std::io;

use memory::edge;
use memory::store::time::{Clock as _, SystemClock};
use memory_server::{Grant, Rights, Token, TokenFile};
use serde_json::{Value, json};

use super::call::EVERY;
use crate::cli::{Global, Token as Args, TokenChange, TokensAt};
use crate::config::{in_data_folder, owner};
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};

/// Makes, lists or revokes tokens.
pub(crate) fn run(global: &Global, args: &Args, output: &mut Output) -> Result<Outcome, Failure> {
    match &args.change {
        TokenChange::New { rights, expires, file } => fresh(global, rights, *expires, &self::file(file)?, output),
        TokenChange::List { file } => list(&self::file(file)?, output),
        TokenChange::Revoke { ids, file } => revoke(ids, &self::file(file)?, output),
    }
}

/// Returns the file of tokens.
pub(crate) fn file(at: &TokensAt) -> Result<TokenFile, Failure> {
    match &at.path {
        Some(path) => Ok(TokenFile::at(path)),
        None => in_data_folder("tokens.json", "say where with --tokens FILE").map(TokenFile::at),
    }
}

/// Says what is wrong with the file.
pub(crate) fn unusable(file: &TokenFile, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("the file of tokens {} cannot be used: {error}", file.path().display()))
}

fn fresh(
    global: &Global,
    rights: &Rights,
    expires: Option<std::time::Duration>,
    file: &TokenFile,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let owner = owner(global.tenant.as_deref(), global.subject.as_deref())?;
    if expires.is_some_and(|expires| expires.is_zero()) {
        return Err(Failure::Usage("--expires must be longer than zero".to_owned()));
    }
    let now = SystemClock.now();
    let token = Token::fresh().map_err(|error| Failure::Inner(format!("there are no random bytes: {error}")))?;
    let mut grant = Grant::new(&token, &owner.tenant(), &owner.subject(), rights.clone(), now)?;
    if let Some(expires) = expires {
        grant = grant.expiring(now.checked_add(expires)?);
    }
    file.add(grant.clone()).map_err(|error| unusable(file, &error))?;
    if let Err(failure) = show(&token, &grant, output) {
        // Nobody knows it, so nobody would revoke it.
        file.remove(grant.id()).map_err(|error| unusable(file, &error))?;
        return Err(failure);
    }
    Ok(Outcome::Done)
}

/// Shows a token this once. Fails also if nobody reads it.
fn show(token: &Token, grant: &Grant, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        output.json(&edge::with(as_json(grant), json!({ "token": token.reveal() })))?;
    } else {
        // Broken at the width of a terminal, it would be copied with a line break.
        output.whole(&token.reveal())?;
    }
    output.flush()?;
    if output.is_closed() {
        return Err(Failure::Output(io::Error::other("nobody reads it, so no token was made")));
    }
    if !output.is_json() {
        say(&format!("shown this once; {}", of(grant)));
    }
    Ok(())
}

fn list(file: &TokenFile, output: &mut Output) -> Result<Outcome, Failure> {
    let grants = file.grants().map_err(|error| unusable(file, &error))?;
    if output.is_json() {
        output.json(&json!({ "tokens": grants.iter().map(as_json).collect::<Vec<Value>>() }))?;
    } else {
        grants.iter().try_for_each(|grant| output.line(&format!("{}  {}", grant.id(), of(grant))))?;
        if grants.is_empty() {
            output.line("no tokens: `memory token new` makes one")?;
        }
    }
    Ok(Outcome::Done)
}

fn revoke(ids: &[String], file: &TokenFile, output: &mut Output) -> Result<Outcome, Failure> {
    let mut unknown = 0;
    for id in ids.iter().map(|text| Token::id_in(text)) {
        let was_there = file.remove(id).map_err(|error| unusable(file, &error))?;
        unknown += usize::from(!was_there);
        let outcome = if was_there { "revoked" } else { "unknown" };
        if output.is_json() {
            output.json(&json!({ "id": id, "outcome": outcome }))?;
        } else {
            output.line(&format!("{id} {outcome}"))?;
        }
    }
    Ok(if unknown == 0 { Outcome::Done } else { Outcome::Partial })
}

/// Returns what a token opens, in words.
fn of(grant: &Grant) -> String {
    let until = grant.expires_at().map(|at| format!(", until {}", at.to_minute())).unwrap_or_default();
    let who = match grant.subject() {
        EVERY => format!("every subject of {}", grant.tenant()),
        subject => format!("{subject} of {}", grant.tenant()),
    };
    format!("{who}, {}, made {}{until}", grant.rights().names(), grant.made_at().to_minute())
}

fn as_json(grant: &Grant) -> Value {
    json!({
        "id": grant.id(), "tenant": grant.tenant(), "subject": grant.subject(), "rights": grant.rights(),
        "made_at": grant.made_at().to_string(), "expires_at": grant.expires_at().map(|at| at.to_string()),
    })
}
