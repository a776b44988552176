//! The one writer of a ledger: turns requests into events, seals them, has them made durable, and only then answers. Where
//! the bytes go is the journal's business.

mod ablated;
mod ask;
mod memory;
mod together;

use core::error::Error;
use std::collections::BTreeMap;

use crate::caller::{Caller, NotAllowed};
use crate::canon::{Digest, Mac};
use crate::chain::{Position, seal};
use crate::clock::{ClockStep, Reading, judge_clock};
use crate::event::LedgerId;
use crate::event::{
    Began, Cause, Ended, Event, LIMITS_MAX, NAMED_MAX, Outcome, Owner, PARENTS_MAX, REASON_MAX,
    Revoked, Revokes, Space,
};
use crate::gate::LimitFlaw;
use crate::keys::Keyring;
use crate::names::{Namespace, SessionName, StepName, SubjectName};
use crate::views::Views;

pub use ablated::Ablated;
pub use ask::{Answered, NewCall, NewCallEnd, NewFire, NewObservation, NewRecall, Permit};
pub use memory::{
    APPROVAL_MS_MAX, MANDATE_MS_MAX, MemoryRequest, NewAudience, NewEntry, NewLimit, NewMandate,
    NewStart, Takes,
};
pub use together::{Kept, Sheet, Unkept};

/// How often each of the newest decisions was given again since it was written down.
type Repeats = BTreeMap<u64, u32>;

/// Requests in one commit.
pub const BATCH_MAX: usize = 1024;

/// Keeps the bytes of events, durable when it says so.
pub trait Journal {
    /// Writes the incarnation of a new writer to the anchor, before its first event.
    ///
    /// # Errors
    /// After one, nobody knows what was kept: the ledger closes.
    fn claim(&mut self, claim: &Batch<'_>) -> Result<(), JournalFailed>;

    /// Makes a batch durable, then moves the head to its end, and only then returns.
    ///
    /// # Errors
    /// After one, nobody knows what was kept: the ledger closes.
    fn append(&mut self, batch: &Batch<'_>) -> Result<(), JournalFailed>;
}

/// What a journal is asked to keep.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Whole records, one behind the other; none for a claim.
    pub records: &'a [u8],
    /// Where the chain stood before them.
    pub before: Position,
    /// Where it stands after them: the new head.
    pub after: Position,
    /// The clocks at this moment.
    pub reading: Reading,
    /// The keys that seal the head.
    pub keys: &'a Keyring,
}

/// A journal could not say that it kept a batch.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct JournalFailed {
    /// What it was doing, to what.
    pub what: String,
    /// Why it failed.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// A run that began, as a right to end it. Ending it spends it.
///
/// ```compile_fail
/// fn twice(ledger: &mut actum_core::Ledger<impl actum_core::Journal>, end: actum_core::NewEnd) {
///     let now = actum_core::Reading::wall(0);
///     let again = end.run;
///     ledger.end(end, &now).unwrap(); // `end.run` has been moved out
/// }
/// ```
///
/// ```
/// fn once(ledger: &mut actum_core::Ledger<impl actum_core::Journal>, end: actum_core::NewEnd) {
///     let now = actum_core::Reading::wall(0);
///     ledger.end(end, &now).unwrap();
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct OpenRun {
    ledger: LedgerId,
    index: u64,
    /// The MAC of its `Began`: an index alone may come to be another run's, once a loss was resolved.
    mac: Mac,
}

impl OpenRun {
    /// The index of its `Began`.
    pub const fn index(&self) -> u64 {
        self.index
    }
}

/// A run about to begin.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Whose run.
    pub namespace: Namespace,
    /// Which step.
    pub step: StepName,
    /// On which subject, by name.
    pub subject: SubjectName,
    /// By content.
    pub content: Digest,
    /// The argument vector and environment.
    pub arguments: Digest,
    /// The binary's digest.
    pub tool: Digest,
    /// The binary's path.
    pub tool_path: Vec<u8>,
    /// The rule in force.
    pub rule: Digest,
    /// Who asked.
    pub session: SessionName,
}

/// How a run went.
#[derive(Debug)]
pub struct NewEnd {
    /// The run, spent.
    pub run: OpenRun,
    /// How it went. A pass on a subject that changed is recorded as such.
    pub outcome: Outcome,
    /// Exit code, minus the signal's number, or 0.
    pub code: i32,
    /// What it printed.
    pub result: Digest,
    /// The subject by content, taken again.
    pub content: Digest,
}

