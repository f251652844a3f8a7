//! Everything of an owner as JSON lines: out of the memory, and into it.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response, StatusCode};
use futures_util::StreamExt as _;
use memory::import::{Import, Source};
use memory::transfer;
use memory::{Scoped, SessionId, Timestamp};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use utoipa::IntoParams;

use super::sending::sent;
use super::sessions::known;
use super::{Problems, json as answer};
use crate::app::{App, Place};
use crate::caller::{Caller, Reads, Writes};
use crate::input::{Parameters, check_kind, check_length, too_large, too_slow};
use crate::problem::Problem;

/// The session of imported messages that name none, as in the program.
const SESSION: &str = "chat_history";

/// What is exported.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exported {
    /// Only this session. Default everything.
    #[param(min_length = 1, max_length = 255)]
    session: Option<String>,
}

fn failed(error: impl std::fmt::Display) -> Problem {
    tracing::warn!(%error, "a file of a transfer failed");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "a file without a name could not be used")
}

/// Writes everything of the owner as JSON lines, each session as it is at one moment.
#[utoipa::path(get, path = "/v1/export", tag = "transfer", security(("token" = [])), params(Exported),
    responses((status = 200, description = "The lines of an export.", content_type = "application/x-ndjson", body = String),
        Problems))]
pub(crate) async fn export(
    Reads(ada): Reads,
    State(app): State<Arc<App>>,
    Extension(place): Extension<Arc<Place>>,
    Parameters(which): Parameters<Exported>,
) -> Result<Response<Body>, Problem> {
    let session = which.session.as_deref().map(SessionId::new).transpose()?;
    if let Some(session) = &session {
        known(&ada, session).await?;
    }
    // Into a file without a name first: an answer that has begun cannot fail any more, and no slow reader holds up anything.
    let file = spawn_blocking(move || spool(&ada, session.as_ref())).await.map_err(failed)??;
    let file = tokio::fs::File::from_std(file);
    let mut response = Response::new(sent(file, place, app.config.transfer_deadline));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(response)
}

fn spool(ada: &Scoped, session: Option<&SessionId>) -> Result<File, Problem> {
    let mut file = std::io::BufWriter::new(tempfile::tempfile().map_err(failed)?);
    Handle::current().block_on(transfer::export(ada, session, &mut file))?;
    let mut file = file.into_inner().map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    Ok(file)
}

/// Reads JSON lines: an export, or chat JSON. What is stored already stays as it is, so the same lines may be sent again: a record
/// of other content under its id is `rejected`. What was forgotten by its id is not stored again, in whatever version. An export of
/// another owner is refused: it counts as one line `rejected`, and nothing of it is stored. To a token that may not read,
/// what is stored already counts as `added`.
#[utoipa::path(post, path = "/v1/import", tag = "transfer", security(("token" = [])),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, description = "`added`, `already`, `rejected` and `forgotten`, and why.", body = Object), Problems))]
pub(crate) async fn import(
    Writes(ada): Writes,
    Extension(caller): Extension<Caller>,
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let (parts, body) = request.into_parts();
    check_kind(&parts.headers, &["application/x-ndjson", "application/jsonl", "application/json"])?;
    check_length(&parts.headers, &body, app.config.import_bytes)?;
    // Whole before anything is stored: a client that goes away half-way stores nothing.
    let file = timeout(app.config.transfer_deadline, received(body, app.config.import_bytes)).await;
    let file = file.map_err(|_| too_slow())??;
    let now = Timestamp(ada.memory().now().0 / 1_000 * 1_000);
    let source = Source::new(ada.scope(), SESSION, now);
    let mut import = Import::begin(ada, file, source).map_err(failed)?;
    while import.step().await?.is_some() {}
    let tally = import.finish();
    // The ids of imported messages are made of their words: that one is stored already tells that it was said.
    let (added, already) =
        if caller.may_read() { (tally.added, tally.already) } else { (tally.added + tally.already, 0) };
    Ok(answer(&json!({
        "added": added, "already": already, "rejected": tally.rejected, "forgotten": tally.forgotten,
        "sessions": tally.sessions(), "notes": tally.notes, "rejections": tally.rejections, "left_out": tally.left_out,
    })))
}

/// Writes a body into a file without a name.
async fn received(body: Body, most: usize) -> Result<File, Problem> {
    let mut file = tempfile::tempfile().map_err(failed)?;
    let (mut stream, mut bytes) = (body.into_data_stream(), 0_usize);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Problem::bad("the body was cut off"))?;
        bytes = bytes.saturating_add(chunk.len());
        if bytes > most {
            return Err(too_large(most));
        }
        file = spawn_blocking(move || file.write_all(&chunk).map(|()| file)).await.map_err(failed)?.map_err(failed)?;
    }
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    Ok(file)
}
