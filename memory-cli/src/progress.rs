//! Shows the progress of an import or a move on stderr.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use memory::store::time::Stopwatch;

use crate::output::say;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    /// A bar on a terminal, else nothing
    Auto,
    /// A bar with rate and time left
    Bar,
    /// `committed N` after every durable batch, N items so far
    Lines,
    /// Nothing
    None,
}

/// The progress display of an import or a move.
#[derive(Debug)]
pub(crate) struct Progress {
    kind: Indicator,
    watch: Stopwatch,
}

#[derive(Debug)]
enum Indicator {
    Bar(ProgressBar),
    Lines,
    None,
}

impl Progress {
    /// Begins, for a file of `bytes` if that is known.
    pub(crate) fn new(style: Style, bytes: Option<u64>) -> Self {
        let kind = match style {
            Style::Bar => Indicator::Bar(bar(bytes)),
            Style::Auto if stderr().is_terminal() => Indicator::Bar(bar(bytes)),
            Style::Lines => Indicator::Lines,
            Style::Auto | Style::None => Indicator::None,
        };
        Self { kind, watch: Stopwatch::start() }
    }

    /// Returns the time since the beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        self.watch.elapsed()
    }

    /// Shows that `items` are durable and `bytes` of the file were read.
    pub(crate) fn committed(&self, items: u64, bytes: u64) {
        match &self.kind {
            Indicator::Bar(bar) => {
                let rate = items as f64 / self.elapsed().as_secs_f64().max(0.001);
                bar.set_message(format!("{items} messages, {rate:.0}/s"));
                bar.set_position(bytes);
            }
            Indicator::Lines => say(&format!("committed {items}")),
            Indicator::None => {}
        }
    }

    /// Shows that the indexes follow now, with `pending` notes to go.
    pub(crate) fn indexing(&self, pending: u64) {
        match &self.kind {
            Indicator::Bar(bar) => bar.set_message(format!("indexing, {pending} conversations to go")),
            Indicator::Lines => say("indexing"),
            Indicator::None => {}
        }
    }

    /// Begins to show the indexing, which has a length of its own.
    pub(crate) fn begin_indexing(&self) {
        if let Indicator::Bar(bar) = &self.kind {
            bar.set_style(style("{spinner} {elapsed} {msg}"));
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        self.indexing(0);
    }

    /// Returns whether somebody sees how the indexing goes on.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.kind, Indicator::Bar(_))
    }

    /// Says something without disturbing the bar.
    pub(crate) fn say(&self, text: &str) {
        match &self.kind {
            Indicator::Bar(bar) => bar.suspend(|| say(text)),
            Indicator::Lines | Indicator::None => say(text),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Indicator::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }
}

fn bar(bytes: Option<u64>) -> ProgressBar {
    match bytes {
        Some(bytes) => ProgressBar::new(bytes)
            .with_style(style("{bar:30} {bytes}/{total_bytes} {msg}, {eta} left").progress_chars("##-")),
        None => ProgressBar::no_length().with_style(style("{spinner} {bytes} {msg}")),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
