//! Whose memory a token opens, and how it is: its stores, and how far its indexes are behind.

use axum::Extension;
use axum::body::Body;
use axum::http::Response;
use memory::store::Health;
use serde_json::{Value, json};

use super::{Problems, json as answer};
use crate::caller::{Caller, Reads};
use crate::problem::Problem;

/// Tells whose memory the token opens and what it allows, the stores and whether they answer, and for each index how many notes
/// of the owner wait or were given up. Where a journal stands before the conversations, also how many messages of the owner wait in
/// it or were refused.
#[utoipa::path(get, path = "/v1/status", tag = "status", security(("token" = [])),
    responses((status = 200, description = "`tenant`, `subject`, `rights`, `stores`, `indexes`, `journal`, `version`.",
        body = Object), Problems))]
pub(crate) async fn status(Extension(caller): Extension<Caller>, Reads(ada): Reads) -> Result<Response<Body>, Problem> {
    let (status, indexes, journal) = tokio::join!(ada.memory().status(), ada.indexes(), ada.journal());
    let stores = status.stores.iter().map(|store| {
        // Why one does not answer may name places: that is for whoever runs the server.
        let known = |tell: fn(&Health) -> Value| store.health.as_ref().map(tell).unwrap_or_default();
        json!({
            "part": store.part, "backend": store.backend, "answers": store.health.is_ok(),
            "server": known(|health| json!(health.server)), "version": known(|health| json!(health.version)),
            "durability": known(|health| json!(health.durability)), "walled": known(|health| json!(health.is_walled)),
            "read_only": known(|health| json!(health.is_read_only)),
        })
    });
    let indexes = indexes.iter().map(|index| {
        let backlog = index.backlog.as_ref().ok();
        json!({
            "index": index.name.as_str(), "pending": backlog.map(|backlog| backlog.pending),
            "dead": backlog.map(|backlog| backlog.dead), "noted": index.is_noted, "given_up": index.given_up,
        })
    });
    let journal = journal.map(|journal| {
        json!({ "waiting": journal.waiting, "bytes": journal.bytes, "refused": journal.refused.as_ref().ok() })
    });
    Ok(answer(&json!({
        "tenant": ada.scope().tenant(), "subject": ada.scope().subject(), "rights": caller.grant.rights(),
        "stores": stores.collect::<Vec<Value>>(), "indexes": indexes.collect::<Vec<Value>>(),
        "journal": journal, "version": env!("CARGO_PKG_VERSION"),
    })))
}
