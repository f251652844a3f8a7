//! Messages and records by the keys that receipts name them by.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::Response;
use memory::{ItemId, MessageId, RecordId, edge};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{Problems, json as answer, with_list};
use crate::caller::Reads;
use crate::input::Json;
use crate::problem::Problem;

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

/// Returns messages and records by their keys: the words of what a receipt names. What is gone is left out.
#[utoipa::path(post, path = "/v1/items", tag = "recall", security(("token" = [])), request_body = Items,
    responses((status = 200, description = "`items`, each with its key as `item`, in the order of the request.", body = Object),
        Problems))]
pub(crate) async fn items(Reads(ada): Reads, Json(Items { items }): Json<Items>) -> Result<Response<Body>, Problem> {
    if !(1..=MOST).contains(&items.len()) {
        return Err(Problem::bad(format!("1 to {MOST} items are read at once")));
    }
    let items = items.iter().map(|key| ItemId::from_key(key)).collect::<memory::Result<Vec<ItemId>>>()?;
    let (mut messages, mut records) = (Vec::<MessageId>::new(), Vec::<RecordId>::new());
    for item in &items {
        match item {
            ItemId::Message(id) => messages.push(*id),
            ItemId::Record(id) => records.push(*id),
            ItemId::Span(..) => return Err(Problem::bad("a stretch of a session is no item")),
        }
    }
    let (messages, records) = tokio::join!(ada.messages(&messages), ada.get(&records));
    let now = ada.memory().now();
    let said = messages?.into_iter().map(|row| (ItemId::Message(row.id), edge::message(&row)));
    let known = records?.into_iter().map(|stored| (ItemId::Record(stored.record.id), edge::record(&stored, now)));
    let found: HashMap<ItemId, Value> = said.chain(known).collect();
    let shown = items.iter().filter_map(|item| {
        let mut value = found.get(item)?.clone();
        value.as_object_mut()?.insert("item".to_owned(), json!(item.key()));
        Some(value)
    });
    Ok(answer(&with_list("items", shown, json!({}))))
}
