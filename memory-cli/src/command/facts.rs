//! `memory facts`: whether facts are found in what people say, and what would be found.

use memory::extract::Effect;
use memory::store::id::SeqRange;
use memory::store::upkeep::IndexName;
use memory::{Memory, Seq};
use serde_json::json;

use super::call::Call;
use crate::cli::{Facts, FactsChange};
use crate::config::{FACTS, Finding};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::words::plural;
use crate::{sessions, upkeep};

/// How many messages are tried at once.
const STEP: u64 = 16;

/// Tells whether facts are found, begins or ends that, or tries it.
pub(crate) async fn run(call: &Call, args: &Facts, output: &mut Output) -> Result<Outcome, Failure> {
    match args.change {
        None => {
            let memory = call.open_finding(Finding::AsBefore).await?;
            tell(call, &memory, output).await?;
        }
        Some(FactsChange::On) => {
            let memory = call.open_finding(Finding::Begun).await?;
            upkeep::after(&memory).await;
            tell(call, &memory, output).await?;
        }
        Some(FactsChange::Off) => {
            if call.settings.names_extractor() {
                let what = "the settings say who finds facts: take the section `extractor` out of them".to_owned();
                return Err(Failure::Usage(what));
            }
            let memory = call.open_finding(Finding::AsBefore).await?;
            for index in following(&memory).await? {
                memory.retire(&index).await?;
            }
            tell(call, &memory, output).await?;
        }
        Some(FactsChange::Try) => try_out(call, output).await?,
    }
    output.flush()?;
    Ok(Outcome::Done)
}

/// Returns the names under which facts are found in this database: of rules, or of models that settings have named.
async fn following(memory: &Memory) -> Result<Vec<IndexName>, Failure> {
    Ok(memory.indexes().await?.into_iter().filter(IndexName::finds_facts).collect())
}

/// Returns whether facts are found with every command: by rules, or by whom the settings name.
async fn is_on(call: &Call, memory: &Memory) -> Result<bool, Failure> {
    let is_by_rules = following(memory).await?.iter().any(|index| index.as_str() == FACTS);
    Ok(is_by_rules || call.settings.names_extractor())
}

async fn tell(call: &Call, memory: &Memory, output: &mut Output) -> Result<(), Failure> {
    let is_on = is_on(call, memory).await?;
    let status = memory.status().await.indexes.into_iter().find(|index| index.name.finds_facts());
    let pending = status.and_then(|index| index.backlog.ok()).map_or(0, |backlog| backlog.pending);
    if output.is_json() {
        return Ok(output.json(&json!({ "on": is_on, "pending": pending }))?);
    }
    Ok(output.line(&match (is_on, pending) {
        (false, _) => "off: `memory facts on` finds facts in what people say, of all owners".to_owned(),
        (true, 0) => "on: what was said is read; `memory records` lists what is known".to_owned(),
        (true, _) => format!("on: {pending} {} to be read", plural(pending as usize, "conversation")),
    })?)
}

/// Shows what would be found in a conversation.
async fn try_out(call: &Call, output: &mut Output) -> Result<(), Failure> {
    let owner = call.owner()?;
    let memory = call.open_finding(Finding::Tried).await?;
    let session = memory.of(&owner).session(&call.session()?);
    let head = session.state().await?.head.0;
    let mut found = Vec::new();
    for first in (1..=head).step_by(STEP as usize) {
        found.extend(session.facts(SeqRange { first: Seq(first), last: Seq(first.saturating_add(STEP - 1)) }).await?);
    }
    if head == 0 && call.named_session()?.is_some() {
        sessions::note_if_empty(session.scoped(), session.id()).await?;
    }
    if output.is_json() {
        return Ok(output.json(&json!({ "facts": found }))?);
    }
    for fact in &found {
        let what = match fact.effect {
            Effect::Add => fact.text.clone(),
            Effect::Confirm(id) => format!("{id} again"),
            Effect::Change(id) | Effect::Correct(id) => format!("{}, in place of {id}", fact.text),
            Effect::Retract(id) => format!("the end of {id}"),
        };
        output.said(0, &format!("{what}, by: {}", fact.quote))?;
    }
    Ok(output.line(&format!("{} {}; nothing is stored", found.len(), plural(found.len(), "fact")))?)
}
