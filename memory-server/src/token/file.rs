//! The file of tokens: for nobody but its user, replaced whole, and never with a secret in it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::grant::{Grant, Row};

/// The most bytes that are read: some hundred thousand tokens.
const MOST: u64 = 64 << 20;

/// A file of tokens. Several processes may use it at once.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("tokens.json");
/// use memory::Timestamp;
/// use memory_server::{Grant, Rights, Token, TokenFile};
///
/// let file = TokenFile::at(path);
/// let token = Token::fresh()?;
/// let grant = Grant::new(&token, "acme", "ada", Rights::all(), Timestamp(0)).map_err(std::io::Error::other)?;
/// file.add(grant)?;
/// assert_eq!(file.grants()?[0].subject(), "ada");
/// assert!(file.remove(token.id())?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    tokens: Vec<Row>,
}

/// What tells one state of the file from another, without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64, Option<std::time::SystemTime>, u64);

impl TokenFile {
    /// Names the file. It need not be there.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what it holds; nothing if it is not there.
    ///
    /// # Errors
    /// `PermissionDenied` if others than its user may read it; `InvalidData` if it is no file of tokens.
    pub fn grants(&self) -> io::Result<Vec<Grant>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        self.check_private(&file)?;
        let mut text = String::new();
        file.take(MOST).read_to_string(&mut text)?;
        let damaged =
            || io::Error::new(ErrorKind::InvalidData, format!("{} is no file of tokens", self.path.display()));
        let content: Content = serde_json::from_str(&text).map_err(|_| damaged())?;
        if content.version != 1 {
            return Err(damaged());
        }
        content.tokens.into_iter().map(|row| Grant::of_row(row).ok_or_else(damaged)).collect()
    }

    /// Adds a token. When this returns, it is on the disk.
    ///
    /// # Errors
    /// As [`TokenFile::grants`], and if the file cannot be written.
    pub fn add(&self, grant: Grant) -> io::Result<()> {
        self.change(|grants| grants.push(grant))
    }

    /// Removes the token with this public id, and returns whether it was there.
    ///
    /// # Errors
    /// As [`TokenFile::add`].
    pub fn remove(&self, id: &str) -> io::Result<bool> {
        let mut was_there = false;
        self.change(|grants| {
            let before = grants.len();
            grants.retain(|grant| grant.id() != id);
            was_there = grants.len() < before;
        })?;
        Ok(was_there)
    }

    /// Returns what tells its present state from others; none if it is not there.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let metadata = std::fs::metadata(&self.path).ok()?;
        #[cfg(unix)]
        let place = std::os::unix::fs::MetadataExt::ino(&metadata) ^ u64::from(mode(&metadata)).rotate_left(48);
        #[cfg(not(unix))]
        let place = 0;
        Some(Stamp(metadata.len(), metadata.modified().ok(), place))
    }

    fn check_private(&self, file: &File) -> io::Result<()> {
        #[cfg(unix)]
        if mode(&file.metadata()?) & 0o077 != 0 {
            let path = self.path.display();
            let refused = format!("others may read {path}, which holds tokens: chmod 600 {path}");
            return Err(io::Error::new(ErrorKind::PermissionDenied, refused));
        }
        let _ = file;
        Ok(())
    }

    /// Changes the file alone among all processes: another is written and put in its place.
    fn change(&self, change: impl FnOnce(&mut Vec<Grant>)) -> io::Result<()> {
        // What a link names, in the place where it is: a file in the place of the link would leave that one as it was.
        let path = self.resolved()?;
        // A lock beside it: the file itself is another one after each change.
        let lock = private(OpenOptions::new().write(true).create(true)).open(beside(&path, ".lock"))?;
        keep_user(&lock, &path)?;
        lock.lock()?;
        let mut grants = self.grants()?;
        change(&mut grants);
        let content = Content { version: 1, tokens: grants.iter().map(Grant::to_row).collect() };
        let fresh = beside(&path, ".new");
        // What a process left here that was killed.
        match std::fs::remove_file(&fresh) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&fresh)?;
        keep_user(&file, &path)?;
        let mut text = serde_json::to_vec_pretty(&content)?;
        text.push(b'\n');
        file.write_all(&text)?;
        file.sync_all()?;
        std::fs::rename(&fresh, &path)?;
        sync_folder(&path)
    }

    /// Returns the path of the file itself. A link to nothing is refused, for nobody knows where the file would be.
    fn resolved(&self) -> io::Result<PathBuf> {
        match std::fs::canonicalize(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound && !self.path.is_symlink() => Ok(self.path.clone()),
            path => path,
        }
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut path: OsString = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

#[cfg(unix)]
fn mode(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o7777
}

/// Lets a file be made for its user alone.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Gives a file to the user of the one at `path`, if there is one: whoever runs the server could not read what root has changed.
fn keep_user(file: &File, path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};

        let known = match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            known => known?,
        };
        if file.metadata()?.uid() != known.uid() {
            fchown(file, Some(known.uid()), Some(known.gid()))?;
        }
    }
    let _ = (file, path);
    Ok(())
}

/// Makes the new name of a file lasting.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    let _ = path;
    Ok(())
}
