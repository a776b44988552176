#![cfg(test)]
//! The one integration binary of this crate: a daemon as its clients meet it. One file a promise.

mod child;
mod crowd;
mod peer;
mod protocol;
mod safe;
mod scene;
mod story;
mod trouble;
