//! Calls of tools without ids, as Ollama and the older dialect of OpenAI make them: a call and its answer are one step.

use std::time::Duration;

use memory_core::engine::{ContextRequest, Retained, Retention, Session};
use memory_core::message::Defaults;
use memory_core::store::chat::{Page, View};
use memory_core::{Message, MessageId, Role, Seq};
use serde_json::{Value, json};

use crate::bench::{Bench, Taps};

/// Returns a call and its answer in each dialect without ids.
fn steps() -> [[Value; 2]; 2] {
    let words = "Let me look.";
    let call = json!({ "name": "weather", "arguments": { "city": "Porto" } });
    let legacy = json!({ "name": "weather", "arguments": "{}" });
    [
        [
            json!({ "role": "assistant", "content": words, "tool_calls": [{ "function": call }] }),
            json!({ "role": "tool", "content": "Rain." }),
        ],
        [
            json!({ "role": "assistant", "content": words, "function_call": legacy }),
            json!({ "role": "function", "name": "weather", "content": "Rain." }),
        ],
    ]
}

/// Returns a question, the step, and the answer.
fn turn(bench: &Bench, step: &[Value; 2]) -> Vec<Message> {
    let read = |value: &Value| {
        bench.clock.advance(Duration::from_secs(1));
        Message::from_openai(value, Defaults { id: MessageId::fresh(), at: bench.memory.now() }).unwrap()
    };
    let asked = bench.user("Will it rain?");
    let [call, result] = step.each_ref().map(read);
    vec![asked, call, result, bench.say(Role::Assistant, "It will.")]
}

async fn left(talk: &Session) -> Vec<String> {
    let rows = talk.read(&Page::after(Seq(0), 100, View::Log)).await.unwrap().messages;
    rows.iter().filter_map(|row| row.message.as_deref()).map(Message::text).collect()
}

#[tokio::test]
async fn a_call_without_id_lapses_with_its_answer_and_not_before() {
    for step in steps() {
        let retention = Retention::default().with_messages(2);
        let bench = Bench::with(Taps::default(), |builder| builder.retention(Retained::Everything, retention)).await;
        let talk = bench.session("ada");
        talk.append(turn(&bench, &step)).await.unwrap();
        bench.tend().await;
        assert_eq!(left(&talk).await, ["Let me look.", "Rain.", "It will."]);
        talk.append(vec![bench.user("Thank you.")]).await.unwrap();
        bench.clock.advance(Duration::from_secs(60));
        bench.tend().await;
        assert_eq!(left(&talk).await, ["It will.", "Thank you."]);
    }
}

#[tokio::test]
async fn a_call_without_id_is_in_a_context_with_its_answer_or_not_at_all() {
    for step in steps() {
        let bench = Bench::new().await;
        let talk = bench.session("ada");
        talk.append(turn(&bench, &step)).await.unwrap();
        talk.append(vec![bench.user("Thank you.")]).await.unwrap();
        let tokens = talk.state().await.unwrap().active_tokens;
        let mut counts = Vec::new();
        for budget in [tokens - 1, 1_000] {
            let context = talk.assemble(&ContextRequest::new("", budget).recall(0)).await.unwrap();
            let texts: Vec<String> = context.messages().map(Message::text).collect();
            let is_in = |text: &str| texts.iter().any(|said| said == text);
            assert_eq!(is_in("Let me look."), is_in("Rain."), "{texts:?}");
            counts.push(texts.len());
        }
        assert_eq!(counts, [1, 5]);
        // While the call waits for its answer, no model would take it.
        let mut unanswered = turn(&bench, &step);
        unanswered.truncate(2);
        talk.append(unanswered).await.unwrap();
        let context = talk.assemble(&ContextRequest::new("", 1_000).recall(0)).await.unwrap();
        assert_eq!(context.messages().last().unwrap().text(), "Will it rain?");
    }
}
