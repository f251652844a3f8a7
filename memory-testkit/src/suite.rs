//! The conformance tests of a backend: all that its `tests/conformance.rs` runs.

mod gaps;
mod official;
#[cfg(feature = "containers")]
mod own;
mod presence;
mod report;
mod stage;
mod summary;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};
use memory_core::Result;
use tokio::runtime::{Builder, Handle};

use crate::bed::{
    Boards, Caches, Chat, Embedders, Journals, Opener, Records, Setting, Subject, Summarizers, Texts, Vectors, opener,
};
use crate::boxed::Boxed;
use crate::isolation::{self, Openers};
use crate::scenario::Scenario;
use crate::trial::{Played, Verdict, play};
use crate::{
    behind, blackboard, cache, chat, embedder, environment, forgetting, journal, memory, records, summarizer, text,
    vectors,
};
use gaps::Gap;
pub use official::{OFFICIAL_ONLY, OfficialOnly};
pub use presence::Presence;
use stage::{Need, Stage};
use summary::Summary;

/// How long tasks may take to end after the last scenario.
const GRACE: Duration = Duration::from_secs(5);

/// The scenarios of a backend.
///
/// ```no_run
/// # use std::process::ExitCode;
/// # use memory_core::{Error, Truth};
/// use memory_testkit::{Chat, Setting, Suite};
///
/// async fn open(setting: Setting) -> memory_core::Result<Chat> {
///     // Truth::chat(Arc::new(MyChat::open(&setting.name).await?))
/// #   Err(Error::Overloaded)
/// }
///
/// fn main() -> ExitCode {
///     Suite::new("mine").chat(open).gap("chat::keeps_every_name", "names over 100 bytes are cut").run()
/// }
/// ```
pub struct Suite {
    name: &'static str,
    plans: Vec<PlannedTest>,
    given: Openers,
    gaps: Vec<Gap>,
    official_only: &'static [OfficialOnly],
    stage: Stage,
    url: Arc<OnceLock<String>>,
}

/// Plays a test once what it needs is there.
type Play = Box<dyn FnOnce(&Stage) -> Boxed<'static, Played> + Send>;

/// A scenario with the store it is to be played on, or a test of the backend's own.
struct PlannedTest {
    name: String,
    need: Need,
    play: Play,
}

