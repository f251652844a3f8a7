//! Who runs models over HTTP.

use clap::ValueEnum;

/// Who runs a model over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Provider {
    /// OpenAI, by OPENAI_API_KEY
    Openai,
    /// Azure OpenAI, by AZURE_OPENAI_API_KEY and --base-url
    Azure,
    /// Anthropic, by ANTHROPIC_API_KEY
    Anthropic,
    /// Ollama, on this machine unless --base-url says where
    Ollama,
}

/// An embedder over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// By whose API it is asked.
    pub(crate) provider: Provider,
    /// Its name; none for what Ollama has for it.
    pub(crate) model: Option<String>,
    /// Where it is asked, if that is another server than the vendor's.
    pub(crate) url: Option<String>,
}
