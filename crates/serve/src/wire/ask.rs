//! What can be asked of a daemon: one type a question, each with the type of its answer.

use core::fmt;

use actum_core::{Digest, EntryKind, LimitKind, Outcome, Owner, Seen};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::told;
use super::words;

/// A question with the type of its answer.
pub trait Asking: Serialize + Into<Ask> {
    /// Its word on the wire.
    const WORD: &'static str;
    /// Its answer.
    type Told: Serialize + for<'de> Deserialize<'de>;
}

macro_rules! asks {
    ($($(#[$doc:meta])* $name:ident, $word:literal, $told:ty;)*) => {
        $(impl Asking for $name {
            const WORD: &'static str = $word;
            type Told = $told;
        }

        impl From<$name> for Ask {
            fn from(ask: $name) -> Self {
                Self::$name(ask)
            }
        })*

        /// Any question.
        #[derive(Debug)]
        pub enum Ask { $($(#[$doc])* $name($name),)* }

        impl Ask {
            /// The words of all questions.
            pub const WORDS: &[&str] = &[$($word,)*];

            /// Its word on the wire.
            pub const fn word(&self) -> &'static str {
                match self { $(Self::$name(_) => $word,)* }
            }

            /// Reads the question of this word; nothing for a word that nobody knows.
            pub(crate) fn read(word: &str, with: &str) -> Option<Result<Self, serde_json::Error>> {
                Some(match word {
                    $($word => serde_json::from_str(with).map(Self::$name),)*
                    _ => return None,
                })
            }

            /// Its members as they go over the wire.
            ///
            /// # Errors
            /// If something in it has no JSON form.
            pub fn to_json(&self) -> Result<Box<RawValue>, serde_json::Error> {
                match self { $(Self::$name(ask) => serde_json::value::to_raw_value(ask),)* }
            }
        }
    };
}

asks! {
    /// Who asks.
    Hello, "hello", told::Welcome;
    /// A session begins.
    Open, "open", told::Opened;
    /// Something was put before a model.
    Observe, "observe", told::Observed;
    /// An entry is written.
    Remember, "remember", told::Remembered;
    /// An entry is about to be used.
    Recall, "recall", told::Recalled;
    /// A stored task is about to fire.
    Fire, "fire", told::Fired;
    /// A call is about to go out.
    Act, "act", told::Acted;
    /// A call that was allowed has ended.
    End, "end", told::Ended;
    /// The grounding check.
    Ground, "ground", told::Grounded;
    /// A step is about to be skipped.
    Skip, "skip", told::Skipped;
    /// What waits for the owner.
    Inbox, "inbox", told::Inbox;
    /// The owner allows one call.
    Approve, "approve", told::Approved;
    /// The owner says no to one call.
    Deny, "deny", told::Written;
    /// A text is kept under its digest.
    Keep, "keep", told::Kept;
    /// The owner grants, adopts, takes back, accepts or lets observe.
    Record, "record", told::Written;
    /// A run of a step begins.
    Begin, "begin", told::Began;
    /// It has ended.
    Finish, "finish", told::Finished;
    /// How the daemon is.
    Status, "status", told::Status;
    /// Decisions as they are made.
    Watch, "watch", told::Watching;
}

/// The first question of every connection. What is claimed here is checked against the user id of the peer; it never makes
/// more of anybody than that allows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// As whom.
    pub role: Role,
    /// The program that asks, for the status page.
    pub client: String,
}

/// As whom somebody asks.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Role {
    /// The agent of a session, or whoever claims nothing.
    Agent {
        /// Its session; none for one that has none yet.
        session: Option<String>,
    },
    /// The owner, who answered somewhere.
    Owner {
        /// How the owner was known.
        #[serde(with = "words")]
        known: Owner,
    },
    /// An adapter, by its credential.
    Adapter {
        /// Its name.
        name: String,
        /// Its secret.
        credential: Zeroizing<String>,
    },
}

impl fmt::Debug for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent { session } => f.debug_struct("Agent").field("session", session).finish(),
            Self::Owner { known } => f.debug_struct("Owner").field("known", known).finish(),
            // The credential is not shown.
            Self::Adapter { name, credential: _ } => {
                f.debug_struct("Adapter").field("name", name).finish_non_exhaustive()
            }
        }
    }
}

/// Opens a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// With what before its model.
    pub start: Start,
}

