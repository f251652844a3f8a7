//! A program that is told to stop, and a person who does so once more and does not wait until it has ended.

use std::io;
use std::time::Duration;

use memory::store::time::Stopwatch;
use tokio::signal::ctrl_c;

/// How soon behind a signal another one is the same: what runs this program passes on what the terminal has sent it already.
const MOMENT: Duration = Duration::from_millis(500);

/// Ends when the program is told to stop a moment from now or later.
pub(super) async fn once_more() -> io::Result<()> {
    let watch = Stopwatch::start();
    loop {
        ctrl_c().await?;
        if watch.elapsed() >= MOMENT {
            return Ok(());
        }
    }
}

/// Ends when the program is told to stop, and once more.
#[cfg(feature = "server")]
pub(super) async fn twice() -> io::Result<()> {
    ctrl_c().await?;
    once_more().await
}

/// Returns what ends when this process is told to stop. It listens from now on.
#[cfg(all(feature = "server", unix))]
pub(super) fn told() -> io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Returns what ends when this process is told to stop.
#[cfg(all(feature = "server", not(unix)))]
pub(super) fn told() -> io::Result<impl Future<Output = ()> + Send> {
    Ok(async { drop(ctrl_c().await) })
}
