//! What is checked of each context: budget, receipt, order, groups, and that both APIs take it.

use std::collections::HashSet;

use memory_core::engine::{Context, FoldShown, Part, PartKind, Reason};
use memory_core::window::{Budget, FitOptions, Oversize, fit};
use memory_core::{ItemId, Role, StoredMessage};

use crate::dialects::{refused_by_anthropic, refused_by_openai};
use crate::worlds::{Asked, World};

/// What occurred, so that nothing is checked in vain.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    contexts: u64,
    over: u64,
    recalled: u64,
    summaries: u64,
    unfolded: u64,
    truncated: u64,
    calls: u64,
    instructions_left_out: u64,
    unpaired: u64,
    unfinished: u64,
    no_room: u64,
    left_out: u64,
    said: u64,
}

impl Seen {
    pub(crate) fn over(&mut self, need: u64, budget: u64) {
        assert!(need > budget, "{need} are over {budget}");
        self.over += 1;
    }

    /// Fails if something that is checked did not occur.
    pub(crate) fn enough(&self) {
        let counts =
            [self.contexts, self.over, self.recalled, self.summaries, self.unfolded, self.truncated, self.calls];
        let others = [self.instructions_left_out, self.unpaired, self.unfinished, self.no_room, self.left_out];
        assert!(counts.iter().chain(&others).all(|count| *count > 0), "{self:?}");
    }
}

/// Checks a context.
pub(crate) async fn check(world: &World, asked: &Asked, context: &Context, seen: &mut Seen) {
    let at = format!("seed {}, {:?}: {:?}", world.seed, asked.request, context.receipt);
    budget(world, asked, context, &at);
    fates(context, &at, seen);
    order(context, &at);
    let all = world.rows().await;
    let rows: Vec<StoredMessage> = all.iter().filter(|row| !row.is_archive()).cloned().collect();
    window(world, asked, context, &rows, all.len() - rows.len(), &at, seen);
    let sent = context.to_openai();
    if let Err(why) = refused_by_openai(&sent) {
        panic!("{why}: {sent:#?}\n{at}");
    }
    let sent = context.to_anthropic();
    if let Err(why) = refused_by_anthropic(&sent) {
        panic!("{why}: {sent:#}\n{at}");
    }
    let history = &context.receipt.history;
    seen.contexts += 1;
    seen.recalled += u64::from(context.receipt.tokens.recalled > 0);
    seen.summaries += u64::from(context.receipt.tokens.summaries > 0);
    seen.unfolded += u64::from(history.unfolded > 0);
    seen.truncated += u64::from(history.truncated > 0);
    seen.calls += context.messages().map(|message| message.calls().count() as u64).sum::<u64>();
    seen.instructions_left_out += history.instructions_left_out;
    seen.unpaired += history.unpaired;
    seen.unfinished += history.unfinished;
    seen.no_room += history.no_room;
}

fn budget(world: &World, asked: &Asked, context: &Context, at: &str) {
    let tokens = &context.receipt.tokens;
    let real: u64 = context.messages().map(|message| world.counter.count(message)).sum();
    let room = asked.request.budget.limit - asked.request.budget.reserve;
    assert_eq!(real, tokens.total, "the receipt counts otherwise; {at}");
    assert!(real <= room || asked.request.oversize == Some(Oversize::Keep), "{real} in {room}; {at}");
    let sum = tokens.instructions + tokens.summaries + tokens.history + tokens.recalled + tokens.query;
    assert_eq!(sum, tokens.total, "{at}");
    assert_eq!(context.receipt.counter, world.counter.name());
    let included = context.receipt.included.iter().filter(|included| included.part == PartKind::Recalled);
    assert_eq!(included.map(|included| included.tokens).sum::<u64>(), tokens.recalled, "{at}");
}

fn fates(context: &Context, at: &str, seen: &mut Seen) {
    let mut items = HashSet::new();
    for included in &context.receipt.included {
        assert!(items.insert(included.item.clone()), "{} is in twice; {at}", included.item.key());
    }
    for left in &context.receipt.search.left_out {
        assert!(items.insert(left.item.clone()), "{} is in and left out; {at}", left.item.key());
        assert!(left.reason != Reason::Gone && left.reason != Reason::Unread, "nothing was lost; {at}");
        seen.left_out += 1;
    }
    let parts = context.parts.iter().filter(|part| part.kind != PartKind::Recalled).count();
    let window = context.receipt.included.iter().filter(|included| included.part != PartKind::Recalled).count();
    let has_own_query = parts - window;
    assert!(has_own_query <= 1, "{at}");
    assert_eq!(context.receipt.history.kept_messages, window as u64, "{at}");
    seen.said += u64::from(has_own_query == 0 && context.receipt.tokens.query > 0);
}

