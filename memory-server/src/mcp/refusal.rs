//! Why a tool did not do what it was asked for: words that the model can act on.

use memory::Error;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::problem::Problem;

/// Why a tool did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

impl Refusal {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Problem::from(error).into()
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(problem.words())
    }
}

/// Reads the arguments of a tool.
pub(crate) fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Refusal> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Refusal(format!("the arguments are not right: {error}")))
}
