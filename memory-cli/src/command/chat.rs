//! `memory chat`: stores a conversation line by line; a model answers, or the context that it would be sent is shown.

mod answer;
mod lines;
mod message;

use std::io::{self, IsTerminal, stdin};

use memory::receipt::AppendReceipt;
use memory::store::chat::Placement;
use memory::{Context, Forget as What, Memory, Message, MessageId, Remember, Role, Scoped, Seq, Session, edge};
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;

use super::call::Call;
use crate::assemble::{assemble, limit, quiet_limit};
use crate::cli::{Answering, Bounds, Chat};
use crate::config::Reader;
use crate::failure::{Failure, Outcome};
use crate::forgetting::forget_ids;
use crate::hits::{Question, write_found};
use crate::model::Model;
use crate::output::{Output, say};
use crate::{upkeep, words};

use lines::{Line, lines};

const SHOWN: &str = "A line is stored as what you say, and the context that a model would get is shown. \
With --model and --provider or --base-url, or the section `chat` of the settings, a model answers.";
const ANSWERED: &str = "A line is stored as what you say, and the model answers.
/why              shows the context behind the last answer, and why it is that";
const HELP: &str = "/assistant TEXT   stores an answer of the model
/context [QUERY]  shows a context without storing anything
/search WORDS     finds messages and records
/remember TEXT    stores a fact
/forget UUID      forgets a message or record
/purge            forgets this conversation
/help, /quit";

/// What the commands of a chat work on.
struct Conversation<'a> {
    memory: &'a Memory,
    scoped: &'a Scoped,
    session: Session,
    bounds: &'a Bounds,
    output: &'a mut Output,
    answering: &'a Answering,
    model: Option<Model>,
    /// The context behind the last answer, and what was asked.
    last: Option<(Context, String)>,
}

/// Takes lines until the end of stdin, or `/quit`.
pub(crate) async fn run(call: &Call, args: &Chat, output: &mut Output) -> Result<Outcome, Failure> {
    let session = call.session()?;
    let (mut bounds, answering) = (args.bounds.clone(), &args.answering);
    let usual = call.settings.defaults();
    let model = if answering.is_wished() {
        Some(Model::open(answering, bounds.model.as_deref(), quiet_limit(&bounds, &usual))?)
    } else {
        let named = call.settings.chat_model_name().map(str::to_owned);
        bounds.model = bounds.model.or(named);
        Model::of(&call.settings, answering, quiet_limit(&bounds, &usual))?
    };
    let bounds = &bounds;
    let missing = [(answering.summaries, "summarises"), (answering.facts, "finds facts")];
    if let Some((_, what)) = missing.into_iter().find(|(is_wished, _)| *is_wished && model.is_none()) {
        let how = "name a model by --model and --provider or --base-url, or in the settings";
        return Err(Failure::Usage(format!("nobody {what}: {how}")));
    }
    let summarizer = model.as_ref().filter(|_| answering.summaries).map(Model::summarizer);
    let extractor = model.as_ref().filter(|_| answering.facts).map(Model::extractor);
    let (memory, scoped) = call.open_for(Some(Reader { tokens: limit(bounds, &usual), summarizer, extractor })).await?;
    let is_terminal = stdin().is_terminal();
    // Who types has seen it; a script has the exit code.
    let refused = if is_terminal { Outcome::Done } else { Outcome::Partial };
    if is_terminal {
        help(model.is_some());
    }
    let (memory, scoped, session) = (&memory, &scoped, scoped.session(&session));
    let mut room = Conversation { memory, scoped, session, bounds, output, answering, model, last: None };
    tokio::select! {
        // First, so that it is listened to before anything is said: a signal that nobody listens to yet is lost.
        biased;
        _ = tokio::signal::ctrl_c() => {
            say("stopped; every message that was answered is stored");
            Ok(Outcome::Interrupted)
        }
        outcome = talk(&mut room, lines()?, is_terminal, refused) => outcome,
    }
}

/// Takes lines until there are no more; `refused` is the outcome if one of them is.
async fn talk(
    room: &mut Conversation<'_>,
    mut lines: Receiver<io::Result<Line>>,
    is_terminal: bool,
    refused: Outcome,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Done;
    loop {
        if is_terminal {
            say("> ");
        }
        let Some(line) = lines.recv().await else { break };
        let line = line.map_err(|error| Failure::Usage(format!("the line cannot be read: {error}")))?;
        let done = match line.text() {
            Ok(line) if line.trim() == "/quit" => break,
            Ok(line) => room.turn(line.trim()).await,
            Err(failure) => Err(failure),
        };
        match done {
            Ok(()) => {}
            // A line that cannot be taken ends nothing; a database that fails, or an output that cannot be written, does.
            Err(failure) if matches!(failure.code(), 2 | 4) || matches!(failure, Failure::Unanswered(_)) => {
                say(&format!("error: {}", failure.line()));
                outcome = refused;
            }
            Err(failure) => return Err(failure),
        }
        room.output.flush()?;
        upkeep::between(room.memory).await;
    }
    // Whoever has typed the end does not wait for more than what is paid for; a script has its facts found.
    upkeep::finish(room.memory, !is_terminal).await;
    Ok(outcome)
}

