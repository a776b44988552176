//! The desk at which every question is answered: the ledger open for writing, the policy in force, the texts that were kept. The
//! daemon has one, and a command that finds no daemon opens one for itself; so the answers are the same.

mod draft;
mod facts;
mod ground;
mod inbox;
mod job;
mod things;
mod who;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use actum_core::{
    CommitError, Decided, Decision, DecisionCode, Digest, Ledger, NewCallEnd, Outcome, Position,
    Purpose, Reading, Views, label,
};
use actum_store::{
    AcceptedPolicy, Cache, Disk, FileJournal, Places, PolicyMissing, RealDisk, Store, StoreError,
    Writer,
};

use crate::wire::{self, Asking, Failure, FailureCode};

pub(crate) use draft::{Answer, Asked};
pub use facts::{
    asked_in_all, bound_of, is_question, name_of, partial_sessions, receipt_of, source_of,
    trigger_word,
};
pub use ground::{step_of, subject_of};
pub use inbox::{OFFERED_FROM, Shown, asked_of, kept_call};
pub(crate) use job::{Job, prepare};
pub(crate) use things::chain;
pub(crate) use things::leads_to;
pub use things::{Things, subject_now};
pub use who::{Peer, Served, Who};

use draft::{Desktop, Held, Runs, greet};

/// How long after a store could not be opened it is tried again.
const AGAIN_MS: u64 = 1000;

/// The clocks, as whoever runs the desk reads them.
pub type Clock = Arc<dyn Fn() -> Reading + Send + Sync>;

/// The ledger open for writing, with all that a question to the gate needs.
pub struct Desk<D: Disk = RealDisk> {
    store: Store<D>,
    writer: Writer,
    clock: Clock,
    state: State<D>,
    cache: Cache,
    policy: Option<AcceptedPolicy>,
    /// Why the policy in force cannot be used.
    policy_flaw: Option<String>,
    /// When decisions were made that may be shown.
    times: BTreeMap<u64, u64>,
    runs: Runs,
    /// What was acknowledged last: a store that does not reach it any more is never believed again.
    seen: Option<Position>,
    status: wire::Status,
    commits: (u64, u64),
}

enum State<D: Disk> {
    Open(Box<Ledger<FileJournal<D>>>),
    /// It cannot be believed, or nobody knows what was kept; and when it is tried again.
    Shut {
        failure: Failure,
        again_ms: u64,
    },
}

impl<D: Disk> fmt::Debug for Desk<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("store", &self.store.places().store).finish_non_exhaustive()
    }
}

