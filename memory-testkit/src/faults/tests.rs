use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::*;

const SOON: Duration = Duration::from_millis(200);

/// Starts a server that sends back what it gets, and a proxy to it.
async fn echo() -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = client.split();
                let _ = tokio::io::copy(&mut from, &mut to).await;
            });
        }
    });
    Proxy::start(target).await.unwrap()
}

async fn say(stream: &mut TcpStream, word: &str) -> String {
    stream.write_all(word.as_bytes()).await.unwrap();
    let mut heard = vec![0; word.len()];
    stream.read_exact(&mut heard).await.unwrap();
    String::from_utf8(heard).unwrap()
}

#[tokio::test]
async fn an_honest_proxy_passes_everything_on() {
    let proxy = echo().await;
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut stream, "hello").await, "hello");
    let long = "x".repeat(100_000);
    let (mut from, mut to) = stream.split();
    let mut heard = vec![0; long.len()];
    let (read, written) = tokio::join!(from.read_exact(&mut heard), to.write_all(long.as_bytes()));
    assert_eq!((read.unwrap(), written.unwrap()), (100_000, ()));
    assert_eq!(proxy.passed(), 100_005);
}

#[tokio::test]
async fn a_stalled_proxy_is_silent_until_it_heals() {
    let proxy = echo().await;
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut stream, "a").await, "a");
    proxy.stall();
    assert!(timeout(SOON, say(&mut stream, "b")).await.is_err());
    proxy.heal();
    let mut heard = [0];
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"b");
}

#[tokio::test]
async fn a_proxy_that_delays_answers_passes_questions_on_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::start(listener.local_addr().unwrap().to_string()).await.unwrap();
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    proxy.delay_answers(Duration::from_secs(3_600));
    let mut heard = [0];
    client.write_all(b"a").await.unwrap();
    server.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"a");
    server.write_all(b"b").await.unwrap();
    assert!(timeout(SOON, client.read_exact(&mut heard)).await.is_err());
}

#[tokio::test]
async fn a_proxy_repeats_whole_commands_of_redis_and_nothing_else() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::start(listener.local_addr().unwrap().to_string()).await.unwrap();
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    proxy.repeat(1);
    let command = b"*2\r\n$3\r\nGET\r\n$4\r\n\r\n\r\n\r\n";
    for (sent, is_repeated) in [(&command[..9], false), (command, true), (command, false)] {
        client.write_all(sent).await.unwrap();
        let mut heard = vec![0; sent.len()];
        server.read_exact(&mut heard).await.unwrap();
        assert_eq!(heard, sent);
        let again = timeout(SOON, listener.accept()).await;
        assert_eq!(again.is_ok(), is_repeated);
        if let Ok(again) = again {
            again.unwrap().0.read_exact(&mut heard).await.unwrap();
            assert_eq!(heard, sent);
        }
    }
}

#[tokio::test]
async fn a_refusing_proxy_closes_old_connections_and_new_ones() {
    let proxy = echo().await;
    let mut old = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut old, "a").await, "a");
    proxy.refuse();
    assert_eq!(old.read(&mut [0; 1]).await.unwrap_or(0), 0);
    let mut new = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(new.read(&mut [0; 1]).await.unwrap_or(0), 0);
    proxy.heal();
    let mut healed = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut healed, "b").await, "b");
}

#[tokio::test]
async fn a_cut_ends_an_answer_at_the_byte() {
    let proxy = echo().await;
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    proxy.cut_after(3);
    stream.write_all(b"hello").await.unwrap();
    let mut heard = Vec::new();
    let _ = stream.read_to_end(&mut heard).await;
    assert_eq!(heard, b"hel");
    assert_eq!(proxy.passed(), 3);
}

#[tokio::test]
async fn a_delay_holds_for_both_ways() {
    let proxy = echo().await;
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut stream, "a").await, "a");
    proxy.delay(SOON);
    let started = tokio::time::Instant::now();
    assert_eq!(say(&mut stream, "b").await, "b");
    assert!(started.elapsed() >= 2 * SOON);
}

