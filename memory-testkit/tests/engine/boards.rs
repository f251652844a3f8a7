//! Boards through the engine: what agents share for a while, under the same rules as all else of an owner.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Board, BoardEntry, Forget, Memory, Stage};
use memory_core::model::Embedder as _;
use memory_core::reference::{MemBlackboard, MemChat, MemRecords};
use memory_core::store::blackboard::{Blackboard, BlackboardStats, Keep};
use memory_core::{Epoch, Error, Limits, Scope, SystemClock, Truth};
use memory_testkit::doubles::{Counting, EmbedderMode, Faulty, ManualClock, Tap, Tapped, When};

use crate::bench::{Bench, Taps, session};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn scope(subject: &str) -> Scope {
    Scope::new("acme", subject).unwrap()
}

/// Stores that several memories share, as processes do.
pub(crate) struct Ground {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) chat: Arc<MemChat>,
    records: Arc<MemRecords>,
    pub(crate) board: Arc<MemBlackboard>,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let clock: Arc<ManualClock> = Arc::default();
        let board = Arc::new(MemBlackboard::new(clock.clone(), 3).unwrap());
        Self { clock, chat: Arc::default(), records: Arc::default(), board }
    }

    /// Opens a memory with taps around the upkeep of conversations and around boards, and without any index.
    pub(crate) async fn open(&self, chat: Arc<dyn Tap>, board: Arc<dyn Tap>) -> Memory {
        let chat = Truth::chat(self.chat.clone()).layered_upkeep(|store| Arc::new(Tapped::new(store, chat)));
        let builder = Memory::builder(chat, Truth::records(self.records.clone())).clock(self.clock.clone());
        builder.blackboard(Arc::new(Tapped::new(self.board.clone(), board))).build().await.unwrap()
    }

    pub(crate) async fn plain(&self) -> Memory {
        self.open(Arc::new(Counting::default()), Arc::new(Counting::default())).await
    }

    /// Returns how many entries the store itself holds, whatever truth says.
    pub(crate) async fn held(&self, subject: &str) -> u64 {
        self.board.stats(&scope(subject), Epoch(0)).await.map_or(0, |stats| stats.physical())
    }
}

pub(crate) async fn found(board: &Board, text: &str) -> Vec<String> {
    let found = board.search(text, 9).await.unwrap();
    assert_eq!(found.degraded, []);
    found.hits.into_iter().map(|hit| hit.entry.key).collect()
}

#[tokio::test]
async fn s4_6_a_value_is_found_by_its_key_its_words_and_its_meaning() {
    let bench = Bench::new().await;
    let team = bench.owner("team").blackboard();
    let receipt = team.put(&BoardEntry::new("writer", "Ada writes the surveys")).await.unwrap();
    assert!(!receipt.is_embedded && receipt.degraded.is_empty() && receipt.evicted.is_empty());
    let receipt = team.put(&BoardEntry::new("reader", "teapot glaze").embedded()).await.unwrap();
    assert!(receipt.is_embedded && receipt.degraded.is_empty());
    team.put(&BoardEntry::new("mute", "Boreas")).await.unwrap();
    assert_eq!(team.get("writer").await.unwrap().unwrap().value, "Ada writes the surveys");
    assert_eq!(team.get("absent").await.unwrap(), None);
    // By words in other forms, as the memory's analysis has them, and best first.
    assert_eq!(found(&team, "who wrote a survey?").await.first().unwrap(), "writer");
    // By a vector, which only what is embedded has.
    let [vector] = <[Vec<f32>; 1]>::try_from(
        bench.embedder.embed(&["teapot glaze"], memory_core::model::Purpose::Query).await.unwrap(),
    )
    .unwrap();
    let hits = team.search_vector(&vector, 9).await.unwrap();
    assert_eq!(
        hits.iter().map(|hit| hit.entry.key.as_str()).collect::<Vec<_>>(),
        ["reader"],
        "the others have no vector"
    );
    assert!(hits[0].similarity.value() > 0.99);
    assert!(team.delete("writer").await.unwrap());
    assert!(!team.delete("writer").await.unwrap());
    assert!(!found(&team, "survey").await.contains(&"writer".to_owned()));
    assert_eq!(found(&bench.owner("other").blackboard(), "teapot").await, [""; 0]);
}

