//! The example as a person runs it, on a test server.

use std::process::{Command, ExitCode};

use memory::redis::{Redis, RedisCache, RedisConfig};
use memory::store::{Health, Store as _};
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Failure, Scene, Suite, check};

async fn probe(url: String) -> memory::Result<Health> {
    RedisCache::new(&Redis::connect(RedisConfig::new(url)).await?).ping().await
}

async fn two_agents_share_a_conversation_and_a_board(servers: Servers) -> Scene {
    let folder = std::env::temp_dir();
    let name = memory::Message::new(memory::Role::User, "", memory::Timestamp(0)).id;
    let file = folder.join(format!("example-redis-{name}.sqlite"));
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_example-redis"));
        command.arg(&file).env("REDIS_URL", servers.url("redis")?).env("REDIS_PREFIX", name.to_string());
        let output = command.output().map_err(|error| Failure::new(error.to_string()))?;
        check!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok::<_, Failure>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for messages in [2, 4] {
        let told = run()?;
        check!(told.contains("the board says: writing up the teapot survey"), "{told}");
        check!(told.contains(&format!("the context has {messages} messages")), "{told}");
        check!(!told.contains("the search found 0"), "{told}");
    }
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
    Ok(())
}

async fn the_example_is_short_enough_to_be_read_at_once(_: Servers) -> Scene {
    let lines = include_str!("../src/main.rs").lines().count();
    check!(lines < 80, "{lines} lines");
    Ok(())
}

fn main() -> ExitCode {
    Suite::new("example-redis")
        .service(Service::redis(), probe)
        .test("two_agents_share_a_conversation_and_a_board", two_agents_share_a_conversation_and_a_board)
        .test("the_example_is_short_enough_to_be_read_at_once", the_example_is_short_enough_to_be_read_at_once)
        .run()
}
