//! SQLite backend of the memory layer for LLM agents: truth and indexes in one file.
