//! A relay between a scripted client and a scripted server, on a ledger in memory. Nothing here waits for a time: each line is
//! read when it is there.

use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actum_core::{
    Batch, Digest, Event, Journal, JournalFailed, KeyFile, Keyring, Layout, Ledger, LedgerId,
    Outcome, Owner, Position, Reading, Root, Seen, SessionName, Space,
};
use actum_serve::guard::{
    Ask, CALL_FOR, Consent, Guard, Held, HeldOpen, Observation, Own, Pin, Port, PortError, Relay,
    Ruling, Settings, Sight, Terms, Who,
};
use actum_store::{AcceptedPolicy, Places};
use actum_testkit::memory::Memory;
use tempfile::TempDir;

/// A journal that a test looks into, and can have fail.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<(Memory, bool)>>);

impl Journal for Kept {
    fn claim(&mut self, claim: &Batch<'_>) -> Result<(), JournalFailed> {
        self.0.lock().unwrap().0.claim(claim)
    }

    fn append(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed> {
        let mut kept = self.0.lock().unwrap();
        if kept.1 {
            return Err(JournalFailed { what: "the disk is gone".to_owned(), source: None });
        }
        kept.0.append(batch)
    }
}

pub(crate) const SERVER: &str = "clinic";

/// Tools and the step of the clinic.
pub(crate) const CLINIC: &str = r#"
version = 1
clients = ["desk"]

[steps.validate_source]
tool = "clinic/validate_source"
subject = "args.source"
binds = "args.content"
lifetime = "24h"

[tools."clinic/validate_source"]
class = "read"
result = "origin"

[tools."clinic/look"]
class = "read"

[tools."clinic/send"]
class = "effect"
binding = ["to"]
kinds = { to = "email" }

[tools."clinic/insert_record"]
class = "effect"
binding = ["source"]
requires = [{ step = "validate_source", subject = "source", binds = "content" }]
on_missing = "run"
"#;

pub(crate) const TOOLS: &str = r#"{"tools":[{"name":"look","description":"Looks.","inputSchema":{"type":"object"}},{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}]}"#;

pub(crate) struct Scene {
    pub(crate) relay: Arc<Relay>,
    pub(crate) notes: Arc<Mutex<Vec<String>>>,
    client: BufReader<UnixStream>,
    server: BufReader<UnixStream>,
    kept: Kept,
    keys: Keyring,
    is_down: Arc<AtomicBool>,
    _folder: TempDir,
}

fn keys() -> Keyring {
    let root = Root::from_bytes(*Digest::of("root", &[]).as_bytes());
    Keyring::new(&KeyFile::new(LedgerId::from_bytes([7; 16]), root))
}

fn clock() -> Reading {
    Reading::wall(1_800_000_000_000)
}

/// A port on a new ledger in memory.
pub(crate) fn port_on(kept: &Kept, policy: &str, folder: &TempDir) -> Arc<dyn Port> {
    let ledger = Ledger::create(keys(), kept.clone(), &clock()).unwrap();
    let policy = AcceptedPolicy::prepare(policy, folder.path(), &|_| None).unwrap();
    let store: PathBuf = folder.path().join(".actum");
    std::fs::create_dir_all(&store).unwrap();
    let (data, state) = (folder.path().join("data"), folder.path().join("state"));
    let places = Places { store, data, state };
    let desk = HeldOpen::new(ledger, Some(policy), clock);
    Arc::new(Own::new(desk, Who::Owner(Owner::YesFlag), &places))
}

/// A port that can be out of reach.
#[derive(Debug)]
struct Flaky {
    port: Arc<dyn Port>,
    is_down: Arc<AtomicBool>,
}

impl Flaky {
    fn up(&self) -> Result<&dyn Port, PortError> {
        let what = "nobody answers".to_owned();
        if self.is_down.load(Ordering::SeqCst) { Err(PortError { what }) } else { Ok(&*self.port) }
    }
}

impl Port for Flaky {
    fn open(&self, sight: Sight) -> Result<SessionName, PortError> {
        self.up()?.open(sight)
    }

    fn observe(&self, session: &SessionName, seen: &Observation<'_>) -> Result<(), PortError> {
        self.up()?.observe(session, seen)
    }

    fn act(&self, session: &SessionName, ask: &Ask<'_>) -> Result<Ruling, PortError> {
        self.up()?.act(session, ask)
    }

    fn end(&self, permit: u64, outcome: Outcome, result: Digest) -> Result<(), PortError> {
        self.up()?.end(permit, outcome, result)
    }

    fn terms(&self, tool: &str, server: &str, client: Option<&str>) -> Result<Terms, PortError> {
        self.up()?.terms(tool, server, client)
    }

    fn pin(&self, session: &SessionName, name: &str, definition: &str) -> Result<Pin, PortError> {
        self.up()?.pin(session, name, definition)
    }

