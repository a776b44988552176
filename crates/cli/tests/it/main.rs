#![cfg(test)]
//! The one integration binary of this crate: the program as a person or a script meets it. One file a promise.

mod attacks;
mod bad_input;
mod counts;
mod daemon;
mod examples;
mod exits;
mod explain;
mod grounding;
mod guard;
mod journey;
mod json;
mod memory_files;
mod owner;
mod resolve;
mod run;
mod shell;
mod terminal;
