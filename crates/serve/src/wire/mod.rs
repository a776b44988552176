//! The protocol of the socket: one JSON object a line, each way. Strict in what it reads: unknown members, doubled members and
//! lines over the limit are refused. `docs/formats/socket.md` is the page.

mod ask;
mod told;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use ask::{
    Act, Approve, Ask, Asking, Audience, Begin, CallResult, Deed, Deny, End, Finish, Fire, Ground,
    Hello, Inbox as AskInbox, Keep, Limit, Mandate, Observe, Open, Pin, Recall, Record, Remember,
    Role, Skip, Start, Status as AskStatus, Takes, Watch,
};
pub use told::{
    Acted, Approved, Began, Bound, Detail, Ended, Evidence, Finished, Fired, Grounded, Inbox, Kept,
    Missing, Observed, Opened, Partial, Recalled, Remembered, Skipped, Source, Status, Trigger,
    Waiting, Watched, Watching, Welcome, Written,
};

/// The version of the protocol.
pub const VERSION: u32 = 1;
/// Bytes of one line without its end: a text of the greatest length, each character escaped, and what stands around it.
pub const LINE_MAX: usize = 8 << 20;
/// Acts of the owner in one request.
pub const DEEDS_MAX: usize = 1024;

/// A request as it goes over the wire.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    v: u32,
    id: u64,
    ask: std::borrow::Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within_ms: Option<u64>,
    #[serde(borrow)]
    with: &'a RawValue,
}

/// A request.
#[derive(Debug)]
pub struct Request {
    /// Its number on this connection; the answer has the same.
    pub id: u64,
    /// How long the client waits for the answer, in ms from now.
    pub within_ms: Option<u64>,
    /// What is asked.
    pub ask: Ask,
}

/// A line from the daemon: one of its three members says something.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The request that it answers; none for one that could not be read.
    pub id: Option<u64>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<Box<RawValue>>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// A decision, on a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Watched>,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The stable code.
    pub code: FailureCode,
    /// What happened, to what.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The reason code, where the ledger cannot be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The stable codes of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The line is no request.
    Malformed,
    /// It is too long.
    TooLong,
    /// It is of another version of the protocol.
    Version,
    /// The peer is nobody whom this daemon serves, or claims to be more than it is.
    Who,
    /// The caller may not ask that.
    NotAllowed,
    /// Something is not written as it is wanted: a name that is none, arguments that are no object, a text over its limit.
    Usage,
    /// Something asked for is not so: an unknown session, a receipt of another call.
    Rejected,
    /// So many requests wait that no more are taken.
    Full,
    /// Its deadline passed before it was answered. It was not allowed.
    Late,
    /// The ledger cannot be believed.
    Refused,
    /// A write failed: nobody knows what was kept. It was not allowed.
    Failed,
    /// The daemon is stopping.
    Stopping,
}

impl Failure {
    /// A failure.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, reason: None }
    }

    /// With what to do about it.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Reads a line as a request.
///
/// ```
/// use actum_serve::wire::{read_request, Ask};
/// let request = read_request(br#"{"v":1,"id":7,"ask":"ground","with":{"step":"tests"}}"#).unwrap();
/// assert!(matches!(request.ask, Ask::Ground(ground) if ground.step == "tests"));
/// let doubled = br#"{"v":1,"id":7,"ask":"ground","with":{"step":"tests","step":"lint"}}"#;
/// assert!(read_request(doubled).is_err());
/// ```
///
/// # Errors
/// [`FailureCode::Malformed`], [`FailureCode::TooLong`] or [`FailureCode::Version`], with the id if that could be read.
pub fn read_request(line: &[u8]) -> Result<Request, (Option<u64>, Failure)> {
    if line.len() > LINE_MAX {
        return Err((None, too_long()));
    }
    let malformed = |error: &dyn core::fmt::Display| {
        Failure::new(FailureCode::Malformed, format!("the line is no request: {error}"))
    };
    let text = core::str::from_utf8(line).map_err(|error| (None, malformed(&error)))?;
    let envelope: Envelope<'_> =
        serde_json::from_str(text).map_err(|error| (None, malformed(&error)))?;
    let id = Some(envelope.id);
    if envelope.v != VERSION {
        let said =
            format!("this daemon speaks version {VERSION} of the protocol, not {}", envelope.v);
        let failure = Failure::new(FailureCode::Version, said);
        return Err((id, failure.hint("use the client of the same release")));
    }
    let Some(read) = Ask::read(&envelope.ask, envelope.with.get()) else {
        let said = "nothing of this name can be asked";
        return Err((id, Failure::new(FailureCode::Malformed, said)));
    };
    let ask = read.map_err(|error| (id, malformed(&error)))?;
    Ok(Request { id: envelope.id, within_ms: envelope.within_ms, ask })
}

/// The answer to a line over the limit.
pub(crate) fn too_long() -> Failure {
    Failure::new(FailureCode::TooLong, format!("a line has at most {LINE_MAX} bytes"))
}

/// A request as one line, with its end.
///
/// # Errors
/// If something in it has no JSON form.
pub fn write_request<A: Asking>(
    id: u64,
    within_ms: Option<u64>,
    ask: &A,
) -> Result<Vec<u8>, serde_json::Error> {
    let with = serde_json::value::to_raw_value(ask)?;
    line_of(&Envelope { v: VERSION, id, ask: A::WORD.into(), within_ms, with: &with })
}

/// An answer as one line, with its end.
///
/// # Errors
/// If something in it has no JSON form.
pub(crate) fn write_line(line: &Line) -> Result<Vec<u8>, serde_json::Error> {
    line_of(line)
}

fn line_of<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}
