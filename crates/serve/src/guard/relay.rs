//! A guard between two pipes. Whatever is not gated passes as it came, byte for byte and in its order; a call waits for its
//! decision on a thread of its own, and leaves in its turn.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actum_core::{Value, hex};
use actum_store::{call_from_json, random};

use super::bridge::{Bridge, Moves};
use super::gate::{Askable, Cleared, Ends, From, Guard, Passes, Reply, Sent};
use super::message::{
    Flaw, Id, Kind, MESSAGE_MAX, Message, SHOWN, ToolCall, can_show_forms, client_of, quoted,
};
use super::pool::{Pool, Turn, Turns, lock};
use super::port::PortError;
use super::seal::ASKED_FOR;

/// Requests of a client that can wait for their answers at once.
pub const PENDING_MAX: usize = 1024;
/// How long a call may take, unless it is said otherwise.
pub const CALL_FOR: Duration = Duration::from_hours(1);
/// How long the server may take to list its tools.
const LIST_FOR: Duration = Duration::from_secs(10);

/// How long the last answers may take to be recorded and passed on.
const DRAIN_FOR: Duration = Duration::from_secs(5);

/// A pipe that is written to.
pub type Sink = Box<dyn Write + Send>;

/// A relay between two pipes.
pub struct Relay {
    guard: Arc<Guard>,
    client: Mutex<Sink>,
    server: Mutex<Sink>,
    state: Mutex<State>,
    pool: Pool,
    turns: Turns,
    bridge: Bridge,
    /// What our own ids and call ids begin with; nobody can guess it.
    nonce: String,
    call_for: Duration,
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("guard", &self.guard).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    /// What the client waits for.
    pending: BTreeMap<Id, Pending>,
    /// What we wait for ourselves.
    own: BTreeMap<Id, Sender<Reply>>,
    asked: u64,
    calls: u64,
    /// What the client said of itself when it shook hands.
    client: Option<String>,
    can_ask: bool,
    is_closed: bool,
}

#[derive(Debug)]
enum Pending {
    /// Its answer passes as it comes.
    Passed,
    /// Its answer is put before the model.
    Shown { method: String },
    /// A call about which nothing is decided yet.
    Deciding { is_cancelled: bool },
    /// A call that left.
    Left { sent: Box<Sent>, until: Instant },
    /// A call that was cancelled, or took too long; nobody waits for it any more.
    Given { up: Box<Sent> },
}

/// Methods whose answers are put before a model.
pub(crate) fn is_shown(method: &str) -> bool {
    SHOWN.contains(&method)
}

impl Relay {
    /// A relay of this guard between a client and a server.
    ///
    /// # Errors
    /// [`PortError`] if the machine gives no random bytes.
    pub fn new(
        guard: Arc<Guard>,
        client: Sink,
        server: Sink,
        call_for: Duration,
    ) -> Result<Arc<Self>, PortError> {
        let nonce = random::<8>().map_err(|error| PortError::of(&error))?;
        let nonce = hex(&*nonce);
        Ok(Arc::new(Self {
            guard,
            client: Mutex::new(client),
            server: Mutex::new(server),
            state: Mutex::default(),
            pool: Pool::default(),
            turns: Turns::default(),
            bridge: Bridge::new(&nonce),
            nonce,
            call_for,
        }))
    }

    // From the client.

    /// Takes one line of the client.
    pub fn from_client(self: &Arc<Self>, line: Vec<u8>) {
        let message = match Message::on_a_line(&line) {
            Ok(message) => message,
            Err(flaw) => return self.refuse(None, flaw.code(), &flaw.to_string()),
        };
        match message.kind.clone() {
            Kind::Request { id, method } => self.request(&message, id, method),
            Kind::Notification { method } => self.notification(&message, &method),
            Kind::Response { id, .. } => self.answer_of_client(&message, id),
        }
    }

    /// A line of the client that was too long to be taken.
    pub fn oversized_from_client(&self) {
        let flaw = Flaw::Oversized;
        self.refuse(None, flaw.code(), &flaw.to_string());
    }

