//! What a person typed, of a text that Claude Code wrote down as theirs. It marks what it put in itself by tags: the name of a command,
//! what a command printed, reminders to the model.

/// The tags of what nobody typed.
const PUT_IN: [&str; 11] = [
    "command-name",
    "command-message",
    "command-contents",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "system-reminder",
    "task-notification",
];

/// The tag of what a person typed behind the name of a command.
const TYPED: &str = "command-args";

/// How the text begins that tells that a person stopped the agent.
const STOPPED: &str = "[Request interrupted by user";

/// Returns what a person typed. A tag counts only where the text begins or the last one ended: what a person quotes stays.
pub(super) fn typed(text: &str) -> String {
    let (mut rest, mut typed) = (text.trim(), String::new());
    while let Some((name, inner, behind)) = element(rest) {
        if name == TYPED {
            typed.push_str(inner.trim());
            typed.push('\n');
        } else if !PUT_IN.contains(&name) {
            break;
        }
        rest = behind.trim_start();
    }
    if rest.strip_prefix(STOPPED).and_then(|rest| rest.split_once(']')).is_some_and(|(_, behind)| behind.is_empty()) {
        rest = "";
    }
    // A text without tags stays as it is, to the last blank.
    if rest.len() == text.trim().len() {
        return text.to_owned();
    }
    typed.push_str(rest);
    typed.trim().to_owned()
}

/// Returns the name of the element with which a text begins, what stands in it, and what stands behind it.
fn element(text: &str) -> Option<(&str, &str, &str)> {
    let (name, behind) = text.strip_prefix('<')?.split_once('>')?;
    let (inner, behind) = behind.split_once(&format!("</{name}>"))?;
    Some((name, inner, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_put_in_is_left_out() {
        let table = [
            ("Where is the bug? ", "Where is the bug? "),
            (
                "<command-name>/clear</command-name>\n <command-message>clear</command-message>\n<command-args></command-args>",
                "",
            ),
            (
                "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n<command-args>a trip to Rome</command-args>",
                "a trip to Rome",
            ),
            ("<local-command-stdout>3 files</local-command-stdout>", ""),
            ("<bash-input>ls</bash-input><bash-stdout>a\nb</bash-stdout>", ""),
            ("<system-reminder>Be brief.</system-reminder>\nWhere is it?", "Where is it?"),
            ("[Request interrupted by user for tool use]", ""),
            // What a person quotes is theirs.
            ("[Request interrupted by user] stands in a[0]", "[Request interrupted by user] stands in a[0]"),
            ("What does <bash-input>ls</bash-input> mean?", "What does <bash-input>ls</bash-input> mean?"),
            ("<b>bold</b> is HTML", "<b>bold</b> is HTML"),
            ("<command-name>/clear", "<command-name>/clear"),
            ("a < b > c", "a < b > c"),
        ];
        for (text, found) in table {
            assert_eq!(typed(text), found, "{text}");
        }
    }
}
