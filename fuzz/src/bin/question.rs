//! Texts and questions: their terms, the times and persons in them, excerpts, secrets, orders, and facts. The first byte chooses
//! the language; 0xFF parts the question from the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_fuzz::{analysis, read, texts};

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let mut parts = texts(rest);
    let (question, text) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    read(analysis(*choice), &question, &text);
});
