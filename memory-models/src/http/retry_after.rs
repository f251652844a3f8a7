//! The header `Retry-After`: seconds, or a date.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;
use memory_core::Timestamp;

/// Returns how long to wait; none for a header that says neither.
///
/// Seconds and dates are those of [RFC 9110, 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3). A date that is past
/// means no wait. Some servers write fractions of seconds.
pub(super) fn read(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Some(seconds) = header.parse::<f64>().ok().filter(|seconds| !seconds.is_nan()) {
        return Duration::try_from_secs_f64(seconds.min(f64::from(u32::MAX))).ok();
    }
    let date = DateTimeParser::new().parse_timestamp(header).ok()?;
    Some(Timestamp(date.as_microsecond()).since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read_and_the_rest_is_none() {
        let now: Timestamp = "2026-11-25T17:00:00Z".parse().unwrap();
        let read = |header: &str| read(header, now);
        let seconds = Duration::from_secs;
        assert_eq!(read("120"), Some(seconds(120)));
        assert_eq!(read(" 0 "), Some(seconds(0)));
        assert_eq!(read("1.5"), Some(Duration::from_millis(1_500)));
        assert_eq!(read("Wed, 25 Nov 2026 17:00:30 GMT"), Some(seconds(30)));
        assert_eq!(read("Wed, 25 Nov 2026 16:00:00 GMT"), Some(seconds(0)));
        assert_eq!(read("99999999999999999999"), Some(seconds(u64::from(u32::MAX))));
        for header in ["", "-1", "NaN", "soon", "Wed, 25 Nov", "2026-11-25T17:00:30Z", "-inf"] {
            assert_eq!(read(header), None, "{header}");
        }
    }
}
