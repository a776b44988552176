//! What the guard does about a call before it leaves and after it is answered, whatever wire it came on: definitions, the gate,
//! the owner, the missing step, the outcome.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use actum_core::{Call, Decision, Digest, Outcome, Presence, Seen, SessionName, Value};
use actum_store::{CONTENT_MAX, arguments_to_json};
use serde_json::value::RawValue;

use super::message::{
    Answered, Definition, META_CAPABILITIES, META_CLIENT, META_VERSION, ToolCall, definitions,
    members_of, quoted, texts,
};
use super::pool::{Turn, lock};
use super::port::{
    Ask, Consent, Held, Listed, Observation, Pin, Port, PortError, Receipt, Ruling, Sight, Terms,
};
use super::seal::{Back, Bound, Seals};

/// Things observed that wait until the ledger can be had again.
pub const BEHIND_MAX: usize = 256;
/// Bytes of them.
pub const BEHIND_BYTES_MAX: usize = 16 << 20;
/// Steps that are performed on the way of one call.
pub const STEPS_PER_CALL_MAX: usize = 8;
/// Pages of one list of tools.
pub const PAGES_MAX: usize = 64;
/// The revision of the stateless era that is spoken here.
pub const STATELESS: &str = "2026-07-28";
/// The prefix of our own notes in `_meta`.
pub const META_OURS: &str = "dev.actum/";
/// The name of our question among those of a result.
pub const QUESTION: &str = "actum/approve";

/// What a guard is told when it starts.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The server's name in the policy.
    pub name: String,
    /// How much of a session it sees.
    pub sight: Sight,
    /// The session that a hook opened, where the guard joins one.
    pub session: Option<SessionName>,
}

/// Tells the owner something, beside the protocol.
pub type Note = Box<dyn Fn(&str) + Send + Sync>;

/// One guard: a server's name, the port, and what is remembered between calls.
pub struct Guard {
    settings: Settings,
    port: Arc<dyn Port>,
    session: Mutex<Option<SessionName>>,
    seals: Seals<Open>,
    tools: Mutex<Tools>,
    /// Tools that the policy called reads when it was last asked.
    reads: Mutex<BTreeSet<String>>,
    behind: Mutex<VecDeque<Behind>>,
    listed: Mutex<BTreeSet<Digest>>,
    note: Note,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Tools {
    known: BTreeMap<String, KnownTool>,
    /// The guard has asked for them itself, since they last changed.
    is_fetched: bool,
    /// The server has said that they changed, and has not listed them since.
    is_stale: bool,
}

#[derive(Debug, Clone)]
struct KnownTool {
    version: Digest,
    read_only: Option<bool>,
    /// The definition that waits for the owner, and the event that withholds it.
    held: Option<(Definition, Option<u64>)>,
}

/// Something that was shown and could not be recorded yet.
#[derive(Debug)]
struct Behind {
    seen: Seen,
    author: String,
    texts: Vec<String>,
    answers: Option<Call>,
}

/// A question that is out with the client.
#[derive(Debug)]
pub(crate) enum Open {
    /// Ours: whether a held call may leave.
    Ours { receipt: Receipt, ruling: Ruling },
    /// The server's, in the middle of an allowed call.
    Theirs { permit: Option<u64>, inner: Option<String> },
}

/// How the client of a call can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Askable {
    /// Not at all.
    No,
    /// By a request of ours while its call waits.
    Request,
    /// By an answer that asks.
    Answer,
}

/// Whose call it is.
#[derive(Debug, Clone)]
pub(crate) struct From {
    /// Unique among the calls of this guard.
    pub(crate) call_id: String,
    /// What the client calls itself.
    pub(crate) client: Option<String>,
    /// Who may answer a question: of HTTP the session, of a pipe its one end.
    pub(crate) principal: String,
    /// How it can be asked.
    pub(crate) askable: Askable,
    /// The revision, of a request of the stateless era.
    pub(crate) modern: Option<String>,
}

