//! A guard that starts its server and speaks to its client on standard input and output. The server's standard error is our own.

use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::gate::{Guard, PAGES_MAX, STATELESS, member, meta_of};
use super::message::{Definition, Id, Kind, Message, definitions, quoted};
use super::port::PortError;
use super::relay::{Line, Relay, Sink, read_line};

/// How long a server has to end by itself, and again once it was told to.
pub const GRACE: Duration = Duration::from_secs(5);
/// How often what takes too long is looked for.
const TICK: Duration = Duration::from_secs(1);

/// Why a guard could not work.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The server did not start.
    #[error("cannot start the server {program}")]
    Start {
        /// Which program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The machine gives no random bytes.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// What ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client closed its end, or we were told to stop.
    ByClient,
    /// The server ended by itself, with this code if it had one.
    ByServer(Option<i32>),
}

#[derive(Debug)]
enum Event {
    ClientGone,
    ServerGone,
    Stop,
}

/// Stops a guard from another thread.
#[derive(Debug, Clone)]
pub struct Stop(Sender<Event>);

impl Stop {
    /// As if the client had closed its end.
    pub fn stop(&self) {
        // Whoever has ended needs no stopping.
        let _gone = self.0.send(Event::Stop);
    }
}

/// A server behind a guard, on two pipes.
#[derive(Debug)]
pub struct Piped {
    tell: Sender<Event>,
    told: Receiver<Event>,
    call_for: Duration,
}

impl Piped {
    /// One whose calls may take so long.
    pub fn new(call_for: Duration) -> Self {
        let (tell, told) = channel();
        Self { tell, told, call_for }
    }

    /// What stops it.
    pub fn stop(&self) -> Stop {
        Stop(self.tell.clone())
    }

    /// Starts the server, and relays until one of the two is gone.
    ///
    /// # Errors
    /// [`StdioError`]; nothing was relayed then.
    pub fn run(
        self,
        guard: Arc<Guard>,
        command: &[OsString],
        from_client: impl Read + Send + 'static,
        to_client: Sink,
    ) -> Result<Ended, StdioError> {
        let (program, arguments) = command.split_first().unwrap_or((&EMPTY, &[]));
        let started = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let program = program.to_string_lossy().into_owned();
        let mut child = started.map_err(|source| StdioError::Start { program, source })?;
        let (Some(to_server), Some(from_server)) = (child.stdin.take(), child.stdout.take()) else {
            // Both were asked for.
            return Ok(end_of(&mut child));
        };
        let relay = Relay::new(guard, to_client, Box::new(to_server), self.call_for)?;
        let (reader, tell) = (Arc::clone(&relay), self.tell.clone());
        std::thread::spawn(move || {
            let mut from_client = BufReader::with_capacity(BUFFER, from_client);
            loop {
                match read_line(&mut from_client) {
                    Ok(Line::Whole(line)) if line.is_empty() => {}
                    Ok(Line::Whole(line)) => reader.from_client(line),
                    Ok(Line::Oversized) => reader.oversized_from_client(),
                    Ok(Line::End) | Err(_) => break,
                }
            }
            let _gone = tell.send(Event::ClientGone);
        });
        let (reader, tell) = (Arc::clone(&relay), self.tell);
        std::thread::spawn(move || {
            let mut from_server = BufReader::with_capacity(BUFFER, from_server);
            loop {
                match read_line(&mut from_server) {
                    Ok(Line::Whole(line)) if line.is_empty() => {}
                    Ok(Line::Whole(line)) => reader.from_server(line),
                    Ok(Line::Oversized) => reader.oversized_from_server(),
                    Ok(Line::End) | Err(_) => break,
                }
            }
            let _gone = tell.send(Event::ServerGone);
        });
        let ended = watch(&relay, &self.told, &mut child);
        relay.close();
        Ok(ended)
    }
}

const BUFFER: usize = 64 << 10;
static EMPTY: OsString = OsString::new();

