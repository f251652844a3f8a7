//! The flat scan: one query, the 10 nearest, over all vectors of an owner, beside the bandwidth of the memory.
//!
//! `cargo bench -p memory-core --bench flat`; `-- quick` leaves the largest tables out.
//!
//! Wall times are medians, beside them what 99 of 100 do not exceed; CPU times are means; rates and ratios go by these.
//! Everything in a line is measured in turns, so that a change of the machine's speed meets all of it. `triad` is the bandwidth
//! of `a = b + 3 c` over three arrays that together are as large as the table. Goals: the scan reads at 0.8 of it or more where
//! the table is beyond the cache; one owner's 100 among 100,000 take at most 20 µs.

use std::hint::black_box;
use std::io::Write;

use memory_core::reference::MemVectors;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::time::Stopwatch;
use memory_core::vector::EmbeddingSpace;
use memory_core::{
    Epoch, Field, Fields, Filter, ItemId, RecordId, Result, Scope, Seq, SessionId, Timestamp, Unit, Version,
};
use tokio::runtime::Runtime;

const ROUNDS: usize = 40;
const QUERIES: usize = 5;

/// A small generator of numbers (splitmix64), the same everywhere.
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| (self.number() >> 40) as f32 / (1u32 << 23) as f32 - 1.0).collect()
    }
}

/// Vectors in clusters, as embeddings are.
struct Clusters {
    random: Random,
    centres: Vec<Vec<f32>>,
}

impl Clusters {
    fn new(dimension: usize) -> Self {
        let mut random = Random(1);
        let centres = (0..50).map(|_| random.vector(dimension)).collect();
        Self { random, centres }
    }

    fn draw(&mut self) -> Vec<f32> {
        let centre = self.random.number() as usize % self.centres.len();
        let centre = self.centres.get(centre).cloned().unwrap_or_default();
        let noise = self.random.vector(centre.len());
        centre.iter().zip(noise).map(|(centre, noise)| centre + 0.8 * noise).collect()
    }
}

fn space(dimension: usize) -> EmbeddingSpace {
    EmbeddingSpace { model: "bench".to_owned(), dimension, normalised: false, recipe: "1".to_owned() }
}

fn entry(number: usize, vector: Vec<f32>) -> Result<VectorEntry> {
    let session = SessionId::new(&format!("session {}", number / 100))?;
    let mut fields = Fields::of_span(&session, Seq(1), Timestamp(number as i64));
    fields.unit = Unit::Record;
    let item = ItemId::Record(RecordId::of_content(&number.to_le_bytes()));
    Ok(VectorEntry { item, version: Version { epoch: Epoch(0), revision: 0 }, pieces: vec![vector], fields })
}

fn query(vector: Vec<f32>, filter: Filter) -> VectorQuery {
    VectorQuery { space: space(vector.len()), vector, filter, limit: 10, floor: None, with_vectors: false }
}

/// A line of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([f32; 16]);

struct Triad {
    a: Vec<Line>,
    b: Vec<Line>,
    c: Vec<Line>,
}

impl Triad {
    fn new(bytes: usize) -> Self {
        let lines = (bytes / 3 / size_of::<Line>()).max(1);
        let filled = |number| vec![Line([number; 16]); lines];
        Self { a: filled(0.0), b: filled(1.0), c: filled(2.0) }
    }

    fn run(&mut self) {
        let Self { a, b, c } = self;
        pulp::Arch::new().dispatch(|| {
            for (a, (b, c)) in a.iter_mut().zip(b.iter().zip(c)) {
                for (a, (b, c)) in a.0.iter_mut().zip(b.0.iter().zip(&c.0)) {
                    *a = b + 3.0 * c;
                }
            }
        });
        black_box(&self.a);
    }
}

/// Returns how long this thread has been on a processor; 0 where the system does not tell. It tells in steps of some
/// milliseconds, so only sums of many are good.
fn processor() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = told.and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
    spent.unwrap_or(0) as f64 / 1e9
}

