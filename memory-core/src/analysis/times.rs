//! The times that a question is about: dates that it names, and times relative to when it is asked.

mod alone;
mod moment;

use std::fmt;

use jiff::Span;
use jiff::civil::Date;

use super::persons::words;
use super::{Analysis, Language, fold};
use crate::time::Timestamp;

/// By how many days a date may be off, because a speaker may live on the other side of the date line.
const DAY: i32 = 1;
/// For how many days after an event people tell of it.
const TOLD: i32 = 3;

/// The most times of one question, because every hit is compared with each.
const TIMES: usize = 64;

/// The first and the last day that are meant, and by how many days either may be off.
type Stretch = (Date, Date, i32);

/// The days that a question is about, and the days after them on which people still tell of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    days: Days,
    is_counted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Days {
    /// From the first to the last.
    Between(Stretch),
    /// A month of any year, or a day of it.
    Yearly { month: i8, day: Option<i8> },
}

impl Period {
    /// Returns whether a message said at `at`, in UTC, may tell of these days.
    pub fn covers(&self, at: Timestamp) -> bool {
        self.any(at, |days, at| told(days).is_some_and(|(first, last)| first <= at && at <= last))
    }

    /// Returns whether `at`, in UTC, is one of the days themselves.
    pub(crate) fn holds(&self, at: Timestamp) -> bool {
        self.any(at, |(first, last, _), at| first <= at && at <= last)
    }

    /// Returns the first and the last moment that it [covers](Period::covers); none for days of any year, and beyond the calendar.
    pub(crate) fn reach(&self) -> Option<(Timestamp, Timestamp)> {
        let Days::Between(days) = self.days else { return None };
        let (first, last) = told(days)?;
        let before = last_moment(shifted(first, -1)?)?;
        Some((Timestamp(before.0 + 1), last_moment(last)?))
    }

    fn any(&self, at: Timestamp, is_in: impl Fn(Stretch, Date) -> bool) -> bool {
        let Some(at) = at.day() else { return false };
        match self.days {
            Days::Between(days) => is_in(days, at),
            // People tell of the end of December in January.
            Days::Yearly { month, day } => {
                let years = [at.year(), at.year().saturating_sub(1)];
                years.iter().filter_map(|year| date(*year, month, day)).any(|days| is_in(days, at))
            }
        }
    }

    /// Returns whether it is relative to when the question is asked ("two weeks ago"). Then no word of the question matches a
    /// date.
    pub fn is_counted(&self) -> bool {
        self.is_counted
    }
}

impl fmt::Display for Period {
    /// Writes the first and the last day, as in `2023-05-01 to 2023-05-31`, or month and day of any year, as in `*-05-31`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.days {
            Days::Between(days) => {
                let (first, last) = outer(days).unwrap_or((days.0, days.1));
                write!(f, "{first} to {last}")
            }
            Days::Yearly { month, day: None } => write!(f, "*-{month:02}"),
            Days::Yearly { month, day: Some(day) } => write!(f, "*-{month:02}-{day:02}"),
        }
    }
}

