//! The calls of tools of one client, one after the other: whoever writes and then asks without waiting finds what was written.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;

/// How many calls wait at the most. While so many do, nothing is read: no other message, no cancellation, no end.
const WAITING: usize = 100;

/// A transport that hands on a call of a tool when the one before it is answered. All other messages pass as soon as they
/// are read.
pub(super) struct InOrder<T> {
    inner: T,
    waiting: VecDeque<(RequestId, RxJsonRpcMessage<RoleServer>)>,
    /// The call that is not answered yet.
    running: Arc<watch::Sender<Option<RequestId>>>,
    /// Whether the client sends nothing more.
    is_over: bool,
}

impl<T> InOrder<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, waiting: VecDeque::new(), running: Arc::default(), is_over: false }
    }

    /// Returns a message that passes now; none of a call that has to wait.
    fn sort(&mut self, message: RxJsonRpcMessage<RoleServer>) -> Option<RxJsonRpcMessage<RoleServer>> {
        match &message {
            JsonRpcMessage::Request(call) if matches!(call.request, ClientRequest::CallToolRequest(_)) => {
                self.waiting.push_back((call.id.clone(), message));
                return None;
            }
            // Nobody answers a call that is cancelled.
            JsonRpcMessage::Notification(said) => {
                if let ClientNotification::CancelledNotification(cancelled) = &said.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.waiting.retain(|(waiting, _)| waiting != id);
                    end(&self.running, id);
                }
            }
            _ => {}
        }
        Some(message)
    }
}

fn end(running: &watch::Sender<Option<RequestId>>, id: &RequestId) {
    running.send_if_modified(|running| running.take_if(|running| running == id).is_some());
}

impl<T: Transport<RoleServer, Error = io::Error>> Transport<RoleServer> for InOrder<T> {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(answer.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let (sent, running) = (self.inner.send(message), Arc::clone(&self.running));
        async move {
            let sent = sent.await;
            if let Some(id) = answered {
                end(&running, &id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut changes = self.running.subscribe();
        loop {
            let is_free = changes.borrow_and_update().is_none();
            if is_free && let Some((id, call)) = self.waiting.pop_front() {
                self.running.send_replace(Some(id));
                return Some(call);
            }
            if is_free && self.is_over {
                return None;
            }
            // Both may be dropped in the middle: what was read stays in the transport, and a change stays one.
            tokio::select! {
                message = self.inner.receive(), if !self.is_over && self.waiting.len() < WAITING => match message {
                    Some(message) => if let Some(passes) = self.sort(message) { return Some(passes) },
                    None => self.is_over = true,
                },
                _ = changes.changed(), if !is_free => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::model::ServerResult;
    use serde_json::json;
    use tokio::time::timeout;

    use super::*;

    /// A transport whose client has sent its messages already.
    struct Sent(VecDeque<RxJsonRpcMessage<RoleServer>>);

    impl Transport<RoleServer> for Sent {
        type Error = io::Error;

        fn send(&mut self, _: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            self.0.pop_front()
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the id of the next message, 0 of one without; none at the end. A call that has to wait shows nothing.
    async fn next(calls: &mut InOrder<Sent>) -> Option<Option<i64>> {
        let message = timeout(Duration::from_millis(50), calls.receive()).await.ok()?;
        Some(message.map(|message| match message {
            JsonRpcMessage::Request(request) => request.id.to_string().parse().unwrap(),
            _ => 0,
        }))
    }

    fn call(id: i64) -> serde_json::Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "search" } })
    }

    fn ping() -> serde_json::Value {
        json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" })
    }

    fn client(sent: impl IntoIterator<Item = serde_json::Value>) -> InOrder<Sent> {
        InOrder::new(Sent(sent.into_iter().map(|sent| serde_json::from_value(sent).unwrap()).collect()))
    }

    fn answer(id: i64) -> TxJsonRpcMessage<RoleServer> {
        JsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id))
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_is_read_while_many_calls_wait() {
        let many = 101 + i64::try_from(WAITING).unwrap();
        let mut calls = client((101..=many).map(call).chain([ping()]));
        assert_eq!(next(&mut calls).await, Some(Some(101)));
        assert_eq!((next(&mut calls).await, calls.waiting.len()), (None, WAITING));
        calls.send(answer(101)).await.unwrap();
        assert_eq!(next(&mut calls).await, Some(Some(102)));
        assert_eq!(next(&mut calls).await, Some(Some(9)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_for_the_answer_of_the_one_before_it_and_other_messages_pass() {
        let cancel = |id: i64| {
            let params = json!({ "requestId": id });
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
        };
        let mut calls = client([call(1), call(2), ping(), call(3), cancel(3), call(4), call(5)]);
        for first in [1, 9, 0] {
            assert_eq!(next(&mut calls).await, Some(Some(first)));
        }
        assert_eq!(next(&mut calls).await, None);
        // An answer of another request frees nobody.
        calls.send(answer(9)).await.unwrap();
        assert_eq!(next(&mut calls).await, None);
        calls.send(answer(1)).await.unwrap();
        assert_eq!(next(&mut calls).await, Some(Some(2)));
        // Nobody answers what is cancelled while it runs.
        calls.inner.0.push_back(serde_json::from_value(cancel(2)).unwrap());
        calls.is_over = false;
        assert_eq!([next(&mut calls).await, next(&mut calls).await], [Some(Some(0)), Some(Some(4))]);
        calls
            .send(JsonRpcMessage::error(rmcp::ErrorData::invalid_params("no", None), Some(RequestId::Number(4))))
            .await
            .unwrap();
        assert_eq!(next(&mut calls).await, Some(Some(5)));
        // The end comes behind the last answer.
        assert_eq!(next(&mut calls).await, None);
        calls.send(answer(5)).await.unwrap();
        assert_eq!(next(&mut calls).await, Some(None));
    }
}