fn help(is_answered: bool) {
    [if is_answered { ANSWERED } else { SHOWN }, HELP].into_iter().flat_map(str::lines).for_each(say);
}

/// Returns what became of the one message of an append, and its number: the one that it got when it was first stored. It has none
/// while it waits in a journal, and if it was forgotten since.
fn placed(receipt: &AppendReceipt) -> (&'static str, Option<Seq>) {
    match receipt.placements.first() {
        Some(Placement::Added(seq)) => ("added", Some(*seq)),
        Some(Placement::Already(seq)) => ("already", Some(*seq)),
        Some(Placement::Queued) => ("queued", None),
        Some(Placement::Forgotten) | None => ("forgotten", None),
    }
}

impl Conversation<'_> {
    async fn turn(&mut self, line: &str) -> Result<(), Failure> {
        if self.output.is_json() && line.starts_with('{') {
            return self.take(message::read(line, self.memory.now())?).await;
        }
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match command {
            "" => Ok(()),
            "/help" => {
                help(self.model.is_some());
                Ok(())
            }
            "/assistant" => self.append(Role::Assistant, rest).await,
            "/context" => self.context(rest).await,
            "/why" => self.why().await,
            "/search" => self.search(rest).await,
            "/remember" => self.remember(rest).await,
            "/forget" => self.forget(rest).await,
            "/purge" => self.purge().await,
            _ if command.starts_with('/') => Err(Failure::Usage(format!("{command} is no command: try /help"))),
            _ => self.take(Message::new(Role::User, line, self.memory.now())).await,
        }
    }

    /// Stores a message. One of a person is answered, or the context is shown that a model would be sent, as long as somebody reads that.
    async fn take(&mut self, message: Message) -> Result<(), Failure> {
        let (role, text) = (message.role, message.text());
        self.store(message).await?;
        match role {
            // Nobody would see it.
            _ if self.output.is_closed() => Ok(()),
            Role::User if self.model.is_some() => self.answer(text).await,
            Role::User => self.context(&text).await,
            _ => Ok(()),
        }
    }

    async fn append(&mut self, role: Role, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Err(Failure::Usage("there is nothing to store".to_owned()));
        }
        self.store(Message::new(role, text, self.memory.now())).await
    }

    async fn store(&mut self, message: Message) -> Result<(), Failure> {
        let (role, id) = (message.role, message.id);
        let receipt = self.session.append(vec![message]).await?;
        let (outcome, seq) = placed(&receipt);
        let told = json!({ "event": "stored", "role": role, "id": id, "seq": seq, "outcome": outcome });
        self.tell(&told, Vec::new)
    }

    async fn context(&mut self, query: &str) -> Result<(), Failure> {
        let context = assemble(&self.session, query, self.bounds).await?;
        self.show(&context, query).await
    }

    /// Shows a context and its receipt.
    async fn show(&mut self, context: &Context, query: &str) -> Result<(), Failure> {
        if self.output.is_json() {
            let value = edge::with(words::context_json(context, None), json!({ "event": "context" }));
            return Ok(self.output.json(&value)?);
        }
        words::write_context(context, query, self.scoped, self.output).await
    }

    async fn search(&mut self, query: &str) -> Result<(), Failure> {
        let found = self.scoped.recall(&self.memory.defaults().search(query)).await?;
        let question = Question { words: query, analysis: self.memory.analysis() };
        if self.output.is_json() {
            let hits: Vec<Value> = found.hits.iter().map(|hit| question.to_json(hit)).collect();
            let degraded = &found.receipt.degraded;
            return Ok(self.output.json(&json!({ "event": "found", "hits": hits, "degraded": degraded }))?);
        }
        write_found(&found, question, true, self.output)
    }

    async fn remember(&mut self, text: &str) -> Result<(), Failure> {
        let remember = Remember::fact(text).with_origin("cli").with_session(self.session.id().clone());
        let receipt = self.scoped.remember(remember).await?;
        let words = || vec![format!("remembered: {}", receipt.id)];
        self.tell(&json!({ "event": "remembered", "receipt": receipt }), words)
    }

    async fn forget(&mut self, id: &str) -> Result<(), Failure> {
        let id: MessageId = id.parse().map_err(|_| Failure::Usage("/forget takes the id of one item".to_owned()))?;
        // It may hold what is forgotten.
        self.last = None;
        let (receipt, _) = forget_ids(self.scoped, &[id]).await?;
        Ok(self.output.receipt(&receipt)?)
    }

    async fn purge(&mut self) -> Result<(), Failure> {
        let id = self.session.id().clone();
        self.last = None;
        let receipt = self.scoped.forget(&What::Session(id.clone())).await?;
        // The old handle belongs to the conversation that is gone.
        self.session = self.scoped.session(&id);
        Ok(self.output.receipt(&receipt)?)
    }

    fn tell(&mut self, value: &Value, words: impl FnOnce() -> Vec<String>) -> Result<(), Failure> {
        if self.output.is_json() {
            return Ok(self.output.json(value)?);
        }
        for line in words() {
            self.output.line(&line)?;
        }
        Ok(())
    }
}
