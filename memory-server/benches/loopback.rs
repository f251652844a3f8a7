//! What a call over HTTP costs more than the same call in process, each by new handles: append, context and search over one file of
//! SQLite, in turns. Then what others wait while 200 connections send their headers byte by byte. Fails beyond the bounds that are
//! promised.
//!
//! `cargo bench -p memory-server --bench loopback -- [ROUNDS] [MESSAGES]`: 2,000 each. With 400 rounds, medians differ by 0.1 ms from run
//! to run.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use memory::store::time::Stopwatch;
use memory::{Memory, Message, Role, Scope, Scoped, Search, Session, SessionId};
use memory_server::{Config, Grant, Rights, Server, Token, Tokens};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Connections whose headers come byte by byte.
const SLOW: usize = 200;
/// What a call over HTTP may cost more, in microseconds.
const MORE: u64 = 300;
/// When a connection is closed at the latest whose headers do not end.
const CLOSED: Duration = Duration::from_secs(10);
/// About as long as a context takes.
const PAUSE: Duration = Duration::from_millis(4);
const QUESTION: &str = "What did we say about the plan of the garden?";

fn main() -> ExitCode {
    let run = tokio::runtime::Runtime::new().map_err(Into::into);
    // In a task, as servers do: the thread that only waits for the runtime is slow to be woken.
    let outcome: Outcome<()> = run.and_then(|runtime| runtime.block_on(async { tokio::spawn(compare()).await? }));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn plan() -> (usize, usize) {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = |place: usize, usual| arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(usual);
    (number(0, 2_000), number(1, 2_000))
}

/// A connection that is kept open.
struct Client {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Client {
    async fn connect(address: SocketAddr, token: &str) -> Outcome<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let head = format!("host: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n");
        Ok(Self { stream: BufReader::new(stream), head })
    }

    /// Sends a request and returns the bytes of the answer's body. It has to succeed.
    async fn send(&mut self, method: &str, path: &str, body: &str) -> Outcome<usize> {
        let (is_well, body) = self.ask(method, path, body).await?;
        if is_well { Ok(body.len()) } else { Err(String::from_utf8_lossy(&body).into_owned().into()) }
    }

    /// Sends a request and returns whether it succeeded, and the answer's body.
    async fn ask(&mut self, method: &str, path: &str, body: &str) -> Outcome<(bool, Vec<u8>)> {
        let (head, length) = (&self.head, body.len());
        let request = format!("{method} {path} HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n{body}");
        self.stream.write_all(request.as_bytes()).await?;
        let (mut line, mut bytes) = (String::new(), 0);
        self.stream.read_line(&mut line).await?;
        let is_well = line.starts_with("HTTP/1.1 200");
        while line.trim() != "" {
            line.clear();
            self.stream.read_line(&mut line).await?;
            if let Some(("content-length", length)) = line.to_lowercase().trim().split_once(": ") {
                bytes = length.parse()?;
            }
        }
        let mut body = vec![0; bytes];
        self.stream.read_exact(&mut body).await?;
        Ok((is_well, body))
    }

    /// Returns how long a request takes that asks no store, whatever is answered, with a pause before each.
    async fn floor(&mut self, rounds: usize, path: &str, pause: Duration) -> Outcome<u64> {
        let mut times = Times::default();
        for _ in 0..rounds {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            let watch = Stopwatch::start();
            self.ask("GET", path, "").await?;
            times.0.push(watch.micros());
        }
        Ok(times.p50())
    }
}

fn said(number: usize) -> String {
    format!("Message {number} says that the plan of garden {} needs water, and who brings it.", number % 97)
}

/// Times of calls, in microseconds.
#[derive(Default)]
struct Times(Vec<u64>);

impl Times {
    fn p50(&mut self) -> u64 {
        self.0.sort_unstable();
        self.0.get(self.0.len() / 2).copied().unwrap_or(0)
    }
}

async fn filled(folder: &std::path::Path, messages: usize) -> Outcome<(Memory, Scoped)> {
    let file = folder.join("memory.sqlite");
    let memory = memory::open(file.to_str().ok_or("the folder has no name")?).await?.build().await?;
    let ada = memory.of(&Scope::new("acme", "ada")?);
    let talk: Vec<Message> = (0..messages).map(|number| Message::new(Role::User, said(number), memory.now())).collect();
    for some in talk.chunks(500) {
        ada.session(&SessionId::new("talk")?).append(some.to_vec()).await?;
    }
    memory.upkeep_once().await?;
    Ok((memory, ada))
}

async fn compare() -> Outcome<()> {
    let (rounds, messages) = plan();
    let folder = tempfile::tempdir()?;
    let (memory, ada) = filled(folder.path(), messages).await?;
    let token = Token::fresh()?;
    let tokens = Tokens::default().with(Grant::new(&token, "acme", "ada", Rights::all(), memory.now())?);
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = Server::new(memory.clone(), tokens, Config::default());
    let served = tokio::spawn(server.serve(listener, async move {
        let _ = stopped.await;
    }));
    let mut client = Client::connect(address, &token.reveal()).await?;
    let own = ada.session(&SessionId::new("own")?);
    let talk = ada.session(&SessionId::new("talk")?);
    tell(&format!("{rounds} calls each, over {messages} messages; p50 in microseconds"))?;
    let floor = client.floor(rounds, "/health", Duration::ZERO).await?;
    tell(&format!("an answer that asks no store  {floor:6}"))?;
    // No page has no sessions: it is refused once the token was found.
    let behind = client.floor(rounds, "/v1/sessions?limit=0", Duration::ZERO).await?;
    tell(&format!("one that needs a token        {behind:6}"))?;
    // After a pause processors sleep and caches are cold, as they are after a call that takes milliseconds.
    let woken = client.floor(rounds, "/v1/sessions?limit=0", PAUSE).await?;
    tell(&format!("the same behind a pause       {woken:6}"))?;
    let mut beyond = Vec::new();
    for what in ["append", "context", "search"] {
        let (mut here, mut there) = (Times::default(), Times::default());
        let mut bytes = 0;
        for round in 0..2 * rounds {
            // Each first as often as the other: what goes on behind an append meets the call after it.
            if round % 4 == 0 || round % 4 == 3 {
                let watch = Stopwatch::start();
                in_process(what, round, &ada, &own, &talk).await?;
                here.0.push(watch.micros());
            } else {
                let (path, body) = request(what, round);
                let body = body.to_string();
                let watch = Stopwatch::start();
                bytes = client.send("POST", path, &body).await?;
                there.0.push(watch.micros());
            }
        }
        let (here, there) = (here.p50(), there.p50());
        let more = there.saturating_sub(here);
        tell(&format!(
            "{what:8} in process {here:6}  over HTTP {there:6}  more {more:6}  the last answer {bytes} bytes"
        ))?;
        if more > MORE {
            beyond.push(format!("{what} costs more than {MORE} microseconds more"));
        }
    }
    beyond.extend(slow_clients(rounds, address, &mut client).await?);
    let _ = stop.send(());
    served.await??;
    if beyond.is_empty() { Ok(()) } else { Err(beyond.join("; ").into()) }
}

async fn in_process(what: &str, round: usize, ada: &Scoped, own: &Session, talk: &Session) -> Outcome<()> {
    // A request opens its handles anew.
    let ada = &ada.memory().of(ada.scope());
    let (own, talk) = (&ada.session(own.id()), &ada.session(talk.id()));
    match what {
        "append" => drop(own.append(vec![Message::new(Role::User, said(round), ada.memory().now())]).await?),
        "context" => drop(talk.context(QUESTION, 2_000).await?),
        _ => drop(ada.search(&Search::new(QUESTION).limit(10)).await?),
    }
    Ok(())
}

fn request(what: &str, round: usize) -> (&'static str, Value) {
    match what {
        "append" => {
            ("/v1/sessions/other/messages", json!({ "messages": [{ "role": "user", "content": said(round) }] }))
        }
        "context" => ("/v1/sessions/talk/context", json!({ "query": QUESTION, "budget": 2_000 })),
        _ => ("/v1/search", json!({ "query": QUESTION, "limit": 10 })),
    }
}

/// Measures a client alone, and beside others whose headers come byte by byte. Returns what is beyond its bound.
async fn slow_clients(rounds: usize, address: SocketAddr, client: &mut Client) -> Outcome<Option<String>> {
    let mut medians = Vec::new();
    let mut slow = Vec::new();
    for is_idle in [true, false] {
        if !is_idle {
            for _ in 0..SLOW {
                slow.push(tokio::spawn(byte_by_byte(address)));
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let mut times = Times::default();
        for _ in 0..rounds {
            let watch = Stopwatch::start();
            client.send("POST", "/v1/search", &json!({ "query": QUESTION }).to_string()).await?;
            times.0.push(watch.micros());
        }
        medians.push(times.p50());
    }
    let mut longest = Duration::ZERO;
    for slow in slow {
        longest = longest.max(slow.await?);
    }
    tell(&format!(
        "search alone and beside {SLOW} slow connections {medians:?}; the last of them was closed after {:.1} s",
        longest.as_secs_f64()
    ))?;
    let is_beyond = longest > CLOSED || medians.get(1) > medians.first().map(|alone| 2 * alone).as_ref();
    Ok(is_beyond.then(|| "slow connections hold up others, or stay".to_owned()))
}

/// Sends a byte of headers each 50 ms, and returns after which time the connection was closed.
async fn byte_by_byte(address: SocketAddr) -> Duration {
    let watch = Stopwatch::start();
    let Ok(mut stream) = TcpStream::connect(address).await else { return Duration::ZERO };
    let (mut input, mut output) = stream.split();
    let sending = async {
        for byte in b"GET /health HTTP/1.1\r\nx: ".iter().chain(std::iter::repeat(&b'y')) {
            if output.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let mut answer = Vec::new();
    tokio::select! {
        () = sending => {}
        _ = input.read_to_end(&mut answer) => {}
    }
    watch.elapsed()
}

fn tell(line: &str) -> Outcome<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
