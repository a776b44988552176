//! `actum daemon`: the one owner of key, ledger and gate, for as long as it runs.

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use actum_serve::daemon::{Daemon, DaemonError, Options, monotonic};
use actum_serve::desk::{Desk, Served};
use actum_serve::socket::{own_uid, socket_of};
use actum_serve::start::{READY, StartError, start};
use actum_store::read_clocks;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args;
use crate::context::{Context, writer};
use crate::say::{FAILED, Failure, Outcome, chain, note};

pub(crate) fn run(context: &Context, args: &args::Daemon) -> Outcome<u8> {
    let ledger = context.store.identify()?;
    let own = socket_of(context.places(), ledger);
    let socket = args.socket.clone().unwrap_or(own);
    if args.background {
        return in_background(context, args, &socket);
    }
    if UnixStream::connect(&socket).is_ok() {
        return Err(DaemonError::Taken { socket }.into());
    }
    let options = options(args, socket);
    let served = options.served.clone();
    // Signals are taken in before the ledger is, so that none ends this half way.
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| Failure::new(FAILED, format!("cannot wait for signals: {error}")))?;
    let clock = Arc::new(read_clocks);
    let desk = Desk::open(context.store.clone(), writer("daemon"), clock)?;
    if let Some(flaw) = desk.policy_flaw() {
        note(flaw);
    }
    let shown = options.socket.display().to_string();
    let daemon = Daemon::start(desk, options)?;
    let stopper = daemon.stopper();
    let handle = signals.handle();
    let waits = thread::spawn(move || {
        if signals.forever().next().is_some() {
            stopper.stop();
        }
    });
    say_ready(context, &shown, &served);
    let ended_well = daemon.wait();
    handle.close();
    // It ends with its signals.
    drop(waits.join());
    if !ended_well {
        return Err(Failure::new(FAILED, "the daemon broke; what was acknowledged is safe"));
    }
    context.say.line("stopped: what was asked is answered, and the ledger is let go");
    Ok(0)
}

fn options(args: &args::Daemon, socket: PathBuf) -> Options {
    let own = own_uid();
    let is_alone = args.owner.is_empty() && args.agent.is_empty();
    let owners = if args.owner.is_empty() { vec![own] } else { args.owner.clone() };
    let agents = if args.agent.is_empty() { owners.clone() } else { args.agent.clone() };
    let served = if is_alone { Served::same_user(own) } else { Served { owners, agents } };
    // Whoever connects is told by its user id; the folder keeps everybody else from making a socket there.
    let mode = if is_alone { 0o600 } else { 0o666 };
    Options { socket, served, mode, idle: args.idle, now: monotonic() }
}

fn say_ready(context: &Context, socket: &str, served: &Served) {
    let (weaker, uid) = (served.is_weaker(), own_uid());
    context.say.line(&format!("{READY}: answers at {socket} as user {uid}"));
    if weaker {
        context.say.line(WEAKER);
    }
    let process = std::process::id();
    context.say.json(&json!({ "socket": socket, "process": process }));
}

/// What every status line says where agents are the same user as their owner.
pub(crate) const WEAKER: &str = "same user: weaker. An agent of this user can do what its owner can; docs/daemon.md has the other way";

/// Starts one that is left to itself, and returns once it answers.
fn in_background(context: &Context, args: &args::Daemon, socket: &Path) -> Outcome<u8> {
    let mut more: Vec<OsString> = vec!["--socket".into(), socket.into()];
    if let Some(idle) = args.idle {
        more.extend(["--idle".into(), format!("{}s", idle.as_secs().max(1)).into()]);
    }
    for (flag, uids) in [("--owner", &args.owner), ("--agent", &args.agent)] {
        for uid in uids {
            more.extend([flag.into(), uid.to_string().into()]);
        }
    }
    let process = start(&this_program()?, &context.places().store, &more)?;
    let shown = socket.display().to_string();
    context.say.line(&format!("process {process} answers at {shown}"));
    context.say.json(&json!({ "socket": shown, "process": process }));
    Ok(0)
}

/// This very program.
pub(crate) fn this_program() -> Outcome<PathBuf> {
    std::env::current_exe().map_err(|error| {
        Failure::new(FAILED, format!("cannot tell which program this is: {error}"))
    })
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::new(FAILED, chain(&error)).hint("`actum daemon` in a terminal says more")
    }
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Self {
        let hint = match &error {
            DaemonError::Taken { .. } => "`actum status` shows it",
            DaemonError::Socket(_) => "a socket lies in a folder that only its user can write",
            DaemonError::Thread(_) => "the system has no room for it now",
        };
        Self::new(FAILED, chain(&error)).hint(hint)
    }
}
