//! Whole numbers of JSON: `485.0` is one, as JSON Schema has it.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Number;

/// Reads a whole number that is not negative, or `null`.
pub(crate) fn whole_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Option::<Number>::deserialize(deserializer)?.map(|number| read(&number)).transpose()
}

fn read<E: Error>(number: &Number) -> Result<u64, E> {
    /// From here on, doubles skip whole numbers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let of_float = || number.as_f64().filter(|float| (0.0..=EXACT).contains(float) && float.fract() == 0.0);
    number
        .as_u64()
        .or_else(|| of_float().map(|float| float as u64))
        .ok_or_else(|| E::custom("a whole number is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_floats_are_whole_numbers() {
        #[derive(Deserialize)]
        struct One(#[serde(deserialize_with = "whole_if_any")] Option<u64>);
        let read = |text: &str| serde_json::from_str::<One>(text).ok().and_then(|one| one.0);
        assert_eq!(
            (read("485"), read("485.0"), read("-0.0"), read("1e3")),
            (Some(485), Some(485), Some(0), Some(1_000))
        );
        for text in ["-1", "0.5", "1e300", "\"1\"", "null", "NaN", "true"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
