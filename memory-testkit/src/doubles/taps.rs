//! Wraps a store of any trait, so that a test can observe its calls, delay them or let them fail.

mod answer;
mod counting;
mod cut;
mod faulty;
mod stores;

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use memory_core::Result;

use answer::Answer;
pub use counting::Counting;
pub use cut::{Cut, Ending};
pub use faulty::{Faulty, When};

/// Hooks around every call of a [`Tapped`] store. A call is known by the name of its method.
pub trait Tap: Debug + Send + Sync + 'static {
    /// Runs before the store is called. If it returns an error, the caller gets that error and the store is not called.
    ///
    /// # Errors
    /// Whatever error the caller is to get.
    fn enter(&self, call: &'static str) -> Result<()>;

    /// Runs when the store has answered with so many rows. If it returns an error, the caller gets that error instead.
    ///
    /// # Errors
    /// Whatever error the caller is to get.
    fn leave(&self, call: &'static str, rows: usize) -> Result<()>;
}

/// A store with hooks around its calls. It implements every trait that the store implements, and can stand in its
/// place: `Truth::chat(Arc::new(Tapped::new(store, tap)))`, or in a layer of a `dyn` store.
#[derive(Debug)]
pub struct Tapped<S: ?Sized> {
    inner: Arc<S>,
    tap: Arc<dyn Tap>,
    delay: Duration,
    cut: Option<Arc<Cut>>,
}

impl<S: ?Sized> Tapped<S> {
    /// Puts `tap` around `inner`.
    pub fn new(inner: Arc<S>, tap: Arc<dyn Tap>) -> Self {
        Self { inner, tap, delay: Duration::ZERO, cut: None }
    }

    /// Makes every call take this long before anything else happens.
    #[must_use]
    pub fn slow(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Lets `cut` end one of the calls early. Several stores may share one, which then counts the calls of all.
    #[must_use]
    pub fn cut_by(mut self, cut: Arc<Cut>) -> Self {
        self.cut = Some(cut);
        self
    }

    /// Makes a call.
    async fn run<T: Answer>(&self, call: &'static str, answer: impl Future<Output = Result<T>> + Send) -> Result<T> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        self.tap.enter(call)?;
        if let Some(cut) = &self.cut {
            cut.before(call).await?;
        }
        let answer = answer.await?;
        if let Some(cut) = &self.cut {
            cut.after(call).await?;
        }
        self.tap.leave(call, answer.rows())?;
        Ok(answer)
    }
}
