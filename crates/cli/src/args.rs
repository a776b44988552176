//! The command line: what can be said, and the help that teaches it. One variant a command; what they do is in `cmd/`.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments here are help texts on a terminal, not Markdown"
)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::args_guard as guard;
use crate::args_memory as memory;
use crate::time::duration;

pub(crate) fn index(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_not_a_number| "write the number of an event, such as 7".to_owned())
}

/// Agents act on what happened, not on what they remember.
///
/// Actum keeps a tamper-evident ledger of safety steps that really ran, and answers whether a claim is backed by it: did
/// the tests pass, on this very content, under the rule that was accepted? It never reads what a note says.
#[derive(Debug, Parser)]
#[command(name = "actum", version, max_term_width = 100, subcommand_required = true)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Start with `actum init`, then `actum run --step tests -- YOUR TEST COMMAND`, then `actum ground tests`.
Exit codes: 0 yes, 10 ungrounded, 11 contradicted, 12 refused, 13 ask the owner, 14 denied or withheld, 15 in quarantine, 2 usage, 1 anything else. `run` ends as its command does, \
and with 125 when Actum itself failed."
)]
pub(crate) struct Cli {
    /// The store to use, instead of the `.actum` found upwards from here
    #[arg(long, global = true, env = "ACTUM_STORE", hide_env_values = true, value_name = "DIR")]
    pub(crate) store: Option<OsString>,

    /// Answer in JSON, with stable keys
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a ledger here, and a policy for this project
    Init(Init),
    /// Run a command as a step, and record how it went
    Run(Run),
    /// Ask whether the ledger backs a claim: was the step done for the subject, as it is now?
    Ground(Ground),
    /// Decide whether a step may be skipped (Algorithm 1 of the paper): only if it is grounded
    Skip(Skip),
    /// Show the events of the ledger
    Log(Log),
    /// Check the whole ledger: is it intact, is it complete, is it fresh?
    Verify,
    /// Take back a run that passed, a record, or all of a channel or an author
    ///
    /// A run that is taken back contradicts. A record, or all that came through a channel or from an author, is withheld with
    /// everything that came of it, and what was allowed while it was before a model is listed. It asks on a terminal, or takes
    /// --yes. Nothing is raised by it.
    Revoke(Revoke),
    /// Show what was lost, and go on without it
    Resolve(Confirm),
    /// Check, show or accept the policy
    #[command(subcommand)]
    Policy(Policy),
    /// Sessions: what was before a model
    #[command(subcommand)]
    Session(memory::Session),
    /// Record what was put before a model
    ///
    /// Records what was put before the model of a session, and what it is worth by the policy. The text is kept in the store's
    /// cache, so that the gate can find where a value came from.
    Observe(memory::Observe),
    /// Write the record of an entry: where it came from
    ///
    /// Writes the record of an entry: where it came from is the whole context of the session, unless an adapter proves less. It is
    /// the agent that asks, unless --as or --yes says otherwise.
    Remember(memory::Remember),
    /// Ask whether an entry may be used
    ///
    /// Prints the text if the entry may be used, with a label where it is data and no instruction. Ends with 0 if it is served, 14
    /// if it is withheld, 15 if it is in quarantine.
    Recall(memory::Recall),
    /// Ask whether a stored task may fire
    ///
    /// Decides whether a stored task may fire, and opens its session if it may. Ends with 0 if so, 14 or 15 if not.
    Fire(memory::Fire),
    /// Ask whether a call of a tool may go out
    ///
    /// Decides whether a call of a tool may go out. Ends with 0 if it may (then it is to be performed once, and `actum end` told how
    /// it went), 13 if the owner has to be asked, 14 if not.
    Act(memory::Act),
    /// Record how a call went that was allowed
    ///
    /// Records how a call went that `actum act` allowed. Its right is spent: it ends once.
    End(memory::End),
    /// Compare memory files with what the ledger knows of them
    Inventory(memory::Inventory),
    /// Look at entries of memory files, and make them the owner's word
    Adopt(memory::Adopt),
    /// Entries that are withheld until their owner looks at them
    Quarantine(memory::Quarantine),
    /// Show the calls that wait for you
    ///
    /// Each with its receipt, the exact call and where its binding arguments came from. Equal questions stand together, and from
    /// the second on a mandate is offered that would answer them beforehand.
    Inbox,
    /// Allow one call that waits, once
    ///
    /// Shows the exact call and where each of its binding arguments came from, and asks. An approval is for this call, once, for a
    /// short time; any change is another call.
    Approve(memory::Approve),
    /// Say no to one call that waits: asked again, it is refused
    Deny {
        /// The receipt, as `actum inbox` shows it
        receipt: String,

        #[command(flatten)]
        confirm: Confirm,
    },
    /// Mandates: what you allow beforehand
    #[command(subcommand)]
    Mandate(memory::Mandate),
    /// Explain where something came from, or why a call was decided so
    ///
    /// A record or anything that was seen is followed down to its roots; of a whole context only what is worth least is named. A
    /// decision is explained by its reason, by what made the agent act, and by the least origin that decided it.
    Why(memory::OfEvent),
    /// Show what came of something, and what was allowed while it was before a model
    ///
    /// Everything that was made from it, with its state, and every call that was allowed while it, or anything made from it, was
    /// before a model: what it may have brought about.
    Trace(memory::OfEvent),
    /// Show what no rule guards: the guarantee equals the coverage
    ///
    /// Tools that calls were decided of and no rule of the policy in force guards, sessions that were seen only in part, and
    /// tools that are listed and were never seen. Ends with 0 if all that was seen is covered, 14 if not.
    Coverage,
    /// Adapters: who may observe
    #[command(subcommand)]
    Adapter(memory::Adapter),
    /// Stand between an MCP client and an MCP server
    Guard(Box<guard::Guard>),
    /// Say where the key is, or replace it
    #[command(subcommand)]
    Key(Key),
    /// Keep key, ledger and gate in one process that others ask
    ///
    /// Runs until it is told to stop, and answers at a Unix socket. While it runs, every other command asks it, so that many agents
    /// and shells share one ledger. As the same user as its agents it is weaker: docs/daemon.md runs it as another user.
    Daemon(Daemon),
    /// Say whether a daemon runs, and how it is
    ///
    /// Ends with 0 if one answers, 12 if it cannot believe its ledger, 1 if none answers.
    Status,
    /// Show decisions as they are made; needs a daemon
    Watch,
    /// Play the story of forged and real evidence, with real processes and a real ledger
    Demo,
    /// Print a completion script for a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
}

