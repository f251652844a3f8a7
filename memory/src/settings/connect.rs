//! Opening the stores that settings name.

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::model::Embedder;
use memory_core::{Away, Error, Result, Stores};

use super::keys::{BOARD, CACHE, EMBEDDING_MODEL, TEXT, VECTOR_SEARCH, VECTORS};
use super::{Settings, build, check, journal, models};
use crate::backend::{Backend, Wanted, open};

impl Settings {
    /// Opens the stores, without a memory over them.
    ///
    /// A server of an index or a cache that does not answer is named in [`Stores::away`], and asked again when it is needed:
    /// until then searches answer without it, and say so. So is a model over HTTP that does not answer: then search is by words alone.
    /// Truth has to answer, unless there is a journal. A place that its settings switch off is named in [`Stores::disabled`].
    ///
    /// # Errors
    /// As [`Settings::open`].
    pub async fn connect(self) -> Result<Stores> {
        self.check()?;
        self.check_places()?;
        let place = self.truth().ok_or_else(|| Error::invalid("no place is named for the truth"))?.to_owned();
        let truth = Backend::of(&place)?;
        let (embedders, not_asked) = self.embedders().await?;
        let (values, policy, named) = (&self.values, build::guards(&self.values), self.values.named());
        if values.has(&VECTORS) && !values.is_ambient(&VECTORS) && embedders.is_empty() && not_asked.is_none() {
            return Err(Error::invalid("search by meaning needs an embedder"));
        }
        let may_be_away = self.journal().is_some();
        let analysis = Analysis::english();
        let said = |key| values.text(key).map(str::to_owned);
        let beside = |can: bool| can.then(|| place.clone());
        let text = said(&TEXT).or_else(|| beside(truth.holds_text()));
        let vectors = said(&VECTORS).filter(|_| !embedders.is_empty()).or_else(|| beside(truth.holds_vectors()));
        let (cache, board) = (said(&CACHE), said(&BOARD).or_else(|| beside(truth.holds_shared_boards())));
        let is_dispensable = self.is_unasked && !values.has(&EMBEDDING_MODEL) && vectors.as_ref() == Some(&place);
        let (mut stores, mut opened) = (Stores::default(), Vec::new());
        stores.away.extend(not_asked);
        for url in [Some(&place), text.as_ref(), vectors.as_ref(), cache.as_ref(), board.as_ref()].into_iter().flatten()
        {
            if opened.contains(&url) {
                continue;
            }
            opened.push(url);
            let here = |part: &Option<String>| part.as_ref() == Some(url);
            let wanted = Wanted {
                truth: *url == place,
                analysis: here(&text).then_some(&analysis),
                embedders: if here(&vectors) { &embedders } else { &[] },
                cache: here(&cache),
                board: here(&board).then(|| build::boards(values)),
                named: &named,
                policy: &policy,
            };
            if !wanted.is_anything() {
                continue;
            }
            let part = match open(url, &wanted, may_be_away).await {
                Err(why @ Error::Unsupported { .. }) if wanted.truth && is_dispensable => {
                    let part = open(url, &Wanted { embedders: &[], ..wanted }, may_be_away).await?;
                    stores.away.push(Away { backend: truth.name(), why });
                    part
                }
                part => part?,
            };
            stores = stores.or(part);
        }
        stores.journal = journal::open(self.journal(), &place, values).await?;
        stores.behind = build::flushes(values);
        Ok(stores)
    }

    /// Returns `Ok` if what is said can be together.
    fn check(&self) -> Result<()> {
        self.values.check_environment()?;
        match check::wrong(&self.values).into_iter().next() {
            Some(wrong) => Err(Error::invalid(format!("{}: {}: {}", wrong.key.path, wrong.what, wrong.remedy))),
            None => Ok(()),
        }
    }

    /// Returns who embeds, the first of them as it was given or named, and why a named one is not asked.
    async fn embedders(&self) -> Result<(Vec<Arc<dyn Embedder>>, Option<Away>)> {
        let mut embedders = self.embedders.clone();
        if self.values.flag(&VECTOR_SEARCH) == Some(false) {
            return Ok((Vec::new(), None));
        }
        match models::embedder(&self.values).await {
            Ok(Some(named)) => match embedders.first_mut().filter(|_| self.is_unasked) {
                Some(first) => *first = named,
                None => embedders.insert(0, named),
            },
            Ok(None) => {}
            Err(why) if why.is_retryable() => return Ok((Vec::new(), Some(Away { backend: "embedder", why }))),
            Err(error) => return Err(error),
        }
        if let Some(first) = embedders.first() {
            models::check_dimension(&self.values, first.as_ref())?;
        }
        Ok((embedders, None))
    }
}
