//! What a guard adds to a call: the same client and the same server, with a guard between them and without one, in one run. The
//! durable append is shown apart: once the ledger lies in memory, once on the disk.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use actum_core::{Journal, Ledger, Reading, Seen};
use actum_serve::guard::{
    CALL_FOR, Guard, HeldOpen, Line, Observation, Own, Port, Relay, Settings, Sight, Who, read_line,
};
use actum_store::{AcceptedPolicy, PATIENCE, Places, Store, Writer, read_clocks};
use serde_json::json;

use super::Size;
use super::ledgers::in_memory;
use super::measure::{Samples, wall};
use super::table::{Row, Table, rate, time};

/// Calls of one session; what was seen in it before is looked through for each.
const CALLS: u32 = 64;
/// Calls at once.
const AT_ONCE: u32 = 32;
const POLICY: &str = r#"version = 1
[tools."bench/look"]
class = "read"
[tools."bench/send"]
class = "effect"
binding = ["to"]
kinds = { to = "email" }
"#;
const TURN: &str = "Send it to ann@example.org, please.";
const TOOLS: &str = r#"{"tools":[{"name":"look"},{"name":"send"}]}"#;

/// The client's end of a connection.
struct Client {
    from: BufReader<UnixStream>,
    to: UnixStream,
}

impl Client {
    fn send(&mut self, id: u32, tool: &str) -> Result<(), String> {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{{\"to\":\"ann@example.org\",\"n\":{id}}}}}}}\n"
        );
        self.to.write_all(line.as_bytes()).map_err(|error| error.to_string())
    }

    fn hear(&mut self) -> Result<(), String> {
        let mut line = String::new();
        self.from.read_line(&mut line).map_err(|error| error.to_string())?;
        if line.contains("\"isError\"") || line.contains("\"error\"") || line.is_empty() {
            return Err(format!("not answered as it should be: {line}"));
        }
        Ok(())
    }

    fn call(&mut self, id: u32, tool: &str) -> Result<(), String> {
        self.send(id, tool)?;
        self.hear()
    }
}

/// A server that answers everything at once.
fn serve(connection: UnixStream) {
    thread::spawn(move || {
        let Ok(mut to) = connection.try_clone() else { return };
        let mut from = BufReader::new(connection);
        let mut line = String::new();
        while from.read_line(&mut line).is_ok_and(|length| length > 0) {
            let id = line.split_once("\"id\":").map_or("0", |(_, rest)| rest);
            let id = id.split([',', '}']).next().unwrap_or("0");
            let result = if line.contains("tools/list") {
                TOOLS.to_owned()
            } else {
                format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"done: {id}\"}}]}}")
            };
            let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
            if to.write_all(answer.as_bytes()).is_err() {
                return;
            }
            line.clear();
        }
    });
}

fn pair() -> Result<(UnixStream, UnixStream), String> {
    UnixStream::pair().map_err(|error| error.to_string())
}

fn bare() -> Result<Client, String> {
    let (client, server) = pair()?;
    serve(server);
    let to = client.try_clone().map_err(|error| error.to_string())?;
    Ok(Client { from: BufReader::new(client), to })
}

/// A client behind a guard, in a session in which the user named whom to send to.
fn guarded(port: &Arc<dyn Port>) -> Result<(Client, Arc<Relay>), String> {
    let failed = |error: actum_serve::guard::PortError| error.to_string();
    let session = port.open(Sight::Partial).map_err(failed)?;
    let texts = vec![TURN.to_owned()];
    let turn =
        Observation { seen: Seen::Turn, channel: "user", author: "user", texts, answers: None };
    port.observe(&session, &turn).map_err(failed)?;
    let settings =
        Settings { name: "bench".to_owned(), sight: Sight::Partial, session: Some(session) };
    let guard = Guard::new(settings, Arc::clone(port), Box::new(|_| {})).map_err(failed)?;
    let ((client, at_client), (at_server, server)) = (pair()?, pair()?);
    serve(server);
    let clone = |it: &UnixStream| it.try_clone().map_err(|error| error.to_string());
    let (to_client, to_server) = (Box::new(clone(&at_client)?), Box::new(clone(&at_server)?));
    let relay = Relay::new(Arc::new(guard), to_client, to_server, CALL_FOR).map_err(failed)?;
    let reader = Arc::clone(&relay);
    thread::spawn(move || {
        let mut from = BufReader::new(at_client);
        while let Ok(Line::Whole(line)) = read_line(&mut from) {
            reader.from_client(line);
        }
    });
    let reader = Arc::clone(&relay);
    thread::spawn(move || {
        let mut from = BufReader::new(at_server);
        while let Ok(Line::Whole(line)) = read_line(&mut from) {
            reader.from_server(line);
        }
    });
    let to = clone(&client)?;
    Ok((Client { from: BufReader::new(client), to }, relay))
}

