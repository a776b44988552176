#![cfg(test)]
//! The wires, from outside: a daemon as its clients meet it, and the guard. One file a promise.

mod child;
mod crowd;
mod guard_asks;
mod guard_definitions;
mod guard_gates;
mod guard_http;
mod guard_passes;
mod guard_runs;
mod guard_scene;
mod peer;
mod protocol;
mod safe;
mod served;
mod story;
mod trouble;
