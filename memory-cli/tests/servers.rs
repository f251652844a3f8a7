//! `memory move` over servers: there and back again nothing has changed.

#[cfg(test)]
#[cfg(all(feature = "server", unix))]
#[path = "program/running.rs"]
mod running;
#[cfg(all(feature = "server", unix))]
#[path = "servers/served.rs"]
mod served;

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use memory::store::Health;
use memory::{MessageId, Settings};
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Failure, Scene, Suite, check, equal};
use serde_json::Value;

async fn probe(mut url: String) -> memory::Result<Health> {
    if url.starts_with("postgres") {
        // Tables of another version may lie where they lie by default.
        let sign = if url.contains('?') { '&' } else { '?' };
        url = format!("{url}{sign}schema=probe{}", std::process::id());
    }
    Settings::new(url).connect().await?.chat()?.store().ping().await
}

/// A folder of its own, and the program run in it.
struct Bed {
    folder: tempfile::TempDir,
    /// A name that nobody else uses on the servers.
    name: String,
}

impl Bed {
    fn new() -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::new(error.to_string()))?;
        let name = format!("m{}", MessageId::fresh().to_string().replace('-', ""));
        Ok(Self { folder, name })
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    /// Returns a place of its own on a server. A machine that stops for a while is no server that does not answer.
    fn place(&self, url: &str, key: &str) -> String {
        let sign = if url.contains('?') { '&' } else { '?' };
        format!("{url}{sign}{key}={}&deadline=60s", self.name)
    }

    fn run(&self, args: &[&str]) -> Result<Output, Failure> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memory"));
        command.args(args).args(["--tenant", "acme", "--subject", "ada"]).current_dir(self.folder.path());
        command.output().map_err(|error| Failure::new(error.to_string()))
    }

    /// Runs a command that has to succeed, and returns its output.
    fn ok(&self, args: &[&str]) -> Result<String, Failure> {
        let output = self.run(args)?;
        check!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns the lines of an export but for its head, which holds the time.
    fn export(&self, url: &str) -> Result<Vec<String>, Failure> {
        Ok(self.ok(&["--db", url, "export"])?.lines().skip(1).map(str::to_owned).collect())
    }

    /// Fills a file with a conversation, one that is summarised, and records, one of them changed and used.
    fn fill(&self, file: &str) -> Scene {
        let lines = self.file("said.jsonl");
        let said: String = (0..1_200)
            .map(|n| format!("{{\"session\": \"s{}\", \"role\": \"user\", \"content\": \"word{n} parcel\"}}\n", n % 3))
            .collect();
        std::fs::write(Path::new(&lines), said).map_err(|error| Failure::new(error.to_string()))?;
        self.ok(&["--db", file, "import", &lines])?;
        for text in ["Ada likes tea", "Ada lives in Riga", "Ada has two cats"] {
            self.ok(&["--db", file, "remember", text])?;
        }
        self.ok(&["--db", file, "remember", "Ada likes tea", "--importance", "0.7"])?;
        let found: Value = serde_json::from_str(&self.ok(&["--db", file, "--json", "search", "word77"])?)
            .map_err(|error| Failure::new(error.to_string()))?;
        let id = found.pointer("/hits/0/id").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.ok(&["--db", file, "forget", "--id", &id])?;
        Ok(())
    }
}

async fn o17_conversations_and_records_go_to_postgres_and_come_back_the_same(servers: Servers) -> Scene {
    let bed = Bed::new()?;
    let (file, back) = (bed.file("there.sqlite"), bed.file("back.sqlite"));
    let postgres = bed.place(&servers.url("postgres")?, "schema");
    bed.fill(&file)?;
    let lines = bed.export(&file)?;
    bed.ok(&["move", "--from", &file, "--to", &postgres])?;
    equal(bed.export(&postgres)?, lines.clone())?;
    // Again, as after a kill: nothing is there twice.
    bed.ok(&["move", "--from", &file, "--to", &postgres, "--all-owners"])?;
    bed.ok(&["move", "--from", &postgres, "--to", &back])?;
    equal(bed.export(&back)?, lines)?;
    let stats = bed.ok(&["--db", &postgres, "stats"])?;
    check!(!stats.contains(":postgres@") && stats.contains("postgres"), "{stats}");
    Ok(())
}

