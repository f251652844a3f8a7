//! What is said and derived in a round, what of it is to be forgotten, and a naive model of what has to fall with that.

use memory_core::engine::{Forget, Remember, Scoped};
use memory_core::store::chat::{Compaction, NewMessage, Page, Slice, View};
use memory_core::{ItemId, Message, MessageId, Role, Seq, SeqRange, SessionId};

use super::world::{World, message, record, talk};
use crate::Failure;
use crate::chat::talk::NOON;
use crate::generate::Random;

/// Messages of a round's session.
const MESSAGES: usize = 6;
/// The longest chain of records.
const LEVELS: usize = 6;

/// The word in everything that has to fall.
pub(super) const DOOMED: &str = "aurora";
/// The word in everything that has to stay.
pub(super) const SPARED: &str = "boreas";

/// What an item of a round is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    /// Covers the messages up to this number.
    Summary(usize),
    Record,
}

/// An item and the places of what it was derived from.
#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    sources: Vec<usize>,
    of_session: bool,
    /// The places that a record was told from once more: it falls when both tellings have.
    again: Option<Vec<usize>>,
}

impl Node {
    fn said(kind: Kind, sources: Vec<usize>) -> Self {
        Self { kind, sources, of_session: false, again: None }
    }

    fn told(sources: Vec<usize>) -> Self {
        Self::said(Kind::Record, sources)
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
enum Asked {
    Messages(Vec<usize>),
    Records(Vec<usize>),
    Session,
}

/// A round.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    nodes: Vec<Node>,
    asked: Asked,
    /// The items, once they are stored.
    items: Vec<ItemId>,
}

impl Plot {
    pub(super) fn invent(random: &mut Random) -> Self {
        let plain = Node::said(Kind::Message, Vec::new());
        let mut plot = Self { nodes: vec![plain; MESSAGES], asked: Asked::Session, items: Vec::new() };
        plot.fold(random);
        let said = plot.nodes.len();
        plot.derive(random);
        plot.asked = match random.below(10) {
            0..=5 => Asked::Messages((0..=random.below(2)).map(|_| random.below(said)).collect()),
            6 | 7 => Asked::Records(vec![said]),
            _ => Asked::Session,
        };
        plot
    }

    /// Adds up to three summaries, each of the first messages and of the summary before.
    fn fold(&mut self, random: &mut Random) {
        let (mut covered, mut before) = (0, None);
        for _ in 0..random.below(4) {
            let last = covered + 1 + random.below(2);
            if last >= MESSAGES {
                return;
            }
            let sources = before.into_iter().chain(covered..last).collect();
            before = Some(self.nodes.len());
            self.nodes.push(Node::said(Kind::Summary(last), sources));
            covered = last;
        }
    }

    /// Adds a chain of records, some with a branch or a second source, and records that stand apart.
    fn derive(&mut self, random: &mut Random) {
        let mut before = random.below(self.nodes.len());
        for _ in 0..=random.below(LEVELS) {
            let mut sources = vec![before];
            if random.chance(1, 3) {
                sources.push(random.below(self.nodes.len()));
            }
            before = self.nodes.len();
            let again = random.chance(1, 4).then(|| vec![random.below(before)]);
            self.nodes.push(Node { of_session: random.chance(1, 5), again, ..Node::told(sources) });
            if random.chance(1, 3) {
                self.nodes.push(Node::told(vec![random.below(self.nodes.len())]));
            }
        }
        self.nodes.push(Node::told(Vec::new()));
    }

    /// Adds a record that somebody derives later from an item of this plot; returns its place.
    pub(super) fn add(&mut self, source: usize) -> usize {
        self.nodes.push(Node::told(vec![source]));
        self.nodes.len() - 1
    }

