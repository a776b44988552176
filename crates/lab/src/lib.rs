//! Measures: scenarios, attacks, baselines, agents, scores and the report. Reproduces the evaluations of the two documents this
//! project starts from, and what they leave out. The insecure baselines live here and nowhere else.

pub mod agent;
mod args;
mod command;
pub mod defence;
pub mod forged;
pub mod overhead;
pub mod plan;
pub mod scenario;
pub mod searched;
mod seed;
mod stats;
pub mod transcript;
pub mod world;

pub use command::main;
pub use seed::{Dice, seed};
pub use stats::{Share, at_temperature, median};
