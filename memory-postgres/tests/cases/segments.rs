//! Text stores whose documents are folded early and in small groups: random histories give the answers of the reference.

use memory_core::reference::MemText;
use memory_core::store::Store as _;
use memory_core::store::text::{Deletion, TextEntry, TextQuery, TextStore as _, Visibility};
use memory_core::{Epoch, Filter, ItemId, Scope, SessionId, Unit};
use memory_postgres::{PgText, Postgres};
use memory_testkit::generate::{self, Random};
use memory_testkit::{Failure, Scene, check, equal};
use sqlx::Connection as _;

const UNITS: [Unit; 3] = [Unit::Message, Unit::Record, Unit::Span];

/// The owners, items and sessions that a history plays with: few, so that they collide.
struct Players {
    owners: Vec<Scope>,
    items: Vec<ItemId>,
    sessions: Vec<SessionId>,
}

/// A store under test beside the reference.
struct Pair {
    tested: PgText,
    reference: MemText,
    players: Players,
    random: Random,
}

impl Pair {
    fn open(database: &Postgres, seed: u64) -> memory_core::Result<Self> {
        let mut random = Random::new(seed);
        let tenant = uuid::Uuid::now_v7().simple().to_string();
        let owners = generate::owners(&mut random, &tenant, 3)?;
        let mut items: Vec<_> = (0..120)
            .map(|number| {
                let unit = UNITS.get(number % 4).copied().unwrap_or(Unit::Message);
                generate::item(&mut random, unit)
            })
            .collect();
        items.sort();
        items.dedup();
        let sessions = ["s", "S", "s:1", "1"].map(SessionId::new).into_iter().collect::<memory_core::Result<_>>()?;
        let tested = PgText::new(database, "segments-1").with_folding(600, 8);
        let players = Players { owners, items, sessions };
        Ok(Self { tested, reference: MemText::new("segments-1"), players, random })
    }

    fn one_of<T: Clone>(random: &mut Random, list: &[T]) -> Result<T, Failure> {
        let place = random.below(list.len());
        list.get(place).cloned().ok_or_else(|| Failure::new("nothing to draw from"))
    }

    fn entry(&mut self) -> Result<TextEntry, Failure> {
        let item = Self::one_of(&mut self.random, &self.players.items)?;
        let revision = self.random.below(4) as u64;
        let mut entry = generate::entry(&mut self.random, item, revision)?;
        entry.version.epoch = Epoch(self.random.below(3) as u64);
        if let ItemId::Span(session, _) = &entry.item {
            entry.fields.session = Some(session.clone());
        }
        Ok(entry)
    }

    /// Does the same random step to both stores.
    async fn step(&mut self) -> Scene {
        let owner = Self::one_of(&mut self.random, &self.players.owners)?;
        match self.random.below(12) {
            0 => {
                let count = self.random.below(6);
                let items = (0..count).map(|_| {
                    let item = Self::one_of(&mut self.random, &self.players.items)?;
                    Ok((item, generate::bound(&mut self.random)))
                });
                let what = Deletion::Items(items.collect::<Result<_, Failure>>()?);
                self.delete(&owner, &what).await
            }
            1 if self.random.chance(1, 4) => {
                let session = Self::one_of(&mut self.random, &self.players.sessions)?;
                let what = Deletion::Session(session, generate::bound(&mut self.random));
                self.delete(&owner, &what).await
            }
            2 if self.random.chance(1, 4) => {
                let below = Epoch(self.random.below(3) as u64);
                let erased = self.tested.erase(&owner, below).await?;
                equal((erased.removed, erased.remaining), (self.reference.erase(&owner, below).await?.removed, 0))
            }
            3 if self.random.chance(1, 8) => {
                self.tested.clear(&owner).await?;
                Ok(self.reference.clear(&owner).await?)
            }
            _ => {
                let count = if self.random.chance(1, 8) { 60 } else { 1 + self.random.below(4) };
                let entries = (0..count).map(|_| self.entry()).collect::<Result<Vec<_>, _>>()?;
                let rejected = self.tested.put(&owner, &entries, Visibility::AfterFlush).await?;
                equal(rejected.len(), self.reference.put(&owner, &entries, Visibility::AfterFlush).await?.len())
            }
        }
    }

    async fn delete(&self, owner: &Scope, what: &Deletion) -> Scene {
        self.tested.delete(owner, what).await?;
        Ok(self.reference.delete(owner, what).await?)
    }

    /// Passes if both give the same answers: the same statistics, items, order, counts and fields.
    async fn ask(&mut self) -> Scene {
        for owner in self.players.owners.clone() {
            let query = TextQuery {
                terms: generate::terms(&mut self.random, 6)?,
                unit: Self::one_of(&mut self.random, &UNITS)?,
                filter: if self.random.chance(1, 2) { Filter::All } else { generate::filter(&mut self.random, 2) },
                limit: self.random.pick(&[1, 2, 5, 1_000, usize::MAX]),
            };
            let (found, promised) =
                (self.tested.search(&owner, &query).await?, self.reference.search(&owner, &query).await?);
            check!(found == promised, "{query:?} found {found:?} instead of {promised:?}");
        }
        Ok(())
    }
}

/// Random histories give the answers of the reference, and what is deleted leaves no row behind.
pub(crate) async fn histories(database: Postgres, url: String) -> Scene {
    for seed in 0..6 {
        let mut pair = Pair::open(&database, seed)?;
        let mut folded = 0;
        for step in 0..80 {
            pair.step().await?;
            if pair.random.chance(1, 3) {
                pair.ask().await?;
            }
            if step % 20 == 19 {
                folded += count(&url, &pair, "SELECT count(*) FROM text_segment WHERE scope = $1").await?;
            }
        }
        check!(folded > 0, "nothing was folded");
        for owner in pair.players.owners.clone() {
            let items = generate::deletion(pair.players.items.clone());
            pair.delete(&owner, &items).await?;
        }
        pair.ask().await?;
        for sql in [
            "SELECT count(*) FROM text_item WHERE scope = $1",
            "SELECT count(*) FROM text_tail WHERE scope = $1",
            "SELECT count(*) FROM text_segment WHERE scope = $1",
            "SELECT count(*) FROM text_posting WHERE scope = $1",
        ] {
            check!(count(&url, &pair, sql).await? == 0, "rows are left: {sql}");
        }
    }
    Ok(())
}

/// Counts rows of the pair's owners, as an administrator sees them.
async fn count(url: &str, pair: &Pair, sql: &'static str) -> Result<i64, Failure> {
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = sqlx::PgConnection::connect(url).await.map_err(failed)?;
    sqlx::query("SET search_path = search").execute(&mut connection).await.map_err(failed)?;
    let mut sum = 0;
    for owner in &pair.players.owners {
        let count: i64 = sqlx::query_scalar(sql).bind(owner.key()).fetch_one(&mut connection).await.map_err(failed)?;
        sum += count;
    }
    connection.close().await.map_err(failed)?;
    Ok(sum)
}