impl<D: Disk> Desk<D> {
    /// Opens the ledger, and holds it until the desk is dropped.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn open(store: Store<D>, writer: Writer, clock: Clock) -> Result<Self, StoreError> {
        let ledger = store.write(&writer)?;
        let cache = Cache::of(store.places());
        let status = blank(store.places(), ledger.views());
        let mut desk = Self {
            store,
            writer,
            clock,
            state: State::Shut { failure: shut(), again_ms: 0 },
            cache,
            policy: None,
            policy_flaw: None,
            times: BTreeMap::new(),
            runs: Runs::new(),
            seen: None,
            status,
            commits: (0, 0),
        };
        desk.take(ledger);
        Ok(desk)
    }

    fn take(&mut self, ledger: Ledger<FileJournal<D>>) {
        self.seen = Some(*ledger.views().position());
        (self.policy, self.policy_flaw) = policy_in_force(&self.store, ledger.views());
        self.state = State::Open(Box::new(ledger));
        self.load_times();
    }

    /// When the decisions were made that wait for the owner: their events say so, and the views do not.
    fn load_times(&mut self) {
        let Some(views) = self.views() else { return };
        let pending: BTreeSet<u64> = views.provenance().pending().map(|(event, _)| event).collect();
        let Some(first) = pending.first().copied() else { return };
        let Ok(snapshot) = self.store.read() else { return };
        let times = &mut self.times;
        // A time that cannot be told is shown as none.
        let _untold = snapshot.events(first, |header, _event| {
            if pending.contains(&header.index) {
                times.insert(header.index, header.time_ms);
            }
        });
    }

    /// The state, unless the ledger cannot be believed.
    pub fn views(&self) -> Option<&Views> {
        match &self.state {
            State::Open(ledger) => Some(ledger.views()),
            State::Shut { .. } => None,
        }
    }

    /// The policy in force.
    pub const fn policy(&self) -> Option<&AcceptedPolicy> {
        self.policy.as_ref()
    }

    /// Why the policy in force cannot be used.
    pub fn policy_flaw(&self) -> Option<&str> {
        self.policy_flaw.as_deref()
    }

    /// Where its parts lie.
    pub const fn places(&self) -> &Places {
        self.store.places()
    }

    pub(crate) const fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Keeps a text under its digest.
    ///
    /// # Errors
    /// [`FailureCode::Failed`].
    pub fn keep(&self, text: &str) -> Result<Digest, Failure> {
        let kept = self.cache.keep(text);
        kept.map_err(|error| Failure::new(FailureCode::Failed, chain(&error)))
    }

    /// Who asks here: somebody of this very user, who may be the owner.
    ///
    /// # Errors
    /// [`FailureCode::Who`].
    pub fn admit(&self, role: &wire::Role) -> Result<Who, Failure> {
        Who::admit(here(), role, self.views())
    }

    /// Answers one question, as a daemon would.
    ///
    /// # Errors
    /// As the daemon's.
    pub fn ask<A: Asking>(&mut self, who: &Who, ask: A) -> Result<A::Told, Failure> {
        let job = prepare(who, &self.cache, ask.into())?;
        let asked = Asked { connection: 0, peer: here(), who: Arc::new(who.clone()), job };
        let told = self.answer(vec![asked]).pop().map_or_else(|| Err(shut()), |it| it.told)?;
        serde_json::from_str(told.get())
            .map_err(|error| Failure::new(FailureCode::Failed, error.to_string()))
    }

    /// Serves as a daemon from now on.
    pub(crate) fn begin(&mut self, weaker: bool) {
        self.status.since_ms = (self.clock)().wall_ms;
        self.status.weaker = weaker;
    }

    /// The daemon's part of the status.
    pub(crate) const fn status_mut(&mut self) -> &mut wire::Status {
        &mut self.status
    }

    /// Answers questions in one commit, in their order. What is acknowledged here is durable.
    pub(crate) fn answer(&mut self, asked: Vec<Asked>) -> Vec<Answer> {
        let reading = (self.clock)();
        self.try_again(&reading);
        let mut answers = Vec::with_capacity(asked.len());
        let mut together = Vec::new();
        for one in asked {
            // What may change the policy is judged alone: what comes after it goes by the new one.
            if one.job.changes_policy() {
                answers.extend(self.commit(core::mem::take(&mut together), &reading));
                answers.extend(self.accept(one, &reading));
            } else {
                together.push(one);
            }
        }
        answers.extend(self.commit(together, &reading));
        answers
    }

    /// Keeps the documents, then has the ledger say that they are in force.
    fn accept(&mut self, asked: Asked, reading: &Reading) -> Vec<Answer> {
        if let Job::Record(acts) = &asked.job {
            if let Err(failure) = asked.who.may(actum_core::Asks::AcceptPolicy) {
                return vec![Answer::failed(failure)];
            }
            for act in acts {
                let job::Act::Accept(policy) = act else { continue };
                if let Err(error) = policy.keep(self.store.disk(), self.store.places()) {
                    let failure = Failure::new(FailureCode::Failed, chain(&error));
                    return vec![Answer::failed(failure)];
                }
            }
        }
        let answers = self.commit(vec![asked], reading);
        if let State::Open(ledger) = &self.state {
            (self.policy, self.policy_flaw) = policy_in_force(&self.store, ledger.views());
        }
        answers
    }

    fn commit(&mut self, asked: Vec<Asked>, reading: &Reading) -> Vec<Answer> {
        if asked.is_empty() {
            return Vec::new();
        }
        let count = asked.len();
        let Self { state, policy, cache, times, runs, status, .. } = self;
        let ledger = match state {
            State::Open(ledger) => ledger,
            State::Shut { failure, .. } => {
                let failure = failure.clone();
                return asked.iter().map(|one| self.without_ledger(one, &failure)).collect();
            }
        };
        let before = ledger.views().provenance().decisions().len();
        let desktop = Desktop {
            places: self.store.places(),
            cache,
            policy: policy.as_ref(),
            times,
            now_ms: reading.wall_ms,
            status,
        };
        let done = ledger.together(reading, |sheet| {
            asked.into_iter().map(|one| desktop.draft(sheet, one, runs)).collect::<Vec<_>>()
        });
        let (drafted, kept) = match done {
            Ok(done) => done,
            Err(error) => return self.lost(&error, count, reading),
        };
        self.commits.0 += 1;
        self.commits.1 += count as u64;
        self.seen = Some(*ledger.views().position());
        let new = ledger.views().provenance().decisions().iter().skip(before);
        for (event, _) in new {
            times.insert(*event, reading.wall_ms);
        }
        let answers = drafted.into_iter().map(|(answer, held)| {
            match held {
                Held::Nothing => {}
                // Whoever asked has the decision's number, and ends it by that.
                Held::Decided(answered) => drop((*answered).open(&kept)),
                Held::Began(connection, began) => {
                    if let Ok(actum_core::Done::Began(run)) = began.open(&kept) {
                        runs.insert(run.index(), (connection, run));
                    }
                }
            }
            answer
        });
        answers.collect()
    }

    /// A write failed: the truth is unknown. It is closed, opened again and looked at.
    fn lost(&mut self, error: &CommitError, count: usize, reading: &Reading) -> Vec<Answer> {
        let failure = Failure::new(FailureCode::Failed, chain(error))
            .hint("what was acknowledged is safe; see to the disk or to the file's owner and mode, and try again");
        // Dropped first: it holds the lock.
        self.state = State::Shut { failure: failure.clone(), again_ms: 0 };
        self.runs.clear();
        self.try_again(reading);
        (0..count).map(|_| Answer::failed(failure.clone())).collect()
    }

    fn try_again(&mut self, reading: &Reading) {
        let State::Shut { again_ms, .. } = &self.state else { return };
        // A clock that went back makes nobody wait for ever.
        if (1..=AGAIN_MS).contains(&again_ms.saturating_sub(reading.wall_ms)) {
            return;
        }
        let writer = Writer { reading: *reading, ..self.writer.clone() };
        match self.store.write_after(&writer, self.seen.as_ref()) {
            Ok(ledger) => self.take(ledger),
            Err(error) => {
                let reason = error.reason();
                let failure = Failure {
                    reason: Some(reason.code().to_owned()),
                    ..Failure::new(FailureCode::Refused, chain(&error)).hint(reason.way_out())
                };
                let again_ms = reading.wall_ms.saturating_add(AGAIN_MS);
                self.state = State::Shut { failure, again_ms };
            }
        }
    }

    /// Reading goes on without a ledger that can be believed, and says so; nothing else does.
    fn without_ledger(&self, asked: &Asked, failure: &Failure) -> Answer {
        if let Job::Status = &asked.job {
            let refused = Some(failure.message.clone());
            return Answer::of(Ok(wire::Status { refused, ..self.status.clone() }));
        }
        if let Job::Recall { purpose, .. } = &asked.job {
            return Answer::of(Ok(unverified(*purpose)));
        }
        if let Job::Hello(role) = &asked.job {
            return greet(&self.status, asked.peer, role, None);
        }
        Answer::failed(failure.clone())
    }

    /// Ends calls that were allowed and could not be answered in time.
    pub(crate) fn expire(&mut self, permits: &[u64]) {
        let reading = (self.clock)();
        let State::Open(ledger) = &mut self.state else { return };
        let end = NewCallEnd { outcome: Outcome::TimedOut, result: Digest::plain(b"") };
        let done = ledger.together(&reading, |sheet| {
            for decided in permits {
                if let Some(permit) = sheet.permit_again(*decided) {
                    drop(sheet.end_call(permit, &end));
                }
            }
        });
        match done {
            Ok(_) => self.seen = Some(*ledger.views().position()),
            Err(error) => drop(self.lost(&error, 0, &reading)),
        }
    }

    /// Forgets the runs of a connection that is gone: they stay incomplete.
    pub(crate) fn gone(&mut self, connection: u64) {
        self.runs.retain(|_, (of, _)| *of != connection);
    }

    /// Decisions from an index on, as a stream shows them.
    pub(crate) fn decisions_from(&self, at: usize) -> Vec<wire::Watched> {
        let Some(views) = self.views() else { return Vec::new() };
        let all = views.provenance().decisions();
        let new = all.get(at..).unwrap_or_default();
        let shown = |(event, decided): &(u64, Decided)| {
            let at_ms = self.times.get(event).copied().unwrap_or_default();
            facts::watched(views, *event, decided, at_ms)
        };
        new.iter().map(shown).collect()
    }

    /// How many decisions there are.
    pub(crate) fn decision_count(&self) -> usize {
        self.views().map_or(0, |views| views.provenance().decisions().len())
    }

    /// Commits so far, and the questions that shared them.
    pub(crate) const fn commits(&self) -> (u64, u64) {
        self.commits
    }
}

