//! Messages as lines of JSON. A line that holds none is answered with an error, because whoever sent it may wait for an answer.

use std::io;
use std::mem::take;
use std::sync::Arc;

use memory::import::mend_surrogates;
use rmcp::model::ErrorCode;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::outline::{Head, Outline};

/// The most bytes of a line.
const MOST: usize = 16 << 20;

/// What some programs write before a file or stream.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A transport of lines.
pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<W>>,
    /// The line under way, as far as it was read.
    line: Vec<u8>,
    /// The outline alone of the line under way, if it is too long.
    outline: Option<Outline>,
    /// The answer to a line without a message, until it is written.
    refusal: Option<JoinHandle<io::Result<()>>>,
}

enum Line {
    Whole(Vec<u8>),
    TooLong(Outline),
}

/// Why a line is answered with an error, and what stands in it.
struct Refused {
    code: ErrorCode,
    why: String,
    head: Head,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::new(input),
            output: Arc::new(Mutex::new(output)),
            line: Vec::new(),
            outline: None,
            refusal: None,
        }
    }

    /// Reads to the end of a line; returns none at the end of all. It may be dropped in the middle: what was read stays.
    async fn read(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = end.and_then(|end| available.get(..=end)).unwrap_or(available);
            let (read, is_end) = (part.len(), end.is_some() || part.is_empty());
            if self.outline.is_none() && self.line.len() + read > MOST {
                self.outline = Some(Outline::of(&take(&mut self.line)));
            }
            match &mut self.outline {
                Some(outline) => outline.push(part),
                None => self.line.extend_from_slice(part),
            }
            self.input.consume(read);
            if is_end {
                let line = take(&mut self.line);
                let whole = || (!line.is_empty()).then_some(Line::Whole(line));
                return Ok(self.outline.take().map(Line::TooLong).or_else(whole));
            }
        }
    }
}

impl Line {
    /// Returns the message of the line; none if the line is blank, or if nobody waits for an answer to it.
    fn message(self) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refused> {
        let mut line = match self {
            Self::Whole(line) => line,
            Self::TooLong(outline) => {
                let why = format!("a message has at most {MOST} bytes");
                return Err(Refused { code: ErrorCode::INVALID_REQUEST, why, head: outline.head() });
            }
        };
        mend_surrogates(&mut line);
        let line = line.strip_prefix(MARK).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        serde_json::from_slice(line).map(Some).or_else(|error| {
            let head = Outline::of(line).head();
            if !error.is_data() {
                // It names a place, and quotes nothing.
                let why = format!("the line cannot be read as JSON: {error}");
                return Err(Refused { code: ErrorCode::PARSE_ERROR, why, head });
            }
            let why = "the line is no message of MCP".to_owned();
            if head.is_unanswered() {
                tracing::warn!(why, "a line was passed over");
                return Ok(None);
            }
            Err(Refused { code: ErrorCode::INVALID_REQUEST, why, head })
        })
    }
}

impl Refused {
    /// Returns the error that answers the line. It bears the id that stands in the line, also one that no request may have.
    fn answer(self) -> Value {
        let Self { code, why, head } = self;
        let id = head.id.filter(|id| id.is_string() || id.is_number());
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code.0, "message": why } })
    }
}

