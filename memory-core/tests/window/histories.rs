//! Small histories of every shape: parallel and unfinished calls, orphans, instructions, summaries, forgotten rows,
//! rows of no tokens and of very many.

use std::sync::{Arc, LazyLock};

use memory_core::CounterId;
use memory_core::message::{Block, Message, Role, StoredMessage};
use memory_core::model::TokenCounter;
use memory_core::window::{Budget, FitOptions};
use memory_core::{MessageId, Seq, SeqRange, SessionId, Timestamp};
use serde_json::{Map, json};

/// How many histories a property is tried on.
#[expect(clippy::disallowed_methods, reason = "the one setting of these tests")]
pub(crate) fn cases() -> u64 {
    std::env::var("MEMORY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100_000)
}

/// Fails if anything is counted.
#[derive(Debug)]
pub(crate) struct NoCounter;

impl TokenCounter for NoCounter {
    fn name(&self) -> &str {
        "none"
    }

    fn count(&self, _: &Message) -> u64 {
        panic!("a stored count was not used")
    }

    fn count_text(&self, _: &str) -> u64 {
        panic!("a stored count was not used")
    }
}

/// Returns the rows at `indices`.
pub(crate) fn rows_of(rows: &[StoredMessage], indices: &[usize]) -> Vec<StoredMessage> {
    indices.iter().map(|index| rows[*index].clone()).collect()
}

/// Makes histories out of a seed (SplitMix64).
pub(crate) struct Histories(u64);

impl Histories {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn budget(&mut self) -> Budget {
        let limit = match self.below(12) {
            0 => u64::MAX,
            1 => 1_000,
            _ => self.below(40),
        };
        let reserve = if self.below(4) == 0 { self.below(12) } else { 0 };
        Budget::new(limit).reserve(reserve)
    }

    pub(crate) fn options(&mut self) -> FitOptions {
        if self.below(3) == 0 { FitOptions::default().keeping_unfinished() } else { FitOptions::default() }
    }

    fn tokens(&mut self) -> u64 {
        match self.below(40) {
            0 => u64::MAX,
            1 => 1_000,
            2..6 => 0,
            _ => self.below(9),
        }
    }

    /// Returns a history of up to about a dozen rows: likely turns, with unlikely rows strewn in.
    pub(crate) fn history(&mut self) -> Vec<StoredMessage> {
        let mut rows = Vec::new();
        for _ in 0..self.below(3) {
            self.push(&mut rows, &SAID.summary, true);
        }
        for _ in 0..self.below(6) {
            self.stretch(&mut rows);
        }
        rows
    }

    fn stretch(&mut self, rows: &mut Vec<StoredMessage>) {
        match self.below(8) {
            0..3 => {
                self.push(rows, &SAID.user, false);
                self.push(rows, &SAID.reply, false);
            }
            3 | 4 => {
                self.push(rows, &SAID.user, false);
                self.calls(rows);
            }
            5 => self.calls(rows),
            _ => {
                let any = self.below(SAID.all.len() as u64) as usize;
                self.push(rows, &SAID.all[any], false);
            }
        }
    }

    /// Pushes a message with calls and most of its results, now and then with something between.
    fn calls(&mut self, rows: &mut Vec<StoredMessage>) {
        let (calls, results) = &SAID.groups[self.below(SAID.groups.len() as u64) as usize];
        self.push(rows, calls, false);
        for result in results {
            if self.below(9) == 0 {
                let any = self.below(SAID.all.len() as u64) as usize;
                self.push(rows, &SAID.all[any], false);
            }
            if self.below(9) > 0 {
                self.push(rows, result, false);
            }
        }
        if self.below(3) > 0 {
            self.push(rows, &SAID.reply, false);
        }
    }

    fn push(&mut self, rows: &mut Vec<StoredMessage>, message: &Arc<Message>, is_summary: bool) {
        let number = rows.len() as u64 + 1;
        let is_summary = is_summary || self.below(60) == 0;
        rows.push(StoredMessage {
            id: MessageId(uuid::Uuid::from_u128(u128::from(number))),
            session: SAID.session.clone(),
            seq: Seq(number),
            tokens: self.tokens(),
            counter: CounterId::UNKNOWN,
            covers: is_summary.then_some(SeqRange { first: Seq(number), last: Seq(number) }),
            archived_by: (self.below(50) == 0).then_some(MessageId(uuid::Uuid::nil())),
            message: (self.below(50) > 0).then(|| message.clone()),
        });
    }
}

type Groups = Vec<(Arc<Message>, Vec<Arc<Message>>)>;

/// The messages that histories are made of.
struct Said {
    session: SessionId,
    user: Arc<Message>,
    reply: Arc<Message>,
    summary: Arc<Message>,
    groups: Groups,
    all: Vec<Arc<Message>>,
}

static SAID: LazyLock<Said> = LazyLock::new(|| {
    let of = |role: Role, blocks: Vec<Block>| Arc::new(Message::of_blocks(role, blocks, Timestamp(0)));
    let plain = |role: Role| of(role, vec![Block::text("words")]);
    let call = |id: &str| Block::ToolCall {
        id: id.to_owned(),
        name: "find".to_owned(),
        arguments: String::new(),
        extra: Map::new(),
    };
    let result = |ids: &[&str]| {
        let block = |id: &&str| Block::tool_result(*id, vec![Block::text("found")]);
        of(Role::Tool, ids.iter().map(block).collect())
    };
    let calls = |ids: &[&str]| of(Role::Assistant, ids.iter().map(|id| call(id)).collect());
    let mut legacy = (*plain(Role::Assistant)).clone();
    legacy.extra.insert("function_call".to_owned(), json!({ "name": "find", "arguments": "" }));
    let groups: Groups = vec![
        (calls(&["a"]), vec![result(&["a"])]),
        (calls(&["b"]), vec![result(&["b"])]),
        (calls(&["a", "b"]), vec![result(&["b"]), result(&["a"])]),
        (calls(&["a", "b", "c"]), vec![result(&["a"]), result(&["b"]), result(&["c"])]),
        (calls(&["a", "b"]), vec![result(&["a", "b"])]),
        (calls(&["a", "a"]), vec![result(&["a"]), result(&["a"])]),
        (Arc::new(legacy), vec![plain(Role::Function)]),
    ];
    let mut all: Vec<_> =
        [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Function].map(plain).into();
    all.extend(groups.iter().flat_map(|(calls, results)| results.iter().chain([calls])).cloned());
    Said {
        session: SessionId::new("s").unwrap(),
        user: plain(Role::User),
        reply: plain(Role::Assistant),
        summary: plain(Role::User),
        groups,
        all,
    }
});
