//! Which servers are trusted: those of everybody's authorities, and those of the machine's own.

use std::process::Command;
use std::sync::Arc;

use memory_models::{ChatModel as _, OpenAi};
use memory_testkit::wire::openai;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::support::{config, question};

/// Where the server of the test is, for the process that asks it.
const URL: &str = "MEMORY_TEST_TRUST_URL";

/// Starts a server that encrypts by a certificate of its own, and returns its address and the certificate.
async fn start() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Who does not trust the certificate ends the handshake.
            if let Ok(stream) = acceptor.accept(stream).await {
                answer(stream).await;
            }
        }
    });
    (url, made.cert.pem())
}

/// Answers one request, and waits until the client goes away.
async fn answer(mut stream: TlsStream<TcpStream>) {
    let (mut asked, mut part) = (Vec::new(), [0; 4_096]);
    while !asked.ends_with(b"}") {
        match stream.read(&mut part).await {
            Ok(count) if count > 0 => asked.extend_from_slice(&part[..count]),
            _ => return,
        }
    }
    let body = openai::answer("Lima.").to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    let _ = stream.flush().await;
    let _ = stream.read(&mut part).await;
}

#[tokio::test]
async fn a_certificate_is_trusted_if_the_machine_trusts_it() {
    let (url, certificate) = start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, certificate).unwrap();
    let model = OpenAi::compatible(config(&url).with_retries(0)).unwrap().chat("m");
    let error = model.answer(&question()).await.unwrap_err();
    assert!(error.with_causes().ends_with("no connection to the server"), "{error:?}");
    // What a machine trusts is told by its environment, so a process of its own asks.
    let asking = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "trust::it_is_asked", "--ignored"]).env("SSL_CERT_FILE", file).env(URL, url);
        command.output().unwrap()
    });
    let asked = asking.await.unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&asked.stdout), String::from_utf8_lossy(&asked.stderr));
    assert!(asked.status.success() && told.contains("1 passed"), "{told}");
}

#[expect(clippy::disallowed_methods, reason = "where the server is, is told from outside")]
fn url() -> String {
    std::env::var(URL).expect("run by the test beside it")
}

#[tokio::test]
#[ignore = "the test beside it runs it"]
async fn it_is_asked() {
    let model = OpenAi::compatible(config(&url())).unwrap().chat("m");
    assert_eq!(model.answer(&question()).await.unwrap().text, "Lima.");
}