    fn request(self: &Arc<Self>, message: &Message<'_>, id: Id, method: String) {
        let mut state = lock(&self.state);
        if state.pending.contains_key(&id) {
            drop(state);
            let what =
                format!("the id {} is that of another request, which still waits", id.as_json());
            return self.refuse(None, -32600, &what);
        }
        if state.pending.len() >= PENDING_MAX {
            drop(state);
            let what = format!("{PENDING_MAX} requests wait already");
            return self.refuse(Some(&id), -32603, &what);
        }
        if method == "tools/call" {
            state.pending.insert(id.clone(), Pending::Deciding { is_cancelled: false });
            state.calls += 1;
            let call_id = format!("{}:{}:{}", self.nonce, state.calls, id.as_json());
            drop(state);
            let (relay, line) = (Arc::clone(self), message.line().to_owned());
            let turn = self.turns.take();
            return self.pool.run(move || relay.decide(&line, &id, call_id, turn));
        }
        if method == "initialize"
            && let Some(params) = message.params()
        {
            (state.client, state.can_ask) = introduced(params);
        }
        let pending = if is_shown(&method) { Pending::Shown { method } } else { Pending::Passed };
        state.pending.insert(id, pending);
        drop(state);
        self.to_server(message.line());
    }

    fn notification(self: &Arc<Self>, message: &Message<'_>, method: &str) {
        if method == "tools/call" {
            self.guard
                .note("a call that wants no answer is refused: nobody could be told how it went");
            return;
        }
        if method == "notifications/cancelled"
            && let Some(id) = message.params().and_then(cancelled_id)
        {
            let mut state = lock(&self.state);
            match state.pending.remove(&id) {
                Some(Pending::Deciding { .. }) => {
                    state.pending.insert(id, Pending::Deciding { is_cancelled: true });
                    // The server never heard of it.
                    return;
                }
                Some(Pending::Left { sent, .. }) => {
                    let up = sent.clone();
                    state.pending.insert(id, Pending::Given { up });
                    drop(state);
                    self.guard.settle(&sent, &Reply::Cancelled);
                }
                Some(other) => {
                    state.pending.insert(id, other);
                }
                None => {}
            }
        }
        self.to_server(message.line());
    }

    fn answer_of_client(self: &Arc<Self>, message: &Message<'_>, id: Option<Id>) {
        let waits = id.and_then(|id| lock(&self.state).own.remove(&id));
        match waits {
            Some(waits) => reply_to(&waits, message),
            None => self.to_server(message.line()),
        }
    }

