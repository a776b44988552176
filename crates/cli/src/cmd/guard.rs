//! `actum guard`: between an MCP client and an MCP server.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actum_core::{Call, ChannelName, Owner};
use actum_serve::guard::{Ended, Guard, Http, Opened, Own, Piped, Settings, Sight, Who};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use zeroize::Zeroizing;

use super::guard_init;
use crate::args_guard as args;
use crate::args_memory::Door;
use crate::context::Context;
use crate::door::{credential, session};
use crate::say::{FAILED, Failure, Outcome, chain, note};

pub(crate) fn run(context: &Context, args: &args::Guard) -> Outcome<u8> {
    match &args.what {
        Some(args::OfGuard::Init { file, interactive, confirm }) => {
            guard_init::init(context, file, *interactive, confirm.yes)
        }
        Some(args::OfGuard::Undo { file, confirm }) => guard_init::undo(context, file, confirm.yes),
        None => relay(context, args),
    }
}

fn relay(context: &Context, args: &args::Guard) -> Outcome<u8> {
    let name = args.name.clone().unwrap_or_default();
    check_name(&name).map_err(Failure::usage)?;
    let port = Own::new(Opened::new(context.store.clone()), who(&args.door)?, context.places());
    // Whatever is wrong with the ledger or the credential is said now and not at the first call.
    port.ready().map_err(|error| Failure::new(FAILED, error.to_string()))?;
    let settings = Settings {
        name,
        sight: if args.interactive { Sight::Interactive } else { Sight::Partial },
        session: args.session.as_deref().map(session).transpose()?,
    };
    let guard = Guard::new(settings, Arc::new(port), Box::new(note)).map_err(|e| failed(&e))?;
    if let (Some(address), Some(url)) = (args.http, &args.to) {
        return listen(Arc::new(guard), address, url, args.timeout);
    }
    let piped = Piped::new(args.timeout);
    let stop = piped.stop();
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(|error| failed(&error))?;
    std::thread::spawn(move || signals.forever().for_each(|_signal| stop.stop()));
    // Not through `say`: what goes there is the protocol, and nothing else.
    let ended = piped
        .run(Arc::new(guard), &args.command, io::stdin(), Box::new(io::stdout()))
        .map_err(|error| failed(&error))?;
    match ended {
        Ended::ByClient => Ok(0),
        Ended::ByServer(code) => {
            let shown =
                code.map_or_else(|| "by a signal".to_owned(), |code| format!("with {code}"));
            note(&format!("the server ended {shown}"));
            Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED))
        }
    }
}

fn listen(guard: Arc<Guard>, address: SocketAddr, url: &str, call_for: Duration) -> Outcome<u8> {
    let http = Http::listen(guard, address, url, call_for).map_err(|error| failed(&error))?;
    let shown = http.address().unwrap_or(address);
    note(&format!("listening on http://{shown}, before {url}"));
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(|error| failed(&error))?;
    let stops = Arc::clone(&http);
    std::thread::spawn(move || signals.forever().for_each(|_signal| stops.stop()));
    http.serve();
    Ok(0)
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::new(FAILED, chain(error))
}

/// A guard is asked by no person: it is an adapter, or the owner said so.
fn who(door: &Door) -> Outcome<Who> {
    match (&door.adapter, door.yes) {
        (Some(name), _) => Ok(Who::Adapter {
            name: name.clone(),
            credential: Zeroizing::new(credential()?.as_bytes().to_vec()),
        }),
        (None, true) => Ok(Who::Owner(Owner::YesFlag)),
        (None, false) => Err(Failure::usage("who asks? A guard is an adapter of its owner").hint(
            "name it with --as (`actum guard init` makes one), or ask as the owner with --yes",
        )),
    }
}

/// The name of a server is a part of the names of its tools and channel.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    Call::new(&format!("{name}/tool"), BTreeMap::new()).map_err(|error| error.to_string())?;
    ChannelName::new(&format!("mcp:{name}")).map(drop).map_err(|error| error.to_string())
}
