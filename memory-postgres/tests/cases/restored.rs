//! A database that was restored without what searches read.

use memory_core::store::text::{TextStore as _, Visibility};
use memory_core::store::vectors::{VectorEntry, VectorStore as _};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Scope, Unit};
use memory_postgres::{PgText, PgVectors};
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
