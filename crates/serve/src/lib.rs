//! Talks over wires: the daemon that owns key, ledger and gate, and the guard that stands between an MCP client and a server.
//! What is decided is core's, what is kept is store's; here is how it is asked for from elsewhere.

pub mod client;
pub mod daemon;
pub mod desk;
pub mod guard;
pub mod socket;
pub mod start;
pub mod wire;
