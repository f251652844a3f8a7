//! Schemas that an earlier version of the library made.

use memory_core::store::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::store::text::TextStore as _;
use memory_core::store::upkeep::{Enlisted, Incarnation, IndexName, Outcome, Upkeep};
use memory_core::{CounterId, Message, Role, Scope, SessionId, Timestamp};
use memory_postgres::{PgChat, PgText, Postgres};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Connection as _, PgConnection, SqlSafeStr as _};
use uuid::Uuid;

use super::writers::new;
use crate::support::{admin, application, grant, open, ordinary};

/// The migrations of the truth but for the last of them, and those of the search stores.
const OVERTAKEN: [(i64, &str, &str); 5] = [
    (1, "truth", include_str!("../../migrations/0001_truth.sql")),
    (2, "chat", include_str!("../../migrations/0002_chat.sql")),
    (3, "records", include_str!("../../migrations/0003_records.sql")),
    (10, "text", include_str!("../../migrations/0010_text.sql")),
    (11, "vectors", include_str!("../../migrations/0011_vectors.sql")),
];

/// The migrations of a version that did not keep who counted tokens.
const COUNTERLESS: [(i64, &str, &str); 6] = [
    (1, "truth", include_str!("../../migrations/0001_truth.sql")),
    (2, "chat", include_str!("../../migrations/0002_chat.sql")),
    (3, "records", include_str!("../../migrations/0003_records.sql")),
    (4, "upkeep", include_str!("../../migrations/0004_upkeep.sql")),
    (10, "text", include_str!("../../migrations/0010_text.sql")),
    (11, "vectors", include_str!("../../migrations/0011_vectors.sql")),
];

/// The migrations of a version whose erasures at once could forget numbers of which there were rows.
const FORGETFUL: [(i64, &str, &str); 9] = [
    (1, "truth", include_str!("../../migrations/0001_truth.sql")),
    (2, "chat", include_str!("../../migrations/0002_chat.sql")),
    (3, "records", include_str!("../../migrations/0003_records.sql")),
    (4, "upkeep", include_str!("../../migrations/0004_upkeep.sql")),
    (5, "settle", include_str!("../../migrations/0005_settle.sql")),
    (10, "text", include_str!("../../migrations/0010_text.sql")),
    (11, "vectors", include_str!("../../migrations/0011_vectors.sql")),
    (12, "pinned", include_str!("../../migrations/0012_pinned.sql")),
    (13, "counters", include_str!("../../migrations/0013_counters.sql")),
];

/// A migration with a later number than one that is missing.
const LATER: (i64, &str, &str) = (16, "erasers", include_str!("../../migrations/0016_erasers.sql"));

fn failed(error: &sqlx::Error) -> Failure {
    Failure::new(error.to_string())
}

/// Makes a schema by these migrations alone, and returns its name and a connection to it.
async fn make(url: &str, migrations: &[(i64, &'static str, &'static str)]) -> Result<(String, PgConnection), Failure> {
    let schema = format!("t{}", Uuid::now_v7().simple());
    let mut connection = PgConnection::connect(&ordinary(url)).await.map_err(|error| failed(&error))?;
    let sql = "SELECT set_config('search_path', $1 || ', public', false)";
    sqlx::query(sql).bind(&schema).execute(&mut connection).await.map_err(|error| failed(&error))?;
    let sql =
        "DO $$ BEGIN EXECUTE format('CREATE SCHEMA %I', split_part(current_setting('search_path'), ',', 1)); END $$";
    sqlx::raw_sql(sql).execute(&mut connection).await.map_err(|error| failed(&error))?;
    let migration = |(version, name, sql): &(i64, &'static str, &'static str)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, (*sql).into_sql_str(), false)
    };
    let mut migrator = Migrator::with_migrations(migrations.iter().map(migration).collect());
    migrator.dangerous_set_table_name("memory_migrations");
    migrator.run_direct(None, &mut connection, false).await.map_err(|error| Failure::new(error.to_string()))?;
    Ok((schema, connection))
}

pub(crate) async fn overtaken(servers: Servers) -> Scene {
    let url = servers.url("postgres")?;
    let (schema, _) = make(&url, &OVERTAKEN).await?;
    // Notes are the matter of the migration that is missing.
    let chat = PgChat::new(&open(&url, &schema).await?);
    chat.enlist(&IndexName::new("text/test")?, None, usize::MAX).await?;
    equal(chat.epoch(&Scope::new("acme", "ada")?).await?.0, 0)
}

pub(crate) async fn unnamed(servers: Servers) -> Scene {
    let url = servers.url("postgres")?;
    let (schema, mut connection) = make(&url, &[&FORGETFUL[..], &[LATER]].concat()).await?;
    let old = "INSERT INTO owner VALUES ('acme.ada', 0, 0); SELECT set_config('memory.scope', 'acme.ada', false); \
         INSERT INTO session (scope, epoch, key, head) VALUES ('acme.ada', 0, 's', 3); SELECT enlist_index(0::smallint, 'text/test')";
    sqlx::raw_sql(old).execute(&mut connection).await.map_err(|error| failed(&error))?;
    let (chat, index) = (PgChat::new(&open(&url, &schema).await?), IndexName::new("text/test")?);
    let known = Enlisted { name: index.clone(), incarnation: None, is_noted: true };
    equal(chat.indexes().await?, [known])?;
    let [note] = &chat.pending(&index, Timestamp(0), 9).await?[..] else { return Err("no note".into()) };
    chat.settle(&index, &[(note.clone(), Outcome::Done { through: note.upto })]).await?;
    // Nobody knows whether the index is the one that was filled.
    equal(chat.enlist(&index, Some(Incarnation::draw()), 9).await?, true)?;
    equal(chat.pending(&index, Timestamp(0), 9).await?.len(), 1)
}

