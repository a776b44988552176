//! What the guard needs of whoever keeps the ledger and asks the gate: the daemon, or this process itself. Every call waits until
//! its answer is durable; an error is a refusal of whatever was asked, never a yes.

use std::fmt;

use actum_core::{Authority, Call, Decision, Digest, Outcome, Presence, Seen, SessionName};

/// Nobody answered, or nobody could.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct PortError {
    /// What was said.
    pub what: String,
}

impl PortError {
    /// Of what any error says, with its causes.
    pub fn of(error: &dyn std::error::Error) -> Self {
        let mut what = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            what = format!("{what}: {cause}");
            source = cause.source();
        }
        Self { what }
    }
}

/// How much of a session the guard sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Its own server's calls and no more.
    Partial,
    /// The same, and its owner has said that somebody sits before it.
    Interactive,
}

/// Something that is about to be put before the model.
#[derive(Debug, Clone)]
pub struct Observation<'a> {
    /// What it is: a result, or what we answered when we refused.
    pub seen: Seen,
    /// How it came.
    pub channel: &'a str,
    /// Who wrote it: the tool, or the part of the server.
    pub author: &'a str,
    /// Its text, each piece small enough to be kept.
    pub texts: Vec<String>,
    /// The call that it answers.
    pub answers: Option<&'a Call>,
}

/// A call about to leave.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The call.
    pub call: &'a Call,
    /// The id of it, unique in its session.
    pub call_id: &'a str,
    /// The digest of the definition of its tool.
    pub version: Digest,
    /// Whether the owner can be asked on the way.
    pub presence: Presence,
}

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The decision.
    pub decision: Decision,
    /// Its code.
    pub code: String,
    /// What the model is told: what is missing and no more.
    pub told: String,
    /// The way out, for the owner.
    pub way_out: String,
    /// By which the owner can approve it.
    pub receipt: Option<Receipt>,
    /// The step that is missing, as a call to perform, where the policy says so and everything else would allow the call.
    pub perform: Option<Call>,
    /// The binding arguments, each with where it came from.
    pub arguments: Vec<Traced>,
    /// The decision whose runs are ended with [`Port::end`]; nothing where none began.
    pub permit: Option<u64>,
}

/// The short code of a held call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The event of the decision.
    pub event: u64,
    /// As the owner types it.
    pub code: String,
}

impl Receipt {
    /// The receipt of this decision about this call: the event, and enough of the call that a slip of the finger meets no other.
    pub fn of(event: u64, call: &Digest) -> Self {
        let digits: String = call.to_string().chars().take(6).collect();
        Self { event, code: format!("{event}-{digits}") }
    }
}

/// A binding argument and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// The argument.
    pub argument: String,
    /// Its value, safe to show.
    pub value: String,
    /// What it is worth.
    pub authority: Authority,
    /// Why, in one line.
    pub reason: String,
}

/// What the policy says of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listed {
    /// Nothing: each of its arguments binds.
    #[default]
    Nowhere,
    /// It only reads.
    Reads,
    /// It is judged by its arguments.
    Judged,
}

/// What the policy in force says to a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terms {
    /// What it says of the tool.
    pub listed: Listed,
    /// What its server says of it counts.
    pub trusts_hints: bool,
    /// What the client answers counts as the owner's.
    pub owner_answers: bool,
}

/// What became of the definition of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pin {
    /// It is the one that was seen first, or that the owner accepted.
    Known,
    /// It is another one: it waits until the owner accepts it.
    Held {
        /// The event that withholds it, by which the owner releases it.
        event: Option<u64>,
        /// The one before, if it is still kept.
        before: Option<String>,
    },
}

/// How far the owner goes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// This very call, once.
    Once,
    /// Calls with these binding arguments, for a week.
    Mandate,
}

/// Whoever keeps the ledger.
pub trait Port: Send + Sync + fmt::Debug {
    /// Opens a session that only the guard sees.
    ///
    /// # Errors
    /// [`PortError`].
    fn open(&self, sight: Sight) -> Result<SessionName, PortError>;

    /// Records what is about to be put before the model.
    ///
    /// # Errors
    /// [`PortError`]: it was not recorded, or nobody knows.
    fn observe(&self, session: &SessionName, seen: &Observation<'_>) -> Result<(), PortError>;

    /// Judges a call. What is allowed has begun, durably, when this returns.
    ///
    /// # Errors
    /// [`PortError`]: the call does not leave.
    fn act(&self, session: &SessionName, ask: &Ask<'_>) -> Result<Ruling, PortError>;

    /// Records how an allowed call went.
    ///
    /// # Errors
    /// [`PortError`]: its runs stay begun, which is not passed.
    fn end(&self, permit: u64, outcome: Outcome, result: Digest) -> Result<(), PortError>;

    /// What the policy in force says of this tool of this server, and of the client that calls it.
    ///
    /// # Errors
    /// [`PortError`].
    fn terms(&self, tool: &str, server: &str, client: Option<&str>) -> Result<Terms, PortError>;

    /// Compares the definition of a tool with the one that was seen first, or accepted since.
    ///
    /// # Errors
    /// [`PortError`]: nobody knows whether it was changed.
    fn pin(&self, session: &SessionName, name: &str, definition: &str) -> Result<Pin, PortError>;

    /// The owner goes along, as a client says that the policy lists.
    ///
    /// # Errors
    /// [`PortError`]: also where the policy does not list the client.
    fn consent(
        &self,
        session: &SessionName,
        client: &str,
        held: &Held<'_>,
        consent: Consent,
    ) -> Result<(), PortError>;
}

/// A call that waits for its owner.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    /// Its receipt.
    pub receipt: &'a Receipt,
    /// The call.
    pub call: &'a Call,
    /// Its binding arguments.
    pub binding: &'a [Traced],
}
