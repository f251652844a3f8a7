//! Plays the simulation from its beginning to its end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use memory_core::Result;
use memory_core::engine::Memory;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::generate::Random;

use super::script::Script;
use super::wire::{Caller, Weather, Wire};
use super::world::{Plan, World};
use super::writer::{Progress, Shared, write};

/// Passes of upkeep after which everything must be done that can be.
const PASSES: usize = 60;

/// A place is lost, or a lock taken, before this step, if that happens at all.
const SOON: usize = 400;

/// How long a store refuses whatever is asked: so long that five attempts are made in vain.
const REFUSAL: Duration = Duration::from_secs(20);

/// How long writes wait for a lock: so long that their callers give up and repeat them.
const LOCK: Duration = Duration::from_secs(20);

/// Why a play failed.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The seed that repeats it.
    pub seed: u64,
    /// What is wrong.
    pub why: Vec<String>,
    /// What happened, step by step.
    pub trace: Vec<String>,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, why, trace } = self;
        write!(f, "MEMORY_SEED={seed} repeats this:\n{}\n{}", trace.join("\n"), why.join("\n"))
    }
}

/// Plays the simulation that `seed` determines. If it fails, plays it again and records a trace.
///
/// # Errors
/// What was not as it must be.
pub fn play(seed: u64, plan: &Plan) -> std::result::Result<(), Box<Failed>> {
    let (why, _) = perform(seed, plan, false);
    if why.is_empty() {
        return Ok(());
    }
    let (again, trace) = perform(seed, plan, true);
    let why = if again.is_empty() { [vec!["not repeated by its seed".to_owned()], why].concat() } else { again };
    Err(Box::new(Failed { seed, why, trace }))
}

fn perform(seed: u64, plan: &Plan, is_traced: bool) -> (Vec<String>, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let Ok(runtime) = runtime else { return (vec!["there is no runtime".to_owned()], Vec::new()) };
    let wire = Wire::new(seed, plan.may_be_late, is_traced);
    let why = runtime.block_on(async {
        match story(seed, plan, &wire).await {
            Ok(why) => why,
            Err(error) => vec![error.with_causes()],
        }
    });
    (why, wire.trace())
}

/// A process and what runs in it.
struct Process {
    caller: Caller,
    task: JoinHandle<()>,
    role: Role,
}

#[derive(Clone)]
enum Role {
    /// With whether it opens the index of vectors.
    Writer(usize, Shared, bool),
    Upkeep(usize, Arc<std::sync::atomic::AtomicBool>),
}

async fn story(seed: u64, plan: &Plan, wire: &Arc<Wire>) -> Result<Vec<String>> {
    let mut random = Random::new(seed);
    let (faults, kills) = (random.pick(&[0, 10, 30, 100]), random.pick(&[0, 0, 2, 8]));
    let weather = Weather { faults, kills, cache_fails: random.chance(1, 2) };
    let world = Arc::new(World::new(plan, Arc::clone(wire), !weather.cache_fails).await?);
    wire.set(weather);
    if random.chance(1, 16) {
        wire.refuse(random.pick(&["text", "vectors"]), REFUSAL);
    }
    let is_over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut roles: Vec<Role> = Vec::new();
    let mut chance = Random::new(seed ^ 0x10c5);
    let loss = chance.chance(1, 6).then(|| (chance.pick(&["text", "vectors"]), chance.below(SOON)));
    let is_blind = chance.chance(1, 6);
    let lock = chance.chance(1, 8).then(|| (chance.pick(&["chat", "records"]), chance.below(SOON)));
    for by in 0..2 {
        let progress = Progress::new(Script::new(seed, by, 4 + random.below(9)));
        roles.push(Role::Writer(by, Arc::new(tokio::sync::Mutex::new(progress)), !(is_blind && by == 1)));
        roles.push(Role::Upkeep(by, Arc::clone(&is_over)));
    }
    let (mut lives, mut steps) = (0, 0);
    let mut processes: Vec<Process> = roles.into_iter().map(|role| start(&world, role, &mut lives)).collect();
    loop {
        let kill = world.step().await?;
        steps += 1;
        if let Some((part, _)) = loss.filter(|(_, at)| *at == steps) {
            world.lose(part);
        }
        if let Some((part, _)) = lock.filter(|(_, at)| *at == steps) {
            wire.note(|| format!("a lock holds the writes of {part}"));
            wire.lock(part, LOCK);
        }
        if let Some(why) = wire.failure() {
            return Ok(vec![why]);
        }
        if let Some(victim) = kill {
            let place = victim % processes.len();
            let killed = processes.remove(place);
            if killed.task.is_finished() {
                processes.insert(place, killed);
            } else {
                processes.insert(place, restart(&world, &killed, &mut lives));
            }
        }
        let is_writing = |process: &Process| matches!(process.role, Role::Writer(..)) && !process.task.is_finished();
        if !processes.iter().any(is_writing) && !wire.is_refused() {
            break;
        }
    }
    wire.note(|| "the faults stop".to_owned());
    wire.set(Weather::CALM);
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    while !wire.is_empty() || processes.iter().any(|process| !process.task.is_finished()) {
        world.step().await?;
    }
    world.is_fresh().await?;
    if let Some(why) = wire.failure() {
        return Ok(vec![why]);
    }
    let task = tokio::spawn(quiet(Arc::clone(&world)));
    while !task.is_finished() {
        world.step().await?;
    }
    let wrong = task.await.unwrap_or_else(|_| Ok(vec!["the check panicked".to_owned()]))?;
    Ok(wire.failure().into_iter().chain(wrong).collect())
}

