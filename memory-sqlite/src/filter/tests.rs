use memory_core::{Error, Fields, Limits, Timestamp, Unit};
use memory_testkit::generate::{self, Random};
use sqlx::SqliteConnection;

use super::*;
use crate::index::items::tests::{database, insert};

async fn chosen(connection: &mut SqliteConnection, filter: &Filter) -> Result<Vec<i64>> {
    let mut sql = QueryBuilder::new("SELECT item.id FROM index_item AS item WHERE item.owner = 1 AND ");
    push_filter(&mut sql, FilteredTable::Index(1), filter)?;
    sql.push(" ORDER BY item.id");
    Ok(sql.build_query_scalar().fetch_all(connection).await.unwrap())
}

/// Asserts that SQL and [`Filter::matches`] agree on each of the items.
async fn agree(connection: &mut SqliteConnection, items: &[Fields], filter: &Filter) {
    let numbered = (1_i64..).zip(items);
    let expected: Vec<i64> = numbered.filter(|(_, fields)| filter.matches(fields)).map(|(number, _)| number).collect();
    assert_eq!(chosen(connection, filter).await.unwrap(), expected, "{filter:?}");
}

async fn store(items: &[Fields]) -> SqliteConnection {
    let mut connection = database().await;
    for (number, fields) in (1_i64..).zip(items) {
        insert(&mut connection, number, fields).await;
    }
    connection
}

fn random_items(random: &mut Random, count: usize) -> Vec<Fields> {
    let units = [Unit::Message, Unit::Record, Unit::Span];
    (0..count).map(|number| generate::fields(random, units[number % 3])).collect()
}

#[tokio::test]
async fn sql_agrees_with_the_definition_on_random_filters_and_fields() {
    let mut random = Random::new(20);
    let items = random_items(&mut random, 150);
    let mut connection = store(&items).await;
    for _ in 0..3_000 {
        let filter = generate::filter(&mut random, 3);
        agree(&mut connection, &items, &filter).await;
    }
}

#[tokio::test]
async fn sql_agrees_with_the_definition_on_every_value_of_every_field() {
    let mut random = Random::new(21);
    let items = random_items(&mut random, 60);
    let mut connection = store(&items).await;
    let metadata = generate::METADATA_KEYS.iter().map(|key| Field::Metadata((*key).to_owned()));
    let fields = [
        Field::Unit,
        Field::Session,
        Field::Seq,
        Field::Role,
        Field::Speaker,
        Field::Agent,
        Field::Run,
        Field::Kind,
        Field::Tag,
        Field::Trust,
        Field::Source,
        Field::At,
        Field::ExpiresAt,
        Field::ValidFrom,
        Field::ValidTo,
        Field::SupersededAt,
    ];
    for field in fields.into_iter().chain(metadata) {
        for value in generate::values(&field) {
            let (eq, ne) = (Filter::Eq(field.clone(), value.clone()), Filter::Ne(field.clone(), value.clone()));
            let from = Filter::range(field.clone(), Some(value.clone()), None);
            let until = Filter::range(field.clone(), None, Some(value));
            for filter in [eq, ne, from, until] {
                agree(&mut connection, &items, &filter).await;
                agree(&mut connection, &items, &filter.negate()).await;
            }
        }
    }
    let now = Timestamp(1_000);
    agree(&mut connection, &items, &Filter::current(now)).await;
    agree(&mut connection, &items, &Filter::as_of(Timestamp(0), now)).await;
}

#[tokio::test]
async fn numbers_that_are_none_and_infinite_ones_agree_too() {
    let mut random = Random::new(22);
    let items = random_items(&mut random, 40);
    let mut connection = store(&items).await;
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE] {
        let field = || Field::Metadata("n".to_owned());
        let value = || Scalar::Float(number);
        let range = Filter::range(field(), Some(value()), Some(Scalar::Float(f64::INFINITY)));
        for filter in [Filter::Eq(field(), value()), Filter::Ne(field(), value()), range] {
            agree(&mut connection, &items, &filter).await;
        }
    }
}

#[tokio::test]
async fn the_largest_filters_that_core_lets_pass_are_answered() {
    let mut random = Random::new(23);
    let items = random_items(&mut random, 20);
    let mut connection = store(&items).await;
    let limits = Limits::default();
    let leaf = |number| Filter::eq(Field::Metadata("n".to_owned()), number);
    let wide = Filter::Or((2..limits.filter_clauses as i64 / 2).map(leaf).collect());
    let values = (0..limits.filter_clauses as i64 - 1).map(Scalar::Int).collect();
    let list = Filter::In(Field::Metadata("n".to_owned()), values);
    let deep = (2..limits.filter_depth).fold(leaf(1), |inner, _| Filter::Or(vec![inner, leaf(2)]).negate());
    let deepest = (1..limits.filter_depth).fold(leaf(1), |inner, _| inner.negate());
    for filter in [wide, list, deepest] {
        filter.check(&limits).unwrap();
        agree(&mut connection, &items, &filter).await;
    }
    agree(&mut connection, &items, &deep).await;
}

#[tokio::test]
async fn larger_filters_are_refused_and_not_run() {
    let mut connection = database().await;
    let leaf = || Filter::Exists(Field::Tag);
    let wide = Filter::Or((0..10_000).map(|_| leaf()).collect());
    let list = Filter::In(Field::At, (0..10_000).map(Scalar::Int).collect());
    let deep = (0..1_000).fold(leaf(), |inner, _| inner.negate());
    for filter in [wide, list, deep] {
        assert!(matches!(chosen(&mut connection, &filter).await, Err(Error::Invalid { .. })));
    }
}

#[test]
fn nothing_that_a_caller_wrote_enters_the_statement() {
    let mut random = Random::new(24);
    let mut sql = QueryBuilder::new("");
    for _ in 0..500 {
        for place in [FilteredTable::Messages, FilteredTable::Records, FilteredTable::Index(1)] {
            push_filter(&mut sql, place, &generate::filter(&mut random, 3)).unwrap();
        }
    }
    let hostile = Filter::eq(Field::Metadata("key'); DROP TABLE x; --".to_owned()), "value'); DROP TABLE x; --");
    push_filter(&mut sql, FilteredTable::Index(1), &hostile).unwrap();
    let text = sql.sql().as_str().to_owned();
    let is_ours = |letter: char| letter.is_ascii_alphanumeric() || " _.,()?<>=".contains(letter);
    assert!(text.chars().all(is_ours) && !text.contains("DROP"), "a statement holds what is not ours");
}
