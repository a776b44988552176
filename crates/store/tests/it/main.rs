#![cfg(test)]
//! The one integration binary of this crate.

mod crash;
mod hunt;
mod journey;
mod scene;
mod subject;
