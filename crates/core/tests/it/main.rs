#![cfg(test)]
//! The one integration binary of this crate.

mod policy;
mod policy_tools;
mod vectors;
