//! The table of a space.

use memory_core::Error;
use memory_core::store::upkeep::Incarnation;
use memory_core::vector::EmbeddingSpace;
use sqlx::postgres::PgConnection;

use crate::error::{Attempt, BACKEND, Doing};

/// The most dimensions of a vector in pgvector.
const MOST: usize = 16_000;

/// The most dimensions that an index of half precision supports.
const MOST_INDEXED: usize = 4_000;

/// An open space.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) space: EmbeddingSpace,
    /// The index's name among the owners of indexes.
    pub(super) name: String,
    /// The table's name: `vector_` and 16 hex digits, so it may stand in a statement.
    pub(super) table: String,
    /// Whether owners may have an index of their own.
    pub(super) is_indexable: bool,
}

impl Table {
    /// Returns the name of an owner's own index.
    pub(super) fn index_of(&self, owner: i64) -> String {
        format!("{}_{owner}", self.table)
    }
}

const DOING: &str = "open a space of vectors";

/// Makes sure that pgvector is installed and the space has its table.
pub(super) async fn open(connection: &mut PgConnection, space: &EmbeddingSpace) -> Attempt<Table> {
    if space.dimension > MOST {
        return Err(unsupported(&format!("keep vectors of more than {MOST} numbers")).into());
    }
    let version = extension(connection).await?;
    let fingerprint = space.fingerprint();
    let table = format!("vector_{fingerprint}");
    register(connection, &fingerprint, space).await?;
    let sql = "SELECT to_regclass(current_schema() || '.' || $1) IS NOT NULL";
    let is_there: bool = sqlx::query_scalar(sql).bind(&table).fetch_one(&mut *connection).await.doing(DOING)?;
    if !is_there {
        incarnation(connection, space).await?;
    }
    let is_indexable = version >= (0, 8) && space.dimension <= MOST_INDEXED;
    Ok(Table { space: space.clone(), name: format!("vector/{fingerprint}"), table, is_indexable })
}

/// Returns the incarnation of the table of a space, which is made if it is missing.
pub(super) async fn incarnation(connection: &mut PgConnection, space: &EmbeddingSpace) -> Attempt<Incarnation> {
    let read = sqlx::query_scalar("SELECT vector_incarnation($1, $2, $3)").bind(space.fingerprint());
    let read = read.bind(dimension(space)).bind(Incarnation::draw().0).fetch_one(connection).await;
    read.doing("make the table of a space").map(Incarnation)
}

/// Returns pgvector's version; adds it to the database if it is missing.
async fn extension(connection: &mut PgConnection) -> Attempt<(u32, u32)> {
    let sql = "SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), \
         CASE WHEN EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector') THEN 'available' ELSE 'missing' END)";
    let found: String = sqlx::query_scalar(sql).fetch_one(&mut *connection).await.doing(DOING)?;
    if found == "missing" {
        return Err(unsupported("search by meaning without the extension pgvector on the server").into());
    }
    if found == "available" {
        // Two processes that add it at once would fail.
        let lock = "SELECT pg_advisory_xact_lock(hashtextextended('memory.pgvector', 0))";
        sqlx::query(lock).execute(&mut *connection).await.doing(DOING)?;
        let create = sqlx::query("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public").execute(&mut *connection);
        if let Err(failure) = create.await.doing(DOING) {
            tracing::warn!(error = %failure.error, "the extension pgvector could not be created");
            let what =
                "search by meaning: let an administrator run CREATE EXTENSION vector (pgvector) in this database";
            return Err(unsupported(what).into());
        }
    }
    let sql = "SELECT extversion, to_regtype('vector') IS NOT NULL FROM pg_extension WHERE extname = 'vector'";
    let (version, is_visible): (String, bool) = sqlx::query_as(sql).fetch_one(connection).await.doing(DOING)?;
    if !is_visible {
        return Err(unsupported("find the extension pgvector outside the schemas public and its own").into());
    }
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    Ok((numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)))
}

/// Registers the space, and checks that its fingerprint belongs to no other space.
async fn register(connection: &mut PgConnection, fingerprint: &str, space: &EmbeddingSpace) -> Attempt<()> {
    let EmbeddingSpace { model, dimension: _, normalised, recipe } = space;
    let find = "SELECT model, dimension, normalised, recipe FROM vector_space WHERE fingerprint = $1";
    let add = "INSERT INTO vector_space (fingerprint, model, dimension, normalised, recipe) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (fingerprint) DO NOTHING";
    let found: Option<(Vec<u8>, i64, bool, Vec<u8>)> =
        sqlx::query_as(find).bind(fingerprint).fetch_optional(&mut *connection).await.doing(DOING)?;
    let Some((its_model, its_dimension, is_normalised, its_recipe)) = found else {
        let add = sqlx::query(add).bind(fingerprint).bind(model.as_bytes()).bind(dimension(space));
        let add = add.bind(normalised).bind(recipe.as_bytes()).execute(connection);
        return add.await.doing(DOING).map(|_| ());
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let held = EmbeddingSpace {
        model: text(its_model),
        dimension: usize::try_from(its_dimension).unwrap_or(0),
        normalised: is_normalised,
        recipe: text(its_recipe),
    };
    Ok(held.check(space)?)
}

fn dimension(space: &EmbeddingSpace) -> i64 {
    i64::try_from(space.dimension).unwrap_or(i64::MAX)
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported { backend: BACKEND, what: what.to_owned() }
}
