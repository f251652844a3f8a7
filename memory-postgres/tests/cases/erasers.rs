//! Erasures of one owner at once, and what such erasures of an earlier version left.

use std::sync::Arc;

use memory_core::record::Record;
use memory_core::store::Store;
use memory_core::store::records::RecordStore as _;
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::store::text::{TextStore as _, Visibility};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::store::vectors::VectorEntry;
use memory_core::store::vectors::VectorStore as _;
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, Scope, Timestamp, Unit};
use memory_postgres::{PgRecords, PgText, PgVectors, Postgres};
use memory_testkit::generate::{self, Random};
use memory_testkit::{Failure, Scene, check, equal};
use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, QueryBuilder};

/// The tables of search by words.
const TEXTS: [&str; 4] = ["text_item", "text_tail", "text_segment", "text_posting"];

fn failed(error: &sqlx::Error) -> Failure {
    Failure::new(error.to_string())
}

/// A server, an owner on it, and an administrator whom no wall stops.
struct Place {
    database: Postgres,
    url: String,
    scope: Scope,
    random: Random,
}

impl Place {
    fn new(database: Postgres, url: String) -> memory_core::Result<Self> {
        let scope = Scope::new(&uuid::Uuid::now_v7().to_string(), "ada")?;
        Ok(Self { database, url, scope, random: Random::new(5) })
    }

    async fn texts(&mut self, text: &PgText, count: usize) -> Scene {
        let entries = (0..count).map(|_| {
            let item = generate::item(&mut self.random, Unit::Message);
            generate::entry(&mut self.random, item, 1)
        });
        for part in entries.collect::<Result<Vec<_>, _>>()?.chunks(2_000) {
            equal(text.put(&self.scope, part, Visibility::OnReturn).await?.len(), 0)?;
        }
        Ok(())
    }

    async fn vectors(&mut self, count: usize) -> Result<(PgVectors, String), Failure> {
        let model = self.scope.key().to_owned();
        let space = EmbeddingSpace { model, dimension: 4, normalised: false, recipe: "1".to_owned() };
        let table = format!("vector_{}", space.fingerprint());
        let vectors = PgVectors::open(&self.database, space).await?;
        let entries = (0..count).map(|_| {
            let item = generate::item(&mut self.random, Unit::Message);
            let entry = generate::entry(&mut self.random, item.clone(), 1)?;
            let pieces = vec![generate::unit_vector(&mut self.random, 4)];
            Ok(VectorEntry { item, version: entry.version, pieces, fields: entry.fields })
        });
        for part in entries.collect::<memory_core::Result<Vec<_>>>()?.chunks(1_000) {
            equal(vectors.put(&self.scope, part, Visibility::OnReturn).await?.len(), 0)?;
        }
        Ok((vectors, table))
    }

    async fn records(&self, count: usize) -> Result<PgRecords, Failure> {
        let records = PgRecords::new(&self.database);
        let put = |number| {
            let record = Arc::new(Record::new("fact", format!("rose number {number}"), Timestamp(1)));
            Put { record, expect: Expect::Absent }
        };
        let puts: Vec<Put> = (0..count).map(put).collect();
        for part in puts.chunks(1_000) {
            records.put(&self.scope, &RecordBatch { fence: None, puts: part.to_vec() }).await?;
        }
        Ok(records)
    }

    async fn admin(&self) -> Result<PgConnection, Failure> {
        let mut admin = PgConnection::connect(&self.url).await.map_err(|error| failed(&error))?;
        let path = sqlx::query("SET search_path = search, public").execute(&mut admin).await;
        path.map_err(|error| failed(&error))?;
        Ok(admin)
    }

    /// Returns how many rows the owner has in the table.
    async fn rows(&self, table: &str) -> Result<i64, Failure> {
        let mut sql = QueryBuilder::new("SELECT count(*) FROM ");
        sql.push(table).push(" WHERE scope = ").push_bind(self.scope.key());
        let rows = sql.build_query_scalar().fetch_one(&mut self.admin().await?).await;
        rows.map_err(|error| failed(&error))
    }

