//! What stands before every operation: the hosts, the token, the places, and the deadline.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use memory::store::outlive::to_end;
use tokio::time::timeout;

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::routes::sending::kept;
use crate::token::MARK;

/// Refuses what names another server, or holds a token in its address, which others would log.
pub(crate) async fn address(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if holds_token(request.uri()) {
        return Problem::bad("a token stands in the header Authorization, never in an address").into_response();
    }
    match app.hosts.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn holds_token(uri: &Uri) -> bool {
    // All of it: a request to a proxy has an authority, and that may have a user.
    let text = uri.to_string();
    let hex = |digit: Option<&u8>| digit.and_then(|digit| char::from(*digit).to_digit(16));
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        let coded = (*byte == b'%').then(|| hex(after.first()).zip(hex(after.get(1)))).flatten();
        match coded.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                plain.push(*byte);
                rest = after;
            }
        }
    }
    let begins = |place: usize| plain.get(place..).is_some_and(|rest| rest.starts_with(MARK.as_bytes()));
    let is_id = |place: usize| {
        let id = plain.get(place..place + 16);
        id.is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit)) && plain.get(place + 16) == Some(&b'_')
    };
    (0..plain.len()).any(|place| begins(place) && is_id(place + MARK.len()))
}

/// Lets who has a token pass, if there is a place, and answers at the deadline.
///
/// A write whose client goes away, or has waited long enough, comes to its end in a task of its own, and keeps its place until then.
/// A long answer keeps it until it is sent.
pub(crate) async fn enter(app: Arc<App>, deadline: Duration, mut request: Request, next: Next) -> Response {
    let caller = match Caller::of(request.headers(), &app.tokens, &app.memory) {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let place = match app.place(&caller.grant) {
        Ok(place) => place,
        Err(problem) => return problem.into_response(),
    };
    let place = Arc::new(place);
    request.extensions_mut().insert(caller);
    // For an answer that is sent long after it was made.
    request.extensions_mut().insert(Arc::clone(&place));
    let patience = app.config.transfer_deadline;
    let work = AssertUnwindSafe(async move {
        let response = next.run(request).await;
        kept(response, place, patience).await
    });
    match timeout(deadline, to_end(work.catch_unwind())).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the request failed").into_response(),
        Err(_) => Problem::later(StatusCode::SERVICE_UNAVAILABLE, "the request took too long").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_seen_in_an_address_however_it_is_written() {
        let id = "0123456789abcdef";
        for text in [
            format!("/?token=mem_{id}_00"),
            format!("/mem%5F{id}_"),
            format!("/v1/%6dem_{id}%5f0?x"),
            format!("http://mem_{id}_00@localhost/"),
        ] {
            assert!(holds_token(&text.parse().unwrap()), "{text}");
        }
        for text in ["/v1/sessions/mem_talk", "/?q=mem_0123456789abcde_", "/%", "/%5", "/%zz?mem_"] {
            assert!(!holds_token(&text.parse().unwrap()), "{text}");
        }
    }
}