/// The other ends of the wire.
pub(crate) trait Ends {
    /// Asks the server, and waits.
    fn ask_server(&self, method: &str, params: &str) -> Result<Reply, String>;

    /// Shows the client a form, and waits; nothing for no answer.
    fn ask_client(&self, params: &str) -> Option<String>;
}

/// What came back of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A result, as it stands.
    Result(String),
    /// An error, as it stands.
    Error(String),
    /// The connection was lost.
    Lost,
    /// Nothing came in time.
    TimedOut,
    /// The client did not want it any more.
    Cancelled,
}

/// What of an answer is passed on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Passes {
    /// All of it.
    AsItCame,
    /// This result in its place.
    Instead(String),
    /// Nothing: it could not be recorded that it was shown.
    Withheld,
}

/// What becomes of a call.
#[derive(Debug)]
pub(crate) enum Cleared {
    /// It leaves, with these parameters.
    Go(Box<Sent>),
    /// It does not; this is the result.
    Answer(String),
    /// It does not; this is the error.
    Error(i32, String),
}

/// A call that left.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) call: Call,
    pub(crate) params: String,
    pub(crate) from: From,
    permit: Option<u64>,
}

impl Sent {
    /// The same call, whose run has ended.
    pub(crate) fn ended(self) -> Self {
        Self { permit: None, ..self }
    }
}

impl Guard {
    /// A guard with these settings, that asks at this port.
    ///
    /// # Errors
    /// [`PortError`] if the machine gives no random bytes.
    pub fn new(settings: Settings, port: Arc<dyn Port>, note: Note) -> Result<Self, PortError> {
        Ok(Self {
            session: Mutex::new(settings.session.clone()),
            settings,
            port,
            seals: Seals::new()?,
            tools: Mutex::default(),
            reads: Mutex::default(),
            behind: Mutex::default(),
            listed: Mutex::default(),
            note,
        })
    }

    /// The server's name in the policy.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Tells the owner.
    pub(crate) fn note(&self, what: &str) {
        (self.note)(what);
    }

    fn channel(&self) -> String {
        format!("mcp:{}", self.settings.name)
    }

    fn session(&self) -> Result<SessionName, PortError> {
        let mut session = lock(&self.session);
        if let Some(session) = &*session {
            return Ok(session.clone());
        }
        let opened = self.port.open(self.settings.sight)?;
        self.note(&format!("session {opened}: only this guard sees it"));
        Ok(session.insert(opened).clone())
    }

    // Before the call.

    /// Decides about a call. Its turn is given up where something is waited for.
    pub(crate) fn clear(
        &self,
        call: &ToolCall<'_>,
        from: &From,
        ends: &dyn Ends,
        turn: &mut Option<Turn>,
    ) -> Cleared {
        let bound =
            Bound { principal: &from.principal, method: "tools/call", call: call.call.digest() };
        let mut answered = Answered::Nothing;
        let mut consented = false;
        if let Some(state) = &call.request_state {
            match self.seals.open(state, bound, Instant::now()) {
                Back::Foreign => {}
                Back::Void => {
                    let what = "the requestState does not count: it was altered, is of another call, ran out or was used";
                    return Cleared::Error(-32602, what.to_owned());
                }
                Back::Good(Open::Theirs { permit, inner }) => {
                    // The same call, still allowed: the server asked in the middle of it.
                    let params = call.outgoing(Answered::Theirs(inner.as_deref()));
                    return go(call, params, from, permit);
                }
                Back::Good(Open::Ours { receipt, ruling }) => {
                    let chosen = chosen(call.responses.get(QUESTION));
                    if let Err(result) = self.consent(&call.call, from, &receipt, &ruling, chosen) {
                        return Cleared::Answer(result);
                    }
                    (answered, consented) = (Answered::Ours, true);
                }
            }
        }
        match self.judge(call, from, ends, turn, consented) {
            Ok(permit) => go(call, call.outgoing(answered), from, permit),
            Err(cleared) => cleared,
        }
    }

