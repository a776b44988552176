//! Breaks things on purpose: reference models, a simulated disk, bodies for fuzz targets, readers of vectors. Never shipped.

#![expect(clippy::map_err_ignore, reason = "a test's message says enough")]

pub mod bodies;
pub mod cases;
pub mod disk;
pub mod journal;
pub mod lineage;
pub mod memory;
pub mod model;
pub mod saboteur;
pub mod story;
pub mod user;
pub mod vectors;
