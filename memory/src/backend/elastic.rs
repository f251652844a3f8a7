//! An Elasticsearch server: indexes of words and of meaning.

use super::kind::{Holds, Kind, Name};
use super::names::is_index;

const PREFIX: Name = Name {
    parameter: "prefix",
    is_legal: is_index,
    rule: "prefix has 1 to 128 lower-case ASCII letters, digits, - and _, and begins with a letter or a digit",
};

pub(super) const KIND: Kind = Kind {
    name: "elastic",
    schemes: &["elastic", "elastic+http", "elastic+https"],
    holds: Holds { text: true, vectors: true, ..Holds::NOTHING },
    parameters: &["deadline", "pool", "prefix"],
    names: &[PREFIX],
    is_server: true,
    #[cfg(feature = "elastic")]
    open: Some(|url, wanted| Box::pin(server::open(url, wanted))),
    #[cfg(not(feature = "elastic"))]
    open: None,
};

#[cfg(feature = "elastic")]
mod server {
    use std::sync::Arc;
    use std::time::Duration;

    use memory_core::{Disabled, Error, Result, Stores};
    use memory_elastic::{Configured, Elastic, ElasticConfig, ElasticText, ElasticVectors};

    use crate::backend::kind::Wanted;
    use crate::backend::tuning::Tuning;
    use crate::backend::url;

    /// How long a request and a bulk request may take, within the usual deadline.
    const REQUEST: Duration = Duration::from_secs(2);
    const BULK: Duration = Duration::from_secs(10);

    pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        let (url, tuning) = Tuning::take(url)?;
        let (url, prefix) = url::take(&url, "prefix");
        let mut config = match url::http(&url) {
            Some(url) => ElasticConfig::new(&url)?,
            None => match Configured::from_values(|name| wanted.named.get(name))?.enabled() {
                Ok(config) => config,
                Err(why) => return Ok(disabled(wanted, &why)),
            },
        };
        config = config
            .with_patience(tuning.share(wanted.policy, REQUEST))
            .with_bulk_patience(tuning.share(wanted.policy, BULK));
        if let Some(prefix) = prefix {
            config = config.with_prefix(&prefix)?;
        }
        let server = Elastic::connect(config).await?;
        let mut stores = Stores::default();
        if let Some(analysis) = wanted.analysis {
            stores.text = Some(Arc::new(ElasticText::open(&server, analysis.name()).await?));
        }
        for embedder in wanted.embedders {
            let store = ElasticVectors::open(&server, embedder.space().clone()).await?;
            stores.vectors.push((Arc::new(store), Arc::clone(embedder)));
        }
        Ok(stores)
    }

    /// Returns what is told of an unset host: the parts that are wanted, and why they are not there.
    fn disabled(wanted: &Wanted<'_>, why: &Error) -> Stores {
        let parts = [(wanted.analysis.is_some(), "text"), (!wanted.embedders.is_empty(), "vectors")];
        let parts = parts.into_iter().filter(|(is_wanted, _)| *is_wanted);
        let disabled = parts.map(|(_, part)| Disabled { part, backend: "elastic", why: why.clone() }).collect();
        Stores { disabled, ..Stores::default() }
    }
}
