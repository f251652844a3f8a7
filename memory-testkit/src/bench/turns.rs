//! Compares variants of the same work that take turns.

use std::time::Duration;

use memory_core::time::Stopwatch;

use super::{Outcome, cpu, say};

/// Measures one turn of one variant.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    watch: Stopwatch,
    cpu: Duration,
}

impl Turn {
    /// Starts the measurement of one turn.
    pub fn start() -> Self {
        Self { cpu: cpu(), watch: Stopwatch::start() }
    }
}

/// What variants of doing the same took. They take turns, so that whatever else the machine does falls on all of them
/// alike.
#[derive(Debug, Default)]
pub struct Turns {
    variants: Vec<Variant>,
}

#[derive(Debug)]
struct Variant {
    name: &'static str,
    /// Of each turn, the wall time and the CPU time of a call, in microseconds.
    walls: Vec<f64>,
    cpus: Vec<f64>,
}

impl Turns {
    /// Lets a variant take its turn: calls `call` with each of `work`, one after the other. Answers are dropped.
    ///
    /// # Errors
    /// The first error of a call.
    pub async fn take<T, R>(
        &mut self,
        name: &'static str,
        work: impl IntoIterator<Item = T>,
        mut call: impl AsyncFnMut(T) -> Outcome<R>,
    ) -> Outcome<()> {
        let (turn, mut calls) = (Turn::start(), 0);
        for item in work {
            call(item).await?;
            calls += 1;
        }
        self.end(name, turn, calls);
        Ok(())
    }

    /// Notes a turn of a variant that made so many calls.
    pub fn end(&mut self, name: &'static str, turn: Turn, calls: usize) {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / calls.max(1) as f64;
        let (wall, spent) = (each(turn.watch.elapsed()), each(cpu().saturating_sub(turn.cpu)));
        match self.variants.iter_mut().find(|variant| variant.name == name) {
            Some(variant) => {
                variant.walls.push(wall);
                variant.cpus.push(spent);
            }
            None => self.variants.push(Variant { name, walls: vec![wall], cpus: vec![spent] }),
        }
    }

    /// Writes a line for each variant, in the order of their first turns: the medians of a call's wall time and of its
    /// CPU time in this process, and which share of the variant's speed the first one keeps.
    pub fn report(mut self, what: &str) {
        say(&format!("{what:<44} {:>9} {:>9} {:>9}", "us a call", "CPU", "kept"));
        let mut first = None;
        for Variant { name, walls, cpus } in &mut self.variants {
            let (wall, spent) = (median(walls), median(cpus));
            let kept = wall / *first.get_or_insert(wall);
            say(&format!("    {name:<40} {wall:>9.0} {spent:>9.0} {kept:>9.2}"));
        }
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