/// Makes `.actum/` here and, if there is none, a commented `actum.toml` with the steps this project seems to have.
///
/// A policy that Actum writes is shown and accepted. One that is there already is shown and asked about, never accepted
/// unseen.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Accept the policy without asking; the ledger records `yes-flag`
    #[arg(long)]
    pub(crate) yes: bool,

    /// Make a ledger here although there is one in a folder above
    #[arg(long)]
    pub(crate) nested: bool,
}

/// Runs a command that the policy lists for the step, and records that it began and how it ended.
///
/// The terminal is the command's own; its output is read only if the step's rule asks for certain lines, and is shown all the
/// same. With --json the answer is on standard error, for standard output is the command's. It ends with the command's exit code: 124 after a timeout, 126 or 127 if it could not be started, 128 + N if signal
/// N ended it, and 125 if Actum itself failed. A command that the policy does not list is not started.
#[derive(Debug, Args)]
#[command(after_help = "Example: actum run --step tests -- cargo test")]
pub(crate) struct Run {
    /// The step, as the policy names it
    #[arg(long)]
    pub(crate) step: String,

    /// What it is performed on: HEAD, file:PATH, dir:PATH or text:ANYTHING [default: HEAD for a step on git]
    #[arg(long)]
    pub(crate) subject: Option<String>,

