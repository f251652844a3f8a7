//! The prompt `recall`: what the memory holds that matters for a request, for a person to put into a conversation.

use rmcp::model::{ErrorData, GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::answer::Fitting;
use super::gather::{NOTHING, gathered};
use crate::caller::Caller;
use crate::problem::Problem;
use crate::token::Right;

const RECALL: &str = "recall";

pub(super) fn listed() -> Vec<Prompt> {
    let query = PromptArgument::new("query").with_description("What it is about").with_required(true);
    vec![Prompt::new(RECALL, Some("Puts what is remembered about something into the conversation"), Some(vec![query]))]
}

/// Returns the prompt.
pub(super) async fn get(
    request: &GetPromptRequestParams,
    caller: &Caller,
    fitting: &Fitting,
) -> Result<GetPromptResult, ErrorData> {
    if request.name != RECALL {
        return Err(ErrorData::invalid_params("there is no such prompt", None));
    }
    let query = request.arguments.as_ref().and_then(|arguments| arguments.get("query")).and_then(Value::as_str);
    let query = query.ok_or_else(|| ErrorData::invalid_params("the prompt needs a query", None))?;
    let refused = |why: String| ErrorData::invalid_params(why, None);
    let ada = caller.allowed(Right::Read).map_err(|problem| refused(problem.words()))?;
    let text = gathered(ada, query, None, fitting).await.map_err(|error| refused(Problem::from(error).words()))?;
    let text = text.unwrap_or_else(|| NOTHING.to_owned());
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