pub(crate) async fn counting(servers: Servers) -> Scene {
    let url = servers.url("postgres")?;
    let (schema, mut connection) = make(&url, &COUNTERLESS).await?;
    let (scope, session) = (Scope::new("acme", "ada")?, SessionId::new("s")?);
    let message = Message::new(Role::User, "old words", Timestamp(0));
    let body = String::from_utf8(message.encode()).map_err(|error| Failure::new(error.to_string()))?;
    let sql = "SELECT outcome FROM append_messages($1, $2, NULL, NULL, ARRAY[$3]::uuid[], ARRAY[$4]::bytea[], '{9}', \
         ARRAY['user'::bytea], '{NULL}', '{3}', '{0}', '{NULL}', ARRAY[$5]::text[])";
    let append = sqlx::query_scalar::<_, i16>(sql).bind(scope.key()).bind(session.key()).bind(message.id.0);
    let append = append.bind(message.digest(&session).0.to_vec()).bind(body);
    equal(append.fetch_one(&mut connection).await.map_err(|error| failed(&error))?, 0)?;
    let chat = PgChat::new(&open(&url, &schema).await?);
    let new = NewMessage { counter: CounterId(u32::MAX), ..new("new words") };
    let batch = Append { asked: 40_000, ..Append::new(vec![new]) };
    equal(chat.append(&scope, &session, &batch).await?.state.asked, 40_000)?;
    let rows = chat.read(&scope, &session, &Page::newest(10)).await?.messages;
    let found: Vec<_> = rows.iter().map(|row| (row.tokens, row.counter)).collect();
    equal(found, [(9, CounterId::UNKNOWN), (1, CounterId(u32::MAX))])
}

pub(crate) async fn lost(servers: Servers) -> Scene {
    let url = servers.url("postgres")?;
    let (schema, mut connection) = make(&url, &FORGETFUL).await?;
    let fill = "INSERT INTO vector_space VALUES ('0123', 'm', 2, false, '1'); SELECT vector_table('0123', 2); \
         DO $$ BEGIN FOR i IN 1..20 LOOP \
         PERFORM set_config('memory.scope', 'acme.' || i, true); \
         INSERT INTO index_owner (scope, name) VALUES ('acme.' || i, 'text/test'); \
         INSERT INTO text_posting SELECT scope, id + n, 1, 'tea', '' FROM index_owner, generate_series(0, i % 3) AS n; \
         INSERT INTO vector_0123 (scope, owner, item, piece, epoch, revision, embedding, unit, trust, at, words, fields) \
         SELECT scope, id + i % 2, '1', 0, 0, 1, '[1,0]', '', 1, 0, '{}', '' FROM index_owner; \
         END LOOP; END $$";
    sqlx::raw_sql(fill).execute(&mut connection).await.map_err(|error| failed(&error))?;
    open(&url, &schema).await?;
    let mut left = (0, 0);
    for number in 1..=20 {
        let name = sqlx::query("SELECT set_config('memory.scope', 'acme.' || $1, false)").bind(number.to_string());
        name.execute(&mut connection).await.map_err(|error| failed(&error))?;
        let sql = "SELECT (SELECT count(*) FROM text_posting), (SELECT count(*) FROM vector_0123), \
             (SELECT count(*) FROM text_posting JOIN index_owner ON id = owner), (SELECT count(*) FROM index_owner)";
        let counts = sqlx::query_as::<_, (i64, i64, i64, i64)>(sql).fetch_one(&mut connection).await;
        let (postings, vectors, known, owners) = counts.map_err(|error| failed(&error))?;
        equal((postings, known, owners), (1, 1, 1))?;
        left = (left.0 + postings, left.1 + vectors);
    }
    equal(left, (20, 10))?;
    // Without a name the wall stands again.
    sqlx::raw_sql("SET memory.scope = ''").execute(&mut connection).await.map_err(|error| failed(&error))?;
    let seen = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM vector_0123").fetch_one(&mut connection).await;
    equal(seen.map_err(|error| failed(&error))?, 0)
}

/// Whoever was given rights on the tables of an earlier version has them on those that came since.
pub(crate) async fn earlier_rights(servers: Servers) -> Scene {
    let url = servers.url("postgres")?;
    let (schema, _) = make(&url, &FORGETFUL).await?;
    grant(&mut admin(&url).await?, &schema).await?;
    let owner = open(&url, &schema).await?;
    let database = Postgres::connect(application(&url, &schema)?).await?;
    let drawn = PgText::new(&database, "test").incarnation().await?;
    equal(PgText::new(&owner, "test").incarnation().await?, drawn)
}
