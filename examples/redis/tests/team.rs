//! The example as a person runs it, on a test server.

use std::process::{Command, ExitCode};

use memory::redis::{Redis, RedisCache, RedisConfig};
use memory::store::{Health, Store as _};
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Scene, Suite, check, printed};

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
        printed(&mut command)
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

fn main() -> ExitCode {
    Suite::new("example-redis")
        .service(Service::redis(), probe)
        .test("two_agents_share_a_conversation_and_a_board", two_agents_share_a_conversation_and_a_board)
        .run()
}
