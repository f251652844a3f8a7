//! Long texts and questions: what is read of them takes time linear in their length, whatever they say. The input is repeated until
//! it is long, each time with another number behind it, so that its words differ.
//!
//! The first byte chooses the language; 0xFF parts the question from the text.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use memory_fuzz::{analysis, read, texts};

/// How long a short text is, in bytes, and how many times as long a long one.
const SHORT: usize = 2 << 10;
const TIMES: usize = 16;
/// How many times the linear time is an alarm, and how much of it is no matter.
const ALARM: u32 = 4;
const PATIENCE: Duration = Duration::from_millis(200);
/// How often a time is measured again before it is believed.
const TRIES: usize = 3;

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let mut parts = texts(rest);
    let (question, text) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let took = |length| time(|| read(analysis(*choice), &repeated(&question, length), &repeated(&text, length)));
    let mut times = Vec::new();
    let is_linear = (0..TRIES).any(|_| {
        let (short, long) = (took(SHORT), took(SHORT * TIMES));
        times.push((short, long));
        long <= short * TIMES as u32 * ALARM + PATIENCE
    });
    assert!(is_linear, "{TIMES} times as much takes {times:?}");
});

/// Repeats a text until it has about so many bytes.
fn repeated(text: &str, length: usize) -> String {
    if text.is_empty() {
        return String::new();
    }
    (0..length / (text.len() + 2)).map(|number| format!("{text}{number}")).collect()
}

/// Returns how long this thread was at work, not how long it waited for a processor.
fn time(work: impl FnOnce()) -> Duration {
    let now = || {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
        Duration::from_nanos(told.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("a number"))
    };
    let before = now();
    work();
    now().saturating_sub(before)
}
