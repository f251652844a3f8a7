//! The incarnation of an index: a row in the same file, lost with it.

use memory_core::Result;
use memory_core::store::upkeep::Incarnation;
use sqlx::SqliteConnection;

use crate::client::Sqlite;
use crate::error::Doing;
use crate::row::uuid;

const DOING: &str = "read the incarnation of an index";

/// Returns the incarnation of the index called `name`, which is drawn when first asked for.
pub(crate) async fn incarnation(file: &Sqlite, name: &str) -> Result<Incarnation> {
    let look = name.to_owned();
    let known = file.read(DOING, move |connection| Box::pin(async move { find(connection, &look).await })).await?;
    let found = match known {
        Some(known) => Some(known),
        None => {
            let name = name.to_owned();
            let draw = file.write(DOING, move |connection| {
                Box::pin(async move {
                    let sql = "INSERT INTO index_place (name, incarnation) VALUES (?, ?) ON CONFLICT DO NOTHING";
                    let draw = sqlx::query(sql).bind(&name).bind(Incarnation::draw().0.as_bytes().to_vec());
                    draw.execute(&mut *connection).await.doing(DOING)?;
                    find(connection, &name).await
                })
            });
            draw.await?
        }
    };
    Ok(Incarnation(uuid(&found.unwrap_or_default())?))
}

async fn find(connection: &mut SqliteConnection, name: &str) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT incarnation FROM index_place WHERE name = ?";
    sqlx::query_scalar(sql).bind(name).fetch_optional(connection).await.doing(DOING)
}