    /// Erases the owner's `count` items twice, both begun before either has deleted a row of `tables`.
    async fn erase_at_once(&self, store: Arc<dyn Store>, tables: &[&str], count: u64) -> Scene {
        let mut admin = self.admin().await?;
        let pid = sqlx::query_scalar::<_, i32>("SELECT pg_backend_pid()").fetch_one(&mut admin).await;
        let pid = pid.map_err(|error| failed(&error))?;
        let mut holding = admin.begin().await.map_err(|error| failed(&error))?;
        for table in tables {
            let mut hold = QueryBuilder::new("SELECT FROM ");
            hold.push(table).push(" WHERE scope = ").push_bind(self.scope.key()).push(" FOR UPDATE");
            hold.build().execute(&mut *holding).await.map_err(|error| failed(&error))?;
        }
        let erasures = [0; 2].map(|_| {
            let (store, scope) = (Arc::clone(&store), self.scope.clone());
            tokio::spawn(async move { store.erase(&scope, Epoch(1)).await })
        });
        self.until_both_wait(pid).await?;
        holding.rollback().await.map_err(|error| failed(&error))?;
        let mut removed = 0;
        for erasure in erasures {
            let erased = erasure.await.map_err(|stopped| Failure::new(stopped.to_string()))??;
            equal(erased.remaining, 0)?;
            removed += erased.removed;
        }
        equal(removed, count)?;
        for table in tables {
            equal((*table, self.rows(table).await?), (table, 0))?;
        }
        Ok(())
    }

    /// Waits until two others wait for `pid`, one of them perhaps for the other.
    async fn until_both_wait(&self, pid: i32) -> Scene {
        let sql = "WITH RECURSIVE waiting AS (SELECT $1 AS pid UNION SELECT other.pid FROM pg_stat_activity AS other \
             JOIN waiting ON waiting.pid = ANY (pg_blocking_pids(other.pid))) SELECT count(*) FROM waiting";
        let mut admin = self.admin().await?;
        let both = async {
            while sqlx::query_scalar::<_, i64>(sql).bind(pid).fetch_one(&mut admin).await? < 3 {}
            Ok::<_, sqlx::Error>(())
        };
        let both = tokio::time::timeout(std::time::Duration::from_secs(60), both).await;
        both.map_err(|_| Failure::new("the erasures are not both under way"))?.map_err(|error| failed(&error))
    }
}

/// More rows than one step deletes, in each kind of store.
pub(crate) async fn at_once(database: Postgres, url: String) -> Scene {
    let mut place = Place::new(database, url)?;
    let text = PgText::new(&place.database, "erasers-1");
    place.texts(&text, 10_500).await?;
    place.erase_at_once(Arc::new(text), &TEXTS, 10_500).await?;
    let (vectors, table) = place.vectors(4_500).await?;
    place.erase_at_once(Arc::new(vectors), &[&table], 4_500).await?;
    let records = place.records(10_500).await?;
    records.bury(&place.scope, Epoch(0)).await?;
    place.erase_at_once(Arc::new(records), &["record"], 10_500).await?;
    check!(place.rows("index_owner").await? == 2, "numbers of erased rows are not forgotten");
    Ok(())
}

/// An index whose rows are damaged or missing is cleared, and filled anew.
pub(crate) async fn damaged(database: Postgres, url: String) -> Scene {
    for damage in [
        "DELETE FROM text_posting WHERE scope = $1",
        "DELETE FROM text_segment WHERE scope = $1",
        "DELETE FROM text_item WHERE scope = $1",
        "UPDATE text_segment SET documents = '\\x07' WHERE scope = $1",
        "UPDATE text_tail SET terms = '\\x07' WHERE scope = $1",
        "UPDATE text_item SET fields = '\\x07' WHERE scope = $1",
    ] {
        let mut place = Place::new(database.clone(), url.clone())?;
        let text = PgText::new(&place.database, "erasers-1");
        place.texts(&text.clone().with_folding(60, 4), 30).await?;
        place.texts(&text, 1).await?;
        let damaged = sqlx::query(damage).bind(place.scope.key()).execute(&mut place.admin().await?).await;
        check!(damaged.map_err(|error| failed(&error))?.rows_affected() > 0, "{damage} damages nothing");
        text.clear(&place.scope).await?;
        for table in TEXTS {
            equal((damage, table, place.rows(table).await?), (damage, table, 0))?;
        }
        place.texts(&text, 5).await?;
        equal(text.scan(&place.scope, None, 100).await?.len(), 5)?;
    }
    Ok(())
}

