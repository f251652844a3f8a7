//! The program as people run it: the built binary, its output, its exit codes.

#[cfg(test)]
#[cfg(feature = "http-models")]
#[path = "program/answers.rs"]
mod answers;
#[cfg(test)]
#[cfg(all(feature = "elastic", feature = "redis"))]
#[path = "program/away.rs"]
mod away;
#[cfg(test)]
#[path = "program/backup.rs"]
mod backup;
#[cfg(test)]
#[path = "program/chat.rs"]
mod chat;
#[cfg(test)]
#[path = "program/commands.rs"]
mod commands;
#[cfg(test)]
#[cfg(all(feature = "server", unix))]
#[path = "program/crash.rs"]
mod crash;
#[cfg(test)]
#[path = "program/damaged.rs"]
mod damaged;
#[cfg(test)]
#[path = "program/demo.rs"]
mod demo;
#[cfg(test)]
#[cfg(unix)]
#[path = "program/disk.rs"]
mod disk;
#[cfg(test)]
#[path = "program/embedding.rs"]
mod embedding;
#[cfg(test)]
#[path = "program/errors.rs"]
mod errors;
#[cfg(test)]
#[path = "program/eval.rs"]
mod eval;
#[cfg(test)]
#[path = "program/facts.rs"]
mod facts;
#[cfg(test)]
#[path = "program/forget.rs"]
mod forget;
#[cfg(test)]
#[path = "program/fork.rs"]
mod fork;
#[cfg(test)]
#[path = "program/formats.rs"]
mod formats;
#[cfg(test)]
#[path = "program/golden.rs"]
mod golden;
#[cfg(test)]
#[cfg(all(feature = "server", unix))]
#[path = "program/hook.rs"]
mod hook;
#[cfg(test)]
#[cfg(all(feature = "server", unix))]
#[path = "program/hook_forgotten.rs"]
mod hook_forgotten;
#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "program/hostile.rs"]
mod hostile;
#[cfg(test)]
#[path = "program/imports.rs"]
mod imports;
#[cfg(test)]
#[path = "program/indexes.rs"]
mod indexes;
#[cfg(test)]
#[cfg(unix)]
#[path = "program/interrupt.rs"]
mod interrupt;
#[cfg(test)]
#[path = "program/kill.rs"]
mod kill;
#[cfg(test)]
#[path = "program/lists.rs"]
mod lists;
#[cfg(test)]
#[path = "program/logs.rs"]
mod logs;
#[cfg(test)]
#[path = "program/manual.rs"]
mod manual;
#[cfg(test)]
#[path = "program/many.rs"]
mod many;
#[cfg(test)]
#[cfg(all(feature = "server", unix))]
#[path = "program/mcp.rs"]
mod mcp;
#[cfg(test)]
#[path = "program/moving.rs"]
mod moving;
#[cfg(test)]
#[path = "program/names.rs"]
mod names;
#[cfg(test)]
#[path = "program/newest.rs"]
mod newest;
#[cfg(test)]
#[path = "program/passages.rs"]
mod passages;
#[cfg(test)]
#[path = "program/queue.rs"]
mod queue;
#[cfg(test)]
#[path = "program/rates.rs"]
mod rates;
#[cfg(test)]
#[path = "program/records.rs"]
mod records;
#[cfg(test)]
#[path = "program/round_trip.rs"]
mod round_trip;
#[cfg(test)]
#[cfg(all(feature = "server", unix))]
#[path = "program/running.rs"]
mod running;
#[cfg(test)]
#[path = "program/secrets.rs"]
mod secrets;
#[cfg(test)]
#[cfg(feature = "http-models")]
#[path = "program/served.rs"]
mod served;
#[cfg(test)]
#[cfg(all(feature = "server", unix))]
#[path = "program/server.rs"]
mod server;
#[cfg(test)]
#[path = "program/settings.rs"]
mod settings;
#[cfg(test)]
#[path = "program/support.rs"]
mod support;
#[cfg(test)]
#[path = "program/trust.rs"]
mod trust;
#[cfg(test)]
#[cfg(all(feature = "server", unix))]
#[path = "program/unit.rs"]
mod unit;
