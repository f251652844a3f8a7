//! What bounds the calls of a memory: limits, and what calls have that say nothing else.

use crate::engine::defaults::Defaults;
use crate::limits::Limits;

use super::MemoryBuilder;

impl MemoryBuilder {
    /// Sets how large inputs may be.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what calls have that say nothing else, such as how many items a context recalls.
    ///
    /// ```
    /// use memory_core::engine::{Defaults, MemoryBuilder};
    /// use memory_core::novelty::Gate;
    ///
    /// # async fn example(builder: MemoryBuilder) -> memory_core::Result<()> {
    /// let defaults = Defaults::default().with_recall(8).with_gate(Gate::default());
    /// let memory = builder.defaults(defaults).build().await?;
    /// assert_eq!(memory.defaults().recall, 8);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }
}