macro_rules! groups {
    ($($(#[$doc:meta])* $group:ident: $store:ty = $module:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $group<F, R>(self, open: F) -> Self
        where
            F: Fn(Setting) -> R + Send + Sync + 'static,
            R: Future<Output = Result<$store>> + Send + 'static,
        {
            let open = self.on_server(opener(open));
            let mut suite = self.plan(stringify!($group), &$module::table(), &open);
            suite.given.$group = Some(open);
            suite
        }
    )*};
}

impl Suite {
    /// Returns an empty suite of the backend called `name`.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            plans: Vec::new(),
            given: Openers::default(),
            gaps: Vec::new(),
            official_only: OFFICIAL_ONLY,
            stage: Stage::default(),
            url: Arc::default(),
        }
    }

    groups! {
        /// Adds the scenarios of conversation stores and their upkeep.
        chat: Chat = chat;
        /// Adds the scenarios of record stores and their upkeep.
        records: Records = records;
        /// Adds the scenarios of text stores.
        text: Texts = text;
        /// Adds the scenarios of vector stores.
        vectors: Vectors = vectors;
        /// Adds the scenarios of caches.
        cache: Caches = cache;
        /// Adds the scenarios of blackboards.
        blackboard: Boards = blackboard;
        /// Adds the scenarios of journals.
        journal: Journals = journal;
    }

    /// Adds the scenarios of conversation stores, played on these conversations with a journal before them; a whole memory gets a
    /// journal of its own. What differs is declared (`behind::GAPS`).
    #[must_use]
    pub fn behind<F, R, G, Q>(self, chat: F, journal: G) -> Self
    where
        F: Fn(Setting) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Chat>> + Send + 'static,
        G: Fn(Setting) -> Q + Send + Sync + 'static,
        Q: Future<Output = Result<Journals>> + Send + 'static,
    {
        let (primary, journal) = (self.on_server(opener(chat)), self.on_server(opener(journal)));
        let before = primary.clone();
        let open: Opener<Chat> = Arc::new(move |setting: Setting| {
            let (primary, journal) = (primary(setting.clone()), journal(setting));
            Box::pin(async move { behind::behind(primary.await?, journal.await?).await })
        });
        let mut suite = self.plan("chat", &chat::table(), &open);
        (suite.given.chat, suite.given.before) = (Some(open), Some(before));
        behind::GAPS.iter().fold(suite, |suite, (scenario, reason)| suite.gap(scenario, reason))
    }

    /// Adds the scenarios of embedders. They hold nothing of any owner, so isolation has nothing to try on them.
    #[must_use]
    pub fn embedder<F, R>(self, open: F) -> Self
    where
        F: Fn(Setting) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Embedders>> + Send + 'static,
    {
        let open = self.on_server(opener(open));
        self.plan("embedder", &embedder::table(), &open)
    }

    /// Adds the scenarios of summarisers. They hold nothing of any owner, so isolation has nothing to try on them.
    #[must_use]
    pub fn summarizer<F, R>(self, open: F) -> Self
    where
        F: Fn(Setting) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Summarizers>> + Send + 'static,
    {
        let open = self.on_server(opener(open));
        self.plan("summarizer", &summarizer::table(), &open)
    }

    /// Declares that the backend does not keep the promise `scenario`, such as `chat::keeps_every_name`, and why.
    ///
    /// The scenario must go on failing: one that passes, or that does not exist, fails the suite.
    #[must_use]
    pub fn gap(mut self, scenario: &'static str, reason: &'static str) -> Self {
        self.gaps.push(Gap { scenario, reason });
        self
    }

    /// Sets whether the server of the backend was found. Default found.
    #[must_use]
    pub fn present(mut self, presence: Presence) -> Self {
        self.stage.presence = presence;
        self
    }

    /// Runs the scenarios that the arguments of the process select, as `cargo test` does, and prints the result. If
    /// `MEMORY_TEST_REPORT` names a folder, the report is written there too, as `NAME.json`.
    ///
    /// One runtime serves the whole process: pools and connection managers die with the runtime that made them.
    pub fn run(self) -> ExitCode {
        let arguments = Arguments::from_args();
        let (conclusion, summary) = match self.conclude(&arguments) {
            Ok(concluded) => concluded,
            Err(error) => return summary::complain(&format!("no runtime: {error}")),
        };
        if !arguments.list {
            summary.tell(&conclusion);
        }
        if let Some(folder) = environment::report().filter(|_| !arguments.list)
            && let Err(error) = summary.report.write(&folder, summary.suite, &summary.line(&conclusion))
        {
            return summary::complain(&format!("no report: {error}"));
        }
        conclusion.exit_code()
    }

    fn conclude(self, arguments: &Arguments) -> std::io::Result<(Conclusion, Arc<Summary>)> {
        let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build()?;
        let summary = Arc::new(Summary::new(self.name));
        let stage = self.stage.clone();
        let trials = self.trials(runtime.handle(), &summary);
        let conclusion = libtest_mimic::run(arguments, trials);
        summary.used(runtime.block_on(stage.close()));
        runtime.shutdown_timeout(GRACE);
        Ok((conclusion, summary))
    }

    fn plan<S: Subject>(mut self, group: &'static str, table: &[Scenario<S>], open: &Opener<S>) -> Self {
        for scenario in table.iter().copied() {
            let open = open.clone();
            self.plans.push(PlannedTest {
                name: format!("{group}::{}", scenario.name),
                need: Need::Server,
                play: Box::new(move |_| Box::pin(play(scenario, open))),
            });
        }
        self
    }

    /// Returns an opener that is told the URL of the server, which is known only when the first scenario is played.
    fn on_server<S: 'static>(&self, open: Opener<S>) -> Opener<S> {
        let url = self.url.clone();
        Arc::new(move |setting| {
            let url = url.get().cloned().unwrap_or_default();
            open(Setting { url, ..setting })
        })
    }

    /// Adds the scenarios of isolation over all stores that were given.
    fn with_isolation(self) -> Self {
        let (table, open) = (isolation::table_of(&self.given), self.given.all());
        self.plan("isolation", &table, &open)
    }

    /// Adds the scenarios of forgetting over the truth stores that were given.
    fn with_forgetting(self) -> Self {
        let (table, truth) = forgetting::table_of(&self.given);
        self.plan("forgetting", &table, &truth.all())
    }

    /// Adds the scenarios of a whole memory over the truth stores, indexes and cache that were given.
    fn with_memory(self) -> Self {
        let (table, open) = memory::table_of(&self.given);
        self.plan("memory", &table, &open)
    }

    fn trials(self, runtime: &Handle, summary: &Arc<Summary>) -> Vec<Trial> {
        let Self { name: suite, plans, gaps, official_only, stage, url, given: _ } =
            self.with_forgetting().with_isolation().with_memory();
        let mut trials = unknown(suite, &plans, &gaps, official_only);
        for PlannedTest { name, need, play } in plans {
            let gap = gaps.iter().find(|gap| gap.scenario == name).copied();
            let only = official::reason(official_only, suite, &name);
            let (runtime, summary, stage, url) = (runtime.clone(), summary.clone(), stage.clone(), url.clone());
            trials.push(Trial::ignorable_test(format!("{suite}::{name}"), move || {
                runtime.block_on(async {
                    let reason = gap.as_ref().map(|gap| gap.reason);
                    let told = |verdict: Verdict, gap: Option<&str>| {
                        summary.report.note(&name, &verdict, gap);
                        told(verdict)
                    };
                    if let Some(verdict) = stage.lacks(need, &url).await {
                        return told(verdict, None);
                    }
                    if let Some(reason) = only.filter(|_| !stage.official()) {
                        summary.count_official_only();
                        return told(Verdict::Ignored(format!("official server only: {reason}")), None);
                    }
                    let (verdict, health) = play(&stage).await;
                    summary.note(health);
                    told(gaps::judge(gap.as_ref(), verdict, || summary.count_gap()), reason)
                })
            }));
        }
        trials
    }
}

/// Returns a failure for every gap and every line of the table of official servers that is no scenario.
fn unknown(suite: &'static str, plans: &[PlannedTest], gaps: &[Gap], official_only: &[OfficialOnly]) -> Vec<Trial> {
    let group = |name: &str| name.split("::").next().unwrap_or_default().to_owned();
    let planned = |scenario: &str| plans.iter().any(|plan| group(&plan.name) == group(scenario));
    let only = official_only.iter().filter(|only| only.suite == suite && planned(only.scenario));
    gaps.iter()
        .map(|gap| gap.scenario)
        .chain(only.map(|only| only.scenario))
        .filter(|scenario| plans.iter().all(|plan| plan.name != *scenario))
        .map(|scenario| {
            let what = format!("there is no scenario {scenario}");
            Trial::test(format!("{suite}::gap::{scenario}"), || Err(Failed::from(what)))
        })
        .collect()
}

fn told(verdict: Verdict) -> std::result::Result<Completion, Failed> {
    match verdict {
        Verdict::Passed => Ok(Completion::Completed),
        Verdict::Failed(why) => Err(Failed::from(why)),
        Verdict::Ignored(why) => Ok(Completion::ignored_with(why)),
    }
}
