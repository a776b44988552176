//! What each command does: one file a command.

pub(crate) mod act;
pub(crate) mod adapter;
pub(crate) mod adopt;
pub(crate) mod approve;
pub(crate) mod coverage;
pub(crate) mod demo;
pub(crate) mod ground;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod inventory;
pub(crate) mod key;
pub(crate) mod log;
mod log_memory;
pub(crate) mod mandate;
pub(crate) mod observe;
pub(crate) mod policy;
pub(crate) mod quarantine;
pub(crate) mod recall;
pub(crate) mod remember;
pub(crate) mod resolve;
pub(crate) mod revoke;
pub(crate) mod run;
pub(crate) mod session;
mod thing;
pub(crate) mod verify;
pub(crate) mod why;
