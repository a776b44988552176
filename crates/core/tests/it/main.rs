#![cfg(test)]
//! The one integration binary of this crate.

mod origin;
mod policy;
mod value;
mod vectors;
