//! Time: microseconds since 1970 in UTC. Only a [`Clock`] reads it; everything else takes it as an argument.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The longest wait: ten years, which can be added to every moment of this machine's clock.
pub(crate) const LONGEST: Duration = Duration::from_secs(3_650 * 86_400);

/// A moment: microseconds since 1970-01-01T00:00:00Z, negative before it.
///
/// Shown as RFC 3339 from the year -9999 to 9999-12-30, and as `@` and the microseconds outside; both parse, and so does 9999-12-31.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the moment `by` later.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it lies after the last moment that can be told.
    pub fn checked_add(self, by: Duration) -> Result<Self> {
        let by = i64::try_from(by.as_micros()).ok();
        by.and_then(|by| self.0.checked_add(by)).map(Self).ok_or_else(|| Error::invalid("the time is out of range"))
    }

    /// Returns the time from `earlier` to `self`, zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        let micros = i128::from(self.0) - i128::from(earlier.0);
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }

    /// Returns the day in UTC; none beyond the years -9999 and 9999.
    pub(crate) fn day(self) -> Option<jiff::civil::Date> {
        let time = jiff::Timestamp::from_microsecond(self.0).ok()?;
        Some(jiff::tz::TimeZone::UTC.to_datetime(time).date())
    }

    /// Returns year, month and day in UTC; none beyond the years -9999 and 9999.
    pub fn date(self) -> Option<(i16, u8, u8)> {
        let date = self.day()?;
        Some((date.year(), u8::try_from(date.month()).ok()?, u8::try_from(date.day()).ok()?))
    }
}

impl Timestamp {
    /// Returns the date and time in UTC to the minute, for people: `2025-05-03 08:14`. What has no date of four digits is shown
    /// as by `Display`.
    pub fn to_minute(self) -> String {
        let text = self.to_string();
        match (text.get(..10), text.get(11..16)) {
            (Some(day), Some(minute)) if !text.starts_with(['@', '-', '+']) => format!("{day} {minute}"),
            _ => text,
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => time.fmt(f),
            Err(_) => write!(f, "@{}", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    /// Parses RFC 3339, a date (midnight UTC), a date and time without offset (UTC), or `@` and microseconds.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::invalid("not a time: write 2024-05-17 or 2024-05-17T18:30:00Z");
        if let Some(micros) = text.strip_prefix('@') {
            return micros.parse().map(Self).map_err(|_| bad());
        }
        if let Ok(time) = text.parse::<jiff::Timestamp>() {
            return Ok(Self(time.as_microsecond()));
        }
        // A date or a time without an offset, or one in the last hours of the year 9999, which the calendar has and jiff's moments lack.
        let parts = jiff::fmt::temporal::Pieces::parse(text).map_err(|_| bad())?;
        let local = parts.date().to_datetime(parts.time().unwrap_or(jiff::civil::Time::midnight()));
        let since = local.duration_since(jiff::civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
        let offset = parts.to_numeric_offset().map_or(0, jiff::tz::Offset::seconds);
        let micros = since.as_micros() - i128::from(offset) * 1_000_000;
        i64::try_from(micros).map(Self).map_err(|_| bad())
    }
}

/// Tells the time. Shared by everything that expires, so that all of it agrees.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the time")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Measures how long something takes, for receipts and statistics.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts measuring.
    #[expect(clippy::disallowed_methods, reason = "the one place that measures time")]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Returns the whole microseconds since the start, as receipts tell them.
    pub fn micros(&self) -> u64 {
        u64::try_from(self.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip_over_the_whole_range() {
        for micros in [0, 1, -1, 1_715_970_600_000_000, i64::MAX, i64::MIN, -210_866_803_200_000_000] {
            let time = Timestamp(micros);
            assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        }
    }

    #[test]
    fn times_are_told_to_the_minute() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().to_minute();
        assert_eq!(at("2025-05-03T08:14:31Z"), "2025-05-03 08:14");
        assert_eq!(at("@9223372036854775807"), "@9223372036854775807");
    }

    #[test]
    fn reads_dates_and_times_and_refuses_the_rest() {
        let read = |text: &str| text.parse::<Timestamp>().map(|time| time.0);
        assert_eq!(read("1970-01-02").unwrap(), 86_400_000_000);
        assert_eq!(read("1970-01-01T00:00:01").unwrap(), 1_000_000);
        assert_eq!(read("1970-01-01T01:00:00+01:00").unwrap(), 0);
        assert_eq!(read("9999-12-31T23:59:59Z").unwrap(), 253_402_300_799_000_000);
        assert_eq!(read("9999-12-31T23:59:59+01:00").unwrap(), 253_402_297_199_000_000);
        assert_eq!(read("9999-12-31").unwrap(), read("9999-12-30").unwrap() + 86_400_000_000);
        assert!(
            ["", "yesterday", "2024-13-01", "@", "@x", "999999-01-01", "2024-05-17Z"]
                .iter()
                .all(|text| read(text).is_err())
        );
    }

    #[test]
    fn addition_that_overflows_is_an_error() {
        assert!(Timestamp(1).checked_add(Duration::from_secs(u64::MAX)).is_err());
        assert!(Timestamp(i64::MAX).checked_add(Duration::from_micros(1)).is_err());
        assert_eq!(Timestamp(5).since(Timestamp(9)), Duration::ZERO);
    }
}