    /// The permit of the call, if it may leave.
    fn judge(
        &self,
        call: &ToolCall<'_>,
        from: &From,
        ends: &dyn Ends,
        turn: &mut Option<Turn>,
        consented: bool,
    ) -> Result<Option<u64>, Cleared> {
        let refuse = |text: &str, code: &str| {
            Err(Cleared::Answer(self.refused(from, &call.call, text, code, None)))
        };
        let name = call.call.tool();
        let known = self.known(&call.tool, from, ends);
        if let Some((_, event)) = known.as_ref().and_then(|known| known.held.as_ref()) {
            let release = event.map_or_else(String::new, |event| {
                format!(" The owner can accept it: actum quarantine release {event}")
            });
            let text = format!(
                "Refused (definition_changed): the definition of {name} is not the accepted one.{release}"
            );
            return refuse(&text, "definition_changed");
        }
        let hint = known.as_ref().and_then(|known| known.read_only);
        let terms = match self.terms(call, from) {
            Ok(terms) => terms,
            Err(error) if lock(&self.reads).contains(name) => {
                self.note(&format!("{name}: the ledger cannot be asked ({error}); it was a read when it last could be, so it goes on, unverified"));
                return Ok(None);
            }
            Err(error) => {
                let text = format!(
                    "Refused (unavailable): the ledger cannot be asked ({error}). Effects wait until it can."
                );
                return refuse(&text, "unavailable");
            }
        };
        match (terms.listed, hint, terms.trusts_hints) {
            (Listed::Reads, Some(false), _) => {
                let text = format!(
                    "Refused (not_a_read): the policy says that {name} only reads, and its server says that it does not. The owner can give it a class in actum.toml."
                );
                return refuse(&text, "not_a_read");
            }
            (Listed::Nowhere, Some(true), true) => return Ok(None),
            (Listed::Nowhere | Listed::Reads | Listed::Judged, _, _) => {}
        }
        let can_ask = from.askable != Askable::No && terms.owner_answers && !consented;
        let presence = if can_ask { Presence::Somebody } else { Presence::Nobody };
        let version = known.map_or_else(|| Digest::plain(b""), |known| known.version);
        let mut call_id = from.call_id.clone();
        let mut asked = false;
        for round in 0..STEPS_PER_CALL_MAX {
            let ruling = match self.act(&call.call, &call_id, version, presence) {
                Ok(ruling) => ruling,
                Err(error) => {
                    let text = format!(
                        "Refused (unavailable): the ledger cannot be asked ({error}). Effects wait until it can."
                    );
                    return refuse(&text, "unavailable");
                }
            };
            call_id = format!("{}/{}", from.call_id, round + 1);
            if ruling.decision == Decision::Allow {
                return Ok(ruling.permit);
            }
            if let Some(step) = &ruling.perform {
                // Others need not wait for it.
                *turn = None;
                if self.perform(step, from, ends, &call_id) {
                    continue;
                }
            }
            let held = ruling.receipt.clone().filter(|_| can_ask && !asked);
            let Some(receipt) = held else {
                return Err(Cleared::Answer(self.refused_by(from, &call.call, &ruling)));
            };
            *turn = None;
            match from.askable {
                Askable::No => {}
                Askable::Answer => {
                    return Err(self.ask_in_answer(call, from, receipt, ruling));
                }
                Askable::Request => {
                    asked = true;
                    let params = format!(
                        "{{\"message\":{},\"requestedSchema\":{}}}",
                        quoted(&question(&call.call, &ruling)),
                        schema()
                    );
                    let answer = ends.ask_client(&params);
                    let answer = answer.as_deref().and_then(value_of);
                    let chosen = chosen(answer.as_ref());
                    self.consent(&call.call, from, &receipt, &ruling, chosen)
                        .map_err(Cleared::Answer)?;
                }
            }
        }
        refuse("Refused (step_missing): too many steps are missing for one call.", "step_missing")
    }

