//! A flush: the oldest messages of a session go to the primary, in order, and leave the journal once it has them.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use crate::error::{Error, Result, Transience};
use crate::id::{MessageId, SessionId};
use crate::message::Message;
use crate::outlive::to_end;
use crate::scope::Scope;
use crate::store::chat::{Append, Appended, Fence, NewMessage, Page};
use crate::store::journal::Queued;

use super::judge::{TRIES, Verdict, pause, pause_of_all, verdict};
use super::queue::{Sending, Stale};
use super::shared::{Flushed, Placed, SESSIONS_AT_ONCE, Shared};
use super::waiting::Reach;

/// Why messages are set aside that were queued while nothing was known of their session.
const UNSURE: &str = "the session or its owner was erased, and whether that was before or after is not known";

/// Why messages are set aside whose session has gone back to an older fence.
const OLDER: &str = "the primary has gone back to an older state of the session";

impl Shared {
    /// Sends all that waits of a session now to the primary, and returns when it is there.
    ///
    /// # Errors
    /// Why the primary did not take it. Then it still waits, unless it was set aside.
    pub(super) async fn flush_session(self: &Arc<Self>, scope: &Scope, session: &SessionId) -> Result<()> {
        let bounds = self.queue.lock().bounds(scope, session);
        let Some((_, last)) = bounds else { return Ok(()) };
        loop {
            let mut landings = self.landings.subscribe();
            let (bounds, mark) = {
                let queue = self.queue.lock();
                (queue.bounds(scope, session), queue.mark(scope, session))
            };
            // What came later is for somebody else to send.
            if bounds.is_none_or(|(first, _)| first > last) {
                return Ok(());
            }
            if mark.is_some_and(|(_, is_sent)| is_sent) {
                // It never ends only with the layer.
                let _ = landings.changed().await;
                continue;
            }
            let sending = self.queue.lock().send(scope, session);
            if let Some(sending) = sending {
                to_end(Arc::clone(self).carry(sending)).await?;
            }
        }
    }

    /// Sends what waits of a session, and messages with these ids wherever they wait, with what waits before them.
    pub(super) async fn settle(
        self: &Arc<Self>,
        scope: &Scope,
        session: Option<&SessionId>,
        ids: &[MessageId],
    ) -> Result<()> {
        let mut sessions = self.queue.lock().sessions_of(scope, ids);
        sessions.extend(session.cloned());
        let mut flushed = Vec::with_capacity(sessions.len());
        for some in sessions.chunks(SESSIONS_AT_ONCE) {
            flushed.extend(join_all(some.iter().map(|session| self.flush_session(scope, session))).await);
        }
        flushed.into_iter().collect()
    }

    /// Brings messages to the primary. Fewer go with the next call if it refused some of several.
    pub(super) async fn carry(self: Arc<Self>, sending: Sending) -> Result<()> {
        let mut flight = Flight { shared: &self, sending: &sending, landing: None };
        let (landing, outcome) = match self.deliver(&sending).await {
            Ok(()) => (Landing { is_taken: true, ..Landing::at(Instant::now()) }, Ok(())),
            Err(error) => {
                let weighed = self.weigh(&sending, &error).await;
                let is_over = weighed.is_over;
                (weighed.landing, if is_over { Err(error) } else { Ok(()) })
            }
        };
        flight.landing = Some(landing);
        outcome
    }

    /// Appends messages to the primary, and removes them from the journal.
    async fn deliver(&self, sending: &Sending) -> Result<()> {
        let Sending { scope, session, .. } = sending;
        let fence = match sending.fence {
            Some(fence) => fence,
            None => self.inner.read(scope, session, &Page::newest(0)).await?.state.fence,
        };
        if sending.fence.is_none() && fence != Fence::default() {
            return Err(Error::Fenced);
        }
        let batch = Append {
            fence: Some(fence),
            asked: sending.rows.iter().map(|queued| queued.asked).max().unwrap_or_default(),
            messages: sending.rows.iter().map(|queued| queued.new.clone()).collect(),
        };
        let appended = match self.inner.append(scope, session, &batch).await {
            Err(conflict @ Error::IdConflict { .. }) => self.append_as_stored(sending, &batch, conflict).await?,
            appended => appended?,
        };
        self.set_refused_aside(sending).await;
        self.confirm(sending, &appended).await;
        Ok(())
    }

    /// Appends a message whose id is taken once more, with the time that is stored: so one that is stored but for its time counts as
    /// stored. Who repeated it while the primary was away could not know that time.
    ///
    /// # Errors
    /// `conflict` for several messages, which then go one by one, and for one that differs in more.
    async fn append_as_stored(&self, sending: &Sending, batch: &Append, conflict: Error) -> Result<Appended> {
        let Sending { scope, session, .. } = sending;
        let [new] = batch.messages.as_slice() else { return Err(conflict) };
        let found = self.inner.get(scope, &[new.message.id]).await?;
        let stored = found.messages.into_iter().find_map(|row| row.message);
        let Some(at) = stored.map(|stored| stored.at).filter(|at| *at != new.message.at) else { return Err(conflict) };
        let message = Arc::new(Message { at, ..(*new.message).clone() });
        let messages = vec![NewMessage { message, ..new.clone() }];
        self.inner.append(scope, session, &Append { fence: batch.fence, asked: batch.asked, messages }).await
    }

