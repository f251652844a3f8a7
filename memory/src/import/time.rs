//! The times that other programs write.

use std::time::Duration;

use memory_core::Timestamp;
use serde_json::Value;

const MICROS: f64 = 1_000_000.0;
/// Numbers beyond these are no seconds but thousandths or millionths of them: as seconds they would lie after the year 5000.
const MILLIS_FROM: f64 = 1e11;
const MICROS_FROM: f64 = 1e14;

/// Reads RFC 3339, or the time since 1970 in seconds, whole or not, milliseconds or microseconds, as a number or a text.
pub(super) fn of_value(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => of_seconds(number.as_f64()?),
        Value::String(text) => text.parse().ok().or_else(|| of_seconds(text.parse().ok()?)),
        _ => None,
    }
}

fn of_seconds(seconds: f64) -> Option<Timestamp> {
    let unit = match seconds.abs() {
        size if size >= MICROS_FROM => 1.0,
        size if size >= MILLIS_FROM => 1_000.0,
        _ => MICROS,
    };
    let micros = (seconds * unit).round();
    (micros.abs() < 9e18).then_some(Timestamp(micros as i64))
}

/// Returns the time of the turn at `index` of a session that began at `start`: a second each, so that they differ.
pub(super) fn turn(start: Timestamp, index: u64) -> Timestamp {
    start.checked_add(Duration::from_secs(index)).unwrap_or(start)
}

/// Reads a time as LongMemEval writes it, such as `2023/05/20 (Sat) 02:21`; none if it is written otherwise.
pub fn longmemeval_time(text: &str) -> Option<Timestamp> {
    let mut parts = text.split_whitespace();
    let date = parts.next()?.replace('/', "-");
    let clock = parts.find(|part| part.contains(':')).unwrap_or("00:00");
    format!("{date}T{clock}:00Z").parse().ok()
}

/// Reads `1:56 pm on 8 May, 2023`, as LoCoMo writes it.
pub(super) fn of_locomo(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (clock, date) = text.split_once(" on ")?;
    let (clock, half) = clock.trim().split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let noon = if half.eq_ignore_ascii_case("pm") { 12 } else { 0 };
    let hour = hour.parse::<u32>().ok()? % 12 + noon;
    let mut date = date.split([' ', ',']).filter(|part| !part.is_empty());
    let day = date.next()?.parse::<u32>().ok()?;
    let name = date.next()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|month| name.starts_with(month))? + 1;
    let year = date.next()?;
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute}:00Z").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_seconds_milliseconds_or_microseconds_by_its_size() {
        let at = of_value(&serde_json::json!("2024-05-01T10:00:03Z"));
        for number in ["1714557603", "1714557603.0", "1714557603000", "1714557603000000"] {
            assert_eq!(of_value(&serde_json::from_str(number).unwrap()), at, "{number}");
            assert_eq!(of_value(&Value::from(number)), at, "{number}");
        }
    }

    #[test]
    fn reads_the_times_of_other_programs() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(longmemeval_time("2023/05/20 (Sat) 02:21"), at("2023-05-20T02:21:00Z"));
        assert_eq!(of_locomo("1:56 pm on 8 May, 2023"), at("2023-05-08T13:56:00Z"));
        assert_eq!(of_locomo("12:09 am on 13 September, 2023"), at("2023-09-13T00:09:00Z"));
        assert_eq!(of_value(&serde_json::json!(1_700_000_000.5)), Some(Timestamp(1_700_000_000_500_000)));
        assert_eq!(of_value(&serde_json::json!("2024-01-02")), at("2024-01-02"));
        assert_eq!([of_locomo("soon"), longmemeval_time("x"), of_value(&Value::Null)], [None; 3]);
    }
}
