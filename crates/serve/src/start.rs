//! Starts a daemon that is left to itself, for whoever wants one and finds none: in same-user mode, which is weaker.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::client::{Address, Client, ClientError};
use crate::wire::Role;

/// What a daemon prints first once it answers.
pub const READY: &str = "ready";
/// How long one that was started on demand stays without being asked.
pub const IDLE: &str = "15m";
/// Bytes that are read of what a daemon says that does not start.
const SAID_MAX: u64 = 4096;

/// A daemon that did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program cannot be started.
    #[error("cannot start {}", program.display())]
    Program {
        /// Which.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ended before it answered.
    #[error("the daemon did not start: {why}")]
    Ended {
        /// What it said.
        why: String,
    },
}

/// Starts `actum daemon` for a store, and returns its process once it answers.
///
/// # Errors
/// [`StartError`].
pub fn start(program: &Path, store: &Path, more: &[OsString]) -> Result<u32, StartError> {
    let mut command = Command::new(program);
    command.arg("--store").arg(store).arg("daemon").args(more);
    // A group of its own: what ends the jobs of a shell does not end it.
    command.process_group(0).current_dir(store.parent().unwrap_or(store));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawned = command.spawn();
    let mut child =
        spawned.map_err(|source| StartError::Program { program: program.to_owned(), source })?;
    let mut said = String::new();
    if let Some(stdout) = child.stdout.take() {
        // One that ends says nothing more, so this ends as well.
        let _unread = BufReader::new(stdout.take(SAID_MAX)).read_line(&mut said);
    }
    if said.starts_with(READY) {
        return Ok(child.id());
    }
    let mut why = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _unread = BufReader::new(stderr.take(SAID_MAX)).read_line(&mut why);
    }
    let _status = child.wait();
    let why = why.trim().trim_start_matches("error: ").to_owned();
    Err(StartError::Ended { why })
}

/// Connects to the daemon of this user, and starts one if none answers. It ends when nobody has asked for a while.
///
/// # Errors
/// As [`Client::connect`]; that one did not start is [`ClientError::Dead`].
pub fn connect_or_start(
    program: &Path,
    store: &Path,
    address: &Address,
    role: Role,
    client: &str,
) -> Result<Client, ClientError> {
    match Client::connect(address, role.clone(), client) {
        Err(ClientError::Dead { .. }) => {}
        connected => return connected,
    }
    let started = start(program, store, &["--idle".into(), IDLE.into()]);
    match (Client::connect(address, role, client), started) {
        // Another one may have started meanwhile.
        (Ok(client), _) => Ok(client),
        (Err(ClientError::Dead { socket, .. }), Err(error)) => {
            Err(ClientError::Dead { socket, source: io::Error::other(error) })
        }
        (Err(error), _) => Err(error),
    }
}
