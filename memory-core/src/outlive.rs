//! Calls that outlive their callers: how a store ends what nobody waits for any more.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a closing store waits for calls that nobody may poll, where its settings name no time.
pub const UNPOLLED: Duration = Duration::from_secs(5);

/// Runs some calls where they are awaited, so that there is no turn of the scheduler between the answer and the caller.
///
/// A caller that does not poll keeps what its call holds, such as a connection. So a store lets at most half of its
/// connections be held this way: the others always come back.
#[derive(Clone, Debug)]
pub struct Awaited {
    turns: Arc<Semaphore>,
    count: u32,
}

/// As long as it is held no call runs where it is awaited: all run in tasks of their own.
#[derive(Debug)]
pub struct Paused {
    _turns: OwnedSemaphorePermit,
}

impl Awaited {
    /// Lets `count` calls run where they are awaited.
    pub fn new(count: usize) -> Self {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Self { turns: Arc::new(Semaphore::new(count as usize)), count }
    }

    /// Waits until no call runs where it is awaited. Returns none if that takes longer than `patience`, as when a caller
    /// has begun a call and does not poll it.
    pub async fn pause(&self, patience: Duration) -> Option<Paused> {
        let turns = Arc::clone(&self.turns).acquire_many_owned(self.count);
        Some(Paused { _turns: timeout(patience, turns).await.ok()?.ok()? })
    }

    /// Runs `call` to its end where it is awaited; if the returned future is dropped, a task finishes it. If too many
    /// calls are awaited already, a task runs it from the beginning. Returns none if the task panicked, or ended with the
    /// runtime.
    pub async fn run<T: Send + 'static>(&self, call: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else { return tokio::spawn(call).await.ok() };
        let call = async move {
            let _turn = turn;
            call.await
        };
        Some(to_end(call).await)
    }
}

/// Runs `call` to its end, also if the returned future is dropped: then in a task of its own. Without a runtime it ends there.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(memory_core::outlive::to_end(async { 7 }).await, 7);
/// # }
/// ```
pub fn to_end<T: Send + 'static>(call: impl Future<Output = T> + Send + 'static) -> impl Future<Output = T> + Send {
    Outliving { future: Some(Box::pin(call)) }
}

/// The future of [`to_end`].
struct Outliving<T: Send + 'static> {
    /// Absent once it has ended.
    future: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
}

impl<T: Send + 'static> Future for Outliving<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out meanwhile: one that panics is not to go on.
        let Some(mut future) = self.future.take() else { return Poll::Pending };
        let answer = future.as_mut().poll(context);
        if answer.is_pending() {
            self.future = Some(future);
        }
        answer
    }
}

impl<T: Send + 'static> Drop for Outliving<T> {
    fn drop(&mut self) {
        if let (Some(future), Ok(runtime)) = (self.future.take(), Handle::try_current()) {
            runtime.spawn(future);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::sync::oneshot;

    use super::*;

    /// Returns a call that waits for a word, and what tells that it went on to its end.
    fn waiting(
        awaited: &Awaited,
    ) -> (impl Future<Output = Option<u8>> + use<>, oneshot::Sender<u8>, oneshot::Receiver<()>) {
        let (say, hear) = oneshot::channel();
        let (tell, told) = oneshot::channel();
        let awaited = awaited.clone();
        let call = async move {
            let work = async move {
                let word = hear.await.unwrap();
                tell.send(()).unwrap();
                word
            };
            awaited.run(work).await
        };
        (call, say, told)
    }

    fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[tokio::test]
    async fn a_call_runs_where_it_is_awaited() {
        let (call, say, mut told) = waiting(&Awaited::new(1));
        let mut call = std::pin::pin!(call);
        assert!(poll_once(call.as_mut()).is_pending());
        say.send(7).unwrap();
        tokio::task::yield_now().await;
        assert!(told.try_recv().is_err());
        assert_eq!(call.await, Some(7));
        told.try_recv().unwrap();
    }

    #[tokio::test]
    async fn one_more_than_may_be_awaited_ends_though_nobody_polls() {
        let awaited = Awaited::new(1);
        let ((first, _say, _), (second, say, told)) = (waiting(&awaited), waiting(&awaited));
        let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
        say.send(7).unwrap();
        told.await.unwrap();
        assert_eq!(second.await, Some(7));
    }

    #[tokio::test]
    async fn a_dropped_call_goes_on_and_gives_its_turn_back() {
        let awaited = Awaited::new(1);
        for _ in 0..2 {
            let (call, say, told) = waiting(&awaited);
            let mut call = Box::pin(call);
            assert!(poll_once(call.as_mut()).is_pending());
            assert_eq!(awaited.turns.available_permits(), 0);
            drop(call);
            say.send(7).unwrap();
            told.await.unwrap();
            tokio::task::yield_now().await;
            assert_eq!(awaited.turns.available_permits(), 1);
        }
    }

    #[tokio::test]
    async fn what_is_to_end_ends_though_it_was_never_polled() {
        let (tell, told) = oneshot::channel();
        drop(to_end(async move { tell.send(7).unwrap() }));
        assert_eq!(told.await, Ok(7));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_waits_for_what_is_awaited_but_not_for_ever() {
        let awaited = Awaited::new(2);
        let (call, say, _told) = waiting(&awaited);
        let mut call = std::pin::pin!(call);
        assert!(poll_once(call.as_mut()).is_pending());
        assert!(awaited.pause(Duration::from_secs(5)).await.is_none());
        say.send(7).unwrap();
        assert_eq!(call.await, Some(7));
        let paused = awaited.pause(Duration::from_secs(5)).await;
        assert!(paused.is_some());
        assert_eq!(awaited.turns.available_permits(), 0);
        drop(paused);
        assert_eq!(awaited.turns.available_permits(), 2);
    }

    #[test]
    fn without_a_runtime_a_dropped_call_ends() {
        let (call, say, mut told) = waiting(&Awaited::new(1));
        let mut call = Box::pin(call);
        assert!(poll_once(call.as_mut()).is_pending());
        drop(call);
        assert!(say.send(7).is_err());
        assert!(told.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_panic_is_the_callers_or_is_told() {
        let awaited = Awaited::new(1);
        let here = awaited.clone();
        let task = tokio::spawn(async move { here.run(async { panic!("on purpose") }).await });
        assert!(task.await.unwrap_err().is_panic());
        let (call, _say, _told) = waiting(&awaited);
        let mut call = std::pin::pin!(call);
        assert!(poll_once(call.as_mut()).is_pending());
        assert_eq!(awaited.run(async { panic!("on purpose") }).await, None::<()>);
    }
}
