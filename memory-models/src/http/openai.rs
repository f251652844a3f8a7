//! OpenAI, and the servers that are compatible with it.

mod chat;
mod embeddings;

use std::sync::Arc;

use memory_core::Result;

use super::chat::HttpChat;
use super::client::{Client, KeyIn};
use super::config::HttpConfig;
use super::dialect::ChatDialect;
use super::embedder::EmbedderOptions;

/// The name of these servers in errors.
const OPENAI: &str = "openai";
/// The host of OpenAI itself; those of its regions end with it.
const HOST: &str = "api.openai.com";
/// How many texts and tokens are embedded at once by OpenAI, which takes 2,048 and 300,000.
const BATCH: (usize, u64) = (256, 100_000);
/// The same of servers that are compatible: some take no more than 32 texts.
const SMALL_BATCH: (usize, u64) = (32, 30_000);

/// OpenAI, Azure OpenAI, and servers that are compatible with them, such as vLLM, llama.cpp and LM Studio. Cheap to clone; clones share
/// their connections and bounds.
///
/// ```no_run
/// use memory_models::{HttpConfig, OpenAi};
///
/// # async fn example(key: &str) -> memory_core::Result<()> {
/// let openai = OpenAi::new(key)?;
/// let chat = openai.chat("gpt-5-mini");
/// let embedder = openai.embedder("text-embedding-3-small").open().await?;
///
/// let vllm = OpenAi::compatible(HttpConfig::new("http://127.0.0.1:8000/v1")?)?;
/// let azure = "https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT?api-version=2024-10-21";
/// let azure = OpenAi::azure(HttpConfig::new(azure)?.with_key(key))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OpenAi {
    client: Arc<Client>,
    chat: &'static ChatDialect,
    batch: (usize, u64),
}

impl OpenAi {
    /// Where OpenAI itself is asked.
    pub const URL: &str = "https://api.openai.com/v1";

    /// Returns OpenAI itself, with the usual patience.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn new(key: impl Into<String>) -> Result<Self> {
        Self::with_config(HttpConfig::new(Self::URL)?.with_key(key))
    }

    /// Returns OpenAI itself, or what stands before it, asked as `config` says.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn with_config(config: HttpConfig) -> Result<Self> {
        Ok(Self { client: client(config, KeyIn::Bearer)?, chat: &chat::OWN, batch: BATCH })
    }

    /// Returns a server that is compatible with OpenAI. Its address ends where `/chat/completions` follows, usually with `/v1`. Chat
    /// models at OpenAI's own address are asked as those of [`OpenAi::with_config`].
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn compatible(config: HttpConfig) -> Result<Self> {
        // Whoever names OpenAI's own address means OpenAI, which refuses the older names.
        let is_own = config.host() == HOST || config.host().ends_with(&format!(".{HOST}"));
        let chat = if is_own { &chat::OWN } else { &chat::COMPATIBLE };
        Ok(Self { client: client(config, KeyIn::Bearer)?, chat, batch: SMALL_BATCH })
    }

    /// Returns a deployment of Azure OpenAI. Its address ends with the name of the deployment and has the version of the API as its
    /// query, or is that of the newer API and ends with `/openai/v1`. The key goes into the header `api-key`.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub fn azure(config: HttpConfig) -> Result<Self> {
        Ok(Self { client: client(config, KeyIn::Header("api-key"))?, chat: &chat::OWN, batch: BATCH })
    }

    /// Returns the chat model of this name.
    pub fn chat(&self, model: impl Into<String>) -> HttpChat {
        HttpChat::new(Arc::clone(&self.client), model, self.chat)
    }

    /// Returns the embedder of this name, to be opened.
    pub fn embedder(&self, model: impl Into<String>) -> EmbedderOptions {
        EmbedderOptions::new(Arc::clone(&self.client), model.into(), &embeddings::DIALECT, self.batch)
    }
}

fn client(config: HttpConfig, key: KeyIn) -> Result<Arc<Client>> {
    Ok(Arc::new(Client::new(OPENAI, config, key, &[])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_names_the_address_of_openai_is_asked_as_openai() {
        let chat = |url: &str| OpenAi::compatible(HttpConfig::new(url).unwrap()).unwrap().chat;
        for url in [OpenAi::URL, "https://eu.api.openai.com/v1"] {
            assert!(std::ptr::eq(chat(url), &chat::OWN), "{url}");
        }
        for url in ["http://127.0.0.1:8000/v1", "https://myapi.openai.com/v1", "https://api.openai.com.example/v1"] {
            assert!(std::ptr::eq(chat(url), &chat::COMPATIBLE), "{url}");
        }
    }
}
