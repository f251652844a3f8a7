//! The example as a person runs it.

use std::process::{Command, ExitCode};

use memory::analysis::Analysis;
use memory::elastic::{Elastic, ElasticConfig, ElasticText};
use memory::store::{Health, Store as _};
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Failure, Scene, Suite, check, printed};

fn main() -> ExitCode {
    Suite::new("example-elastic")
        .service(Service::elastic(), probe)
        .test("finds_what_was_said_in_a_file_through_the_server", finds)
        .test("says_that_it_is_disabled_without_a_host", is_disabled)
        .run()
}

async fn probe(url: String) -> memory::Result<Health> {
    let server = Elastic::connect(ElasticConfig::new(&url)?).await?;
    ElasticText::open(&server, Analysis::english().name()).await?.ping().await
}

fn command(folder: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_example-elastic"));
    command.arg(folder.path().join("memory.sqlite")).arg("green tea in the morning");
    command.env_remove("ELASTIC_HOST");
    command
}

fn folder() -> std::result::Result<tempfile::TempDir, Failure> {
    tempfile::tempdir().map_err(|error| Failure::new(error.to_string()))
}

async fn finds(servers: Servers) -> Scene {
    let folder = folder()?;
    let index = format!("example-{}", std::process::id());
    for run in 0..2 {
        let mut command = command(&folder);
        command.env("ELASTIC_HOST", servers.url("elastic")?).env("ELASTIC_INDEX", &index);
        let said = printed(&mut command)?;
        check!(said.starts_with("I drink green tea in the morning.\n"), "run {run}: {said}");
        check!(said.contains("missing: []"), "run {run}: {said}");
    }
    Ok(())
}

async fn is_disabled(_: Servers) -> Scene {
    let output = command(&folder()?).output().map_err(|error| Failure::new(error.to_string()))?;
    let complained = String::from_utf8_lossy(&output.stderr);
    check!(!output.status.success() && complained.contains("ELASTIC_HOST is not set"), "{complained}");
    Ok(())
}
