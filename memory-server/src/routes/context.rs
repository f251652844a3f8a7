//! What a model is sent, within a budget of tokens.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use memory::edge;
use memory::receipt::ContextReceipt;
use memory::window::Budget;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::{OpenApi, RefOr, Schema};
use utoipa::{Number, ToSchema};

use super::{Problems, filter, json as answer, pending};
use crate::app::App;
use crate::caller::Reads;
use crate::input::{InSession, Json};
use crate::number::whole_if_any;
use crate::problem::Problem;

/// What a context is asked for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    /// What the person says now.
    query: Option<String>,
    /// Tokens that it may have. The maximum is this server's. Without it 3000, or as many as the settings of the server say.
    #[serde(default, deserialize_with = "whole_if_any")]
    #[schema(minimum = 0, maximum = 4_194_304)]
    budget: Option<u64>,
    /// Tokens of these to be kept free. Without it none, or as many as the settings of the server say.
    #[serde(default, deserialize_with = "whole_if_any")]
    #[schema(minimum = 0, maximum = 4_194_304)]
    reserve: Option<u64>,
    /// How many items are recalled, at the most. Without it 5, or as many as the settings of the server say.
    #[serde(default, deserialize_with = "whole_if_any")]
    #[schema(minimum = 0, maximum = 1000)]
    recall: Option<u64>,
    /// Which items may be recalled: `role = user and at >= 2024-01-01`.
    filter: Option<String>,
    /// Whose chat JSON the messages are.
    #[serde(rename = "as")]
    #[schema(default = "openai")]
    dialect: Option<Dialect>,
    /// Whether what stands aside in imported messages is shown.
    asides: Option<bool>,
    /// Whether the answer tells how many notes no index has followed yet. Every store is asked once more for it.
    pending: Option<bool>,
}

/// How a context is written for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dialect {
    /// `messages` as OpenAI's API takes them.
    Openai,
    /// `messages` and `system` as Anthropic's API takes them.
    Anthropic,
}

/// The budget that every server allows.
const USUAL: u64 = 3_000;
/// The largest budget of any server.
const TOKENS: u64 = 1_000_000_000;
/// Bytes that a token is counted as: most are longer than two and shorter than six.
const BYTES: u64 = 4;
/// How many items are recalled at the most.
const ITEMS: u64 = 1_000;

/// Returns the largest budget where the list of an answer has `answer_bytes`: what fits into it fits about into such a list. The
/// default budget is allowed in any case.
fn largest(answer_bytes: usize) -> u64 {
    (answer_bytes as u64 / BYTES).clamp(USUAL, TOKENS)
}

/// Writes the largest budget where the list of an answer has `answer_bytes` into the document.
pub(crate) fn describe(document: &mut OpenApi, answer_bytes: usize) {
    let most = usize::try_from(largest(answer_bytes)).unwrap_or(usize::MAX);
    let ask = document.components.as_mut().and_then(|components| components.schemas.get_mut("Ask"));
    let Some(RefOr::T(Schema::Object(ask))) = ask else { return };
    for member in ["budget", "reserve"] {
        if let Some(RefOr::T(Schema::Object(tokens))) = ask.properties.get_mut(member) {
            tokens.maximum = Some(Number::UInt(most));
        }
    }
}

/// Returns the context of a session: instructions, summaries, the newest messages, recalled items, and the query; with the receipt
/// of what went in, what was left out, and why.
#[utoipa::path(post, path = "/v1/sessions/{session}/context", tag = "recall", security(("token" = [])),
    params(("session" = String, Path, min_length = 1, max_length = 255)), request_body = Ask,
    responses((status = 200, description = "What is sent, `receipt`, and `pending` if asked.", body = Object),
        (status = 422, description = "The query, or the newest turn, does not fit into the budget: `detail` says which.",
            content_type = "application/problem+json", body = Problem), Problems))]
pub(crate) async fn assemble(
    Reads(ada): Reads,
    State(app): State<Arc<App>>,
    InSession(session): InSession,
    Json(ask): Json<Ask>,
) -> Result<Response<Body>, Problem> {
    let most = largest(app.config.answer_bytes);
    let Ask { query, budget, reserve, recall, filter: condition, dialect, asides, pending: is_asked } = ask;
    let usual = ada.memory().defaults();
    let budget = budget.unwrap_or(usual.limit.unknown.min(most));
    let reserve = reserve.unwrap_or(usual.reserve.min(most));
    let recall = recall.unwrap_or((usual.recall as u64).min(ITEMS));
    if budget > most || reserve > most || recall > ITEMS {
        return Err(Problem::bad(format!("budget and reserve are at most {most}, recall {ITEMS}")));
    }
    let budget = Budget::new(budget).reserve(reserve);
    let query = query.unwrap_or_default();
    let asks = !query.is_empty();
    let request = usual.request(query, budget).recall(usize::try_from(recall).unwrap_or(usize::MAX));
    let mut request = request.matching(filter(condition.as_deref())?).asides(asides.unwrap_or_default());
    // To keep nothing free is a wish too.
    request.budget = budget;
    let handle = ada.session(&session);
    let (context, pending) = tokio::join!(handle.assemble(&request), pending(&ada, is_asked.unwrap_or_default()));
    let context = context.map_err(|error| {
        let told = error.of_context(budget.limit, budget.reserve, asks);
        told.map_or_else(|| error.into(), |told| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, told))
    })?;
    let sent = edge::sent(&context, dialect == Some(Dialect::Anthropic));
    let pending = pending.map(|(_, notes)| notes);
    Ok(answer(&Assembled { sent, pending, receipt: &context.receipt }))
}

/// The answer. Messages and receipt are written as they are, and not made values first.
#[derive(Serialize)]
struct Assembled<'c, S> {
    #[serde(flatten)]
    sent: S,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Value>,
    receipt: &'c ContextReceipt,
}
