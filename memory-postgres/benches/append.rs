//! How much of the speed of bare statements an append and a read of the last 50 messages keep.
//!
//! Bare statements do the same in the same process, on one connection: `begin`, the owner's key for the second wall, the
//! lock, the counters, the rows, the digests of what was there, the counters again, the note of an index, `commit`.
//!
//! `MEMORY_BENCH_POSTGRES_URL=postgres://… cargo bench -p memory-postgres --bench append`

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memory_core::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::upkeep::{IndexName, Upkeep};
use memory_core::{Message, Role, Scope, SessionId, Timestamp};
use memory_postgres::{PgChat, Postgres, PostgresConfig};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Row as _};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use uuid::Uuid;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Two schemas with the same tables: one for the library, one for bare statements.
struct Bench {
    chat: PgChat,
    bare: Mutex<PgConnection>,
    scope: Scope,
    session: SessionId,
}

#[expect(clippy::disallowed_methods, reason = "the configuration of the bench")]
fn url() -> Outcome<String> {
    Ok(std::env::var("MEMORY_BENCH_POSTGRES_URL")?)
}

async fn open(schema: &str) -> Outcome<PgChat> {
    let chat = PgChat::new(&Postgres::connect(PostgresConfig::new(&url()?)?.with_schema(schema)?).await?);
    chat.enlist(&IndexName::new("text/bench")?).await?;
    Ok(chat)
}

async fn prepare() -> Outcome<Bench> {
    let name = Uuid::now_v7().simple().to_string();
    let (ours, theirs) = (format!("a{name}"), format!("b{name}"));
    let (scope, session) = (Scope::new("tenant", "subject")?, SessionId::new("session")?);
    let chat = open(&ours).await?;
    for chat in [&chat, &open(&theirs).await?] {
        for _ in 0..10 {
            chat.append(&scope, &session, &batch(1_000)).await?;
        }
    }
    let options: PgConnectOptions = url()?.parse()?;
    let settings = [("search_path", theirs.as_str()), ("jit", "off"), ("synchronous_commit", "on")];
    let bare = options.options(settings).disable_statement_logging().connect().await?;
    Ok(Bench { chat, bare: Mutex::new(bare), scope, session })
}

fn batch(count: usize) -> Append {
    let text =
        "A message of a usual length: two sentences, about what a person types into a chat at a time. ".repeat(2);
    let new = |_| NewMessage { message: Arc::new(Message::new(Role::User, text.clone(), Timestamp(0))), tokens: 40 };
    Append { fence: None, messages: (0..count).map(new).collect() }
}

/// Messages as bare statements take them: encoded beforehand.
struct Rows {
    ids: Vec<Uuid>,
    digests: Vec<Vec<u8>>,
    bodies: Vec<String>,
}

fn rows(bench: &Bench, batch: &Append) -> Outcome<Rows> {
    let mut rows = Rows { ids: Vec::new(), digests: Vec::new(), bodies: Vec::new() };
    for NewMessage { message, tokens: _ } in &batch.messages {
        rows.ids.push(message.id.0);
        rows.digests.push(message.digest(&bench.session).0.to_vec());
        rows.bodies.push(String::from_utf8(message.encode())?);
    }
    Ok(rows)
}

