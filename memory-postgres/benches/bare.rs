//! The driver alone: the library's statements, and the same work statement by statement.

use std::sync::Arc;

use memory_core::store::chat::{Append, NewMessage};
use memory_core::{Message, Scope, SessionId};
use memory_testkit::bench::Outcome;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{ConnectOptions as _, Row as _};
use uuid::Uuid;

/// How many rows a page has.
pub(crate) const PAGE: usize = 50;

/// A connection to the tables of a schema.
pub(crate) struct Bare {
    connection: PgConnection,
    pub(crate) scope: Scope,
    pub(crate) session: SessionId,
}

/// Messages as statements take them, an array for each column.
#[derive(Default)]
struct Columns {
    ids: Vec<Uuid>,
    digests: Vec<Vec<u8>>,
    tokens: Vec<i64>,
    roles: Vec<Option<&'static [u8]>>,
    speakers: Vec<Option<Vec<u8>>>,
    trusts: Vec<Option<i16>>,
    times: Vec<Option<i64>>,
    words: Vec<Option<String>>,
    bodies: Vec<Option<String>>,
}

impl Columns {
    fn of(session: &SessionId, batch: &Append) -> Outcome<Self> {
        let mut columns = Self::default();
        for NewMessage { message, tokens, .. } in &batch.messages {
            let body = String::from_utf8(message.encode())?;
            columns.ids.push(message.id.0);
            columns.digests.push(Message::digest_of(session, body.as_bytes()).0.to_vec());
            columns.tokens.push(i64::try_from(*tokens)?);
            columns.roles.push(Some(message.role.name().as_bytes()));
            columns.speakers.push(message.speaker.clone().map(String::into_bytes));
            columns.trusts.push(Some(message.trust as i16));
            columns.times.push(Some(message.at.0));
            columns.words.push(None);
            columns.bodies.push(Some(body));
        }
        Ok(columns)
    }
}

impl Bare {
    /// Connects with the settings that the library has.
    pub(crate) async fn connect(url: &str, schema: &str, scope: &Scope, session: &SessionId) -> Outcome<Self> {
        let options: PgConnectOptions = url.parse()?;
        let settings = [("search_path", schema), ("jit", "off"), ("synchronous_commit", "on")];
        let connection = options.options(settings).disable_statement_logging().connect().await?;
        Ok(Self { connection, scope: scope.clone(), session: session.clone() })
    }

    /// Gathers statistics of a schema's tables now, so that the server does not do so while something is measured.
    pub(crate) async fn analyze(&mut self, schema: &str) -> Outcome<()> {
        self.name(schema).await?;
        let sql = "DO $$ BEGIN EXECUTE format('ANALYZE %1$I.message, %1$I.session, %1$I.owner, %1$I.note', \
             current_setting('bench.schema')); END $$";
        sqlx::raw_sql(sql).execute(&mut self.connection).await?;
        Ok(())
    }

    /// Drops a schema.
    pub(crate) async fn drop_schema(&mut self, schema: &str) -> Outcome<()> {
        self.name(schema).await?;
        let sql = "DO $$ BEGIN EXECUTE format('DROP SCHEMA %I CASCADE', current_setting('bench.schema')); END $$";
        sqlx::raw_sql(sql).execute(&mut self.connection).await?;
        Ok(())
    }

    /// Lets a name travel as a setting, because statements are static.
    async fn name(&mut self, schema: &str) -> Outcome<()> {
        let name = sqlx::query("SELECT set_config('bench.schema', $1, false)").bind(schema);
        name.execute(&mut self.connection).await?;
        Ok(())
    }

    /// Appends by the library's statement.
    pub(crate) async fn append(&mut self, batch: &Append) -> Outcome<()> {
        let columns = Columns::of(&self.session, batch)?;
        let sql = "SELECT outcome, state, kinds, numbers, taken \
             FROM append_messages($1, $2, $3, $4, 0, $5, $6, $7, array_fill(0::int8, ARRAY[cardinality($5)]), $8, $9, \
             $10, $11, $12, $13)";
        let call = sqlx::query(sql).bind(self.scope.key()).bind(self.session.key());
        let call = call.bind(None::<i64>).bind(None::<i64>).bind(&columns.ids).bind(&columns.digests);
        let call = call.bind(&columns.tokens).bind(&columns.roles).bind(&columns.speakers).bind(&columns.trusts);
        let call = call.bind(&columns.times).bind(&columns.words).bind(&columns.bodies);
        let row = call.fetch_one(&mut self.connection).await?;
        let (outcome, state): (i16, Vec<Option<i64>>) = (row.try_get(0)?, row.try_get(1)?);
        if outcome == 0 && !state.is_empty() { Ok(()) } else { Err("not all were new".into()) }
    }

