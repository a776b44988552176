#![cfg(test)]
//! The one integration binary of this crate.

mod accepted;
mod cache;
mod child;
mod crash;
mod entries;
mod hunt;
mod journey;
mod kill;
mod permission;
mod recovery;
mod scene;
mod subject;
mod tamper;
