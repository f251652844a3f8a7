//! What a chat model is sent, and what is made of its answer.

use memory_core::message::Block;
use memory_core::{Message, Role, Timestamp};
use memory_models::{Answer, Anthropic, ChatModel, ChatRequest, Ollama, OpenAi, StopReason, Usage};
use memory_testkit::wire::{Asked, Reply, Server, anthropic, ollama, openai};
use serde_json::{Value, json};

use crate::support::{KEY, PIECES, WIRES, Wire, config, question, said, stream};

fn bounded() -> ChatRequest {
    question().with_max_tokens(90).with_temperature(0.7)
}

#[tokio::test]
async fn openai_is_asked_in_its_shape() {
    let server = Server::start(|_| Reply::json(&openai::answer("Lima."))).await;
    let own = OpenAi::with_config(config(&server.url("/v1"))).unwrap();
    let answer = own.chat("gpt-5-mini").answer(&bounded()).await.unwrap();
    let usage = Some(Usage { input: 19, output: 10 });
    assert_eq!(answer, Answer { text: "Lima.".to_owned(), stop: StopReason::End, usage });
    let asked = server.asked().remove(0);
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {KEY}")));
    let expected = json!({
        "model": "gpt-5-mini",
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "What is the capital of Peru?" }
        ],
        "max_completion_tokens": 90,
        "temperature": 0.7
    });
    assert_eq!(asked.json(), expected);
}

#[tokio::test]
async fn a_compatible_server_is_asked_by_the_older_names() {
    let server = Server::start(|_| Wire::OpenAi.stream(&PIECES)).await;
    let model = Wire::OpenAi.of(&server);
    let request = ChatRequest::new(vec![said(Role::Developer, "Be brief."), said(Role::User, "And now?")]);
    stream(model.as_ref(), &request.with_max_tokens(9)).await.0.unwrap();
    let body = server.asked().remove(0).json();
    assert_eq!(body["messages"][0]["role"], "system");
    assert_eq!((&body["max_tokens"], &body["stream"]), (&json!(9), &json!(true)));
    assert_eq!(body["stream_options"], json!({ "include_usage": true }));
}

#[tokio::test]
async fn who_has_a_name_that_openai_refuses_is_named_in_the_words() {
    let server = Server::start(|_| Wire::OpenAi.whole("x")).await;
    let named = |role, name: &str| said(role, "Hi.").with_speaker(name);
    let messages = vec![
        named(Role::User, "Ada-1"),
        named(Role::User, "Ada Lovelace"),
        named(Role::User, "Zoë"),
        named(Role::Assistant, "Dr. Who"),
        named(Role::Assistant, "Ада"),
    ];
    Wire::OpenAi.of(&server).answer(&ChatRequest::new(messages)).await.unwrap();
    let expected = json!([
        { "role": "user", "name": "Ada-1", "content": "Hi." },
        { "role": "user", "content": "Ada Lovelace: Hi." },
        { "role": "user", "content": "Zoë: Hi." },
        { "role": "assistant", "name": "Dr__Who", "content": "Hi." },
        { "role": "assistant", "content": "Hi." }
    ]);
    assert_eq!(server.asked().remove(0).json()["messages"], expected);
}

#[tokio::test]
async fn azure_is_asked_by_its_path_version_and_header() {
    let server = Server::start(|_| Reply::json(&openai::answer("Lima."))).await;
    let url = server.url("/openai/deployments/mine?api-version=2024-10-21");
    OpenAi::azure(config(&url)).unwrap().chat("mine").answer(&question()).await.unwrap();
    let asked = server.asked().remove(0);
    assert_eq!(asked.path, "/openai/deployments/mine/chat/completions?api-version=2024-10-21");
    assert_eq!((asked.header("api-key"), asked.header("authorization")), (Some(KEY), None));
}

