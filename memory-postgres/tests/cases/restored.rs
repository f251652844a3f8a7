//! A database that was restored without what searches read, and a conversation that is restored in parts.

use memory_core::store::chat::{Append, ChatStore as _, NewMessage, Page};
use memory_core::store::text::{TextStore as _, Visibility};
use memory_core::store::vectors::{VectorEntry, VectorStore as _};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Message, Role, Scope, SessionId, Timestamp, Unit};
use memory_postgres::{PgChat, PgText, PgVectors};
use memory_testkit::generate::{self, Random};
use memory_testkit::{Failure, Scene, check, equal};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

use crate::support::{open, ordinary};

/// What docs/backends.md has `pg_dump` leave out: the rows of `text_*` and `index_*`, and the tables of spaces.
const LEAVE_OUT: &str = "DO $$ DECLARE v_sql text; BEGIN \
     FOR v_sql IN SELECT format(CASE WHEN relname ~ '^vector_' THEN 'DROP TABLE %I' ELSE 'TRUNCATE %I' END, relname) \
     FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(current_schema()::text) \
     AND relname ~ '^(text_|index_|vector_.{16}$)' LOOP EXECUTE v_sql; END LOOP; END $$";

async fn fill(text: &PgText, vectors: &PgVectors, scope: &Scope) -> Scene {
    let mut random = Random::new(31);
    for _ in 0..5 {
        let item = generate::item(&mut random, Unit::Message);
        let entry = generate::entry(&mut random, item.clone(), 1)?;
        let (version, fields) = (entry.version, entry.fields.clone());
        text.put(scope, &[entry], Visibility::OnReturn).await?;
        let pieces = vec![generate::unit_vector(&mut random, 4)];
        vectors.put(scope, &[VectorEntry { item, version, pieces, fields }], Visibility::OnReturn).await?;
    }
    equal((text.scan(scope, None, 9).await?.len(), vectors.scan(scope, None, 9).await?.len()), (5, 5))
}

/// The indexes tell that they are others, so that truth has them filled again, and they can be filled.
pub(crate) async fn without_search(url: String) -> Scene {
    let (schema, ada) = (format!("t{}", uuid::Uuid::now_v7().simple()), Scope::new("restored", "ada")?);
    let space = EmbeddingSpace { model: schema.clone(), dimension: 4, normalised: false, recipe: "1".to_owned() };
    let database = open(&url, &schema).await?;
    let (text, vectors) = (PgText::new(&database, "restored-1"), PgVectors::open(&database, space.clone()).await?);
    let (texts_were, vectors_were) = (text.incarnation().await?, vectors.incarnation().await?);
    fill(&text, &vectors, &ada).await?;
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut connection).await.map_err(failed)?;
    sqlx::raw_sql(LEAVE_OUT).execute(&mut connection).await.map_err(failed)?;
    connection.close().await.map_err(failed)?;
    let database = open(&url, &schema).await?;
    let (text, vectors) = (PgText::new(&database, "restored-1"), PgVectors::open(&database, space).await?);
    check!(text.incarnation().await? != texts_were, "the index of words passes for the one that was filled");
    check!(vectors.incarnation().await? != vectors_were, "the index of meaning passes for the one that was filled");
    fill(&text, &vectors, &ada).await
}

/// Each part of a restore counts on and does not read the window again, which may hold all parts before.
pub(crate) async fn counts_on(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let chat = PgChat::new(&open(&url, &schema).await?);
    let (ada, bob, session) = (Scope::new("parts", "ada")?, Scope::new("parts", "bob")?, SessionId::new("s")?);
    let new = |text: &str| NewMessage::sized(Message::new(Role::User, text, Timestamp(0)), 3);
    chat.append(&ada, &session, &Append::new(vec![new("one"), new("two")])).await?;
    let rows = chat.read(&ada, &session, &Page::newest(10)).await?.messages;
    let (first, rest) = rows.split_at(1);
    let state = chat.restore(&bob, &session, None, first).await?.state;
    equal((state.active_messages, state.active_tokens), (1, 3))?;
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&url).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut connection).await.map_err(failed)?;
    // What was counted before counts, whatever a count of all would find.
    let more = "UPDATE session SET active_messages = 40, active_tokens = 400 WHERE scope = $1";
    let more = sqlx::query(more).bind(bob.key()).execute(&mut connection).await.map_err(failed)?;
    equal(more.rows_affected(), 1)?;
    let state = chat.restore(&bob, &session, None, rest).await?.state;
    equal((state.active_messages, state.active_tokens), (41, 403))?;
    connection.close().await.map_err(failed)
}