#[tokio::test]
async fn a_proxy_takes_the_place_of_host_and_port() {
    let proxy = echo().await;
    let at = proxy.address();
    assert_eq!(proxy.in_place_of("redis://10.0.0.1:6379"), format!("redis://{at}"));
    assert_eq!(proxy.in_place_of("postgres://a:b@host:1/db?x=/"), format!("postgres://a:b@{at}/db?x=/"));
}

async fn ask(url: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(url.split_once("://").unwrap().1).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut heard = String::new();
    let _ = timeout(SOON, stream.read_to_string(&mut heard)).await;
    heard
}

#[tokio::test]
async fn a_stub_of_http_answers_in_the_order_of_its_script() {
    let stub = HttpStub::start().await.unwrap();
    stub.always("_bulk", HttpReply::json(200, "{}"));
    stub.once("_bulk", HttpReply::json(429, r#"{"error":"full"}"#).with_cut(7));
    let post = "POST /i/_bulk?refresh HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    let first = ask(&stub.url(), post).await;
    assert!(first.starts_with("HTTP/1.1 429 "), "{first}");
    assert!(first.ends_with("content-length: 16\r\n\r\n{\"error"), "{first}");
    assert!(first.contains("content-type: application/json"));
    let mut stream = TcpStream::connect(stub.url().split_once("://").unwrap().1).await.unwrap();
    let expected = "HTTP/1.1 200 Scripted\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    for _ in 0..2 {
        stream.write_all(post.as_bytes()).await.unwrap();
        let mut heard = vec![0; expected.len()];
        stream.read_exact(&mut heard).await.unwrap();
        assert_eq!(String::from_utf8(heard).unwrap(), expected);
    }
    stream.write_all(b"HEAD /other HTTP/1.1\r\n\r\n").await.unwrap();
    let unknown = "HTTP/1.1 501 Scripted\r\ncontent-length: 12\r\n\r\n";
    let mut heard = vec![0; unknown.len()];
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(String::from_utf8(heard).unwrap(), unknown);
    let requests = stub.requests();
    assert_eq!(requests.len(), 4);
    let expected =
        HttpRequest { method: "POST".to_owned(), path: "/i/_bulk?refresh".to_owned(), body: "hi".to_owned() };
    assert_eq!(requests[0], expected);
}

#[tokio::test]
async fn a_stub_of_redis_answers_commands_by_their_names() {
    let stub = RedisStub::start().await.unwrap();
    stub.once("evalsha", reply::LOADING);
    stub.once("evalsha", reply::OOM);
    stub.always("evalsha", reply::integer(1));
    stub.always("config get", reply::array(&[reply::bulk("maxmemory-policy"), reply::bulk("noeviction")]));
    stub.once("quit", "");
    let mut stream = TcpStream::connect(stub.url().split_once("://").unwrap().1).await.unwrap();
    let eval = "*2\r\n$7\r\nEVALSHA\r\n$2\r\nab\r\n";
    let all = format!(
        "{eval}{eval}{eval}*3\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n$1\r\n*\r\n*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nQUIT\r\n"
    );
    stream.write_all(all.as_bytes()).await.unwrap();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).await.unwrap();
    let config = "*2\r\n$16\r\nmaxmemory-policy\r\n$10\r\nnoeviction\r\n";
    assert_eq!(heard, format!("{}{}:1\r\n{config}+PONG\r\n", reply::LOADING, reply::OOM));
    let commands = stub.commands();
    assert_eq!(commands[0], ["EVALSHA", "ab"]);
    assert_eq!(commands.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_under_way_does_not_outlive_the_healing() {
    let proxy = echo().await;
    for _ in 0..300 {
        let mut old = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut old, "a").await, "a");
        old.write_all(b"b").await.unwrap();
        proxy.cut_after(0);
        proxy.heal();
        let mut healed = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut healed, "c").await, "c");
    }
}
