//! The attempts of one call: how often, and when.

use std::time::Duration;

use memory_core::{Error, Result};
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};

use super::client::Client;
use super::error::Fault;
use super::spend::backoff;

/// Longer answers are read in a thread of their own.
const AT_ONCE: usize = 64 << 10;

impl Client {
    /// Sends `body` and returns what `read` makes of the whole answer. Tries again where that may help, but not after `until`.
    pub(super) async fn post<T: Send + 'static>(
        &self,
        doing: &'static str,
        path: &[&str],
        body: &Value,
        read: fn(&[u8]) -> Result<T, Fault>,
        until: Instant,
    ) -> Result<T> {
        let body = body.to_string();
        let mut attempts = Attempts::begin(self, doing, until);
        loop {
            let attempt = async {
                let _turn = self.pace.enter(attempts.until()).await?;
                made_of(self.send(path, &body).await?.whole().await?, read).await
            };
            let fault = match timeout_at(attempts.until(), attempt).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(fault)) => fault,
                Err(_) => Fault::Late,
            };
            attempts.again(fault).await?;
        }
    }
}

/// Returns what `read` makes of a whole answer.
pub(super) async fn made_of<T: Send + 'static>(
    bytes: Vec<u8>,
    read: fn(&[u8]) -> Result<T, Fault>,
) -> Result<T, Fault> {
    if bytes.len() <= AT_ONCE {
        return read(&bytes);
    }
    spawn_blocking(move || read(&bytes)).await.map_err(|_| Fault::Garbled("it cannot be read"))?
}

/// The attempts of one call.
#[derive(Debug)]
pub(super) struct Attempts<'a> {
    client: &'a Client,
    doing: &'static str,
    until: Instant,
    retry: u32,
}

/// Returns when a call has to be done that begins now and may take so long, however long that is: the timer knows its last moment.
pub(super) fn end_of(limit: Duration) -> Instant {
    sleep(limit).deadline()
}

impl<'a> Attempts<'a> {
    /// Begins a call that has to be done at `until`.
    pub(super) fn begin(client: &'a Client, doing: &'static str, until: Instant) -> Self {
        client.spend().call(Instant::now());
        Self { client, doing, until, retry: 0 }
    }

    /// Returns when the call has to be done.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Waits until there may be another attempt.
    ///
    /// # Errors
    /// That of `fault`, if another attempt cannot help or is not allowed, or if there is no time for it.
    pub(super) async fn again(&mut self, fault: Fault) -> Result<()> {
        let is_worth_it =
            fault.may_pass() && !matches!(fault, Fault::Late | Fault::Silent | Fault::Crowded | Fault::Paused(_));
        if !is_worth_it || self.retry >= self.client.config.retries {
            return Err(self.end(fault));
        }
        let roll = self.client.config.clock.now().0.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let wait = backoff(self.retry, roll).max(fault.after().unwrap_or_default());
        let now = Instant::now();
        if now.checked_add(wait).is_none_or(|at| at >= self.until) || !self.client.spend().retry(now) {
            return Err(self.end(fault));
        }
        self.retry += 1;
        sleep(wait).await;
        Ok(())
    }

    /// Returns the error of a call that ends with `fault`.
    pub(super) fn end(&self, fault: Fault) -> Error {
        fault.while_doing(self.client.backend, self.doing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_may_take_however_long() {
        assert!(end_of(Duration::MAX) > end_of(Duration::from_secs(86_400)));
    }
}
