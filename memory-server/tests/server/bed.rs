//! A server over a memory of its own, and requests to it.

use std::cell::RefCell;
use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use memory::{Memory, MessageId, Timestamp};
use memory_server::{Config, Grant, Rights, Server, Token, Tokens};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime;
use tower::ServiceExt as _;

/// A server, and the tokens of two people.
pub(crate) struct Bed {
    pub(crate) memory: Memory,
    /// Serves the same requests over sockets.
    pub(crate) server: Server,
    router: Router,
    pub(crate) ada: String,
    pub(crate) bob: String,
    /// Opens every subject of the tenant.
    pub(crate) tenant: String,
    /// May read alone.
    pub(crate) reader: String,
    /// May write alone.
    pub(crate) writer: String,
    /// Has expired.
    pub(crate) expired: String,
}

/// Returns how many rounds a test of generated calls makes: `MEMORY_CALLS`, or as many as a run of all tests has time for.
#[expect(clippy::disallowed_methods, reason = "the slow tier asks for more")]
pub(crate) fn rounds(usual: usize) -> usize {
    std::env::var("MEMORY_CALLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

/// A request under way.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

thread_local! {
    /// Where the files of a test are. Mostly they are gone with its thread; those of the main thread may stay.
    static FOLDERS: RefCell<Vec<TempDir>> = const { RefCell::new(Vec::new()) };
}

/// Returns a memory with nothing in it: in a file of SQLite, or in a schema of the Postgres that `MEMORY_SERVER_OVER` names. If
/// that is `memory:`, it is in this process.
#[expect(clippy::disallowed_methods, reason = "scripts/server_over_postgres.sh asks for another place")]
pub(crate) async fn memory() -> Memory {
    let place = match std::env::var("MEMORY_SERVER_OVER") {
        Ok(url) if url == "memory:" => return in_process().await,
        Ok(url) => format!("{url}?schema=s{}&pool=4", MessageId::fresh().to_string().replace('-', "")),
        Err(_) => file(),
    };
    memory::open(&place).await.unwrap().build().await.unwrap()
}

/// Returns the place of a file of SQLite that is not there yet.
fn file() -> String {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("sqlite:{}", folder.path().join("memory.sqlite").display());
    FOLDERS.with_borrow_mut(|folders| folders.push(folder));
    place
}

/// Returns a memory in this process, for tests whose clock stands still.
pub(crate) async fn in_process() -> Memory {
    memory::open("memory:").await.unwrap().build().await.unwrap()
}

/// The document of all operations. It is fetched in a thread of its own: while it is waited for, the clock of no test goes on.
pub(crate) static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let fetched = async || {
        let bed = Bed::over(in_process().await, Config::default());
        let request = Request::get("/v1/openapi.json").header("host", "localhost");
        let request = request.header("authorization", format!("Bearer {}", bed.ada));
        let answer = bed.begin(request.body(Body::empty()).unwrap()).await;
        serde_json::from_slice(&to_bytes(answer.into_body(), usize::MAX).await.unwrap()).unwrap()
    };
    let runtime = || runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime().block_on(fetched())).join().unwrap()
});

/// Asserts that the document names the status of an answer for the operation that gave it. What is no operation is in no document.
pub(crate) fn check_documented(method: &Method, path: &str, status: u16) {
    let is_part = |(template, part): (&str, &str)| template == part || template.starts_with('{');
    let is_at = |template: &str| {
        template.split('/').count() == path.split('/').count() && template.split('/').zip(path.split('/')).all(is_part)
    };
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let operation = paths.iter().find(|(template, _)| is_at(template)).map(|(_, item)| item);
    let operation = operation.and_then(|item| item.get(method.as_str().to_lowercase()));
    let is_told = operation.is_none_or(|operation| operation["responses"].get(status.to_string()).is_some());
    assert!(is_told, "the document does not name {status} for {method} {path}");
}

pub(crate) fn token(subject: &str, rights: &str) -> (String, Grant) {
    let token = Token::fresh().unwrap();
    let grant = Grant::new(&token, "acme", subject, rights.parse::<Rights>().unwrap(), Timestamp(0)).unwrap();
    (token.reveal(), grant)
}