#[derive(Default)]
struct Found {
    bare: Samples,
    read: Samples,
    effect: Samples,
    /// Nanoseconds of a whole volley.
    at_once: Samples,
}

fn measure(port: &Arc<dyn Port>, rounds: u32) -> Result<Found, String> {
    let mut found = Found::default();
    for _ in 0..rounds {
        let mut bare = bare()?;
        let (mut client, relay) = guarded(port)?;
        client.call(0, "look")?;
        for id in 1..=CALLS {
            let (spent, done) = wall(|| bare.call(id, "look"));
            done?;
            found.bare.push(spent);
            let tool = if id % 2 == 0 { "look" } else { "send" };
            let (spent, done) = wall(|| client.call(id, tool));
            done?;
            if id % 2 == 0 { &mut found.read } else { &mut found.effect }.push(spent);
        }
        let (spent, done) = wall(|| {
            (0..AT_ONCE).try_for_each(|id| client.send(1_000 + id, "send"))?;
            (0..AT_ONCE).try_for_each(|_| client.hear())
        });
        done?;
        found.at_once.push(spent);
        relay.close();
    }
    Ok(found)
}

fn port<J: Journal + Send + 'static>(
    ledger: Ledger<J>,
    places: &Places,
    clock: fn() -> Reading,
) -> Result<Arc<dyn Port>, String> {
    let policy = AcceptedPolicy::prepare(POLICY, places.project(), &|_| None);
    let policy = policy.map_err(|error| error.to_string())?;
    let desk = HeldOpen::new(ledger, Some(policy), clock);
    Ok(Arc::new(Own::new(desk, Who::Owner(actum_core::Owner::YesFlag), places)))
}

pub(super) fn calls(size: &Size, table: &mut Table) -> Result<(), String> {
    eprintln!("calls through the guard ...");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = program.parent().unwrap_or(Path::new("."));
    let folder = tempfile::tempdir_in(beside).map_err(|error| error.to_string())?;
    let root = folder.path().canonicalize().map_err(|error| error.to_string())?;
    let places = |name: &str| Places {
        store: root.join(name).join(".actum"),
        data: root.join(name).join("data"),
        state: root.join(name).join("state"),
    };
    let in_memory_places = places("memory");
    std::fs::create_dir_all(&in_memory_places.store).map_err(|error| error.to_string())?;
    let memory = port(in_memory()?, &in_memory_places, || Reading::wall(1))?;
    let on_disk_places = places("disk");
    let writer = Writer { holder: "bench".to_owned(), patience: PATIENCE, reading: read_clocks() };
    let store = Store::new(on_disk_places.clone());
    let ledger = store.init(&writer).map_err(|error| error.to_string())?;
    let disk = port(ledger, &on_disk_places, read_clocks)?;
    let without = measure(&memory, size.rounds)?;
    let with = measure(&disk, size.rounds)?;
    let bare = without.bare.median();
    let row = |what: &str, ours: f64, beside: f64| Row {
        what: what.to_owned(),
        ours: time(ours),
        beside: time(beside),
        ratio: format!("+{}", time(ours - beside)),
        figures: json!({ "guarded_ns": ours, "bare_ns": beside }),
    };
    table.row(row("a read through the guard, its result recorded, ledger in memory; beside it the bare server", without.read.median(), bare));
    table.row(row("an effect through the guard, ledger in memory", without.effect.median(), bare));
    table.row(row(
        "a read through the guard, durable (one append)",
        with.read.median(),
        with.bare.median(),
    ));
    table.row(row(
        "an effect through the guard, durable (three appends)",
        with.effect.median(),
        with.bare.median(),
    ));
    let a_second = |found: &Found| f64::from(AT_ONCE) * 1e9 / found.at_once.median();
    table.row(Row {
        what: format!("{AT_ONCE} effects at once through one guard, durable; beside it the ledger in memory"),
        ours: rate(a_second(&with)),
        beside: rate(a_second(&without)),
        ratio: String::new(),
        figures: json!({ "durable_a_second": a_second(&with), "in_memory_a_second": a_second(&without) }),
    });
    let added = without.effect.median() - bare;
    table.target(
        "a guard adds less than 100 µs to a call, the durable append aside",
        format!("{} to an effect, {} to a read", time(added), time(without.read.median() - bare)),
        added < 100_000.0,
    );
    Ok(())
}
