//! Reading one moment, as people write it where a time is asked for: `2024-05-17`, `yesterday`, `two weeks ago`, `in May`.

use super::{Days, Period, date, last_moment};
use crate::analysis::Analysis;
use crate::error::{Error, Result};
use crate::time::Timestamp;

impl Analysis {
    /// Returns the moment that `text` names: a [`Timestamp`] in one of its forms, `now`, or a time that
    /// [`Analysis::times`] understands, at the end of its last day in UTC, but not after `now`. So `yesterday` is its last
    /// microsecond, and `last week` is now.
    ///
    /// # Errors
    /// `Invalid` if it names no time, or more than one.
    pub fn moment(&self, text: &str, now: Timestamp) -> Result<Timestamp> {
        let text = text.trim();
        if let Ok(at) = text.parse() {
            return Ok(at);
        }
        if ["now", "today"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Ok(now);
        }
        let periods = self.times(text, now);
        let end = match periods.as_slice() {
            [period] => end(period, now),
            _ => None,
        };
        let bad = || {
            let what =
                "not a time: write 2024-05-17, 2024-05-17T18:30:00Z, or words such as yesterday, two weeks ago, in May";
            Error::invalid(what)
        };
        end.map(|end| end.min(now)).ok_or_else(bad)
    }
}

/// Returns the last moment of the days that are meant; of a month or day of any year the newest that has begun.
fn end(period: &Period, now: Timestamp) -> Option<Timestamp> {
    let last = match period.days {
        Days::Between((_, last, _)) => last,
        Days::Yearly { month, day } => {
            let today = now.day()?;
            let of = |year: i16| date(year, month, day).filter(|(first, ..)| *first <= today);
            of(today.year()).or_else(|| of(today.year().checked_sub(1)?))?.1
        }
    };
    last_moment(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wednesday, 14 June 2023.
    const NOW: &str = "2023-06-14T21:30:00Z";

    fn moment(text: &str) -> Result<String> {
        Analysis::english().moment(text, NOW.parse().unwrap()).map(|at| at.to_string())
    }

    #[test]
    fn a_moment_is_the_end_of_the_time_that_is_named_and_never_in_the_future() {
        for (text, at) in [
            ("2023-05-08", "2023-05-08T00:00:00Z"),
            ("2023-05-08T10:00:00Z", "2023-05-08T10:00:00Z"),
            ("now", NOW),
            ("Today", NOW),
            ("yesterday", "2023-06-13T23:59:59.999999Z"),
            ("the day before yesterday", "2023-06-12T23:59:59.999999Z"),
            ("two weeks ago", "2023-05-31T23:59:59.999999Z"),
            ("last Tuesday", "2023-06-13T23:59:59.999999Z"),
            ("last weekend", "2023-06-11T23:59:59.999999Z"),
            ("last week", NOW),
            ("last year", "2022-12-31T23:59:59.999999Z"),
            ("8 May 2023", "2023-05-08T23:59:59.999999Z"),
            ("in May", "2023-05-31T23:59:59.999999Z"),
            ("in June", NOW),
            ("in August", "2022-08-31T23:59:59.999999Z"),
        ] {
            assert_eq!(moment(text).unwrap(), at, "{text}");
        }
    }

    #[test]
    fn what_names_no_time_or_several_is_refused() {
        for text in ["", "someday", "2024-13-01", "in March or in May", "2023"] {
            assert!(moment(text).unwrap_err().to_string().contains("not a time"), "{text}");
        }
    }
}
