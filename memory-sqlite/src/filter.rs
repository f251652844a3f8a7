//! Compiles core's filters to SQL.
//!
//! A statement calls the filtered table `item`. Its fixed fields are columns; the elements of its lists and metadata are
//! rows of a table of values ([`ValueRow`]). SQL is composed of static pieces and every value is bound, so no text of a
//! caller enters it. Texts compare byte by byte, as in SQLite's default collation. Every condition is true or false, never
//! null.

mod lead;
mod values;

#[cfg(test)]
mod tests;

use memory_core::filter::{Bounds, Normal, Test};
use memory_core::{Field, Filter, Result, Scalar};
use sqlx::{QueryBuilder, Sqlite};

pub(crate) use lead::Lead;
pub(crate) use values::{Bound, EACH_UNIT, ValueRow, role_number, unit_number, unit_of, value_rows};

use values::{ROLES, UNITS, key_of, type_of};

/// The bounds of a filter, well within what one statement of SQLite can hold.
const MOST: Bounds = Bounds { leaves: 4_096, values: 4_096, levels: 64, depth: 64 };

/// A table that can be filtered, and where it keeps its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilteredTable {
    /// `message AS item`, joined with its `session`.
    Messages,
    /// `record AS item`.
    Records,
    /// `index_item AS item`, of the owner with this number.
    Index(i64),
}