    fn terms(&self, call: &ToolCall<'_>, from: &From) -> Result<Terms, PortError> {
        let name = call.call.tool();
        let terms = self.port.terms(name, &self.settings.name, from.client.as_deref())?;
        let mut reads = lock(&self.reads);
        if terms.listed == Listed::Reads {
            reads.insert(name.to_owned());
        } else {
            reads.remove(name);
        }
        Ok(terms)
    }

    fn act(
        &self,
        call: &Call,
        call_id: &str,
        version: Digest,
        presence: Presence,
    ) -> Result<Ruling, PortError> {
        // Nothing is judged before all that was shown is known.
        self.catch_up()?;
        let session = self.session()?;
        self.port.act(&session, &Ask { call, call_id, version, presence })
    }

    /// Performs a step that is missing, as a call of its own. Whether it passed.
    fn perform(&self, step: &Call, from: &From, ends: &dyn Ends, call_id: &str) -> bool {
        let own = step.tool().strip_prefix(&self.settings.name);
        let Some(tool) = own.and_then(|rest| rest.strip_prefix('/')) else { return false };
        let known = self.known(tool, from, ends);
        if known.as_ref().is_some_and(|known| known.held.is_some()) {
            return false;
        }
        let version = known.map_or_else(|| Digest::plain(b""), |known| known.version);
        let id = format!("{call_id}/step");
        let permit = match self.act(step, &id, version, Presence::Nobody) {
            Ok(ruling) if ruling.decision == Decision::Allow => ruling.permit,
            Ok(_) | Err(_) => return false,
        };
        let meta = meta_of(from.modern.as_deref());
        let params = format!(
            "{{\"name\":{},\"arguments\":{}{meta}}}",
            quoted(tool),
            arguments_to_json(step)
        );
        let reply = match ends.ask_server("tools/call", &params) {
            Ok(reply) => reply,
            Err(_) => Reply::Lost,
        };
        let sent = Sent { call: step.clone(), params, from: from.clone(), permit };
        let outcome = outcome_of(&reply);
        self.settle(&sent, &reply);
        outcome == Outcome::Passed
    }

    // Asking.

    fn ask_in_answer(
        &self,
        call: &ToolCall<'_>,
        from: &From,
        receipt: Receipt,
        ruling: Ruling,
    ) -> Cleared {
        let message = quoted(&question(&call.call, &ruling));
        let bound =
            Bound { principal: &from.principal, method: "tools/call", call: call.call.digest() };
        let refusal = self.refused_by(from, &call.call, &ruling);
        match self.seals.seal(bound, Open::Ours { receipt, ruling }, Instant::now()) {
            Ok((state, gone)) => {
                self.end_all(gone);
                Cleared::Answer(format!(
                    "{{\"resultType\":\"input_required\",\"inputRequests\":{{{}:{{\"method\":\"elicitation/create\",\"params\":{{\"mode\":\"form\",\"message\":{message},\"requestedSchema\":{}}}}}}},\"requestState\":{}}}",
                    quoted(QUESTION),
                    schema(),
                    quoted(&state)
                ))
            }
            Err(_) => Cleared::Answer(refusal),
        }
    }

    /// Writes the owner's consent down, or gives the refusal that follows from its lack.
    fn consent(
        &self,
        call: &Call,
        from: &From,
        receipt: &Receipt,
        ruling: &Ruling,
        chosen: Option<Consent>,
    ) -> Result<(), String> {
        let refusal = || self.refused_by(from, call, ruling);
        let (Some(consent), Some(client)) = (chosen, from.client.as_deref()) else {
            return Err(refusal());
        };
        let held = Held { receipt, call, binding: &ruling.arguments };
        let session = self.session().map_err(|_unavailable| refusal())?;
        self.port.consent(&session, client, &held, consent).map_err(|error| {
            self.note(&format!("{}: the answer does not count: {error}", call.tool()));
            refusal()
        })
    }

