//! How results look: how wide a line may be, and whether there is colour.

use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;

/// No line is broken narrower than this.
const NARROWEST: usize = 20;

/// When there is colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Never
    Never,
}

/// How results look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// How many columns a line may have; none where lines are not broken.
    pub(crate) width: Option<usize>,
    pub(crate) has_colour: bool,
}

impl Look {
    /// Returns the look of this process's stdout.
    pub(crate) fn of_stdout(colour: Colour) -> Self {
        let has_colour = match colour {
            Colour::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            Colour::Always => true,
            Colour::Never => false,
        };
        Self { width: width().map(|width| width.max(NARROWEST)), has_colour }
    }
}

/// Returns the width that COLUMNS says, else that of the terminal. A pipe has none, so that each line is found whole.
#[expect(clippy::disallowed_methods, reason = "this is configuration: how wide a person wants lines")]
fn width() -> Option<usize> {
    let wanted = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|width| *width > 0);
    wanted.or_else(|| Some(usize::from(console::Term::stdout().size_checked()?.1)))
}
