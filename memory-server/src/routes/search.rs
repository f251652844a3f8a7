//! Finding messages and records.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use memory::{Scoped, Search, SearchResults, SessionId, Timestamp, Unit, edge};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::list::List;
use super::{Problems, filter, pending};
use crate::app::App;
use crate::caller::Reads;
use crate::input::Json;
use crate::number::whole_if_any;
use crate::problem::Problem;

/// How many hits are asked for first.
const FIRST: usize = 100;
/// How many hits may be asked for.
const MOST: u64 = 1_000;

/// What is searched for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// A person's words; if empty, the newest are found.
    query: Option<String>,
    /// How many hits, at the most. Without it 10, or as many as the settings of the server say.
    #[serde(default, deserialize_with = "whole_if_any")]
    #[schema(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// A condition: `role = user and at >= 2024-01-01 and tag in (a, b)`.
    filter: Option<String>,
    /// Only in this session; in a branch, also in the past that it shares.
    #[schema(min_length = 1, max_length = 255)]
    session: Option<String>,
    /// Only messages, or only records.
    kind: Option<Kind>,
    /// What was current at this time.
    #[schema(format = DateTime)]
    as_of: Option<String>,
    /// Near-duplicates behind what adds something: 1 for none of it, 0.5 for much.
    #[schema(minimum = 0, maximum = 1)]
    mmr: Option<f32>,
    /// Whether the answer tells how the hits were found.
    explain: Option<bool>,
    /// Whether the answer tells how many notes no index has followed yet. Every store is asked once more for it.
    pending: Option<bool>,
}

/// What is searched.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Messages.
    Message,
    /// Records.
    Record,
}

/// Finds messages and records by their words and meaning. It only reads.
#[utoipa::path(post, path = "/v1/search", tag = "recall", security(("token" = [])), request_body = Question,
    responses((status = 200, description = "`hits`, the best first; `left_out`: how many more there was no room for, at the least; \
        `degraded`, and `pending` and `receipt` if asked.",
        body = Object), Problems))]
pub(crate) async fn search(
    Reads(ada): Reads,
    State(app): State<Arc<App>>,
    Json(question): Json<Question>,
) -> Result<Response<Body>, Problem> {
    let usual = (ada.memory().defaults().hits as u64).min(MOST);
    let limit = super::sessions::bounded(question.limit.unwrap_or(usual), MOST)?;
    let mut search =
        Search::new(question.query.as_deref().unwrap_or_default()).matching(filter(question.filter.as_deref())?);
    let session = question.session.as_deref().map(SessionId::new).transpose()?;
    match question.kind {
        Some(Kind::Message) => search = search.only(Unit::Message),
        Some(Kind::Record) => search = search.only(Unit::Record),
        None => {}
    }
    if let Some(at) = &question.as_of {
        search = search.as_of(at.parse::<Timestamp>()?);
    }
    search.mmr = question.mmr;
    let found = found(&ada, session.as_ref(), search, limit, app.config.answer_bytes);
    let (found, pending) = tokio::join!(found, pending(&ada, question.pending.unwrap_or_default()));
    let (found, list) = found?;
    let left_out = found.hits.len() - list.len();
    let mut value = json!({ "degraded": found.receipt.degraded, "left_out": left_out });
    if let Value::Object(members) = &mut value {
        members.extend(pending);
        members.extend(question.explain.unwrap_or_default().then(|| ("receipt".to_owned(), json!(found.receipt))));
    }
    Ok(list.answer("hits", &value))
}

/// Finds up to `limit` hits, and returns those of them as they are shown that fit into `most` bytes.
///
/// All hits that the memory is asked for are read, and nothing bounds their bytes but the most that one may have: 4 MiB. So it is asked
/// for some first, and again only if all of these have room: for twice as many as have room if they are as long, so that `left_out` tells
/// of more. Later ones that are longer, or hold more than is shown of them, are all read.
async fn found(
    ada: &Scoped,
    session: Option<&SessionId>,
    mut search: Search,
    limit: usize,
    most: usize,
) -> memory::Result<(SearchResults, List)> {
    search.limit = limit.min(FIRST);
    loop {
        let found = match session {
            Some(session) => ada.session(session).search(&search).await?,
            None => ada.search(&search).await?,
        };
        let mut excerpts = ada.memory().analysis().excerpts(&search.words);
        let mut list = List::within(most);
        for hit in &found.hits {
            if list.is_full() {
                break;
            }
            list.push(&edge::hit(hit, &mut excerpts));
        }
        // Fewer candidates than were asked for are all. Some may be gone; of what could not be read `degraded` tells, and the store that is
        // away would be waited for again.
        let candidates = found.hits.len() + found.receipt.dropped_at_hydration;
        if search.limit == limit || candidates < search.limit || list.len() < found.hits.len() {
            return Ok((found, list));
        }
        search.limit = list.room().max(search.limit).saturating_mul(2).min(limit);
    }
}
