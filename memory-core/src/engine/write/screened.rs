//! The write gate of a request: its text without secrets, with the trust of its sources, in quarantine if it gives orders.

use std::borrow::Cow;

use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::screen::{Finding, TAG};
use crate::time::Timestamp;

use super::remember::Remember;
use super::sources::added;

/// The year 9999. What is true only from then on is in no search.
const NEVER: Timestamp = Timestamp(253_370_764_800_000_000);

/// A request after its gate looked at it.
pub(super) struct Screened<'a> {
    pub(super) remember: Cow<'a, Remember>,
    /// What the gate found.
    pub(super) findings: Vec<Finding>,
    pub(super) is_quarantined: bool,
}

impl<'a> Screened<'a> {
    fn of(remember: Cow<'a, Remember>) -> Self {
        Self { remember, findings: Vec::new(), is_quarantined: false }
    }
}

impl Scoped {
    /// Looks at what is to be remembered, if it asks for that.
    pub(super) async fn screened<'a>(&self, remember: &'a Remember) -> Result<Screened<'a>> {
        let Some(screen) = remember.screen else { return Ok(Screened::of(Cow::Borrowed(remember))) };
        let (mut screened, mut findings) = (remember.clone(), Vec::new());
        let least = self.inner().least_trust(self.scope(), &added(&remember.record, None)).await?;
        let told = &mut screened.record.first;
        if let Some(least) = least.filter(|least| *least < told.trust) {
            told.trust = least;
            findings.push(Finding::SourceTrust);
        }
        let looked = screen.look_at(&screened.record.text, told.trust);
        let is_quarantined = looked.is_quarantined();
        if is_quarantined {
            told.tags.push(TAG.to_owned());
            (told.valid_from, told.valid_to, told.pinned) = (Some(NEVER), None, false);
        }
        screened.record.text = looked.text;
        findings.extend(looked.findings);
        Ok(Screened { findings, is_quarantined, ..Screened::of(Cow::Owned(screened)) })
    }
}
