//! The faults of the connections to the servers.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::faults::Proxy;
use crate::generate::Random;

use super::counts::SiegeCounts;
use super::journal::Journal;

/// Lets faults befall a way until it is dropped.
pub(super) async fn trouble(proxy: Arc<Proxy>, mut random: Random, journal: Arc<Journal>, count: Arc<SiegeCounts>) {
    loop {
        let mut some = |most: usize| Duration::from_millis(1 + random.below(most) as u64);
        // What is closed for long opens circuit breakers, and then nothing happens at all.
        let (calm, moment, short, long) = (some(1_500), some(15), some(40), some(1_500));
        sleep(calm).await;
        count.progress(10).await;
        count.fault();
        match random.below(5) {
            0 => {
                let bytes = random.below(600) as u64;
                journal.note(&format!("{} is cut in {bytes} bytes", proxy.address()));
                proxy.cut_after(bytes);
                sleep(moment).await;
            }
            1 => {
                journal.note(&format!("{} answers {short:?} later", proxy.address()));
                proxy.delay_answers(short);
                sleep(short * 4).await;
            }
            2 => {
                journal.note(&format!("{} answers {long:?} later", proxy.address()));
                proxy.delay_answers(long);
                sleep(moment).await;
            }
            3 => {
                journal.note(&format!("{} sends twice", proxy.address()));
                proxy.repeat(20);
                sleep(short * 4).await;
            }
            _ => {
                journal.note(&format!("{} is closed", proxy.address()));
                proxy.refuse();
                sleep(moment).await;
            }
        }
        proxy.heal();
    }
}