/// What may be asked of a ledger in one commit.
#[derive(Debug)]
pub enum Request {
    /// A run begins.
    Begin(NewRun),
    /// A run ends.
    End(NewEnd),
    /// The owner revokes a run.
    Revoke {
        /// The index of its `Began`.
        run: u64,
        /// Why.
        reason: String,
        /// How the owner was known.
        owner: Owner,
    },
    /// The owner accepts a policy.
    Accept {
        /// The digest of the accepted document.
        policy: Digest,
        /// How the owner was known.
        owner: Owner,
    },
    /// The owner sets the clock's matter right.
    ResolveClock {
        /// How the owner was known.
        owner: Owner,
    },
    /// The owner rotates the key.
    Rotate {
        /// The keyring with the new root.
        keys: Box<Keyring>,
        /// How the owner was known.
        owner: Owner,
    },
    /// About what is remembered and allowed.
    Memory {
        /// Who asks.
        by: Caller,
        /// What.
        request: MemoryRequest,
    },
}

/// What became of a request, once it was durable.
#[derive(Debug, PartialEq, Eq)]
pub enum Done {
    /// The run began.
    Began(OpenRun),
    /// The event with this index says so.
    Event(u64),
    /// The run ended, with this outcome.
    Ended {
        /// The index of its `Ended`.
        event: u64,
        /// As recorded.
        outcome: Outcome,
    },
}

/// Why one request of a commit was not carried out. The others are not touched by it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// It ended before, or its beginning was lost.
    #[error("run {run} is not open: it ended before, or its beginning was lost")]
    NotOpen {
        /// The run.
        run: u64,
    },
    /// There is no such run.
    #[error("event {run} is not the beginning of a run")]
    NoRun {
        /// The index given.
        run: u64,
    },
    /// A right of another ledger.
    #[error("run {run} began in another ledger")]
    OtherLedger {
        /// The run.
        run: u64,
    },
    /// A text over its limit.
    #[error("the {what} has {length} bytes; the limit is {limit}")]
    Long {
        /// Which text.
        what: &'static str,
        /// Its bytes.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// The keyring does not hold the next generation.
    #[error("the key file holds no root for generation {generation}")]
    NoNextRoot {
        /// The generation that follows.
        generation: u32,
    },
    /// The keyring is of another ledger, or could not verify what was written so far.
    #[error("the key file holds another root for generation {generation} than this ledger has")]
    OtherRoot {
        /// The first generation that differs.
        generation: u32,
    },
    /// Nothing is wrong with the clock.
    #[error("the clock has not jumped: there is nothing to resolve")]
    NothingToResolve,
    /// The caller may not ask that.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// Only the owner may.
    #[error("only the owner may do that")]
    NotOwner,
    /// No such adapter, or its credential was taken back.
    #[error(
        "there is no such adapter, or its credential was taken back; `actum adapter` lists them"
    )]
    NotEnrolled,
    /// An adapter named a channel that it was not given.
    #[error(
        "the adapter was not given the channel {channel}; the owner gives it with `actum adapter add`"
    )]
    NotItsChannel {
        /// The channel.
        channel: String,
    },
    /// A session that nobody opened.
    #[error("there is no session {session}; `actum session open` opens one")]
    NoSession {
        /// Its name.
        session: String,
    },
    /// A session of another adapter.
    #[error("session {session} was opened by somebody else")]
    OtherSession {
        /// Its name.
        session: String,
    },
    /// A session that was opened before.
    #[error("session {session} was opened already; a session is opened once")]
    OpenedAlready {
        /// Its name.
        session: String,
    },
    /// A name that is none.
    #[error("the name of the {what} is not one: {error}")]
    Name {
        /// Of what.
        what: &'static str,
        /// Why.
        error: String,
    },
    /// The agent said what an entry came of.
    #[error(
        "only an adapter can prove what an entry came of; an agent's entry comes of its whole context"
    )]
    NotProven,
    /// No parents, or too many.
    #[error("{count} events that the entry came of; there are 1 to {PARENTS_MAX}")]
    Parents {
        /// How many.
        count: usize,
    },
    /// Something it came of is not in the ledger.
    #[error("something that this came of is not in the ledger")]
    NoParent,
    /// No record.
    #[error("event {event} is not the record of an entry")]
    NoRecord {
        /// The event.
        event: u64,
    },
    /// Only an entry that was recalled has a record.
    #[error("an entry is named where, and only where, it was recalled from memory")]
    Entry,
    /// It would take away something of greater authority.
    #[error("what this would replace has a greater authority; only the owner takes it back")]
    Outranked,
    /// Nothing is in quarantine there.
    #[error("event {event} holds no entry of this name and content in quarantine")]
    NotHeld {
        /// The event.
        event: u64,
    },
    /// No channels, or too many.
    #[error("{count} channels; an adapter has 1 to {LIMITS_MAX}")]
    Channels {
        /// How many.
        count: usize,
    },
    /// A window in which nothing lies.
    #[error(
        "nothing lies in that time: it ends before it begins or before now, or is longer than its limit"
    )]
    Window,
    /// A mandate of no use.
    #[error("a mandate has at least one use, and a budget of more than nothing")]
    NoUses,
    /// A limit that means nothing.
    #[error(transparent)]
    Limit(#[from] LimitFlaw),
    /// No mandate.
    #[error("event {event} is not a mandate in force")]
    NoMandate {
        /// The event.
        event: u64,
    },
    /// A mandate that is not narrower.
    #[error("this allows more than mandate {of}; a wider one is granted by itself")]
    Widens {
        /// The mandate it should narrow.
        of: u64,
    },
    /// Nothing waits there.
    #[error(
        "event {event} is no question that waits for the owner in this ledger; see `actum inbox`"
    )]
    NotPending {
        /// The event.
        event: u64,
    },
    /// Another call than the one that waits.
    #[error("what waits at event {event} is another call than this")]
    OtherCall {
        /// The event.
        event: u64,
    },
    /// A name that the ledger does not have.
    #[error("the ledger has no {what} called {name}")]
    Unknown {
        /// What kind of name.
        what: Space,
        /// The name.
        name: String,
    },
}

