//! Spans of time as people write them: `90s`, `30m`, `12h`, `7d`, `4w`.

use std::time::Duration;

/// Reads a whole number with its unit.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let bad = || "write a whole number and s, m, h, d or w, such as 7d".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
    let (number, unit) = text.split_at(end);
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(bad()),
    };
    let number: u64 = number.parse().map_err(|_| bad())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_numbers_with_a_unit_and_nothing_else() {
        assert_eq!(parse("7d"), Ok(Duration::from_secs(604_800)));
        assert_eq!(parse("90s"), Ok(Duration::from_secs(90)));
        for text in ["", "7", "d", "1.5h", "-1d", "7 d", "99999999999999999999s", "18446744073709551615w"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
