//! Every promise of the traits, tried on a PostgreSQL server as an ordinary role.

mod support;

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::{Result, Truth};
use memory_postgres::{PgChat, PgRecords};
use memory_testkit::services::Service;
use memory_testkit::{Chat, Records, Setting, Suite};

use support::open;

async fn chat(setting: Setting) -> Result<Chat> {
    Ok(Truth::chat(Arc::new(PgChat::new(&open(&setting.url, &setting.name).await?))))
}

async fn records(setting: Setting) -> Result<Records> {
    Ok(Truth::records(Arc::new(PgRecords::new(&open(&setting.url, &setting.name).await?))))
}

fn main() -> ExitCode {
    Suite::new("postgres").service(Service::postgres(), support::probe).chat(chat).records(records).run()
}
