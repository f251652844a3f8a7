//! The cancel storm: calls dropped at random moments leave no transaction open.

use std::time::Duration;

use memory_core::error::Error;
use memory_core::store::Store as _;
use memory_core::store::chat::{ChatStore as _, Page, Placement};
use memory_postgres::{PgChat, Postgres};
use memory_testkit::generate::Random;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};
use tokio::time::timeout;

use super::writers::{Talk, new};
use crate::support::{admin, config};

const TASKS: usize = 8;
const CALLS: usize = 20_000;

/// How many transactions clients have left open.
const OPEN: &str = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";

pub(crate) async fn dropped(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.with_setting("fsync", "off").start().await?;
    let config = config(server.url(), "dropped")?.with_connections(6);
    let chat = PgChat::new(&Postgres::connect(config).await?);
    let tasks: Vec<_> = (0..TASKS).map(|task| tokio::spawn(rage(chat.clone(), task as u64))).collect();
    for task in tasks {
        task.await.map_err(|error| Failure::new(error.to_string()))??;
    }
    chat.close().await?;
    let mut admin = admin(server.url()).await?;
    let open: i64 = sqlx::query_scalar(OPEN).fetch_one(&mut admin).await.map_err(|_| Error::Overloaded)?;
    equal(open, 0)
}

/// Makes calls, gives most of them up, and checks that what was acknowledged is there.
async fn rage(chat: PgChat, seed: u64) -> Scene {
    let (talk, mut random) = (Talk::new()?, Random::new(seed));
    let mut acknowledged = Vec::new();
    for call in 0..CALLS / TASKS {
        let patience = Duration::from_micros(random.below(1_500) as u64);
        if random.chance(1, 4) {
            let page = Page::newest(5);
            if let Ok(slice) = timeout(patience, chat.read(&talk.scope, &talk.session, &page)).await {
                let Ok(slice) = slice else { continue };
                let messages = slice.messages;
                let is_own = messages.iter().filter_map(|row| row.message.as_ref());
                let foreign = is_own.map(|message| message.text()).find(|text| !text.starts_with(&format!("{seed} ")));
                equal(foreign, None)?;
            }
            continue;
        }
        let text = format!("{seed} {call}");
        if let Ok(answer) = timeout(patience, talk.append(&chat, &new(text.clone()))).await {
            match answer {
                Ok(Placement::Added(seq)) => acknowledged.push((seq, text)),
                Ok(other) => return Err(format!("a new message is {other:?}").into()),
                // Behind all that was dropped there may be no connection in time.
                Err(error) if error.is_retryable() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    // The crowd of calls that were dropped may still be at it.
    let last = format!("{seed} last");
    talk.insist(&chat, &new(last)).await?;
    let texts = talk.texts(&chat).await?;
    let lost = acknowledged.iter().find(|(seq, text)| {
        let place = usize::try_from(seq.0).ok().and_then(|seq| seq.checked_sub(1));
        place.and_then(|place| texts.get(place)) != Some(text)
    });
    equal(lost, None)
}
