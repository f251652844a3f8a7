//! Messages as rows, inserted in one statement with an array for each column.

use memory_core::plan::chat::{self, Content, Position};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::session::OpenSession;
use crate::error::{Attempt, Doing};

/// A message or summary, with the words by which filters find it.
pub(super) type Encoded = chat::Row<Option<String>>;

/// The columns of rows, each as an array.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) ids: Vec<Uuid>,
    pub(super) digests: Vec<Vec<u8>>,
    pub(super) tokens: Vec<i64>,
    pub(super) counters: Vec<i64>,
    pub(super) roles: Vec<Option<&'static [u8]>>,
    pub(super) speakers: Vec<Option<Vec<u8>>>,
    pub(super) trusts: Vec<Option<i16>>,
    pub(super) times: Vec<Option<i64>>,
    pub(super) words: Vec<Option<String>>,
    pub(super) bodies: Vec<Option<String>>,
}

impl Columns {
    /// Returns the columns of the rows.
    pub(super) fn of(rows: impl IntoIterator<Item = Encoded>) -> Self {
        let mut columns = Self::default();
        for Encoded { id, tokens, counter, digest, content } in rows {
            columns.ids.push(id.0);
            columns.digests.push(digest);
            columns.tokens.push(tokens);
            columns.counters.push(i64::from(counter.0));
            let Some(Content { message, body, facets }) = content else {
                columns.push_empty();
                continue;
            };
            columns.roles.push(Some(message.role.name().as_bytes()));
            columns.speakers.push(message.speaker.clone().map(String::into_bytes));
            columns.trusts.push(Some(message.trust as i16));
            columns.times.push(Some(message.at.0));
            columns.words.push(facets);
            columns.bodies.push(Some(body));
        }
        columns
    }

    fn push_empty(&mut self) {
        self.roles.push(None);
        self.speakers.push(None);
        self.trusts.push(None);
        self.times.push(None);
        self.words.push(None);
        self.bodies.push(None);
    }
}

/// Inserts rows at their positions.
pub(super) async fn insert(
    connection: &mut PgConnection,
    place: &OpenSession<'_>,
    rows: &[(Position, &Encoded)],
    doing: &'static str,
) -> Attempt<()> {
    let sql = "INSERT INTO message (scope, epoch, session, seq, layer, first, archived_by, id, digest, tokens, counter, \
         role, speaker, trust, at, words, body) \
         SELECT $1, $2, $3, seq, layer, first, archived_by, id, digest, tokens, counter, role, speaker, trust, at, \
         words::bytea[], body::json FROM unnest($4::int8[], $5::int8[], $6::int8[], $7::uuid[], $8::uuid[], $9::bytea[], \
         $10::int8[], $11::int8[], $12::bytea[], $13::bytea[], $14::int2[], $15::int8[], $16::text[], $17::text[]) \
         AS m (seq, layer, first, archived_by, id, digest, tokens, counter, role, speaker, trust, at, words, body)";
    let columns = Columns::of(rows.iter().map(|(_, encoded)| (*encoded).clone()));
    let positions = |get: fn(&Position) -> i64| rows.iter().map(|(position, _)| get(position)).collect::<Vec<_>>();
    let firsts: Vec<Option<i64>> = rows.iter().map(|(position, _)| position.first).collect();
    let archives = rows.iter().map(|(position, _)| position.archived_by.map(|summary| summary.0));
    let insert = sqlx::query(sql).bind(place.scope.key()).bind(place.session.epoch).bind(place.name.key());
    let insert = insert.bind(positions(|position| position.seq)).bind(positions(|position| position.layer));
    let insert = insert.bind(firsts).bind(archives.collect::<Vec<_>>()).bind(columns.ids).bind(columns.digests);
    let insert = insert
        .bind(columns.tokens)
        .bind(columns.counters)
        .bind(columns.roles)
        .bind(columns.speakers)
        .bind(columns.trusts);
    let insert = insert.bind(columns.times).bind(columns.words).bind(columns.bodies);
    insert.execute(connection).await.doing(doing).map(|_| ())
}