fn here() -> Peer {
    Peer { uid: crate::socket::own_uid(), may_own: true }
}

/// What is said of an entry that nobody can look up: it is data, and nothing is done on its strength.
pub fn unverified(purpose: Purpose) -> wire::Recalled {
    let code = match purpose {
        Purpose::Reading => DecisionCode::Unverified,
        Purpose::Action => DecisionCode::NotForAction,
    };
    let decision = code.decision();
    let label = (decision == Decision::Label).then(|| label(code));
    wire::Recalled { decision, code, record: None, event: None, label }
}

/// The policy in force; that it cannot be used is the same as none, and is said.
fn policy_in_force<D: Disk>(
    store: &Store<D>,
    views: &Views,
) -> (Option<AcceptedPolicy>, Option<String>) {
    match AcceptedPolicy::in_force(store.disk(), store.places(), views) {
        Ok(policy) => (Some(policy), None),
        Err(PolicyMissing::None) => (None, None),
        Err(missing @ PolicyMissing::Unusable { .. }) => (None, Some(missing.to_string())),
    }
}

fn shut() -> Failure {
    Failure::new(FailureCode::Refused, "the ledger is not open")
}

fn blank(places: &Places, views: &Views) -> wire::Status {
    wire::Status {
        program: concat!("actum ", env!("CARGO_PKG_VERSION")).to_owned(),
        process: std::process::id(),
        uid: crate::socket::own_uid(),
        since_ms: 0,
        ledger: views.keys().ledger().to_string(),
        store: places.store.display().to_string(),
        events: None,
        refused: None,
        policy: None,
        weaker: true,
        connections: 0,
        watchers: 0,
        queue: (0, 0),
        commits: (0, 0),
        turned_away: (0, 0),
        asks: (0, 0),
        waiting: 0,
        quarantine: 0,
        partial: Vec::new(),
    }
}