/// Instructions, summaries, history, recalled items, query; and nothing ends the block but its end.
fn order(context: &Context, at: &str) {
    let kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    let query = kinds.iter().position(|kind| *kind == PartKind::Query).unwrap_or(kinds.len());
    let (before, behind) = kinds.split_at(query);
    // Where a stretch in the middle was folded, its summary stands in the middle.
    let place = |kind: &PartKind| if *kind == PartKind::History { PartKind::Summary } else { *kind };
    assert!(before.iter().is_sorted_by_key(place), "{kinds:?}; {at}");
    assert!(behind.iter().skip(1).all(|kind| *kind == PartKind::History), "{kinds:?}; {at}");
    let first = context.parts.iter().find(|part| part.kind == PartKind::History);
    let is_person = |role: Role| role == Role::User;
    assert!(query < kinds.len() && behind.len() > 1 || first.is_none_or(|part| is_person(part.message.role)), "{at}");
    for part in context.parts.iter().filter(|part| part.kind == PartKind::Recalled) {
        let text = part.message.text();
        assert!(text.matches("</memory>").count() == 1 && text.ends_with("</memory>"), "{text}; {at}");
        assert_eq!(text.matches("<item ").count(), text.matches("</item>").count(), "{text}; {at}");
        assert!(!text.contains("from=\"system\"") && !text.contains("from=\"developer\""), "{text}; {at}");
    }
}

/// The rows of the window are in, or left out for a reason that is true.
fn window(
    world: &World,
    asked: &Asked,
    context: &Context,
    rows: &[StoredMessage],
    archives: usize,
    at: &str,
    seen: &mut Seen,
) {
    let receipt = &context.receipt;
    let history = &receipt.history;
    let replaced = receipt.folds.iter().filter(|fold| fold.shown == FoldShown::Messages).count() as u64;
    let left_out = history.no_room + history.outside + history.no_start + history.unpaired + history.unfinished;
    let left_out = left_out + history.untrusted;
    let fates = history.kept_messages - history.unfolded + replaced + left_out + history.instructions_left_out;
    // What stands for messages that left without a summary counts if it was not read.
    let most = (rows.len() + archives) as u64;
    assert!((rows.len() as u64..=most).contains(&fates), "{fates} fates of {} rows; {at}", rows.len());
    let of_window = receipt.included.iter().filter(|included| included.part != PartKind::Recalled);
    let included: HashSet<&ItemId> = of_window.map(|included| &included.item).collect();
    let is_in = |row: &&StoredMessage| included.contains(&ItemId::Message(row.id));
    let is_instruction =
        |row: &&StoredMessage| row.covers.is_none() && row.message.as_ref().is_some_and(|m| m.is_instruction());
    let instructions = rows.iter().filter(is_instruction).filter(|row| !is_in(row)).count() as u64;
    let is_told = history.instructions_unread || instructions == history.instructions_left_out;
    assert!(is_told, "{instructions} instructions vanish untold; {at}");
    let room = asked.request.budget.limit - asked.request.budget.reserve;
    let buffer = world.session.buffer();
    if let Some(most) = buffer.window_messages {
        let shown: Vec<_> = context.parts.iter().filter(|part| part.kind == PartKind::History).collect();
        let begins = |part: &&&Part| part.message.role == Role::User && part.message.results().next().is_none();
        let turns = shown.iter().filter(begins).count();
        // The last turn is shown whole.
        assert!(shown.len() as u64 <= most || turns <= 1, "{turns} turns in a window of {most}; {at}");
    } else {
        assert_eq!(history.outside, 0, "{at}");
    }
    // What has no room truly has none: the next older turn does not fit. The newest summary goes in apart.
    let newest = rows.iter().rfind(|row| row.covers.is_some()).map(|row| row.id);
    let others: Vec<StoredMessage> = rows.iter().filter(|row| Some(row.id) != newest).cloned().collect();
    let all = fit(&others, &Budget::new(u64::MAX), &FitOptions::default(), world.counter.as_ref()).unwrap();
    let legal = all.rows(&others).filter(|row| !is_instruction(row));
    let older = legal.take_while(|row| row.covers.is_some() || !is_in(row));
    let missing: Vec<&StoredMessage> = older.filter(|row| !is_in(row)).collect();
    if let Some(from) = missing.iter().rposition(|row| starts(row)) {
        let turn: u64 = missing.iter().skip(from).map(|row| row.tokens).fold(0, u64::saturating_add);
        let has_room = receipt.tokens.total.saturating_add(turn) <= room;
        // A window that is to begin alike for many turns leaves room on purpose.
        assert!(!has_room || history.outside > 0 || buffer.is_stable, "a turn of {turn} tokens has room; {at}");
        assert!(history.no_room + history.outside > 0, "{} rows vanish untold; {at}", missing.len());
    }
    // And what has room is there: with all the room there is, nothing is left out for want of it.
    if room > 1_000_000_000 {
        assert_eq!(history.no_room + history.instructions_left_out, 0, "{at}");
        assert!(receipt.folds.iter().all(|fold| fold.shown != FoldShown::Nothing) || history.outside > 0, "{at}");
    }
    seen.no_room += history.no_room;
}

/// Returns whether a person begins a turn with the row.
fn starts(row: &StoredMessage) -> bool {
    let message = row.message.as_ref().filter(|message| row.covers.is_none() && message.role == Role::User);
    message.is_some_and(|message| message.results().next().is_none())
}
