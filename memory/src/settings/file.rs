//! Settings from a file, and the schema of such a file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::problem::{Problem, SettingsError};
use super::yaml::LARGEST;
use super::{Settings, read, schema, variable};

impl Settings {
    /// Reads a file of settings, YAML. References to secrets, `${{ secrets.NAME }}`, are resolved from the environment.
    ///
    /// `docs/settings.md` lists every setting; [`Settings::schema`] is for editors. What the file does not say may come from the
    /// environment: [`Settings::or_env`].
    ///
    /// # Errors
    /// All that is wrong in the file, each with its line and a remedy, or that it cannot be read. No secret is quoted.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SettingsError> {
        let path = path.as_ref();
        let text = text_of(path).map_err(|error| {
            let what = format!("the file {} cannot be read", path.display());
            SettingsError::new(vec![Problem::of_file(what, error.to_string())])
        })?;
        Self::from_yaml(&text, variable)
    }

    /// Reads settings from YAML. References to secrets are resolved by `secrets`, which is asked by their names.
    ///
    /// A secret is put into a value that is read already, so it changes nothing else of the file; in a URL it is encoded, and stands for a
    /// password or a key.
    ///
    /// ```
    /// use memory::Settings;
    ///
    /// let yaml = r#"
    /// memory:
    ///   buffer: { preset: conversational, max_size: 8 }
    ///   persistent:
    ///     provider: postgres
    ///     connection_string: "postgres://app:${{ secrets.DB_PASSWORD }}@db/memory"
    /// "#;
    /// let settings = Settings::from_yaml(yaml, |name| (name == "DB_PASSWORD").then(|| "s3cret@".to_owned())).unwrap();
    /// assert!(!format!("{settings:?}").contains("s3cret"));
    ///
    /// let error = Settings::from_yaml("memory:\n  buffer:\n    max_sise: 8\n", |_| None).unwrap_err();
    /// assert_eq!((error.problems()[0].line, error.problems()[0].remedy.as_str()), (3, "did you mean `max_size`?"));
    /// ```
    ///
    /// # Errors
    /// All that is wrong, each with its line and a remedy. No secret is quoted.
    pub fn from_yaml(text: &str, secrets: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        read::read(text, &secrets).map(Self::of).map_err(SettingsError::new)
    }

    /// Returns the JSON schema of a file of settings, of the draft 2020-12, indented.
    ///
    /// ```
    /// assert!(memory::Settings::schema().contains("\"window_messages\""));
    /// ```
    pub fn schema() -> String {
        format!("{:#}", schema::schema())
    }
}

/// Returns the text of a file; of one that is too large, and may have no end, as much as tells so.
fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LARGEST {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}
