//! The rows of a window as folding sees them: turns, summaries, and where a fold may begin and end.

use std::ops::Range;

use super::buffer::{BufferConfig, Folding};
use super::fold::{FoldPlan, FoldReason};
use super::pairing::Standing;
use crate::id::SeqRange;
use crate::message::StoredMessage;

/// The fewest tokens worth a summary.
const LEAST_TOKENS: u64 = 48;

/// How many rows may stand side by side for messages that left without a summary. More become one, so that reading a window stays
/// cheap, and few enough are joined that forgetting one message does not bring all others back.
const ARCHIVES: usize = 256;

/// The kind of a row, for folding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Instruction,
    Summary,
    /// A summary inside of a turn: it follows the person's message, and more of the turn follows it.
    Inner,
    /// What stands for messages that left without a summary.
    Archive,
    /// A person's message: a turn begins.
    Start,
    /// A reply or calls.
    Reply,
    /// What belongs to the row before, as results do.
    Follows,
}

/// What turns consist of.
const TURNS: [Kind; 5] = [Kind::Start, Kind::Reply, Kind::Follows, Kind::Inner, Kind::Archive];

/// The active rows with their kinds.
pub(super) struct Window<'a> {
    rows: Vec<(&'a StoredMessage, Kind)>,
    /// Their tokens.
    pub(super) tokens: u64,
}

