//! A process of a siege, from within: it reads an instruction a line, carries it out and writes a report a line.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::Memory;
use memory_core::model::Embedder;
use memory_core::window::BufferConfig;
use memory_core::{Error, Result, Scope};
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::doubles::FakeEmbedder;
use crate::simulation::act::{Answer, Operation};
use crate::simulation::site::DIMENSION;

use super::places::{Places, Siege};

/// The first argument of a process.
pub(super) const MARK: &str = "a-process-of-a-siege";
/// So few tokens fit into a window that some of it is summarised.
const WINDOW: u64 = 1_000;
/// How long it is waited before the stores are opened once more.
const PAUSE: Duration = Duration::from_millis(50);

/// An operation that a process is to carry out.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Instruction {
    pub(super) number: u64,
    pub(super) tenant: String,
    pub(super) subject: String,
    pub(super) what: Operation,
}

/// The answer to an instruction.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) number: u64,
    pub(super) answer: Answer,
}

pub(super) fn called(siege: &Siege) -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, mark, name, places] = arguments.as_slice() else { return None };
    if mark != MARK || name != siege.name {
        return None;
    }
    let served = serde_json::from_str(places).map_err(|_| Error::invalid("these are no places")).and_then(|places| {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|_| Error::invalid("there is no runtime"))?;
        runtime.block_on(serve(siege, places))
    });
    Some(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is no other place to complain to.
            let _ = writeln!(std::io::stderr(), "a process of the siege {name}: {}", error.with_causes());
            ExitCode::FAILURE
        }
    })
}

/// Opens a memory over the stores.
pub(super) async fn open(siege: &Siege, places: &Places, embedder: Arc<dyn Embedder>) -> Result<Memory> {
    let ground = (siege.open)(places.clone(), embedder.clone()).await?;
    ground.builder(embedder).buffer(BufferConfig::default().with_limit(WINDOW)).build().await
}

/// Does what it is told until nobody tells it any more.
async fn serve(siege: &Siege, places: Places) -> Result<()> {
    let embedder: Arc<dyn Embedder> = Arc::new(FakeEmbedder::new(DIMENSION));
    let mut orders = orders();
    let memory = loop {
        match open(siege, &places, embedder.clone()).await {
            Ok(memory) => break memory,
            Err(_) if orders.is_closed() => return Ok(()),
            Err(_) => sleep(PAUSE).await,
        }
    };
    let upkeep = memory.upkeep();
    let mut working = JoinSet::new();
    while let Some(line) = orders.recv().await {
        let Ok(Instruction { number, tenant, subject, what }) = serde_json::from_str(&line) else {
            return Err(Error::invalid("this is no order"));
        };
        let (memory, scope) = (memory.clone(), Scope::new(&tenant, &subject)?);
        working.spawn(async move {
            let answer = what.carry_out(&memory, &scope).await;
            tell(&Report { number, answer })
        });
        while working.try_join_next().is_some() {}
    }
    upkeep.stop().await;
    memory.close().await
}

/// Returns the lines that this process is told.
fn orders() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lines().map_while(std::io::Result::ok);
        lines.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
    });
    receiver
}

/// Says what came of an order, in one piece.
fn tell(report: &Report) -> Result<()> {
    let gone = |_| Error::invalid("nobody listens");
    let mut line = serde_json::to_string(report).map_err(|_| Error::invalid("this cannot be said"))?;
    line.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).map_err(gone)?;
    out.flush().map_err(gone)
}
