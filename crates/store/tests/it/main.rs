#![cfg(test)]
//! The one integration binary of this crate.

mod crash;
mod hunt;
mod journey;
mod recovery;
mod scene;
mod tamper;
