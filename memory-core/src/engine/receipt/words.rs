//! Receipts in words, one fact a line.

use std::fmt;

use super::{
    ContextReceipt, Degraded, Fold, FoldShown, History, PartKind, Reason, SearchReceipt, Sharing, Signals, Stage,
    SynopsisShown, Tokens,
};

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embed => "embed",
            Self::Text => "text",
            Self::Vector => "vector",
            Self::Chat => "chat",
            Self::Records => "records",
            Self::Summary => "summary",
            Self::Cache => "cache",
            Self::Rerank => "rerank",
            Self::Synopsis => "synopsis",
            Self::Working => "working",
        })
    }
}

impl fmt::Display for Degraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stage, self.why)
    }
}

impl fmt::Display for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leg = |name: &str, value: Option<f32>, rank: Option<usize>| match (value, rank) {
            (Some(value), Some(rank)) => format!("{name} {value:.3} (place {rank})"),
            _ => format!("{name} none"),
        };
        let (words, meaning) = (leg("words", self.text, self.text_rank), leg("meaning", self.cosine, self.vector_rank));
        write!(f, "score {:.3}: {words}, {meaning}", self.score)?;
        self.reranked.map_or(Ok(()), |judged| write!(f, ", reranked {judged:.3}"))
    }
}

impl SearchReceipt {
    /// Returns the words that were searched for, as a person typed them; without these, the terms.
    fn sought(&self) -> String {
        if self.words.is_empty() { self.terms.join(" ") } else { self.words.join(" ") }
    }

    /// Returns how long each stage took, if any did.
    fn latencies(&self) -> Option<String> {
        let told = self.stages.iter().map(|(stage, micros)| format!("{stage} {}", millis(*micros)));
        (!self.stages.is_empty()).then(|| format!("stages    {}", told.collect::<Vec<_>>().join(", ")))
    }

    /// Returns what went wrong, and which part of the question was not searched for, one line each.
    pub fn troubles(&self) -> impl Iterator<Item = String> {
        let told = self.degraded.iter().map(|degraded| format!("degraded  {degraded}"));
        let (sought, left_out) = (self.terms.len(), self.terms_left_out);
        told.chain((left_out > 0).then(|| format!("sought    the {sought} rarest of {} terms", sought + left_out)))
    }
}

/// Shows what was searched for, among how many candidates, and what went wrong.
impl fmt::Display for SearchReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![format!("sought    {}", self.sought())];
        lines.extend(self.speaker.as_ref().map(|speaker| format!("said by   {speaker}")));
        lines.extend((!self.times.is_empty()).then(|| format!("said in   {}", self.times.join(", "))));
        let (by_words, by_meaning, took) = (self.text_candidates, self.vector_candidates, millis(self.took_micros));
        let notes = if self.notes > 0 { format!(", {} of them notes", self.notes) } else { String::new() };
        lines.push(format!("found     {by_words} candidates by words, {by_meaning} by meaning{notes}; took {took}"));
        lines.extend(self.sharing.iter().map(Sharing::to_string));
        let dropped = self.dropped_at_hydration;
        lines.extend((dropped > 0).then(|| format!("dropped   {dropped} whose content is gone")));
        lines.extend(self.latencies());
        lines.extend(self.troubles());
        f.write_str(&one_a_line(&lines))
    }
}

/// Shows the owner and how much was found there.
impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (owner, by_words, by_meaning) = (self.owner.subject(), self.text_candidates, self.vector_candidates);
        write!(f, "shared by {owner}: {by_words} candidates by words, {by_meaning} by meaning")?;
        let told =
            [(self.notes, "of them notes"), (self.dropped_at_hydration, "gone"), (self.degraded.len(), "degraded")];
        told.iter().filter(|(count, _)| *count > 0).try_for_each(|(count, what)| write!(f, ", {count} {what}"))
    }
}

