//! Messages so large that a page of them is read in several steps.

use memory_core::SessionId;
use memory_core::store::chat::{ChatStore as _, NewMessage, Page};
use memory_redis::redis::Value;
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, check, equal};

use super::support::{chat, message, persist, scope, tell};

/// How many messages of a MiB each; of these a step may answer with four.
const MESSAGES: usize = 22;
const STEPS: u64 = 6;

/// Returns how often the server was called to run a script since it was asked to count anew.
async fn scripts(server: &Server) -> Result<u64, Failure> {
    let Value::BulkString(told) = tell(server.url(), "INFO commandstats").await? else {
        return Err("the server tells no figures".into());
    };
    let told = String::from_utf8_lossy(&told).into_owned();
    Ok(told.lines().filter_map(calls).sum::<u64>())
}

/// Returns the calls that a line of the figures tells of a command that runs scripts.
fn calls(line: &str) -> Option<u64> {
    let (_, figures) = line.strip_prefix("cmdstat_eval")?.split_once(":calls=")?;
    figures.split(',').next()?.parse().ok()
}

pub(crate) async fn in_steps(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let chat = chat(server.url()).await?;
    let (ada, session) = (scope("ada")?, SessionId::new("s")?);
    let body = "x".repeat(1 << 20);
    let messages: Vec<NewMessage> = (0..MESSAGES).map(|number| message(format!("{number} {body}"))).collect();
    for some in messages.chunks(4) {
        persist(&chat, &ada, &session, some).await?;
    }
    let ids: Vec<_> = messages.iter().map(|new| new.message.id).collect();

    tell(server.url(), "CONFIG RESETSTAT").await?;
    let page = chat.read(&ada, &session, &Page::newest(MESSAGES)).await?;
    equal(page.messages.iter().map(|row| row.id).collect::<Vec<_>>(), ids.clone())?;
    equal(page.complete, true)?;
    let steps = scripts(&server).await?;
    check!(steps >= STEPS, "{MESSAGES} MiB were read in {steps} steps");

    tell(server.url(), "CONFIG RESETSTAT").await?;
    let found = chat.get(&ada, &ids).await?.messages;
    equal(found.iter().map(|row| row.id).collect::<Vec<_>>(), ids)?;
    let steps = scripts(&server).await?;
    check!(steps >= STEPS, "{MESSAGES} MiB were found in {steps} steps");
    server.remove().await?;
    Ok(())
}
