//! The command line of the guard, and the help that teaches it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::args::Confirm;
use crate::args_memory::Door;
use crate::time::duration;

/// Stands between an MCP client and an MCP server: starts the server, passes everything on, and asks the gate before each call of a
/// tool. What leaves is recorded with how it went; what nothing backs never reaches the server. Put it before the command of a
/// server in the client's configuration, or have `actum guard init` do that.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Example: ACTUM_CREDENTIAL_FILE=key actum guard --name clinic --as guard -- python3 server.py"
)]
pub(crate) struct Guard {
    #[command(subcommand)]
    pub(crate) what: Option<OfGuard>,

    /// The server's name: its tools are NAME/TOOL in the policy, what it says comes through mcp:NAME
    #[arg(long, required = true)]
    pub(crate) name: Option<String>,

    /// The session that a hook opened, by the same adapter [default: a new one, which only this guard sees]
    #[arg(long)]
    pub(crate) session: Option<String>,

    /// Somebody sits before this client: a value that stands nowhere in what the guard saw is derived, not untrusted
    #[arg(long, conflicts_with = "session")]
    pub(crate) interactive: bool,

    /// Give a call up after this long: 90s, 5m, 2h
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "1h")]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) door: Door,

    /// The command that starts the server
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OfGuard {
    /// Put a guard before each server of a client, in one review
    ///
    /// Reads the client's file of MCP servers, asks each server for its tools, and proposes what each tool is and which of its
    /// arguments bind. Shows the policy and the file as they would be; nothing is changed before the owner says yes. The file as it
    /// was is kept beside it.
    Init {
        /// The client's file with its "mcpServers", such as .mcp.json
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// Somebody sits before this client
        #[arg(long)]
        interactive: bool,

        #[command(flatten)]
        confirm: Confirm,
    },
    /// Put the client's file back as it was before `actum guard init`
    Undo {
        /// The client's file
        #[arg(value_name = "FILE")]
        file: PathBuf,

        #[command(flatten)]
        confirm: Confirm,
    },
}
