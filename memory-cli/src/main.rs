//! The program `memory`.

fn main() {}
