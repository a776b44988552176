#![cfg(test)]
//! The one integration binary of this crate.

mod cases;
mod corpus;
