//! The receipt of a forget, in words.

use std::fmt;

use super::receipt::{ForgetReceipt, Unasked};

/// Shows how much was forgotten, and what is not complete.
impl fmt::Display for ForgetReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} forgotten", self.removed, if self.removed == 1 { "item" } else { "items" })?;
        if self.derived > 0 {
            write!(f, ", {} of them derived from the others", self.derived)?;
        }
        for store in self.stores.iter().filter(|store| store.remaining != Some(0)) {
            let why = store.why.as_deref().unwrap_or("not all is removed yet");
            write!(f, "\nnot complete: {} ({}): {why}", store.part, store.backend)?;
        }
        for Unasked { index, notes } in self.unasked.iter().filter(|index| index.notes != Some(0)) {
            let notes = notes.map_or("its notes".to_owned(), |notes| format!("{notes} notes"));
            write!(f, "\nnot complete: the index {index} is not open here, and {notes} of the owner wait for it")?;
        }
        if !self.complete {
            f.write_str("\nnothing of it can be recalled any more; upkeep removes the rest")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_could_not_be_asked_is_named() {
        let unasked = vec![Unasked { index: "vector/old".to_owned(), notes: Some(2) }];
        let receipt =
            ForgetReceipt { removed: 3, derived: 1, epoch: None, stores: Vec::new(), unasked, complete: false };
        let told = "3 items forgotten, 1 of them derived from the others\n\
            not complete: the index vector/old is not open here, and 2 notes of the owner wait for it\n\
            nothing of it can be recalled any more; upkeep removes the rest";
        assert_eq!(receipt.to_string(), told);
        let one = ForgetReceipt { removed: 1, derived: 0, unasked: Vec::new(), complete: true, ..receipt };
        assert_eq!(one.to_string(), "1 item forgotten");
    }
}
