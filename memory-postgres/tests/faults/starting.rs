//! Servers that let nobody in: while they start, and while they shut down (57P03).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memory_core::Seq;
use memory_core::error::Result as Answer;
use memory_core::layer::{Guard, GuardPolicy, Guarded};
use memory_core::store::chat::ChatStore;
use memory_core::store::chat::Placement;
use memory_core::time::SystemClock;
use memory_postgres::{PgChat, Postgres, PostgresConfig, Tls};
use memory_testkit::doubles::{Counting, Tapped};
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, check, equal, fails};
use sqlx::{Connection as _, PgConnection};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::writers::{Talk, new};
use crate::support::{admin, ordinary};

/// What a server says before it has recovered.
const STARTING: [&str; 4] = ["SFATAL", "VFATAL", "C57P03", "Mthe canary is starting up"];

/// Ends the connections of the pool; the superuser's own stays.
const PUT_OUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memory_tester'";

/// Asks the server to shut down once its last client has gone, as an operator does. Until then it lets nobody in.
const SHUT_DOWN: &str = "COPY (SELECT 1) TO PROGRAM 'kill -TERM $(head -n 1 postmaster.pid)'";

/// A way to a server on which as many greetings as asked for are answered with [`STARTING`].
struct Front {
    address: String,
    refusals: Arc<AtomicUsize>,
}

impl Front {
    async fn before(server: String) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, refusals) = (listener.local_addr()?.to_string(), Arc::new(AtomicUsize::new(0)));
        let left = refusals.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let refuse = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
                let server = server.clone();
                tokio::spawn(async move { if refuse { turn_away(stream).await } else { lead(stream, server).await } });
            }
        });
        Ok(Self { address, refusals })
    }

    fn refuse(&self, times: usize) {
        self.refusals.store(times, Ordering::SeqCst);
    }
}

async fn lead(mut stream: TcpStream, server: String) -> std::io::Result<()> {
    let mut upstream = TcpStream::connect(server).await?;
    tokio::io::copy_bidirectional(&mut stream, &mut upstream).await.map(drop)
}

async fn turn_away(mut stream: TcpStream) -> std::io::Result<()> {
    let length = stream.read_u32().await?.saturating_sub(4);
    stream.read_exact(&mut vec![0; length as usize]).await?;
    let fields = STARTING.map(|field| format!("{field}\0")).concat() + "\0";
    let length = u32::try_from(fields.len() + 4).unwrap_or_default();
    stream.write_all(&[b"E", length.to_be_bytes().as_slice(), fields.as_bytes()].concat()).await
}

async fn run(admin: &mut PgConnection, sql: &'static str) -> Scene {
    sqlx::raw_sql(sql).execute(admin).await.map(drop).map_err(|error| Failure::new(error.to_string()))
}

/// Starts a server, and returns its address with it.
async fn own(servers: &Servers) -> Result<(Server, String), Failure> {
    let server = servers.own("postgres")?.start().await?;
    let place = server.url().rsplit_once('@').and_then(|(_, place)| place.split('/').next());
    let address = place.ok_or("no address")?.to_owned();
    Ok((server, address))
}

fn is_told<T>(answer: Answer<T>) -> Scene {
    fails!(answer.map(drop), error if error.is_retryable() && !format!("{error:?} {error}").contains("canary"));
    Ok(())
}

pub(crate) async fn starting(servers: Servers) -> Scene {
    let (server, address) = own(&servers).await?;
    let front = Front::before(address.clone()).await.map_err(|error| Failure::new(error.to_string()))?;
    let url = ordinary(server.url()).replace(&address, &front.address);
    let config = PostgresConfig::new(&url)?.with_schema("starting")?.with_tls(Tls::Off);

    front.refuse(1);
    let refused = Postgres::connect(config.clone()).await.map(drop);
    let source = refused.as_ref().err().and_then(|error| std::error::Error::source(error).map(ToString::to_string));
    equal(source, Some("SQLSTATE 57P03".to_owned()))?;
    is_told(refused)?;

    let (chat, talk) = (PgChat::new(&Postgres::connect(config).await?), Talk::new()?);
    equal(talk.append(&chat, &new("before")).await?, Placement::Added(Seq(1)))?;
    let mut operator = admin(server.url()).await?;
    run(&mut operator, PUT_OUT).await?;
    front.refuse(usize::MAX);
    for _ in 0..3 {
        let watch = RunningWatch::start();
        is_told(talk.append(&chat, &new("meanwhile")).await)?;
        check!(watch.elapsed() < Duration::from_secs(3) + SLACK, "a call took {:?}", watch.elapsed());
    }
    // One that is soon there is not noticed.
    front.refuse(3);
    equal(talk.append(&chat, &new("after")).await?, Placement::Added(Seq(2)))?;
    equal(talk.texts(&chat).await?, ["before", "after"])?;
    server.remove().await?;
    Ok(())
}

pub(crate) async fn shutting_down(servers: Servers) -> Scene {
    let (mut server, _) = own(&servers).await?;
    let config = PostgresConfig::new(&ordinary(server.url()))?.with_schema("ending")?;
    let (chat, talk) = (PgChat::new(&Postgres::connect(config.clone()).await?), Talk::new()?);
    equal(talk.append(&chat, &new("before")).await?, Placement::Added(Seq(1)))?;
    let mut operator = admin(server.url()).await?;
    run(&mut operator, SHUT_DOWN).await?;
    run(&mut operator, PUT_OUT).await?;
    let refused = Postgres::connect(config).await.map(drop);
    let source = refused.as_ref().err().and_then(|error| std::error::Error::source(error).map(ToString::to_string));
    equal(source, Some("SQLSTATE 57P03".to_owned()))?;
    is_told(talk.append(&chat, &new("refused")).await)?;

    // A guard tries again, and its caller where the server takes longer than that: it is appended once.
    let counting = Arc::new(Counting::default());
    let tapped: Arc<dyn ChatStore> =
        Arc::new(Tapped::new(Arc::new(chat.clone()) as Arc<dyn ChatStore>, counting.clone()));
    let policy = GuardPolicy::default().with_deadline(Duration::from_secs(60));
    let guarded = Guarded::new(tapped, Guard::new("postgres", policy, Arc::new(SystemClock)));
    let talk = Arc::new(talk);
    let writer = Arc::clone(&talk);
    let append = tokio::spawn(async move { writer.insist(&guarded, &new("guarded")).await });
    while counting.calls("append") < 2 {
        check!(!append.is_finished(), "the guard gave up");
        sleep(Duration::from_millis(20)).await;
    }
    operator.close().await.map_err(|error| Failure::new(error.to_string()))?;
    // It ends by itself now; asking once more does no harm.
    server.shut_down().await?;
    server.restart().await?;
    let appended = append.await.map_err(|error| Failure::new(error.to_string()))??;
    equal(appended, Placement::Added(Seq(2)))?;
    check!(counting.calls("append") >= 2, "the first try succeeded");
    equal(talk.texts(&chat).await?, ["before", "guarded"])?;
    server.remove().await?;
    Ok(())
}
