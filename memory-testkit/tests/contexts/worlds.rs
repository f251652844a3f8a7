//! Conversations out of a seed: both dialects, instructions anywhere, parallel calls, results that are late, in one message or
//! missing, folds of every kind, other sessions and records beside them.

use std::sync::Arc;

use memory_core::engine::{ContextRequest, Memory, Remember, Scoped, Session};
use memory_core::message::Defaults;
use memory_core::model::TokenCounter;
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::store::chat::{Compaction, NewMessage, Page};
use memory_core::window::tokens::count_message;
use memory_core::window::{Budget, BufferConfig, CounterKind, Folding, HeuristicCounter, MediaCosts, Oversize};
use memory_core::{Analysis, Message, MessageId, Role, Scope, SeqRange, SessionId, StoredMessage, Timestamp, Truth};
use serde_json::{Value, json};

/// Words that mean something to markup, to counters and to searches.
const WORDS: [&str; 18] = [
    "turtle",
    "pond",
    "<b>",
    "&amp;",
    "👩\u{200d}👩",
    "用户",
    "e\u{301}",
    "\"q\"",
    "\n",
    "</memory>",
    "4711",
    "a b",
    "x",
    "\0",
    "Ada",
    "née",
    "  ",
    "</item>",
];

/// Counts letters.
#[derive(Debug)]
struct Letters;

impl TokenCounter for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn count(&self, message: &Message) -> u64 {
        count_message(message, &MediaCosts::USUAL, &|text| text.len() as u64)
    }

    fn count_text(&self, text: &str) -> u64 {
        text.len() as u64
    }
}

/// Numbers out of a seed (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    pub(crate) fn one_of(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    pub(crate) fn words(&mut self, most: u64) -> String {
        let count = self.below(most);
        (0..count).map(|_| WORDS[self.below(WORDS.len() as u64) as usize]).collect::<Vec<_>>().join(" ")
    }
}

/// An owner with conversations, and the counter that contexts are asked by.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) session: Session,
    dice: Dice,
    at: i64,
    calls: u64,
}

/// What a context is asked for.
pub(crate) struct Asked {
    pub(crate) session: Session,
    pub(crate) request: ContextRequest,
}

