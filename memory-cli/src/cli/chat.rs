//! `memory chat`, and who answers in it.

use clap::Args;

use super::Bounds;
use crate::provider::Provider;

/// `memory chat`.
#[derive(Args, Debug)]
pub(crate) struct Chat {
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    #[command(flatten)]
    pub(crate) answering: Answering,
}

/// Who answers.
#[derive(Args, Debug)]
pub(crate) struct Answering {
    /// Who runs the model that --model names, so that it answers [default: with --base-url a server that is compatible with OpenAI]
    #[arg(long, value_enum, value_name = "WHO")]
    pub(crate) provider: Option<Provider>,
    /// Where the model is asked, such as http://127.0.0.1:8000/v1; of Azure with its deployment and ?api-version=
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the key [default: the vendor's own, which goes to the vendor alone, else MEMORY_API_KEY]
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) key_env: Option<String>,
    /// The most tokens of an answer [default: as the model does]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_tokens: Option<u64>,
    /// Shows what was recalled before each answer; /why shows all of the context behind the last one
    #[arg(long)]
    pub(crate) show_recalled: bool,
    /// Has the model summarise what outgrows the budget [default: an extract, without a model]
    #[arg(long)]
    pub(crate) summaries: bool,
    /// Has the model find facts in what people say, of all owners, also in what was said before [default: as `memory facts` tells]
    #[arg(long)]
    pub(crate) facts: bool,
}

impl Answering {
    /// Returns whether somebody answers.
    pub(crate) fn is_wished(&self) -> bool {
        self.provider.is_some() || self.base_url.is_some()
    }
}
