//! A server that is killed again and again, under clients that send what was not answered once more, with the same ids: nothing that
//! was acknowledged is lost, and nothing is there twice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memory::MessageId;
use memory_testkit::rounds;
use serde_json::{Value, json};

use crate::running::{Running, send};
use crate::support::Bed;

/// Clients at once.
const CLIENTS: usize = 8;
/// Kills in a run of the tests; `MEMORY_TEST_ROUNDS` names another number, `scripts/soak.sh server-kills` sets it.
const KILLS: usize = 10;

static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Appends messages one by one until it is over, and returns their ids: each is sent until it is answered.
fn client(number: usize, address: &str, token: &str, told: &Sender<()>) -> Vec<String> {
    let (mut ids, path) = (Vec::new(), format!("/v1/sessions/s{number}/messages"));
    while !IS_OVER.load(Ordering::Relaxed) {
        let id = MessageId::fresh().to_string();
        let content = format!("message {} of client {number}", ids.len());
        let body = json!({ "messages": [{ "role": "user", "content": content, "id": id }] }).to_string();
        loop {
            match send(address, token, "POST", &path, &body) {
                Ok((200, answer)) => {
                    let answer: Value = serde_json::from_str(&answer).unwrap();
                    assert!(
                        ["added", "already"].contains(&answer["stored"][0]["outcome"].as_str().unwrap()),
                        "{answer}"
                    );
                    break;
                }
                // Too many wait, or the file is taken up again.
                Ok((429 | 503, _)) | Err(_) => thread::sleep(Duration::from_millis(5)),
                Ok((status, answer)) => panic!("{status}: {answer}"),
            }
        }
        ids.push(id);
        told.send(()).unwrap();
    }
    ids
}

fn clients(address: &str, token: &str) -> (Receiver<()>, Vec<JoinHandle<Vec<String>>>) {
    let (told, heard) = channel();
    let clients = (0..CLIENTS).map(|number| {
        let (address, token, told) = (address.to_owned(), token.to_owned(), told.clone());
        thread::spawn(move || client(number, &address, &token, &told))
    });
    (heard, clients.collect())
}

#[test]
fn what_clients_that_try_again_were_acknowledged_is_there_once_however_often_the_server_is_killed() {
    let bed = Bed::new();
    let token = bed.json(&["token", "new", "--rights", "read,write"])["token"].as_str().unwrap().to_owned();
    let start = |address: &str| {
        let mut command = bed.bare();
        command.arg("--db").arg(bed.database());
        Running::start(command, address)
    };
    // An address of its own: while the server is away, no other test may take its port.
    let mut server = start("127.0.0.3:0");
    let address = server.address.clone();
    let ((heard, clients), kills) = (clients(&address, &token), rounds(KILLS));
    for kill in 0..kills {
        // Somewhere in the middle of what eight clients send at once, with other work under way each time.
        for _ in 0..1 + kill * 7 % 23 {
            heard.recv_timeout(Duration::from_secs(120)).unwrap();
        }
        thread::sleep(Duration::from_micros(kill as u64 * 791 % 5_000));
        server.kill();
        server = start(&address);
    }
    IS_OVER.store(true, Ordering::Relaxed);
    let sent: Vec<Vec<String>> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    assert_eq!(server.stop().0, Some(0));
    bed.is_one_file();
    for (number, sent) in sent.iter().enumerate() {
        let shown = bed.json(&["show", &format!("s{number}"), "-n", "100000"]);
        let stored: Vec<&str> =
            shown["shown"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(&stored, sent, "client {number}");
    }
    assert!(sent.iter().map(Vec::len).sum::<usize>() > kills);
}
