//! Servers that are killed, and servers that stand still.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use memory_core::error::Result as Answer;
use memory_core::store::{Durability, Store as _};
use memory_postgres::{PgChat, Postgres, PostgresConfig};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, equal, rounds};
use tokio::time::sleep;

use super::writers::{Talk, in_order, new};
use crate::support::{config, ordinary};

const KILLS: usize = 15;
const PAUSES: usize = 10;
const WRITERS: usize = 4;

/// What the writers have been told.
#[derive(Default)]
struct Told {
    acknowledged: AtomicUsize,
    is_over: AtomicBool,
}

pub(crate) async fn killed(servers: Servers) -> Scene {
    let mut server = servers.own("postgres")?.start().await?;
    let config = PostgresConfig::new(&ordinary(server.url()))?.with_schema("killed")?.with_connections(WRITERS as u32);
    let chat = PgChat::new(&Postgres::connect(config).await?);
    equal(chat.ping().await?.durability, Durability::Committed)?;
    let (talk, told) = (Arc::new(Talk::new()?), Arc::new(Told::default()));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(chat.clone(), Arc::clone(&talk), Arc::clone(&told), writer)))
        .collect();
    for kill in 0..rounds(KILLS) {
        // Killed at another point of its work each time.
        let enough = told.acknowledged.load(Ordering::SeqCst) + 10 + kill * 7 % 23;
        while told.acknowledged.load(Ordering::SeqCst) < enough {
            sleep(Duration::from_millis(2)).await;
        }
        server.kill().await?;
        server.restart().await?;
    }
    told.is_over.store(true, Ordering::SeqCst);
    let mut counts = Vec::new();
    for writer in writers {
        counts.push(writer.await.map_err(|error| Failure::new(error.to_string()))??);
    }
    let texts = talk.texts(&chat).await?;
    equal(texts.len(), counts.iter().sum::<usize>())?;
    counts.iter().enumerate().try_for_each(|(writer, count)| in_order(&texts, &writer.to_string(), *count))
}

/// Appends until it is over, each message until it is acknowledged; returns how many.
async fn write(chat: PgChat, talk: Arc<Talk>, told: Arc<Told>, writer: usize) -> Answer<usize> {
    for number in 0.. {
        if told.is_over.load(Ordering::SeqCst) {
            return Ok(number);
        }
        talk.insist(&chat, &new(format!("{writer} {number}"))).await?;
        told.acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    Ok(0)
}

pub(crate) async fn stopped(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.start().await?;
    let deadline = Duration::from_secs(3);
    let config = config(server.url(), "stopped")?.with_connections(4).with_deadline(deadline);
    let (talk, chat) = (Arc::new(Talk::new()?), PgChat::new(&Postgres::connect(config).await?));
    let mut count = 0;
    for _ in 0..rounds(PAUSES) {
        let mut unknown = Vec::new();
        server.stop().await?;
        for task in 0..8 {
            let (chat, talk, message) = (chat.clone(), Arc::clone(&talk), new(format!("0 {}", count + task)));
            unknown.push((
                message.clone(),
                tokio::spawn(async move {
                    let watch = RunningWatch::start();
                    (talk.append(&chat, &message).await, watch.elapsed())
                }),
            ));
        }
        let mut messages = Vec::new();
        for (message, task) in unknown {
            let (answer, passed) = task.await.map_err(|error| Failure::new(error.to_string()))?;
            if !answer.is_err_and(|error| error.is_retryable()) {
                return Err("a server that stands still answered".into());
            }
            if passed > deadline + SLACK {
                return Err(format!("a call took {passed:?}").into());
            }
            messages.push(message);
        }
        server.cont().await?;
        for message in &messages {
            talk.insist(&chat, message).await?;
        }
        count += messages.len();
    }
    // Whatever order the server took them in, each is there once.
    let mut texts = talk.texts(&chat).await?;
    texts.sort_by_key(|text| text.split(' ').nth(1).and_then(|number| number.parse::<usize>().ok()));
    equal(texts.len(), count)?;
    in_order(&texts, "0", count)
}
