//! What a daemon answers: facts, in the words of the core. How they are said to a person is the client's business.

use actum_core::{Answer, Authority, Decision, DecisionCode, Outcome, Owner, Reason, Seen, Start};
use serde::{Deserialize, Serialize};

use super::words;

/// Who is at the other end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Welcome {
    /// The protocol that is spoken.
    pub version: u32,
    /// The program.
    pub program: String,
    /// The ledger.
    pub ledger: String,
    /// As whom the client is answered: owner, adapter or agent.
    pub you: String,
    /// The user id of the client.
    pub uid: u32,
    /// Agents can do what the owner can, for they are the same user: weaker.
    pub weaker: bool,
}

/// A session was opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opened {
    /// Its id.
    pub session: String,
    /// Its event.
    pub event: u64,
}

/// Something was recorded as seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Observed {
    /// Its event.
    pub event: u64,
    /// What it was.
    #[serde(with = "words")]
    pub seen: Seen,
    /// How it came.
    pub channel: String,
    /// What it is worth.
    #[serde(with = "words")]
    pub authority: Authority,
    /// The digest of its text.
    #[serde(with = "words::digest")]
    pub content: actum_core::Digest,
}

/// The record of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Remembered {
    /// Its event.
    pub event: u64,
    /// The record; none if it went into quarantine.
    pub record: Option<u64>,
    /// What it is worth.
    #[serde(with = "words::maybe")]
    pub authority: Option<Authority>,
    /// Why it is in quarantine.
    #[serde(with = "words::maybe")]
    pub code: Option<DecisionCode>,
    /// Whether somebody had opened the session.
    pub is_opened: bool,
}

/// Whether an entry may be used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recalled {
    /// Whether.
    #[serde(with = "words")]
    pub decision: Decision,
    /// Why.
    #[serde(with = "words")]
    pub code: DecisionCode,
    /// Its record.
    pub record: Option<u64>,
    /// The event that was written.
    pub event: Option<u64>,
    /// What goes before the text where it is served as data.
    pub label: Option<String>,
}

/// Whether a task fires.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fired {
    /// Whether.
    #[serde(with = "words")]
    pub decision: Decision,
    /// Why.
    #[serde(with = "words")]
    pub code: DecisionCode,
    /// Its record.
    pub record: Option<u64>,
    /// The event that was written.
    pub event: Option<u64>,
    /// The session that it opens.
    pub session: Option<String>,
}

/// Whether a call goes out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Acted {
    /// Whether.
    #[serde(with = "words")]
    pub decision: Decision,
    /// Why.
    #[serde(with = "words")]
    pub code: DecisionCode,
    /// What the model is told: what is missing, and no more.
    pub for_agent: String,
    /// The right to perform the call, once. Without it the call is not sent, whatever else stands here.
    pub permitted: bool,
    /// By what `end` is told how it went; none where nothing was written, for then there is nothing to end.
    pub permit: Option<u64>,
    /// The decision's event.
    pub event: Option<u64>,
    /// The short code by which the owner can approve it.
    pub receipt: Option<String>,
    /// The arguments as they were decided, one canonical text: these bytes are to be sent.
    pub arguments: String,
    /// Whether somebody had opened the session.
    pub is_opened: bool,
    /// What the owner may see of it.
    pub detail: Option<Detail>,
}

/// All that a decision rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The step that is missing.
    pub missing: Option<Missing>,
    /// What made the agent act.
    pub trigger: Option<Trigger>,
    /// The binding arguments, each with where it came from.
    pub arguments: Vec<Bound>,
    /// The least origin that decided it.
    pub origin: Option<u64>,
    /// The mandate that it spends a use of.
    pub mandate: Option<u64>,
    /// The approval that it spends.
    pub approval: Option<u64>,
    /// The runs that began with it.
    pub runs: Vec<u64>,
    /// The mandate that would have covered it, as the owner could grant it.
    pub offer: Option<super::ask::Mandate>,
}

/// A required step that is not grounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Which.
    pub step: String,
    /// On what.
    pub subject: String,
    /// What the ledger says.
    #[serde(with = "words")]
    pub reason: Reason,
    /// The call that performs it: tool and canonical arguments.
    pub perform: Option<(String, String)>,
}

/// What made an agent act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Its event.
    pub event: u64,
    /// A turn, a task or a message: `turn`, `task`, `inbound`.
    pub kind: String,
    /// How it came.
    pub channel: String,
    /// What it is worth.
    #[serde(with = "words")]
    pub authority: Authority,
}

/// A binding argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Its name.
    pub argument: String,
    /// Its value, as it can be shown; none where no argument binds.
    pub value: Option<String>,
    /// What it is worth.
    #[serde(with = "words")]
    pub authority: Authority,
    /// Where it stands.
    pub sources: Vec<Source>,
    /// How it was found, in a line.
    pub reason: String,
    /// The run that raised it.
    pub raised_by: Option<u64>,
}

/// A thing in which a value stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its event.
    pub event: u64,
    /// What it is: `turn`, `result`, `memory`, `task`, ...
    pub what: String,
    /// The name of an entry.
    pub entry: Option<String>,
    /// How it came.
    pub channel: String,
    /// Who wrote it.
    pub author: String,
    /// When, in ms.
    pub at_ms: u64,
    /// What it is worth.
    #[serde(with = "words")]
    pub authority: Authority,
    /// How its owner was known, where it is the owner's.
    #[serde(with = "words::maybe")]
    pub owner: Option<Owner>,
}

