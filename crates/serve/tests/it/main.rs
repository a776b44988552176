#![cfg(test)]
//! The wires, from outside.

mod guard_asks;
mod guard_definitions;
mod guard_gates;
mod guard_http;
mod guard_passes;
mod guard_runs;
mod guard_scene;
