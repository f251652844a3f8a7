//! The list of records.

use axum::body::Body;
use axum::http::Response;
use memory::{Field, Filter, RecordId, Timestamp, edge};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::caller::Reads;
use crate::input::Parameters;
use crate::problem::Problem;
use crate::routes::sessions::bounded;
use crate::routes::{Problems, filter, json as answer, with_list};

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
    /// A condition: `importance` and all that a search takes.
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

/// Lists records, in the order of their ids: the current ones, unless it is asked for others.
#[utoipa::path(get, path = "/v1/records", tag = "records", security(("token" = [])), params(Records),
    responses((status = 200, description = "`records`, and `next` if there may be more.", body = Object), Problems))]
pub(crate) async fn list(Reads(ada): Reads, Parameters(which): Parameters<Records>) -> Result<Response<Body>, Problem> {
    let limit = bounded(which.limit, MOST)?;
    let after: Option<RecordId> = which.after.as_deref().map(str::parse).transpose()?;
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
    let found = ada.records(&wanted, after, limit).await?;
    let next = found.last().filter(|_| found.len() == limit).map(|stored| stored.record.id);
    let records = found.iter().map(|stored| edge::record(stored, now));
    Ok(answer(&with_list("records", records, json!({ "next": next }))))
}
