//! Which synopses this process keeps: whose they are, how long their halves are good, and which are to be built.

use std::collections::HashMap;
use std::time::Duration;

use crate::engine::synopsis::SynopsisConfig;
use crate::record::Record;
use crate::scope::Scope;
use crate::sync::Lock;
use crate::time::Timestamp;

/// How many owners are kept at most. For a further one another is let go, until it is asked for again.
const OWNERS: usize = 10_000;
/// How long lies between two attempts to build a half.
const PAUSE: Duration = Duration::from_secs(60);
/// The kinds of records that tell what somebody is about. The others tell who somebody is.
const OF_LATE: [&str; 5] = ["context", "goal", "task", "topic", "plan"];

/// A half of a synopsis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Identity,
    Context,
}

impl Half {
    const BOTH: [Self; 2] = [Self::Identity, Self::Context];

    /// Returns its name, under which a telling holds it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Context => "context",
        }
    }

    /// Returns the half that a record tells something for.
    pub(crate) fn of(record: &Record) -> Self {
        if OF_LATE.contains(&record.kind.as_str()) { Self::Context } else { Self::Identity }
    }
}

/// When the halves of a stored synopsis were built, and when it was last used, as truth knows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Built {
    pub(crate) identity: Option<Timestamp>,
    pub(crate) context: Option<Timestamp>,
    /// Whether truth says of either half that it is stale.
    pub(crate) is_stale: [bool; 2],
    pub(crate) used: Option<Timestamp>,
}

/// What is known of the synopses of owners.
#[derive(Debug)]
pub(crate) struct Synopses {
    pub(crate) config: SynopsisConfig,
    /// Whether every owner has one, or only those for whom somebody asked.
    pub(crate) for_all: bool,
    owners: Lock<HashMap<Scope, Owner>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Owner {
    used: Option<Timestamp>,
    identity: State,
    context: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// When the half was built that `good_until` is of.
    built: Option<Timestamp>,
    good_until: Timestamp,
    /// Whether something was told since.
    is_stale: bool,
    /// Whether that was after it was last taken to be built.
    is_told: bool,
    is_wanted: bool,
    tried: Option<Timestamp>,
    /// When it was first taken to be built, if there was no time for it since.
    waits_since: Option<Timestamp>,
}

impl Owner {
    fn half(&mut self, half: Half) -> &mut State {
        match half {
            Half::Identity => &mut self.identity,
            Half::Context => &mut self.context,
        }
    }
}

impl State {
    /// Takes note of a use: the half is good for longer, unless it is not any more. Returns whether it is.
    fn use_at(
        &mut self,
        built: Option<Timestamp>,
        before: Option<Timestamp>,
        now: Timestamp,
        config: (Duration, Duration, bool),
    ) -> bool {
        let (ttl, most, slides) = config;
        let later = |at: Timestamp, by: Duration| at.checked_add(by).unwrap_or(Timestamp(i64::MAX));
        let Some(at) = built else { return false };
        let slide = |from: Timestamp| later(from, ttl).min(later(at, most));
        if self.built != built {
            let used = before.filter(|used| slides && *used > at);
            (self.built, self.good_until) = (built, slide(used.unwrap_or(at)));
        }
        let is_good = now < self.good_until;
        if is_good && slides {
            self.good_until = self.good_until.max(slide(now));
        }
        is_good
    }
}

impl Synopses {
    pub(crate) fn new(config: SynopsisConfig, for_all: bool) -> Self {
        Self { config, for_all, owners: Lock::default() }
    }

    /// Returns whether an owner has a synopsis, as far as this process knows.
    pub(crate) fn has(&self, scope: &Scope) -> bool {
        self.for_all || self.owners.lock().contains_key(scope)
    }

