//! Runs a siege.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memory_core::engine::Forget;
use memory_core::model::Embedder;
use memory_core::{Clock as _, SystemClock};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::check::{Failure, Scene};
use crate::doubles::FakeEmbedder;
use crate::environment;
use crate::faults::Proxy;
use crate::generate::Random;
use crate::simulation::Ground;
use crate::simulation::act::{Act, Answer, Operation};
use crate::simulation::ledger::{LedgerEntry, Verdict};
use crate::simulation::script::Script;
use crate::simulation::site::{DIMENSION, Site};

use super::counts::SiegeCounts;
use super::journal::Journal;
use super::patient::patient;
use super::places::{Places, Siege};
use super::quiet::quiet;
use super::slot::ProcessSlot;
use super::way::trouble;

/// Operations that are played with the same owners.
const OPERATIONS: usize = 2_000;
/// The most further rounds of a siege of one round, if it shows too little.
const FURTHER: u64 = 3;
/// Processes.
const PROCESSES: usize = 2;
/// What a process does at once.
const LANES: usize = 8;
/// Owners and sessions are forgotten so many times less often than in the simulation, where calls take no time.
const RARELY: usize = 8;
/// How often a write is tried.
const WRITES: usize = 3;
/// How often a forget is asked for at the most.
const FORGETS: usize = 1_000;
/// How long it is waited before something is asked for once more.
const PAUSE: Duration = Duration::from_millis(100);

/// What the lanes of a round have in common.
struct Round {
    siege: Siege,
    site: Site,
    seats: Vec<ProcessSlot>,
    scripts: Vec<Mutex<Script>>,
    operations: usize,
    left: AtomicUsize,
    journal: Arc<Journal>,
    count: Arc<SiegeCounts>,
}

pub(super) async fn hold(siege: Siege, urls: Vec<String>) -> Scene {
    let seed = environment::seed().unwrap_or_else(|| SystemClock.now().0.cast_unsigned());
    let (begun, operations) = (Instant::now(), environment::operations(siege.operations));
    let journal = Arc::new(Journal::begin(&format!("{}-{seed}", siege.name))?);
    let count = Arc::new(SiegeCounts::default());
    let played = play(siege, urls, (seed, operations), &journal, &count).await;
    let SiegeCounts { begun: tried, acknowledged, complete, kills, faults, kept, gone } = &*count;
    let [tried, acknowledged, complete, kills, faults, kept, gone] =
        [tried, acknowledged, complete, kills, faults, kept, gone].map(|count| count.load(Ordering::Relaxed));
    let line = format!(
        "siege of {}: MEMORY_TEST_SEED={seed}, {tried} operations, {acknowledged} acknowledged, {complete} receipts \
         complete, {kept} items that must be there and {gone} that must not, {kills} kills, {faults} faults of the ways, {} s",
        siege.name,
        begun.elapsed().as_secs()
    );
    // Whoever reads no output misses nothing.
    let _ = writeln!(std::io::stderr(), "{line}");
    match played {
        Ok(()) if operations >= OPERATIONS && count.shows_too_little() => {
            Err(Failure::new(format!("{line}: too little")))
        }
        Ok(()) => {
            journal.discard();
            Ok(())
        }
        Err(failure) => {
            journal.note(&failure.to_string());
            Err(Failure::new(format!("{line}; the journal is {}\n{failure}", journal.path.display())))
        }
    }
}

async fn play(
    siege: Siege,
    urls: Vec<String>,
    (seed, operations): (u64, usize),
    journal: &Arc<Journal>,
    count: &Arc<SiegeCounts>,
) -> Scene {
    let name = format!("s{}", Uuid::now_v7().simple());
    let mut ways = Vec::new();
    let mut reached = Vec::new();
    for url in &urls {
        let Some(target) = target(url) else {
            reached.push(url.clone());
            continue;
        };
        let proxy = Proxy::start(target).await.map_err(|error| Failure::new(error.to_string()))?;
        reached.push(proxy.in_place_of(url));
        ways.push(Arc::new(proxy));
    }
    let (direct, reached) = (Places { name: name.clone(), urls }, Places { name, urls: reached });
    let mut left = operations;
    for number in 0.. {
        // Whoever is forgotten until the end leaves nothing that must be there.
        if left == 0 && (1..=FURTHER).contains(&number) && operations == OPERATIONS && count.shows_too_little() {
            left = OPERATIONS;
        }
        let some = left.min(OPERATIONS);
        if some == 0 {
            break;
        }
        let seed = seed.wrapping_add(number);
        journal.note(&format!("round {number}, {some} operations, script {seed}"));
        round(siege, (&direct, &reached), &ways, (seed, some), (journal, count)).await?;
        left -= some;
    }
    Ok(())
}

/// Returns the host and port of a URL that has some.
fn target(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?']).next()?;
    Some(authority.rsplit('@').next()?.to_owned())
}

