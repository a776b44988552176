#![cfg(test)]
//! The one integration binary of this crate.

mod book;
mod endpoint;
mod fake;
mod model;
mod weights;
