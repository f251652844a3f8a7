//! The profile `chatgpt`: `search` and `fetch` in the shapes that ChatGPT asks of a connector.

use memory::{Content, ItemId, Scoped, Search, edge};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Fitting};
use super::describe::{object, told};
use super::gather::shortened;
use super::refusal::{Refusal, read};
use super::tool::{Definition, Effect};
use crate::caller::Caller;
use crate::token::Right;
use crate::unexpired::unexpired;

/// Characters of a title.
const TITLE: usize = 80;

/// Returns the tools.
pub(super) fn definitions() -> Vec<Definition> {
    let id = told("An id that search returned");
    vec![
        Definition::new(
            "search",
            Effect::Reads,
            "Search the user's memory: facts, preferences, earlier conversations.",
            object(1, &[("query", told("In plain words"))]),
        ),
        Definition::new("fetch", Effect::Reads, "Read one result of a search.", object(1, &[("id", id)])),
    ]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    query: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fetched {
    id: String,
}

/// Calls a tool.
pub(super) async fn call(
    name: &str,
    arguments: Map<String, Value>,
    caller: &Caller,
    fitting: &Fitting,
) -> Option<Result<Answer, Refusal>> {
    Some(match name {
        "search" => search(arguments, caller, fitting).await.map(Answer::from),
        "fetch" => fetch(arguments, caller, fitting).await.map(Answer::from),
        _ => return None,
    })
}

fn title(content: &Content, ada: &Scoped, words: &str) -> String {
    ada.memory().analysis().excerpt(words, &content.text(), TITLE).text
}

/// Returns the address under which an item is a resource.
fn url(item: &ItemId) -> String {
    format!("memory://item/{}", item.key())
}

async fn search(arguments: Map<String, Value>, caller: &Caller, fitting: &Fitting) -> Result<String, Refusal> {
    let Asked { query } = read(arguments)?;
    let ada = caller.allowed(Right::Read)?;
    let query = shortened(ada, &query);
    let found = ada.recall(&Search::new(&*query)).await?;
    let mut results: Vec<Value> = found
        .hits
        .iter()
        .map(|hit| json!({ "id": hit.item.key(), "title": title(&hit.content, ada, &query), "url": url(&hit.item) }))
        .collect();
    loop {
        let text = json!({ "results": results }).to_string();
        if results.is_empty() || fitting.fits(&text) {
            return Ok(text);
        }
        results.pop();
    }
}

async fn fetch(arguments: Map<String, Value>, caller: &Caller, fitting: &Fitting) -> Result<String, Refusal> {
    let Fetched { id } = read(arguments)?;
    let item = ItemId::from_key(&id).map_err(|_| Refusal::new("no id that search returned"))?;
    let ada = caller.allowed(Right::Read)?;
    let content = content(ada, &item).await?.ok_or_else(|| Refusal::new("there is no such memory"))?;
    let metadata = match &content {
        Content::Message(row) => facts(&edge::message(row), &["role", "speaker", "at", "trust", "session", "seq"]),
        Content::Record(stored) => {
            facts(&edge::record(stored, caller.now()), &["kind", "at", "trust", "current", "tags"])
        }
    };
    let (title, url) = (title(&content, ada, ""), url(&item));
    let whole =
        |text: &str| json!({ "id": id, "title": title, "text": text, "url": url, "metadata": metadata }).to_string();
    Ok(fitting.clip(&fitting.clipped(&content.text(), whole)))
}

/// The bytes from which on a member is left out.
const LONG: usize = 102;

/// Returns some members of an item, but for long ones.
fn facts(value: &Value, names: &[&str]) -> Value {
    let short = |value: &Value| !value.is_null() && value.to_string().len() < LONG;
    let some = names.iter().filter_map(|name| Some(((*name).to_owned(), value.get(name)?.clone())));
    Value::Object(some.filter(|(_, value)| short(value)).collect())
}

/// Returns an item of the owner.
pub(super) async fn content(ada: &Scoped, item: &ItemId) -> Result<Option<Content>, memory::Error> {
    Ok(match item {
        ItemId::Message(id) => ada.messages(&[*id]).await?.pop().map(Content::Message),
        ItemId::Record(id) => unexpired(ada, &[*id]).await?.pop().map(Content::Record),
        ItemId::Span(..) => None,
    })
}