    /// Takes the last item back, which was refused.
    pub(super) fn drop_last(&mut self) {
        self.nodes.pop();
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns which items have to fall: what is asked for, what was derived from it, and so on.
    fn fates(&self) -> Vec<bool> {
        let mut fates: Vec<bool> = Vec::with_capacity(self.nodes.len());
        // Sources stand before what was derived from them.
        for (place, node) in self.nodes.iter().enumerate() {
            let falls = |sources: &[usize]| sources.iter().any(|source| fates.get(*source) == Some(&true));
            let is_asked = match &self.asked {
                Asked::Messages(places) | Asked::Records(places) => places.contains(&place),
                Asked::Session => node.kind != Kind::Record,
            };
            let of_session = matches!(self.asked, Asked::Session) && node.of_session;
            let first = of_session || falls(&node.sources);
            fates.push(is_asked || (first && node.again.as_ref().is_none_or(|again| falls(again))));
        }
        fates
    }

    pub(super) fn is_doomed(&self, place: usize) -> bool {
        self.fates().get(place) == Some(&true)
    }

    /// Returns the stored items that have to fall, or those that have to stay.
    pub(super) fn items(&self, doomed: bool) -> Vec<ItemId> {
        let fates = self.items.iter().zip(self.fates());
        fates.filter(|(_, fate)| *fate == doomed).map(|(item, _)| item.clone()).collect()
    }

    /// Returns the call that forgets what is asked for.
    pub(super) fn what(&self) -> memory_core::Result<Forget> {
        let items = |places: &[usize]| -> Vec<ItemId> {
            places.iter().filter_map(|place| self.items.get(*place).cloned()).collect()
        };
        Ok(match &self.asked {
            Asked::Messages(places) => Forget::Messages(items(places).iter().filter_map(message).collect()),
            Asked::Records(places) => Forget::Records(items(places).iter().filter_map(record).collect()),
            Asked::Session => Forget::Session(talk()?),
        })
    }

    fn text(&self, place: usize) -> String {
        let word = if self.is_doomed(place) { DOOMED } else { SPARED };
        format!("{word} number {place}")
    }

    /// Stores everything.
    pub(super) async fn stage(&mut self, world: &World, scoped: &Scoped) -> Result<(), Failure> {
        let session = talk()?;
        let messages: Vec<Message> = (0..MESSAGES).map(|place| said(Role::User, &self.text(place))).collect();
        self.items = messages.iter().map(|message| ItemId::Message(message.id)).collect();
        scoped.session(&session).append(messages).await?;
        for place in MESSAGES..self.nodes.len() {
            let item = match self.nodes.get(place).map(|node| node.kind) {
                Some(Kind::Summary(last)) => {
                    ItemId::Message(fold(world, scoped, &session, last, &self.text(place)).await?)
                }
                _ => ItemId::Record(scoped.remember(self.record(place)?).await?.id),
            };
            self.items.push(item);
            if let Some(again) = self.nodes.get(place).and_then(|node| node.again.clone()) {
                scoped.remember(self.telling(place, &again)).await?;
            }
        }
        Ok(())
    }

    /// Returns the record at `place`, to be told.
    pub(super) fn record(&self, place: usize) -> Result<Remember, Failure> {
        let node = self.nodes.get(place).ok_or("there is no such item")?;
        let remember = self.telling(place, &node.sources);
        Ok(if node.of_session { remember.with_session(talk()?) } else { remember })
    }

    fn telling(&self, place: usize, sources: &[usize]) -> Remember {
        let sources = sources.iter().filter_map(|source| self.items.get(*source).cloned());
        sources.fold(Remember::fact(self.text(place)), Remember::with_source)
    }

    /// Notes that the last item was stored under this id.
    pub(super) fn stored(&mut self, item: ItemId) {
        self.items.push(item);
    }
}

pub(super) fn said(role: Role, text: &str) -> Message {
    Message::new(role, text, NOON)
}

/// Folds what is active up to the message `last`.
pub(super) async fn fold(
    world: &World,
    scoped: &Scoped,
    session: &SessionId,
    last: usize,
    text: &str,
) -> Result<MessageId, Failure> {
    fold_span(world, scoped, session, SeqRange { first: Seq(1), last: Seq(last as u64) }, text).await
}

/// Folds what is active in a span.
pub(super) async fn fold_span(
    world: &World,
    scoped: &Scoped,
    session: &SessionId,
    span: SeqRange,
    text: &str,
) -> Result<MessageId, Failure> {
    let chat = world.chat.store();
    let Slice { state, messages, .. } =
        chat.read(scoped.scope(), session, &Page::after(Seq(0), 1_000, View::Active)).await?;
    let ids = messages.iter().filter(|row| span.contains(row.seq)).map(|row| row.id).collect();
    let summary = NewMessage::sized(said(Role::Assistant, text), 3);
    let id = summary.message.id;
    let change = Compaction::Fold { fence: state.fence, span, ids, summary };
    chat.compact(scoped.scope(), session, &change).await?;
    Ok(id)
}