/// What a session begins with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Start {
    /// Nothing: whoever opens it saw it begin.
    Fresh {},
    /// Nobody saw what.
    Unknown {},
    /// Whatever it may be: a guard sees the calls of its own server and nothing else.
    Partial {},
    /// The same, and the owner has said that somebody sits before it.
    Interactive {},
    /// All that is before the model of the session that opened it.
    Subagent {
        /// That session.
        of: String,
    },
}

/// Says what was put before the model of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// Before whose model.
    pub session: String,
    /// What it was.
    #[serde(with = "words")]
    pub seen: Seen,
    /// How it came; a turn, a summary, an entry, a reset and a refusal have one of their own.
    #[serde(default)]
    pub channel: Option<String>,
    /// Who wrote it; for a result the tool. The channel without.
    #[serde(default)]
    pub author: Option<String>,
    /// The text. Nothing for a reset.
    #[serde(default)]
    pub text: String,
    /// The entry that was recalled.
    #[serde(default)]
    pub entry: Option<String>,
    /// The arguments of the call that a result answers; the tool is the author.
    #[serde(default)]
    pub arguments: Option<Box<RawValue>>,
    /// What a relay carries, where an adapter knows: events.
    #[serde(default)]
    pub carries: Option<Vec<u64>>,
}

/// Writes the record of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// In which session.
    pub session: String,
    /// Where it lies and which one it is there.
    pub entry: String,
    /// Memory or task.
    #[serde(with = "words")]
    pub kind: EntryKind,
    /// Its text.
    pub text: String,
    /// The events that it came of and nothing else; only an adapter or the owner can say so.
    #[serde(default)]
    pub proven: Option<Vec<u64>>,
    /// The record that it replaces.
    #[serde(default)]
    pub supersedes: Option<u64>,
}

/// Asks whether an entry may be used.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    /// In which session; it is then recorded as seen there.
    #[serde(default)]
    pub session: Option<String>,
    /// Where it lies and which one it is there.
    pub entry: String,
    /// As it lies there now.
    pub text: String,
    /// Whether something will be done on its strength.
    #[serde(default)]
    pub for_action: bool,
}

/// Asks whether a stored task may fire.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fire {
    /// Where it lies and which one it is there.
    pub entry: String,
    /// The prompt as it was put together.
    pub text: String,
    /// What it pins.
    #[serde(default)]
    pub pins: Vec<Pin>,
}

/// Something that a task pins.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The name of its entry.
    pub entry: String,
    /// As it is now.
    pub text: String,
}

/// Asks whether a call may go out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// In which session.
    pub session: String,
    /// The tool, as the policy names it.
    pub tool: String,
    /// Its arguments, a JSON object: read strictly, digit for digit.
    pub arguments: Box<RawValue>,
    /// The caller's own id of the call: asked again with it, nothing is decided a second time.
    #[serde(default)]
    pub call_id: Option<String>,
    /// The digest of the tool's definition, where the caller knows one.
    #[serde(default)]
    pub definition: Option<String>,
    /// Whether the owner can be asked now. Where nobody is, a question is a no with a receipt.
    pub somebody: bool,
}

/// Says how a call went.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The permit, as `act` gave it.
    pub permit: u64,
    /// How it went.
    #[serde(with = "words")]
    pub outcome: Outcome,
    /// What it returned.
    #[serde(default)]
    pub result: CallResult,
}

/// What a call returned: the text, or its SHA-256 where the text is not to travel.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CallResult {
    /// The text.
    Text(String),
    /// Its SHA-256.
    Digest(#[serde(with = "words::digest")] Digest),
}

impl Default for CallResult {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// Asks whether the ledger backs the claim that a step was done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ground {
    /// The step, as the policy names it.
    pub step: String,
    /// The subject; one that the step fixes needs none.
    #[serde(default)]
    pub subject: Option<String>,
}

/// The same, for one who means to leave it out: an allowed skip is written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    /// In which session.
    pub session: String,
    /// The step.
    pub step: String,
    /// The subject.
    #[serde(default)]
    pub subject: Option<String>,
}

/// Asks what waits for the owner.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inbox {}

/// Allows exactly one call, once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// Its receipt.
    pub receipt: String,
    /// For how long.
    pub for_ms: u64,
}

/// Says no to one call: it waits no more, and asked again in its session it is refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deny {
    /// Its receipt.
    pub receipt: String,
}