/// Why a commit failed as a whole. Nothing was acknowledged.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// An earlier commit failed, so the truth is unknown.
    #[error("the ledger closed after a failed write; open it again to see what was kept")]
    Closed,
    /// This commit failed; the ledger is closed now.
    #[error("the ledger could not keep an event, and closed")]
    Journal(#[source] JournalFailed),
    /// The one request of the commit was rejected.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// More than [`BATCH_MAX`] requests at once.
    #[error("{count} requests in one commit; the limit is {BATCH_MAX}")]
    Batch {
        /// How many.
        count: usize,
    },
}

/// What recovery found beyond the head, and did with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leftover {
    /// The index of the first event beyond the head.
    pub first: u64,
    /// How many genuine events lie beyond it.
    pub kept: u64,
    /// How many bytes were moved aside.
    pub dropped: u64,
    /// Their digest.
    pub digest: Digest,
}

/// What the owner resolves when a store was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// What had happened.
    pub cause: Cause,
    /// How many events the anchor knew of.
    pub count: u64,
    /// The MAC of the newest of them.
    pub mac: Mac,
    /// How the owner was known.
    pub owner: Owner,
}

/// A ledger open for writing. One at a time, held by whoever holds the store's lock.
#[derive(Debug)]
pub struct Ledger<J> {
    views: Views,
    journal: J,
    reading: Reading,
    closed: bool,
    repeats: Repeats,
    /// Counts the commits that were drafted as a whole.
    sheets: u64,
}

impl<J: Journal> Ledger<J> {
    /// Makes a ledger: claims the anchor and writes the first event.
    ///
    /// # Errors
    /// [`CommitError::Journal`].
    pub fn create(keys: Keyring, journal: J, reading: &Reading) -> Result<Self, CommitError> {
        let views = Views::new(keys, &[]);
        let mut ledger = Self {
            views,
            journal,
            reading: *reading,
            closed: false,
            repeats: Repeats::new(),
            sheets: 0,
        };
        ledger.claim(Position::START, 1, reading)?;
        ledger.write(reading, |draft| {
            draft.genesis();
        })?;
        Ok(ledger)
    }

