//! The answer of a model: shown as it comes, and stored when it has ended.

use std::io;

use memory::receipt::PartKind;
use serde_json::json;

use super::{Conversation, placed};
use crate::assemble::assemble;
use crate::failure::Failure;
use crate::output::{Output, say};
use crate::words;

impl Conversation<'_> {
    /// Has the model answer what was said last. An answer that breaks off, by whatever end of this process too, is not stored. One that
    /// the model ended before all was said is stored with why.
    pub(super) async fn answer(&mut self, said: String) -> Result<(), Failure> {
        let Some(model) = &self.model else { return Ok(()) };
        let context = assemble(&self.session, &said, self.bounds).await?;
        context.receipt.search.troubles().for_each(|trouble| say(&format!("warning: {trouble}")));
        let is_recalled = context.parts.iter().any(|part| part.kind == PartKind::Recalled);
        if self.answering.show_recalled && self.output.is_json() {
            self.output.json(&json!({ "event": "context", "receipt": context.receipt }))?;
        } else if self.answering.show_recalled && is_recalled {
            words::write_recalled(&context, "recalled", &said, self.scoped, self.output).await?;
        }
        let messages = context.messages().cloned().collect();
        self.last = Some((context, said));

        let (mut draft, mut shown) = (self.session.draft(), Ok(()));
        let output = &mut *self.output;
        let mut piece = |words: &str| {
            draft.push(words);
            if shown.is_ok() {
                shown = show(output, words);
            }
        };
        let answered = model.stream(messages, self.answering.max_tokens, &mut piece).await;
        if !self.output.is_json() && !draft.text().is_empty() {
            // At once: what went wrong is told on stderr, and may stand on the same terminal.
            self.output.piece("\n")?;
        }
        shown?;
        let answered = answered.map_err(|error| Failure::Unanswered(error.with_causes()))?;
        if draft.text().trim().is_empty() {
            return Err(Failure::Unanswered(format!("it said nothing, and ended with {:?}", answered.stop)));
        }
        let receipt = match answered.stop {
            stop @ ("length" | "refused") => {
                let receipt = draft.finish_early(stop).await?;
                say(&format!("note: the answer ended with {stop:?}, and is stored with that mark"));
                receipt
            }
            // Servers have names of their own for the end of a whole answer.
            _ => draft.finish().await?,
        };
        if !self.output.is_json() {
            return Ok(());
        }
        let usage = answered.usage.map(|(input, output)| json!({ "input": input, "output": output }));
        let (_, seq) = placed(&receipt);
        Ok(self.output.json(&json!({
            "event": "answered", "model": model.name(), "seq": seq, "text": draft.text(), "stop": answered.stop, "usage": usage
        }))?)
    }

    /// Shows the context behind the last answer.
    pub(super) async fn why(&mut self) -> Result<(), Failure> {
        let Some((context, said)) = self.last.take() else {
            return Err(Failure::Usage("no model has answered yet, or something was forgotten since".to_owned()));
        };
        let shown = self.show(&context, &said).await;
        self.last = Some((context, said));
        shown
    }
}

/// Shows a part of an answer at once.
fn show(output: &mut Output, words: &str) -> io::Result<()> {
    if !output.is_json() {
        return output.piece(words);
    }
    output.json(&json!({ "event": "piece", "text": words }))?;
    output.flush()
}
