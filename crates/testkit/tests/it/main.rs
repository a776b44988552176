#![cfg(test)]
//! The one integration binary of this crate.

mod corpus;
