//! The list of an answer, which ends at a bound of bytes.

use axum::body::{Body, Bytes};
use axum::http::Response;
use serde::Serialize;
use serde_json::Value;

use super::json_of;

/// A list of items in JSON. It ends behind the item that crosses its bound, so that it holds one at least.
#[derive(Clone, Debug)]
pub(crate) struct List {
    items: Vec<Bytes>,
    bytes: usize,
    most: usize,
}

impl List {
    /// Returns an empty list that is full with `most` bytes.
    pub(crate) fn within(most: usize) -> Self {
        Self { items: Vec::new(), bytes: 0, most }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= self.most
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns how many items have room if they are as long as these.
    pub(crate) fn room(&self) -> usize {
        let each = self.bytes.checked_div(self.len()).unwrap_or(0);
        self.most / each.max(1)
    }

    /// Adds an item. It is written at once, and its value need not be kept.
    pub(crate) fn push(&mut self, item: &impl Serialize) {
        self.push_written(written(item));
    }

    /// Adds an item that is JSON already.
    pub(crate) fn push_written(&mut self, item: Bytes) {
        self.bytes = self.bytes.saturating_add(item.len());
        self.items.push(item);
    }

    /// Returns the list with its last item first.
    #[must_use]
    pub(crate) fn reversed(mut self) -> Self {
        self.items.reverse();
        self
    }

    /// Answers with the object `rest` and the list in it.
    pub(crate) fn answer(self, name: &str, rest: &Value) -> Response<Body> {
        let rest = serde_json::to_vec(rest).unwrap_or_default();
        let mut body = Vec::with_capacity(self.bytes + self.items.len() + rest.len() + name.len() + 8);
        body.extend_from_slice(format!("{{\"{name}\":[").as_bytes());
        for (place, item) in self.items.into_iter().enumerate() {
            if place > 0 {
                body.push(b',');
            }
            body.extend_from_slice(&item);
        }
        body.push(b']');
        match rest.strip_prefix(b"{") {
            None | Some(b"}") => body.push(b'}'),
            Some(members) => {
                body.push(b',');
                body.extend_from_slice(members);
            }
        }
        json_of(body)
    }
}

/// Returns a value as JSON.
pub(crate) fn written(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::json;

    use super::*;

    async fn answered(list: List, rest: Value) -> Value {
        serde_json::from_slice(&to_bytes(list.answer("items", &rest).into_body(), usize::MAX).await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_list_stands_among_the_other_members_in_its_order() {
        let mut list = List::within(6);
        assert_eq!(answered(list.clone(), json!({})).await, json!({ "items": [] }));
        list.push(&json!("one"));
        assert!(!list.is_full());
        list.push(&json!(2));
        assert!(list.is_full());
        assert_eq!((list.room(), List::within(6).room()), (2, 6));
        assert_eq!(answered(list.clone(), json!({ "next": null })).await, json!({ "items": ["one", 2], "next": null }));
        assert_eq!(answered(list.reversed(), json!({})).await, json!({ "items": [2, "one"] }));
    }
}