    /// Takes note of a use of the synopsis that truth holds. Returns which halves are stale, and whether one is to be built.
    pub(crate) fn used(&self, scope: &Scope, stored: Built, now: Timestamp) -> ([bool; 2], bool) {
        let SynopsisConfig { identity_ttl, context_ttl, identity_max_age, context_max_age, refresh_on_access, .. } =
            self.config;
        let mut owners = self.owners.lock();
        let owner = entry(&mut owners, scope);
        let before = owner.used.max(stored.used);
        owner.used = Some(now);
        let [identity, context] = stored.is_stale;
        let of = |state: &mut State, (built, is_stale): (Option<Timestamp>, bool), ttl, most| {
            let is_young = state.use_at(built, before, now, (ttl, most, refresh_on_access));
            let is_good = is_young && !is_stale && !state.is_stale;
            state.is_wanted |= !is_good;
            !is_good && built.is_some()
        };
        let stale = [
            of(&mut owner.identity, (stored.identity, identity), identity_ttl, identity_max_age),
            of(&mut owner.context, (stored.context, context), context_ttl, context_max_age),
        ];
        (stale, owner.identity.is_wanted || owner.context.is_wanted)
    }

    /// Takes note that a record was told which bears on a half. The synopsis is built anew at once if it is in use.
    pub(crate) fn told(&self, scope: &Scope, half: Half, now: Timestamp) {
        let mut owners = self.owners.lock();
        if !self.for_all && !owners.contains_key(scope) {
            return;
        }
        let owner = entry(&mut owners, scope);
        let is_used = owner.used.is_none_or(|used| now.since(used) <= self.config.context_ttl);
        let state = owner.half(half);
        (state.is_stale, state.is_told) = (true, true);
        state.is_wanted |= is_used;
    }

    /// Takes out the halves that are to be built now, and whether this process used their synopsis. Those that have waited longest
    /// stand first. All stay as stale as they are.
    pub(crate) fn take_wanted(&self, now: Timestamp) -> Vec<(Scope, Vec<Half>, bool)> {
        let mut wanted = Vec::new();
        for (scope, owner) in self.owners.lock().iter_mut() {
            let is_used = owner.used.is_some();
            let (mut halves, mut since) = (Vec::new(), now);
            for half in Half::BOTH {
                let state = owner.half(half);
                // A try in the future is one before the clock was set back.
                if state.is_wanted && state.tried.is_none_or(|tried| tried > now || now.since(tried) >= PAUSE) {
                    since = since.min(*state.waits_since.get_or_insert(now));
                    (state.is_wanted, state.is_told, state.tried) = (false, false, Some(now));
                    halves.push(half);
                }
            }
            if !halves.is_empty() {
                wanted.push((since, scope.clone(), halves, is_used));
            }
        }
        wanted.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        wanted.into_iter().map(|(_, scope, halves, is_used)| (scope, halves, is_used)).collect()
    }

    /// Takes note that halves could not be built: they are tried again.
    pub(crate) fn failed(&self, scope: &Scope, halves: &[Half]) {
        self.change(scope, halves, |state| (state.is_wanted, state.waits_since) = (true, None));
    }

    /// Takes note that there was no time for halves: the next time they come before all that have waited less.
    pub(crate) fn put_off(&self, scope: &Scope, halves: &[Half]) {
        self.change(scope, halves, |state| (state.is_wanted, state.tried) = (true, None));
    }

    /// Takes note that nothing was made of a half: it is tried again when it is used again.
    pub(crate) fn unmade(&self, scope: &Scope, half: Half) {
        self.change(scope, &[half], |state| state.waits_since = None);
    }

    /// Takes note that truth holds halves anew, or tells that they are stale. What was told meanwhile makes them stale all the same.
    pub(crate) fn written(&self, scope: &Scope, halves: &[Half], are_built: bool) {
        self.change(scope, halves, |state| {
            (state.is_stale, state.waits_since) = (state.is_told, None);
            // Whoever used one meanwhile has seen that it is stale, and it is not any more.
            state.is_wanted &= state.is_told || !are_built;
        });
    }

    fn change(&self, scope: &Scope, halves: &[Half], change: impl Fn(&mut State)) {
        if let Some(owner) = self.owners.lock().get_mut(scope) {
            halves.iter().for_each(|half| change(owner.half(*half)));
        }
    }

    /// Lets an owner go.
    pub(crate) fn forget(&self, scope: &Scope) {
        self.owners.lock().remove(scope);
    }
}

fn entry<'o>(owners: &'o mut HashMap<Scope, Owner>, scope: &Scope) -> &'o mut Owner {
    if owners.len() >= OWNERS && !owners.contains_key(scope) {
        let other = owners.keys().next().cloned();
        other.and_then(|other| owners.remove(&other));
    }
    owners.entry(scope.clone()).or_default()
}