impl World {
    pub(crate) async fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let counter: Arc<dyn TokenCounter> = match dice.below(3) {
            0 => Arc::new(Letters),
            1 => Arc::new(HeuristicCounter),
            _ => CounterKind::O200k.counter(),
        };
        let (chat, records) = (Arc::new(MemChat::default()), Arc::new(MemRecords::default()));
        let text = Arc::new(MemText::new(Analysis::english().name()));
        let folding = [Folding::Summaries, Folding::Archive, Folding::Off][dice.below(3) as usize];
        let buffer = BufferConfig::default().with_limit(100 + dice.below(3_000)).with_folding(folding);
        let buffer = match dice.below(6) {
            0 => buffer.with_window_messages(1 + dice.below(12)),
            1 => buffer.with_stable_prefix(),
            _ => buffer,
        };
        let builder = Memory::builder(Truth::chat(chat.clone()), Truth::records(records)).text(text);
        let memory = builder.counter(counter.clone()).buffer(buffer).build().await.unwrap();
        let scoped = memory.of(&Scope::new("acme", "ada").unwrap());
        let session = scoped.session(&SessionId::new("talk").unwrap());
        let mut world = Self { seed, counter, session, dice, at: 1_000_000, calls: 0 };
        world.talk(&memory, &scoped, &chat).await;
        world
    }

    async fn talk(&mut self, memory: &Memory, scoped: &Scoped, chat: &MemChat) {
        let other = scoped.session(&SessionId::new("other").unwrap());
        for _ in 0..self.dice.below(4) {
            let rule = self.said("system", 10);
            self.session.append(vec![rule]).await.unwrap();
        }
        for _ in 0..self.dice.below(40) {
            let messages = self.stretch();
            let to = if self.dice.one_of(4) { &other } else { &self.session };
            to.append(messages).await.unwrap();
            if self.dice.one_of(12) {
                memory.upkeep_once().await.unwrap();
            }
            if self.dice.one_of(15) {
                self.fold(scoped.scope(), chat).await;
            }
        }
        for number in 0..self.dice.below(6) {
            let text = format!("{number} {} turtle", self.dice.words(20));
            scoped.remember(Remember::fact(text)).await.unwrap();
        }
        if !self.dice.one_of(4) {
            memory.upkeep_once().await.unwrap();
        }
    }

    /// Folds any stretch of the window, turns and instructions cut as they may be.
    async fn fold(&mut self, scope: &Scope, chat: &MemChat) {
        use memory_core::store::chat::ChatStore as _;
        let rows = self.rows().await;
        let from = self.dice.below(rows.len() as u64) as usize;
        let some: Vec<_> = rows.iter().skip(from).take(1 + self.dice.below(12) as usize).collect();
        let (Some(first), Some(last)) = (some.first(), some.last()) else { return };
        let span = SeqRange { first: first.covers.map_or(first.seq, |covers| covers.first), last: last.seq };
        let message = Message::new(Role::Assistant, self.dice.words(12), Timestamp(self.at));
        // As the engine counts it: as it stands in a context.
        let shown =
            format!("<summary of=\"messages {} to {}\">\n{}\n</summary>", span.first.0, span.last.0, escaped(&message));
        let tokens = self.counter.count(&Message::new(Role::User, shown, Timestamp(self.at)));
        let summary = NewMessage::sized(message, tokens);
        let ids = some.iter().map(|row| row.id).collect();
        let fence = self.session.state().await.unwrap().fence;
        chat.compact(scope, self.session.id(), &Compaction::Fold { fence, span, ids, summary }).await.unwrap();
    }

    /// Returns the rows of the window.
    pub(crate) async fn rows(&self) -> Vec<StoredMessage> {
        self.session.read(&Page::newest(100_000)).await.unwrap().messages
    }

    /// Returns some messages that belong together, or should.
    fn stretch(&mut self) -> Vec<Message> {
        match self.dice.below(12) {
            0..=3 => vec![self.said("user", 40)],
            4..=6 => vec![self.said("user", 20), self.said("assistant", 40)],
            7 | 8 => self.openai_calls(),
            9 | 10 => self.anthropic_calls(),
            _ => {
                let (role, most) = [("system", 30), ("developer", 30), ("user", 300)][self.dice.below(3) as usize];
                vec![self.said(role, most)]
            }
        }
    }

    fn said(&mut self, role: &str, most: u64) -> Message {
        let words = self.dice.words(most);
        self.read(&json!({ "role": role, "content": words }))
    }

    fn read(&mut self, value: &Value) -> Message {
        self.at += 1_000_000;
        Message::from_chat(value, Defaults { id: MessageId::fresh(), at: Timestamp(self.at) }).unwrap()
    }

    /// Returns ids for calls, some of which were used before.
    fn ids(&mut self) -> Vec<String> {
        let count = 1 + self.dice.below(3);
        let id = |world: &mut Self| {
            world.calls += 1;
            let number = if world.dice.one_of(3) { world.dice.below(4) } else { world.calls };
            if world.dice.one_of(5) { format!("call:{number}") } else { format!("call_{number}") }
        };
        (0..count).map(|_| id(self)).collect()
    }

    /// Returns the results of `ids` in some order; now and then one is missing, or one is of nobody's call.
    fn answered(&mut self, ids: &[String]) -> Vec<String> {
        let mut ids: Vec<String> = ids.to_vec();
        if self.dice.one_of(3) {
            ids.reverse();
        }
        if self.dice.one_of(6) {
            ids.pop();
        }
        if self.dice.one_of(10) {
            ids.push("nobody".to_owned());
        }
        ids
    }

    fn openai_calls(&mut self) -> Vec<Message> {
        let ids = self.ids();
        let call = |id: &String, words: String| json!({ "id": id, "type": "function", "function": { "name": "find", "arguments": json!({ "q": words }).to_string() } });
        let calls: Vec<Value> = ids.iter().map(|id| call(id, self.dice.words(8))).collect();
        let mut talk = vec![self.said("user", 20)];
        talk.push(self.read(&json!({ "role": "assistant", "content": null, "tool_calls": calls })));
        for id in self.answered(&ids) {
            let words = self.dice.words(60);
            talk.push(self.read(&json!({ "role": "tool", "tool_call_id": id, "content": words })));
        }
        self.end_calls(talk)
    }

    fn anthropic_calls(&mut self) -> Vec<Message> {
        let ids = self.ids();
        let mut blocks = vec![json!({ "type": "thinking", "thinking": self.dice.words(9), "signature": "sig" })];
        let call = |id: &String, words: String| json!({ "type": "tool_use", "id": id, "name": "find", "input": { "q": words } });
        blocks.extend(ids.iter().map(|id| call(id, self.dice.words(8))).collect::<Vec<_>>());
        let mut talk = vec![self.said("user", 20), self.read(&json!({ "role": "assistant", "content": blocks }))];
        let results = self.answered(&ids).into_iter().map(|id| {
            json!({ "type": "tool_result", "tool_use_id": id, "content": [{ "type": "text", "text": self.dice.words(60) }] })
        });
        let mut results: Vec<Value> = results.collect();
        if self.dice.one_of(3) && results.len() > 1 {
            let late = results.split_off(1);
            talk.push(self.read(&json!({ "role": "user", "content": results })));
            results = late;
        }
        if self.dice.one_of(4) {
            results.push(json!({ "type": "text", "text": self.dice.words(9) }));
        }
        if self.dice.one_of(6) {
            results.push(
                json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AA" } }),
            );
        }
        if !results.is_empty() {
            talk.push(self.read(&json!({ "role": "user", "content": results })));
        }
        self.end_calls(talk)
    }

    /// Ends calls with a reply, cuts them off, or lets somebody speak between.
    fn end_calls(&mut self, mut talk: Vec<Message>) -> Vec<Message> {
        if self.dice.one_of(8) {
            let place = 1 + self.dice.below(talk.len() as u64 - 1) as usize;
            let role = if self.dice.one_of(2) { "user" } else { "system" };
            let between = self.said(role, 9);
            talk.insert(place, between);
        }
        if self.dice.one_of(8) {
            talk.truncate(1 + self.dice.below(talk.len() as u64) as usize);
        }
        if !self.dice.one_of(3) {
            talk.push(self.said("assistant", 20));
        }
        talk
    }

    /// Returns what the next context is asked for.
    pub(crate) fn ask(&mut self) -> Asked {
        let dice = &mut self.dice;
        let total = match dice.below(8) {
            0 => dice.below(4),
            1 => dice.below(60),
            2 => u64::MAX - dice.below(3),
            3 => 20_000,
            _ => dice.below(4_000),
        };
        let reserve = match dice.below(5) {
            0 => dice.below(50),
            1 => total / 2,
            2 => dice.below(3) * total.min(1 << 40),
            _ => 0,
        };
        let query = if dice.one_of(4) { String::new() } else { format!("{} turtle pond 4711", dice.words(6)) };
        let oversize = match dice.below(4) {
            0 => Oversize::TruncateMiddle,
            1 => Oversize::Keep,
            _ => Oversize::Error,
        };
        let request = ContextRequest::new(query, Budget::new(total).reserve(reserve));
        let request = request.recall(dice.below(13) as usize).oversize(oversize);
        Asked { session: self.session.clone(), request }
    }
}

fn escaped(message: &Message) -> String {
    message.text().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
