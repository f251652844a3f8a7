//! The table at the end of an import: what was taken, what was there, what was left out and why, and what was rejected.

use memory::import::Tally;

use crate::wrap::{columns, cut};

/// The widest line, in columns.
const WIDTH: usize = 80;
/// The columns of what is counted.
const NAME: usize = 34;
/// The columns of a count.
const COUNT: usize = 9;
/// Rejections, and conversations of which something is left out, that are told on stderr one by one.
pub(super) const TOLD: usize = 20;
/// Conversations that are named for each kind of what is left out, and files without conversations.
const NAMED: usize = 5;

/// Returns the lines of the table.
pub(super) fn table(tally: &Tally) -> Vec<String> {
    let mut lines = vec![line("taken", tally.added, ""), line("already there", tally.already, "")];
    if tally.forgotten > 0 {
        lines.push(line("forgotten before", tally.forgotten, "they stay forgotten"));
    }
    lines.push(line("left out", tally.left_out.values().sum(), ""));
    for (what, count) in &tally.left_out {
        lines.push(line(&format!("  {}", what.name()), *count, what.why()));
        let of = tally.left_out_of.iter().filter_map(|(session, left_out)| Some((session, *left_out.get(what)?)));
        let mut of: Vec<(&String, u64)> = of.collect();
        of.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let told = of.iter().take(NAMED).map(|(session, count)| {
            let title = tally.titles.get(*session).unwrap_or(session);
            line(&format!("    {title}"), *count, "")
        });
        lines.extend(told);
        let rest: u64 = count.saturating_sub(of.iter().take(NAMED).map(|(_, count)| count).sum());
        if rest > 0 {
            lines.push(line("    others", rest, "--json names their conversations"));
        }
    }
    lines.push(line("rejected", tally.rejected, &told_above(tally.rejected)));
    if tally.files > 0 {
        lines.push(line("files", tally.files, ""));
    }
    if tally.no_conversation > 0 {
        lines.push(line("  without conversations", tally.no_conversation, ""));
        let names = tally.no_conversation_in.iter().take(NAMED);
        lines.extend(names.map(|name| cut(&format!("    {name}"), WIDTH)));
        let rest = tally.no_conversation.saturating_sub(NAMED as u64);
        if rest > 0 {
            lines.push(line("    others", rest, "--json names them"));
        }
    }
    lines
}

/// Returns how many rejections are told one by one.
fn told_above(rejected: u64) -> String {
    match rejected {
        0 => String::new(),
        few if few <= TOLD as u64 => "told above, one by one".to_owned(),
        _ => format!("the first {TOLD} are told above"),
    }
}

fn line(name: &str, count: u64, why: &str) -> String {
    let name = cut(name, NAME);
    let blanks = " ".repeat(NAME.saturating_sub(columns(&name)));
    let line = format!("{name}{blanks}{count:>COUNT$}  {why}");
    cut(line.trim_end(), WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_a_terminal_whatever_a_title_holds() {
        for name in ["a".repeat(200), "本".repeat(200), "🍞".repeat(200), "é".repeat(200), String::new()] {
            for count in [0, 7, u64::MAX] {
                let line = line(&name, count, "the program they come from hides them");
                assert!(columns(&line) <= WIDTH, "{line}");
            }
        }
        assert_eq!(line("taken", 7, ""), format!("taken{}7", " ".repeat(NAME + COUNT - 6)));
    }
}
