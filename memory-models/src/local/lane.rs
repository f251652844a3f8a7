//! Threads for work that blocks: so many at once, a bounded number of calls that wait.

use std::sync::Arc;

use memory_core::{Error, Result};
use tokio::sync::{Semaphore, TryAcquireError};

use super::error;

/// A bound on the work of one kind. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    threads: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

/// A call's place in a lane; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Permit<'a>(#[expect(dead_code, reason = "held for its drop")] tokio::sync::SemaphorePermit<'a>);

impl Lane {
    /// Lets `threads` pieces of work run at once, for at most `queue` calls.
    pub(super) fn new(threads: usize, queue: usize) -> Self {
        Self { threads: Arc::new(Semaphore::new(threads.max(1))), queue: Arc::new(Semaphore::new(queue)) }
    }

    /// Takes a place.
    ///
    /// # Errors
    /// `Overloaded` if none is left.
    pub(super) fn place(&self) -> Result<Permit<'_>> {
        self.queue.try_acquire().map(Permit).map_err(|why| match why {
            TryAcquireError::NoPermits => Error::Overloaded,
            TryAcquireError::Closed => error::stopped(why),
        })
    }

    /// Runs `work` in a thread where it may block, as soon as one of the lane's is free.
    ///
    /// The thread counts as taken until the work has ended, also where nobody waits for it any more.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T> + Send + 'static,
    {
        let thread = self.threads.clone().acquire_owned().await.map_err(error::stopped)?;
        let work = move || {
            let _thread = thread;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(error::stopped)?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_call_beyond_the_queue_is_told_to_wait() {
        let lane = Lane::new(1, 2);
        let (first, _second) = (lane.place().unwrap(), lane.place().unwrap());
        assert!(matches!(lane.place(), Err(Error::Overloaded)));
        drop(first);
        assert!(lane.place().is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn work_that_nobody_waits_for_keeps_its_thread_until_it_ends() {
        let lane = Lane::new(1, 2);
        let (started, has_started) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let work = move || {
            started.send(()).map_err(error::stopped)?;
            ends.recv().map_err(error::stopped)
        };
        let dropped = tokio::spawn({
            let lane = lane.clone();
            async move { lane.run(work).await }
        });
        tokio::task::spawn_blocking(move || has_started.recv().unwrap()).await.unwrap();
        dropped.abort();
        assert!(dropped.await.unwrap_err().is_cancelled());
        assert_eq!(lane.threads.available_permits(), 0);
        end.send(()).unwrap();
        assert_eq!(lane.run(|| Ok(1)).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn work_that_panics_is_an_error_and_gives_its_thread_back() {
        let lane = Lane::new(1, 1);
        let broken = lane.run(|| -> Result<()> { panic!("a broken model") }).await;
        assert!(matches!(broken, Err(Error::Backend { backend: "local", .. })));
        assert!(lane.run(|| Ok(())).await.is_ok());
    }
}
