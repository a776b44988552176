#![cfg(test)]
//! The one integration binary of this crate. One file a promise.

mod book;
mod command;
mod endpoint;
mod fake;
mod model;
mod scores;
mod weights;