    // Refusing.

    fn refused_by(&self, from: &From, call: &Call, ruling: &Ruling) -> String {
        let text = match &ruling.receipt {
            Some(receipt) => format!(
                "{} The owner can approve exactly this call, once: actum approve {}",
                ruling.told, receipt.code
            ),
            None => ruling.told.clone(),
        };
        let way_out = &ruling.way_out;
        let name = call.tool();
        self.note(&format!("{name}: {} ({}). {way_out}", ruling.decision, ruling.code));
        self.refused(from, call, &text, &ruling.code, ruling.receipt.as_ref())
    }

    /// The result of a call that does not leave: an error of the tool, so that the model can read it.
    fn refused(
        &self,
        from: &From,
        call: &Call,
        text: &str,
        code: &str,
        receipt: Option<&Receipt>,
    ) -> String {
        self.see(Seen::Refusal, "actum", vec![text.to_owned()], Some(call));
        let complete = if from.modern.is_some() { "\"resultType\":\"complete\"," } else { "" };
        let receipt = receipt.map_or_else(String::new, |receipt| {
            format!(",{}:{}", quoted(&format!("{META_OURS}receipt")), quoted(&receipt.code))
        });
        format!(
            "{{{complete}\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true,\"_meta\":{{{}:\"deny\",{}:{}{receipt}}}}}",
            quoted(text),
            quoted(&format!("{META_OURS}decision")),
            quoted(&format!("{META_OURS}code")),
            quoted(code),
        )
    }

    // After the call.

    /// Records how a call went and what it gave back, and says what of it is passed on.
    pub(crate) fn settle(&self, sent: &Sent, reply: &Reply) -> Passes {
        let name = sent.call.tool();
        if let (Reply::Result(result), Some(_)) = (reply, &sent.from.modern)
            && result_type(result).as_deref() == Some("input_required")
        {
            if !self.see(Seen::Result, name, texts(result), Some(&sent.call)) {
                self.end(sent.permit, Outcome::Errored, result, name);
                return Passes::Withheld;
            }
            return self.carry_on(sent, result).map_or(Passes::AsItCame, Passes::Instead);
        }
        let text = match reply {
            Reply::Result(text) | Reply::Error(text) => text,
            Reply::Lost | Reply::TimedOut | Reply::Cancelled => "",
        };
        self.end(sent.permit, outcome_of(reply), text, name);
        let shown = self.see(Seen::Result, name, texts(text), Some(&sent.call));
        if shown { Passes::AsItCame } else { Passes::Withheld }
    }

    /// The server asks in the middle of a call: its state travels inside one of ours, and the call goes on with the answer.
    fn carry_on(&self, sent: &Sent, result: &str) -> Option<String> {
        let raw: &RawValue = serde_json::from_str(result).ok()?;
        let members = members_of(raw).ok()?;
        let inner = members.iter().find(|(name, _)| name == "requestState");
        let inner = inner.and_then(|(_, raw)| serde_json::from_str::<String>(raw.get()).ok());
        let bound = Bound {
            principal: &sent.from.principal,
            method: "tools/call",
            call: sent.call.digest(),
        };
        let open = Open::Theirs { permit: sent.permit, inner };
        match self.seals.seal(bound, open, Instant::now()) {
            Ok((state, gone)) => {
                self.end_all(gone);
                let kept = members.iter().filter(|(name, _)| name != "requestState");
                let mut parts: Vec<String> =
                    kept.map(|(name, raw)| format!("{}:{}", quoted(name), raw.get())).collect();
                parts.push(format!("\"requestState\":{}", quoted(&state)));
                Some(format!("{{{}}}", parts.join(",")))
            }
            Err((error, open)) => {
                self.note(&format!("{}: {error}", sent.call.tool()));
                self.end_all(vec![open]);
                None
            }
        }
    }

