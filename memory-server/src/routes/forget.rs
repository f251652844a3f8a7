//! Forgetting, for good, with a receipt.

use axum::body::Body;
use axum::http::Response;
use memory::{Forget as What, MessageId, SessionId, edge};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{Problems, json as answer, sessions};
use crate::caller::Forgets;
use crate::id::bare;
use crate::input::Json;
use crate::problem::Problem;

/// What is to be forgotten: exactly one of these.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(crate) enum Forget {
    /// Messages and records, by their ids, or by the keys that receipts have: `m-` or `r-`, and the id.
    Ids(Vec<String>),
    /// A session, with the records that belong to it.
    Session(String),
    /// Everything of the owner: `true`.
    Everything(bool),
}

/// What is to be forgotten, as it is sent: perhaps nothing, or more than one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    ids: Option<Vec<String>>,
    session: Option<String>,
    everything: Option<bool>,
}

impl Named {
    /// Returns the only one.
    fn one(self) -> Result<Forget, Problem> {
        match (self.ids, self.session, self.everything) {
            (Some(ids), None, None) => Ok(Forget::Ids(ids)),
            (None, Some(session), None) => Ok(Forget::Session(session)),
            (None, None, Some(is_wanted)) => Ok(Forget::Everything(is_wanted)),
            _ => Err(Problem::bad("say exactly one of ids, session and everything")),
        }
    }
}

/// The most ids of one request.
const MOST: usize = 1_000;

/// Forgets for good, with all that was derived from it. May be repeated.
#[utoipa::path(post, path = "/v1/forget", tag = "forget", security(("token" = [])), request_body = Forget,
    responses((status = 200, body = Object,
        description = "How much was forgotten, of everything also store by store; `unknown` names the ids that nothing has, or the \
            session if there is none."),
        Problems))]
pub(crate) async fn forget(Forgets(ada): Forgets, Json(named): Json<Named>) -> Result<Response<Body>, Problem> {
    let receipt = match named.one()? {
        Forget::Ids(ids) => {
            if !(1..=MOST).contains(&ids.len()) {
                return Err(Problem::bad(format!("1 to {MOST} ids are forgotten at once")));
            }
            let ids = ids.iter().map(|id| bare(id)).collect::<memory::Result<Vec<MessageId>>>()?;
            let (receipt, unknown) = edge::forget_ids(&ada, &ids).await?;
            return Ok(answer(&edge::with(json!(receipt), json!({ "unknown": unknown }))));
        }
        Forget::Session(session) => return sessions::forget(&ada, SessionId::new(&session)?).await,
        Forget::Everything(true) => ada.forget(&What::Everything).await?,
        Forget::Everything(false) => return Err(Problem::bad("everything is forgotten with true alone")),
    };
    Ok(answer(&receipt))
}