async fn round(
    siege: Siege,
    (direct, reached): (&Places, &Places),
    ways: &[Arc<Proxy>],
    (seed, operations): (u64, usize),
    (journal, count): (&Arc<Journal>, &Arc<SiegeCounts>),
) -> Scene {
    let embedder = Arc::new(FakeEmbedder::new(DIMENSION));
    let ground = (siege.open)(direct.clone(), embedder.clone()).await?;
    let ground = Ground { cache: None, ..ground };
    let sound = ground.clone().builder(embedder.clone() as Arc<dyn Embedder>).touch(false).build().await?;
    let site = Site::new(&format!("siege-{}", Uuid::now_v7().simple()), ground, embedder, sound)?;
    let seats = (0..PROCESSES).map(|_| ProcessSlot::new(siege, reached.clone())).collect::<Result<Vec<_>, _>>()?;
    let script = |by| Mutex::new(Script::new(seed, by, usize::MAX));
    let round = Arc::new(Round {
        siege,
        site,
        seats,
        scripts: (0..PROCESSES).map(script).collect(),
        operations,
        left: AtomicUsize::new(operations),
        journal: Arc::clone(journal),
        count: Arc::clone(count),
    });
    let mut random = Random::new(seed ^ 0x51e6e);
    let mut troubles = JoinSet::new();
    for way in ways {
        troubles.spawn(trouble(Arc::clone(way), Random::new(random.number()), Arc::clone(journal), Arc::clone(count)));
    }
    let mut lanes: JoinSet<Scene> = JoinSet::new();
    for number in 0..PROCESSES * LANES {
        lanes.spawn(lane(Arc::clone(&round), number % PROCESSES, Random::new(random.number())));
    }
    loop {
        let calm = count.progress(20 + random.below(80));
        tokio::select! {
            ended = lanes.join_next() => match ended {
                None => break,
                Some(ended) => ended.map_err(|stopped| Failure::new(format!("a lane stopped: {stopped}")))??,
            },
            () = calm => {
                let victim = random.below(PROCESSES);
                journal.note(&format!("{victim} is killed"));
                round.seats.get(victim).map_or(Ok(()), ProcessSlot::kill)?;
                count.kills.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    troubles.shutdown().await;
    ways.iter().for_each(|way| way.heal());
    journal.note("the faults stop");
    for seat in &round.seats {
        seat.end().await?;
    }
    for verdict in round.site.ledger.verdicts() {
        match verdict {
            Verdict::Kept => count.kept.fetch_add(1, Ordering::Relaxed),
            Verdict::Gone => count.gone.fetch_add(1, Ordering::Relaxed),
            Verdict::Either => 0,
        };
    }
    let wrong = quiet(&siege, direct, &round.site).await?;
    if wrong.is_empty() { Ok(()) } else { Err(Failure::new(wrong.join("\n"))) }
}

/// Lets a process do one thing after the other.
async fn lane(round: Arc<Round>, by: usize, mut random: Random) -> Scene {
    let Round { siege, site, scripts, left, journal, .. } = &*round;
    loop {
        let Some(script) = scripts.get(by) else { return Ok(()) };
        let (next, pause) = {
            let mut script = script.lock().await;
            (script.next(&site.sessions, site.ledger.items())?, script.pause())
        };
        let Some(act) = next else { return Ok(()) };
        let act = Act { what: act.what.dated(SystemClock.now()), ..act };
        let is_left_out = match &act.what {
            Operation::Forget(what) if !(siege.forgets)(what) => true,
            // Whoever is forgotten all the time, or at the end, has nothing that must be there.
            Operation::Forget(Forget::Everything) => {
                left.load(Ordering::SeqCst) < round.operations / 4 || !random.chance(1, RARELY)
            }
            Operation::Forget(Forget::Session(_)) => !random.chance(1, RARELY),
            _ => false,
        };
        if is_left_out {
            continue;
        }
        if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err() {
            return Ok(());
        }
        round.count.begun.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(pause % 20)).await;
        journal.note(&format!("{by} begins {} {:?}", act.owner, act.what));
        let (entry, answer) = carry_out(&round, &act, &mut random).await?;
        journal.note(&format!("{by} ends {entry:?} {}", answer.line));
        if answer.is_done {
            round.count.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(why) = site.foreign(act.owner, &answer.shown) {
            return Err(Failure::new(why));
        }
        if let (Operation::Forget(what), LedgerEntry::Oblivion(place)) = (&act.what, &entry)
            && answer.is_complete
        {
            round.count.complete.fetch_add(1, Ordering::Relaxed);
            let scope = site.owner(act.owner)?;
            if let Some(why) = patient(|| site.untrue(scope, what, *place)).await? {
                return Err(Failure::new(why));
            }
        }
    }
}

/// Does it, perhaps several times, and notes in the ledger what was answered.
async fn carry_out(round: &Round, act: &Act, random: &mut Random) -> Result<(LedgerEntry, Answer), Failure> {
    let Round { site, seats, journal, .. } = round;
    let seat = seats.get(act.by).ok_or("no such process")?;
    let scope = site.owner(act.owner)?;
    let entry = match &act.what {
        Operation::Forget(_) => {
            let held = patient(|| site.held(scope)).await?;
            site.ledger.begin(act, |item| held.holds(item))
        }
        _ => site.ledger.begin(act, |_| false),
    };
    let tries = match (&act.what, random.chance(1, 2)) {
        (Operation::Forget(_), _) => FORGETS,
        (Operation::Say { .. } | Operation::Remember { .. }, true) => WRITES,
        _ => 1,
    };
    let mut answer = Answer::default();
    for number in 0..tries {
        if number > 0 {
            journal.note(&format!("{} repeats {entry:?} after {}", act.by, answer.line));
            sleep(PAUSE).await;
        }
        answer = match seat.ask(scope, &act.what).await? {
            Some(answer) => answer,
            None => Answer { line: "its process was killed".to_owned(), ..Answer::default() },
        };
        if answer.is_done {
            break;
        }
    }
    if matches!(act.what, Operation::Forget(_)) && !answer.is_done {
        return Err(Failure::new(format!("{:?} fails {FORGETS} times, the last time with {}", act.what, answer.line)));
    }
    site.ledger.end(&entry, &answer);
    Ok((entry, answer))
}
