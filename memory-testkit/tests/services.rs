//! Servers are found, started, killed, frozen, started again and removed: tried on Redis, spoken to by hand.

use std::process::ExitCode;

use memory_core::{Error, Result};
use memory_testkit::services::{Missing, Server, Servers, Service};
use memory_testkit::{Failure, Scene, Suite, check, equal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Duration, timeout};

/// Sends a command and returns the first piece of the answer.
async fn say(url: &str, command: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(url.trim_start_matches("redis://")).await?;
    stream.write_all(format!("{command}\r\n").as_bytes()).await?;
    let mut answer = vec![0; 65_536];
    let read = stream.read(&mut answer).await?;
    answer.truncate(read);
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

async fn probe(url: String) -> Result<String> {
    let failed = |what: String| Error::corrupt("redis", what);
    // A server that still reads its data answers INFO, but nothing else.
    let ready = say(&url, "PING").await.map_err(|error| failed(error.to_string()))?;
    if !ready.starts_with("+PONG") {
        return Err(failed(ready));
    }
    let told = say(&url, "INFO server").await.map_err(|error| failed(error.to_string()))?;
    let version = told.lines().find_map(|line| line.strip_prefix("redis_version:"));
    version.map(str::to_owned).ok_or_else(|| failed("no version".to_owned()))
}

async fn told(server: &Server, command: &str) -> std::result::Result<String, Failure> {
    say(server.url(), command).await.map_err(|error| Failure::new(error.to_string()))
}

/// Returns whether a server answers. The engine may accept a connection to one that is gone, and close it.
async fn is_there(url: &str) -> bool {
    say(url, "PING").await.is_ok_and(|answer| answer.starts_with("+PONG"))
}

async fn answers_with_a_version(servers: Servers) -> Scene {
    let version = probe(servers.url("redis")?).await?;
    check!(version.chars().next().is_some_and(char::is_numeric), "the version is {version}");
    Ok(())
}

async fn keeps_data_and_port_over_a_kill(servers: Servers) -> Scene {
    let mut server = servers.own("redis")?.start().await?;
    let url = server.url().to_owned();
    equal(told(&server, "SET name ada").await?, "+OK\r\n")?;
    server.kill().await?;
    check!(!is_there(&url).await, "a killed server answers");
    server.restart().await?;
    equal(server.url(), url.as_str())?;
    equal(told(&server, "GET name").await?, "$3\r\nada\r\n")?;
    server.shut_down().await?;
    server.restart().await?;
    equal(told(&server, "GET name").await?, "$3\r\nada\r\n")?;
    server.remove().await?;
    check!(!is_there(&url).await, "a removed server answers");
    Ok(())
}

async fn a_stopped_server_is_silent_until_it_goes_on(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    server.stop().await?;
    check!(timeout(Duration::from_millis(300), told(&server, "PING")).await.is_err(), "a stopped server answers");
    server.cont().await?;
    equal(told(&server, "PING").await?, "+PONG\r\n")
}

async fn a_dropped_server_is_removed(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let url = server.url().to_owned();
    drop(server);
    check!(!is_there(&url).await, "a dropped server answers");
    Ok(())
}

async fn settings_replace_those_of_the_kit(servers: Servers) -> Scene {
    let server =
        servers.own("redis")?.with_setting("appendfsync", "everysec").with_setting("maxmemory", "7mb").start().await?;
    check!(told(&server, "CONFIG GET appendfsync").await?.contains("everysec"), "appendfsync is another");
    check!(told(&server, "CONFIG GET maxmemory").await?.contains("7340032"), "maxmemory is another");
    check!(server.address().await?.parse::<std::net::IpAddr>().is_ok(), "the address is none");
    Ok(())
}

async fn a_server_that_exits_is_told_with_its_log(servers: Servers) -> Scene {
    let started = servers.own("redis")?.with_setting("maxmemory", "much").start().await;
    let Err(Missing::Broken(why)) = started else { return Err(Failure::new(format!("{started:?}"))) };
    check!(why.contains("exited with 1") && why.contains("maxmemory \"much\""), "the reason is {why}");
    Ok(())
}

async fn a_small_file_system_fills_up(servers: Servers) -> Scene {
    let server = servers.own("redis")?.with_tmpfs("/data", "size=1m").start().await?;
    let value = "x".repeat(30_000);
    let mut answers = String::new();
    for key in 0..100 {
        answers.push_str(&told(&server, &format!("SET k{key} {value}")).await.unwrap_or_default());
    }
    check!(answers.starts_with("+OK"), "the first write failed: {answers}");
    check!(answers.contains("MISCONF") || !is_there(server.url()).await, "the disk never filled: {answers}");
    Ok(())
}

fn main() -> ExitCode {
    Suite::new("kit")
        .service(Service::redis(), probe)
        .test("services::answers_with_a_version", answers_with_a_version)
        .alone("services::keeps_data_and_port_over_a_kill", keeps_data_and_port_over_a_kill)
        .alone("services::a_stopped_server_is_silent_until_it_goes_on", a_stopped_server_is_silent_until_it_goes_on)
        .alone("services::a_dropped_server_is_removed", a_dropped_server_is_removed)
        .alone("services::settings_replace_those_of_the_kit", settings_replace_those_of_the_kit)
        .alone("services::a_server_that_exits_is_told_with_its_log", a_server_that_exits_is_told_with_its_log)
        .alone("services::a_small_file_system_fills_up", a_small_file_system_fills_up)
        .run()
}
