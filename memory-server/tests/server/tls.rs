//! What is sent is encrypted where there is a certificate.

use std::sync::Arc;

use memory_server::{Certificate, Config, Server, Tokens};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;

use crate::bed::token;

#[tokio::test]
async fn a_certificate_encrypts_what_is_sent_and_nothing_is_answered_in_clear() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["certificate.pem", "key.pem"].map(|name| folder.path().join(name));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&files[0], made.cert.pem()).unwrap();
    std::fs::write(&files[1], made.signing_key.serialize_pem()).unwrap();
    let certificate = Certificate::read(&files[0], &files[1]).await.unwrap();
    let memory = memory::open("memory:").await.unwrap().build().await.unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let (token, grant) = token("ada", "read,write");
    let server = Server::new(memory, Tokens::default().with(grant), Config::default()).with_certificate(certificate);
    let server = tokio::spawn(async move { server.serve(listener, async move { drop(stopped.await) }).await });
    let ask = format!(
        "GET /v1/sessions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    );

    let mut known = RootCertStore::empty();
    known.add(made.cert.der().clone()).unwrap();
    let mut client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(known)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(client)).connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    stream.write_all(ask.as_bytes()).await.unwrap();
    let mut answer = String::new();
    // The end of the connection may come without that of the encryption.
    let _ = stream.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let mut clear = TcpStream::connect(address).await.unwrap();
    clear.write_all(ask.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = clear.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
}