    fn consent(
        &self,
        session: &SessionName,
        client: &str,
        held: &Held<'_>,
        consent: Consent,
    ) -> Result<(), PortError> {
        self.up()?.consent(session, client, held, consent)
    }
}

/// The user says something, as a hook tells.
pub(crate) fn turn(port: &dyn Port, session: &SessionName, turn: &str) {
    let texts = vec![turn.to_owned()];
    let (seen, channel, author) = (Seen::Turn, "user", "user");
    port.observe(session, &Observation { seen, channel, author, texts, answers: None }).unwrap();
}

/// How each run went.
pub(crate) fn ends(kept: &Kept) -> Vec<Outcome> {
    events(
        kept,
        &keys(),
        |event| if let Event::Ended(it) = event { Some(it.outcome) } else { None },
    )
}

fn events<T>(kept: &Kept, keys: &Keyring, which: impl Fn(&Event<'_>) -> Option<T>) -> Vec<T> {
    let kept = kept.0.lock().unwrap();
    let layout = Layout::read(kept.0.segment(), keys, &Position::START);
    let checks = vec![layout.check(0..layout.len())];
    let verified = layout.conclude(checks);
    verified.records().filter_map(|record| which(&record.event()?)).collect()
}

impl Scene {
    pub(crate) fn new(policy: &str, sight: Sight) -> Self {
        Self::joining(policy, sight, None)
    }

    /// A guard whose session a hook opened, and in which the user said this.
    pub(crate) fn told(policy: &str, turn: &str) -> Self {
        Self::joining(policy, Sight::Partial, Some(turn))
    }

    fn joining(policy: &str, sight: Sight, turn: Option<&str>) -> Self {
        let (folder, kept) = (tempfile::tempdir().unwrap(), Kept::default());
        let port = port_on(&kept, policy, &folder);
        let session = turn.map(|turn| {
            let session = port.open(Sight::Partial).unwrap();
            self::turn(&*port, &session, turn);
            session
        });
        let settings = Settings { name: SERVER.to_owned(), sight, session };
        let notes: Arc<Mutex<Vec<String>>> = Arc::default();
        let into = Arc::clone(&notes);
        let note = Box::new(move |what: &str| into.lock().unwrap().push(what.to_owned()));
        let is_down: Arc<AtomicBool> = Arc::default();
        let port = Arc::new(Flaky { port, is_down: Arc::clone(&is_down) });
        let guard = Arc::new(Guard::new(settings, port, note).unwrap());
        let (client, to_client) = UnixStream::pair().unwrap();
        let (server, to_server) = UnixStream::pair().unwrap();
        let relay = Relay::new(guard, Box::new(to_client), Box::new(to_server), CALL_FOR).unwrap();
        // What never comes is a failure, and does not hang.
        client.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        server.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let (client, server) = (BufReader::new(client), BufReader::new(server));
        let keys = keys();
        Self { relay, notes, client, server, kept, keys, is_down, _folder: folder }
    }

    pub(crate) fn client_says(&self, line: &str) {
        self.relay.from_client(line.as_bytes().to_vec());
    }

    pub(crate) fn server_says(&self, line: &str) {
        self.relay.from_server(line.as_bytes().to_vec());
    }

    pub(crate) fn client_hears(&mut self) -> String {
        line_of(&mut self.client)
    }

    pub(crate) fn server_hears(&mut self) -> String {
        line_of(&mut self.server)
    }

    /// The client shakes hands as one that can show forms, or not.
    pub(crate) fn shake_hands(&mut self, client: &str, capabilities: &str) {
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"{client}","version":"1"}}}}}}"#
        );
        self.client_says(&hello);
        assert_eq!(self.server_hears(), hello);
        let answer = r#"{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
        self.server_says(answer);
        assert_eq!(self.client_hears(), answer);
    }

    /// The server answers the guard's own question for its tools.
    pub(crate) fn list(&mut self, tools: &str) {
        let asked = self.server_hears();
        assert!(asked.contains("\"tools/list\""), "{asked}");
        self.server_says(&answer(&id_of(&asked), tools));
    }

    pub(crate) fn call(&self, id: u32, tool: &str, arguments: &str) {
        self.client_says(&call(id, tool, arguments));
    }

    /// What of these events is in the ledger: how each run went, by its tool or step.
    pub(crate) fn ends(&self) -> Vec<Outcome> {
        ends(&self.kept)
    }

    pub(crate) fn begun(&self) -> usize {
        self.events(|event| matches!(event, Event::Began(_)).then_some(())).len()
    }

    /// Everything that was observed: what, through which channel, by whom.
    pub(crate) fn seen(&self) -> Vec<(Seen, String, String)> {
        let views = self.views();
        let name =
            |space, number| String::from_utf8(views.name(space, number).unwrap().to_vec()).unwrap();
        self.events(|event| {
            let Event::Observed(it) = event else { return None };
            Some((it.seen, name(Space::Channel, it.channel), name(Space::Author, it.author)))
        })
    }

    pub(crate) fn views(&self) -> actum_core::Views {
        let kept = self.kept.0.lock().unwrap();
        actum_testkit::memory::fold(kept.0.segment(), &self.keys).unwrap()
    }

    pub(crate) fn events<T>(&self, which: impl Fn(&Event<'_>) -> Option<T>) -> Vec<T> {
        events(&self.kept, &self.keys, which)
    }

    /// Whoever keeps the ledger cannot be asked from now on, or can be again.
    pub(crate) fn is_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
    }

    /// The disk is gone from now on.
    pub(crate) fn break_disk(&self) {
        self.kept.0.lock().unwrap().1 = true;
    }

    pub(crate) fn noted(&self, part: &str) -> bool {
        self.notes.lock().unwrap().iter().any(|note| note.contains(part))
    }
}

fn line_of(from: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    assert!(from.read_line(&mut line).unwrap() > 0, "the pipe was closed");
    line.pop();
    line
}

pub(crate) fn call(id: u32, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

pub(crate) fn answer(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

pub(crate) fn text(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// The id of a request as it is written.
pub(crate) fn id_of(line: &str) -> String {
    let (_, rest) = line.split_once("\"id\":").unwrap();
    rest.split([',', '}']).next().unwrap().to_owned()
}
