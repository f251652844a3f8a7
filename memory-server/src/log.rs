//! Log lines of JSON on stderr, one an event. They hold no content: events of this project hold ids and numbers alone, and those of
//! other crates are left out. A thread of its own writes them: who does not read them holds up no request.

use std::fmt;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use memory::store::secrets::text_without_secrets;
use memory::store::time::{Clock as _, SystemClock};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// How many lines wait for their reader; more are left out, and counted in the next line.
const WAITING: usize = 4_096;

/// Writes events of this process to stderr from now on, unless a subscriber is set already. `is_wanted` chooses them by their
/// target, such as `memory_server::request`, and their level. Those of other projects are never written.
///
/// ```
/// memory_server::log_as_json(|_, level| level <= tracing::Level::INFO);
/// ```
pub fn log_as_json(is_wanted: impl Fn(&str, Level) -> bool + Send + Sync + 'static) {
    let (lines, written) = sync_channel::<String>(WAITING);
    let write = move || {
        for line in written {
            // A closed stderr stops nothing.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    };
    // Without a thread there is no log, and everything else goes on.
    if std::thread::Builder::new().name("log".to_owned()).spawn(write).is_ok() {
        let lines = JsonLines { is_wanted, lines, left_out: AtomicU64::new(0) };
        let _ = tracing::subscriber::set_global_default(lines);
    }
}

struct JsonLines<F> {
    is_wanted: F,
    lines: SyncSender<String>,
    left_out: AtomicU64,
}

fn is_told(metadata: &Metadata<'_>, is_wanted: impl Fn(&str, Level) -> bool) -> bool {
    let is_ours = metadata.is_event() && metadata.target().starts_with("memory");
    is_ours && is_wanted(metadata.target(), *metadata.level())
}

impl<F: Fn(&str, Level) -> bool + Send + Sync + 'static> Subscriber for JsonLines<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_told(metadata, &self.is_wanted)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = members(event);
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            line.insert("left_out".to_owned(), left_out.into());
        }
        if self.lines.try_send(format!("{}\n", Value::Object(line))).is_err() {
            self.left_out.fetch_add(left_out + 1, Ordering::Relaxed);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn members(event: &Event<'_>) -> Map<String, Value> {
    let mut members = Members(Map::new());
    event.record(&mut members);
    let Members(mut members) = members;
    members.insert("at".to_owned(), SystemClock.now().to_string().into());
    members.insert("level".to_owned(), event.metadata().level().as_str().to_lowercase().into());
    members.insert("target".to_owned(), event.metadata().target().into());
    members
}

struct Members(Map<String, Value>);

impl Members {
    fn add(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for Members {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, text_without_secrets(value).into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, text_without_secrets(&format!("{value:?}")).into());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Keeps the lines in place of writing them.
    struct Kept(Arc<Mutex<Vec<Value>>>);

    impl Subscriber for Kept {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            is_told(metadata, |_, level| level <= Level::INFO)
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            self.0.lock().unwrap().push(Value::Object(members(event)));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn events_of_ours_are_objects_without_passwords_and_those_of_others_are_left_out() {
        let lines = Arc::default();
        tracing::subscriber::with_default(Kept(Arc::clone(&lines)), || {
            tracing::info!(target: "memory_server::request", status = 200_u16, operation = "GET /", trace = None::<&str>);
            tracing::warn!(target: "memory_core", error = "no way to postgres://ada:hunter2@host/db", "failed");
            tracing::error!(target: "rmcp::service", "what a client said");
            tracing::debug!(target: "memory_core", "too much");
        });
        let lines = lines.lock().unwrap();
        let [request, failed] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!(
            (&request["status"], &request["operation"], request.get("trace")),
            (&200.into(), &"GET /".into(), None)
        );
        assert_eq!((&failed["message"], &failed["level"]), (&"failed".into(), &"warn".into()));
        assert!(!failed.to_string().contains("hunter2"));
    }
}
