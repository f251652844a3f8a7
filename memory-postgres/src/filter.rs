//! Compiles core's filters to SQL.
//!
//! A statement calls the filtered table `item`. Its fixed fields are columns, with texts as bytes; the elements of its lists
//! and metadata are the words of one array ([`facets`]). SQL is composed of static pieces and every value is bound, so no
//! text of a caller enters it. Bytes compare like core's texts, and may hold NUL, which PostgreSQL's texts cannot. Every
//! condition is true or false, never null.
//!
//! No SQL index covers words: under row-level security the server may use only leakproof operators in an index, and those of
//! arrays are not (measured on version 15). The owner's key narrows a search first.

mod lead;
mod word;

#[cfg(test)]
mod tests;

use memory_core::error::Result;
use memory_core::filter::{Bounds, Normal, Test};
use memory_core::{Field, Filter, Scalar};
use sqlx::{Postgres, QueryBuilder};

pub(crate) use lead::leads;
pub(crate) use word::facets;

/// The bounds of a filter, well within what one statement can hold.
const MOST: Bounds = Bounds { leaves: 4_096, values: 4_096, levels: 64, depth: 64 };

/// A table that can be filtered, and where it keeps its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilteredTable<'a> {
    /// `message AS item`, of the one session with this name.
    Messages(&'a str),
    /// `record AS item`.
    Records,
    /// A table of a search index `AS item`, which has a column for every field that has one anywhere.
    Index,
}

