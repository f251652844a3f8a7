//! How much of the speed of the bare driver an append and a page keep.
//!
//! The library goes through [`ChatStore`], with notes for two indexes. The driver alone sends the same scripts with the same
//! arguments, over a connection of its own, and the two take turns on one server. It encodes what it appends, and digests it;
//! of a page it makes messages with their numbers and tokens, or owned texts of the rows, which leaves out what reading a
//! body costs anybody. It checks nothing, and knows no timeouts but the driver's. Beside them, what the network and the
//! server take alone: commands made beforehand, answers left as they are; and the shortest commands that keep a list at all.
//!
//! `MEMORY_TEST_REDIS_URL=redis://… cargo bench -p memory-redis --bench append -- [ROUNDS] [CALLS]`

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::store::Store;
use memory_core::store::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::store::upkeep::{IndexName, Upkeep};
use memory_core::{Epoch, Message, Role, Scope, SessionId, Timestamp};
use memory_redis::redis::aio::ConnectionManager;
use memory_redis::redis::{self, Client, Cmd, Value, cmd};
use memory_redis::{Redis, RedisChat, RedisConfig};
use memory_testkit::bench::{Outcome, Turn, Turns, against, numbers, say};
use xxhash_rust::xxh3::xxh3_64;

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
    against("redis", async |url| tokio::spawn(compare(url)).await?)
}

/// The driver alone.
struct Bare {
    connection: ConnectionManager,
    scope: Scope,
    session: SessionId,
    /// What the server calls the scripts.
    append: String,
    read: String,
}

/// How much is measured.
#[derive(Clone, Copy)]
struct Plan {
    rounds: usize,
    calls: usize,
}

async fn compare(url: String) -> Outcome<()> {
    let [rounds, calls] = numbers([51, 100]);
    let chat = RedisChat::new(&Redis::connect(RedisConfig::new(&url).with_prefix(PREFIX)).await?)?;
    for index in ["text/english-1", "vector/test-8"] {
        chat.enlist(&IndexName::new(index)?, None, usize::MAX).await?;
    }
    let run = Scope::new("bench", &Message::new(Role::User, "", Timestamp(0)).id.to_string())?;
    let session = SessionId::new("session")?;
    let connection = ConnectionManager::new(Client::open(url)?).await?;
    let [append, read] = [APPEND, READ].map(|script| redis::Script::new(script).get_hash().to_owned());
    let bare = Bare { connection, scope: Scope::new("bare", &run.subject())?, session: session.clone(), append, read };
    for scope in [&run, &bare.scope] {
        for _ in 0..LENGTH / 100 {
            chat.append(scope, &session, &Append::new(messages(100))).await?;
        }
    }
    let health = chat.ping().await?;
    say(&format!("{} {} ({:?}), {rounds} rounds of {calls} calls", health.server, health.version, health.durability));
    for batch in [1, 100] {
        appends(&chat, &bare, &run, batch, Plan { rounds, calls: calls.div_ceil(batch.min(10)) }).await?;
    }
    pages(&chat, &bare, &run, Plan { rounds, calls }).await?;
    for scope in [&run, &bare.scope] {
        let epoch = chat.bury(scope, chat.epoch(scope).await?).await?;
        chat.erase(scope, Epoch(epoch.0)).await?;
    }
    cmd("DEL").arg(list(&bare)).exec_async(&mut bare.connection.clone()).await?;
    Ok(())
}

fn list(bare: &Bare) -> String {
    format!("{PREFIX}:{{{}}}:list", bare.scope.key())
}

async fn appends(chat: &RedisChat, bare: &Bare, scope: &Scope, batch: usize, plan: Plan) -> Outcome<()> {
    let Plan { rounds, calls } = plan;
    let mut turns = Turns::default();
    for _ in 0..rounds {
        let work: Vec<_> = (0..calls).map(|_| Append::new(messages(batch))).collect();
        let turn = Turn::start();
        for batch in &work {
            chat.append(scope, &bare.session, batch).await?;
        }
        turns.end("library", turn, calls);
        let work: Vec<_> = (0..calls).map(|_| messages(batch)).collect();
        let turn = Turn::start();
        for messages in &work {
            one(bare, &append(bare, messages)).await?;
        }
        turns.end("driver alone, the same script", turn, calls);
        let work: Vec<Cmd> = (0..calls).map(|_| append(bare, &messages(batch))).collect();
        let turn = Turn::start();
        send(bare, &work).await?;
        turns.end("commands made beforehand", turn, calls);
        let push = |_| cmd("RPUSH").arg(list(bare)).arg(bodies(&messages(batch))).clone();
        let work: Vec<Cmd> = (0..calls).map(push).collect();
        let turn = Turn::start();
        send(bare, &work).await?;
        turns.end("RPUSH of the bodies", turn, calls);
    }
    turns.report(&format!("append of {batch}"));
    Ok(())
}

async fn pages(chat: &RedisChat, bare: &Bare, scope: &Scope, plan: Plan) -> Outcome<()> {
    let Plan { rounds, calls } = plan;
    let mut turns = Turns::default();
    let range = cmd("LRANGE").arg(list(bare)).arg(-(PAGE as i64)).arg(-1).clone();
    for _ in 0..rounds {
        let turn = Turn::start();
        for _ in 0..calls {
            whole(chat.read(scope, &bare.session, &Page::newest(PAGE)).await?.messages.len())?;
        }
        turns.end("library", turn, calls);
        let turn = Turn::start();
        for _ in 0..calls {
            whole(decoded(one(bare, &read(bare)).await?)?.len())?;
        }
        turns.end("driver alone, the same script, messages", turn, calls);
        let turn = Turn::start();
        for _ in 0..calls {
            whole(texts(one(bare, &read(bare)).await?)?.len())?;
        }
        turns.end("driver alone, the same script, texts", turn, calls);
        let turn = Turn::start();
        send(bare, &vec![read(bare); calls]).await?;
        turns.end("answers left as they are", turn, calls);
        let turn = Turn::start();
        send(bare, &vec![range.clone(); calls]).await?;
        turns.end("LRANGE of the bodies", turn, calls);
    }
    turns.report(&format!("last {PAGE} of more than {LENGTH}"));
    Ok(())
}