/// An owner is erased and counted whatever state the index is in.
pub(crate) async fn of_damaged(database: Postgres, url: String) -> Scene {
    for (damage, removed) in [
        ("UPDATE text_item SET item = convert_to('x-' || id, 'UTF8') WHERE scope = $1", 31),
        ("UPDATE text_item SET fields = '\\x07' WHERE scope = $1", 31),
        ("UPDATE text_segment SET documents = '\\x07' WHERE scope = $1", 31),
        ("DELETE FROM text_segment WHERE scope = $1", 31),
        ("DELETE FROM text_tail WHERE scope = $1", 31),
        ("DELETE FROM text_item WHERE scope = $1", 0),
    ] {
        let mut place = Place::new(database.clone(), url.clone())?;
        let text = PgText::new(&place.database, "erasers-1");
        place.texts(&text.clone().with_folding(60, 4), 30).await?;
        place.texts(&text, 1).await?;
        let damaged = sqlx::query(damage).bind(place.scope.key()).execute(&mut place.admin().await?).await;
        check!(damaged.map_err(|error| failed(&error))?.rows_affected() > 0, "{damage} damages nothing");
        let erased = text.erase(&place.scope, Epoch(1)).await?;
        equal((damage, erased.removed, erased.remaining), (damage, removed, 0))?;
        for table in TEXTS {
            equal((damage, table, place.rows(table).await?), (damage, table, 0))?;
        }
    }
    Ok(())
}

/// Items with names that cannot be read are erased beside newer ones, and counted.
pub(crate) async fn beside_newer(database: Postgres, url: String) -> Scene {
    let mut place = Place::new(database, url)?;
    let text = PgText::new(&place.database, "erasers-1");
    place.texts(&text.clone().with_folding(60, 4), 30).await?;
    place.texts(&text, 1).await?;
    let item = generate::item(&mut place.random, Unit::Message);
    let mut newer = generate::entry(&mut place.random, item.clone(), 1)?;
    newer.version.epoch = Epoch(1);
    equal(text.put(&place.scope, &[newer], Visibility::OnReturn).await?.len(), 0)?;
    let damage = "UPDATE text_item SET item = convert_to('x-' || id, 'UTF8') WHERE scope = $1 AND epoch = 0";
    let damaged = sqlx::query(damage).bind(place.scope.key()).execute(&mut place.admin().await?).await;
    equal(damaged.map_err(|error| failed(&error))?.rows_affected(), 31)?;
    let erased = text.erase(&place.scope, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (31, 0))?;
    let left = text.scan(&place.scope, None, 100).await?;
    equal(left.into_iter().map(|(left, _)| left).collect::<Vec<_>>(), [item])
}

/// Rows whose number was forgotten are found, counted and erased.
pub(crate) async fn lost(database: Postgres, url: String) -> Scene {
    let mut place = Place::new(database, url)?;
    let text = PgText::new(&place.database, "erasers-1");
    place.texts(&text.clone().with_folding(60, 4), 30).await?;
    place.texts(&text, 1).await?;
    let (vectors, table) = place.vectors(30).await?;
    let forget = sqlx::query("DELETE FROM index_owner WHERE scope = $1").bind(place.scope.key());
    forget.execute(&mut place.admin().await?).await.map_err(|error| failed(&error))?;
    let tables: Vec<&str> = TEXTS.into_iter().chain([table.as_str()]).collect();
    for table in &tables {
        check!(place.rows(table).await? > 0, "{table} has no rows to lose");
    }
    let erased = text.erase(&place.scope, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (31, 0))?;
    let erased = vectors.erase(&place.scope, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (30, 0))?;
    for table in tables {
        equal((table, place.rows(table).await?), (table, 0))?;
    }
    Ok(())
}
