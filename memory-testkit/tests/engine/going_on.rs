//! Contexts in the middle of a turn: which message is the query, and what stands before it.

use memory_core::engine::{Context, PartKind, Remember};
use memory_core::message::Defaults;
use memory_core::{Message, MessageId};
use serde_json::{Value, json};

use crate::bench::Bench;

fn read(bench: &Bench, role: &str, block: &Value) -> Message {
    let value = json!({ "role": role, "content": [block] });
    Message::from_anthropic(&value, Defaults { id: MessageId::fresh(), at: bench.memory.now() }).unwrap()
}

/// Returns a call of a tool that asks the person, and its result: a message of the role `user`, as Anthropic's dialect has it.
fn answered(bench: &Bench, answer: &str) -> [Message; 2] {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "ask_user", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": answer });
    [read(bench, "assistant", &call), read(bench, "user", &result)]
}

fn texts(context: &Context) -> Vec<String> {
    context.messages().map(Message::text).collect()
}

#[tokio::test]
async fn the_answer_to_a_call_is_never_taken_for_the_query() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.remember(Remember::fact("The rose that is called Aurora climbs the wall")).await.unwrap();
    let talk = bench.session("ada");
    let (answer, mut turn) = ("My rose is called Aurora", vec![bench.user("Please plan my garden.")]);
    turn.extend(answered(&bench, answer));
    talk.append(turn).await.unwrap();
    bench.tend().await;
    let context = talk.context(answer, 1_000).await.unwrap();
    let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    let history = [PartKind::History; 3];
    assert_eq!(kinds, [&history[..], &[PartKind::Recalled, PartKind::Query]].concat(), "nothing parts call and result");
}

#[tokio::test]
async fn a_query_stands_once_although_a_call_was_answered_behind_it() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    let query = "What is my rose called?";
    let mut turn = vec![bench.user(query)];
    turn.extend(answered(&bench, "Aurora"));
    talk.append(turn).await.unwrap();
    let context = talk.context(query, 1_000).await.unwrap();
    assert_eq!((texts(&context).len(), context.parts[0].kind), (3, PartKind::Query), "{:?}", texts(&context));
}
