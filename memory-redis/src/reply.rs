//! The answers of scripts, taken apart.

use memory_core::error::Result;
use redis::Value;

use crate::error::damaged;

const ODD: &str = "an answer has another shape";

/// Takes values out of an answer, in their order.
#[derive(Debug)]
pub(crate) struct Reply {
    values: std::vec::IntoIter<Value>,
    is_done: bool,
}

impl Reply {
    /// Opens an answer that is a list.
    pub(crate) fn open(value: Value) -> Result<Self> {
        let values = match value {
            Value::Array(values) | Value::Set(values) => values,
            Value::Nil => Vec::new(),
            _ => return Err(damaged(ODD)),
        };
        Ok(Self { values: values.into_iter(), is_done: false })
    }

    /// Says that it answers what was done, not what is to be done first.
    pub(crate) fn done(self) -> Self {
        Self { is_done: true, ..self }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    fn value(&mut self) -> Result<Value> {
        self.values.next().ok_or_else(|| damaged(ODD))
    }

    /// Takes a list.
    pub(crate) fn list(&mut self) -> Result<Self> {
        Self::open(self.value()?)
    }

    /// Takes bytes; none for nil.
    pub(crate) fn bytes(&mut self) -> Result<Option<Vec<u8>>> {
        bytes(self.value()?)
    }

    /// Takes a text.
    pub(crate) fn text(&mut self) -> Result<String> {
        let bytes = self.bytes()?.ok_or_else(|| damaged(ODD))?;
        String::from_utf8(bytes).map_err(|_| damaged(ODD))
    }

    /// Takes a number.
    pub(crate) fn number(&mut self) -> Result<u64> {
        number(&self.text()?)
    }

    /// Returns how many values are left.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Takes all that is left, each as a text.
    pub(crate) fn texts(mut self) -> Result<Vec<String>> {
        (0..self.len()).map(|_| self.text()).collect()
    }

    /// Takes all that is left, each a list.
    pub(crate) fn lists(mut self) -> Result<Vec<Self>> {
        (0..self.len()).map(|_| self.list()).collect()
    }

    /// Takes all that is left, each as bytes.
    pub(crate) fn all_bytes(mut self) -> Result<Vec<Option<Vec<u8>>>> {
        (0..self.len()).map(|_| self.bytes()).collect()
    }
}

/// Returns what a value holds as bytes; none for nil.
pub(crate) fn bytes(value: Value) -> Result<Option<Vec<u8>>> {
    match value {
        Value::Nil => Ok(None),
        Value::BulkString(bytes) => Ok(Some(bytes)),
        Value::SimpleString(text) => Ok(Some(text.into_bytes())),
        Value::Int(number) => Ok(Some(number.to_string().into_bytes())),
        Value::Okay => Ok(Some(b"OK".to_vec())),
        _ => Err(damaged(ODD)),
    }
}

/// Returns the number that a text is.
pub(crate) fn number(text: &str) -> Result<u64> {
    text.parse().map_err(|_| damaged("a number is none"))
}
