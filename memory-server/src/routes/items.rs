//! Messages and records by the keys that receipts name them by.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Response;
use memory::{ItemId, MessageId, RecordId, Scoped, edge};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Problems;
use super::list::{List, written};
use crate::app::{App, PART};
use crate::caller::Reads;
use crate::input::Json;
use crate::problem::Problem;
use crate::unexpired::unexpired;

/// Which items.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Items {
    /// Their keys, as a receipt has them: `m-` or `r-`, and the id.
    #[schema(min_items = 1, max_items = 1_000)]
    items: Vec<String>,
}

/// The most items of one request.
const MOST: usize = 1_000;

/// Returns messages and records by their keys: the words of what a receipt names. What is gone is left out, and what the answer
/// has no room for.
#[utoipa::path(post, path = "/v1/items", tag = "recall", security(("token" = [])), request_body = Items,
    responses((status = 200, description = "`items`, each with its key as `item`, in the order of the request; `left`: the last \
        keys of the request, for which there was no room: ask for them anew.", body = Object), Problems))]
pub(crate) async fn items(
    Reads(ada): Reads,
    State(app): State<Arc<App>>,
    Json(Items { items }): Json<Items>,
) -> Result<Response<Body>, Problem> {
    if !(1..=MOST).contains(&items.len()) {
        return Err(Problem::bad(format!("1 to {MOST} items are read at once")));
    }
    let items = items.iter().map(|key| ItemId::from_key(key)).collect::<memory::Result<Vec<ItemId>>>()?;
    if items.iter().any(|item| matches!(item, ItemId::Span(..))) {
        return Err(Problem::bad("a stretch of a session is no item"));
    }
    let mut list = List::within(app.config.answer_bytes);
    let mut found: HashMap<&ItemId, Option<Bytes>> = HashMap::new();
    let mut taken = 0;
    for part in items.chunks(PART) {
        if list.is_full() {
            break;
        }
        read(&ada, part, &mut found).await?;
        for item in part {
            if list.is_full() {
                break;
            }
            taken += 1;
            if let Some(Some(written)) = found.get(item) {
                list.push_written(written.clone());
            }
        }
    }
    let left: Vec<String> = items.iter().skip(taken).map(ItemId::key).collect();
    Ok(list.answer("items", &json!({ "left": left })))
}

/// Reads those items of a part that were not looked for before, and adds them to what was `found`, each as it is shown.
async fn read<'items>(
    ada: &Scoped,
    part: &'items [ItemId],
    found: &mut HashMap<&'items ItemId, Option<Bytes>>,
) -> Result<(), Problem> {
    let (mut messages, mut records) = (HashMap::new(), HashMap::new());
    for item in part.iter().filter(|item| !found.contains_key(item)) {
        match item {
            ItemId::Message(id) => {
                messages.insert(*id, item);
            }
            ItemId::Record(id) => {
                records.insert(*id, item);
            }
            ItemId::Span(..) => {}
        }
    }
    let message_ids: Vec<MessageId> = messages.keys().copied().collect();
    let record_ids: Vec<RecordId> = records.keys().copied().collect();
    let (said, known) = tokio::join!(ada.messages(&message_ids), unexpired(ada, &record_ids));
    found.extend(part.iter().filter(|item| !found.contains_key(item)).map(|item| (item, None)).collect::<Vec<_>>());
    let now = ada.memory().now();
    for row in said? {
        found.extend(messages.get(&row.id).map(|item| (*item, Some(shown(item, edge::message(&row))))));
    }
    for stored in known? {
        let item = records.get(&stored.record.id);
        found.extend(item.map(|item| (*item, Some(shown(item, edge::record(&stored, now))))));
    }
    Ok(())
}

/// Returns an item as JSON, with its key in it.
fn shown(item: &ItemId, mut value: Value) -> Bytes {
    if let Value::Object(members) = &mut value {
        members.insert("item".to_owned(), json!(item.key()));
    }
    written(&value)
}
