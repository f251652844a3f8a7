"""A stand-in for a Qdrant server, for tests only: Qdrant's gRPC API over qdrant-edge, the Qdrant engine in one process.

One engine shard per collection. Collections, field indexes and aliases come back after a restart. What is not written
here answers UNIMPLEMENTED, never a guess. It says in its title and its version that it is no official server.
"""

TITLE = "qdrant stand-in (qdrant-edge 0.9.0)"
VERSION = "1.20.0-standin"
