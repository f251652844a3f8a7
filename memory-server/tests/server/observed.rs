//! What is told of a request: the id that its answer bears. Its line of the log is read where the program runs.

use memory::MessageId;

use crate::bed::{Bed, Call};

#[tokio::test]
async fn an_answer_bears_the_id_that_its_request_gave_or_a_new_one() {
    let bed = Bed::new().await;
    let id = async |call: Call| {
        let answer = bed.send(call).await;
        answer.headers.get("x-request-id").map(|id| id.to_str().unwrap().to_owned())
    };
    let given = |id: &str| Call::get("/v1/sessions").by(&bed.ada).header("x-request-id", id);
    let (longest, too_long) = ("a".repeat(64), "a".repeat(65));
    for right in ["7", "0190b0a0-0000-7000-8000-00000000000a", &longest] {
        assert_eq!(id(given(right)).await.as_deref(), Some(right));
    }
    // Nothing that could fill a log, or look like something else in it.
    for wrong in ["", "a b", "a\"b", "größe", &too_long] {
        let fresh = id(given(wrong)).await.unwrap();
        assert!(fresh != wrong && fresh.parse::<MessageId>().is_ok(), "{wrong}: {fresh}");
    }
    let unnamed = || Call::get("/v1/sessions").by(&bed.ada);
    assert_ne!(id(unnamed()).await, id(unnamed()).await);
}

#[tokio::test]
async fn what_fails_bears_an_id_too_but_for_what_is_refused_for_its_token() {
    let bed = Bed::new().await;
    for (status, call) in [
        (200, Call::get("/health")),
        (400, Call::get("/v1/records?after=x").by(&bed.ada)),
        (403, Call::get("/health").header("host", "evil.example")),
        (404, Call::get("/nothing")),
        (405, Call::delete("/health")),
    ] {
        let answer = bed.send(call.header("x-request-id", "7")).await;
        assert_eq!((answer.status, answer.headers["x-request-id"].to_str().unwrap()), (status, "7"));
    }
    let refused = bed.send(Call::get("/v1/sessions").header("x-request-id", "7")).await;
    assert_eq!((refused.status, refused.headers.get("x-request-id")), (401, None));
}