/// Shows the tokens of each part.
impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("instructions", self.instructions),
            ("synopsis", self.synopsis),
            ("summaries", self.summaries),
            ("history", self.history),
            ("recalled", self.recalled),
            ("query", self.query),
            ("kept free", self.reserved),
        ];
        write!(f, "{} of {}", self.total, self.limit + self.reserved)?;
        for (place, (name, tokens)) in parts.iter().filter(|(_, tokens)| *tokens > 0).enumerate() {
            write!(f, "{} {name} {tokens}", if place == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

/// Shows which messages of the window went in, and why the others did not.
impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} messages", self.kept_messages, self.window_messages)?;
        if let (Some(first), Some(last)) = (self.first, self.last) {
            write!(f, " (numbers {} to {})", first.0, last.0)?;
        }
        let told = [
            (self.inherited, "inherited"),
            (self.unfolded, "in place of summaries or beside them"),
            (self.no_room, "older ones did not fit"),
            (self.outside, "more than the window shows"),
            (self.no_start, "with no person before them"),
            (self.unpaired, "calls or results without the other half"),
            (self.untrusted, "system messages that are not trusted as instructions"),
            (self.unfinished, "that wait for results"),
            (self.instructions_left_out, "instructions did not fit"),
            (self.truncated, "lost their middle to fit"),
            (self.folded_asides, "without what stands aside in them"),
        ];
        for (count, what) in told.iter().filter(|(count, _)| *count > 0) {
            write!(f, "; {count} {what}")?;
        }
        if self.instructions_unread {
            f.write_str("; older instructions were not read")?;
        }
        Ok(())
    }
}

impl fmt::Display for SynopsisShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tokens == 0 {
            return f.write_str("left out for want of room");
        }
        write!(f, "{} tokens for {} of conversations", self.tokens, self.history_tokens)?;
        if let Some(saved) = self.saved() {
            write!(f, ", {:.0} % saved", saved * 100.0)?;
        }
        let told = [(self.is_stale, "; stale, to be built anew"), (self.left_out.is_some(), "; a half did not fit")];
        told.iter().filter(|(is_so, _)| *is_so).try_for_each(|(_, what)| f.write_str(what))
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match self.shown {
            FoldShown::Summary => "a summary",
            FoldShown::Messages => "all their messages",
            FoldShown::Both => "a summary and the newest of them",
            FoldShown::Nothing => "nothing, for want of room",
        };
        write!(f, "numbers {} to {}: {shown}", self.first.0, self.last.0)
    }
}

/// Shows tokens by part, what went in, what did not and why.
impl fmt::Display for ContextReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![format!("tokens    {} (counted by {})", self.tokens, self.counter)];
        lines.push(format!("window    {}", self.history));
        lines.extend(self.synopsis.iter().map(|shown| format!("synopsis  {shown}")));
        lines.extend(self.folds.iter().map(|fold| format!("folded    {fold}")));
        let found = self.included.iter().filter(|included| included.signals.is_some());
        let (recalled, in_window): (Vec<_>, Vec<_>) = found.partition(|included| included.part == PartKind::Recalled);
        let sought = self.search.sought();
        if !sought.is_empty() {
            let (recalled, in_window) = (recalled.len(), in_window.len());
            let items = if recalled == 1 { "item" } else { "items" };
            lines.push(format!("recalled  {recalled} {items} beside {in_window} in the window, sought by: {sought}"));
        }
        lines.extend(self.search.sharing.iter().map(Sharing::to_string));
        lines.extend(left_out(&self.search).map(|told| format!("left out  {told}")));
        lines.extend(self.search.troubles());
        if self.recounted > 0 {
            lines.push(format!("recounted {} messages that another counter had counted", self.recounted));
        }
        lines.extend(
            self.prefix_reuse_ratio
                .map(|share| format!("reused    {:.0} % of the last context's beginning", share * 100.0)),
        );
        if !self.complete {
            lines.push("degraded  the conversation was read without its primary store".to_owned());
        }
        lines.extend(self.search.latencies());
        lines.push(format!("took      {}", millis(self.took_micros)));
        f.write_str(&one_a_line(&lines))
    }
}

