#![cfg(test)]
//! The one integration binary of this crate.

mod journey;
mod scene;
mod subject;
