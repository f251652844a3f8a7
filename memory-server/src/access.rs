//! Which tokens open anything now: those of the file, as it is at most a few seconds later, and those of this process.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use memory::Timestamp;

use crate::token::{Grant, Stamp, Token, TokenFile};

/// The tokens that open a server. Cheap to clone.
///
/// ```
/// use memory::Timestamp;
/// use memory_server::{Grant, Rights, Token, Tokens};
///
/// let token = Token::fresh()?;
/// let grant = Grant::new(&token, "acme", "ada", Rights::all(), Timestamp(0)).map_err(std::io::Error::other)?;
/// let tokens = Tokens::default().with(grant); // or `Tokens::of_file(file)?`
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    file: Option<TokenFile>,
    own: Vec<Arc<Grant>>,
    known: Arc<RwLock<Known>>,
}

/// What the file holds.
#[derive(Debug, Default)]
struct Known {
    stamp: Option<Stamp>,
    grants: HashMap<String, Arc<Grant>>,
}

impl Tokens {
    /// Takes the tokens of a file, and follows the changes of the file.
    ///
    /// # Errors
    /// As [`TokenFile::grants`].
    pub fn of_file(file: TokenFile) -> io::Result<Self> {
        let known = Known { stamp: file.stamp(), grants: by_id(file.grants()?) };
        Ok(Self { file: Some(file), own: Vec::new(), known: Arc::new(RwLock::new(known)) })
    }

    /// Adds a token that lives as long as this process.
    #[must_use]
    pub fn with(mut self, grant: Grant) -> Self {
        self.own.push(Arc::new(grant));
        self
    }

    /// Reads the file again if it has changed. One that cannot be read opens nothing: whoever removes the file, or lets others
    /// read it, revokes its tokens.
    pub(crate) fn refresh(&self) {
        let Some(file) = &self.file else { return };
        let stamp = file.stamp();
        if stamp == self.known.read().unwrap_or_else(PoisonError::into_inner).stamp {
            return;
        }
        let known = match file.grants() {
            Ok(grants) => Known { stamp, grants: by_id(grants) },
            Err(error) => {
                tracing::error!(%error, "no token of the file opens anything");
                // Without a stamp, so that it is read again even if it does not change.
                Known::default()
            }
        };
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// Returns what `presented` opens at `now`. That nothing does takes the same time whatever is wrong with it.
    pub(crate) fn find(&self, presented: &str, now: Timestamp) -> Option<Arc<Grant>> {
        let token = Token::parse(presented)?;
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).grants.get(token.id()).cloned();
        let known = known.or_else(|| self.own.iter().find(|grant| grant.id() == token.id()).cloned());
        let grant = known.unwrap_or_else(|| Arc::new(Grant::of_nobody()));
        let (is_of, is_over) = (grant.is_of(&token), grant.is_over(now));
        (is_of && !is_over).then_some(grant)
    }

    /// Returns whether a grant that was found is the same at `now`.
    pub(crate) fn stands(&self, grant: &Grant, now: Timestamp) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).grants.get(grant.id()).cloned();
        let known = known.or_else(|| self.own.iter().find(|own| own.id() == grant.id()).cloned());
        known.is_some_and(|known| *known == *grant) && !grant.is_over(now)
    }
}

fn by_id(grants: Vec<Grant>) -> HashMap<String, Arc<Grant>> {
    grants.into_iter().map(|grant| (grant.id().to_owned(), Arc::new(grant))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Rights;

    fn granted(token: &Token, subject: &str) -> Grant {
        Grant::new(token, "acme", subject, Rights::all(), Timestamp(0)).unwrap()
    }

    #[test]
    fn a_change_of_the_file_counts_and_one_that_cannot_be_read_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::at(folder.path().join("tokens"));
        let (ada, bob) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        let tokens = Tokens::of_file(file.clone()).unwrap().with(granted(&bob, "bob"));
        let opens = |token: &Token| {
            tokens.refresh();
            tokens.find(&token.reveal(), Timestamp(1)).is_some()
        };
        assert_eq!((opens(&ada), opens(&bob)), (false, true));
        file.add(granted(&ada, "ada")).unwrap();
        assert!(opens(&ada));
        let stands = |token: &Token| tokens.stands(&granted(token, "ada"), Timestamp(1));
        assert!(stands(&ada) && !stands(&bob), "the token of another subject");
        assert!(file.remove(ada.id()).unwrap());
        assert!(!opens(&ada));
        assert!(!stands(&ada));
        file.add(granted(&ada, "*")).unwrap();
        assert!(opens(&ada));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
            assert_eq!(file.grants().unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            assert!(!opens(&ada));
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
            assert!(opens(&ada));
        }
        std::fs::write(file.path(), "{").unwrap();
        assert_eq!((opens(&ada), opens(&bob)), (false, true));
        assert_eq!(tokens.known.read().unwrap().stamp, None, "it is not read again");
    }

    #[test]
    fn another_secret_an_expired_token_and_an_unknown_one_open_nothing() {
        let (token, other) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        let tokens = Tokens::default().with(granted(&token, "ada").expiring(Timestamp(9)));
        assert_eq!(tokens.find(&token.reveal(), Timestamp(8)).unwrap().subject(), "ada");
        assert!(tokens.find(&token.reveal(), Timestamp(9)).is_none());
        let found = tokens.find(&token.reveal(), Timestamp(8)).unwrap();
        assert!(tokens.stands(&found, Timestamp(8)) && !tokens.stands(&found, Timestamp(9)));
        assert!(tokens.find(&other.reveal(), Timestamp(8)).is_none());
        let forged = format!("mem_{}_{}", token.id(), &other.reveal()[21..]);
        assert!(tokens.find(&forged, Timestamp(8)).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_root_changes_stays_its_users() {
        use std::os::unix::fs::{MetadataExt as _, chown};

        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::at(folder.path().join("tokens"));
        let add = || file.add(granted(&Token::fresh().unwrap(), "ada")).unwrap();
        let user = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().uid();
        add();
        // Only root gives a file away; for anybody else it is the own one still.
        let _ = chown(file.path(), Some(12_345), Some(12_345));
        let before = user("tokens");
        add();
        assert_eq!((user("tokens"), user("tokens.lock")), (before, before));
        assert_eq!(file.grants().unwrap().len(), 2);
    }

    #[test]
    fn tokens_that_many_processes_add_at_once_are_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::at(folder.path().join("tokens"));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                let file = file.clone();
                scope.spawn(move || (0..5).for_each(|_| file.add(granted(&Token::fresh().unwrap(), "ada")).unwrap()));
            }
        });
        assert_eq!(file.grants().unwrap().len(), 40);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
