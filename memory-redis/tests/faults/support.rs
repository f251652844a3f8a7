//! What the tests have in common.

use std::time::Duration;

use memory_core::store::chat::{Append, ChatStore, NewMessage, Page, View};
use memory_core::store::{Health, Store};
use memory_core::{Error, Message, MessageId, Result, Role, Scope, Seq, SessionId, Timestamp};
use memory_redis::redis::{Value, cmd};
use memory_redis::{Redis, RedisCache, RedisChat, RedisConfig, redis};
use memory_testkit::{Failure, Scene, check};

/// How long a server may take where that is not what is tried: a machine may stop for many seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns what a server says of itself.
pub(crate) async fn probe(url: String) -> Result<Health> {
    RedisCache::new(&Redis::connect(RedisConfig::new(url)).await?).ping().await
}

/// Returns the way to connect to a server that is there all the time, with more patience than usual.
pub(crate) fn patient(url: impl Into<String>) -> RedisConfig {
    RedisConfig::new(url).with_timeout(PATIENCE).with_connect_timeout(PATIENCE)
}

/// Returns the conversations of a server that is there all the time.
pub(crate) async fn chat(url: &str) -> Result<RedisChat> {
    RedisChat::new(&Redis::connect(patient(url)).await?)
}

/// Returns the conversations of a server that goes away; calls wait for it as long as they usually do.
pub(crate) async fn hasty_chat(url: &str) -> Result<RedisChat> {
    RedisChat::new(&Redis::connect(RedisConfig::new(url)).await?)
}

/// Connects to a server without a store, as an operator does.
pub(crate) async fn connection(url: &str) -> redis::RedisResult<redis::aio::MultiplexedConnection> {
    let config = redis::AsyncConnectionConfig::new();
    let config = config.set_response_timeout(Some(PATIENCE)).set_connection_timeout(Some(PATIENCE));
    redis::Client::open(url)?.get_multiplexed_async_connection_with_config(&config).await
}

/// Sends a bare command, as an operator does.
pub(crate) async fn tell(url: &str, command: &str) -> std::result::Result<Value, Failure> {
    let failed = |error: redis::RedisError| Failure::new(error.to_string());
    let mut connection = connection(url).await.map_err(failed)?;
    let mut words = command.split(' ');
    let mut line = cmd(words.next().unwrap_or_default());
    line.arg(words.map(|word| word.trim_matches('"')).collect::<Vec<_>>());
    line.query_async(&mut connection).await.map_err(failed)
}

/// Waits a moment: for a server that is to come back, never for an order of events.
pub(crate) async fn moment() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

pub(crate) fn scope(subject: &str) -> Result<Scope> {
    Scope::new("faults", subject)
}

pub(crate) fn message(text: String) -> NewMessage {
    NewMessage::sized(Message::new(Role::User, text, Timestamp(0)), 1)
}

/// Appends until the server acknowledges, with the same ids each time.
pub(crate) async fn persist(
    chat: &RedisChat,
    scope: &Scope,
    session: &SessionId,
    messages: &[NewMessage],
) -> Result<()> {
    let batch = Append::new(messages.to_vec());
    loop {
        match chat.append(scope, session, &batch).await {
            Err(error) if error.is_retryable() => moment().await,
            answer => return answer.map(drop),
        }
    }
}

/// Calls until the server is there.
pub(crate) async fn reached<T, R: Future<Output = Result<T>>>(call: impl Fn() -> R) -> Result<T> {
    for _ in 0..500 {
        match call().await {
            Err(error) if error.is_retryable() => moment().await,
            answer => return answer,
        }
    }
    Err(Error::Overloaded)
}

/// Returns the ids and words of a session, checked to be numbered without a gap.
pub(crate) async fn log(
    chat: &RedisChat,
    scope: &Scope,
    session: &SessionId,
) -> std::result::Result<Vec<(MessageId, String)>, Failure> {
    let page = Page::after(Seq(0), usize::MAX, View::Log);
    let slice = reached(|| chat.read(scope, session, &page)).await?;
    let mut found = Vec::new();
    for (place, row) in slice.messages.iter().enumerate() {
        check!(row.seq.0 == place as u64 + 1, "number {:?} stands at place {place}", row.seq);
        found.push((row.id, row.message.as_ref().map(|message| message.text()).unwrap_or_default()));
    }
    check!(slice.state.head.0 == found.len() as u64, "{} rows, the head is {:?}", found.len(), slice.state.head);
    Ok(found)
}

/// Checks that a session holds exactly these messages, each once and in this order.
pub(crate) async fn holds(chat: &RedisChat, scope: &Scope, session: &SessionId, promised: &[NewMessage]) -> Scene {
    let found = log(chat, scope, session).await?;
    let lost = promised.iter().filter(|new| !found.iter().any(|(id, _)| *id == new.message.id));
    let lost: Vec<String> = lost.map(|new| new.message.text()).collect();
    check!(lost.is_empty(), "{} of {} in {} are lost: {lost:?}", lost.len(), promised.len(), session.name());
    check!(found.len() == promised.len(), "{} messages where {} were acknowledged", found.len(), promised.len());
    let in_order = found.iter().zip(promised).all(|((id, _), new)| *id == new.message.id);
    check!(in_order, "the messages stand in another order");
    Ok(())
}