#[tokio::test]
async fn s4_6_the_words_of_a_question_find_by_meaning_what_shares_none_of_them() {
    let bench = Bench::new().await;
    let team = bench.owner("team").blackboard();
    // Any two texts are somewhat near for this embedder.
    team.put(&BoardEntry::new("meant", "glaze").embedded()).await.unwrap();
    team.put(&BoardEntry::new("unmeant", "glaze")).await.unwrap();
    assert_eq!(found(&team, "kiln").await, ["meant"]);
    assert_eq!(found(&team, "glaze").await, ["meant", "unmeant"]);
}

#[tokio::test]
async fn s4_6_a_memory_without_a_store_for_boards_has_a_hundred_entries_in_this_process() {
    let bench = Bench::new().await;
    let team = bench.owner("team").blackboard();
    let mut evicted = Vec::new();
    for number in 0..102 {
        evicted.extend(team.put(&BoardEntry::new(format!("k{number}"), "v")).await.unwrap().evicted);
    }
    assert_eq!(evicted, ["k0", "k1"]);
    let stats = team.stats().await.unwrap();
    assert_eq!((stats.board.live, stats.board.capacity), (100, 100));
    let status = bench.memory.status().await;
    let board = status.stores.iter().find(|store| store.part == "board").unwrap();
    assert!(board.health.is_ok() && board.backend == "reference");
}

#[tokio::test(start_paused = true)]
async fn s4_6_an_embedder_that_fails_or_is_late_loses_no_put_and_no_search() {
    let bench = Bench::with(Taps::default(), |builder| builder.patience(Duration::from_secs(2))).await;
    let team = bench.owner("team").blackboard();
    let modes = [
        EmbedderMode::Fails,
        EmbedderMode::NotANumber,
        EmbedderMode::WrongDimension,
        EmbedderMode::Zero,
        EmbedderMode::TooFew,
        EmbedderMode::PanicsOn("survey"),
        EmbedderMode::HangsOn("survey"),
    ];
    for (number, mode) in modes.into_iter().enumerate() {
        bench.embedder.set(mode);
        let receipt = team.put(&BoardEntry::new("plan", format!("the survey {number}")).embedded()).await.unwrap();
        assert!(!receipt.is_embedded, "{mode:?}");
        assert_eq!(
            receipt.degraded.iter().map(|degraded| degraded.stage).collect::<Vec<_>>(),
            [Stage::Embed],
            "{mode:?}"
        );
        assert_eq!(team.get("plan").await.unwrap().unwrap().value, format!("the survey {number}"));
        let sought = team.search(&format!("survey {number}"), 9).await.unwrap();
        assert_eq!(sought.hits.len(), 1, "{mode:?}: by words");
        assert_eq!(
            sought.degraded.iter().map(|degraded| degraded.stage).collect::<Vec<_>>(),
            [Stage::Embed],
            "{mode:?}"
        );
    }
    // What the model knows nothing of is no failure: it has no vector.
    bench.embedder.set(EmbedderMode::KnowsNothingOf("glaze"));
    let receipt = team.put(&BoardEntry::new("plan", "glaze").embedded()).await.unwrap();
    assert!(!receipt.is_embedded && receipt.degraded.is_empty());
    assert_eq!(found(&team, "glaze").await, ["plan"]);
    let receipt = team.put(&BoardEntry::new("blank", " ").embedded()).await.unwrap();
    assert!(!receipt.is_embedded && receipt.degraded.is_empty());
}

#[tokio::test]
async fn s4_6_without_an_embedder_words_find_and_the_put_says_that_it_has_no_vector() {
    let memory = Ground::new().plain().await;
    let team = memory.of(&scope("team")).blackboard();
    let receipt = team.put(&BoardEntry::new("plan", "the survey").embedded()).await.unwrap();
    assert!(!receipt.is_embedded && receipt.degraded.len() == 1);
    assert_eq!(found(&team, "surveys").await, ["plan"]);
    assert!(matches!(team.search_vector(&[1.0], 1).await, Err(Error::Unsupported { .. })));
}

#[tokio::test]
async fn s4_6_keys_values_questions_and_lives_are_bounded() {
    let mut limits = Limits::default();
    limits.board_value_bytes = 10;
    limits.query_bytes = 10;
    let bench = Bench::with(Taps::default(), |builder| builder.limits(limits)).await;
    let team = bench.owner("team").blackboard();
    let bad = [
        BoardEntry::new("", "v"),
        BoardEntry::new("k".repeat(256), "v"),
        BoardEntry::new("k", "v".repeat(11)),
        BoardEntry::new("k", "v").with_ttl(Duration::ZERO),
    ];
    for entry in bad {
        assert!(matches!(team.put(&entry).await, Err(Error::Invalid { .. })), "{entry:?}");
    }
    assert!(matches!(team.search(&"w".repeat(11), 1).await, Err(Error::Invalid { .. })));
    assert!(matches!(team.search("w", 0).await, Err(Error::Invalid { .. })));
    let vector = vec![1.0; bench.embedder.space().dimension];
    assert!(matches!(team.search_vector(&vector[1..], 1).await, Err(Error::Invalid { .. })));
    assert!(matches!(team.search_vector(&vector, usize::MAX).await, Err(Error::Invalid { .. })));
    assert_eq!(team.stats().await.unwrap().board.physical(), 0);
    assert_eq!(bench.embedder.asked(), 0, "what is refused is not embedded");
    team.put(&BoardEntry::new("k".repeat(255), "v".repeat(10))).await.unwrap();
}