#[tokio::test]
async fn anthropic_is_asked_in_its_shape() {
    let server = Server::start(|_| Reply::json(&anthropic::answer("Lima."))).await;
    let model = Anthropic::with_config(config(&server.url("/v1"))).unwrap().chat("claude-sonnet-4-5");
    let answer = model.answer(&bounded()).await.unwrap();
    // What a cache held was part of the request.
    let usage = Some(Usage { input: 2_200, output: 503 });
    assert_eq!(answer, Answer { text: "Lima.".to_owned(), stop: StopReason::End, usage });
    let asked = server.asked().remove(0);
    assert_eq!(asked.path, "/v1/messages");
    assert_eq!((asked.header("x-api-key"), asked.header("anthropic-version")), (Some(KEY), Some("2023-06-01")));
    let expected = json!({
        "model": "claude-sonnet-4-5",
        "system": [{ "type": "text", "text": "Be brief." }],
        "messages": [{ "role": "user", "content": [{ "type": "text", "text": "What is the capital of Peru?" }] }],
        "max_tokens": 90,
        "temperature": 0.7
    });
    assert_eq!(asked.json(), expected);
    model.answer(&question()).await.unwrap();
    assert_eq!(server.asked()[1].json()["max_tokens"], 8_192, "the API demands a bound");
}

#[tokio::test]
async fn ollama_is_asked_in_its_shape() {
    let server = Server::start(|_| Reply::json(&ollama::answer("Lima."))).await;
    let model = Ollama::with_config(config(&server.url(""))).unwrap().chat("llama3.2");
    let answer = model.answer(&bounded()).await.unwrap();
    let usage = Some(Usage { input: 26, output: 298 });
    assert_eq!(answer, Answer { text: "Lima.".to_owned(), stop: StopReason::End, usage });
    let asked = server.asked().remove(0);
    assert_eq!(asked.path, "/api/chat");
    let expected = json!({
        "model": "llama3.2",
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "What is the capital of Peru?" }
        ],
        "stream": false,
        "options": { "num_predict": 90, "temperature": 0.7, "num_ctx": 8_192 },
        "truncate": false,
        "shift": false
    });
    assert_eq!(asked.json(), expected);
}

#[tokio::test]
async fn ollama_is_asked_for_a_window_that_holds_the_whole_request() {
    let server = Server::start(|_| Wire::Ollama.whole("x")).await;
    let model = Ollama::with_config(config(&server.url(""))).unwrap().chat("m");
    let long = |words: usize| ChatRequest::new(vec![said(Role::User, &"sea ".repeat(words))]).with_max_tokens(500);
    for words in [1, 6_000, 40_000] {
        let answer = model.clone().with_window(200_000).answer(&long(words)).await;
        assert_eq!(answer.unwrap().text, "x", "{words}");
    }
    let window = |asked: &Asked| asked.json()["options"]["num_ctx"].as_u64().unwrap();
    let windows: Vec<u64> = server.asked().iter().map(window).collect();
    assert!(windows[0] == 8_192 && windows[1] >= 8_192 && windows[2] >= 65_536, "{windows:?}");
    let error = model.answer(&long(40_000)).await.unwrap_err();
    assert!(matches!(error, memory_core::Error::Invalid { .. }), "{error:?}");
    assert_eq!(server.requests(), 3, "what does not fit is not sent");
    // Thoughts are part of an answer, and one without a bound has room for them.
    model.answer(&question()).await.unwrap();
    assert_eq!(window(&server.asked().remove(3)), 16_384);
}

/// A call of a tool and its result.
fn tools() -> ChatRequest {
    let call = Block::ToolCall {
        id: "c1".to_owned(),
        name: "weather".to_owned(),
        arguments: "{\"city\":\"Lima\"}".to_owned(),
        extra: serde_json::Map::new(),
    };
    ChatRequest::new(vec![
        said(Role::User, "Will it rain?"),
        Message::of_blocks(Role::Assistant, vec![call], Timestamp(0)),
        Message::of_blocks(Role::Tool, vec![Block::tool_result("c1", vec![Block::text("no")])], Timestamp(0)),
    ])
}

#[tokio::test]
async fn calls_and_results_are_sent_in_the_shape_of_each_vendor() {
    for wire in WIRES {
        let server = Server::start(move |_| wire.whole("No.")).await;
        wire.of(&server).answer(&tools()).await.unwrap();
        let messages = server.asked().remove(0).json()["messages"].clone();
        let (call, result) = match wire {
            Wire::OpenAi => (&messages[1]["tool_calls"][0]["function"]["name"], &messages[2]["content"]),
            Wire::Anthropic => (&messages[1]["content"][0]["name"], &messages[2]["content"][0]["content"]),
            Wire::Ollama => (&messages[1]["tool_calls"][0]["function"]["name"], &messages[2]["content"]),
        };
        assert_eq!(call, "weather", "{wire:?}");
        assert!(result.to_string().contains("no"), "{wire:?}: {messages}");
    }
}

