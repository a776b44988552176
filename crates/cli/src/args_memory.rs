//! The command line of what an agent remembers, calls and is allowed: what can be said, and the help that teaches it.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments here are help texts on a terminal, not Markdown"
)]

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{Confirm, index};
use crate::time::{duration, instant};

/// Who asks.
#[derive(Debug, Args)]
pub(crate) struct Door {
    /// The adapter that asks; its credential is in ACTUM_CREDENTIAL, or in the file that ACTUM_CREDENTIAL_FILE names
    #[arg(long = "as", value_name = "ADAPTER")]
    pub(crate) adapter: Option<String>,

    /// Ask as the owner, without a terminal
    #[arg(long, conflicts_with = "adapter")]
    pub(crate) yes: bool,
}

impl Door {
    /// The same again, as it is typed behind a command.
    pub(crate) fn words(&self) -> String {
        match &self.adapter {
            Some(adapter) => format!(" --as {adapter}"),
            None if self.yes => " --yes".to_owned(),
            None => String::new(),
        }
    }
}

/// A session is what one model was shown, from its start to the last reset. Only who opened it may speak for it.
#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Open one, and print its id
    Open {
        /// Nobody saw what was before the model: everything in it is untrusted
        #[arg(long, conflicts_with = "of")]
        unknown: bool,

        /// It was opened by this session, and begins with all that is before that one's model
        #[arg(long, value_name = "SESSION")]
        of: Option<String>,

        #[command(flatten)]
        door: Door,
    },
    /// List them, newest last
    List,
    /// Show what is before the model of one
    Show {
        /// Its id
        session: String,
    },
}

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeenWord {
    /// A turn of whoever the channel says
    Turn,
    /// What a tool gave back
    Result,
    /// An entry from memory
    Recalled,
    /// A message from outside that made the agent act
    Inbound,
    /// The summary that replaces a context
    Summary,
    /// The context was emptied
    Reset,
    /// What Actum answered when it refused
    Refusal,
}

/// Records what was put before the model of a session, and what it is worth by the policy. The text is kept in the store's
/// cache, so that the gate can find where a value came from.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: actum observe --session s-1f2e --channel web:example.org --seen result --author web/get \"$PAGE\""
)]
pub(crate) struct Observe {
    /// Before the model of this session
    #[arg(long)]
    pub(crate) session: String,

    /// What it was
    #[arg(long, value_enum, default_value = "turn")]
    pub(crate) seen: SeenWord,

    /// How it came: user, web:HOST, mail:ADDRESS, mcp:SERVER, ... [default: user for a turn]
    #[arg(long)]
    pub(crate) channel: Option<String>,

    /// Who wrote it; for a result the tool
    #[arg(long)]
    pub(crate) author: Option<String>,

    /// The entry that was recalled
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,

    /// The arguments of the call that a result answers, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) call: Option<String>,

    /// What a relay carries, if nothing else: events
    #[arg(long, value_name = "EVENTS", value_delimiter = ',', value_parser = index)]
    pub(crate) carries: Option<Vec<u64>>,

    #[command(flatten)]
    pub(crate) door: Door,

    /// The text; one that begins with a hyphen comes after `--` [default: standard input]
    pub(crate) text: Option<String>,
}

/// Writes the record of an entry: where it came from is the whole context of the session, unless an adapter proves less. It is
/// the agent that asks, unless --as or --yes says otherwise.
#[derive(Debug, Args)]
pub(crate) struct Remember {
    /// In this session
    #[arg(long)]
    pub(crate) session: String,

    /// Where it lies and which one it is there, such as MEMORY.md#rent
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: String,

    /// It is something that will be done
    #[arg(long)]
    pub(crate) task: bool,

    /// It came of these events and nothing else; only an adapter can say so
    #[arg(long, value_name = "EVENTS", value_delimiter = ',', value_parser = index)]
    pub(crate) proven: Option<Vec<u64>>,

    /// The record that it replaces
    #[arg(long, value_name = "RECORD", value_parser = index)]
    pub(crate) supersedes: Option<u64>,

    #[command(flatten)]
    pub(crate) door: Door,

    /// The text; one that begins with a hyphen comes after `--` [default: standard input]
    pub(crate) text: Option<String>,
}

/// What an entry is recalled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PurposeWord {
    /// To be read: what is not trusted is labelled
    Reading,
    /// To be acted on: what is not trusted is withheld
    Action,
}

