//! The profile `core`: what an agent needs of a memory, in six tools.

use memory::edge::{self, forget_ids};
use memory::receipt::Remembered;
use memory::{
    Content, Field, Filter, Forget, MessageId, RecordId, Remember, Scalar, Scoped, Search, SessionId, StoredMessage,
    Timestamp, Trust, Unit,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Fitting};
use super::describe::{object, texts, told, whole};
use super::gather::{NOTHING, gathered, shortened};
use super::kept::kept_by_tools;
use super::profile::Agents;
use super::refusal::{Refusal, read};
use super::tool::{Definition, Effect, ORIGIN};
use crate::caller::Caller;
use crate::id::bare;
use crate::number::whole_if_any;
use crate::token::Right;
use crate::unexpired::unexpired;

/// The most items of a search or a list.
const ITEMS: u64 = 50;

/// Returns the tools.
pub(super) fn definitions(agents: &Agents) -> Vec<Definition> {
    use Effect::{Adds, Changes, Reads};

    let query = || ("query", told("In plain words"));
    let (limit, tokens) = (("limit", whole(ITEMS, 10)), ("max_tokens", json!({ "type": "integer", "minimum": 200 })));
    let mut forgotten = vec![("id", told("Of a memory"))];
    if agents.allow_forget {
        forgotten.push(("session", told("Forgets a whole conversation")));
        forgotten.push(("everything", json!({ "type": "boolean" })));
    }
    vec![
        Definition::new(
            "search_memories",
            Reads,
            "Search facts, preferences and earlier conversations of the user. Use it before answering about the user or past work.",
            object(1, &[query(), limit.clone(), ("kind", json!({ "enum": ["message", "record"] })), tokens.clone()]),
        ),
        Definition::new(
            "get_context",
            Reads,
            "What the memory holds that matters for a request: the newest messages of a session, if one is named, and what is recalled.",
            object(1, &[query(), ("session", told("A conversation")), tokens]),
        ),
        Definition::new(
            "add_memory",
            Adds,
            "Store one fact, preference or decision that will matter later, as a sentence of its own. The same fact twice is one memory.",
            object(
                1,
                &[("text", told("One sentence")), ("kind", told("fact, preference, decision …")), ("tags", texts())],
            ),
        ),
        Definition::new(
            "update_memory",
            Changes,
            "Replace a memory that is true no longer. The old one stays in the history.",
            object(2, &[("id", told("Of the old memory")), ("text", told("The new sentence"))]),
        ),
        Definition::new(
            "list_memories",
            Reads,
            "List stored facts and preferences, newest first.",
            object(
                0,
                &[
                    limit,
                    ("kind", told("Only this kind")),
                    ("tag", told("Only this tag")),
                    ("before", told("Only older: a time")),
                ],
            ),
        ),
        Definition::new(
            "delete_memory",
            Changes,
            "Delete a memory for good, with what was derived from it. Only if the user asks for it.",
            object(usize::from(!agents.allow_forget), &forgotten),
        ),
    ]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    query: String,
    #[serde(default, deserialize_with = "whole_if_any")]
    limit: Option<u64>,
    kind: Option<String>,
    #[serde(default, deserialize_with = "whole_if_any")]
    max_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    query: String,
    session: Option<String>,
    #[serde(default, deserialize_with = "whole_if_any")]
    max_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    text: String,
    kind: Option<String>,
    tags: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replaced {
    id: String,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(default, deserialize_with = "whole_if_any")]
    limit: Option<u64>,
    kind: Option<String>,
    tag: Option<String>,
    before: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Deleted {
    id: Option<String>,
    session: Option<String>,
    everything: Option<bool>,
}

/// Calls a tool.
pub(super) async fn call(
    name: &str,
    arguments: Map<String, Value>,
    caller: &Caller,
    agents: &Agents,
    fitting: &Fitting,
) -> Option<Result<Answer, Refusal>> {
    let text = match name {
        "search_memories" => search(arguments, caller, fitting).await,
        "get_context" => context(arguments, caller, fitting).await,
        "add_memory" => add(arguments, caller).await,
        "update_memory" => update(arguments, caller).await,
        "list_memories" => list(arguments, caller, fitting).await,
        "delete_memory" => delete(arguments, caller, agents).await,
        _ => return None,
    };
    Some(text.map(Answer::from))
}

/// Returns a limit within its bounds.
fn items(limit: Option<u64>) -> Result<usize, Refusal> {
    let limit = limit.unwrap_or(10);
    let bounded = usize::try_from(limit).ok().filter(|_| (1..=ITEMS).contains(&limit));
    bounded.ok_or_else(|| Refusal::new(format!("limit is from 1 to {ITEMS}")))
}

async fn search(arguments: Map<String, Value>, caller: &Caller, fitting: &Fitting) -> Result<String, Refusal> {
    let Asked { query, limit, kind, max_tokens } = read(arguments)?;
    let fitting = fitting.asked(max_tokens)?;
    let ada = caller.allowed(Right::Read)?;
    let query = shortened(ada, &query);
    let mut search = Search::new(&*query).limit(items(limit)?);
    match kind.as_deref() {
        None => {}
        Some("message") => search = search.only(Unit::Message),
        Some("record") => search = search.only(Unit::Record),
        Some(_) => return Err(Refusal::new("kind is message or record")),
    }
    let found = ada.recall(&search).await?;
    Ok(fitting.found(&found, &query, ada.memory().analysis()))
}

async fn context(arguments: Map<String, Value>, caller: &Caller, fitting: &Fitting) -> Result<String, Refusal> {
    let Wanted { query, session, max_tokens } = read(arguments)?;
    let ada = caller.allowed(Right::Read)?;
    let session = session.as_deref().map(SessionId::new).transpose()?;
    Ok(gathered(ada, &query, session.as_ref(), &fitting.asked(max_tokens)?)
        .await?
        .unwrap_or_else(|| NOTHING.to_owned()))
}

async fn add(arguments: Map<String, Value>, caller: &Caller) -> Result<String, Refusal> {
    let Told { text, kind, tags } = read(arguments)?;
    let ada = caller.allowed(Right::Write)?;
    let remember =
        Remember::new(kind.as_deref().unwrap_or("fact"), text).with_trust(Trust::Assistant).with_origin(ORIGIN);
    let remember = tags.unwrap_or_default().into_iter().fold(remember, Remember::with_tag);
    let receipt = ada.remember(caller.past_the_gate(remember)).await?;
    let is_known = receipt.outcome != Remembered::Stored && caller.may_read();
    Ok(format!("{} as {}.", if is_known { "Known already" } else { "Stored" }, receipt.id))
}

fn kept_by_the_application() -> Refusal {
    Refusal::new("the application keeps this memory: only it changes it")
}

async fn update(arguments: Map<String, Value>, caller: &Caller) -> Result<String, Refusal> {
    let Replaced { id, text } = read(arguments)?;
    let ada = caller.allowed(Right::Write)?;
    let id: RecordId = id.parse()?;
    let stored = unexpired(ada, &[id]).await?.pop().ok_or_else(|| Refusal::new("there is no memory with this id"))?;
    if stored.record.trust() == Trust::System {
        return Err(kept_by_the_application());
    }
    if let Some(why) = kept_by_tools(&stored.record) {
        return Err(Refusal::new(why));
    }
    // What a model writes is believed as a model is, whoever told the old one.
    let trust = stored.record.trust().min(Trust::Assistant);
    let remember = edge::edited(&stored.record, &text, caller.now()).with_trust(trust).with_origin(ORIGIN);
    let receipt = ada.supersede(id, remember).await?;
    Ok(format!("Stored as {}, in the place of {id}.", receipt.id))
}

async fn list(arguments: Map<String, Value>, caller: &Caller, fitting: &Fitting) -> Result<String, Refusal> {
    let Listed { limit, kind, tag, before } = read(arguments)?;
    let ada = caller.allowed(Right::Read)?;
    let mut search = Search::new("").limit(items(limit)?).only(Unit::Record);
    for (field, value) in [(Field::Kind, kind), (Field::Tag, tag)] {
        if let Some(value) = value {
            search = search.matching(Filter::eq(field, value));
        }
    }
    if let Some(before) = before {
        let before: Timestamp = before.parse()?;
        search = search.matching(Filter::range(Field::At, None, Some(Scalar::Int(before.0))));
    }
    let found = ada.search(&search).await?;
    let items: Vec<&Content> = found.hits.iter().map(|hit| &hit.content).collect();
    Ok(fitting.items(&items, "", ada.memory().analysis()))
}

/// Returns whether the application told a record or gave an instruction, so that no agent changes it.
async fn is_of_the_application(ada: &Scoped, id: MessageId) -> Result<bool, Refusal> {
    let is_told = ada.get(&[RecordId(id.0)]).await?.iter().any(|stored| stored.record.trust() == Trust::System);
    let is_instruction = |row: &StoredMessage| row.message.as_ref().is_some_and(|message| message.is_instruction());
    Ok(is_told || ada.messages(&[id]).await?.iter().any(is_instruction))
}

async fn delete(arguments: Map<String, Value>, caller: &Caller, agents: &Agents) -> Result<String, Refusal> {
    let Deleted { id, session, everything } = read(arguments)?;
    let ada = caller.allowed(Right::Forget)?;
    let receipt = match (id, session, everything.unwrap_or(false)) {
        (Some(id), None, false) => {
            let id = bare(&id)?;
            if !agents.allow_forget && is_of_the_application(ada, id).await? {
                return Err(kept_by_the_application());
            }
            let (receipt, unknown) = forget_ids(ada, &[id]).await?;
            if receipt.removed == 0 && !unknown.is_empty() {
                return Err(Refusal::new("there is no memory with this id"));
            }
            receipt
        }
        (None, Some(session), false) if agents.allow_forget => {
            ada.forget(&Forget::Session(SessionId::new(&session)?)).await?
        }
        (None, None, true) if agents.allow_forget => ada.forget(&Forget::Everything).await?,
        _ if agents.allow_forget => return Err(Refusal::new("give one of id, session and everything")),
        _ => return Err(Refusal::new("give the id of one memory; more is not allowed here")),
    };
    let (removed, derived) = (receipt.removed, receipt.derived);
    let rest = if receipt.complete { "" } else { " Some stores did not answer; the same call completes it." };
    Ok(format!("Deleted {removed}, and {derived} derived from it.{rest}"))
}