    /// End the command after this long: 90s, 5m, 2h
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) timeout: Option<Duration>,

    /// End with 1 if the command ended with 0 but the run did not pass
    #[arg(long)]
    pub(crate) must_pass: bool,

    /// Say nothing beside the command's own output, unless something is wrong
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// The command, as the policy lists it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Ends with 0 if grounded, 10 if ungrounded, 11 if contradicted, 12 if the ledger cannot be believed.
#[derive(Debug, Args)]
#[command(after_help = "Examples: actum ground tests, actum ground tests HEAD, actum skip tests")]
pub(crate) struct Ground {
    /// The step, as the policy names it
    pub(crate) step: String,

    /// HEAD, file:PATH, dir:PATH or text:ANYTHING [default: HEAD for a step on git]
    pub(crate) subject: Option<String>,
}

/// Ends as `actum ground` does. With --session an allowed skip is recorded there, and not allowed if it cannot be.
#[derive(Debug, Args)]
pub(crate) struct Skip {
    #[command(flatten)]
    pub(crate) ground: Ground,

    /// The session that leaves the step out
    #[arg(long)]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) door: memory::Door,
}

/// Names are introduced in events of their own; those and other bookkeeping are shown with --all.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Go on showing events as they come
    #[arg(long, short)]
    pub(crate) follow: bool,

    /// Every event, bookkeeping as well
    #[arg(long)]
    pub(crate) all: bool,

    /// Only runs of this step
    #[arg(long)]
    pub(crate) step: Option<String>,

    /// Only runs on this subject
    #[arg(long)]
    pub(crate) subject: Option<String>,

    /// Only events of this kind: began, ended, policy, revoked, ...
    #[arg(long)]
    pub(crate) kind: Option<String>,

    /// Only runs that ended so: passed, failed, errored, denied, timed_out, ...
    #[arg(long)]
    pub(crate) outcome: Option<String>,

    /// Only events of the last so long: 90s, 5m, 2h
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) since: Option<Duration>,

    /// Only the newest so many of those
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub(crate) last: Option<usize>,
}

/// Whom a daemon serves is told by their user id. Without --owner and --agent it serves its own user alone.
#[derive(Debug, Args)]
pub(crate) struct Daemon {
    /// Answer at this socket, instead of the ledger's own
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,

    /// A user id that may be the owner [default: the daemon's own]
    #[arg(long, value_name = "UID")]
    pub(crate) owner: Vec<u32>,

    /// A user id of agents and adapters [default: that of the owner, which is weaker]
    #[arg(long, value_name = "UID")]
    pub(crate) agent: Vec<u32>,

    /// End when nobody was connected for so long
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) idle: Option<Duration>,

    /// Run in the background, and return once it answers
    #[arg(long)]
    pub(crate) background: bool,
}

/// An owner's act: asks on a terminal, or takes --yes.
#[derive(Debug, Args)]
#[command(after_help = "Examples: actum revoke 41 --reason 'wrong branch'
          actum revoke --channel web:rent.example --from 2026-05-03T00:00:00Z --reason 'taken over'")]
pub(crate) struct Revoke {
    #[command(flatten)]
    pub(crate) what: Revocable,

    #[command(flatten)]
    pub(crate) during: memory::Interval,

    /// Why
    #[arg(long)]
    pub(crate) reason: String,

    #[command(flatten)]
    pub(crate) confirm: Confirm,
}

/// What is taken back: one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Revocable {
    /// The run, by the index of its beginning (see `actum log`)
    #[arg(value_parser = index)]
    pub(crate) run: Option<u64>,

    /// A record, or anything that was seen, by its event
    #[arg(long, value_name = "N", value_parser = index)]
    pub(crate) record: Option<u64>,

    /// Everything that came through this channel
    #[arg(long, value_name = "NAME")]
    pub(crate) channel: Option<String>,

    /// Everything by this author
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Confirm {
    /// Do it without asking; the ledger records `yes-flag`
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Check a policy file, and say what of it can be run here
    Check {
        /// The file [default: the project's actum.toml]
        file: Option<PathBuf>,
    },
    /// Show the policy in force
    Show,
    /// Show how actum.toml differs from the policy in force, and accept it
    Accept(Confirm),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Say where key and anchor lie
    Where,
    /// Seal what follows with a new key; what was sealed stays verifiable
    Rotate(Confirm),
}
