//! What every request shares: the memory, the tokens, the bounds, and whether the server is about to stop.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory::Memory;
use memory::store::time::Stopwatch;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use axum::http::StatusCode;

use crate::access::Tokens;
use crate::config::Config;
use crate::hosts::Hosts;
use crate::problem::Problem;
use crate::token::Grant;

/// How long it is believed that the stores answer.
const AGAIN: Duration = Duration::from_secs(1);

/// More requests at once than any server has, and as many as can be counted.
const MOST: usize = 1 << 24;

/// The longest wait for headers: a time so far away can still be told.
const YEAR: Duration = Duration::from_secs(365 * 86_400);

/// How many items are read at once of which each may have megabytes: what is read may not be shown.
pub(crate) const PART: usize = 32;

/// What every request shares.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) memory: Memory,
    pub(crate) tokens: Tokens,
    pub(crate) config: Config,
    pub(crate) hosts: Hosts,
    is_draining: AtomicBool,
    /// Whether the stores answered, when they were asked last.
    answered: tokio::sync::Mutex<Option<(Stopwatch, bool)>>,
    /// A permit for each request under way.
    all: Arc<Semaphore>,
    /// The same for each token.
    of_token: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The place of a request among those under way. It is given up when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    app: Arc<App>,
    grant: Arc<Grant>,
}

impl Place {
    /// Returns whether the token of the request opens now what it opened when the request came.
    pub(crate) fn is_open(&self) -> bool {
        self.app.tokens.stands(&self.grant, self.app.memory.now())
    }
}

impl App {
    pub(crate) fn new(memory: Memory, tokens: Tokens, mut config: Config) -> Self {
        config.at_once = config.at_once.min(MOST);
        config.at_once_per_token = config.at_once_per_token.min(MOST);
        config.header_timeout = config.header_timeout.min(YEAR);
        Self {
            memory,
            tokens,
            hosts: Hosts::new(&config.hosts),
            is_draining: AtomicBool::new(false),
            answered: tokio::sync::Mutex::default(),
            all: Arc::new(Semaphore::new(config.at_once)),
            of_token: Mutex::default(),
            config,
        }
    }

    /// Takes a place for a request with the token of `grant`.
    pub(crate) fn place(self: &Arc<Self>, grant: &Arc<Grant>) -> Result<Place, Problem> {
        let own = {
            let mut of_token = self.of_token.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = || Arc::new(Semaphore::new(self.config.at_once_per_token));
            Arc::clone(of_token.entry(grant.id().to_owned()).or_insert_with(fresh))
        };
        let busy = |status, whose| Problem::later(status, format!("too many requests at once {whose}"));
        let own = own.try_acquire_owned().map_err(|_| busy(StatusCode::TOO_MANY_REQUESTS, "with this token"))?;
        let all = Arc::clone(&self.all).try_acquire_owned();
        let all = all.map_err(|_| busy(StatusCode::SERVICE_UNAVAILABLE, "in all"))?;
        Ok(Place { _all: all, _own: own, app: Arc::clone(self), grant: Arc::clone(grant) })
    }

    /// Begins to stop: from now on the server is not ready.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }

    /// Returns whether the stores answer. They are asked at most once a second, whoever wants to know: that needs no token.
    pub(crate) async fn answers(&self) -> bool {
        let mut answered = self.answered.lock().await;
        if let Some((watch, is_well)) = &*answered
            && watch.elapsed() < AGAIN
        {
            return *is_well;
        }
        let asked = timeout(self.config.deadline, self.memory.status()).await;
        let is_well = asked.is_ok_and(|status| status.stores.iter().all(|store| store.health.is_ok()));
        *answered = Some((Stopwatch::start(), is_well));
        is_well
    }

    /// Waits until no request is under way, also none whose client went away, at the longest for `patience`.
    pub(crate) async fn idle(&self, patience: Duration) {
        let all = u32::try_from(self.config.at_once).unwrap_or(u32::MAX);
        let _ = timeout(patience, self.all.acquire_many(all)).await;
    }
}
