//! An index that one process rebuilds while another one fills it: nothing stays missing.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Memory, Search};

use super::world::World;
use crate::doubles::{Counting, Cut, Ending, Tapped};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    what_another_process_puts_again_while_an_index_is_cleared_is_not_missing,
    what_another_process_has_in_hand_while_indexes_are_rebuilt_is_not_missing,
]);

/// Enough for a process to ask again which incarnation of an index is to be filled.
const MINUTE: Duration = Duration::from_secs(60);
/// How a call pauses: before the index is asked, or when it has answered.
const PAUSES: [Ending; 2] = [Ending::IsDroppedBefore, Ending::IsDroppedAfter];

/// A memory, and how many messages ada has said.
struct Play {
    world: World,
    said: usize,
}

impl Play {
    async fn begin(bed: &Bed<Stores>) -> Result<Self, Failure> {
        Ok(Self { world: World::open(bed).await?, said: 0 })
    }

    /// Opens the memories of two other processes, in which a call of the index of words, or of that of meaning, pauses when `cut` says
    /// so.
    async fn others(&self, cut: &Arc<Cut>) -> Result<[Memory; 2], Failure> {
        let ground = &self.world.ground;
        let calls = Arc::<Counting>::default();
        let text = Tapped::new(Arc::clone(&ground.text), calls.clone()).cut_by(Arc::clone(cut));
        let vectors = Tapped::new(Arc::clone(&ground.vectors), calls).cut_by(Arc::clone(cut));
        Ok([
            ground.open(|_, builder| builder.text(Arc::new(text))).await?,
            ground.open(|ground, builder| builder.vectors(Arc::new(vectors), ground.embedder.clone())).await?,
        ])
    }

    async fn say(&mut self) -> Scene {
        self.said += 1;
        let talk = self.world.talk("ada")?;
        talk.append(vec![self.world.user(&format!("My rose {} is called Aurora.", self.said))]).await?;
        talk.flush().await?;
        Ok(())
    }

    async fn rebuild_all(&self) -> Scene {
        for index in self.world.memory.indexes().await? {
            check!(self.world.memory.rebuild(&index).await?, "{} is not emptied", index.as_str());
        }
        self.world.tend().await
    }

    /// Lets both processes make the indexes follow truth, and passes if each index has all that was said.
    async fn is_whole(&self, other: &Memory) -> Scene {
        self.world.ground.clock.advance(MINUTE);
        equal(other.upkeep_once().await?.failures, [""; 0])?;
        self.world.tend().await?;
        let found = self.world.ground.reader("ada").await?.search(&Search::new("Aurora").limit(50)).await?;
        equal(found.hits.len(), self.said)?;
        for hit in &found.hits {
            let is_in_both = hit.signals.text_rank.is_some() && hit.signals.vector_rank.is_some();
            check!(is_in_both, "an index does not have {hit:?}");
        }
        Ok(())
    }
}

async fn what_another_process_puts_again_while_an_index_is_cleared_is_not_missing(bed: Bed<Stores>) -> Scene {
    let (mut play, cut) = (Play::begin(&bed).await?, Arc::<Cut>::default());
    play.say().await?;
    play.world.tend().await?;
    for (rebuilding, is_of_meaning) in play.others(&cut).await?.into_iter().zip([false, true]) {
        let indexes = rebuilding.indexes().await?;
        let index = indexes.iter().find(|index| index.is_of_meaning() == is_of_meaning).ok_or("no such index")?;
        for pause in PAUSES {
            play.world.ground.clock.advance(MINUTE);
            cut.arm_at("clear", pause);
            let filled = async {
                cut.reached().await;
                let filled = play.world.memory.upkeep_once().await;
                cut.resume();
                filled
            };
            let (rebuilt, filled) = tokio::join!(rebuilding.rebuild(index), filled);
            let filled = filled?;
            check!(filled.indexed > 0, "nothing was put into {} meanwhile", index.as_str());
            equal(filled.failures, [""; 0])?;
            check!(rebuilt?, "{} is not emptied", index.as_str());
            play.is_whole(&rebuilding).await?;
        }
    }
    Ok(())
}

async fn what_another_process_has_in_hand_while_indexes_are_rebuilt_is_not_missing(bed: Bed<Stores>) -> Scene {
    let (mut play, cut) = (Play::begin(&bed).await?, Arc::<Cut>::default());
    for filling in play.others(&cut).await? {
        for (call, pause) in ["put", "flush"].into_iter().flat_map(|call| PAUSES.map(|pause| (call, pause))) {
            play.say().await?;
            cut.arm_at(call, pause);
            let rebuilt = async {
                cut.reached().await;
                let rebuilt = play.rebuild_all().await;
                cut.resume();
                rebuilt
            };
            let (filled, rebuilt) = tokio::join!(filling.upkeep_once(), rebuilt);
            rebuilt?;
            filled?;
            play.is_whole(&filling).await?;
        }
    }
    Ok(())
}
