//! Answers that are sent long after they were made: until then they keep the place of their request.

use std::io::{Cursor, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse as _;
use futures_util::stream::{self, Stream};
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
    let taken = Arc::new(AtomicU64::new(0));
    let body = Body::from_stream(chunks(receive, Arc::clone(&taken)));
    tokio::spawn(async move {
        let sent = timeout(patience, feed(source, send, &taken, &place)).await;
        if !matches!(sent, Ok(Ok(()))) {
            tracing::warn!("an answer was not taken to its end");
        }
        drop(place);
    });
    body
}

/// Returns what is received, and counts the bytes that are `taken`.
fn chunks(
    receive: mpsc::Receiver<Option<Bytes>>,
    taken: Arc<AtomicU64>,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send {
    stream::unfold(Some((receive, taken)), |state| async move {
        let (mut receive, taken) = state?;
        match receive.recv().await {
            Some(Some(chunk)) => {
                taken.fetch_add(chunk.len() as u64, Ordering::AcqRel);
                Some((Ok(chunk), Some((receive, taken))))
            }
            Some(None) => None,
            // Without its end it must not look whole.
            None => Some((Err(std::io::Error::from(ErrorKind::TimedOut)), None)),
        }
    })
}

/// Sends chunks and, if all were read, that this was the end. Whoever knows the length takes the bytes, and leaves before the end.
async fn feed(
    mut source: impl AsyncRead + Unpin,
    send: mpsc::Sender<Option<Bytes>>,
    taken: &AtomicU64,
    place: &Place,
) -> std::io::Result<()> {
    let mut sent = 0;
    loop {
        if !place.is_open() {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let mut chunk = vec![0; CHUNK];
        let read = source.read(&mut chunk).await?;
        chunk.truncate(read);
        let is_gone = send.send((read > 0).then(|| chunk.into())).await.is_err();
        if is_gone && (read > 0 || taken.load(Ordering::Acquire) < sent) {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if read == 0 {
            return Ok(());
        }
        sent += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use memory::Timestamp;

    use super::*;
    use crate::access::Tokens;
    use crate::app::App;
    use crate::config::Config;
    use crate::token::{Grant, Rights, Token};

    /// Returns how an answer of three chunks ends whose client takes so many of them and leaves.
    async fn fed(chunks_taken: usize) -> std::io::Result<()> {
        let memory = memory::open("memory:").await.unwrap().build().await.unwrap();
        let grant = Grant::new(&Token::fresh().unwrap(), "acme", "ada", Rights::all(), Timestamp(0)).unwrap();
        let app = Arc::new(App::new(memory, Tokens::default().with(grant.clone()), Config::default()));
        let place = app.place(&Arc::new(grant)).unwrap();
        let ((send, receive), taken) = (mpsc::channel(1), Arc::new(AtomicU64::new(0)));
        let client = chunks(receive, Arc::clone(&taken)).take(chunks_taken);
        let source = Cursor::new(vec![0; 3 * CHUNK]);
        let (sent, received) = tokio::join!(feed(source, send, &taken, &place), client.collect::<Vec<_>>());
        assert!(received.iter().all(Result::is_ok));
        sent
    }

    #[tokio::test]
    async fn an_answer_is_taken_to_its_end_by_whoever_takes_all_its_bytes_and_by_nobody_else() {
        assert_eq!(fed(4).await.map_err(|error| error.kind()), Ok(()));
        assert_eq!(fed(3).await.map_err(|error| error.kind()), Ok(()));
        for too_few in 0..3 {
            let gone = fed(too_few).await.map_err(|error| error.kind());
            assert_eq!(gone, Err(ErrorKind::BrokenPipe), "{too_few}");
        }
    }
}
