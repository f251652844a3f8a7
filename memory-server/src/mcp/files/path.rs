//! Paths under `/memories`. They name records of one owner and nothing of the machine.

use crate::mcp::refusal::Refusal;

/// What every path begins with.
pub(super) const ROOT: &str = "/memories";

/// The most bytes of a path.
const MOST: usize = 1_024;

/// A path, without a slash at its end: `/memories`, or below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(String);

impl Place {
    /// Reads a path as an agent writes it.
    pub(super) fn parse(path: &str) -> Result<Self, Refusal> {
        let rest = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let rest = rest.ok_or_else(|| Refusal::new(format!("Path must start with {ROOT}, got: {path}")))?;
        let mut parts = Vec::new();
        for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return Err(Refusal::new(format!("Path {path} would escape {ROOT} directory")));
            }
            if part.contains(char::is_control) {
                return Err(Refusal::new("A path holds no control characters."));
            }
            parts.push(part);
        }
        let place = Self([&[ROOT], parts.as_slice()].concat().join("/"));
        if place.0.len() > MOST {
            return Err(Refusal::new(format!("A path has at most {MOST} bytes.")));
        }
        Ok(place)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn is_root(&self) -> bool {
        self.0 == ROOT
    }

    /// Returns what is below `self` of a path; none if it is not below.
    pub(super) fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&self.0)?.strip_prefix('/')
    }

    /// Returns the folders that the path lies in, without the root.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        let ends = self.0.char_indices().filter(|(place, letter)| *letter == '/' && *place > ROOT.len());
        ends.filter_map(|(place, _)| self.0.get(..place))
    }

    /// Returns the place of what lies at `rest` below it.
    pub(super) fn with(&self, rest: &str) -> Result<Self, Refusal> {
        Self::parse(&format!("{}/{rest}", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_under_its_root() {
        let parsed = |path: &str| Place::parse(path).map(|place| place.0).ok();
        for (path, place) in
            [("/memories", "/memories"), ("/memories/", "/memories"), ("/memories//a/./b/", "/memories/a/b")]
        {
            assert_eq!(parsed(path).as_deref(), Some(place));
        }
        for path in
            ["", "/", "/etc", "memories/a", "/memoriesx", "/memories/../etc", "/memories/a/../../b", "/memories/a\nb"]
        {
            assert_eq!(parsed(path), None, "{path}");
        }
        let folder = Place::parse("/memories/a").unwrap();
        assert_eq!(folder.below("/memories/a/b/c"), Some("b/c"));
        assert_eq!((folder.below("/memories/ab"), folder.below("/memories/a")), (None, None));
        let folders: Vec<_> = Place::parse("/memories/a/b/c").unwrap().folders().map(str::to_owned).collect();
        assert_eq!(folders, ["/memories/a", "/memories/a/b"]);
    }
}
