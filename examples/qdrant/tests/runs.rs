//! The example as a person runs it.

use std::process::{Command, ExitCode};

use memory::Result;
use memory::qdrant::{Qdrant, QdrantConfig};
use memory::store::Health;
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Failure, Scene, Suite, check, printed};

fn main() -> ExitCode {
    Suite::new("example-qdrant")
        .service(Service::qdrant(), probe)
        .test("finds_what_was_said_in_a_file_through_the_server", finds)
        .run()
}

async fn probe(url: String) -> Result<Health> {
    Qdrant::connect(QdrantConfig::new(url)).await?.ping().await
}

async fn finds(servers: Servers) -> Scene {
    let folder = tempfile::tempdir().map_err(|error| Failure::new(error.to_string()))?;
    let prefix = format!("example-{}", std::process::id());
    for run in 0..2 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_example-qdrant"));
        command.arg(folder.path().join("memory.sqlite")).arg("green tea in the morning");
        command.env("QDRANT_URL", servers.url("qdrant")?).env("QDRANT_PREFIX", &prefix);
        let said = printed(&mut command)?;
        check!(said.starts_with("I drink green tea in the morning.\n"), "run {run}: {said}");
        let receipt = format!("({} near in meaning, ", 4 * (run + 1));
        check!(said.contains(&receipt) && said.contains("missing: []"), "run {run}: {said}");
    }
    Ok(())
}