    /// Decides about one call, and sends it on or refuses it.
    fn decide(self: &Arc<Self>, line: &str, id: &Id, call_id: String, turn: Turn) {
        if lock(&self.state).is_closed {
            return;
        }
        let Ok(message) = Message::read(line.as_bytes()) else { return };
        let call = match ToolCall::read(self.guard.name(), message.params()) {
            Ok(call) => call,
            Err(flaw) => return self.refuse(Some(id), flaw.code(), &flaw.to_string()),
        };
        let from = self.whose(&call, call_id);
        let mut turn = Some(turn);
        let cleared = self.guard.clear(&call, &from, self, &mut turn);
        let sent = match cleared {
            Cleared::Go(sent) => sent,
            Cleared::Answer(result) => {
                lock(&self.state).pending.remove(id);
                return self.to_client(&format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}",
                    id.as_json()
                ));
            }
            Cleared::Error(code, what) => return self.refuse(Some(id), code, &what),
        };
        if let Some(turn) = &turn {
            turn.wait();
        }
        let out = message.with_params(&sent.params);
        let mut state = lock(&self.state);
        let goes = match state.pending.remove(id) {
            Some(Pending::Deciding { is_cancelled: false }) if !state.is_closed => {
                let left =
                    Pending::Left { sent: sent.clone(), until: Instant::now() + self.call_for };
                state.pending.insert(id.clone(), left);
                true
            }
            Some(_) | None => false,
        };
        drop(state);
        if goes {
            self.to_server(&out);
        } else {
            self.guard.settle(&sent, &Reply::Cancelled);
        }
    }

    fn whose(&self, call: &ToolCall<'_>, call_id: String) -> From {
        let principal = "pipe".to_owned();
        if let Some(meta) = &call.client {
            return From {
                call_id,
                client: meta.name.clone(),
                principal,
                askable: if meta.can_ask { Askable::Answer } else { Askable::No },
                modern: Some(meta.version.clone()),
            };
        }
        let state = lock(&self.state);
        From {
            call_id,
            client: state.client.clone(),
            principal,
            askable: if state.can_ask { Askable::Request } else { Askable::No },
            modern: None,
        }
    }

    // From the server.

    /// Takes one line of the server.
    pub fn from_server(self: &Arc<Self>, line: Vec<u8>) {
        let text = core::str::from_utf8(&line).unwrap_or_default();
        if text.is_empty() || self.bridge.is_idle() {
            return self.said_by_server(&line);
        }
        let moves = self.bridge.to_client(text);
        for line in &moves.to_server {
            write_line(&self.server, line);
        }
        for line in &moves.to_client {
            self.said_by_server(line.as_bytes());
        }
    }

    fn said_by_server(self: &Arc<Self>, line: &[u8]) {
        let message = match Message::on_a_line(line) {
            Ok(message) => message,
            Err(flaw) => {
                self.guard.note(&format!("what the server wrote is not passed on: {flaw}"));
                return;
            }
        };
        match &message.kind {
            Kind::Request { method, .. } if method == "sampling/createMessage" => {
                let (relay, line) = (Arc::clone(self), message.line().to_owned());
                self.pool.run(move || relay.sample(&line));
            }
            Kind::Request { .. } | Kind::Response { id: None, .. } => {
                self.to_client(message.line());
            }
            Kind::Notification { method } => {
                if method == "notifications/tools/list_changed" {
                    self.guard.list_again();
                }
                self.to_client(message.line());
            }
            Kind::Response { id: Some(id), .. } => self.answer_of_server(&message, id),
        }
    }

    /// A line of the server that was too long to be taken.
    pub fn oversized_from_server(&self) {
        self.guard.note(&format!("what the server wrote is not passed on: {}", Flaw::Oversized));
    }

    fn sample(self: &Arc<Self>, line: &str) {
        let Ok(message) = Message::read(line.as_bytes()) else { return };
        let params = message.params().unwrap_or_default();
        if self.guard.say("sampling/createMessage", params) {
            self.to_client(line);
        } else if let Kind::Request { id, .. } = &message.kind {
            let what = "the ledger cannot be asked, and what is shown to a model is recorded first";
            self.to_server(&error_line(Some(id), -32603, what));
        }
    }

    fn answer_of_server(self: &Arc<Self>, message: &Message<'_>, id: &Id) {
        let mut state = lock(&self.state);
        if let Some(waits) = state.own.remove(id) {
            drop(state);
            return reply_to(&waits, message);
        }
        let pending = match state.pending.remove(id) {
            Some(undecided @ Pending::Deciding { .. }) => {
                state.pending.insert(id.clone(), undecided);
                None
            }
            other => other,
        };
        drop(state);
        match pending {
            None => {
                let id = id.as_json();
                self.guard.note(&format!(
                    "an answer of the server to no question ({id}) is not passed on"
                ));
            }
            Some(Pending::Passed) => self.to_client(message.line()),
            Some(pending) => {
                let (relay, line) = (Arc::clone(self), message.line().to_owned());
                self.pool.run(move || relay.show(&line, pending));
            }
        }
    }

    /// Records what an answer says, and passes it on.
    fn show(&self, line: &str, pending: Pending) {
        let Ok(message) = Message::read(line.as_bytes()) else { return };
        let Kind::Response { id, .. } = &message.kind else { return };
        let passes = match pending {
            Pending::Passed | Pending::Deciding { .. } => Passes::AsItCame,
            Pending::Shown { method } => self.guard.shown(&message, &method),
            Pending::Left { sent, .. } => self.guard.settle(&sent, &reply_of(&message)),
            Pending::Given { up } => {
                // Its run has ended already. Its client may still show it.
                self.guard.settle(&up.ended(), &reply_of(&message))
            }
        };
        match passes {
            Passes::AsItCame => self.to_client(line),
            Passes::Instead(result) => self.to_client(&message.with_result(&result)),
            Passes::Withheld => {
                let what =
                    "the ledger cannot be asked, and what is shown to a model is recorded first";
                self.to_client(&error_line(id.as_ref(), -32603, what));
            }
        }
    }

    // Time and end.

    /// Gives up what has taken too long.
    pub fn tick(self: &Arc<Self>, now: Instant) {
        let mut late = Vec::new();
        let mut state = lock(&self.state);
        for (id, pending) in &mut state.pending {
            let Pending::Left { sent, until } = pending else { continue };
            if *until <= now {
                let sent = sent.clone();
                *pending = Pending::Given { up: sent.clone() };
                late.push((id.clone(), sent));
            }
        }
        drop(state);
        for (id, sent) in late {
            self.guard.settle(&sent, &Reply::TimedOut);
            self.to_server(&format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{},\"reason\":\"no answer in time\"}}}}",
                id.as_json()
            ));
            self.to_client(&error_line(Some(&id), -32001, "the server did not answer in time"));
        }
    }

    /// Ends everything that waits: one of the ends is gone.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        let pending = core::mem::take(&mut state.pending);
        // Whoever waits for one of these hears that nothing comes.
        state.own.clear();
        drop(state);
        for pending in pending.into_values() {
            if let Pending::Left { sent, .. } = pending {
                self.guard.settle(&sent, &Reply::Lost);
            }
        }
        self.pool.close(DRAIN_FOR);
        self.guard.close();
    }

    /// Nothing more goes to the server.
    pub fn close_server(&self) {
        *lock(&self.server) = Box::new(io::sink());
    }

    /// Whether something that left is still to be answered.
    pub fn is_waiting(&self) -> bool {
        lock(&self.state).pending.values().any(|it| matches!(it, Pending::Left { .. }))
    }

    // Out.

    fn refuse(&self, id: Option<&Id>, code: i32, what: &str) {
        if let Some(id) = id {
            lock(&self.state).pending.remove(id);
        }
        self.to_client(&error_line(id, code, what));
    }

    fn to_client(&self, line: &str) {
        write_line(&self.client, line);
    }

    fn to_server(self: &Arc<Self>, line: &str) {
        if self.bridge.is_idle() {
            return write_line(&self.server, line);
        }
        let Moves { to_server, to_client } = self.bridge.to_server(line);
        for line in &to_server {
            write_line(&self.server, line);
        }
        for line in &to_client {
            self.said_by_server(line.as_bytes());
        }
    }

    /// Asks something of our own, and waits.
    fn own(
        &self,
        send: impl FnOnce(&str),
        method: &str,
        params: &str,
        patience: Duration,
    ) -> Reply {
        let (tell, told): (Sender<Reply>, Receiver<Reply>) = channel();
        let mut state = lock(&self.state);
        if state.is_closed {
            return Reply::Lost;
        }
        state.asked += 1;
        let id = Id::ours(&format!("actum-{}-{}", self.nonce, state.asked));
        state.own.insert(id.clone(), tell);
        drop(state);
        send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{},\"params\":{params}}}",
            id.as_json(),
            quoted(method)
        ));
        match told.recv_timeout(patience) {
            Ok(reply) => reply,
            Err(RecvTimeoutError::Timeout) => {
                lock(&self.state).own.remove(&id);
                Reply::TimedOut
            }
            Err(RecvTimeoutError::Disconnected) => Reply::Lost,
        }
    }
}