    fn end(&self, permit: Option<u64>, outcome: Outcome, result: &str, name: &str) {
        let Some(permit) = permit else { return };
        if let Err(error) = self.port.end(permit, outcome, Digest::plain(result.as_bytes())) {
            self.note(&format!("{name}: how call {permit} went was not recorded ({error}); it counts as begun and not ended"));
        }
    }

    fn end_all(&self, gone: Vec<Open>) {
        for open in gone {
            match open {
                Open::Theirs { permit, .. } => {
                    self.end(permit, Outcome::TimedOut, "", "a question");
                }
                Open::Ours { .. } => {}
            }
        }
    }

    /// Ends what is still open.
    pub(crate) fn close(&self) {
        self.end_all(self.seals.drain());
    }

    // What was shown.

    /// Records something that is about to be shown. What cannot be recorded now is before any later call is judged; what is too
    /// much for that is not shown.
    fn see(&self, seen: Seen, author: &str, texts: Vec<String>, answers: Option<&Call>) -> bool {
        if texts.is_empty() {
            return true;
        }
        let is_behind = !lock(&self.behind).is_empty() && self.catch_up().is_err();
        if !is_behind {
            match self.observe(seen, author, texts.clone(), answers) {
                Ok(()) => return true,
                Err(error) => {
                    self.note(&format!("{author}: what it said is not recorded yet ({error})"));
                }
            }
        }
        let mut behind = lock(&self.behind);
        let bytes: usize = behind.iter().flat_map(|it| &it.texts).map(String::len).sum();
        let more: usize = texts.iter().map(String::len).sum();
        if behind.len() >= BEHIND_MAX || bytes + more > BEHIND_BYTES_MAX {
            return false;
        }
        behind.push_back(Behind {
            seen,
            author: author.to_owned(),
            texts,
            answers: answers.cloned(),
        });
        true
    }

    fn observe(
        &self,
        seen: Seen,
        author: &str,
        texts: Vec<String>,
        answers: Option<&Call>,
    ) -> Result<(), PortError> {
        let session = self.session()?;
        let channel = self.channel();
        let answers = answers.filter(|_| seen == Seen::Result);
        self.port
            .observe(&session, &Observation { seen, channel: &channel, author, texts, answers })
    }

    fn catch_up(&self) -> Result<(), PortError> {
        let mut behind = lock(&self.behind);
        while let Some(it) = behind.front() {
            self.observe(it.seen, &it.author, it.texts.clone(), it.answers.as_ref())?;
            behind.pop_front();
        }
        Ok(())
    }

    /// Records what a part of the server says that is no answer to a call. Whether it may be shown.
    pub(crate) fn say(&self, method: &str, json: &str) -> bool {
        let digest = Digest::plain(json.as_bytes());
        // A list that says what it said before changes nothing in the context.
        let is_list =
            method.ends_with("/list") || matches!(method, "initialize" | "server/discover");
        if is_list && lock(&self.listed).contains(&digest) {
            return true;
        }
        let shown = self.see(
            Seen::Result,
            &format!("{} ({method})", self.settings.name),
            texts(json),
            None,
        );
        if is_list && shown {
            lock(&self.listed).insert(digest);
        }
        shown
    }

    // Definitions.

    /// The tools may have changed.
    pub(crate) fn list_again(&self) {
        let mut tools = lock(&self.tools);
        (tools.is_fetched, tools.is_stale) = (false, true);
    }

    fn known(&self, tool: &str, from: &From, ends: &dyn Ends) -> Option<KnownTool> {
        let tools = lock(&self.tools);
        let is_known = tools.known.contains_key(tool) && !tools.is_stale;
        let is_asked = tools.is_fetched;
        drop(tools);
        if !is_known && !is_asked {
            self.fetch(from, ends);
        }
        let known = lock(&self.tools).known.get(tool).cloned();
        if let Some((definition, _)) = known.as_ref().and_then(|known| known.held.as_ref()) {
            // The owner may have accepted it since.
            self.pinned(definition);
            return lock(&self.tools).known.get(tool).cloned();
        }
        known
    }

