//! Futures that outlive their callers.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// A future that runs where it is awaited, and goes on in a task of its own if it is dropped before its end. Without a
/// runtime it ends there.
///
/// Awaited to its end it costs no task: no turn of the scheduler between the answer and the caller.
pub(super) struct Outliving<T: Send + 'static> {
    /// Absent once it has ended.
    future: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
}

impl<T: Send + 'static> Outliving<T> {
    pub(super) fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self { future: Some(Box::pin(future)) }
    }
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

    /// Returns a future that waits for a word, and what tells that it went on to its end.
    fn waiting() -> (Outliving<()>, oneshot::Sender<()>, oneshot::Receiver<()>) {
        let (say, hear) = oneshot::channel();
        let (tell, told) = oneshot::channel();
        let future = Outliving::new(async move {
            hear.await.unwrap();
            tell.send(()).unwrap();
        });
        (future, say, told)
    }

    #[tokio::test]
    async fn it_runs_where_it_is_awaited() {
        let (future, say, mut told) = waiting();
        say.send(()).unwrap();
        assert!(told.try_recv().is_err());
        future.await;
        told.try_recv().unwrap();
    }

    #[tokio::test]
    async fn dropped_it_goes_on() {
        for is_begun in [false, true] {
            let (mut future, say, told) = waiting();
            if is_begun {
                let mut context = Context::from_waker(Waker::noop());
                assert!(Pin::new(&mut future).poll(&mut context).is_pending());
            }
            drop(future);
            say.send(()).unwrap();
            told.await.unwrap();
        }
    }

    #[test]
    fn without_a_runtime_it_ends() {
        let (future, say, mut told) = waiting();
        drop(future);
        assert!(say.send(()).is_err());
        assert!(told.try_recv().is_err());
    }

    #[tokio::test]
    async fn after_a_panic_it_does_not_go_on() {
        let future = Outliving::<()>::new(async { panic!("on purpose") });
        let task = tokio::spawn(future).await;
        assert!(task.unwrap_err().is_panic());
    }
}
