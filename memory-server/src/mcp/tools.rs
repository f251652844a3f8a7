//! The tools of a profile: as they are listed, and as they are called.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::answer::{Answer, Fitting};
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