async fn bare_append(bench: &Bench, rows: &Rows) -> Outcome<()> {
    let mut connection = bench.bare.lock().await;
    let (scope, session) = (bench.scope.key(), bench.session.key());
    sqlx::query("BEGIN").execute(&mut *connection).await?;
    sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(scope).execute(&mut *connection).await?;
    let lock = sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))");
    lock.bind(scope).bind(session).execute(&mut *connection).await?;
    let sql = "SELECT o.epoch, s.head FROM owner AS o JOIN session AS s ON s.scope = o.scope AND s.epoch = o.epoch \
         WHERE o.scope = $1 AND o.truth = 0 AND s.key = $2";
    let state = sqlx::query(sql).bind(scope).bind(session).fetch_one(&mut *connection).await?;
    let (epoch, head): (i64, i64) = (state.try_get(0)?, state.try_get(1)?);
    let sql = "INSERT INTO message (scope, epoch, session, seq, layer, id, digest, tokens, role, trust, at, body) \
         SELECT $1, $2, $3, $4 + n, 0, id, digest, 40, 'user', 3, 0, body::json \
         FROM unnest($5::uuid[], $6::bytea[], $7::text[]) WITH ORDINALITY AS m (id, digest, body, n) \
         ON CONFLICT (scope, epoch, id) DO NOTHING RETURNING id";
    let insert = sqlx::query(sql).bind(scope).bind(epoch).bind(session).bind(head);
    let insert = insert.bind(&rows.ids).bind(&rows.digests).bind(&rows.bodies);
    let added = insert.fetch_all(&mut *connection).await?.len();
    let sql = "SELECT id, digest FROM message WHERE scope = $1 AND epoch = $2 AND id = ANY ($3)";
    let known = sqlx::query(sql).bind(scope).bind(epoch).bind(&rows.ids).fetch_all(&mut *connection).await?;
    if (added, known.len()) != (rows.ids.len(), rows.ids.len()) {
        return Err("not all were new".into());
    }
    let count = i64::try_from(added)?;
    let sql = "UPDATE session SET head = head + $4, active_messages = active_messages + $4, \
         active_tokens = active_tokens + 40 * $4 WHERE scope = $1 AND epoch = $2 AND key = $3";
    sqlx::query(sql).bind(scope).bind(epoch).bind(session).bind(count).execute(&mut *connection).await?;
    let sql = "UPDATE note SET upto = $4 WHERE scope = $1 AND epoch = $2 AND session = $3 AND target = 1";
    sqlx::query(sql).bind(scope).bind(epoch).bind(session).bind(head + count).execute(&mut *connection).await?;
    sqlx::query("COMMIT").execute(&mut *connection).await?;
    Ok(())
}

async fn bare_read(bench: &Bench) -> Outcome<usize> {
    let mut connection = bench.bare.lock().await;
    let (scope, session) = (bench.scope.key(), bench.session.key());
    sqlx::query("BEGIN").execute(&mut *connection).await?;
    sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(scope).execute(&mut *connection).await?;
    let sql = "SELECT id, seq, tokens, first, archived_by, digest, body::text FROM message WHERE scope = $1 AND epoch = 0 \
         AND session = $2 AND archived_by IS NULL AND body IS NOT NULL ORDER BY seq DESC, layer DESC LIMIT 50";
    let rows = sqlx::query(sql).bind(scope).bind(session).fetch_all(&mut *connection).await?;
    sqlx::query("COMMIT").execute(&mut *connection).await?;
    let mut bytes = 0;
    for row in &rows {
        bytes += row.try_get::<&str, _>(6)?.len();
    }
    Ok(bytes)
}

fn compare(criterion: &mut Criterion) {
    let Ok(runtime) = Runtime::new() else { return };
    let bench = match runtime.block_on(prepare()) {
        Ok(bench) => Arc::new(bench),
        Err(error) => {
            tracing::error!(%error, "the bench needs a server");
            return;
        }
    };
    for count in [1, 100] {
        let mut group = criterion.benchmark_group("append");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("library", count), |bencher| {
            let bench = Arc::clone(&bench);
            bencher.to_async(&runtime).iter_batched(
                || batch(count),
                |batch| {
                    let bench = Arc::clone(&bench);
                    async move { bench.chat.append(&bench.scope, &bench.session, &batch).await.map(|_| ()) }
                },
                criterion::BatchSize::SmallInput,
            );
        });
        group.bench_function(BenchmarkId::new("bare", count), |bencher| {
            let bench = Arc::clone(&bench);
            bencher.to_async(&runtime).iter_batched(
                || rows(&bench, &batch(count)),
                |rows| {
                    let bench = Arc::clone(&bench);
                    async move { bare_append(&bench, &rows?).await }
                },
                criterion::BatchSize::SmallInput,
            );
        });
        group.finish();
    }
    let mut group = criterion.benchmark_group("last 50");
    group.bench_function("library", |bencher| {
        let page = Page::newest(50);
        bencher.to_async(&runtime).iter(|| bench.chat.read(&bench.scope, &bench.session, &page));
    });
    group.bench_function("bare", |bencher| bencher.to_async(&runtime).iter(|| bare_read(&bench)));
    group.finish();
}

criterion_group!(benches, compare);
criterion_main!(benches);