/// Prints the text if the entry may be used, with a label where it is data and no instruction. Ends with 0 if it is served, 14
/// if it is withheld, 15 if it is in quarantine.
#[derive(Debug, Args)]
pub(crate) struct Recall {
    /// Where it lies and which one it is there, as `actum inventory` prints it
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: String,

    /// In this session; it is then also recorded as seen there
    #[arg(long)]
    pub(crate) session: Option<String>,

    /// What for
    #[arg(long = "for", value_enum, default_value = "reading")]
    pub(crate) purpose: PurposeWord,

    #[command(flatten)]
    pub(crate) door: Door,

    /// The text as it lies there now; one that begins with a hyphen comes after `--` [default: standard input]
    pub(crate) text: Option<String>,
}

/// Decides whether a stored task may fire, and opens its session if it may. Ends with 0 if so, 14 or 15 if not.
#[derive(Debug, Args)]
pub(crate) struct Fire {
    /// Where it lies and which one it is there, as `actum inventory` prints it
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: String,

    /// A skill or script that it pins: the name of its entry, and the file as it is now
    #[arg(long = "pin", value_name = "NAME=FILE")]
    pub(crate) pins: Vec<String>,

    #[command(flatten)]
    pub(crate) door: Door,

    /// The prompt as it was put together, to the byte: $(cat FILE) loses the end of its last line [default: standard input]
    pub(crate) text: Option<String>,
}

/// Decides whether a call of a tool may go out. Ends with 0 if it may (then it is to be performed once, and `actum end` told how
/// it went), 13 if the owner has to be asked, 14 if not.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: actum act --session s-1f2e --tool bank/pay --arguments '{\"payee\": \"DE89\", \"amount\": 13}'"
)]
pub(crate) struct Act {
    /// In this session
    #[arg(long)]
    pub(crate) session: String,

    /// The tool, as the policy names it
    #[arg(long)]
    pub(crate) tool: String,

    /// The arguments, a JSON object [default: standard input]
    #[arg(long, value_name = "JSON")]
    pub(crate) arguments: Option<String>,

    /// The caller's own id of this call: asked again with it, the answer is the first one
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Nobody is there to be asked: a question is a no, with a receipt
    #[arg(long)]
    pub(crate) nobody: bool,

    #[command(flatten)]
    pub(crate) door: Door,
}

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum OutcomeWord {
    /// It did what it should
    Passed,
    /// It ran and said no
    Failed,
    /// It could not be run, or broke
    Errored,
    /// Somebody refused it
    Denied,
    /// It took too long
    TimedOut,
}

/// Records how a call went that `actum act` allowed. Its right is spent: it ends once.
#[derive(Debug, Args)]
pub(crate) struct End {
    /// The decision, by the number that `actum act` printed
    #[arg(value_parser = index)]
    pub(crate) decision: u64,

    /// How it went
    #[arg(long, value_enum)]
    pub(crate) outcome: OutcomeWord,

    /// What it returned; its digest is recorded
    #[arg(long)]
    pub(crate) result: Option<String>,

    #[command(flatten)]
    pub(crate) door: Door,
}

/// Adapters are what observes for Actum: hooks, guards, SDKs. Each has a credential, and names only the channels it was given.
#[derive(Debug, Subcommand)]
pub(crate) enum Adapter {
    /// Let an adapter observe, and print its credential, once
    Add {
        /// Its name
        name: String,

        /// The channels that it may name: user,web:*,mcp:bank
        #[arg(long, value_delimiter = ',', required = true)]
        channels: Vec<String>,

        /// Write the credential to this new file (mode 0600) instead
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,

        #[command(flatten)]
        confirm: Confirm,
    },
    /// List them
    List,
    /// Take back the credential of one
    Remove {
        /// Its name
        name: String,

        #[command(flatten)]
        confirm: Confirm,
    },
}

/// A mandate allows calls of one tool beforehand: within limits, for an audience, until a time, so many times.
#[derive(Debug, Subcommand)]
pub(crate) enum Mandate {
    /// Grant one
    ///
    /// It is shown in words first. Limits are given as ARGUMENT=VALUE. A call is covered if it is within all of them; an argument
    /// that comes from somewhere untrusted only if --equal or --one-of fixes it. One that narrows another has its limits as well,
    /// and ends no later.
    Grant(Box<Grant>),
    /// List them, with what is left of each
    List,
    /// Take one back
    Revoke {
        /// Its number
        #[arg(value_parser = index)]
        mandate: u64,

        #[command(flatten)]
        confirm: Confirm,
    },
}

