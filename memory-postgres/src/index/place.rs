//! The incarnation of an index: a row in the same database, lost with it.

use memory_core::Result;
use memory_core::store::upkeep::Incarnation;

use crate::client::{Call, Postgres};
use crate::error::Doing;

/// Returns the incarnation of the index called `name`, which is drawn when first asked for.
pub(crate) async fn incarnation(server: &Postgres, name: &str) -> Result<Incarnation> {
    let doing = "read the incarnation of an index";
    let read = server.run(Call::statement(doing), name.to_owned(), move |connection, name| {
        Box::pin(async move {
            let read = sqlx::query_scalar("SELECT index_incarnation($1, $2)").bind(name).bind(Incarnation::draw().0);
            read.fetch_one(connection).await.doing(doing)
        })
    });
    Ok(Incarnation(read.await?))
}
