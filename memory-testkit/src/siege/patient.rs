//! Repeats reads of stores that may be busy.

use std::time::Duration;

use tokio::time::sleep;

/// How often they are asked, and how long it is waited in between.
const LOOKS: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// Asks again and again while the answer is a fault that passes: a server may be busy, whoever looks at it.
pub(super) async fn patient<T, F: Future<Output = memory_core::Result<T>>>(
    ask: impl Fn() -> F,
) -> memory_core::Result<T> {
    for _ in 0..LOOKS {
        match ask().await {
            Err(error) if error.is_retryable() => sleep(PAUSE).await,
            answer => return answer,
        }
    }
    ask().await
}
