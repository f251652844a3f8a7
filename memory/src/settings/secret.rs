//! References to secrets, `${{ secrets.NAME }}`: resolved in values that are read already, so that no secret changes what the file
//! says beside its value.

use memory_core::secrets::without_secrets;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::key::Kind;

const OPEN: &str = "${{";
const CLOSE: &str = "}}";
/// What a reference names before its dot.
const SECRETS: &str = "secrets.";
/// What stands for a secret where it is looked whether it would be shown.
const MARK: &str = "5ecret5ecret";

/// What is wrong with a reference, and how it is put right.
pub(super) type Wrong = (String, String);

/// Returns a value with its secrets, and whether there are any.
pub(super) fn resolve(
    text: &str,
    kind: Kind,
    secrets: &dyn Fn(&str) -> Option<String>,
) -> Result<(String, bool), Wrong> {
    if !text.contains(OPEN) {
        return match kind.is_hidden() && has_shell_variable(text) {
            true => Err((
                "`${NAME}` is not replaced here".to_owned(),
                "write ${{ secrets.NAME }} for what the environment has under this name".to_owned(),
            )),
            false => Ok((text.to_owned(), false)),
        };
    }
    let is_whole = text.trim().starts_with(OPEN) && text.trim().ends_with(CLOSE) && text.matches(OPEN).count() == 1;
    // In a URL, a secret with `@` or `/` would name another host.
    let is_encoded = (matches!(kind, Kind::Place(_)) || text.contains("://")) && !is_whole;
    let (mut resolved, mut marked, mut rest) = (String::new(), String::new(), text);
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let name = behind.split_once(CLOSE).map(|(inside, after)| (inside.trim(), after));
        let Some((name, after)) = name.and_then(|(inside, after)| Some((inside.strip_prefix(SECRETS)?, after))) else {
            return Err(("this is no reference to a secret".to_owned(), "write ${{ secrets.NAME }}".to_owned()));
        };
        if !is_name(name) {
            let how = "a secret's name has letters, digits and _, and begins with no digit";
            return Err(("this is no name of a secret".to_owned(), how.to_owned()));
        }
        let Some(secret) = secrets(name).filter(|secret| !secret.is_empty()) else {
            let how = format!("set the variable {name}, or give the secret otherwise");
            return Err((format!("the secret {name} is not set"), how));
        };
        resolved.push_str(before);
        marked.push_str(before);
        marked.push_str(MARK);
        match is_encoded {
            true => resolved.extend(utf8_percent_encode(&secret, NON_ALPHANUMERIC)),
            false => resolved.push_str(&secret),
        }
        rest = after;
    }
    resolved.push_str(rest);
    marked.push_str(rest);
    if is_encoded && without_secrets(&marked).contains(MARK) {
        let how = "in a URL a secret stands for a password or a key: scheme://user:${{ secrets.NAME }}@host";
        return Err(("a secret would be shown at this place of the URL".to_owned(), how.to_owned()));
    }
    Ok((resolved, true))
}

fn is_name(name: &str) -> bool {
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(is_start) && name.bytes().all(|byte| is_start(byte) || byte.is_ascii_digit())
}

/// Returns whether a text holds `${NAME}`, which only shells replace.
fn has_shell_variable(text: &str) -> bool {
    text.split("${").skip(1).any(|behind| behind.split_once('}').is_some_and(|(name, _)| is_name(name)))
}