    /// Removes messages that the primary has. Whoever listens is told first: at no moment is a message known to nobody.
    async fn confirm(&self, sending: &Sending, appended: &Appended) {
        let Sending { scope, session, .. } = sending;
        let placed = sending.rows.iter().zip(&appended.placements).map(|(queued, placement)| {
            let NewMessage { message, tokens, .. } = &queued.new;
            let bytes = message.encoded_len() as u64;
            Placed { id: message.id, tokens: *tokens, bytes, placement: *placement }
        });
        let placed = placed.collect();
        self.tell(&Flushed::Taken { scope: scope.clone(), state: appended.state.clone(), placed });
        let numbers = numbers(&sending.rows);
        self.kept.lock().extend(&numbers);
        {
            let mut queue = self.queue.lock();
            let taken: HashSet<u64> = numbers.iter().copied().collect();
            queue.remove(scope, session, Reach::Sent, |queued| taken.contains(&queued.number));
            queue.know(scope, &appended.state);
        }
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.learn(appended.durability);
        self.acknowledge(numbers).await;
    }

    /// Removes messages from the journal. Those that it cannot remove now it removes with the next ones; if the process ends before, a
    /// later one sends them once more, and the primary has them already.
    pub(super) async fn acknowledge(&self, numbers: Vec<u64>) {
        self.kept.lock().extend(numbers);
        let numbers: Vec<u64> = self.kept.lock().iter().copied().collect();
        let done = self.journal.acknowledge(&numbers).await;
        if done.is_ok() {
            {
                let mut kept = self.kept.lock();
                for number in &numbers {
                    kept.remove(number);
                }
            }
            self.clear().await;
        }
        self.note(done);
    }

    /// Decides what becomes of messages that the primary did not take.
    async fn weigh(&self, sending: &Sending, error: &Error) -> Weighed {
        let (now, mut passed) = (Instant::now(), 0);
        let (at, is_in_doubt, is_over) = match verdict(error) {
            Verdict::Away { is_in_doubt } => {
                if matches!(error, Error::Backend { transience: Transience::Late, .. }) {
                    // A batch that takes the primary too long must not be tried as it is for ever.
                    self.narrow(sending);
                }
                let least = error.retry_after();
                let at = self.queue.lock().went_away(now, |failures| pause(failures).max(least));
                (at, is_in_doubt, true)
            }
            Verdict::Fenced => match self.drop_fenced(sending).await {
                Ok(is_done) => (if is_done { now } else { now + pause(1) }, false, !is_done),
                Err(_) => (self.queue.lock().went_away(now, pause), false, true),
            },
            Verdict::Unfit | Verdict::Unclear if sending.rows.len() > 1 => {
                self.narrow(sending);
                (now, false, false)
            }
            Verdict::Unfit => {
                let is_aside = self.set_aside(&sending.rows, &error.to_string()).await;
                (if is_aside { now } else { now + pause(TRIES) }, false, true)
            }
            Verdict::Unclear => {
                let (wait, refused) = self.doubt_of(sending, error).await;
                passed = refused;
                (now + wait, false, true)
            }
        };
        Weighed { landing: Landing { is_in_doubt, passed, ..Landing::at(at) }, is_over }
    }

    /// Counts that a message was refused. If that was often, and the primary took others meanwhile, it is set aside. Returns how
    /// long to wait, and how many of the oldest messages were refused just now.
    async fn doubt_of(&self, sending: &Sending, error: &Error) -> (Duration, usize) {
        let Sending { scope, session, skipped, .. } = sending;
        let (numbers, taken) = (numbers(&sending.rows), self.taken.load(Ordering::Relaxed));
        let (mut tries, mut before, mut all) = (0, taken, 0);
        self.queue.lock().change(scope, session, |waiting| {
            all = waiting.rows.len();
            for row in waiting.rows.iter_mut().filter(|row| numbers.contains(&row.queued.number)) {
                (row.tries, row.taken) = (row.tries + 1, row.taken.min(taken));
                (tries, before) = (row.tries, row.taken);
            }
        });
        tracing::warn!(tries, why = error.with_causes(), "a queued message was refused");
        let is_often = tries >= TRIES;
        if is_often && taken > before && self.set_aside(&sending.rows, &error.to_string()).await {
            return (Duration::ZERO, 0);
        }
        let passed = skipped + 1;
        // Once it may be set aside, the next message is tried at once: if that is taken, the fault is in this one.
        if is_often && passed < all {
            return (Duration::ZERO, passed);
        }
        // After a pause the primary may be well, and what it refused before it is asked for again, in order.
        (pause(tries).max(pause_of_all(*skipped)), 0)
    }