fn whole(rows: usize) -> Outcome<()> {
    if rows == PAGE { Ok(()) } else { Err(format!("a page of {rows} rows").into()) }
}

/// Returns the places and rows of an answer.
fn rows(answer: Value) -> Outcome<Vec<(Vec<u8>, Vec<u8>)>> {
    let Value::Array(parts) = answer else { return Err("an answer without parts".into()) };
    let mut parts = parts.into_iter().skip(3);
    let (Some(Value::Array(places)), Some(Value::Array(rows))) = (parts.next(), parts.next()) else {
        return Err("an answer without rows".into());
    };
    let both = places.into_iter().zip(rows).map(|both| match both {
        (Value::BulkString(place), Value::BulkString(row)) => Ok((place, row)),
        _ => Err("no text".into()),
    });
    both.collect()
}

/// Returns tokens and body of a row: the body stands behind 48 bytes and three words, the first of which are the tokens,
/// and before a checksum of 8 bytes.
fn parts(row: &[u8]) -> Outcome<(&str, &[u8])> {
    let inner = row.get(48..row.len().saturating_sub(8)).ok_or("a row cut off")?;
    let mut words = inner.splitn(4, |byte| *byte == b' ');
    let (tokens, body) = words.next().zip(words.nth(2)).ok_or("a row cut off")?;
    Ok((std::str::from_utf8(tokens)?, body))
}

/// Returns the messages of an answer with their numbers and tokens.
fn decoded(answer: Value) -> Outcome<Vec<(u64, u64, Arc<Message>)>> {
    let message = |(place, row): &(Vec<u8>, Vec<u8>)| {
        let (tokens, body) = parts(row)?;
        let message = Arc::new(Message::decode("bench", body)?);
        Ok((std::str::from_utf8(place)?.parse()?, tokens.parse()?, message))
    };
    let mut messages = rows(answer)?.iter().map(message).collect::<Outcome<Vec<_>>>()?;
    messages.reverse();
    Ok(messages)
}

/// Returns the bodies of an answer as texts, with their numbers and tokens.
fn texts(answer: Value) -> Outcome<Vec<(u64, u64, String)>> {
    let text = |(place, row): &(Vec<u8>, Vec<u8>)| {
        let (tokens, body) = parts(row)?;
        let body = std::str::from_utf8(body)?.to_owned();
        Ok((std::str::from_utf8(place)?.parse()?, tokens.parse()?, body))
    };
    let mut texts = rows(answer)?.iter().map(text).collect::<Outcome<Vec<_>>>()?;
    texts.reverse();
    Ok(texts)
}

async fn one(bare: &Bare, command: &Cmd) -> Outcome<Value> {
    Ok(command.query_async(&mut bare.connection.clone()).await?)
}

/// Sends commands one after the other.
async fn send(bare: &Bare, commands: &[Cmd]) -> Outcome<()> {
    let mut connection = bare.connection.clone();
    for command in commands {
        let answer: Value = command.query_async(&mut connection).await?;
        if let Value::Array(values) = &answer
            && values.first().is_some_and(|word| *word == Value::BulkString(b"prepare".to_vec()))
        {
            return Err("the owner is not listed".into());
        }
    }
    Ok(())
}

/// Messages of about 280 bytes, the mean of the chat corpora.
fn messages(count: usize) -> Vec<NewMessage> {
    let text = "I moved to the new flat last week, and the cat has already found the warmest place of all, which is \
         the keyboard of the machine on which I am writing this very message to you. ";
    let message = |_| Arc::new(Message::new(Role::User, text.repeat(2), Timestamp(1_700_000_000_000_000)));
    (0..count).map(message).map(|message| NewMessage::sized(message, 70)).collect()
}

fn bodies(messages: &[NewMessage]) -> Vec<Vec<u8>> {
    messages.iter().map(|new| new.message.encode()).collect()
}

fn call(bare: &Bare, script: &str) -> Cmd {
    let mut command = cmd("EVALSHA");
    command.arg(script).arg(1).arg(format!("{PREFIX}:{{{}}}", bare.scope.key()));
    command
}

fn append(bare: &Bare, messages: &[NewMessage]) -> Cmd {
    let mut command = call(bare, &bare.append);
    let at = format!("{:020}", 1_700_000_000_000_000_u64 ^ (1 << 63));
    command.arg("-").arg("-").arg(bare.session.key()).arg("-").arg("-").arg(70 * messages.len()).arg(&at).arg(0);
    for new in messages {
        let body = new.message.encode();
        let digest = Message::digest_of(&bare.session, &body).0;
        let head = format!("{} {at} - ", new.tokens);
        let mut row = [new.message.id.0.as_bytes().as_slice(), &digest, head.as_bytes(), &body].concat();
        row.extend((xxh3_64(&row) ^ xxh3_64(bare.session.key().as_bytes())).to_le_bytes());
        command.arg(row);
    }
    command
}

fn read(bare: &Bare) -> Cmd {
    let mut command = call(bare, &bare.read);
    let largest = 1_u64 << 53;
    command.arg(bare.session.key()).arg("active").arg("before").arg(largest).arg(PAGE).arg("-").arg(largest);
    command.arg(4 << 20);
    command
}