async fn o17_conversations_alone_go_to_redis_and_come_back_the_same(servers: Servers) -> Scene {
    let bed = Bed::new()?;
    let (file, back) = (bed.file("there.sqlite"), bed.file("back.sqlite"));
    let redis = bed.place(&servers.url("redis")?, "prefix");
    bed.fill(&file)?;
    let rows = |lines: Vec<String>| lines.into_iter().filter(|line| line.starts_with("{\"row\"")).collect::<Vec<_>>();
    let lines = rows(bed.export(&file)?);
    let refused = bed.run(&["move", "--from", &file, "--to", &redis])?;
    let line = String::from_utf8_lossy(&refused.stderr).into_owned();
    check!(refused.status.code() == Some(2) && line.contains("--conversations"), "{line}");
    equal(rows(bed.export(&redis)?).len(), 0)?;
    let told = bed.ok(&["move", "--from", &file, "--to", &redis, "--conversations"])?;
    check!(told.contains("conversations alone were copied, 3 records left behind"), "{told}");
    equal(rows(bed.export(&redis)?), lines.clone())?;
    bed.ok(&["move", "--from", &redis, "--to", &back])?;
    equal(rows(bed.export(&back)?), lines)?;
    let refused = bed.run(&["--db", &redis, "remember", "Ada likes tea"])?;
    let line = String::from_utf8_lossy(&refused.stderr).into_owned();
    check!(line.contains("redis cannot hold records"), "{line}");
    Ok(())
}

async fn all_commands_find_what_they_need_in_postgres_alone(servers: Servers) -> Scene {
    let bed = Bed::new()?;
    let postgres = bed.place(&servers.url("postgres")?, "schema");
    bed.fill(&postgres)?;
    let run = |args: &[&str]| bed.ok(&[&["--db", &*postgres], args].concat());
    let found = run(&["search", "word78"])?;
    check!(found.contains("word78 parcel"), "{found}");
    // The oldest of a session is far outside of its window.
    let context = run(&["context", "--session", "s0", "what of word3"])?;
    check!(context.contains("word3 parcel") && context.contains("recalled"), "{context}");
    let forgotten = run(&["forget", "--all", "--yes"])?;
    check!(forgotten.contains("items forgotten"), "{forgotten}");
    let found = run(&["search", "word78"])?;
    check!(!found.contains("word78"), "{found}");
    let stats = run(&["stats"])?;
    check!(stats.contains("0 sessions, 0 messages, 0 records"), "{stats}");
    Ok(())
}

async fn redis_alone_says_what_a_search_needs(servers: Servers) -> Scene {
    let bed = Bed::new()?;
    let redis = bed.place(&servers.url("redis")?, "prefix");
    let lines = bed.file("said.jsonl");
    std::fs::write(&lines, "{\"session\": \"s\", \"role\": \"user\", \"content\": \"a red parcel\"}\n")
        .map_err(|error| Failure::new(error.to_string()))?;
    bed.ok(&["--db", &redis, "import", &lines])?;
    let refused = bed.run(&["--db", &redis, "search", "parcel"])?;
    let line = String::from_utf8_lossy(&refused.stderr).into_owned();
    check!(refused.status.code() == Some(1) && line.contains("MEMORY_TEXT_URL"), "{line}");
    let context = bed.run(&["--db", &redis, "context", "--session", "s", "which parcel?"])?;
    let shown = String::from_utf8_lossy(&context.stdout).into_owned();
    check!(context.status.code() == Some(3), "{shown}");
    check!(shown.contains("a red parcel") && shown.contains("degraded  text: redis cannot search"), "{shown}");
    check!(bed.ok(&["--db", &redis, "search", ""])?.contains("a red parcel"), "what is newest needs no index");
    check!(bed.ok(&["--db", &redis, "stats"])?.contains("MEMORY_TEXT_URL"), "stats say that there is no index");
    Ok(())
}

fn main() -> ExitCode {
    let suite = Suite::new("memory-cli");
    #[cfg(all(feature = "server", unix))]
    let suite = suite.test("a_server_answers_the_same_over_postgres_and_over_a_file", served::the_same);
    suite
        .service(Service::postgres(), probe)
        .service(Service::redis(), probe)
        .test(
            "o17_conversations_and_records_go_to_postgres_and_come_back_the_same",
            o17_conversations_and_records_go_to_postgres_and_come_back_the_same,
        )
        .test("all_commands_find_what_they_need_in_postgres_alone", all_commands_find_what_they_need_in_postgres_alone)
        .test(
            "o17_conversations_alone_go_to_redis_and_come_back_the_same",
            o17_conversations_alone_go_to_redis_and_come_back_the_same,
        )
        .test("redis_alone_says_what_a_search_needs", redis_alone_says_what_a_search_needs)
        .run()
}
