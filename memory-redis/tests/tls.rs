//! Encrypted connections: a certificate that is trusted, one that is not, and the provider that rustls takes.

use std::process::ExitCode;
use std::time::Duration;

use memory_core::store::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::store::{Health, Store as _};
use memory_core::{Error, Message, Result, Role, Scope, SessionId, Timestamp};
use memory_redis::{Redis, RedisCache, RedisChat, RedisConfig};
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Scene, Suite, check, equal};

const AUTHORITY: &str = include_str!("fixtures/authority.pem");
const CERTIFICATE: &str = include_str!("fixtures/server.pem");
const KEY: &str = include_str!("fixtures/server.key");

/// A server that speaks TLS alone.
const SHELL: &str = "echo \"$CERTIFICATE\" > /tmp/server.pem; echo \"$KEY\" > /tmp/server.key; \
     exec redis-server --bind 0.0.0.0 --protected-mode no --save '' --port 0 --tls-port 6379 --tls-auth-clients no \
     --tls-cert-file /tmp/server.pem --tls-key-file /tmp/server.key --requirepass hunter2";

/// Returns the URL over TLS of a server that was started under a plain one.
fn secure(url: &str) -> String {
    url.replacen("redis://", "rediss://:hunter2@", 1)
}

/// Returns the way to a server, with the patience of a machine that may stop for many seconds.
fn patient(url: impl Into<String>) -> RedisConfig {
    RedisConfig::new(url).with_timeout(Duration::from_secs(60)).with_connect_timeout(Duration::from_secs(60))
}

fn trusting(url: &str) -> RedisConfig {
    patient(secure(url)).with_root_certificate(AUTHORITY)
}

async fn probe(url: String) -> Result<Health> {
    RedisCache::new(&Redis::connect(trusting(&url)).await?).ping().await
}

async fn a_trusted_server_is_spoken_to_and_another_is_not(servers: Servers) -> Scene {
    let own = servers.own("redis")?.with_env("CERTIFICATE", CERTIFICATE).with_env("KEY", KEY);
    let server = own.with_command(["sh", "-c", SHELL]).start().await?;

    let chat = RedisChat::new(&Redis::connect(trusting(server.url())).await?)?;
    let (scope, session) = (Scope::new("tls", "ada")?, SessionId::new("s")?);
    let message = Message::new(Role::User, "said in secret", Timestamp(0));
    chat.append(&scope, &session, &Append::new(vec![NewMessage::sized(message, 1)])).await?;
    equal(chat.read(&scope, &session, &Page::newest(1)).await?.messages.len(), 1)?;

    let untrusted = Redis::connect(patient(secure(server.url()))).await.map(drop);
    check!(matches!(&untrusted, Err(error) if !error.is_retryable()), "not trusted: {untrusted:?}");
    let plain = Redis::connect(RedisConfig::new(server.url())).await.map(drop);
    check!(matches!(plain, Err(Error::Backend { .. })), "not encrypted: {plain:?}");
    let wrong = patient(secure(server.url()).replace("hunter2", "wrong")).with_root_certificate(AUTHORITY);
    let wrong = Redis::connect(wrong).await.map(drop);
    check!(matches!(&wrong, Err(error) if !error.is_retryable()), "with a wrong password: {wrong:?}");
    server.remove().await?;
    Ok(())
}

fn main() -> ExitCode {
    Suite::new("redis-tls")
        .service(Service::redis(), probe)
        .alone("a_trusted_server_is_spoken_to_and_another_is_not", a_trusted_server_is_spoken_to_and_another_is_not)
        .run()
}