impl Analysis {
    /// Returns the times that a question asked at `now` is about, in UTC: "two weeks ago", "last Tuesday", "in May", "on 8
    /// May 2023". A month or day without a year is that of any year. The first 64 count.
    ///
    /// Empty if it names none or only vague ones ("recently"), or the language has no table for it. English has one.
    pub fn times(&self, question: &str, now: Timestamp) -> Vec<Period> {
        let (Some(Language::English), Some(today)) = (self.0.language, now.day()) else { return Vec::new() };
        let question = fold::normalise(question);
        let words: Vec<String> = words(&question).map(|word| word.bare()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut periods = Vec::new();
        for at in 0..words.len() {
            let (before, rest) = words.split_at(at);
            let counted = since(&self.0.months, before, rest, today).or_else(|| counted(before, rest, today));
            let counted = counted.map(|days| (Days::Between(days), true));
            let named = || named(&self.0.months, before, rest).map(|days| (days, false));
            let period = counted.or_else(named).map(|(days, is_counted)| Period { days, is_counted });
            periods.extend(period.filter(|period| !periods.contains(period)));
            if periods.len() == TIMES {
                break;
            }
        }
        periods
    }
}

/// Reads a date whose month or year stands at the head of `rest`.
fn named(months: &[&str], before: &[&str], rest: &[&str]) -> Option<Days> {
    in_digits(rest)
        .or_else(|| years(rest))
        .or_else(|| year_alone(before, rest))
        .or_else(|| in_words(months, before, rest))
}

/// Reads `2023-05-08`.
fn in_digits(rest: &[&str]) -> Option<Days> {
    let [year, month, day, ..] = rest else { return None };
    let is_date = (year.len(), month.len(), day.len()) == (4, 2, 2);
    date(year_of(year).filter(|_| is_date)?, month.parse().ok()?, Some(day.parse().ok()?)).map(Days::Between)
}

/// Reads `2019 to 2021`, `between 2019 and 2021`.
fn years(rest: &[&str]) -> Option<Days> {
    let (["between", first, "and", last, ..] | [first, "to" | "until" | "through", last, ..]) = rest else {
        return None;
    };
    let (first, last) = (year_of(first)?, year_of(last)?);
    (first <= last).then_some(Days::Between((Date::new(first, 1, 1).ok()?, Date::new(last, 12, 31).ok()?, 0)))
}

/// Reads the month or year of `since March` and `since 2021`: from its first day to today.
fn since(months: &[&str], before: &[&str], rest: &[&str], today: Date) -> Option<Stretch> {
    if before.last() != Some(&"since") {
        return None;
    }
    let (name, after) = rest.split_first()?;
    if let Some(year) = year_of(name) {
        return Some((Date::new(year, 1, 1).ok()?, today, 0));
    }
    let month = i8::try_from(months.iter().position(|month| month == name)? + 1).ok()?;
    let year = after.first().and_then(|year| year_of(year));
    let passed = if month <= today.month() { today.year() } else { today.year().checked_sub(1)? };
    Some((Date::new(year.unwrap_or(passed), month, 1).ok()?, today, 0))
}

/// Reads the year of `in 2023`.
fn year_alone(before: &[&str], rest: &[&str]) -> Option<Days> {
    if matches!(before, [.., first, "to" | "until" | "and"] if year_of(first).is_some()) {
        return None;
    }
    let year = before.last().filter(|word| BEFORE_A_TIME.contains(word)).and(year_of(rest.first()?))?;
    let first = Date::new(year, 1, 1).ok()?;
    Some(Days::Between((first, first.last_of_year(), 0)))
}

/// Reads `May`, `8 May`, `May 8th, 2023`.
fn in_words(months: &[&str], before: &[&str], rest: &[&str]) -> Option<Days> {
    let (name, after) = rest.split_first()?;
    let month = i8::try_from(months.iter().position(|month| month == name)? + 1).ok()?;
    let day_before = match before {
        [.., day, "of"] | [.., day] => day_of(day),
        [] => None,
    };
    let day_after = after.first().and_then(|day| day_of(day)).filter(|_| day_before.is_none());
    let year = after.get(usize::from(day_after.is_some())).and_then(|year| year_of(year));
    let day = day_before.or(day_after);
    let is_time = before.last().is_some_and(|word| BEFORE_A_TIME.contains(word));
    if matches!(*name, "may" | "march") && day.is_none() && year.is_none() && !is_time {
        return None;
    }
    match year {
        Some(year) => date(year, month, day).map(Days::Between),
        None => Some(Days::Yearly { month, day }),
    }
}

/// After these words, "may" and "march" are months and 2023 is a year.
const BEFORE_A_TIME: [&str; 13] =
    ["in", "of", "since", "during", "from", "to", "by", "until", "and", "last", "early", "mid", "late"];

/// Reads a time relative to today at the head of `rest`.
fn counted(before: &[&str], rest: &[&str], today: Date) -> Option<Stretch> {
    match rest {
        ["yesterday", ..] if before.ends_with(&["day", "before"]) => ago(2, "days", today),
        ["yesterday", ..] => ago(1, "day", today),
        ["today" | "tonight", ..] | ["this", "morning" | "afternoon" | "evening", ..] => ago(0, "day", today),
        [number, unit, "before", "last", weekday, ..] => {
            let day = back(last_weekday(weekday_of(weekday)?, today)?, number_of(number)?, unit)?;
            Some((day, day, DAY))
        }
        [weekday, ..] if before.last() == Some(&"on") && weekday_of(weekday).is_some() => past(weekday, today),
        ["last", weekday, ..] if before.last() == Some(&"before") && weekday_of(weekday).is_some() => None,
        ["couple", "of", unit, "ago", ..] => ago(2, unit, today),
        [number, unit, "ago", ..] => ago(number_of(number)?, unit, today),
        ["last" | "past", "couple", "of", unit, ..] => Some((back(today, 2, unit)?, today, 0)),
        ["last" | "past" | "previous", what, after @ ..] => {
            past(what, today).or_else(|| Some((back(today, number_of(what)?, after.first()?)?, today, 0)))
        }
        ["this", "week", ..] => Some((monday(today)?, today, 0)),
        ["this", "month", ..] => Some((today.first_of_month(), today, 0)),
        ["this", "year", ..] => Some((today.first_of_year(), today, 0)),
        _ => None,
    }
}

/// Returns the last week, weekend, month, year or day of the week. A week and a month last until today, because "last month"
/// may mean the one that ends today.
fn past(what: &str, today: Date) -> Option<Stretch> {
    match what {
        "week" => Some((shifted(monday(today)?, -7)?, today, 0)),
        "month" => Some((shifted(today.first_of_month(), -1)?.first_of_month(), today, 0)),
        "year" => shifted(today.first_of_year(), -1).map(|last| (last.first_of_year(), last, 0)),
        "weekend" => {
            let saturday = last_weekday(5, today)?;
            Some((saturday, shifted(saturday, 1)?, DAY))
        }
        _ => {
            let day = last_weekday(weekday_of(what)?, today)?;
            Some((day, day, DAY))
        }
    }
}

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Reads the name of a day of the week, counted from Monday.
fn weekday_of(word: &str) -> Option<i32> {
    WEEKDAYS.iter().position(|name| *name == word).and_then(|weekday| i32::try_from(weekday).ok())
}

/// Returns the last day before today with this weekday, counted from Monday.
fn last_weekday(weekday: i32, today: Date) -> Option<Date> {
    let since = (i32::from(today.weekday().to_monday_zero_offset()) - weekday).rem_euclid(7);
    shifted(today, if since == 0 { -7 } else { -since })
}

fn monday(today: Date) -> Option<Date> {
    shifted(today, -i32::from(today.weekday().to_monday_zero_offset()))
}

/// Returns the day that "`number` units ago" means, give or take half a unit.
fn ago(number: i64, unit: &str, today: Date) -> Option<Stretch> {
    let half = match unit {
        "day" | "days" => DAY,
        "week" | "weeks" => 3,
        "month" | "months" => 15,
        "year" | "years" => 182,
        _ => return None,
    };
    let day = back(today, number, unit)?;
    Some((day, day, half))
}

/// Returns the day `number` units before today.
fn back(today: Date, number: i64, unit: &str) -> Option<Date> {
    let span = match unit {
        "day" | "days" => Span::new().try_days(number),
        "week" | "weeks" => Span::new().try_weeks(number),
        "month" | "months" => Span::new().try_months(number),
        "year" | "years" => Span::new().try_years(number),
        _ => return None,
    };
    today.checked_sub(span.ok()?).ok()
}

/// Returns the first and the last day on which people tell of a stretch.
fn told(days: Stretch) -> Option<(Date, Date)> {
    let (first, last) = outer(days)?;
    Some((first, shifted(last, TOLD)?))
}

/// Returns the first and the last day that may be meant.
fn outer((first, last, off): Stretch) -> Option<(Date, Date)> {
    Some((shifted(first, -off)?, shifted(last, off)?))
}

fn shifted(day: Date, by: i32) -> Option<Date> {
    day.checked_add(Span::new().try_days(by).ok()?).ok()
}

/// Returns the last moment of a day in UTC.
fn last_moment(day: Date) -> Option<Timestamp> {
    let next = day.tomorrow().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp(next.timestamp().as_microsecond().checked_sub(1)?))
}

/// Returns a day, which may be its neighbour, or a month.
fn date(year: i16, month: i8, day: Option<i8>) -> Option<Stretch> {
    let first = Date::new(year, month, day.unwrap_or(1)).ok()?;
    Some(match day {
        Some(_) => (first, first, DAY),
        None => (first, first.last_of_month(), 0),
    })
}

fn number_of(word: &str) -> Option<i64> {
    const NUMBERS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let in_words = NUMBERS.iter().position(|number| *number == word);
    in_words.and_then(|place| i64::try_from(place + 1).ok()).or_else(|| word.parse().ok())
}

/// Reads `8`, `8th`.
fn day_of(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

fn year_of(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| (1900..2100).contains(year))
}

#[cfg(test)]
mod tests;
