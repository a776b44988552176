#![cfg(test)]
//! The one integration binary of this crate. One file a promise.

mod command;
mod scores;
