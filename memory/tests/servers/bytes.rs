//! What four servers tell when they are asked for everything: by clients of their own, not through the stores.

use std::time::Duration;

use memory_testkit::Failure;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::ScrollPointsBuilder;
use redis::{Value, cmd};
use sqlx::{Connection as _, PgConnection};

/// More than a server of these tests holds of anything.
const ALL: u32 = 10_000;

/// How long a server may take: a machine may stop for many seconds.
const PATIENCE: Duration = Duration::from_secs(60);

type Told = std::result::Result<Vec<u8>, Failure>;

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string())
}

/// Returns every row of every table.
pub(crate) async fn of_postgres(url: &str) -> Told {
    let mut server = PgConnection::connect(url).await.map_err(failed)?;
    let tables = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables \
        WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut server).await.map_err(failed)?;
    let mut told = String::new();
    for table in tables {
        let rows = format!("SELECT coalesce(string_agg(row::text, ' '), '') FROM {table} AS row");
        let rows = sqlx::query_scalar(sqlx::AssertSqlSafe(rows)).fetch_one(&mut server).await;
        let rows: String = rows.map_err(failed)?;
        told.push_str(&rows);
    }
    Ok(told.into_bytes())
}

/// Returns every key with its value.
pub(crate) async fn of_redis(url: &str) -> Told {
    let client = redis::Client::open(url).map_err(failed)?;
    let config = redis::AsyncConnectionConfig::new();
    let config = config.set_response_timeout(Some(PATIENCE)).set_connection_timeout(Some(PATIENCE));
    let mut server = client.get_multiplexed_async_connection_with_config(&config).await.map_err(failed)?;
    let keys: Vec<Vec<u8>> = cmd("KEYS").arg("*").query_async(&mut server).await.map_err(failed)?;
    let mut told = Vec::new();
    for key in keys {
        let kind: String = cmd("TYPE").arg(&key).query_async(&mut server).await.map_err(failed)?;
        let (name, rest): (_, &[&str]) = match kind.as_str() {
            "string" => ("GET", &[]),
            "hash" => ("HGETALL", &[]),
            "set" => ("SMEMBERS", &[]),
            "list" => ("LRANGE", &["0", "-1"]),
            "zset" => ("ZRANGE", &["0", "-1"]),
            "stream" => ("XRANGE", &["-", "+"]),
            // It expired meanwhile.
            "none" => continue,
            other => return Err(failed(format!("a key of type {other}"))),
        };
        let value: Value = cmd(name).arg(&key).arg(rest).query_async(&mut server).await.map_err(failed)?;
        told.extend_from_slice(&key);
        put(&value, &mut told);
    }
    Ok(told)
}

fn put(value: &Value, told: &mut Vec<u8>) {
    match value {
        Value::BulkString(bytes) => told.extend_from_slice(bytes),
        Value::Array(values) | Value::Set(values) => values.iter().for_each(|value| put(value, told)),
        Value::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).for_each(|one| put(one, told)),
        other => told.extend_from_slice(format!("{other:?}").as_bytes()),
    }
}

/// Returns every document of every index, as it was sent.
pub(crate) async fn of_elastic(url: &str) -> Told {
    let server = reqwest::Client::new();
    let refreshed = server.post(format!("{url}/_refresh")).send().await.map_err(failed)?;
    refreshed.error_for_status().map_err(failed)?;
    let found =
        server.get(format!("{url}/_all/_search?size={ALL}&expand_wildcards=all")).send().await.map_err(failed)?;
    Ok(found.error_for_status().map_err(failed)?.bytes().await.map_err(failed)?.to_vec())
}

/// Returns every point of every collection, with its payload.
pub(crate) async fn of_qdrant(url: &str) -> Told {
    let server = Qdrant::from_url(url).build().map_err(failed)?;
    let mut told = String::new();
    for collection in server.list_collections().await.map_err(failed)?.collections {
        let all = ScrollPointsBuilder::new(&collection.name).limit(ALL).with_payload(true);
        told.push_str(&format!("{:?}", server.scroll(all).await.map_err(failed)?.result));
    }
    Ok(told.into_bytes())
}
