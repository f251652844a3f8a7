//! Answers that are sent long after they were made: until then they keep the place of their request.

use std::io::{Cursor, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse as _;
use futures_util::stream;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::app::Place;
use crate::problem::Problem;

/// Bytes that are sent at once. What is not longer fits into what a system holds for a connection.
const CHUNK: usize = 64 << 10;

/// Returns an answer that keeps its place until it is sent. A short one gives it up at once.
pub(crate) async fn kept(response: Response<Body>, place: Arc<Place>, patience: Duration) -> Response<Body> {
    let length = response.body().size_hint().exact();
    let Some(length) = length.filter(|length| *length > CHUNK as u64) else { return response };
    let (mut parts, body) = response.into_parts();
    let bytes = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => bytes,
        Err(error) => {
            tracing::warn!(%error, "an answer failed");
            return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer failed").into_response();
        }
    };
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    Response::from_parts(parts, sent(Cursor::new(bytes), place, patience))
}

/// Sends what `source` holds. Until the last of it is taken, or `patience` is over, it keeps the place of the request. It is cut off
/// when the token of the request is revoked or expires.
pub(crate) fn sent(source: impl AsyncRead + Send + Unpin + 'static, place: Arc<Place>, patience: Duration) -> Body {
    let (send, receive) = mpsc::channel(1);
    tokio::spawn(async move {
        let sent = timeout(patience, feed(source, send, &place)).await;
        if !matches!(sent, Ok(Ok(()))) {
            tracing::warn!("an answer was not taken to its end");
        }
        drop(place);
    });
    Body::from_stream(stream::unfold(Some(receive), |receive| async move {
        let mut receive: mpsc::Receiver<Option<Bytes>> = receive?;
        match receive.recv().await {
            Some(Some(chunk)) => Some((Ok(chunk), Some(receive))),
            Some(None) => None,
            // Without its end it must not look whole.
            None => Some((Err(std::io::Error::from(ErrorKind::TimedOut)), None)),
        }
    }))
}

/// Sends chunks and, if all were read, that this was the end.
async fn feed(
    mut source: impl AsyncRead + Unpin,
    send: mpsc::Sender<Option<Bytes>>,
    place: &Place,
) -> std::io::Result<()> {
    let gone = |_| std::io::Error::from(ErrorKind::BrokenPipe);
    loop {
        if !place.is_open() {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let mut chunk = vec![0; CHUNK];
        let read = source.read(&mut chunk).await?;
        chunk.truncate(read);
        send.send((read > 0).then(|| chunk.into())).await.map_err(gone)?;
        if read == 0 {
            return Ok(());
        }
    }
}
