//! The example as a person runs it, with a server of each vendor's shape in its place.

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use memory::model::HashEmbedder;
    use memory_testkit::wire::{Asked, Reply, Server, anthropic, cohere, ollama, openai};
    use tokio::runtime::Runtime;

    const PIECES: [&str; 2] = ["Your name ", "is Charlie."];

    fn script(asked: &Asked) -> Reply {
        let body = asked.json();
        let texts = body["input"].as_array().into_iter().flatten().map(|text| text.as_str().unwrap());
        let vectors: Vec<Vec<f32>> = texts.map(|text| HashEmbedder::new(16).vector(text)).collect();
        match asked.path.split('?').next().unwrap() {
            "/embeddings" => Reply::json(&openai::embeddings(&vectors)),
            "/api/embed" => Reply::json(&ollama::embeddings(&vectors)),
            "/api/chat" => Reply::stream(ollama::STREAM, ollama::stream(&PIECES)),
            "/messages" => Reply::stream(anthropic::STREAM, anthropic::stream(&PIECES)),
            "/rerank" => Reply::json(&cohere::scores(&vec![0.5; body["documents"].as_array().unwrap().len()])),
            _ => Reply::stream(openai::STREAM, openai::stream(&PIECES)),
        }
    }

    #[test]
    fn an_agent_talks_through_each_vendor() {
        let runtime = Runtime::new().unwrap();
        for vendor in ["openai", "compatible", "azure", "anthropic", "ollama"] {
            let server = runtime.block_on(Server::start(script));
            let folder = tempfile::tempdir().unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_example-models"));
            command.arg(folder.path().join("memory.sqlite")).args([vendor, &server.url(""), "m", &server.url("")]);
            command.env("MODEL_API_KEY", "sk-example").stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(b"My name is Charlie\nWhat is my name?\n").unwrap();
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{vendor}: {text}");
            assert_eq!(text.matches("Your name is Charlie.\n  (End, Some(Usage {").count(), 2, "{vendor}: {text}");
        }
    }
}
