//! Contexts in the middle of a turn: which message is the query, and what stands before it.

use memory_core::engine::{Context, ContextRequest, PartKind, Remember};
use memory_core::message::Defaults;
use memory_core::store::chat::Page;
use memory_core::window::{BufferConfig, Oversize};
use memory_core::{Error, Message, MessageId, Role};
use serde_json::{Value, json};

use crate::bench::{Bench, Taps, session};

fn read(bench: &Bench, role: &str, blocks: &[Value]) -> Message {
    let value = json!({ "role": role, "content": blocks });
    Message::from_anthropic(&value, Defaults { id: MessageId::fresh(), at: bench.memory.now() }).unwrap()
}

/// Returns a call of a tool that asks the person, and its result: a message of the role `user`, as Anthropic's dialect has it.
fn answered(bench: &Bench, answer: &str) -> [Message; 2] {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "ask_user", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": answer });
    [read(bench, "assistant", &[call]), read(bench, "user", &[result])]
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

#[tokio::test]
async fn a_query_stands_once_although_the_steps_behind_it_were_folded_twice() {
    let config = BufferConfig::default().with_limit(1_500);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(config)).await;
    let talk = bench.session("ada");
    let query = "Find all roses that flower in autumn.";
    talk.append(vec![bench.user(query)]).await.unwrap();
    for half in 0..2 {
        for step in 0..40 {
            let found = format!("Bed {half}{step} has {} roses, none in flower as far as one can see.", step * 7);
            talk.append(Vec::from(answered(&bench, &found))).await.unwrap();
        }
        assert!(bench.memory.upkeep_once().await.unwrap().summarised > 0);
    }
    let rows = talk.read(&Page::newest(1_000)).await.unwrap().messages;
    assert!(rows.iter().filter(|row| row.covers.is_some()).count() > 1, "{rows:?}");
    let context = talk.context(query, 1_500).await.unwrap();
    let told = texts(&context);
    assert_eq!(told.iter().filter(|text| *text == query).count(), 1, "{told:?}");
}

#[tokio::test]
async fn a_query_behind_a_reply_that_answers_its_own_calls_is_a_new_one() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    // Some providers run tools themselves.
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "look", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": "Two beds." });
    let reply = read(&bench, "assistant", &[call, result, json!({ "type": "text", "text": "So far two beds." })]);
    talk.append(vec![bench.user("continue"), reply]).await.unwrap();
    let context = talk.context("continue", 1_000).await.unwrap();
    let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    assert_eq!(kinds, [PartKind::History, PartKind::History, PartKind::Query]);
    talk.append(vec![bench.user("continue"), bench.say(Role::Assistant, "There are three.")]).await.unwrap();
    assert_eq!(talk.context("continue", 1_000).await.unwrap().parts.len(), 5);
}

#[tokio::test]
async fn a_query_stands_once_although_its_turn_begins_before_the_first_page() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    let query = "Count the roses in all beds.";
    let mut turn = vec![bench.user(query)];
    for bed in 0..40 {
        turn.extend(answered(&bench, &format!("Bed {bed} has {} roses, none in flower.", bed * 7)));
    }
    talk.append(turn).await.unwrap();
    let kept = ContextRequest::new(query, 200).oversize(Oversize::Keep);
    let few = ContextRequest::new(query, 10_000).newest(10);
    for request in [kept, few] {
        let context = talk.assemble(&request.recall(0)).await.unwrap();
        assert_eq!((context.parts.len(), context.parts[0].kind), (81, PartKind::Query), "{}", context.receipt);
    }
}

#[tokio::test]
async fn a_query_stands_once_although_the_result_behind_it_fills_the_first_page() {
    let bench = Bench::new().await;
    for (name, query) in [("short", "Count the roses.".to_owned()), ("long", "a long story about roses ".repeat(200))] {
        let talk = bench.owner("ada").session(&session(name));
        let mut turn = vec![bench.user(&query)];
        turn.extend(answered(&bench, &"one rose and ".repeat(200)));
        talk.append(turn).await.unwrap();
        let request = ContextRequest::new(query, 200).recall(0).oversize(Oversize::TruncateMiddle);
        let context = talk.assemble(&request).await.unwrap();
        let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
        assert_eq!(kinds, [PartKind::Query, PartKind::History, PartKind::History], "{name}");
        assert!(context.tokens() <= 200 && context.receipt.history.truncated > 0, "{name}: {}", context.receipt);
    }
}

#[tokio::test]
async fn a_query_behind_words_beside_a_result_is_a_new_one() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "look", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": "Two beds." });
    let both = read(&bench, "user", &[result, json!({ "type": "text", "text": "and hurry" })]);
    talk.append(vec![bench.user("continue"), read(&bench, "assistant", &[call]), both]).await.unwrap();
    // Neither the older words nor those beside the result are what is asked now.
    for query in ["continue", "and hurry"] {
        let context = talk.context(query, 1_000).await.unwrap();
        let told = texts(&context);
        assert_eq!((context.parts[3].kind, told.len()), (PartKind::Query, 4), "{told:?}");
        assert_eq!(told[3], query);
    }
}

#[tokio::test]
async fn a_query_that_is_too_large_is_cut_or_kept_where_it_was_appended() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    let query = "a long story about roses ".repeat(200);
    talk.append(vec![bench.user(&query)]).await.unwrap();
    let request = |oversize: Oversize| ContextRequest::new(query.as_str(), 200).oversize(oversize);
    let cut = talk.assemble(&request(Oversize::TruncateMiddle)).await.unwrap();
    assert_eq!((cut.parts.len(), cut.parts[0].kind, cut.receipt.history.truncated), (1, PartKind::Query, 1));
    assert!(cut.tokens() <= 200 && cut.parts[0].message.text().contains("characters cut"), "{}", cut.receipt);
    let kept = talk.assemble(&request(Oversize::Keep)).await.unwrap();
    assert_eq!(texts(&kept), [query.as_str()]);
    let other = bench.owner("ada").session(&session("other"));
    for refused in [
        talk.assemble(&request(Oversize::Error)).await,
        other.assemble(&request(Oversize::TruncateMiddle)).await,
        other.assemble(&request(Oversize::Keep)).await,
    ] {
        assert!(matches!(refused, Err(Error::OverBudget { budget: 200, .. })), "{refused:?}");
    }
}
