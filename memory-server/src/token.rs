//! Tokens: `mem_ID_SECRET`, what one opens, and the file that holds what is known of them.

mod file;
mod grant;

use std::fmt;

use memory::store::Digest;
use sha2::{Digest as _, Sha256};

pub(crate) use file::Stamp;
pub use file::TokenFile;
pub use grant::{Grant, Right, Rights};

/// Bytes of a public id, and of a secret.
const ID: usize = 8;
const SECRET: usize = 32;

/// What every token begins with.
pub(crate) const MARK: &str = "mem_";

/// A token, as its owner holds it: `mem_ID_SECRET`. Shown only by [`Token::reveal`].
///
/// ```
/// use memory_server::Token;
///
/// let token = Token::fresh()?;
/// assert!(token.reveal().starts_with("mem_"));
/// assert!(!format!("{token:?}").contains(&token.reveal()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    id: String,
    secret: String,
}

impl Token {
    /// Returns a new token of 256 random bits.
    ///
    /// # Errors
    /// The platform gives no random bytes.
    pub fn fresh() -> std::io::Result<Self> {
        let (mut id, mut secret) = ([0; ID], [0; SECRET]);
        getrandom::fill(&mut id).map_err(std::io::Error::other)?;
        getrandom::fill(&mut secret).map_err(std::io::Error::other)?;
        Ok(Self { id: hex(&id), secret: hex(&secret) })
    }

    /// Reads a token; none if the text is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(MARK)?.split_once('_')?;
        let is_hex = |text: &str, bytes: usize| {
            text.len() == 2 * bytes && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_token = is_hex(id, ID) && is_hex(secret, SECRET);
        is_token.then(|| Self { id: id.to_owned(), secret: secret.to_owned() })
    }

    /// Returns the public id that `text` names: itself, or a token, whole or cut short, whose secret is left out.
    ///
    /// ```
    /// use memory_server::Token;
    ///
    /// let token = Token::fresh()?;
    /// assert_eq!(Token::id_in(&token.reveal()), token.id());
    /// assert_eq!(Token::id_in(token.id()), token.id());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn id_in(text: &str) -> &str {
        let text = text.trim();
        let bare = text.strip_prefix(MARK).unwrap_or(text);
        bare.split_once('_').map_or(bare, |(id, _)| id)
    }

    /// Returns the public id, by which it is found and revoked.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the token as it is sent.
    pub fn reveal(&self) -> String {
        format!("{MARK}{}_{}", self.id, self.secret)
    }

    /// Returns the digest of the secret. One round is enough: nobody guesses 256 random bits.
    pub(crate) fn digest(&self) -> Digest {
        Digest(Sha256::digest(&self.secret).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", self.id)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads what [`hex`] wrote of a digest.
fn unhex(text: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    if text.len() != 2 * digest.len() {
        return None;
    }
    for (place, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(Digest(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_nothing_else_is_one() {
        let token = Token::fresh().unwrap();
        let text = token.reveal();
        assert_eq!(Token::parse(&text), Some(token.clone()));
        assert_eq!(text.len(), 4 + 16 + 1 + 64);
        assert_ne!(Token::fresh().unwrap(), token);
        let upper = text.to_uppercase();
        for text in ["", "mem_", "mem__", &text[1..], &text[..84], &upper, &format!("{text}0"), &format!("{text} ")] {
            assert_eq!(Token::parse(text), None, "{text}");
        }
    }

    #[test]
    fn digests_are_written_as_they_are_read() {
        let digest = Token::fresh().unwrap().digest();
        assert_eq!(unhex(&hex(&digest.0)), Some(digest));
        assert_eq!((unhex("00"), unhex(&"zz".repeat(32))), (None, None));
    }
}