#[tokio::test]
async fn a_stream_gives_pieces_and_then_the_whole_answer_however_it_is_split() {
    for wire in WIRES {
        for size in [1, 2, 7, 64, 10_000] {
            let server = Server::start(move |_| wire.stream(&PIECES).in_parts_of(size)).await;
            let (answer, pieces) = stream(wire.of(&server).as_ref(), &question()).await;
            let answer = answer.unwrap();
            assert_eq!((pieces, answer.text), (PIECES.map(str::to_owned).to_vec(), PIECES.concat()), "{wire:?} {size}");
            let input = match wire {
                Wire::OpenAi => 19,
                Wire::Anthropic => 25,
                Wire::Ollama => 26,
            };
            assert_eq!((answer.stop, answer.usage.unwrap().input), (StopReason::End, input));
            assert_eq!(server.asked()[0].json()["stream"], json!(true));
        }
    }
}

#[tokio::test]
async fn an_answer_that_comes_whole_in_place_of_a_stream_is_taken_as_it_is() {
    for wire in WIRES {
        for size in [3, 10_000] {
            let server = Server::start(move |_| wire.whole("Lima.").in_parts_of(size)).await;
            let (answer, pieces) = stream(wire.of(&server).as_ref(), &question()).await;
            let answer = answer.unwrap();
            assert_eq!((answer.text.as_str(), answer.stop), ("Lima.", StopReason::End), "{wire:?}");
            assert_eq!(pieces, ["Lima."], "{wire:?}");
            assert_eq!(server.requests(), 1, "{wire:?}");
        }
    }
}