/// A call ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ended {
    /// The events that say so.
    pub events: Vec<u64>,
}

/// Whether a claim is backed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Grounded {
    /// The answer.
    #[serde(with = "words")]
    pub answer: Answer,
    /// Why.
    #[serde(with = "words")]
    pub reason: Reason,
    /// The step that answers: a part, where several are asked.
    pub step: String,
    /// The subject.
    pub subject: String,
    /// What changed, or what is wrong, beyond the sentence of the reason.
    pub detail: Option<String>,
    /// The run that the answer rests on.
    pub evidence: Option<Evidence>,
}

/// The run that an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its beginning.
    pub run: u64,
    /// Its end.
    pub ended: Option<u64>,
    /// How it went.
    #[serde(with = "words::maybe")]
    pub outcome: Option<Outcome>,
    /// Exit code, or minus the signal's number.
    pub code: Option<i32>,
    /// When it ended, in ms.
    pub at_ms: Option<u64>,
}

/// Whether a step may be skipped.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Skipped {
    /// Whether, and why.
    pub grounded: Grounded,
    /// The event of a skip that was allowed.
    pub event: Option<u64>,
}

/// What waits for the owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Inbox {
    /// Questions so far.
    pub questions: u64,
    /// Calls with effects that were decided.
    pub effect_calls: u64,
    /// Calls that wait, equal questions together; oldest question first.
    pub waiting: Vec<Vec<Waiting>>,
}

/// A call that waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Waiting {
    /// Its receipt.
    pub receipt: String,
    /// The newest decision on it.
    pub event: u64,
    /// When that was, in ms.
    pub asked_ms: u64,
    /// How often it was asked, as far as that was written down.
    pub asked: u64,
    /// Whether each time was.
    pub is_exact: bool,
    /// In which session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// As it was decided.
    #[serde(with = "words")]
    pub decision: Decision,
    /// Why.
    #[serde(with = "words::maybe")]
    pub code: Option<DecisionCode>,
    /// As it would be decided now.
    #[serde(with = "words::maybe")]
    pub code_now: Option<DecisionCode>,
    /// The canonical arguments, where they were kept.
    pub arguments: Option<String>,
    /// Why nobody can say what they are.
    pub unreadable: Option<String>,
    /// Where its binding arguments came from, as it would be judged now.
    pub detail: Option<Detail>,
}

/// A call was approved.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Approved {
    /// The event.
    pub event: u64,
    /// In which session.
    pub session: String,
    /// Until when, in ms.
    pub until_ms: u64,
    /// How the owner was known.
    #[serde(with = "words")]
    pub owner: Owner,
}

/// What became of acts of the owner: the event of each, in their order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Written {
    /// The events.
    pub events: Vec<u64>,
}

/// A text is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    /// Its digest.
    #[serde(with = "words::digest")]
    pub digest: actum_core::Digest,
}

/// A run began.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Began {
    /// Its event.
    pub run: u64,
}

/// A run ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finished {
    /// Its event.
    pub event: u64,
    /// As it was recorded.
    #[serde(with = "words")]
    pub outcome: Outcome,
}

/// How the daemon is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// The program.
    pub program: String,
    /// Its process.
    pub process: u32,
    /// The user it runs as.
    pub uid: u32,
    /// Since when, in ms.
    pub since_ms: u64,
    /// The ledger.
    pub ledger: String,
    /// Its store.
    pub store: String,
    /// The events in it; none while the ledger cannot be believed.
    pub events: Option<u64>,
    /// Why it cannot.
    pub refused: Option<String>,
    /// The event of the policy in force.
    pub policy: Option<u64>,
    /// Agents can do what the owner can, for they are the same user: weaker.
    pub weaker: bool,
    /// Connections now.
    pub connections: usize,
    /// Those that watch.
    pub watchers: usize,
    /// Requests that wait now, and the most that may.
    pub queue: (usize, usize),
    /// Commits, and the requests that shared them.
    pub commits: (u64, u64),
    /// Requests turned away because the queue was full, and because their deadline had passed.
    pub turned_away: (u64, u64),
    /// Questions to the owner, and the calls with effects that were decided: the ask rate.
    pub asks: (u64, u64),
    /// Calls that wait for the owner.
    pub waiting: usize,
    /// Entries in quarantine.
    pub quarantine: usize,
    /// Sessions that were seen only in part, each with why.
    pub partial: Vec<Partial>,
}

/// A session that was seen only in part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Partial {
    /// Its id.
    pub session: String,
    /// How it began.
    #[serde(with = "words")]
    pub start: Start,
    /// Why it is partial.
    pub why: String,
}

/// Decisions follow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Watching {
    /// From this event on.
    pub from: u64,
}

/// A decision as a stream shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// Its event.
    pub event: u64,
    /// When, in ms.
    pub at_ms: u64,
    /// In which session.
    pub session: String,
    /// Of which tool; what begins with a parenthesis is no call.
    pub called: String,
    /// What was decided.
    #[serde(with = "words")]
    pub decision: Decision,
    /// Why.
    #[serde(with = "words::maybe")]
    pub code: Option<DecisionCode>,
    /// The event of the least origin that decided it, in words.
    pub origin: Option<Source>,
    /// How often in a row.
    pub count: u32,
    /// By what the owner can approve it.
    pub receipt: Option<String>,
}
