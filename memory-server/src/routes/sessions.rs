//! Conversations: their list, one of them, and its end.

use axum::body::Body;
use axum::http::Response;
use memory::store::chat::SessionState;
use memory::{Scoped, Seq, SessionId, edge};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{Problems, json as answer, with_list};
use crate::caller::{Forgets, Reads};
use crate::input::{InSession, Parameters};
use crate::problem::Problem;

const MOST: u64 = 100;

/// Which sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sessions {
    /// The session after which the list begins: `next` of the page before.
    #[param(min_length = 1, max_length = 255)]
    after: Option<String>,
    /// How many, at the most.
    #[serde(default = "twenty")]
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: u64,
}

fn twenty() -> u64 {
    20
}

/// Returns a limit that lies within its bounds.
pub(super) fn bounded(limit: u64, most: u64) -> Result<usize, Problem> {
    let is_right = (1..=most).contains(&limit);
    let limit = usize::try_from(limit).ok().filter(|_| is_right);
    limit.ok_or_else(|| Problem::bad(format!("limit is from 1 to {most}")))
}

/// Lists the sessions, in the order of their encoded names.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", security(("token" = [])), params(Sessions),
    responses((status = 200, description = "`sessions`, and `next` if there may be more.", body = Object), Problems))]
pub(crate) async fn list(
    Reads(ada): Reads,
    Parameters(which): Parameters<Sessions>,
) -> Result<Response<Body>, Problem> {
    let limit = bounded(which.limit, MOST)?;
    let after = which.after.as_deref().map(SessionId::new).transpose()?;
    let states = ada.sessions(after.as_ref(), limit).await?;
    let ids: Vec<SessionId> = states.iter().map(|state| state.session.clone()).collect();
    let titles = edge::titles(&ada, &ids).await?;
    let next = ids.last().filter(|_| ids.len() == limit).map(SessionId::name);
    let sessions = states.iter().zip(titles).map(|(state, title)| edge::session(state, title.as_deref()));
    Ok(answer(&with_list("sessions", sessions, json!({ "next": next }))))
}

/// Returns the state of a session that holds messages.
pub(super) async fn known(ada: &Scoped, session: &SessionId) -> Result<SessionState, Problem> {
    let state = ada.session(session).state().await?;
    if state.head == Seq(0) { Err(Problem::absent("session")) } else { Ok(state) }
}

/// Tells the counters of a session, and what it is called.
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions", security(("token" = [])),
    params(("session" = String, Path, min_length = 1, max_length = 255)),
    responses((status = 200, description = "A session as in the list.", body = Object), Problems))]
pub(crate) async fn state(Reads(ada): Reads, InSession(session): InSession) -> Result<Response<Body>, Problem> {
    let handle = ada.session(&session);
    let (state, title) = tokio::join!(known(&ada, &session), handle.title());
    let title = title?.map(|title| title.text);
    Ok(answer(&edge::session(&state?, title.as_deref())))
}

/// Forgets a session, with the records that belong to it and all that was derived from it. May be repeated: then `unknown` names it,
/// as it names one that never was.
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions", security(("token" = [])),
    params(("session" = String, Path, min_length = 1, max_length = 255)),
    responses((status = 200, description = "How much was forgotten; `unknown` names the session if there is none.",
        body = Object), Problems))]
pub(crate) async fn delete(Forgets(ada): Forgets, InSession(session): InSession) -> Result<Response<Body>, Problem> {
    forget(&ada, session).await
}

/// Forgets a session, and says if there was none.
pub(super) async fn forget(ada: &Scoped, session: SessionId) -> Result<Response<Body>, Problem> {
    let (receipt, is_unknown) = edge::forget_session(ada, &session).await?;
    let unknown = if is_unknown { vec![session.name()] } else { Vec::new() };
    Ok(answer(&edge::with(json!(receipt), json!({ "unknown": unknown }))))
}
