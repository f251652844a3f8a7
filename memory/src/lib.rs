//! Memory for LLM agents: it cannot leak, cannot lose, and can explain itself.