    /// Appends without the schema's functions.
    pub(crate) async fn append_by_statements(&mut self, batch: &Append) -> Outcome<()> {
        let columns = Columns::of(&self.session, batch)?;
        let (scope, session) = (self.scope.key(), self.session.key());
        let connection = &mut self.connection;
        sqlx::query("BEGIN").execute(&mut *connection).await?;
        sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(scope).execute(&mut *connection).await?;
        let sql = "SELECT pg_advisory_xact_lock_shared('enlisted'::regclass::oid::integer, 0), \
             pg_advisory_xact_lock_shared(hashtextextended($1, 'owner'::regclass::oid::bigint)), \
             pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 'session'::regclass::oid::bigint))";
        sqlx::query(sql).bind(scope).bind(session).execute(&mut *connection).await?;
        let sql = "SELECT o.epoch, s.head FROM owner AS o JOIN session AS s ON s.scope = o.scope AND s.epoch = o.epoch \
             WHERE o.scope = $1 AND o.truth = 0 AND s.key = $2";
        let state = sqlx::query(sql).bind(scope).bind(session).fetch_one(&mut *connection).await?;
        let (epoch, head): (i64, i64) = (state.try_get(0)?, state.try_get(1)?);
        let sql = "INSERT INTO message (scope, epoch, session, seq, layer, id, digest, tokens, role, speaker, trust, at, \
             words, body) SELECT $1, $2, $3, $4 + n, 0, id, digest, tokens, role, speaker, trust, at, words::bytea[], \
             body::json FROM unnest($5::uuid[], $6::bytea[], $7::int8[], $8::bytea[], $9::bytea[], $10::int2[], \
             $11::int8[], $12::text[], $13::text[]) WITH ORDINALITY \
             AS m (id, digest, tokens, role, speaker, trust, at, words, body, n) \
             ON CONFLICT (scope, epoch, id) DO NOTHING RETURNING id";
        let insert = sqlx::query(sql).bind(scope).bind(epoch).bind(session).bind(head);
        let insert = insert.bind(&columns.ids).bind(&columns.digests).bind(&columns.tokens).bind(&columns.roles);
        let insert = insert.bind(&columns.speakers).bind(&columns.trusts).bind(&columns.times).bind(&columns.words);
        let added = insert.bind(&columns.bodies).fetch_all(&mut *connection).await?.len();
        let sql = "SELECT id, digest FROM message WHERE scope = $1 AND epoch = $2 AND id = ANY ($3)";
        let known = sqlx::query(sql).bind(scope).bind(epoch).bind(&columns.ids).fetch_all(&mut *connection).await?;
        if (added, known.len()) != (columns.ids.len(), columns.ids.len()) {
            return Err("not all were new".into());
        }
        let (count, tokens) = (i64::try_from(added)?, columns.tokens.iter().sum::<i64>());
        let sql = "UPDATE session SET head = head + $4, active_messages = active_messages + $4, \
             active_tokens = active_tokens + $5 WHERE scope = $1 AND epoch = $2 AND key = $3";
        let counters = sqlx::query(sql).bind(scope).bind(epoch).bind(session).bind(count).bind(tokens);
        counters.execute(&mut *connection).await?;
        let sql = "UPDATE note SET upto = $4 WHERE scope = $1 AND epoch = $2 AND session = $3 AND target = 1";
        let notes = sqlx::query(sql).bind(scope).bind(epoch).bind(session).bind(head + count);
        notes.execute(&mut *connection).await?;
        sqlx::query("COMMIT").execute(&mut *connection).await?;
        Ok(())
    }

    /// Reads the newest rows by the library's statement.
    async fn page(&mut self) -> Outcome<Vec<PgRow>> {
        let sql = "SELECT state, id, seq, tokens, counter, first, archived_by, digest, body \
             FROM read_page($1, $2, $3, $4, $5, $6::int8, $7)";
        let rows = sqlx::query(sql).bind(self.scope.key()).bind(self.session.key()).bind(0_i16).bind(0_i64);
        let rows = rows.bind(PAGE as i64).bind(None::<i64>).bind(0_i16).fetch_all(&mut self.connection).await?;
        let state: Option<Vec<Option<i64>>> = rows.first().ok_or("a page without a state")?.try_get(0)?;
        if state.is_some() { Ok(rows) } else { Err("a page without a state".into()) }
    }

    /// Returns the newest messages with their numbers and tokens, by the library's statement.
    pub(crate) async fn messages(&mut self) -> Outcome<Vec<(i64, i64, Arc<Message>)>> {
        let rows = self.page().await?;
        let message = |row: &PgRow| {
            let message = Message::decode("bench", row.try_get::<&str, _>(8)?.as_bytes())?;
            Ok((row.try_get(2)?, row.try_get(3)?, Arc::new(message)))
        };
        rows.iter().skip(1).rev().map(message).collect()
    }

    /// Returns the newest bodies with their numbers and tokens, by the library's statement.
    pub(crate) async fn texts(&mut self) -> Outcome<Vec<(i64, i64, String)>> {
        let rows = self.page().await?;
        rows.iter().skip(1).rev().map(|row| Ok((row.try_get(2)?, row.try_get(3)?, row.try_get(8)?))).collect()
    }

    /// Returns the newest bodies with their numbers and tokens, without the schema's functions.
    pub(crate) async fn texts_by_statements(&mut self) -> Outcome<Vec<(i64, i64, String)>> {
        let (scope, session) = (self.scope.key(), self.session.key());
        let connection = &mut self.connection;
        sqlx::query("BEGIN").execute(&mut *connection).await?;
        sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(scope).execute(&mut *connection).await?;
        let sql = "SELECT o.epoch, s.generation, s.revision, s.head, s.active_messages, s.active_tokens, s.last_at \
             FROM owner AS o JOIN session AS s ON s.scope = o.scope AND s.epoch = o.epoch \
             WHERE o.scope = $1 AND o.truth = 0 AND s.key = $2";
        let state = sqlx::query(sql).bind(scope).bind(session).fetch_one(&mut *connection).await?;
        let sql = "SELECT id, seq, tokens, counter, first, archived_by, digest, body::text FROM message WHERE scope = $1 \
             AND epoch = $3 AND session = $2 AND archived_by IS NULL AND body IS NOT NULL \
             ORDER BY seq DESC, layer DESC LIMIT 50";
        let rows = sqlx::query(sql).bind(scope).bind(session).bind(state.try_get::<i64, _>(0)?);
        let rows = rows.fetch_all(&mut *connection).await?;
        sqlx::query("COMMIT").execute(&mut *connection).await?;
        rows.iter().rev().map(|row| Ok((row.try_get(1)?, row.try_get(2)?, row.try_get(7)?))).collect()
    }
}
