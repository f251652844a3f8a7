//! A person who stops the program once more, and does not wait until it has ended.

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
