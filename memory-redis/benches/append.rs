//! How much of the speed of the bare driver an append and a page keep.
//!
//! A goes through [`ChatStore`], with notes for two indexes. B sends the same commands with the same arguments, encoded
//! beforehand, through the driver alone, and takes the answers as bytes. C, for comparison, are the shortest commands that
//! keep a list at all: `RPUSH` of the bodies, `LRANGE` of the last 50. They take turns on one server, over a connection each.
//!
//! `REDIS_URL=redis://… cargo bench -p memory-redis --bench append -- [ROUNDS] [CALLS]`

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use memory_core::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::store::Store;
use memory_core::time::Stopwatch;
use memory_core::upkeep::{IndexName, Upkeep};
use memory_core::{Epoch, Message, Role, Scope, SessionId, Timestamp};
use memory_redis::redis::aio::ConnectionManager;
use memory_redis::redis::{self, Client, Cmd, Value, cmd};
use memory_redis::{Redis, RedisChat, RedisConfig};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The scripts of the crate, put together as it does.
const APPEND: &str = concat!(
    include_str!("../src/scripts/owner.lua"),
    "\n",
    include_str!("../src/scripts/notes.lua"),
    "\n",
    include_str!("../src/scripts/session.lua"),
    "\n",
    include_str!("../src/scripts/append.lua"),
    "\n"
);
const READ: &str = concat!(
    include_str!("../src/scripts/owner.lua"),
    "\n",
    include_str!("../src/scripts/session.lua"),
    "\n",
    include_str!("../src/scripts/read.lua"),
    "\n"
);
const PREFIX: &str = "bench";

/// How many rows a page has, and the session that it is read from.
const PAGE: usize = 50;
const LENGTH: usize = 10_000;

fn main() -> ExitCode {
    // In a task, as servers do: the thread that only waits for the runtime is slow to be woken.
    let run = |runtime: tokio::runtime::Runtime| runtime.block_on(async { tokio::spawn(compare()).await? });
    match tokio::runtime::Runtime::new().map_err(Into::into).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is no other place to complain to.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// One of the ways, over a connection of its own.
struct Bare {
    connection: ConnectionManager,
    scope: Scope,
    session: SessionId,
}

async fn compare() -> Outcome<()> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let (rounds, calls) = (numbers.first().copied().unwrap_or(9), numbers.get(1).copied().unwrap_or(500));
    let Some(config) = RedisConfig::from_env()? else { return Err("set REDIS_URL".into()) };
    let chat = RedisChat::new(&Redis::connect(config.with_prefix(PREFIX)).await?)?;
    for index in ["text/english-1", "vector/test-8"] {
        chat.enlist(&IndexName::new(index)?).await?;
    }
    let run = Scope::new("bench", &Message::new(Role::User, "", Timestamp(0)).id.to_string())?;
    let session = SessionId::new("session")?;
    let url = url();
    let connection = ConnectionManager::new(Client::open(url)?).await?;
    let bare = Bare { connection, scope: Scope::new("bare", &run.subject())?, session: session.clone() };
    for scope in [&run, &bare.scope] {
        for _ in 0..LENGTH / 100 {
            chat.append(scope, &session, &Append { fence: None, messages: messages(100) }).await?;
        }
    }
    let health = chat.ping().await?;
    writeln!(std::io::stdout(), "{} {} ({:?}), {rounds} rounds", health.server, health.version, health.durability)?;
    for batch in [1, 100] {
        appends(&chat, &bare, &run, batch, rounds, calls / batch.min(10)).await?;
    }
    pages(&chat, &bare, &run, rounds, calls).await?;
    for scope in [&run, &bare.scope] {
        let epoch = chat.bury(scope).await?;
        chat.erase(scope, Epoch(epoch.0)).await?;
    }
    cmd("DEL").arg(list(&bare)).exec_async(&mut bare.connection.clone()).await?;
    Ok(())
}

fn list(bare: &Bare) -> String {
    format!("{PREFIX}:{{{}}}:list", bare.scope.key())
}

