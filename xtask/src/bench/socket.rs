//! What a decision costs over the daemon's socket, beside a bare echo of lines as long over another one, in turns.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;

use actum_core::{Decision, EntryKind, Owner};
use actum_serve::client::{Address, Client};
use actum_serve::daemon::{Daemon, Options};
use actum_serve::desk::Desk;
use actum_serve::socket::socket_of;
use actum_serve::wire::{Open, Recall, Remember, Role, Start};
use actum_store::{PATIENCE, Places, Store, Writer, read_clocks};
use serde_json::json;

use super::Size;
use super::measure::{Samples, wall};
use super::table::{Row, Table, time, times};

/// Round trips in one sample.
const TRIPS: u32 = 32;
const TEXT: &str = "The user prefers short answers, and reads mail in the morning.";
const TARGET_NS: f64 = 50_000.0;

pub(super) fn round_trips(size: &Size, table: &mut Table) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let folder = tempfile::tempdir().map_err(|error| text(&error))?;
    let root = folder.path().canonicalize().map_err(|error| text(&error))?;
    let store = root.join("project/.actum");
    let places = Places { store, data: root.join("data"), state: root.join("state") };
    let store = Store::new(places);
    let holder = "the bench".to_owned();
    let writer = Writer { holder, patience: PATIENCE, reading: read_clocks() };
    drop(store.init(&writer).map_err(|error| text(&error))?);
    let desk = Desk::open(store.clone(), writer, Arc::new(read_clocks));
    let desk = desk.map_err(|error| text(&error))?;
    let ledger = desk.views().ok_or("the ledger is not open")?.keys().ledger();
    let socket = socket_of(store.places(), ledger);
    let daemon = Daemon::start(desk, Options::same_user(socket.clone()));
    let daemon = daemon.map_err(|error| text(&error))?;
    let asked = measure(size, &socket, &root.join("echo"));
    daemon.stop();
    let (ours, bare) = asked?;
    let (median, bare_median) = (ours.median(), bare.median());
    table.row(Row {
        what: "recall over the socket, round trip".to_owned(),
        ours: format!("{} (p99 {})", time(median), time(ours.quantile(990))),
        beside: format!("a bare echo {} (p99 {})", time(bare_median), time(bare.quantile(990))),
        ratio: times(median / bare_median),
        figures: json!({ "median_ns": median, "bare_median_ns": bare_median }),
    });
    let found =
        format!("{} at the median, {} a bare echo", time(median), times(median / bare_median));
    table.target("a decision over the socket under 50 µs", found, median < TARGET_NS);
    Ok(())
}

fn measure(size: &Size, socket: &Path, echo: &Path) -> Result<(Samples, Samples), String> {
    let role = Role::Owner { known: Owner::YesFlag };
    let connected = Client::connect(&Address::own(socket), role, "the bench");
    let mut client = connected.map_err(|error| error.to_string())?;
    let opened = client.ask(&Open { start: Start::Fresh {} }).map_err(|error| error.to_string())?;
    let entry = "MEMORY.md#one".to_owned();
    let remember = Remember {
        session: opened.session,
        entry: entry.clone(),
        kind: EntryKind::Memory,
        text: TEXT.to_owned(),
        proven: None,
        supersedes: None,
    };
    client.remember(&remember).map_err(|error| error.to_string())?;
    let recall = Recall { session: None, entry, text: TEXT.to_owned(), for_action: false };
    let bare = Echo::start(echo, &recall)?;
    let (mut ours, mut beside) = (Samples::default(), Samples::default());
    let mut bare = bare;
    for _ in 0..size.samples {
        let (elapsed, served) = wall(|| (0..TRIPS).all(|_| is_served(&mut client, &recall)));
        if !served {
            return Err("a recall was decided wrongly".to_owned());
        }
        ours.push(elapsed / f64::from(TRIPS));
        let (elapsed, same) = wall(|| (0..TRIPS).all(|_| bare.trip()));
        if !same {
            return Err("the echo said something else".to_owned());
        }
        beside.push(elapsed / f64::from(TRIPS));
    }
    Ok((ours, beside))
}

fn is_served(client: &mut Client, recall: &Recall) -> bool {
    client.recall(recall).is_ok_and(|told| told.decision == Decision::Allow)
}

/// Somebody who says back each line.
struct Echo {
    reader: BufReader<UnixStream>,
    line: String,
    said: String,
}

impl Echo {
    fn start(path: &Path, recall: &Recall) -> Result<Self, String> {
        let listener = UnixListener::bind(path).map_err(|error| error.to_string())?;
        std::thread::spawn(move || {
            let Ok((stream, _)) = listener.accept() else { return };
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            // Until the other side is gone.
            while reader.read_line(&mut line).is_ok_and(|length| length > 0) {
                if reader.get_mut().write_all(line.as_bytes()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let stream = UnixStream::connect(path).map_err(|error| error.to_string())?;
        let line = serde_json::to_string(recall).map_err(|error| error.to_string())? + "\n";
        Ok(Self { reader: BufReader::new(stream), line, said: String::new() })
    }

    fn trip(&mut self) -> bool {
        self.said.clear();
        let wrote = self.reader.get_mut().write_all(self.line.as_bytes());
        wrote.is_ok() && self.reader.read_line(&mut self.said).is_ok() && self.said == self.line
    }
}
