//! The tools of a profile: as they are listed, and as they are called.

use memory::Error;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::answer::{Answer, Fitting, bounded};
use super::profile::{Agents, Profile};
use super::refusal::Refusal;
use super::tool::{Definition, Effect};
use super::{chatgpt, core, files, graph};
use crate::caller::Caller;

fn definitions(agents: &Agents) -> Vec<Definition> {
    match agents.profile {
        Profile::Core => core::definitions(agents),
        Profile::Chatgpt => chatgpt::definitions(),
        Profile::Graph => graph::definitions(),
        Profile::Files => files::definitions(),
    }
}

impl Agents {
    /// Returns `Ok` if agents can be offered this.
    ///
    /// # Errors
    /// `Invalid` if `max_tokens` is not from 200 to 100,000, and if a description is of a tool that the profile does not have.
    pub fn check(&self) -> memory::Result<()> {
        self.max_tokens.map_or(Ok(0), bounded)?;
        let tools: Vec<&str> = definitions(self).iter().map(|tool| tool.name).collect();
        match self.descriptions.keys().find(|name| !tools.contains(&name.as_str())) {
            Some(name) => {
                let (profile, tools) = (self.profile.name(), tools.join(" "));
                Err(Error::invalid(format!("there is no tool {name} to describe: those of {profile} are {tools}")))
            }
            None => Ok(()),
        }
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    }
}

/// Returns the tools as they are listed.
pub(super) fn listed(agents: &Agents) -> Vec<Tool> {
    let tool = |definition: Definition| {
        let Definition { name, description, effect, schema, answers } = definition;
        let description = agents.descriptions.get(name).cloned().unwrap_or_else(|| description.to_owned());
        let mut hints = ToolAnnotations::new();
        // What is the default is not said: it costs tokens in every conversation.
        match effect {
            Effect::Reads => hints.read_only_hint = Some(true),
            Effect::Adds => hints.destructive_hint = Some(false),
            Effect::Changes => {}
        }
        let mut tool = Tool::new(name, description, object(schema));
        if effect != Effect::Changes {
            tool = tool.with_annotations(hints);
        }
        match answers {
            Some(answers) => tool.with_raw_output_schema(object(answers).into()),
            None => tool,
        }
    };
    definitions(agents).into_iter().map(tool).collect()
}

/// Calls a tool; none if the profile has no such.
pub(super) async fn call(
    name: &str,
    arguments: Map<String, Value>,
    caller: &Caller,
    agents: &Agents,
    fitting: &Fitting,
) -> Option<Result<Answer, Refusal>> {
    match agents.profile {
        Profile::Core => core::call(name, arguments, caller, agents, fitting).await,
        Profile::Chatgpt => chatgpt::call(name, arguments, caller, fitting).await,
        Profile::Graph => graph::call(name, arguments, caller, fitting).await,
        Profile::Files => files::call(name, arguments, caller, fitting).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_cannot_be_offered_is_refused_and_named() {
        let check = |agents: Agents| agents.check().map_err(|error| error.to_string());
        for most in [None, Some(200), Some(100_000)] {
            assert_eq!(check(Agents { max_tokens: most, ..Agents::default() }), Ok(()));
        }
        for most in [0, 1, 199, 100_001, u64::MAX] {
            let why = check(Agents { max_tokens: Some(most), ..Agents::default() }).unwrap_err();
            assert!(why.ends_with("max_tokens is from 200 to 100000"), "{why}");
        }
        let describing = |profile, name: &str| {
            let descriptions = [(name.to_owned(), "Merke dir das.".to_owned())].into();
            check(Agents { profile, descriptions, ..Agents::default() })
        };
        for (profile, name) in [(Profile::Core, "add_memory"), (Profile::Files, "memory"), (Profile::Chatgpt, "fetch")]
        {
            assert_eq!(describing(profile, name), Ok(()));
        }
        let why = describing(Profile::Chatgpt, "add_memory").unwrap_err();
        assert!(why.ends_with("there is no tool add_memory to describe: those of chatgpt are search fetch"), "{why}");
    }
}