async fn write(output: Arc<Mutex<impl AsyncWrite + Unpin>>, line: serde_json::Result<Vec<u8>>) -> io::Result<()> {
    let mut line = line?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        write(Arc::clone(&self.output), serde_json::to_vec(&message))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // This call may be dropped in the middle: the answer is written all the same.
            if let Some(refusal) = &mut self.refusal {
                let written = refusal.await;
                self.refusal = None;
                written.ok()?.ok()?;
            }
            let line = match self.read().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::error!(%error, "the input cannot be read on");
                    return None;
                }
            };
            match line.message() {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refused) => {
                    tracing::warn!(why = refused.why, "a line was answered with an error");
                    let answer = serde_json::to_vec(&refused.answer());
                    self.refusal = Some(tokio::spawn(write(Arc::clone(&self.output), answer)));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::poll;
    use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};

    use super::*;

    /// The last line of each test, which has to be read.
    const PING: &str = r#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#;

    fn call(id: &str, text: &str) -> String {
        let arguments = format!(r#"{{"name":"add_memory","arguments":{{"text":{text}}}}}"#);
        format!(r#"{{"method":"tools/call","params":{arguments},"jsonrpc":"2.0","id":{id}}}"#)
    }

    /// Returns a transport to which the client has sent `input`, and the end of the client.
    fn sent(input: &str) -> (Lines<io::Cursor<Vec<u8>>, DuplexStream>, DuplexStream) {
        let (output, client) = duplex(1 << 20);
        (Lines::new(io::Cursor::new(input.as_bytes().to_vec()), output), client)
    }

    /// Returns what the client was answered when all it sent was read, and the ids of the messages in it.
    async fn exchanged(input: &str) -> (Vec<Value>, Vec<Value>) {
        let (mut lines, mut client) = sent(input);
        let mut ids = Vec::new();
        while let Some(message) = lines.receive().await {
            ids.push(json!(message)["id"].clone());
        }
        drop(lines);
        let mut answers = String::new();
        client.read_to_string(&mut answers).await.unwrap();
        (answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), ids)
    }

    #[tokio::test]
    async fn half_a_character_is_read_as_the_replacement_of_one() {
        let (mut lines, _client) = sent(&format!("{}\n", call("1", r#""half \ud83d end""#)));
        let message = json!(lines.receive().await.unwrap());
        assert_eq!(message["params"]["arguments"]["text"], "half \u{fffd} end");
    }

    #[tokio::test]
    async fn a_line_that_cannot_be_read_is_answered_with_its_id_and_the_next_one_is_read() {
        let deep = call("7", &format!("{}{}", "[".repeat(500), "]".repeat(500)));
        let (number, broken) = (call("8", "NaN"), r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"#);
        let (parse, invalid) = (-32700, -32600);
        for (line, code, id) in [
            (deep.as_str(), parse, json!(7)),
            (&number, parse, json!(8)),
            (broken, parse, json!("a")),
            ("not json", parse, json!(null)),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, invalid, json!(7)),
            (r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}"#, invalid, json!(1_u64 << 63)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, invalid, json!(1.5)),
            (r#"{"jsonrpc":"2.0","id":[7],"method":"ping"}"#, invalid, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7}"#, invalid, json!(7)),
            (r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#, invalid, json!(null)),
        ] {
            let (answers, ids) = exchanged(&format!("{line}\n{PING}\n")).await;
            let [answer] = answers.as_slice() else { panic!("{line}: {answers:?}") };
            assert_eq!((&answer["jsonrpc"], &answer["error"]["code"]), (&json!("2.0"), &json!(code)), "{line}");
            assert!(answer.get("id") == Some(&id) && answer["error"]["message"].is_string(), "{line}: {answer}");
            assert_eq!(ids, ["last"], "{line}");
        }
    }

    #[tokio::test]
    async fn a_request_whose_parameters_are_a_list_is_answered_here_or_handed_on() {
        for method in ["initialize", "tools/list", "tools/call", "other"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":[]}}"#);
            let (answers, mut ids) = exchanged(&format!("{line}\n")).await;
            ids.extend(answers.iter().map(|answer| answer["id"].clone()));
            assert_eq!(ids, [7], "{method}: {answers:?}");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_answered_with_its_id_and_not_kept() {
        for text in ["a".repeat(MOST), "[".repeat(MOST)] {
            let (mut lines, mut client) = sent(&format!("{}\n{PING}\n", call("7", &format!("\"{text}\""))));
            assert_eq!(json!(lines.receive().await.unwrap())["id"], "last");
            assert!(lines.line.capacity() < MOST, "{}", lines.line.capacity());
            drop(lines);
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            let error = json!({ "code": -32600, "message": "a message has at most 16777216 bytes" });
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 7, "error": error }));
        }
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_passed_over_and_so_is_a_blank_line() {
        let notification = r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#;
        let (answers, ids) = exchanged(&format!("\n \r\n{notification}\n{answer}\n{PING}\r\n")).await;
        assert_eq!((answers, ids), (Vec::new(), vec![json!("last")]));
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end_and_the_first_one_may_bear_a_mark() {
        let (answers, ids) = exchanged(&format!("\u{feff}{}\n{PING}", call("1", "\"a\""))).await;
        assert_eq!((answers, ids), (Vec::new(), vec![json!(1), json!("last")]));
    }

    #[tokio::test]
    async fn a_read_that_is_dropped_in_the_middle_loses_neither_the_line_nor_an_answer() {
        let (mut client, input) = duplex(1 << 10);
        // The first bytes of the answer alone have room.
        let (output, mut answers) = duplex(8);
        let mut lines = Lines::new(input, output);
        let (first, rest) = PING.split_at(20);
        client.write_all(first.as_bytes()).await.unwrap();
        assert!(poll!(Box::pin(lines.receive())).is_pending());
        client.write_all(format!("{rest}\nno json\n").as_bytes()).await.unwrap();
        assert_eq!(json!(lines.receive().await.unwrap())["id"], "last");
        assert!(poll!(Box::pin(lines.receive())).is_pending());
        client.write_all(format!("{PING}\n").as_bytes()).await.unwrap();
        let answered = async {
            let mut answered = vec![0; 16];
            answers.read_exact(&mut answered).await.unwrap();
            while answered.last() != Some(&b'\n') {
                answered.push(answers.read_u8().await.unwrap());
            }
            serde_json::from_slice::<Value>(&answered).unwrap()
        };
        let (message, answered) = tokio::join!(lines.receive(), answered);
        assert_eq!((&json!(message.unwrap())["id"], &answered["error"]["code"]), (&json!("last"), &json!(-32700)));
    }
}