fn seconds(run: impl FnOnce()) -> f64 {
    let watch = Stopwatch::start();
    run();
    watch.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn say(line: &str) {
    // Without an output there is nobody to tell.
    let _ = writeln!(std::io::stdout(), "{line}");
}

struct Stores {
    plain: MemVectors,
    quantised: MemVectors,
}

impl Stores {
    fn filled(runtime: &Runtime, owners: &[(&str, usize)], clusters: &mut Clusters, dimension: usize) -> Result<Self> {
        let plain = MemVectors::new(space(dimension)).with_quantised(false);
        let quantised = MemVectors::new(space(dimension));
        for (owner, count) in owners {
            let scope = Scope::new("bench", owner)?;
            for number in 0..*count {
                let entry = [entry(number, clusters.draw())?];
                runtime.block_on(plain.put(&scope, &entry, Visibility::OnReturn))?;
                runtime.block_on(quantised.put(&scope, &entry, Visibility::OnReturn))?;
            }
        }
        Ok(Self { plain, quantised })
    }
}

fn search(runtime: &Runtime, store: &MemVectors, scope: &Scope, query: &VectorQuery) -> Vec<VectorHit> {
    runtime.block_on(store.search(scope, query)).unwrap_or_default()
}

/// The times of one thing that is measured in turns with others.
#[derive(Default)]
struct Times {
    walls: Vec<f64>,
    processor: f64,
}

impl Times {
    fn of(&mut self, run: impl FnOnce()) {
        let before = processor();
        self.walls.push(seconds(run));
        self.processor += processor() - before;
    }

    /// Returns the wall time that this percentage of them does not exceed.
    fn wall(&mut self, percent: usize) -> f64 {
        self.walls.sort_by(f64::total_cmp);
        self.walls.get(self.walls.len() * percent / 100).copied().unwrap_or(f64::NAN)
    }

    /// Returns the mean of the times on a processor.
    fn mean(&self) -> f64 {
        self.processor / self.walls.len() as f64
    }
}

fn flat(runtime: &Runtime, count: usize, dimension: usize) -> Result<()> {
    let mut clusters = Clusters::new(dimension);
    let stores = Stores::filled(runtime, &[("all", count)], &mut clusters, dimension)?;
    let scope = Scope::new("bench", "all")?;
    let queries: Vec<VectorQuery> = (0..QUERIES).map(|_| query(clusters.draw(), Filter::All)).collect();
    for query in &queries {
        let (plain, quantised) =
            (search(runtime, &stores.plain, &scope, query), search(runtime, &stores.quantised, &scope, query));
        assert!(plain.len() == 10 && plain == quantised, "the answers differ");
    }
    let bytes = count * dimension * 4;
    let mut triad = Triad::new(bytes);
    let [mut triads, mut plain, mut quantised] = [(); 3].map(|()| Times::default());
    for round in 0..ROUNDS * QUERIES * (100_000 / count) {
        let Some(query) = queries.get(round % QUERIES) else { continue };
        triads.of(|| triad.run());
        plain.of(|| drop(black_box(search(runtime, &stores.plain, &scope, query))));
        quantised.of(|| drop(black_box(search(runtime, &stores.quantised, &scope, query))));
    }
    let rate = |time: f64| bytes as f64 / time / 1e9;
    let [wall, slow, cpu] = [plain.wall(50), plain.wall(99), plain.mean()];
    let (name, triad) = (format!("{count} x {dimension}"), triads.mean());
    let [codes, codes_slow, codes_cpu] = [quantised.wall(50), quantised.wall(99), quantised.mean()];
    say(&format!(
        "{name:<16} {:>8.3} {:>8.3} {:>8.3} {:>8.1} {:>8.1} {:>8.2} {:>8.3} {:>8.3} {:>8.3} {:>8.2}",
        wall * 1e3,
        slow * 1e3,
        cpu * 1e3,
        rate(cpu),
        rate(triad),
        triad / cpu,
        codes * 1e3,
        codes_slow * 1e3,
        codes_cpu * 1e3,
        cpu / codes_cpu
    ));
    Ok(())
}

/// One owner's few among the many of another, a session of an owner's own, and puts into a full table.
fn filtered(runtime: &Runtime) -> Result<()> {
    let mut clusters = Clusters::new(384);
    let owners = [("others", 100_000), ("of 100", 100), ("of 1000", 1_000)];
    let stores = Stores::filled(runtime, &owners, &mut clusters, 384)?;
    let session = Filter::eq(Field::Session, "session 7");
    let current = Filter::current(Timestamp(0));
    let cases = [
        ("100 of 101,100, another owner's", "of 100", Filter::All),
        ("1,000 of 101,100, another owner's", "of 1000", Filter::All),
        ("1,000 of 101,100, what is current", "of 1000", current.clone()),
        ("100,000, what is current", "others", current),
        ("100,000, one session of 100", "others", session),
    ];
    for (name, owner, filter) in cases {
        let scope = Scope::new("bench", owner)?;
        let query = query(clusters.draw(), filter);
        assert!(search(runtime, &stores.plain, &scope, &query).len() == 10, "{name}");
        let times = (0..201).map(|_| seconds(|| drop(black_box(search(runtime, &stores.plain, &scope, &query)))));
        say(&format!("{name:<40} {:>10.1} µs", median(times.collect()) * 1e6));
    }
    for owner in ["of 100", "of 1000", "others"] {
        let scope = Scope::new("bench", owner)?;
        let entries = (200_000..201_000).map(|number| entry(number, clusters.draw())).collect::<Result<Vec<_>>>()?;
        let put = |entry: &VectorEntry| {
            seconds(|| {
                let entry = std::slice::from_ref(entry);
                drop(black_box(runtime.block_on(stores.plain.put(&scope, entry, Visibility::OnReturn))));
            })
        };
        say(&format!(
            "{:<40} {:>10.1} µs",
            format!("put one, {owner}"),
            median(entries.iter().map(put).collect()) * 1e6
        ));
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let is_quick = std::env::args().any(|argument| argument == "quick");
    say(format!("{:?}", pulp::Arch::new()).split('(').next().unwrap_or_default());
    say(&format!(
        "{:<16} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "flat scan", "wall ms", "p99 ms", "CPU ms", "GB/s", "triad", "of it", "8 bits", "p99 ms", "CPU ms", "faster"
    ));
    let sizes = [(1_000, 384), (10_000, 384), (100_000, 384), (100_000, 1_536)];
    for (count, dimension) in sizes.into_iter().take(if is_quick { 3 } else { 4 }) {
        flat(&runtime, count, dimension)?;
    }
    filtered(&runtime)?;
    Ok(())
}
