//! Measures: scenarios, attacks, baselines, agents, scores and the report. Reproduces the evaluations of the two documents this
//! project starts from, and what they leave out. The insecure baselines live here and nowhere else.

pub mod agent;
mod args;
pub mod carryover;
mod command;
pub mod defence;
pub mod forged;
pub mod laundered;
pub mod overhead;
pub mod plan;
pub mod prompt;
pub mod report;
pub mod scenario;
pub mod score;
pub mod searched;
pub mod second;
mod seed;
mod segment;
pub mod spelled;
mod stats;
pub mod tampered;
pub mod transcript;
pub mod weights;
pub mod work;
pub mod world;

pub use command::main;
pub use seed::{Dice, seed};
pub use stats::{Share, at_temperature, median};