    fn narrow(&self, sending: &Sending) {
        self.queue
            .lock()
            .change(&sending.scope, &sending.session, |waiting| waiting.at_once = (sending.rows.len() / 2).max(1));
    }

    /// Removes messages whose session was erased since they were queued. Those of which it is not known whether they were queued
    /// before or after are set aside. Returns whether there was anything to do.
    async fn drop_fenced(&self, sending: &Sending) -> Result<bool> {
        let Sending { scope, session, .. } = sending;
        let state = self.inner.read(scope, session, &Page::newest(0)).await?.state;
        match sending.fence {
            None if state.fence != Fence::default() => {
                if !self.set_aside(&sending.rows, UNSURE).await {
                    return Ok(false);
                }
            }
            Some(fence) if fence > state.fence => {
                if !self.set_aside(&sending.rows, OLDER).await {
                    return Ok(false);
                }
            }
            Some(fence) if fence < state.fence => {
                self.queue.lock().know(scope, &state);
                self.drop_stale().await;
            }
            _ => return Ok(false),
        }
        self.queue.lock().learn(scope, &state, sending.fence);
        Ok(true)
    }

    /// Removes from the journal what was queued before its session or owner was erased, and what was set aside of it.
    pub(super) async fn drop_stale(&self) {
        let stale = self.queue.lock().take_stale();
        if stale.is_empty() {
            return;
        }
        let mut numbers: Vec<u64> = stale.iter().flat_map(|stale| &stale.numbers).copied().collect();
        self.doom(&numbers);
        numbers.extend(self.aside_before(&stale).await);
        self.note(self.withdraw(numbers).await);
        for Stale { scope, session, numbers, .. } in stale {
            self.tell(&Flushed::Dropped { scope, session, count: numbers.len() });
        }
    }

    /// Sets messages aside that were refused again and again, at last just before the primary took the one behind them.
    async fn set_refused_aside(&self, sending: &Sending) {
        let Sending { scope, session, .. } = sending;
        if sending.skipped == 0 {
            return;
        }
        let mut refused: Vec<Queued> = Vec::new();
        self.queue.lock().change(scope, session, |waiting| {
            // After an erasure others stand in their place, and the first of them may have been refused as often.
            if waiting.flight == sending.flight {
                let rows = waiting.rows.iter().take(sending.skipped).filter(|row| row.tries >= TRIES);
                refused = rows.map(|row| row.queued.clone()).collect();
            }
        });
        self.set_aside(&refused, "the primary refused it again and again, and took the next one").await;
    }

    /// Sets messages aside, and returns whether the journal could.
    async fn set_aside(&self, rows: &[Queued], why: &str) -> bool {
        let mut is_done = true;
        for queued in rows {
            let rejected = self.journal.reject(queued.number, why).await;
            if rejected.is_ok() {
                let is_meant = |other: &Queued| other.number == queued.number;
                self.queue.lock().remove(&queued.scope, &queued.session, Reach::Sent, is_meant);
                let (message, why) = (queued.new.message.id, why.to_owned());
                let (scope, session) = (queued.scope.clone(), queued.session.clone());
                self.tell(&Flushed::Refused { scope, session, message, why });
            }
            is_done &= rejected.is_ok();
            self.note(rejected);
        }
        is_done
    }

    /// Reports what the journal could not do, where nobody waits for it.
    pub(super) fn note(&self, outcome: Result<impl Sized>) {
        if let Err(error) = outcome {
            tracing::warn!(why = error.with_causes(), "the journal failed");
        }
    }
}

fn numbers(rows: &[Queued]) -> Vec<u64> {
    rows.iter().map(|queued| queued.number).collect()
}

/// What follows from a failure.
struct Weighed {
    landing: Landing,
    /// Whether whoever waits for the flush is told; else it goes on.
    is_over: bool,
}

/// How a flush ended.
struct Landing {
    /// When the rest goes.
    at: Instant,
    is_in_doubt: bool,
    is_taken: bool,
    /// How many of the oldest messages were refused just now.
    passed: usize,
}

impl Landing {
    fn at(at: Instant) -> Self {
        Self { at, is_in_doubt: false, is_taken: false, passed: 0 }
    }
}

/// A flush under way. It lands however it ends.
struct Flight<'a> {
    shared: &'a Shared,
    sending: &'a Sending,
    /// None if it did not come to its end.
    landing: Option<Landing>,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let now = Instant::now();
        let lost = Landing { is_in_doubt: true, ..Landing::at(now + pause(1)) };
        let Landing { at, is_in_doubt, is_taken, passed } = self.landing.take().unwrap_or(lost);
        {
            let mut queue = self.shared.queue.lock();
            queue.landed(self.sending, at, is_in_doubt, passed);
            if is_taken {
                queue.taken(self.sending, now);
            }
        }
        self.shared.landings.send_modify(|landings| *landings += 1);
        self.shared.wake.notify_one();
    }
}