    /// Asks the server for its tools, which a client may never do.
    fn fetch(&self, from: &From, ends: &dyn Ends) {
        lock(&self.tools).is_fetched = true;
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let meta = meta_of(from.modern.as_deref());
            let params = match &cursor {
                Some(cursor) => format!("{{\"cursor\":{}{meta}}}", quoted(cursor)),
                None => format!("{{{}}}", meta.trim_start_matches(',')),
            };
            let result = match ends.ask_server("tools/list", &params) {
                Ok(Reply::Result(result)) => result,
                Ok(Reply::Error(_) | Reply::Lost | Reply::TimedOut | Reply::Cancelled) | Err(_) => {
                    self.note(
                        "the server does not list its tools, so their definitions are not pinned",
                    );
                    return;
                }
            };
            self.list(&result);
            cursor = member(&result, "nextCursor");
            if cursor.is_none() {
                return;
            }
        }
    }

    /// Pins the tools of a list. What is to be shown instead, where one of them is not what it was.
    pub(crate) fn list(&self, result: &str) -> Option<String> {
        let tools = match definitions(result) {
            Ok(tools) => tools,
            Err(flaw) => {
                self.note(&flaw.to_string());
                return Some("{\"tools\":[]}".to_owned());
            }
        };
        let mut shown: Vec<String> = Vec::new();
        let mut is_changed = false;
        for (raw, definition) in tools {
            match definition.map(|definition| self.pinned(&definition)) {
                Some(Pinned::AsItIs) => shown.push(raw.to_owned()),
                Some(Pinned::Before(before)) => {
                    is_changed = true;
                    shown.extend(before);
                }
                None => {
                    is_changed = true;
                    self.note("a tool of the list could be read in two ways, and is not shown");
                }
            }
        }
        if member(result, "nextCursor").is_none() {
            lock(&self.tools).is_stale = false;
        }
        if !is_changed {
            return None;
        }
        let raw: &RawValue = serde_json::from_str(result).ok()?;
        let parts: Vec<String> = members_of(raw)
            .ok()?
            .iter()
            .map(|(name, raw)| match name.as_str() {
                "tools" => format!("\"tools\":[{}]", shown.join(",")),
                _ => format!("{}:{}", quoted(name), raw.get()),
            })
            .collect();
        Some(format!("{{{}}}", parts.join(",")))
    }

    fn pinned(&self, definition: &Definition) -> Pinned {
        let version = Digest::plain(definition.pinned.as_bytes());
        let before = lock(&self.tools).known.get(&definition.name).cloned();
        if before.is_some_and(|known| known.version == version && known.held.is_none()) {
            return Pinned::AsItIs;
        }
        let name = format!("mcp/{}#{}", self.settings.name, definition.name);
        let pin = if definition.pinned.len() > CONTENT_MAX {
            Err(PortError { what: "the definition is too long to be kept".to_owned() })
        } else {
            self.session().and_then(|session| self.port.pin(&session, &name, &definition.pinned))
        };
        let (held, shown) = match pin {
            Ok(Pin::Known) => (None, Pinned::AsItIs),
            Ok(Pin::Held { event, before }) => {
                let release = event.map_or_else(String::new, |event| {
                    format!("; see and accept it with `actum quarantine release {event}`")
                });
                self.note(&format!(
                    "the definition of {} was changed by its server{release}",
                    definition.name
                ));
                (Some((definition.clone(), event)), Pinned::Before(before))
            }
            Err(error) => {
                self.note(&format!(
                    "the definition of {} cannot be compared ({error})",
                    definition.name
                ));
                (Some((definition.clone(), None)), Pinned::Before(None))
            }
        };
        let known = KnownTool { version, read_only: definition.read_only, held };
        lock(&self.tools).known.insert(definition.name.clone(), known);
        shown
    }
}