/// Limits are given as ARGUMENT=VALUE.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: actum mandate grant --tool bank/pay --audience session:s-1f2e --equal payee=DE89 --range amount=0..50 --uses 3 --for 24h"
)]
pub(crate) struct Grant {
    /// The tool
    #[arg(long)]
    pub(crate) tool: String,

    /// Whose calls: session:ID, task:RECORD, adapter:NAME, or channel:CHANNEL for those that its messages set off
    #[arg(long)]
    pub(crate) audience: String,

    /// An argument is this value
    #[arg(long, value_name = "ARG=VALUE")]
    pub(crate) equal: Vec<String>,

    /// An argument is one of these values
    #[arg(long, value_name = "ARG=VALUE,VALUE")]
    pub(crate) one_of: Vec<String>,

    /// An argument is a number from one to another
    #[arg(long, value_name = "ARG=FROM..TO")]
    pub(crate) range: Vec<String>,

    /// An argument begins so, at a boundary
    #[arg(long, value_name = "ARG=PREFIX")]
    pub(crate) prefix: Vec<String>,

    /// An argument matches a pattern: * within a part, ** over parts
    #[arg(long, value_name = "ARG=PATTERN")]
    pub(crate) glob: Vec<String>,

    /// How often it can be used
    #[arg(long, default_value = "1")]
    pub(crate) uses: u32,

    /// The most that a numeric argument may add up to over all uses
    #[arg(long, value_name = "ARG=MOST")]
    pub(crate) budget: Option<String>,

    /// How long it holds from now: 30m, 24h, 7d
    #[arg(long = "for", value_parser = duration, value_name = "TIME")]
    pub(crate) holds_for: Duration,

    /// A mandate that this one narrows: it draws on its uses and budget
    #[arg(long, value_parser = index, value_name = "MANDATE")]
    pub(crate) narrows: Option<u64>,

    #[command(flatten)]
    pub(crate) confirm: Confirm,
}

/// An approval is for one call, once, for a short time.
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The receipt, as `actum inbox` shows it
    pub(crate) receipt: String,

    /// How long the approval holds
    #[arg(long = "for", value_parser = duration, value_name = "TIME", default_value = "10m")]
    pub(crate) holds_for: Duration,

    #[command(flatten)]
    pub(crate) confirm: Confirm,
}

/// What is withheld until its owner looks at it. Without a word behind it, it is listed.
#[derive(Debug, Args)]
pub(crate) struct Quarantine {
    #[command(subcommand)]
    pub(crate) what: Option<OfQuarantine>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OfQuarantine {
    /// List it, with reasons
    List {
        /// What was released as well
        #[arg(long)]
        all: bool,
    },
    /// Show an entry as it was found, ask, and release it: that is a new record, of the owner's authority
    Release {
        /// The event that withheld it
        #[arg(value_parser = index)]
        event: u64,

        #[command(flatten)]
        confirm: Confirm,
    },
}

/// Reads memory files - MEMORY.md, CLAUDE.md, AGENTS.md with their imports, JSON lines, job lists - entry by entry, and says of
/// each whether it is what its record says. Changes nothing.
///
/// Ends with 0 if everything is known and may be used; 14 if something is unknown, changed, moved, withheld or in quarantine;
/// 1 if that is not so, but something could not be read.
#[derive(Debug, Args)]
pub(crate) struct Inventory {
    /// Files and folders of this project
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// Shows every entry that is unknown, changed, moved, withheld or untrusted, and asks. What is adopted is the owner's word from
/// now on, exactly as it was shown; nothing is adopted unseen. What it replaces is taken back, with all that came of that.
#[derive(Debug, Args)]
pub(crate) struct Adopt {
    /// Files and folders of this project
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Only the entries with these names, as `actum inventory` prints them
    #[arg(long = "entry", value_name = "NAME")]
    pub(crate) entries: Vec<String>,

    #[command(flatten)]
    pub(crate) confirm: Confirm,
}

/// An interval of admission times.
#[derive(Debug, Args)]
pub(crate) struct Interval {
    /// From this time on, such as 2026-05-03T12:00:00Z
    #[arg(long, value_parser = instant, value_name = "TIME")]
    pub(crate) from: Option<u64>,

    /// Up to this time
    #[arg(long, value_parser = instant, value_name = "TIME")]
    pub(crate) until: Option<u64>,
}

/// One event, by its number, as `actum log` shows it.
#[derive(Debug, Args)]
pub(crate) struct OfEvent {
    /// A record, a decision, or anything that was seen
    #[arg(value_parser = index)]
    pub(crate) event: u64,
}