async fn appends(
    chat: &RedisChat,
    bare: &Bare,
    scope: &Scope,
    batch: usize,
    rounds: usize,
    calls: usize,
) -> Outcome<()> {
    let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let work: Vec<_> = (0..calls).map(|_| Append { fence: None, messages: messages(batch) }).collect();
        let watch = Stopwatch::start();
        for batch in &work {
            chat.append(scope, &bare.session, batch).await?;
        }
        a.push(watch.elapsed().as_secs_f64());
        let work: Vec<Cmd> = (0..calls).map(|_| append(bare, &messages(batch))).collect();
        b.push(send(bare, &work).await?);
        let push = |_| cmd("RPUSH").arg(list(bare)).arg(bodies(&messages(batch))).clone();
        c.push(send(bare, &(0..calls).map(push).collect::<Vec<_>>()).await?);
    }
    report(&format!("append of {batch}"), "RPUSH", calls, [a, b, c])
}

async fn pages(chat: &RedisChat, bare: &Bare, scope: &Scope, rounds: usize, calls: usize) -> Outcome<()> {
    let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let watch = Stopwatch::start();
        for _ in 0..calls {
            let found = chat.read(scope, &bare.session, &Page::newest(PAGE)).await?.messages.len();
            if found != PAGE {
                return Err(format!("a page of {found} rows").into());
            }
        }
        a.push(watch.elapsed().as_secs_f64());
        b.push(send(bare, &vec![read(bare); calls]).await?);
        let range = cmd("LRANGE").arg(list(bare)).arg(-(PAGE as i64)).arg(-1).clone();
        c.push(send(bare, &vec![range; calls]).await?);
    }
    report(&format!("last {PAGE} of more than {LENGTH}"), "LRANGE", calls, [a, b, c])
}

/// Sends commands one after the other, and returns the seconds it took.
async fn send(bare: &Bare, commands: &[Cmd]) -> Outcome<f64> {
    let mut connection = bare.connection.clone();
    let watch = Stopwatch::start();
    for command in commands {
        let answer: Value = command.query_async(&mut connection).await?;
        if let Value::Array(values) = &answer
            && values.first().is_some_and(|word| *word == Value::BulkString(b"prepare".to_vec()))
        {
            return Err("the owner is not listed".into());
        }
    }
    Ok(watch.elapsed().as_secs_f64())
}

fn report(what: &str, shortest: &str, calls: usize, [a, b, c]: [Vec<f64>; 3]) -> Outcome<()> {
    let [a, b, c] = [a, b, c].map(|seconds| median(seconds) / calls as f64 * 1e6);
    let mut out = std::io::stdout();
    writeln!(out, "{what}: {a:.0} us a call, bare {b:.0}; keeps {:.2}; {shortest} {c:.0}", b / a)?;
    Ok(())
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Messages of about 280 bytes, the mean of the chat corpora.
fn messages(count: usize) -> Vec<NewMessage> {
    let text = "I moved to the new flat last week, and the cat has already found the warmest place of all, which is \
         the keyboard of the machine on which I am writing this very message to you. ";
    let message = |_| Arc::new(Message::new(Role::User, text.repeat(2), Timestamp(1_700_000_000_000_000)));
    (0..count).map(message).map(|message| NewMessage { message, tokens: 70 }).collect()
}

fn bodies(messages: &[NewMessage]) -> Vec<Vec<u8>> {
    messages.iter().map(|new| new.message.encode()).collect()
}

fn call(bare: &Bare, script: &str) -> Cmd {
    let mut command = cmd("EVALSHA");
    command.arg(redis::Script::new(script).get_hash()).arg(1).arg(format!("{PREFIX}:{{{}}}", bare.scope.key()));
    command
}

fn append(bare: &Bare, messages: &[NewMessage]) -> Cmd {
    let mut command = call(bare, APPEND);
    let at = format!("{:020}", 1_700_000_000_000_000_u64 ^ (1 << 63));
    command.arg("-").arg("-").arg(bare.session.key()).arg("-").arg("-").arg(70 * messages.len()).arg(&at);
    for new in messages {
        let body = new.message.encode();
        let digest = Message::digest_of(&bare.session, &body).0;
        let head = format!("{} {at} - ", new.tokens);
        command.arg([new.message.id.0.as_bytes().as_slice(), &digest, head.as_bytes(), &body].concat());
    }
    command
}

fn read(bare: &Bare) -> Cmd {
    let mut command = call(bare, READ);
    let largest = 1_u64 << 53;
    command.arg(bare.session.key()).arg("active").arg("before").arg(largest).arg(PAGE).arg("-").arg(largest);
    command.arg(4 << 20);
    command
}

#[expect(clippy::disallowed_methods, reason = "a bench is configured by the environment")]
fn url() -> String {
    std::env::var("REDIS_URL").unwrap_or_default()
}
