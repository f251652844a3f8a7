//! Chat JSON of both dialects: read, stored, fitted into a budget with what is recalled, and written for a model. The input is an
//! object: `messages`, and what the request says, such as `budget` and `query`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory::message::{Defaults, Slot};
use memory::window::{Budget, Oversize};
use memory::{Block, Context, ContextRequest, Error, Message, MessageId, Scoped, SessionId};
use memory_fuzz::{NOW, ada, memory, number, run};
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let Some(given) = value.get("messages").and_then(Value::as_array) else { return };
    let messages: Vec<Message> = given.iter().zip(0..).flat_map(|(value, place)| read(value, place)).collect();
    run(async {
        let place = memory().await;
        let ada = ada(&place);
        let session = ada.session(&SessionId::new("talk").expect("a name"));
        for message in messages {
            match session.append(vec![message]).await {
                Ok(_) | Err(Error::Invalid { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        assemble(&ada, &value).await;
    });
});

/// Reads a message of either dialect. What is read is written back as it was.
fn read(value: &Value, place: u64) -> Option<Message> {
    let defaults = Defaults { id: MessageId::of_content(&place.to_le_bytes()), at: NOW };
    if let Ok(message) = Message::from_openai(value, defaults) {
        assert_eq!(message.to_openai(), *value);
        kept(&message);
    }
    if let Ok(message) = Message::from_anthropic(value, defaults) {
        assert_eq!(message.to_anthropic(), *value);
        kept(&message);
    }
    Message::from_chat(value, defaults).ok()
}

fn kept(message: &Message) {
    let bytes = message.encode();
    assert_eq!(bytes.len(), message.encoded_len());
    assert_eq!(Message::decode("fuzz", &bytes).expect("its own bytes"), *message);
}

async fn assemble(ada: &Scoped, value: &Value) {
    let oversize = [Oversize::Error, Oversize::TruncateMiddle, Oversize::Keep];
    let policy = oversize[number(value, "oversize").unwrap_or(0) as usize % 3];
    let budget = Budget::new(number(value, "budget").unwrap_or(300)).reserve(number(value, "reserve").unwrap_or(0));
    let query = value.get("query").and_then(Value::as_str).unwrap_or_default();
    let recall = number(value, "recall").unwrap_or(3) as usize % 20;
    let mut request = ContextRequest::new(query, budget).oversize(policy).recall(recall);
    if let Some(newest) = number(value, "newest") {
        request = request.newest(newest);
    }
    request = request.asides(value.get("asides").is_some());
    let sessions = [SessionId::new("talk"), SessionId::new("beside")].map(|name| name.expect("a name"));
    for session in &sessions {
        match ada.session(session).assemble(&request).await {
            Ok(context) => whole(&context, &request),
            Err(Error::OverBudget { .. }) => {
                // A question is no turn: it has to fit.
                let may_fail = policy != Oversize::Keep || budget.reserve > budget.limit || !query.is_empty();
                assert!(may_fail, "{budget:?}");
            }
            Err(Error::Invalid { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Looks at what a model would be sent.
fn whole(context: &Context, request: &ContextRequest) {
    let tokens: u64 = context.parts.iter().map(|part| part.tokens).sum();
    assert_eq!(context.tokens(), tokens, "{}", context.receipt);
    if request.oversize != Some(Oversize::Keep) {
        assert!(tokens + request.budget.reserve <= request.budget.limit, "{}", context.receipt);
    }
    context.messages().for_each(|message| drop((message.author(), message.text())));
    assert!(!context.receipt.to_string().is_empty());
    let (of_openai, of_anthropic) = (context.to_openai(), context.to_anthropic());
    if !context.messages().any(is_broken) {
        openai(&of_openai);
        anthropic(&of_anthropic);
    }
}

/// Returns whether a call or a result is not as any model writes it. It is kept as it was received, and nobody can pair it.
fn is_broken(message: &Message) -> bool {
    message.blocks.iter().any(|block| match block {
        Block::Other { slot: Slot::Content, value } => value["type"] == "tool_use" || value["type"] == "tool_result",
        _ => false,
    })
}

/// Each result stands behind its call, with no other message between but results. Dialects without ids answer in order.
fn openai(messages: &[Value]) {
    let mut open: Vec<Option<&str>> = Vec::new();
    for message in messages {
        let text = |member: &str| message.get(member).and_then(Value::as_str);
        match text("role") {
            Some("tool" | "function") => {
                let id = text("tool_call_id");
                let asked = open.iter().position(|asked| id.is_none() || *asked == id);
                open.remove(asked.unwrap_or_else(|| panic!("a result of no call: {messages:#?}")));
            }
            Some("system" | "developer") => {}
            role => {
                assert!(open.is_empty(), "calls without results: {messages:#?}");
                // To another role it is a member like any that is not known.
                let calls = message.get("tool_calls").filter(|_| role == Some("assistant"));
                let calls = calls.and_then(Value::as_array).into_iter().flatten();
                open = calls.map(|call| call.get("id").and_then(Value::as_str)).collect();
                let legacy = message.get("function_call").filter(|call| call.is_object() && role == Some("assistant"));
                open.extend(legacy.map(|_| None));
            }
        }
    }
    assert!(open.is_empty(), "calls without results: {messages:#?}");
}

/// The roles take turns, the person begins, and each call has its result in the next message.
fn anthropic(request: &Value) {
    let turns = request["messages"].as_array().expect("messages");
    let ids = |turn: &Value, kind: &str, member: &str| -> Vec<String> {
        let pieces = turn["content"].as_array().into_iter().flatten();
        let of_kind = pieces.filter(|piece| piece["type"] == kind);
        of_kind.map(|piece| piece[member].as_str().unwrap_or_default().to_owned()).collect()
    };
    let mut asked: Vec<String> = Vec::new();
    for (turn, role) in turns.iter().zip(["user", "assistant"].iter().cycle()) {
        assert_eq!(turn["role"], *role, "{turns:#?}");
        assert_ne!(turn["content"].as_array().map(Vec::len), Some(0), "{turns:#?}");
        let mut answered = ids(turn, "tool_result", "tool_use_id");
        (asked.sort(), answered.sort());
        assert_eq!(asked, answered, "{turns:#?}");
        asked = ids(turn, "tool_use", "id");
    }
    assert_eq!(asked, [""; 0], "{turns:#?}");
}