impl Bed {
    pub(crate) async fn new() -> Self {
        Self::with(Config::default()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        Self::over(memory().await, config)
    }

    pub(crate) fn over(memory: Memory, config: Config) -> Self {
        Self::beside(Tokens::default(), memory, config)
    }

    /// Returns a bed that other tokens open besides its own.
    pub(crate) fn beside(others: Tokens, memory: Memory, config: Config) -> Self {
        let all = "read,write,forget";
        let [ada, bob, tenant] = ["ada", "bob", "*"].map(|subject| token(subject, all));
        let [reader, writer, expired] = ["read", "write", all].map(|rights| token("ada", rights));
        let tokens = [&ada, &bob, &tenant, &reader, &writer]
            .iter()
            .fold(others, |tokens, (_, grant)| tokens.with(grant.clone()));
        let tokens = tokens.with(expired.1.expiring(Timestamp(1)));
        let server = Server::new(memory.clone(), tokens, config);
        let router = server.router();
        let (reader, writer, expired) = (reader.0, writer.0, expired.0);
        Self { memory, server, router, ada: ada.0, bob: bob.0, tenant: tenant.0, reader, writer, expired }
    }

    /// Sends a request.
    pub(crate) async fn send(&self, call: Call) -> Answer {
        let Call { method, path, headers, body } = call;
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| name == "host") {
            request = request.header("host", "localhost");
        }
        for (name, value) in headers {
            request = request.header(name, value.as_bytes());
        }
        self.send_raw(request.body(Body::from(body)).unwrap()).await
    }

    /// Sends a request, and returns the answer with its body still to come.
    pub(crate) async fn begin(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn send_raw(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let (parts, body) = self.begin(request).await.into_parts();
        check_documented(&method, &path, parts.status.as_u16());
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        let mut headers = parts.headers;
        // On a socket every answer has it; here those of some routes have.
        headers.remove("content-length");
        Answer { status: parts.status.as_u16(), headers, body }
    }

    /// Sends an MCP request, and returns what it was answered with.
    pub(crate) async fn rpc(&self, token: &str, method: &str, params: &Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let call = Call::post("/mcp", &body).header("accept", "application/json, text/event-stream").by(token);
        // Whoever says hello has not agreed on a version yet.
        let call = if method == "initialize" { call } else { call.header("mcp-protocol-version", "2025-06-18") };
        let answer = self.send(call).await;
        assert_eq!(answer.status, 200, "{method}: {}", answer.text());
        answer.json()
    }

    /// Calls a tool for Ada, and returns its text, refused or not.
    pub(crate) async fn tool(&self, name: &str, arguments: &Value) -> Result<String, String> {
        self.tool_by(&self.ada, name, arguments).await
    }

    pub(crate) async fn tool_by(&self, token: &str, name: &str, arguments: &Value) -> Result<String, String> {
        let answer = self.rpc(token, "tools/call", &json!({ "name": name, "arguments": arguments })).await;
        let result = &answer["result"];
        let [part] = result["content"].as_array().unwrap_or_else(|| panic!("{answer}")).as_slice() else {
            panic!("{answer}")
        };
        let text = part["text"].as_str().unwrap().to_owned();
        if result["isError"] == true { Err(text) } else { Ok(text) }
    }

    /// Sends a request of Ada's that has to succeed, and returns its JSON.
    pub(crate) async fn ok(&self, call: Call) -> Value {
        let answer = self.send(call.by(&self.ada)).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    /// Sends a request of Ada's, and returns its status.
    pub(crate) async fn status(&self, call: Call) -> u16 {
        let answer = self.send(call.by(&self.ada)).await;
        if answer.status >= 400 {
            assert_eq!(answer.headers["content-type"], "application/problem+json");
            assert_eq!(answer.json()["status"], answer.status);
        }
        answer.status
    }
}

impl Call {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: impl Into<String>, body: &Value) -> Self {
        Self::new(Method::POST, path).json(body)
    }

    pub(crate) fn put(path: impl Into<String>, body: &Value) -> Self {
        Self::new(Method::PUT, path).json(body)
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn by(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Asserts that the caller may come again, and is told when.
    pub(crate) fn is_busy(&self, status: StatusCode) {
        assert_eq!(self.status, status.as_u16());
        assert_eq!(
            (self.json()["retryable"].clone(), self.headers["retry-after"].to_str().unwrap()),
            (true.into(), "1")
        );
    }
}
