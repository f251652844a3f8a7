//! Migrations: the scripts that make and upgrade the tables of the file.

use sqlx::SqliteConnection;

use super::connect::{Attempt, run, scalar, unsupported};

/// The application id of our files, which tells them from other databases: the ASCII letters `LMem`.
const APPLICATION: i64 = 0x4c4d_656d;

/// The migration scripts, oldest first. A file's `user_version` counts those it has run.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_truth.sql"),
    include_str!("../../migrations/0002_index.sql"),
    include_str!("../../migrations/0003_drawn_changes.sql"),
    include_str!("../../migrations/0004_pinned.sql"),
    include_str!("../../migrations/0005_counters.sql"),
    include_str!("../../migrations/0006_incarnations.sql"),
    include_str!("../../migrations/0007_generations.sql"),
    include_str!("../../migrations/0008_leads.sql"),
    include_str!("../../migrations/0009_packed.sql"),
    include_str!("../../migrations/0010_records_by_time.sql"),
];

/// The version of the tables that this crate uses. Opening an older file upgrades it.
pub const SCHEMA_VERSION: usize = MIGRATIONS.len();

/// Brings the tables up to date.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Attempt<()> {
    // Checked first without a lock, so that a foreign file is not touched at all.
    if is_up_to_date(connection).await? {
        return Ok(());
    }
    run(connection, "BEGIN IMMEDIATE").await?;
    if let Err(failure) = upgrade(connection).await {
        // Some faults end the transaction by themselves: then this fails, which tells nothing.
        let _ = run(connection, "ROLLBACK").await;
        return Err(failure);
    }
    run(connection, "COMMIT").await
}

async fn upgrade(connection: &mut SqliteConnection) -> Attempt<()> {
    // Checked again under the lock, because another process may have been first.
    if is_current(connection).await? {
        return Ok(());
    }
    let seen = usize::try_from(scalar::<i64>(connection, "PRAGMA user_version").await?).unwrap_or(usize::MAX);
    for script in MIGRATIONS.iter().skip(seen) {
        run(connection, script).await?;
    }
    // The letters of `APPLICATION` as a number, because a pragma takes no bound value.
    run(connection, "PRAGMA application_id = 1280140653").await
}

/// Returns whether the file is ours and needs no migration, without a lock.
pub(super) async fn is_up_to_date(connection: &mut SqliteConnection) -> Attempt<bool> {
    run(connection, "BEGIN").await?;
    let is_current = is_current(connection).await;
    let ended = run(connection, "ROLLBACK").await;
    is_current.and_then(|is_current| ended.map(|()| is_current))
}

/// Returns whether the file is ours and needs no migration. Call it within a transaction, so that the answer is consistent.
async fn is_current(connection: &mut SqliteConnection) -> Attempt<bool> {
    let application = scalar::<i64>(connection, "PRAGMA application_id").await?;
    let objects = scalar::<i64>(connection, "SELECT count(*) FROM sqlite_schema").await?;
    let seen = scalar::<i64>(connection, "PRAGMA user_version").await?;
    let is_new = application == 0 && objects == 0 && seen == 0;
    if !is_new && application != APPLICATION {
        return Err(unsupported("use the database of another application").into());
    }
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if seen > known {
        return Err(unsupported("read a file written by a newer version").into());
    }
    Ok(!is_new && seen == known)
}
