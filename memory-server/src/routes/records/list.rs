//! The list of records.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use memory::{Field, Filter, RecordId, Timestamp, edge};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::app::{App, PART};
use crate::caller::Reads;
use crate::input::Parameters;
use crate::problem::Problem;
use crate::routes::list::List;
use crate::routes::sessions::bounded;
use crate::routes::{Problems, filter};

const MOST: u64 = 1_000;

/// Which records.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Records {
    /// The id after which the list begins: `next` of the page before.
    #[param(format = Uuid)]
    after: Option<String>,
    /// How many, at the most.
    #[serde(default = "hundred")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: u64,
    /// Only of this kind.
    kind: Option<String>,
    /// Only with this tag.
    tag: Option<String>,
    /// A condition, as for a search: `trust >= user and tag in (a, b)`. The importance is no part of it.
    filter: Option<String>,
    /// What was current at this time.
    #[param(format = DateTime)]
    as_of: Option<String>,
    /// Superseded and retired ones too.
    #[serde(default)]
    all: bool,
}

fn hundred() -> u64 {
    100
}

/// Lists records, in the order of their ids: the current ones, unless it is asked for others. A page of very long ones ends before its
/// limit.
#[utoipa::path(get, path = "/v1/records", tag = "records", security(("token" = [])), params(Records),
    responses((status = 200, description = "`records`, and `next` if there may be more.", body = Object), Problems))]
pub(crate) async fn list(
    Reads(ada): Reads,
    State(app): State<Arc<App>>,
    Parameters(which): Parameters<Records>,
) -> Result<Response<Body>, Problem> {
    let mut left = bounded(which.limit, MOST)?;
    let mut after: Option<RecordId> = which.after.as_deref().map(str::parse).transpose()?;
    let now = ada.memory().now();
    let mut wanted = match &which.as_of {
        Some(at) => Filter::as_of(at.parse::<Timestamp>()?, now),
        None if which.all => Filter::unexpired(now),
        None => Filter::current(now),
    };
    wanted = wanted.and(filter(which.filter.as_deref())?);
    for (field, value) in [(Field::Kind, &which.kind), (Field::Tag, &which.tag)] {
        if let Some(value) = value {
            wanted = wanted.and(Filter::eq(field, value.as_str()));
        }
    }
    // In parts, so that no more is held of very long records than is sent.
    let (mut list, mut is_end) = (List::within(app.config.answer_bytes), false);
    while left > 0 && !is_end && !list.is_full() {
        let part = left.min(PART);
        let found = ada.records(&wanted, after, part).await?;
        let before = list.len();
        for stored in &found {
            if list.is_full() {
                break;
            }
            list.push(&edge::record(stored, now));
            after = Some(stored.record.id);
        }
        let shown = list.len() - before;
        left -= shown;
        is_end = shown == found.len() && found.len() < part;
    }
    Ok(list.answer("records", &json!({ "next": after.filter(|_| !is_end) })))
}