impl<'a> Window<'a> {
    pub(super) fn of(rows: &'a [StoredMessage]) -> Self {
        let kind = |row: &'a StoredMessage| match Standing::of(row) {
            Standing::Absent if row.is_active() => Some((row, Kind::Archive)),
            Standing::Absent => None,
            Standing::Instruction => Some((row, Kind::Instruction)),
            Standing::Summary => Some((row, Kind::Summary)),
            Standing::Start => Some((row, Kind::Start)),
            Standing::Reply | Standing::Call(_) => Some((row, Kind::Reply)),
            Standing::Result(_) | Standing::Tangled => Some((row, Kind::Follows)),
        };
        let mut rows: Vec<_> = rows.iter().filter_map(kind).collect();
        let first = rows.iter().position(|(_, kind)| *kind == Kind::Start).unwrap_or(rows.len());
        let mut goes_on = false;
        for (_, kind) in rows.iter_mut().skip(first).rev() {
            match kind {
                Kind::Summary if goes_on => *kind = Kind::Inner,
                Kind::Start => goes_on = false,
                Kind::Reply | Kind::Follows => goes_on = true,
                _ => {}
            }
        }
        let tokens = rows.iter().map(|(row, _)| row.tokens).fold(0, u64::saturating_add);
        Self { rows, tokens }
    }

    fn count(&self, kinds: &[Kind]) -> usize {
        self.rows.iter().filter(|(_, kind)| kinds.contains(kind)).count()
    }

    pub(super) fn summaries(&self) -> usize {
        self.count(&[Kind::Summary])
    }

    /// Returns the tokens of the summaries outside of turns.
    pub(super) fn summary_tokens(&self) -> u64 {
        self.tokens_of(Kind::Summary)
    }

    /// Returns the tokens of the summaries inside of turns.
    pub(super) fn inner_tokens(&self) -> u64 {
        self.tokens_of(Kind::Inner)
    }

    fn tokens_of(&self, kind: Kind) -> u64 {
        let rows = self.rows.iter().filter(|(_, found)| *found == kind);
        rows.map(|(row, _)| row.tokens).fold(0, u64::saturating_add)
    }

    pub(super) fn messages(&self) -> u64 {
        self.count(&[Kind::Start, Kind::Reply, Kind::Follows]) as u64
    }

    /// Returns the tokens of the newest turn, without instructions.
    pub(super) fn last_turn(&self) -> u64 {
        self.turns().last().map_or(0, |turn| self.cost(turn))
    }

    /// Returns the tokens of the largest of the newest turns, those that stay word for word.
    pub(super) fn largest_turn(&self, config: &BufferConfig) -> u64 {
        let turns: Vec<Range<usize>> = self.turns().collect();
        turns.into_iter().rev().take(config.kept()).map(|turn| self.cost(turn)).max().unwrap_or(0)
    }

    /// Returns where the turns stand, oldest first.
    fn turns(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = (0..self.rows.len()).filter(|index| self.is_start(*index));
        let ends = (0..self.rows.len()).filter(|index| self.is_start(*index)).skip(1).chain([self.rows.len()]);
        starts.zip(ends).map(|(start, end)| start..end)
    }

    /// Returns the smallest fold of the oldest messages that is `enough`, by their tokens and number, or else the largest fold that is
    /// allowed.
    pub(super) fn fold(
        &self,
        config: &BufferConfig,
        reason: FoldReason,
        enough: impl Fn(u64, u64) -> bool,
    ) -> Option<FoldPlan> {
        self.fold_before(&[Kind::Start], config, reason, enough)
    }

    /// Works like [`Window::fold`], and may also end before instructions behind which the turn goes on with a reply. The reply leaves with
    /// the next fold.
    pub(super) fn fold_apart(
        &self,
        config: &BufferConfig,
        reason: FoldReason,
        enough: impl Fn(u64, u64) -> bool,
    ) -> Option<FoldPlan> {
        self.fold_before(&[Kind::Start, Kind::Reply], config, reason, enough)
    }

    fn fold_before(
        &self,
        behind: &[Kind],
        config: &BufferConfig,
        reason: FoldReason,
        enough: impl Fn(u64, u64) -> bool,
    ) -> Option<FoldPlan> {
        let segments = self.segments(&TURNS);
        let keep_from = self.keep_from(config.kept())?;
        segments.into_iter().find_map(|segment| {
            let first = self.beginning(&segment)?;
            let ends = self.ends(first, segment.end, keep_from, behind);
            let range = first..self.smallest(config, first, &ends, &enough)?;
            self.plan(config, reason, range)
        })
    }

    /// Returns the smallest fold inside the newest turn that is `enough`, or else the largest that leaves the newest reply or calls.
    pub(super) fn fold_inside(&self, config: &BufferConfig, enough: impl Fn(u64, u64) -> bool) -> Option<FoldPlan> {
        let turn = self.turns().last()?;
        let segments = self.segments(&[Kind::Reply, Kind::Follows, Kind::Archive]);
        segments.into_iter().find_map(|segment| {
            let mut rows = segment.start.max(turn.start)..segment.end;
            let segment = rows.find(|index| self.kind(*index) == Some(Kind::Reply))?..rows.end;
            // Behind an instruction the results of a call may follow.
            let behind = (segment.end..self.rows.len()).map(|index| self.kind(index));
            let next = behind.flatten().find(|kind| *kind != Kind::Instruction);
            let may_end = next.is_some_and(|kind| kind != Kind::Follows);
            let is_group = |index: &usize| self.kind(*index) == Some(Kind::Reply);
            let ends = segment.clone().skip(1).filter(is_group);
            let ends: Vec<usize> = ends.chain(may_end.then_some(segment.end)).collect();
            let range = segment.start..self.smallest(config, segment.start, &ends, &enough)?;
            self.plan(config, FoldReason::Turn, range)
        })
    }

    /// Returns the first of `ends` at which a fold from `first` is enough, or else the last.
    fn smallest(
        &self,
        config: &BufferConfig,
        first: usize,
        ends: &[usize],
        enough: impl Fn(u64, u64) -> bool,
    ) -> Option<usize> {
        let is_enough = |end: &usize| {
            let tokens = self.cost(first..*end);
            is_worth(config, tokens) && enough(tokens, (end - first) as u64)
        };
        ends.iter().find(|end| is_enough(end)).or(ends.last()).copied()
    }

    /// Returns the fold of the oldest adjacent summaries outside of turns.
    pub(super) fn merge(&self, config: &BufferConfig) -> Option<FoldPlan> {
        self.merge_of(Kind::Summary, config)
    }

    /// Returns the fold of the oldest adjacent summaries inside of a turn.
    pub(super) fn merge_inner(&self, config: &BufferConfig) -> Option<FoldPlan> {
        self.merge_of(Kind::Inner, config)
    }

    fn merge_of(&self, kind: Kind, config: &BufferConfig) -> Option<FoldPlan> {
        let segments = self.segments(&[kind]);
        let pairs = segments.into_iter().filter(|segment| segment.len() > 1);
        let mut folds =
            pairs.map(|segment| segment.start..segment.end.min(segment.start.saturating_add(config.merge.max(2))));
        folds.find_map(|fold| self.plan(config, FoldReason::Summaries, fold))
    }

    /// Returns the fold of what stands for messages without a summary, where there are too many such rows side by side.
    pub(super) fn merge_archives(&self, config: &BufferConfig) -> Option<FoldPlan> {
        let segments = self.segments(&[Kind::Archive]);
        let many = segments.into_iter().find(|segment| segment.len() > ARCHIVES)?;
        self.plan(config, FoldReason::Archives, many)
    }

    /// Returns the runs of adjacent rows of these kinds.
    fn segments(&self, kinds: &[Kind]) -> Vec<Range<usize>> {
        let mut segments: Vec<Range<usize>> = Vec::new();
        for (index, (_, kind)) in self.rows.iter().enumerate() {
            if !kinds.contains(kind) {
                continue;
            }
            match segments.last_mut() {
                Some(segment) if segment.end == index => segment.end += 1,
                _ => segments.push(index..index + 1),
            }
        }
        segments
    }

    /// Returns where the newest `turns` turns, at least one, begin; none if there are fewer.
    fn keep_from(&self, turns: usize) -> Option<usize> {
        let starts = self.rows.iter().enumerate().filter(|(_, (_, kind))| *kind == Kind::Start);
        starts.map(|(index, _)| index).nth_back(turns.max(1) - 1)
    }

    /// Returns where a fold of the segment may begin: at its first row, or at its first turn if the first row belongs to a
    /// turn that begins before the segment, on the other side of instructions.
    fn beginning(&self, segment: &Range<usize>) -> Option<usize> {
        let is_message = |(_, kind): &(_, Kind)| matches!(kind, Kind::Start | Kind::Reply | Kind::Follows);
        let goes_on = self.rows.iter().take(segment.start).any(is_message);
        let may_begin = |index: &usize| self.is_start(*index) || !goes_on && self.kind(*index) != Some(Kind::Archive);
        segment.clone().find(may_begin)
    }

    /// Returns where a fold from `first` may end, in order: at each start of a turn in the segment, and after the segment if a row of a
    /// kind in `allowed` comes behind the instructions there.
    fn ends(&self, first: usize, segment_end: usize, keep_from: usize, allowed: &[Kind]) -> Vec<usize> {
        let inside = (first..segment_end).skip(1).filter(|index| self.is_start(*index) && *index <= keep_from);
        let behind = self.rows.iter().enumerate().skip(segment_end);
        let next = behind.map(|(index, (_, kind))| (index, *kind)).find(|(_, kind)| *kind != Kind::Instruction);
        let at_end = next.is_some_and(|(index, kind)| allowed.contains(&kind) && index <= keep_from);
        inside.chain(at_end.then_some(segment_end)).collect()
    }

    fn is_start(&self, index: usize) -> bool {
        self.kind(index) == Some(Kind::Start)
    }

    fn kind(&self, index: usize) -> Option<Kind> {
        self.rows.get(index).map(|(_, kind)| *kind)
    }

    fn cost(&self, range: Range<usize>) -> u64 {
        let rows = self.rows.get(range).unwrap_or_default();
        rows.iter().map(|(row, _)| row.tokens).fold(0, u64::saturating_add)
    }

    /// Returns the plan for these rows; none if they are so short that a summary saves little.
    fn plan(&self, config: &BufferConfig, reason: FoldReason, range: Range<usize>) -> Option<FoldPlan> {
        let tokens = self.cost(range.clone());
        let rows: Vec<_> = self.rows.get(range)?.iter().map(|(row, _)| (*row).clone()).collect();
        let (oldest, newest) = (rows.first()?, rows.last()?);
        let span = SeqRange { first: oldest.covers.map_or(oldest.seq, |covers| covers.first), last: newest.seq };
        let plan = FoldPlan { reason, span, rows, tokens, max_tokens: config.bound(tokens) };
        (reason == FoldReason::Archives || is_worth(config, tokens)).then_some(plan)
    }
}

/// Returns whether rows of so many tokens are worth a fold.
fn is_worth(config: &BufferConfig, tokens: u64) -> bool {
    config.folding != Folding::Summaries || tokens >= LEAST_TOKENS
}