#[tokio::test]
async fn s4_7_upkeep_sweeps_what_has_expired_on_the_boards_of_this_process() {
    let bench = Bench::new().await;
    let [team, other] = ["team", "other"].map(|subject| bench.owner(subject).blackboard());
    for board in [&team, &other] {
        board.put(&BoardEntry::new("a", "v").with_ttl(MINUTE)).await.unwrap();
        board.put(&BoardEntry::new("b", "v").with_ttl(2 * MINUTE)).await.unwrap();
        board.put(&BoardEntry::new("c", "v")).await.unwrap();
    }
    assert_eq!(bench.memory.upkeep_once().await.unwrap().expired, 0);
    bench.clock.advance(MINUTE);
    assert_eq!(other.sweep().await.unwrap(), 1);
    let stats = team.stats().await.unwrap().board;
    assert_eq!((stats.live, stats.expired, stats.physical()), (2, 1, 3));
    assert_eq!(bench.memory.upkeep_once().await.unwrap().expired, 1);
    bench.clock.advance(MINUTE);
    assert_eq!(bench.memory.upkeep_once().await.unwrap().expired, 2);
    let stats = team.stats().await.unwrap().board;
    assert_eq!((stats.live, stats.expired), (1, 0));
}

#[tokio::test]
async fn s4_7_what_another_process_left_is_swept_once_the_board_is_used() {
    let ground = Ground::new();
    let gone = ground.plain().await;
    gone.of(&scope("team")).blackboard().put(&BoardEntry::new("a", "v").with_ttl(MINUTE)).await.unwrap();
    drop(gone);
    ground.clock.advance(MINUTE);
    let here = ground.plain().await;
    assert_eq!(here.upkeep_once().await.unwrap().expired, 0);
    assert_eq!(here.of(&scope("team")).blackboard().get("a").await.unwrap(), None);
    assert_eq!(here.upkeep_once().await.unwrap().expired, 1);
}

#[tokio::test]
async fn boards_that_are_away_cost_a_pass_few_calls() {
    let (ground, counting) = (Ground::new(), Arc::new(Counting::default()));
    let away = Arc::new(Faulty::at(1, When::Before).of("sweep").lasting());
    let memory = ground.open(counting.clone(), away).await;
    for number in 0..20 {
        memory.of(&scope(&format!("team {number}"))).blackboard().get("a").await.unwrap();
    }
    for _ in 0..7 {
        counting.reset();
        assert!(!memory.upkeep_once().await.unwrap().failures.is_empty());
        assert_eq!(counting.calls("epoch"), 3);
    }
}

#[tokio::test]
async fn s4_7_a_board_that_fails_is_swept_by_the_next_pass_and_holds_up_no_other() {
    let ground = Ground::new();
    let memory = ground.open(Arc::new(Counting::default()), Arc::new(Faulty::at(1, When::Before).of("sweep"))).await;
    for subject in ["one", "two"] {
        memory.of(&scope(subject)).blackboard().put(&BoardEntry::new("a", "v").with_ttl(MINUTE)).await.unwrap();
    }
    ground.clock.advance(MINUTE);
    let report = memory.upkeep_once().await.unwrap();
    assert_eq!((report.expired, report.failures.len()), (1, 1));
    let report = memory.upkeep_once().await.unwrap();
    assert_eq!((report.expired, report.failures.len()), (1, 0));
}

#[tokio::test]
async fn s4_8_refreshing_by_use_can_be_off() {
    for (keep, evicted) in [(Keep::Used, "b"), (Keep::Put, "a")] {
        let board = Arc::new(MemBlackboard::new(Arc::new(SystemClock), 2).unwrap().with_keep(keep));
        let bench = Bench::with(Taps::default(), |builder| builder.blackboard(board)).await;
        let team = bench.owner("team").blackboard();
        team.put(&BoardEntry::new("a", "survey")).await.unwrap();
        team.put(&BoardEntry::new("b", "teapot")).await.unwrap();
        team.get("a").await.unwrap();
        assert_eq!(team.put(&BoardEntry::new("c", "v")).await.unwrap().evicted, [evicted]);
    }
}