/// Where a table keeps a field.
enum Source<'a> {
    /// A column of bytes.
    Text(&'static str),
    /// A column with the session's name, and words for further sessions.
    Sessions,
    /// A column of whole numbers.
    Whole(&'static str),
    /// Words that begin like this.
    Words(Vec<u8>),
    /// Every item has this text.
    Constant(&'a str),
    /// No item has it.
    Missing,
}

impl<'a> FilteredTable<'a> {
    fn source(self, field: &Field) -> Source<'a> {
        if let Some(beginning) = word::beginning(field) {
            return Source::Words(beginning);
        }
        match self {
            Self::Messages(session) => match field {
                Field::Unit => Source::Constant("message"),
                Field::Session => Source::Constant(session),
                Field::Seq => Source::Whole("item.seq"),
                Field::Role => Source::Text("item.role"),
                Field::Speaker => Source::Text("item.speaker"),
                Field::Trust => Source::Whole("item.trust"),
                Field::At => Source::Whole("item.at"),
                _ => Source::Missing,
            },
            Self::Records => match field {
                Field::Unit => Source::Constant("record"),
                Field::Session => Source::Sessions,
                Field::Kind => Source::Text("item.kind"),
                Field::Trust => Source::Whole("item.trust"),
                Field::At => Source::Whole("item.at"),
                Field::ExpiresAt => Source::Whole("item.expires_at"),
                Field::ValidFrom => Source::Whole("item.valid_from"),
                Field::ValidTo => Source::Whole("item.valid_to"),
                Field::SupersededAt => Source::Whole("item.superseded_at"),
                _ => Source::Missing,
            },
            Self::Index => match field {
                Field::Unit => Source::Text("item.unit"),
                Field::Seq | Field::Role | Field::Speaker => Self::Messages("").source(field),
                _ => Self::Records.source(field),
            },
        }
    }
}

/// Adds the condition that the current item matches `filter`: true exactly if [`Filter::matches`] is.
///
/// # Errors
/// `Invalid` for a filter too large for one statement.
pub(crate) fn push_filter(sql: &mut QueryBuilder<Postgres>, place: FilteredTable<'_>, filter: &Filter) -> Result<()> {
    Compiler { sql, place }.push(&filter.normal(&MOST)?);
    Ok(())
}

struct Compiler<'q, 'p> {
    sql: &'q mut QueryBuilder<Postgres>,
    place: FilteredTable<'p>,
}

impl Compiler<'_, '_> {
    fn push(&mut self, node: &Normal<'_>) {
        match node {
            Normal::Fixed(outcome) => self.fixed(*outcome),
            Normal::Leaf { field, test, is_negated } => {
                self.sql.push(if *is_negated { "NOT " } else { "" });
                self.leaf(field, test);
            }
            Normal::All(list) => self.list(list, " AND "),
            Normal::Any(list) => self.list(list, " OR "),
        }
    }

    fn list(&mut self, list: &[Normal<'_>], joint: &'static str) {
        for (place, node) in list.iter().enumerate() {
            self.sql.push(if place == 0 { "(" } else { joint });
            self.push(node);
        }
        self.sql.push(")");
    }

    fn leaf(&mut self, field: &Field, test: &Test<'_>) {
        match self.place.source(field) {
            Source::Text(column) => self.texts(column, test),
            Source::Sessions => {
                self.sql.push("(");
                self.texts("item.session", test);
                self.sql.push(" OR ");
                self.words(&word::sessions(), test);
                self.sql.push(")");
            }
            Source::Whole(column) => self.numbers(column, test),
            Source::Words(beginning) => self.words(&beginning, test),
            Source::Constant(text) => self.fixed(test.passes(&Scalar::from(text))),
            Source::Missing => self.fixed(false),
        }
    }

    /// A column of bytes, or null, which makes the condition false.
    fn texts(&mut self, column: &'static str, test: &Test<'_>) {
        let bytes = |value: &Scalar| match value {
            Scalar::Text(text) => Some(text.clone().into_bytes()),
            _ => None,
        };
        self.column(column, test, bytes, |sql, list| _ = sql.push_bind(list), |sql, one| _ = sql.push_bind(one));
    }

    /// A column of whole numbers, or null.
    fn numbers(&mut self, column: &'static str, test: &Test<'_>) {
        let number = |value: &Scalar| match value {
            Scalar::Int(number) => Some(*number),
            _ => None,
        };
        self.column(column, test, number, |sql, list| _ = sql.push_bind(list), |sql, one| _ = sql.push_bind(one));
    }

    fn column<T>(
        &mut self,
        column: &'static str,
        test: &Test<'_>,
        of_type: impl Fn(&Scalar) -> Option<T>,
        bind_list: impl FnOnce(&mut QueryBuilder<Postgres>, Vec<T>),
        bind_one: impl Fn(&mut QueryBuilder<Postgres>, T),
    ) {
        match test {
            Test::Exists => {
                self.sql.push("(").push(column).push(" IS NOT NULL)");
            }
            Test::Among(values) => {
                self.sql.push("coalesce(").push(column).push(" = ANY (");
                bind_list(self.sql, values.iter().filter_map(of_type).collect());
                self.sql.push("), false)");
            }
            Test::Between(from, until) => {
                self.sql.push("(").push(column).push(" IS NOT NULL");
                for (end, sign) in [(from, " >= "), (until, " < ")] {
                    let Some(end) = end else { continue };
                    match of_type(end) {
                        Some(end) => {
                            self.sql.push(" AND ").push(column).push(sign);
                            bind_one(self.sql, end);
                        }
                        // Values of different types never match.
                        None => _ = self.sql.push(" AND false"),
                    }
                }
                self.sql.push(")");
            }
        }
    }

    /// Words of the array: one of them has to pass.
    fn words(&mut self, beginning: &[u8], test: &Test<'_>) {
        let (from, until) = match test {
            Test::Among(values) => {
                let words: Vec<_> = values.iter().filter_map(|value| word::word(beginning, value)).collect();
                self.sql.push("coalesce(item.words && ").push_bind(words).push(", false)");
                return;
            }
            Test::Exists => word::all(beginning),
            Test::Between(from, until) => match word::between(beginning, *from, *until) {
                Some(ends) => ends,
                None => return self.fixed(false),
            },
        };
        self.sql.push("EXISTS (SELECT FROM unnest(item.words) AS found (word) WHERE found.word >= ").push_bind(from);
        self.sql.push(" AND found.word < ").push_bind(until).push(")");
    }

    fn fixed(&mut self, outcome: bool) {
        self.sql.push(if outcome { "true" } else { "false" });
    }
}
