//! Which tools an agent is offered, and within which bounds.

use std::collections::BTreeMap;
use std::str::FromStr;

use memory::{Error, Result};

/// A set of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// `search_memories get_context add_memory update_memory list_memories delete_memory`.
    #[default]
    Core,
    /// `search fetch`, as ChatGPT asks for them.
    Chatgpt,
    /// The nine tools of the reference memory server, with its shapes: a graph of entities and relations.
    Graph,
    /// One tool `memory` with `view create str_replace insert delete rename` under `/memories`.
    Files,
}

impl Profile {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Chatgpt => "chatgpt",
            Self::Graph => "graph",
            Self::Files => "files",
        }
    }
}

impl FromStr for Profile {
    type Err = Error;

    /// Reads the name of a profile.
    ///
    /// # Errors
    /// `Invalid` for another name.
    fn from_str(name: &str) -> Result<Self> {
        let known =
            [Self::Core, Self::Chatgpt, Self::Graph, Self::Files].into_iter().find(|profile| profile.name() == name);
        known.ok_or_else(|| Error::invalid("the profiles of tools are core, chatgpt, graph and files"))
    }
}

/// What agents are offered.
#[derive(Clone, Debug)]
pub struct Agents {
    /// Which tools. Default [`Profile::Core`].
    pub profile: Profile,
    /// The most tokens of a result, unless the call asks for another number: 200 to 100,000. Default 1,500; 20,000 for
    /// [`Profile::Graph`], whose clients read the whole graph.
    pub max_tokens: Option<u64>,
    /// Whether an agent may forget a whole conversation, or everything, and not only what it names by ids. Default false.
    pub allow_forget: bool,
    /// Descriptions of tools in place of those that they have, by the tool's name.
    pub descriptions: BTreeMap<String, String>,
}

impl Default for Agents {
    fn default() -> Self {
        Self { profile: Profile::Core, max_tokens: None, allow_forget: false, descriptions: BTreeMap::new() }
    }
}

impl Agents {
    /// Returns the most tokens of a result.
    pub(crate) fn bound(&self) -> u64 {
        self.max_tokens.unwrap_or(if self.profile == Profile::Graph { 20_000 } else { 1_500 })
    }
}
