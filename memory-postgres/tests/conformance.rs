//! Every promise of the traits, tried on a PostgreSQL server as an ordinary role.

#[path = "cases/erasers.rs"]
mod erasers;
#[path = "cases/forks.rs"]
mod forks;
#[path = "cases/large.rs"]
mod large;
#[path = "cases/many.rs"]
mod many;
#[path = "cases/notes.rs"]
mod notes;
#[path = "cases/restored.rs"]
mod restored;
#[path = "cases/roles.rs"]
mod roles;
#[path = "cases/segments.rs"]
mod segments;
mod support;
#[path = "cases/sweeps.rs"]
mod sweeps;
#[path = "cases/views.rs"]
mod views;
#[path = "cases/walls.rs"]
mod walls;

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::{Result, Truth};
use memory_postgres::{PgChat, PgRecords, PgText, PgVectors, Postgres};
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Chat, Failure, Records, Setting, Suite, Texts, Vectors};

use support::open;

async fn chat(setting: Setting) -> Result<Chat> {
    Ok(Truth::chat(Arc::new(PgChat::new(&open(&setting.url, &setting.name).await?))))
}

async fn records(setting: Setting) -> Result<Records> {
    Ok(Truth::records(Arc::new(PgRecords::new(&open(&setting.url, &setting.name).await?))))
}

/// Search stores share a schema: their scenarios have owners of their own.
const SEARCH: &str = "search";

async fn text(setting: Setting) -> Result<Texts> {
    Ok(Arc::new(PgText::new(&open(&setting.url, SEARCH).await?, &setting.analysis)))
}

async fn vectors(setting: Setting) -> Result<Vectors> {
    Ok(Arc::new(PgVectors::open(&open(&setting.url, SEARCH).await?, setting.space).await?))
}

async fn search(servers: &Servers) -> std::result::Result<Postgres, Failure> {
    Ok(open(&servers.url("postgres")?, SEARCH).await?)
}

fn main() -> ExitCode {
    Suite::new("postgres")
        .service(Service::postgres(), support::probe)
        .chat(chat)
        .records(records)
        .text(text)
        .vectors(vectors)
        .test("erasers::at_once", |servers| async move {
            erasers::at_once(search(&servers).await?, servers.url("postgres")?).await
        })
        .test("erasers::damaged", |servers| async move {
            erasers::damaged(search(&servers).await?, servers.url("postgres")?).await
        })
        .test("erasers::of_damaged", |servers| async move {
            erasers::of_damaged(search(&servers).await?, servers.url("postgres")?).await
        })
        .test("erasers::beside_newer", |servers| async move {
            erasers::beside_newer(search(&servers).await?, servers.url("postgres")?).await
        })
        .test("erasers::lost", |servers| async move {
            erasers::lost(search(&servers).await?, servers.url("postgres")?).await
        })
        .test("forks::of_any_length", |servers| async move { forks::of_any_length(servers.url("postgres")?).await })
        .test("large::built_at_once", |servers| async move { large::built_at_once(search(&servers).await?).await })
        .test("large::s1_9_nearest_of_many", |servers| async move {
            large::s1_9_nearest_of_many(search(&servers).await?).await
        })
        .test(
            "large::one_table_for_all",
            |servers| async move { large::one_table_for_all(search(&servers).await?).await },
        )
        .test("many::of_many_owners", |servers| async move {
            many::of_many_owners(search(&servers).await?, support::ordinary(&servers.url("postgres")?)).await
        })
        .test("many::of_earlier_versions", |servers| async move {
            many::of_earlier_versions(search(&servers).await?, support::ordinary(&servers.url("postgres")?)).await
        })
        .test("many::while_another_is_built", |servers| async move {
            many::while_another_is_built(search(&servers).await?, support::ordinary(&servers.url("postgres")?)).await
        })
        .test("many::behind_a_reader", |servers| async move {
            many::behind_a_reader(search(&servers).await?, support::ordinary(&servers.url("postgres")?)).await
        })
        .test("notes::of_earlier_versions", |servers| async move {
            notes::of_earlier_versions(search(&servers).await?, servers.url("postgres")?).await
        })
        .test("notes::of_nobody", |servers| async move { notes::of_nobody(servers.url("postgres")?).await })
        .test("notes::settled_between_pages", |servers| async move {
            notes::settled_between_pages(servers.url("postgres")?).await
        })
        .test("notes::counted_by_indexes", |servers| async move {
            notes::counted_by_indexes(support::ordinary(&servers.url("postgres")?)).await
        })
        .test("notes::of_strangers", |servers| async move { notes::of_strangers(servers.url("postgres")?).await })
        .test("notes::erased_in_the_midst", |servers| async move {
            notes::erased_in_the_midst(servers.url("postgres")?).await
        })
        .test("notes::retired_beside_writers", |servers| async move {
            notes::retired_beside_writers(servers.url("postgres")?).await
        })
        .test(
            "restored::without_search",
            |servers| async move { restored::without_search(servers.url("postgres")?).await },
        )
        .test("restored::counts_on", |servers| async move { restored::counts_on(servers.url("postgres")?).await })
        .test("roles::indexes_of_another_role", |servers| async move {
            roles::indexes_of_another_role(servers.url("postgres")?).await
        })
        .test("roles::notes_of_indexes_in_use", |servers| async move {
            roles::notes_of_indexes_in_use(servers.url("postgres")?).await
        })
        .test("segments::histories", |servers| async move {
            segments::histories(search(&servers).await?, servers.url("postgres")?).await
        })
        .test("sweeps::beside_an_owner_that_fails", |servers| async move {
            sweeps::beside_an_owner_that_fails(servers.url("postgres")?).await
        })
        .test("sweeps::of_a_server_that_is_away", |servers| async move {
            sweeps::of_a_server_that_is_away(servers.url("postgres")?).await
        })
        .test("views::s1_8_s3_7_joined_by_sql", |servers| async move {
            let url = support::ordinary(&servers.url("postgres")?);
            views::s1_8_s3_7_joined_by_sql(search(&servers).await?, url, SEARCH).await
        })
        .test("walls::forgotten_owners", |servers| async move {
            let url = support::ordinary(&servers.url("postgres")?);
            walls::forgotten_owners(search(&servers).await?, url).await
        })
        .run()
}
