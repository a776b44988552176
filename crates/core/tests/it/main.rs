#![cfg(test)]
//! The one integration binary of this crate.

mod durable;
mod policy;
mod vectors;