/// Where a table keeps a field.
enum Source {
    /// A column of texts.
    Text(&'static str),
    /// A column with the places of texts in this list.
    Named(&'static str, &'static [&'static str]),
    /// A column with the session's name, and rows of the table of values for further sessions.
    Sessions,
    /// A column of whole numbers.
    Whole(&'static str),
    /// Rows of the table of values, under this field and key.
    Values(i64, String),
    /// Every item has this text.
    Constant(&'static str),
    /// No item has it.
    Missing,
}

impl FilteredTable {
    fn source(self, field: &Field) -> Source {
        if let Some((list, key)) = key_of(field) {
            return Source::Values(list, key);
        }
        let (is_message, is_record) = (self == Self::Messages, self == Self::Records);
        match field {
            Field::Unit if is_message => Source::Constant("message"),
            Field::Unit if is_record => Source::Constant("record"),
            Field::Unit => Source::Named("item.unit", &UNITS),
            Field::Session if is_message => Source::Text("session.name"),
            Field::Session => Source::Sessions,
            Field::Trust => Source::Whole("item.trust"),
            Field::At => Source::Whole("item.at"),
            Field::Seq | Field::Role | Field::Speaker if is_record => Source::Missing,
            Field::Seq => Source::Whole("item.seq"),
            Field::Role if is_message => Source::Text("item.role"),
            Field::Role => Source::Named("item.role", &ROLES),
            Field::Speaker => Source::Text("item.speaker"),
            _ if is_message => Source::Missing,
            Field::Kind => Source::Text("item.kind"),
            Field::ExpiresAt => Source::Whole("item.expires_at"),
            Field::ValidFrom => Source::Whole("item.valid_from"),
            Field::ValidTo => Source::Whole("item.valid_to"),
            Field::SupersededAt => Source::Whole("item.superseded_at"),
            Field::Tag | Field::Source | Field::Agent | Field::Run | Field::Metadata(_) => Source::Missing,
        }
    }

    /// The rows of the table of values that belong to the current item; their field is bound after it.
    fn values(self) -> &'static str {
        match self {
            Self::Messages => {
                "EXISTS (SELECT 1 FROM value AS found WHERE found.owner = item.owner AND found.place = 0 \
                 AND found.item = item.item AND found.field = "
            }
            Self::Records => {
                "EXISTS (SELECT 1 FROM value AS found WHERE found.owner = item.owner AND found.place = 1 \
                 AND found.item = item.item AND found.field = "
            }
            Self::Index(_) => {
                "EXISTS (SELECT 1 FROM index_value AS found WHERE found.owner = item.owner \
                 AND found.item = item.id AND found.field = "
            }
        }
    }
}

/// Adds the condition that the current item matches `filter`: true exactly if [`Filter::matches`] is.
///
/// # Errors
/// `Invalid` for a filter too large for one statement.
pub(crate) fn push_filter(sql: &mut QueryBuilder<Sqlite>, place: FilteredTable, filter: &Filter) -> Result<()> {
    Compiler { sql, place }.push(&filter.normal(&MOST)?);
    Ok(())
}

struct Compiler<'q> {
    sql: &'q mut QueryBuilder<Sqlite>,
    place: FilteredTable,
}

impl Compiler<'_> {
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

    /// Writes a list as a balanced tree, because SQLite refuses chains of more than 1,000 operators.
    fn list(&mut self, list: &[Normal<'_>], joint: &'static str) {
        if let [only] = list {
            return self.push(only);
        }
        let (first, second) = list.split_at(list.len() / 2);
        self.sql.push("(");
        self.list(first, joint);
        self.sql.push(joint);
        self.list(second, joint);
        self.sql.push(")");
    }

    fn leaf(&mut self, field: &Field, test: &Test<'_>) {
        match self.place.source(field) {
            Source::Text(column) => self.texts(column, test),
            Source::Sessions => {
                self.sql.push("(");
                match self.place {
                    FilteredTable::Index(owner) => {
                        self.sql.push("(item.session IS NOT NULL AND item.session IN (SELECT named.id ");
                        self.sql
                            .push("FROM index_session AS named WHERE named.owner = ")
                            .push_bind(owner)
                            .push(" AND ");
                        self.texts("named.name", test);
                        self.sql.push("))");
                    }
                    _ => self.texts("item.session", test),
                }
                self.sql.push(" OR ");
                self.rows(values::SESSION, String::new(), test);
                self.sql.push(")");
            }
            Source::Named(column, names) => self.named(column, names, test),
            Source::Whole(column) => self.column(column, test, |value| matches!(value, Scalar::Int(_))),
            Source::Values(list, key) => self.rows(list, key, test),
            Source::Constant(text) => self.fixed(test.passes(&Scalar::from(text))),
            Source::Missing => self.fixed(false),
        }
    }

    fn named(&mut self, column: &'static str, names: &[&str], test: &Test<'_>) {
        let numbers = (0..).zip(names).filter(|(_, name)| test.passes(&Scalar::from(**name)));
        let numbers: Vec<Scalar> = numbers.map(|(number, _)| Scalar::Int(number)).collect();
        self.sql.push("(").push(column).push(" IS NOT NULL AND ").push(column);
        self.among(&numbers.iter().collect::<Vec<_>>());
        self.sql.push(")");
    }

    fn texts(&mut self, column: &'static str, test: &Test<'_>) {
        self.column(column, test, |value| matches!(value, Scalar::Text(_)));
    }

    /// A column that holds values of one type or null; null makes the condition false, not null.
    fn column(&mut self, column: &'static str, test: &Test<'_>, is_of_type: fn(&Scalar) -> bool) {
        self.sql.push("(").push(column).push(" IS NOT NULL");
        match test {
            Test::Exists => {}
            Test::Between(from, until) if from.or(*until).is_some_and(is_of_type) => {
                self.between(column, *from, *until);
            }
            Test::Between(..) => _ = self.sql.push(" AND 0"),
            Test::Among(values) => {
                let values: Vec<_> = values.iter().filter(|value| is_of_type(value)).collect();
                self.sql.push(" AND ").push(column);
                self.among(&values);
            }
        }
        self.sql.push(")");
    }

    /// Rows of the table of values: one of them has to pass.
    fn rows(&mut self, list: i64, key: String, test: &Test<'_>) {
        self.sql.push(self.place.values()).push_bind(list).push(" AND found.key = ").push_bind(key);
        match test {
            Test::Exists => {}
            Test::Between(from, until) => {
                self.sql.push(" AND found.type = ").push_bind(from.or(*until).map(type_of));
                self.between("found.value", *from, *until);
            }
            Test::Among(values) => self.among_types(values),
        }
        self.sql.push(")");
    }

    fn among_types(&mut self, values: &[Scalar]) {
        self.sql.push(" AND (0");
        for of_type in 0..=values::LAST_TYPE {
            let values: Vec<_> = values.iter().filter(|value| type_of(value) == of_type).collect();
            if !values.is_empty() {
                self.sql.push(" OR (found.type = ").push_bind(of_type).push(" AND found.value");
                self.among(&values);
                self.sql.push(")");
            }
        }
        self.sql.push(")");
    }

    fn among(&mut self, values: &[&Scalar]) {
        self.sql.push(" IN (");
        for (place, value) in values.iter().enumerate() {
            if place > 0 {
                self.sql.push(", ");
            }
            self.sql.push_bind(Bound(value));
        }
        self.sql.push(")");
    }

    fn between(&mut self, column: &'static str, from: Option<&Scalar>, until: Option<&Scalar>) {
        for (end, sign) in [(from, " >= "), (until, " < ")] {
            if let Some(end) = end {
                self.sql.push(" AND ").push(column).push(sign);
                self.sql.push_bind(Bound(end));
            }
        }
    }

    fn fixed(&mut self, outcome: bool) {
        self.sql.push(if outcome { "1" } else { "0" });
    }
}