/// Returns how many candidates were left out for each reason, and how many more there were; none if there were none.
fn left_out(search: &SearchReceipt) -> Option<String> {
    let reasons = [
        (Reason::NoRoom, "for want of room"),
        (Reason::BelowLimit, "less like the query"),
        (Reason::Irrelevant, "because nothing found is about the query"),
        (Reason::Gone, "gone meanwhile"),
        (Reason::Unread, "because they could not be read"),
        (Reason::Replaced, "because others took their place"),
        (Reason::AfterFork, "said where the branch does not lead"),
    ];
    let count = |reason| search.left_out.iter().filter(|item| item.reason == reason).count();
    let counts = reasons.map(|(reason, why)| (count(reason), why));
    let counts = counts.into_iter().chain([(search.not_listed, "further down, which are not listed")]);
    let told = counts.filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}"));
    let told = told.collect::<Vec<_>>().join(", ");
    (!told.is_empty()).then_some(told)
}

/// Joins facts, one a line. A line end within a fact, as a name from a file may hold it, is shown by its code.
fn one_a_line(facts: &[String]) -> String {
    let whole = |fact: &String| fact.replace('\n', "\\n");
    facts.iter().map(whole).collect::<Vec<_>>().join("\n")
}

/// Returns a time span in milliseconds.
fn millis(micros: u64) -> String {
    format!("{:.1} ms", micros as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Seq;

    #[test]
    fn a_search_tells_what_it_sought_and_what_failed() {
        let receipt = SearchReceipt {
            terms: vec!["practic".to_owned(), "Y7259Y533b".to_owned()],
            words: vec!["practice".to_owned(), "牙医".to_owned()],
            terms_left_out: 2,
            speaker: Some("Ada\nLovelace".to_owned()),
            text_candidates: 3,
            degraded: vec![Degraded { stage: Stage::Vector, why: "away".to_owned() }],
            stages: [(Stage::Embed, 400), (Stage::Text, 1_000)].into(),
            took_micros: 1_500,
            ..SearchReceipt::default()
        };
        let told = "sought    practice 牙医\nsaid by   Ada\\nLovelace\nfound     3 candidates by words, 0 by meaning; took 1.5 ms\n\
            stages    embed 0.4 ms, text 1.0 ms\ndegraded  vector: away\nsought    the 2 rarest of 4 terms";
        assert_eq!(receipt.to_string(), told);
        let without = SearchReceipt { words: Vec::new(), ..receipt }.to_string();
        assert!(without.starts_with("sought    practic Y7259Y533b\n"), "{without}");
    }

    #[test]
    fn what_is_not_listed_is_told_with_what_is_left_out() {
        let mut receipt = SearchReceipt { not_listed: 9, ..SearchReceipt::default() };
        receipt.list(Vec::new(), 2);
        assert_eq!(left_out(&receipt).as_deref(), Some("7 further down, which are not listed"));
        assert_eq!(left_out(&SearchReceipt::default()), None);
    }

    #[test]
    fn tokens_and_history_tell_only_what_is_there() {
        let tokens = Tokens { limit: 90, reserved: 10, history: 40, total: 40, ..Tokens::default() };
        assert_eq!(tokens.to_string(), "40 of 100: history 40, kept free 10");
        assert_eq!(Tokens::default().to_string(), "0 of 0");
        let history = History {
            window_messages: 5,
            kept_messages: 2,
            first: Some(Seq(4)),
            last: Some(Seq(5)),
            no_room: 3,
            ..History::default()
        };
        assert_eq!(history.to_string(), "2 of 5 messages (numbers 4 to 5); 3 older ones did not fit");
    }

    #[test]
    fn signals_tell_each_leg() {
        let signals = Signals { score: 0.5, text: Some(1.25), text_rank: Some(1), ..Signals::default() };
        assert_eq!(signals.to_string(), "score 0.500: words 1.250 (place 1), meaning none");
    }
}
