//! Row-level security on the tables of search: a query that forgets the owner finds the owner's rows only.

use memory_core::store::text::{TextEntry, TextStore as _, Visibility};
use memory_core::store::vectors::VectorEntry;
use memory_core::store::vectors::VectorStore as _;
use memory_core::vector::EmbeddingSpace;
use memory_core::{Scope, Unit};
use memory_postgres::{PgText, PgVectors, Postgres};
use memory_testkit::generate::{self, Random};
use memory_testkit::{Failure, Scene, check};
use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, QueryBuilder};

/// Queries without the owner, with its key in the setting and without, on a connection that is used again.
pub(crate) async fn forgotten_owners(database: Postgres, ordinary: String) -> Scene {
    let tenant = uuid::Uuid::now_v7().to_string();
    let space = EmbeddingSpace { model: tenant.clone(), dimension: 4, normalised: false, recipe: "1".to_owned() };
    let table = format!("vector_{}", space.fingerprint());
    let tail = PgText::new(&database, "walls-1");
    let folded = tail.clone().with_folding(60, 4);
    let vectors = PgVectors::open(&database, space).await?;
    let (ada, bob) = (Scope::new(&tenant, "ada")?, Scope::new(&tenant, "bob")?);
    let mut random = Random::new(3);
    for owner in [&ada, &bob] {
        for number in 0..12 {
            let item = generate::item(&mut random, Unit::Message);
            let entry: TextEntry = generate::entry(&mut random, item.clone(), 1)?;
            let (version, fields) = (entry.version, entry.fields.clone());
            let text = if number < 11 { &folded } else { &tail };
            text.put(owner, &[entry], Visibility::OnReturn).await?;
            let pieces = vec![generate::unit_vector(&mut random, 4)];
            vectors.put(owner, &[VectorEntry { item, version, pieces, fields }], Visibility::OnReturn).await?;
        }
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary).await.map_err(failed)?;
    sqlx::query("SET search_path = search, public").execute(&mut connection).await.map_err(failed)?;
    let tables = ["index_owner", "text_item", "text_tail", "text_segment", "text_posting", &table];
    for table in tables {
        check!(
            count(&mut connection, table, "").await.map_err(failed)? == (0, 0),
            "{table} is open to nobody in particular"
        );
        for owner in [&ada, &bob] {
            let mut transaction = connection.begin().await.map_err(failed)?;
            let name = sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(owner.key());
            name.execute(&mut *transaction).await.map_err(failed)?;
            let (own, foreign) = count(&mut transaction, table, owner.key()).await.map_err(failed)?;
            check!(own > 0 && foreign == 0, "{table} shows {own} rows of the owner and {foreign} of others");
            transaction.commit().await.map_err(failed)?;
        }
        check!(count(&mut connection, table, "").await.map_err(failed)? == (0, 0), "{table} remembers an owner");
    }
    let foreign = "INSERT INTO index_owner (scope, name) VALUES ('a.b', 'text/forged')";
    check!(sqlx::query(foreign).execute(&mut connection).await.is_err(), "a row of another owner was written");
    connection.close().await.map_err(failed)
}

/// Counts all rows that are to be seen: the owner's, and others.
async fn count(connection: &mut PgConnection, table: &str, owner: &str) -> sqlx::Result<(i64, i64)> {
    let mut sql = QueryBuilder::new("SELECT count(*) FILTER (WHERE scope = ");
    sql.push_bind(owner).push("), count(*) FILTER (WHERE scope <> ").push_bind(owner).push(") FROM ").push(table);
    sql.build_query_as().fetch_one(connection).await
}