fn start(world: &Arc<World>, role: Role, lives: &mut usize) -> Process {
    *lives += 1;
    let name = match &role {
        Role::Writer(by, ..) => format!("writer {by}.{lives}"),
        Role::Upkeep(by, _) => format!("upkeep {by}.{lives}"),
    };
    let caller = Caller::new(name);
    let (world, it, here) = (Arc::clone(world), role.clone(), caller.clone());
    let task = tokio::spawn(async move {
        let with_vectors = !matches!(it, Role::Writer(_, _, false));
        let memory = world.open(&here, with_vectors).await;
        match it {
            Role::Writer(_, script, _) => drop(write(&world, &memory, &script).await),
            Role::Upkeep(_, is_over) => {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    let pass = memory.upkeep_once().await;
                    world.wire.note(|| format!("  {} passed: {pass:?}", here.name));
                    sleep(Duration::from_millis(300)).await;
                }
            }
        }
    });
    Process { caller, task, role }
}

fn restart(world: &Arc<World>, killed: &Process, lives: &mut usize) -> Process {
    world.wire.note(|| format!("{} is killed", killed.caller.name));
    killed.caller.die();
    killed.task.abort();
    if let Role::Writer(by, ..) = &killed.role {
        world.site.ledger.killed(*by);
    }
    start(world, killed.role.clone(), lives)
}

/// Upkeep without faults until nothing is pending, then the check.
async fn quiet(world: Arc<World>) -> Result<Vec<String>> {
    let open = async |name: &str| world.open(&Caller::new(name.to_owned()), true).await;
    let memories: [Memory; 2] = [open("quiet 0").await, open("quiet 1").await];
    for pass in 0..PASSES {
        let report = memories.get(pass % 2).unwrap_or(&world.site.sound).upkeep_once().await?;
        world.wire.note(|| format!("  quiet passed: {report:?}"));
        if pass > 1 && world.site.pending().await? == 0 {
            return world.site.check(&memories).await;
        }
        sleep(Duration::from_secs(600)).await;
    }
    Ok(vec![format!("{} notes are pending after {PASSES} passes", world.site.pending().await?)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Ground;

    #[test]
    fn the_same_seed_always_plays_the_same() {
        // Without what calls were given: ids of summaries and stamps of caches are fresh.
        let calls = |seed| -> Vec<String> {
            let (_, trace) = perform(seed, &Plan::new(Ground::reference), true);
            trace.iter().map(|line| line.split_whitespace().take(4).collect::<Vec<_>>().join(" ")).collect()
        };
        for seed in 0..20 {
            let (first, second) = (calls(seed), calls(seed));
            let differs = first.iter().zip(&second).position(|(first, second)| first != second);
            assert_eq!(
                (differs, first.len()),
                (None, second.len()),
                "{seed}: {:?}",
                differs.map(|at| (&first[at], &second[at]))
            );
        }
    }
}