/// Keeps a text under its digest, for what will name that.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// The text.
    pub text: String,
}

/// Acts of the owner, each one event; together in one commit, each for itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What.
    pub acts: Vec<Deed>,
}

/// One thing that the owner does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    /// Accepts a policy: the document as the client settled it.
    AcceptPolicy {
        /// Its text.
        document: String,
    },
    /// Makes an entry the owner's word. Its text was kept.
    Adopt {
        /// The namespace.
        namespace: String,
        /// Where it lies and which one it is there.
        entry: String,
        /// Memory or task.
        #[serde(with = "words")]
        kind: EntryKind,
        /// The digest of its text.
        #[serde(with = "words::digest")]
        content: Digest,
        /// The quarantine that this ends.
        releases: Option<u64>,
    },
    /// Takes an entry away.
    Forget {
        /// Its record.
        record: u64,
    },
    /// Lets an adapter observe.
    Enrol {
        /// Its name.
        adapter: String,
        /// The digest of its credential.
        #[serde(with = "words::digest")]
        credential: Digest,
        /// The channels that it may name.
        channels: Vec<String>,
    },
    /// Allows calls beforehand.
    Grant(Mandate),
    /// Allows one call that waits.
    Approve {
        /// The decision that has the receipt.
        decision: u64,
        /// The exact call.
        #[serde(with = "words::digest")]
        call: Digest,
        /// Not after, in ms.
        until_ms: u64,
    },
    /// Takes a run back.
    RevokeRun {
        /// Its beginning.
        run: u64,
        /// Why.
        reason: String,
    },
    /// Takes something back.
    Revoke {
        /// What.
        takes: Takes,
        /// Why.
        reason: String,
    },
    /// Sets the matter of the clock right.
    ResolveClock {},
}

/// A mandate about to be granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mandate {
    /// The tool.
    pub tool: String,
    /// For which calls.
    pub audience: Audience,
    /// From when, in ms; now without.
    #[serde(default)]
    pub from_ms: Option<u64>,
    /// Until when, in ms.
    pub until_ms: u64,
    /// How often.
    pub uses: u32,
    /// The numeric argument that is summed, and its most in millionths.
    #[serde(default)]
    pub budget: Option<(String, u64)>,
    /// Limits on arguments.
    pub limits: Vec<Limit>,
    /// The mandate that it narrows.
    #[serde(default)]
    pub narrows: Option<u64>,
}

/// For which calls a mandate is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Audience {
    /// Those of a stored task: its record.
    Task(u64),
    /// Those of sessions that an adapter opened.
    Adapter(String),
    /// Those of one session.
    Session(String),
    /// Those that messages through a channel set off.
    Channel(String),
}

/// A limit on one argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Which argument.
    pub argument: String,
    /// How.
    #[serde(with = "words")]
    pub kind: LimitKind,
    /// By which values.
    pub values: Vec<String>,
}

/// What is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Takes {
    /// A record or an observation, by event.
    Record(u64),
    /// Everything through a channel, admitted from one time in ms to another.
    Channel(String, u64, u64),
    /// Everything by an author, likewise.
    Author(String, u64, u64),
    /// A mandate.
    Mandate(u64),
    /// The credential of an adapter.
    Adapter(String),
}

/// A run of a step begins; the caller carries it out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// Whose.
    pub namespace: String,
    /// Which step.
    pub step: String,
    /// On which subject.
    pub subject: String,
    /// By content.
    #[serde(with = "words::digest")]
    pub content: Digest,
    /// The digest of arguments and environment.
    #[serde(with = "words::digest")]
    pub arguments: Digest,
    /// The digest of the program.
    #[serde(with = "words::digest")]
    pub program: Digest,
    /// Its path.
    pub path: String,
    /// The digest of the rule in force.
    #[serde(with = "words::digest")]
    pub rule: Digest,
    /// Who asked.
    pub session: String,
}

/// A run that this connection began has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// The run.
    pub run: u64,
    /// How it went.
    #[serde(with = "words")]
    pub outcome: Outcome,
    /// Exit code, minus the signal's number, or 0.
    pub code: i32,
    /// The digest of what it printed.
    #[serde(with = "words::digest")]
    pub result: Digest,
    /// The subject by content, taken again.
    #[serde(with = "words::digest")]
    pub content: Digest,
}

/// Asks how the daemon is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {}

/// Asks for decisions as they are made, from now on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {}