impl Ends for Arc<Relay> {
    fn ask_server(&self, method: &str, params: &str) -> Result<Reply, String> {
        let patience = if method == "tools/list" { LIST_FOR } else { self.call_for };
        Ok(self.own(|line| self.to_server(line), method, params, patience))
    }

    fn ask_client(&self, params: &str) -> Option<String> {
        match self.own(|line| self.to_client(line), "elicitation/create", params, ASKED_FOR) {
            Reply::Result(result) => Some(result),
            Reply::Error(_) | Reply::Lost | Reply::TimedOut | Reply::Cancelled => None,
        }
    }
}

fn write_line(to: &Mutex<Sink>, line: &str) {
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    let mut to = lock(to);
    // Whoever is gone is noticed by whoever reads from there.
    let _gone = to.write_all(&bytes).and_then(|()| to.flush());
}

pub(crate) fn error_line(id: Option<&Id>, code: i32, what: &str) -> String {
    let id = id.map_or("null", Id::as_json);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}",
        quoted(&format!("actum: {what}"))
    )
}

pub(crate) fn reply_of(message: &Message<'_>) -> Reply {
    match (message.result(), message.error()) {
        (Some(result), _) => Reply::Result(result.to_owned()),
        (None, Some(error)) => Reply::Error(error.to_owned()),
        (None, None) => Reply::Lost,
    }
}