    /// Goes on with a ledger that was found sound: claims the next incarnation after `incarnation`, and says in a
    /// `Recovered` event what a crash left behind.
    ///
    /// # Errors
    /// [`CommitError::Journal`].
    pub fn resume(
        views: Views,
        journal: J,
        incarnation: u32,
        last: &Reading,
        leftover: Option<&Leftover>,
        reading: &Reading,
    ) -> Result<Self, CommitError> {
        let mut ledger = Self {
            views,
            journal,
            reading: *last,
            closed: false,
            repeats: Repeats::new(),
            sheets: 0,
        };
        // The head stays where it is until `Recovered` says what lies beyond it: else a crash in between would make an
        // unacknowledged policy an acknowledged one.
        let at = *ledger.views.position();
        let first = leftover.map_or(at.count, |leftover| leftover.first);
        let mac = if first == at.count {
            at.mac
        } else {
            ledger.views.mac_of(first).unwrap_or(Mac::ZERO)
        };
        ledger.claim(
            Position { count: first, mac, ..at },
            // Whoever wrote with another anchor may have counted further.
            incarnation.max(at.incarnation).saturating_add(1),
            // The clocks move on with the event that says whether they jumped.
            last,
        )?;
        ledger.write(reading, |draft| {
            if draft.at.count == 0 {
                // The ledger was cut short before its first event.
                draft.genesis();
            }
            draft.note_clock(last, reading);
            if let Some(&Leftover { first, kept, dropped, digest }) = leftover {
                draft.push(&Event::Recovered { first, kept, dropped, digest });
            }
        })?;
        Ok(ledger)
    }

    /// Goes on after a loss, with whatever prefix was found valid. The owner has seen the loss.
    ///
    /// # Errors
    /// [`CommitError::Journal`].
    pub fn resolve(
        views: Views,
        journal: J,
        incarnation: u32,
        loss: &Loss,
        reading: &Reading,
    ) -> Result<Self, CommitError> {
        let mut ledger = Self {
            views,
            journal,
            reading: *reading,
            closed: false,
            repeats: Repeats::new(),
            sheets: 0,
        };
        let incarnation = incarnation.max(ledger.views.position().incarnation);
        ledger.write_as(incarnation.saturating_add(1), reading, |draft| {
            if draft.at.count == 0 {
                draft.genesis();
            }
            // A rotation may be among what was lost. Its key is in force all the same.
            while draft.at.generation < draft.views.keys().active() {
                draft.rotate(loss.owner);
            }
            let Loss { cause, count, mac, owner } = *loss;
            draft.push(&Event::Resolved { cause, count, mac, owner });
        })?;
        Ok(ledger)
    }

    fn claim(
        &mut self,
        before: Position,
        incarnation: u32,
        reading: &Reading,
    ) -> Result<(), CommitError> {
        let after = Position { incarnation, ..before };
        let claim =
            Batch { records: &[], before, after, reading: *reading, keys: self.views.keys() };
        let claimed = self.journal.claim(&claim);
        self.views.set_incarnation(incarnation);
        self.note(claimed)
    }

    /// Carries out requests in order, as one commit: one write, one sync, one head. Returns when all of it is durable.
    ///
    /// # Errors
    /// [`CommitError::Closed`], [`CommitError::Journal`] or [`CommitError::Batch`]; then none of the requests was
    /// acknowledged. A request that is rejected says so in its place.
    pub fn commit(
        &mut self,
        requests: Vec<Request>,
        reading: &Reading,
    ) -> Result<Vec<Result<Done, Rejected>>, CommitError> {
        if requests.len() > BATCH_MAX {
            return Err(CommitError::Batch { count: requests.len() });
        }
        let last = self.reading;
        self.write(reading, |draft| {
            draft.note_clock(&last, reading);
            requests.into_iter().map(|request| draft.carry_out(request)).collect()
        })
    }

