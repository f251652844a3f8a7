//! Many writers of one session.

use std::sync::Arc;
use std::time::Duration;

use memory_core::error::Result as Answer;
use memory_core::store::chat::{Append, ChatStore, NewMessage, Page, Placement, View};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Error, Message, Role, Scope, Seq, SessionId, Timestamp};
use memory_postgres::{PgChat, PgVectors};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};
use uuid::Uuid;

use crate::support::{config, open};

/// The session that all writers share.
pub(crate) struct Talk {
    pub(crate) scope: Scope,
    pub(crate) session: SessionId,
}

impl Talk {
    pub(crate) fn new() -> Answer<Self> {
        Ok(Self { scope: Scope::new(&Uuid::now_v7().to_string(), "ada")?, session: SessionId::new("shared")? })
    }

    /// Appends `text` once.
    pub(crate) async fn append(&self, chat: &dyn ChatStore, new: &NewMessage) -> Answer<Placement> {
        let batch = Append::new(vec![new.clone()]);
        let appended = chat.append(&self.scope, &self.session, &batch).await?;
        appended.placements.first().copied().ok_or(Error::Conflict)
    }

    /// Appends a message until it is acknowledged, as any caller may after a fault that can pass.
    pub(crate) async fn insist(&self, chat: &dyn ChatStore, new: &NewMessage) -> Answer<Placement> {
        loop {
            match self.append(chat, new).await {
                Err(error) if error.is_retryable() => tokio::time::sleep(Duration::from_millis(20)).await,
                answer => return answer,
            }
        }
    }

    /// Returns the texts of the session by number, which must be gapless.
    pub(crate) async fn texts(&self, chat: &PgChat) -> Result<Vec<String>, Failure> {
        let page = Page::after(Seq(0), usize::MAX, View::Log);
        let slice = chat.read(&self.scope, &self.session, &page).await?;
        if !slice.messages.iter().map(|row| row.seq.0).eq(1..=slice.state.head.0) {
            return Err("the numbers have gaps".into());
        }
        Ok(slice.messages.iter().filter_map(|row| row.message.as_ref()).map(|message| message.text()).collect())
    }
}

pub(crate) fn new(text: impl Into<String>) -> NewMessage {
    NewMessage::sized(Message::new(Role::User, text, Timestamp(0)), 1)
}

/// Checks that the texts of each writer, `<writer> <number>`, are there once and in order.
pub(crate) fn in_order(texts: &[String], writer: &str, count: usize) -> Scene {
    let own = texts.iter().filter_map(|text| text.strip_prefix(&format!("{writer} ")));
    let own: Vec<String> = own.map(str::to_owned).collect();
    equal(own, (0..count).map(|number| number.to_string()).collect::<Vec<_>>())
}

const TASKS: usize = 8;
const MESSAGES: usize = 100;

/// How often eight meet at a new schema; only some of the meetings are at the same moment.
const SCHEMAS: usize = 8;

pub(crate) async fn create(servers: Servers) -> Scene {
    for _ in 0..SCHEMAS {
        create_one(&servers).await?;
    }
    Ok(())
}

async fn create_one(servers: &Servers) -> Scene {
    let (url, schema) = (servers.url("postgres")?, format!("t{}", Uuid::now_v7().simple()));
    let space = EmbeddingSpace { model: schema.clone(), dimension: 4, normalised: false, recipe: "1".to_owned() };
    let opening = |_| {
        let (url, schema, space) = (url.clone(), schema.clone(), space.clone());
        tokio::spawn(async move {
            let server = open(&url, &schema).await?;
            PgVectors::open(&server, space).await.map(|_| server)
        })
    };
    let opening: Vec<_> = (0..8).map(opening).collect();
    let talk = Talk::new()?;
    for (number, task) in opening.into_iter().enumerate() {
        let server = task.await.map_err(|error| Failure::new(error.to_string()))??;
        let placement = talk.append(&PgChat::new(&server), &new("hello")).await?;
        equal(placement, Placement::Added(Seq(number as u64 + 1)))?;
    }
    Ok(())
}

pub(crate) async fn together(servers: Servers) -> Scene {
    let (url, schema) = (servers.url("postgres")?, format!("t{}", Uuid::now_v7().simple()));
    let talk = Arc::new(Talk::new()?);
    let pools = [PgChat::new(&open(&url, &schema).await?), PgChat::new(&open(&url, &schema).await?)];
    let mut tasks = Vec::new();
    for (pool, chat) in pools.iter().enumerate() {
        for task in 0..TASKS {
            let (chat, talk) = (chat.clone(), Arc::clone(&talk));
            tasks.push(tokio::spawn(async move {
                for number in 0..MESSAGES {
                    talk.insist(&chat, &new(format!("{pool}/{task} {number}"))).await?;
                }
                Ok::<_, Error>(())
            }));
        }
    }
    for task in tasks {
        task.await.map_err(|error| Failure::new(error.to_string()))??;
    }
    let [chat, _] = &pools;
    let texts = talk.texts(chat).await?;
    equal(texts.len(), 2 * TASKS * MESSAGES)?;
    (0..2)
        .flat_map(|pool| (0..TASKS).map(move |task| format!("{pool}/{task}")))
        .try_for_each(|writer| in_order(&texts, &writer, MESSAGES))
}

pub(crate) async fn crowded(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.with_setting("max_connections", "5");
    let server = server.with_setting("superuser_reserved_connections", "1").start().await?;
    let config = config(server.url(), "crowded")?.with_connections(10).with_deadline(Duration::from_secs(6));
    let (talk, chat) = (Arc::new(Talk::new()?), PgChat::new(&memory_postgres::Postgres::connect(config).await?));
    let writer = |task| {
        let (chat, talk) = (chat.clone(), Arc::clone(&talk));
        tokio::spawn(async move { talk.insist(&chat, &new(format!("{task} 0"))).await })
    };
    let tasks: Vec<_> = (0..64).map(writer).collect();
    for task in tasks {
        task.await.map_err(|error| Failure::new(error.to_string()))??;
    }
    let texts = talk.texts(&chat).await?;
    equal(texts.len(), 64)?;
    (0..64).try_for_each(|task| in_order(&texts, &task.to_string(), 1))
}