/// The calls of an agent manager: `create_agent_buffer`, `add_to_agent`, `add_to_blackboard` with and without an embedding,
/// `get`, `recall`, `remove_agent`.
#[tokio::test]
async fn s4_9_a_team_of_agents_shares_a_board_and_keeps_its_own_conversations() {
    let bench = Bench::new().await;
    let agent = |name: &str| bench.owner(&format!("agent:{name}"));
    let [planner, writer] = ["planner", "writer"].map(|name| agent(name).session(&session("buffer")));
    planner.append(vec![bench.user("Plan the teapot survey.")]).await.unwrap();
    writer.append(vec![bench.user("Write in British English.")]).await.unwrap();

    // Each agent has a handle of its own to the board of the team.
    let [of_planner, of_writer] = [0, 1].map(|_| bench.owner("team:research").blackboard());
    of_planner.put(&BoardEntry::new("writer", "writes up the teapot survey").embedded()).await.unwrap();
    of_planner.put(&BoardEntry::new("deadline", "Friday").with_ttl(MINUTE)).await.unwrap();
    assert_eq!(of_writer.get("deadline").await.unwrap().unwrap().value, "Friday");
    assert_eq!(found(&of_writer, "Who has the survey?").await.first().unwrap(), "writer");
    of_writer.put(&BoardEntry::new("deadline", "Monday")).await.unwrap();
    bench.clock.advance(MINUTE);
    assert_eq!(of_planner.get("deadline").await.unwrap().unwrap().value, "Monday");

    // The conversations stay apart, from each other and from the board.
    bench.tend().await;
    let said = format!("{:?}", planner.context("What is to be done?", 1_000).await.unwrap().to_openai());
    assert!(said.contains("teapot") && !said.contains("British") && !said.contains("Monday"), "{said}");
    let said = format!("{:?}", writer.context("What is to be done?", 1_000).await.unwrap().to_openai());
    assert!(said.contains("British") && !said.contains("teapot") && !said.contains("Monday"), "{said}");

    // An agent that leaves takes its buffer along; the board and the others stay.
    assert!(agent("writer").forget(&Forget::Everything).await.unwrap().complete);
    assert_eq!(agent("writer").sessions(None, 9).await.unwrap(), []);
    assert_eq!(agent("planner").sessions(None, 9).await.unwrap().len(), 1);
    assert_eq!(of_planner.get("deadline").await.unwrap().unwrap().value, "Monday");
    // And the board may end without the agents.
    assert!(bench.owner("team:research").forget(&Forget::Everything).await.unwrap().complete);
    assert_eq!(bench.owner("team:research").blackboard().get("deadline").await.unwrap(), None);
    assert_eq!(agent("planner").sessions(None, 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn s4_13_the_figures_of_a_board_tell_entries_uses_and_how_long_a_search_takes() {
    let board: Arc<dyn Blackboard> = Arc::new(
        Tapped::new(
            Arc::new(MemBlackboard::new(Arc::new(SystemClock), 3).unwrap()) as Arc<dyn Blackboard>,
            Arc::new(Counting::default()),
        )
        .slow(Duration::from_millis(5)),
    );
    let bench = Bench::with(Taps::default(), |builder| builder.blackboard(board)).await;
    let [team, other] = ["team", "other"].map(|subject| bench.owner(subject).blackboard());
    assert_eq!(team.stats().await.unwrap().mean_latency, None);
    for key in ["a", "b", "c", "d"] {
        team.put(&BoardEntry::new(key, "survey")).await.unwrap();
    }
    team.get("b").await.unwrap();
    team.get("a").await.unwrap();
    for _ in 0..2 {
        team.search("survey", 1).await.unwrap();
    }
    let stats = team.stats().await.unwrap();
    let promised = BlackboardStats { live: 3, expired: 0, capacity: 3, accesses: 3, evictions: 1, hits: 1, misses: 1 };
    assert_eq!((stats.board, stats.board.physical(), stats.searches), (promised, 3, 2));
    assert!(stats.mean_latency.is_some_and(|latency| latency >= Duration::from_millis(5)), "{stats:?}");
    let stats = other.stats().await.unwrap();
    assert_eq!((stats.searches, stats.mean_latency), (0, None), "one owner learns nothing of another's searches");
}
