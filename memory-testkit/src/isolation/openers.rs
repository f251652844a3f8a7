//! Opens the stores of a suite together.

use memory_core::Result;

use super::stores::Stores;
use crate::bed::{Boards, Caches, Chat, Journals, Opener, Records, Setting, Texts, Vectors, opener};

/// Enough for what all owners of a run have in a queue at one time.
const CAPACITY: usize = 4_096;

/// The openers that a suite was given.
#[derive(Clone, Default)]
pub(crate) struct Openers {
    pub(crate) chat: Option<Opener<Chat>>,
    pub(crate) records: Option<Opener<Records>>,
    pub(crate) text: Option<Opener<Texts>>,
    pub(crate) vectors: Option<Opener<Vectors>>,
    pub(crate) cache: Option<Opener<Caches>>,
    pub(crate) blackboard: Option<Opener<Boards>>,
    pub(crate) journal: Option<Opener<Journals>>,
    /// The conversations that a whole memory puts a journal before, where those above have one.
    pub(crate) before: Option<Opener<Chat>>,
}

impl Openers {
    /// Returns the opener of all of them over one setting.
    pub(crate) fn all(&self) -> Opener<Stores> {
        let openers = self.clone();
        opener(move |setting| {
            let Openers { chat, records, text, vectors, cache, blackboard, journal, before: _ } = openers.clone();
            let setting = Setting { capacity: CAPACITY, ..setting };
            async move {
                Ok(Stores {
                    chat: open(chat, &setting).await?,
                    records: open(records, &setting).await?,
                    text: open(text, &setting).await?,
                    vectors: open(vectors, &setting).await?,
                    cache: open(cache, &setting).await?,
                    blackboard: open(blackboard, &setting).await?,
                    journal: open(journal, &setting).await?,
                    is_behind: false,
                })
            }
        })
    }
}

async fn open<S>(open: Option<Opener<S>>, setting: &Setting) -> Result<Option<S>> {
    match open {
        Some(open) => Ok(Some(open(setting.clone()).await?)),
        None => Ok(None),
    }
}