fn go(call: &ToolCall<'_>, params: String, from: &From, permit: Option<u64>) -> Cleared {
    let (call, from) = (call.call.clone(), from.clone());
    Cleared::Go(Box::new(Sent { call, params, from, permit }))
}

enum Pinned {
    AsItIs,
    /// In its place what was accepted before, if that is still known.
    Before(Option<String>),
}

/// How a call went, by what came back: only a whole result without an error is passed.
pub(crate) fn outcome_of(reply: &Reply) -> Outcome {
    match reply {
        Reply::Result(result) => result_outcome(result).unwrap_or(Outcome::Errored),
        Reply::Error(_) | Reply::Lost | Reply::Cancelled => Outcome::Errored,
        Reply::TimedOut => Outcome::TimedOut,
    }
}

/// Nothing for a result that could be read in two ways, or is none of a finished call.
fn result_outcome(result: &str) -> Option<Outcome> {
    let raw: &RawValue = serde_json::from_str(result).ok()?;
    let members = members_of(raw).ok()?;
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, raw) in &members {
        if found.insert(name, raw.get()).is_some() {
            return None;
        }
    }
    let is_complete = found.get("resultType").is_none_or(|kind| *kind == "\"complete\"");
    let has_content = found.get("content").is_some_and(|content| content.starts_with('['));
    if !is_complete || !has_content {
        return None;
    }
    match found.get("isError").copied() {
        None | Some("false") => Some(Outcome::Passed),
        Some("true") => Some(Outcome::Failed),
        Some(_) => None,
    }
}

fn result_type(result: &str) -> Option<String> {
    member(result, "resultType")
}

/// A text of an object.
pub(crate) fn member(json: &str, name: &str) -> Option<String> {
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    let members = members_of(raw).ok()?;
    let (_, raw) = members.iter().find(|(it, _)| it == name)?;
    serde_json::from_str(raw.get()).ok()
}

fn value_of(json: &str) -> Option<Value> {
    let call = actum_store::call_from_json("answer", json).ok()?;
    Some(Value::Map(call.arguments().clone()))
}

/// What the owner chose. Whatever is not an `accept` whose content says so is a no.
fn chosen(answer: Option<&Value>) -> Option<Consent> {
    let Some(Value::Map(answer)) = answer else { return None };
    let is = |value: Option<&Value>, word: &str| matches!(value, Some(Value::Text(text)) if text == word);
    if !is(answer.get("action"), "accept") {
        return None;
    }
    let Some(Value::Map(content)) = answer.get("content") else { return None };
    match content.get("decision") {
        it if is(it, "once") => Some(Consent::Once),
        it if is(it, "mandate") => Some(Consent::Mandate),
        _ => None,
    }
}

/// The question to the owner: the tool, its very arguments, and where each that binds came from.
fn question(call: &Call, ruling: &Ruling) -> String {
    let mut lines =
        vec![format!("The agent wants to call {} with {}", call.tool(), arguments_to_json(call))];
    for traced in &ruling.arguments {
        let value =
            if traced.value.is_empty() { String::new() } else { format!(" = {}", traced.value) };
        lines.push(format!("{}{value}: {} ({})", traced.argument, traced.authority, traced.reason));
    }
    lines.push(
        "once: exactly this call. mandate: calls with these binding arguments, for 7 days."
            .to_owned(),
    );
    lines.join("\n")
}

const fn schema() -> &'static str {
    r#"{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["deny","once","mandate"],"default":"deny"}},"required":["decision"]}"#
}

/// What a request of ours says of itself in the stateless era, as a further member.
pub(crate) fn meta_of(version: Option<&str>) -> String {
    version.map_or_else(String::new, |version| {
        format!(
            ",\"_meta\":{{{}:{},{}:{{}},{}:{{\"name\":\"actum-guard\",\"version\":{}}}}}",
            quoted(META_VERSION),
            quoted(version),
            quoted(META_CAPABILITIES),
            quoted(META_CLIENT),
            quoted(env!("CARGO_PKG_VERSION"))
        )
    })
}