    /// Drafts one request that needs more than itself to be judged.
    fn draft<T>(
        &mut self,
        reading: &Reading,
        fill: impl FnOnce(&mut Draft<'_>) -> T,
    ) -> Result<T, CommitError> {
        let last = self.reading;
        self.write(reading, |draft| {
            draft.note_clock(&last, reading);
            fill(draft)
        })
    }

    fn one(&mut self, request: Request, reading: &Reading) -> Result<Done, CommitError> {
        let mut done = self.commit(vec![request], reading)?;
        let only = done.pop().unwrap_or(Err(Rejected::NothingToResolve));
        Ok(only?)
    }

    /// Records that a run begins. Durable when it returns: only then may the step start.
    ///
    /// # Errors
    /// As [`Ledger::commit`], and [`Rejected::Long`].
    pub fn begin(&mut self, run: NewRun, reading: &Reading) -> Result<OpenRun, CommitError> {
        match self.one(Request::Begin(run), reading)? {
            Done::Began(run) => Ok(run),
            Done::Event(run) | Done::Ended { event: run, .. } => {
                Err(Rejected::NotOpen { run }.into())
            }
        }
    }

    /// Records how a run went, and returns the outcome as recorded.
    ///
    /// # Errors
    /// As [`Ledger::commit`], [`Rejected::NotOpen`] and [`Rejected::OtherLedger`].
    pub fn end(&mut self, end: NewEnd, reading: &Reading) -> Result<Outcome, CommitError> {
        let claimed = end.outcome;
        Ok(match self.one(Request::End(end), reading)? {
            Done::Ended { outcome, .. } => outcome,
            Done::Began(_) | Done::Event(_) => claimed,
        })
    }

    /// Carries out any other single request, and returns the index of its event.
    ///
    /// # Errors
    /// As [`Ledger::commit`].
    pub fn record(&mut self, request: Request, reading: &Reading) -> Result<u64, CommitError> {
        Ok(match self.one(request, reading)? {
            Done::Event(event) | Done::Ended { event, .. } => event,
            Done::Began(run) => run.index,
        })
    }

    /// The state as of the newest event.
    pub const fn views(&self) -> &Views {
        &self.views
    }

    /// The journal.
    pub const fn journal(&self) -> &J {
        &self.journal
    }

    /// The journal, to be closed by its owner.
    pub fn journal_mut(&mut self) -> &mut J {
        &mut self.journal
    }

    /// Gives the journal back.
    pub fn into_journal(self) -> J {
        self.journal
    }

    fn write<T>(
        &mut self,
        reading: &Reading,
        fill: impl FnOnce(&mut Draft<'_>) -> T,
    ) -> Result<T, CommitError> {
        self.write_as(self.views.position().incarnation, reading, fill)
    }

    /// Drafts events, then has them kept. The views already hold them when the journal is asked; if it fails, the views
    /// are not to be trusted either, and the ledger is closed.
    fn write_as<T>(
        &mut self,
        incarnation: u32,
        reading: &Reading,
        fill: impl FnOnce(&mut Draft<'_>) -> T,
    ) -> Result<T, CommitError> {
        if self.closed {
            return Err(CommitError::Closed);
        }
        let before = *self.views.position();
        let at = Position { incarnation, ..before };
        let mut draft =
            Draft { views: &mut self.views, at, time_ms: reading.wall_ms, bytes: Vec::new() };
        let filled = fill(&mut draft);
        let (after, bytes) = (draft.at, draft.bytes);
        self.reading = *reading;
        if bytes.is_empty() {
            return Ok(filled);
        }
        let keys = self.views.keys();
        let batch = Batch { records: &bytes, before, after, reading: *reading, keys };
        let kept = self.journal.append(&batch);
        self.note(kept)?;
        Ok(filled)
    }

    fn note(&mut self, kept: Result<(), JournalFailed>) -> Result<(), CommitError> {
        kept.map_err(|failed| {
            self.closed = true;
            CommitError::Journal(failed)
        })
    }
}

/// Events sealed and folded, not yet kept.
#[derive(Debug)]
struct Draft<'a> {
    views: &'a mut Views,
    at: Position,
    time_ms: u64,
    bytes: Vec<u8>,
}

impl Draft<'_> {
    fn push(&mut self, event: &Event<'_>) -> u64 {
        let index = self.at.count;
        let sealed = seal(self.views.keys(), &mut self.at, self.time_ms, event, &mut self.bytes);
        assert!(sealed.is_some(), "the keyring holds the generation in force");
        self.views.fold_own(event, self.time_ms, &self.at);
        index
    }

    fn genesis(&mut self) -> u64 {
        let ledger = self.views.keys().ledger();
        self.push(&Event::Genesis { ledger })
    }

    fn note_clock(&mut self, last: &Reading, now: &Reading) {
        let before = self.views.time_ms();
        match judge_clock(before, last, now) {
            ClockStep::Jumped if self.views.distrusted_since().is_none() => {
                self.push(&Event::Clock { before, now: now.wall_ms });
            }
            ClockStep::Jumped | ClockStep::Steady => {}
        }
    }

    fn carry_out(&mut self, request: Request) -> Result<Done, Rejected> {
        match request {
            Request::Begin(run) => self.begin(&run),
            Request::End(end) => self.end(&end),
            Request::Revoke { run, reason, owner } => self.revoke(run, &reason, owner),
            Request::Accept { policy, owner } => {
                Ok(Done::Event(self.push(&Event::Policy { digest: policy, owner })))
            }
            Request::ResolveClock { owner } => self.resolve_clock(owner),
            Request::Rotate { keys, owner } => {
                self.replace_keys(*keys)?;
                Ok(Done::Event(self.rotate(owner)))
            }
            Request::Memory { by, request } => self.remember(by, &request),
        }
    }

    /// Takes a keyring with one more root. What was sealed so far must stay verifiable with it.
    fn replace_keys(&mut self, keys: Keyring) -> Result<(), Rejected> {
        let known = self.views.keys();
        let other = (0..=self.at.generation).find(|&at| keys.key_id(at) != known.key_id(at));
        if let Some(generation) = other {
            return Err(Rejected::OtherRoot { generation });
        }
        let generation = self.at.generation + 1;
        if keys.key_id(generation).is_none() {
            return Err(Rejected::NoNextRoot { generation });
        }
        self.views.replace_keys(keys);
        Ok(())
    }

    fn begin(&mut self, run: &NewRun) -> Result<Done, Rejected> {
        let digest = run.tool.as_bytes();
        within("path of the tool", run.tool_path.len(), NAMED_MAX - digest.len())?;
        let tool = [digest.as_slice(), &run.tool_path].concat();
        let namespace = self.number(Space::Namespace, run.namespace.as_str().as_bytes());
        let step = self.number(Space::Step, run.step.as_str().as_bytes());
        let tool = self.number(Space::Tool, &tool);
        let rule = self.number(Space::Rule, run.rule.as_bytes());
        let session = self.number(Space::Session, run.session.as_str().as_bytes());
        let index = self.push(&Event::Began(Began {
            namespace,
            step,
            tool,
            rule,
            session,
            subject: run.subject.as_str(),
            subject_digest: run.content,
            arguments: run.arguments,
        }));
        Ok(Done::Began(OpenRun { ledger: self.views.keys().ledger(), index, mac: self.at.mac }))
    }

    fn end(&mut self, end: &NewEnd) -> Result<Done, Rejected> {
        let run = end.run.index;
        if end.run.ledger != self.views.keys().ledger() {
            return Err(Rejected::OtherLedger { run });
        }
        let began = self.views.open_run(run).filter(|open| open.mac == end.run.mac);
        let Some(began) = began else { return Err(Rejected::NotOpen { run }) };
        let outcome = match end.outcome {
            Outcome::Passed if began.content != end.content => Outcome::SubjectChanged,
            Outcome::Passed
            | Outcome::Failed
            | Outcome::Errored
            | Outcome::Denied
            | Outcome::TimedOut
            | Outcome::SubjectChanged => end.outcome,
        };
        let event = self.push(&Event::Ended(Ended {
            run,
            outcome,
            code: end.code,
            result: end.result,
            subject_digest: end.content,
        }));
        Ok(Done::Ended { event, outcome })
    }

    fn revoke(&mut self, run: u64, reason: &str, owner: Owner) -> Result<Done, Rejected> {
        within("reason", reason.len(), REASON_MAX)?;
        if !self.views.has_run(run) {
            return Err(Rejected::NoRun { run });
        }
        let (what, interval) = (Revokes::Run, None);
        let revoked = Revoked { what, target: run, interval, owner, reason };
        Ok(Done::Event(self.push(&Event::Revoked(revoked))))
    }

    fn resolve_clock(&mut self, owner: Owner) -> Result<Done, Rejected> {
        if self.views.distrusted_since().is_none() {
            return Err(Rejected::NothingToResolve);
        }
        let (cause, count, mac) = (Cause::Clock, self.at.count, self.at.mac);
        Ok(Done::Event(self.push(&Event::Resolved { cause, count, mac, owner })))
    }

    fn rotate(&mut self, owner: Owner) -> u64 {
        let generation = self.at.generation + 1;
        let key_id = self.views.keys().key_id(generation).unwrap_or_default();
        self.push(&Event::Rotated { generation, key_id, owner })
    }

    /// The number of a name, introduced now if it is new.
    fn number(&mut self, space: Space, name: &[u8]) -> u32 {
        self.views.number(space, name).unwrap_or_else(|| {
            let number = self.views.next_number(space);
            self.push(&Event::Named { space, number, name });
            number
        })
    }
}

fn within(what: &'static str, length: usize, limit: usize) -> Result<(), Rejected> {
    if length > limit { Err(Rejected::Long { what, length, limit }) } else { Ok(()) }
}
