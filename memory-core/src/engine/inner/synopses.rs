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
    is_wanted: bool,
    tried: Option<Timestamp>,
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
        state.is_stale = true;
        state.is_wanted |= is_used;
    }

    /// Takes out the halves that are to be built now, and whether this process used their synopsis.
    pub(crate) fn take_wanted(&self, now: Timestamp) -> Vec<(Scope, Vec<Half>, bool)> {
        let mut wanted = Vec::new();
        for (scope, owner) in self.owners.lock().iter_mut() {
            let is_used = owner.used.is_some();
            let mut halves = Vec::new();
            for half in Half::BOTH {
                let state = owner.half(half);
                // A try in the future is one before the clock was set back.
                if state.is_wanted && state.tried.is_none_or(|tried| tried > now || now.since(tried) >= PAUSE) {
                    (state.is_wanted, state.is_stale, state.tried) = (false, false, Some(now));
                    halves.push(half);
                }
            }
            if !halves.is_empty() {
                wanted.push((scope.clone(), halves, is_used));
            }
        }
        wanted.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        wanted
    }

    /// Takes note that halves could not be built: they are tried again.
    pub(crate) fn failed(&self, scope: &Scope, halves: &[Half]) {
        let mut owners = self.owners.lock();
        let Some(owner) = owners.get_mut(scope) else { return };
        for half in halves {
            let state = owner.half(*half);
            (state.is_wanted, state.is_stale) = (true, true);
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
