//! The table at the end of an import: what was taken, what was there, what was left out and why, and what was rejected.

use memory::import::Tally;

use crate::wrap::{columns, cut, wrap};

/// The columns of what is counted.
const NAME: usize = 34;
/// The columns of a count.
const COUNT: usize = 9;
/// The columns between a count and its reason.
const GAP: usize = 2;
/// Where fewer columns are left for a reason, it stands below its count.
const LEAST: usize = 20;
/// How far a reason is indented that stands below its count.
const INDENT: usize = 6;
/// Rejections, and conversations of which something is left out, that are told on stderr one by one.
pub(super) const TOLD: usize = 20;
/// Conversations that are named for each kind of what is left out, and files without conversations.
const NAMED: usize = 5;

/// Returns the lines of the table: whole in a pipe, which has no width, else not wider than that. `is_the_error` says that the one
/// rejection is not told above, but by the error at the end.
pub(super) fn table(tally: &Tally, width: Option<usize>, is_the_error: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut row = |name: &str, count: u64, why: &str| lines.extend(row(name, count, why, width));
    row("taken", tally.added, "");
    row("already there", tally.already, "");
    if tally.forgotten > 0 {
        row("forgotten before", tally.forgotten, "they stay forgotten");
    }
    row("left out", tally.left_out.values().sum(), "");
    for (what, count) in &tally.left_out {
        row(&format!("  {}", what.name()), *count, what.why());
        let of = tally.left_out_of.iter().filter_map(|(session, left_out)| Some((session, *left_out.get(what)?)));
        let mut of: Vec<(&String, u64)> = of.collect();
        of.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (session, count) in of.iter().take(NAMED) {
            let title = tally.titles.get(*session).unwrap_or(session);
            row(&format!("    {title}"), *count, "");
        }
        let rest: u64 = count.saturating_sub(of.iter().take(NAMED).map(|(_, count)| count).sum());
        if rest > 0 {
            row("    others", rest, "--json names their conversations");
        }
    }
    row("rejected", tally.rejected, &told(tally.rejected, is_the_error));
    if tally.files > 0 {
        row("files", tally.files, "");
    }
    if tally.no_conversation > 0 {
        row("  without conversations", tally.no_conversation, "");
        let names = tally.no_conversation_in.iter().take(NAMED);
        lines.extend(names.map(|name| format!("    {name}")));
        let rest = tally.no_conversation.saturating_sub(NAMED as u64);
        if rest > 0 {
            lines.extend(self::row("    others", rest, "--json names them", width));
        }
    }
    lines
}

/// Returns where rejections are told, and how many of them.
fn told(rejected: u64, is_the_error: bool) -> String {
    match rejected {
        0 => String::new(),
        _ if is_the_error => "told by the error at the end".to_owned(),
        few if few <= TOLD as u64 => "told above, one by one".to_owned(),
        _ => format!("the first {TOLD} are told above"),
    }
}

/// Returns the lines of one count. Where there is a width, a long name is cut and a long reason is broken at words.
fn row(name: &str, count: u64, why: &str, width: Option<usize>) -> Vec<String> {
    let count = format!("{count:>COUNT$}");
    let room = width.map_or(NAME, |width| NAME.min(width.saturating_sub(count.len())));
    let name = if width.is_some() { cut(name, room) } else { name.to_owned() };
    let head = format!("{name}{}{count}", " ".repeat(room.saturating_sub(columns(&name))));
    let beside = columns(&head) + GAP;
    let fits = |room: usize| width.is_none_or(|width| beside + room <= width);
    if why.is_empty() || fits(columns(why)) {
        return vec![format!("{head}{:GAP$}{why}", "").trim_end().to_owned()];
    }
    let is_beside = fits(LEAST);
    let indent = if is_beside { beside } else { INDENT };
    let room = width.unwrap_or_default().saturating_sub(indent);
    let mut parts = wrap(why, room, room).into_iter().map(|part| why.get(part).unwrap_or_default());
    let first = if is_beside { format!("{head}{:GAP$}{}", "", parts.next().unwrap_or_default()) } else { head };
    std::iter::once(first).chain(parts.map(|part| format!("{:indent$}{part}", ""))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHY: &str = "the program they come from hides them";

    #[test]
    fn no_line_is_wider_than_a_terminal_whatever_a_title_holds() {
        for name in ["a".repeat(200), "本".repeat(200), "🍞".repeat(200), "é".repeat(200), String::new()] {
            for (count, width) in [(0, 80), (7, 80), (u64::MAX, 80), (7, 60), (7, 40), (u64::MAX, 40), (7, 20)] {
                for line in row(&name, count, WHY, Some(width)) {
                    assert!(columns(&line) <= width, "{width}: {line}");
                }
            }
        }
        assert_eq!(row("taken", 7, "", Some(80)), [format!("taken{}7", " ".repeat(NAME + COUNT - 6))]);
    }

    #[test]
    fn a_reason_is_whole_at_every_width_and_a_pipe_cuts_nothing() {
        for width in [20, 40, 57, 64, 65, 80, 200] {
            let lines = row("  hidden", 7, WHY, Some(width));
            let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
            assert_eq!(words.join(" "), format!("hidden 7 {WHY}"), "{width}: {lines:?}");
        }
        let name = "a".repeat(200);
        assert_eq!(row(&name, 7, WHY, None), [format!("{name}        7  {WHY}")]);
    }
}