fn reply_to(waits: &Sender<Reply>, message: &Message<'_>) {
    // Whoever waited may have given up.
    let _gone = waits.send(reply_of(message));
}

/// The request that a client does not want any more.
fn cancelled_id(params: &str) -> Option<Id> {
    let strict = call_from_json("cancelled", params).ok()?;
    match strict.argument("requestId")? {
        Value::Text(text) => Some(Id::ours(text)),
        Value::Number(number) => Id::number(number.as_str()),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
    }
}

/// Name of a client that shakes hands, and whether it can show forms. Since 2025-06-18 it can say so.
fn introduced(params: &str) -> (Option<String>, bool) {
    let Ok(strict) = call_from_json("initialize", params) else { return (None, false) };
    if let Some(meta) = strict.argument("_meta").and_then(client_of) {
        return (meta.name, meta.can_ask);
    }
    let name = match strict.argument("clientInfo") {
        Some(Value::Map(info)) => match info.get("name") {
            Some(Value::Text(name)) => Some(name.clone()),
            Some(_) | None => None,
        },
        Some(_) | None => None,
    };
    let can_ask = match strict.argument("capabilities") {
        Some(Value::Map(can)) => can_show_forms(can.get("elicitation")),
        Some(_) | None => false,
    };
    (name, can_ask)
}

/// A line, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// One, without its end.
    Whole(Vec<u8>),
    /// One over [`MESSAGE_MAX`]: it was read over.
    Oversized,
    /// No more.
    End,
}

/// Reads one line.
///
/// # Errors
/// What the pipe said.
pub fn read_line(from: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut is_oversized = false;
    loop {
        let bytes = match from.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        is_oversized |= line.len() + part.len() > MESSAGE_MAX;
        if is_oversized {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let (is_last, taken) = (bytes.is_empty(), end.map_or(bytes.len(), |end| end + 1));
        from.consume(taken);
        match (end, is_last) {
            (None, false) => {}
            (Some(_), _) | (None, true) if is_oversized => return Ok(Line::Oversized),
            (None, true) if line.is_empty() => return Ok(Line::End),
            (Some(_), _) | (None, true) => return Ok(Line::Whole(line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_over_the_limit_is_read_over_and_the_next_is_there() {
        let long = "x".repeat(MESSAGE_MAX + 1);
        let text = format!("a\n{long}\n\nb");
        let mut from = io::Cursor::new(text);
        let lines: Vec<Line> =
            std::iter::repeat_with(|| read_line(&mut from).unwrap()).take(5).collect();
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines, [whole("a"), Line::Oversized, whole(""), whole("b"), Line::End]);
    }
}