fn watch(relay: &Relay, told: &Receiver<Event>, child: &mut Child) -> Ended {
    loop {
        match told.recv_timeout(TICK) {
            Err(RecvTimeoutError::Timeout) => relay.tick(Instant::now()),
            Ok(Event::ServerGone) => return end_of(child),
            Ok(Event::ClientGone | Event::Stop) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // As the protocol says: close its input, wait, tell it to end, wait, end it.
    relay.close_server();
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        if let Some(signal) = signal {
            // One that has ended meanwhile needs no signal.
            let _gone = kill_process(Pid::from_child(child), signal);
        }
        if is_gone(told) {
            break;
        }
    }
    end_of(child);
    Ended::ByClient
}

/// Waits a while for the server's last word.
fn is_gone(told: &Receiver<Event>) -> bool {
    let until = Instant::now() + GRACE;
    loop {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Event::ServerGone) | Err(RecvTimeoutError::Disconnected) => return true,
            Ok(Event::ClientGone | Event::Stop) => {}
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// Waits for a server that has closed its output; one that does not end is ended.
fn end_of(child: &mut Child) -> Ended {
    let until = Instant::now() + GRACE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ended::ByServer(status.code()),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                let _gone = child.kill();
                return Ended::ByServer(child.wait().ok().and_then(|status| status.code()));
            }
        }
    }
}

/// How long a server may take to say what its tools are, before there is a guard.
pub const INTRODUCED_WITHIN: Duration = Duration::from_mins(1);
const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"actum-0","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"actum-guard","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}"#
);
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Starts a server only to ask what its tools are. A server of the stateless era is asked without shaking hands.
///
/// # Errors
/// What went wrong, for a person.
pub fn tools_of(command: &[String], env: &[(String, String)]) -> Result<Vec<Definition>, String> {
    let (program, arguments) = command.split_first().ok_or("it has no command")?;
    let started = Command::new(program)
        .args(arguments)
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|error| format!("cannot start {program}: {error}"))?;
    let tools = introduce(&mut child);
    drop(child.stdin.take());
    let _gone = kill_process(Pid::from_child(&child), Signal::TERM);
    end_of(&mut child);
    tools
}

fn introduce(child: &mut Child) -> Result<Vec<Definition>, String> {
    let lost = || "it closed its pipes".to_owned();
    let mut to = child.stdin.take().ok_or_else(lost)?;
    let from = child.stdout.take().ok_or_else(lost)?;
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        while let Ok(Line::Whole(line)) = read_line(&mut from) {
            if tell.send(line).is_err() {
                break;
            }
        }
    });
    let until = Instant::now() + INTRODUCED_WITHIN;
    let mut ask = |line: &str, id: Option<&str>| -> Result<Result<String, String>, String> {
        writeln!(to, "{line}").and_then(|()| to.flush()).map_err(|error| error.to_string())?;
        let Some(id) = id else { return Ok(Ok(String::new())) };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = told.recv_timeout(left).map_err(|_none| "it did not answer".to_owned())?;
            let Ok(message) = Message::read(&line) else { continue };
            let Kind::Response { id: Some(answers), .. } = &message.kind else { continue };
            if *answers == Id::ours(id) {
                let error = message.error().unwrap_or_default().to_owned();
                return Ok(message.result().map(str::to_owned).ok_or(error));
            }
        }
    };
    let meta = match ask(HELLO, Some("actum-0"))? {
        Ok(_) => {
            ask(READY, None)??;
            String::new()
        }
        Err(_) => meta_of(Some(STATELESS)),
    };
    let mut all = Vec::new();
    let mut cursor: Option<String> = None;
    for page in 1..=PAGES_MAX {
        let cursor_member = cursor
            .as_ref()
            .map(|cursor| format!("\"cursor\":{}", quoted(cursor)))
            .unwrap_or_default();
        let params = format!("{{{cursor_member}{meta}}}").replace("{,", "{");
        let id = format!("actum-{page}");
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"tools/list\",\"params\":{params}}}"
        );
        let result =
            ask(&line, Some(&id))?.map_err(|error| format!("it lists no tools: {error}"))?;
        let listed = definitions(&result).map_err(|flaw| flaw.to_string())?;
        all.extend(listed.into_iter().filter_map(|(_, definition)| definition));
        cursor = member(&result, "nextCursor");
        if cursor.is_none() {
            break;
        }
    }
    Ok(all)
}