#[tokio::test]
async fn what_a_server_tells_in_place_of_a_stream_is_told() {
    for wire in [Wire::OpenAi, Wire::Anthropic] {
        let quota = openai::error("insufficient_quota", "insufficient_quota", "You exceeded");
        let page = Reply::new(200, "text/html", "<html>Sign in</html>");
        for (reply, why) in [(Reply::json(&quota), "insufficient_quota"), (page, "a page, and no stream")] {
            let server = Server::start(move |_| reply.clone()).await;
            let error = stream(wire.of(&server).as_ref(), &question()).await.0.unwrap_err();
            assert!(error.with_causes().ends_with(why) && !error.is_retryable(), "{wire:?}: {error:?}");
            assert_eq!(server.requests(), 1, "{wire:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_tells_its_end_by_its_mark_needs_no_other() {
    for wire in WIRES {
        let server = Server::start(move |_| wire.stream(&PIECES).until_closed()).await;
        assert_eq!(stream(wire.of(&server).as_ref(), &question()).await.0.unwrap().text, PIECES.concat());
        // What comes behind the mark is not waited for.
        let whole = wire.stream(&PIECES).until_closed();
        let size = whole.size();
        let server = Server::start(move |_| whole.clone().hang_at(size)).await;
        assert_eq!(stream(wire.of(&server).as_ref(), &question()).await.0.unwrap().text, PIECES.concat());
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_its_mark_is_no_answer() {
    for wire in WIRES {
        let whole = wire.stream(&PIECES).until_closed();
        // Behind the pieces, before what ends them.
        let cut = match wire {
            Wire::OpenAi => whole.size() - 600,
            Wire::Anthropic => whole.size() - 320,
            Wire::Ollama => whole.size() - 200,
        };
        let server = Server::start(move |_| whole.clone().cut_at(cut)).await;
        let (answer, pieces) = stream(wire.of(&server).as_ref(), &question()).await;
        let error = answer.unwrap_err();
        assert!(error.is_retryable() && error.with_causes().ends_with("the answer broke off"), "{wire:?}: {error:?}");
        assert!(!pieces.is_empty(), "{wire:?}");
        assert_eq!(server.requests(), 1, "what was given on is not asked for again");
    }
}

#[tokio::test]
async fn why_an_answer_ended_is_told() {
    let reasons = |wire: Wire| match wire {
        Wire::OpenAi => [
            ("stop", "/choices/0/finish_reason"),
            ("length", ""),
            ("content_filter", ""),
            ("tool_calls", ""),
            ("x", ""),
        ],
        Wire::Anthropic => {
            [("end_turn", "/stop_reason"), ("max_tokens", ""), ("refusal", ""), ("tool_use", ""), ("pause_turn", "")]
        }
        Wire::Ollama => [("stop", "/done_reason"), ("length", ""), ("", ""), ("", ""), ("load", "")],
    };
    let expected = [StopReason::End, StopReason::Length, StopReason::Refused, StopReason::Tool, StopReason::Other];
    for wire in WIRES {
        let place = reasons(wire)[0].1;
        for ((name, _), stop) in reasons(wire).into_iter().zip(expected).filter(|((name, _), _)| !name.is_empty()) {
            let mut value: Value = match wire {
                Wire::OpenAi => openai::answer("x"),
                Wire::Anthropic => anthropic::answer("x"),
                Wire::Ollama => ollama::answer("x"),
            };
            *value.pointer_mut(place).unwrap() = name.into();
            let server = Server::start(move |_| Reply::json(&value)).await;
            assert_eq!(wire.of(&server).answer(&question()).await.unwrap().stop, stop, "{wire:?} {name}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_the_server_interrupted_is_none() {
    for reason in ["insufficient_system_resource", "abort", "error"] {
        let mut value = openai::answer("Lima is");
        value["choices"][0]["finish_reason"] = reason.into();
        let body =
            openai::stream(&PIECES).replace(r#""finish_reason":"stop""#, &format!(r#""finish_reason":"{reason}""#));
        assert!(body.contains(reason));
        let whole = Server::start(move |_| Reply::json(&value)).await;
        let streamed = Server::start(move |_| Reply::stream(openai::STREAM, body.clone())).await;
        let answers = [
            Wire::OpenAi.of(&whole).answer(&question()).await,
            stream(Wire::OpenAi.of(&streamed).as_ref(), &question()).await.0,
        ];
        for error in answers.map(Result::unwrap_err) {
            assert!(error.is_retryable(), "{reason}: {error:?}");
        }
    }
}

#[tokio::test]
async fn an_empty_reason_in_every_chunk_is_no_end() {
    let whole = openai::stream(&PIECES).replace(r#""finish_reason":null"#, r#""finish_reason":"""#);
    let (cut, _) = whole.split_once(r#""finish_reason":"stop""#).unwrap();
    let cut = cut.rsplit_once("data: ").unwrap().0.to_owned();
    let server = Server::start(move |_| Reply::stream(openai::STREAM, cut.clone())).await;
    assert!(stream(Wire::OpenAi.of(&server).as_ref(), &question()).await.0.is_err());
    let server = Server::start(move |_| Reply::stream(openai::STREAM, whole.clone())).await;
    let answer = stream(Wire::OpenAi.of(&server).as_ref(), &question()).await.0.unwrap();
    assert_eq!((answer.text, answer.stop), (PIECES.concat(), StopReason::End));
}

#[tokio::test]
async fn a_refusal_is_told_as_one_with_its_words() {
    let mut value = openai::answer("");
    value["choices"][0]["message"]["content"] = Value::Null;
    value["choices"][0]["message"]["refusal"] = "I will not.".into();
    let server = Server::start(move |_| Reply::json(&value)).await;
    let answer = Wire::OpenAi.of(&server).answer(&question()).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("I will not.", StopReason::Refused));
}

#[tokio::test]
async fn media_that_a_wire_cannot_take_are_refused_and_not_left_out() {
    let server = Server::start(|_| Wire::Ollama.whole("x")).await;
    let image =
        Block::Media { value: json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AA==" } }) };
    let request = ChatRequest::new(vec![Message::of_blocks(Role::User, vec![image], Timestamp(0))]);
    let error = Wire::Ollama.of(&server).answer(&request).await.unwrap_err();
    assert!(matches!(error, memory_core::Error::Invalid { .. }), "{error:?}");
    assert_eq!(server.requests(), 0);
}
