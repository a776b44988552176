//! One question at the gate: judged and drafted, with the answer that is given once it is durable.

use std::collections::BTreeMap;
use std::sync::Arc;

use actum_core::{
    Answered, AuthorName, Caller, ChannelName, Decision, DecisionCode, Done, Gate, InForce,
    MemoryRequest, Namespace, NewCall, NewCallEnd, NewEnd, NewEntry, NewFire, NewObservation,
    NewRecall, OpenRun, Owner, Presence, Rejected, Request, Seen, Sheet, Space, Unkept, Views,
    content_digest, label,
};
use actum_store::{AcceptedPolicy, Cache, Places, call_to_json};
use serde::Serialize;
use serde_json::value::RawValue;

use super::facts;
use super::ground::{Claims, not_backed};
use super::inbox::{Shown, of_receipt};
use super::job::{Act, Entry, Job, Observe, memory, named};
use super::things::{Things, chain};
use super::who::{Peer, Who};
use crate::wire::{self, Failure, FailureCode};

/// A question at the gate.
#[derive(Debug)]
pub(crate) struct Asked {
    /// On which connection.
    pub(crate) connection: u64,
    pub(crate) peer: Peer,
    pub(crate) who: Arc<Who>,
    pub(crate) job: Job,
}

/// What becomes of it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) told: Result<Box<RawValue>, Failure>,
    /// Who it was found to be, after a hello.
    pub(crate) who: Option<Who>,
    /// The decision that allowed it, where there is something to end.
    pub(crate) permit: Option<u64>,
    /// It wants decisions from now on.
    pub(crate) watches: bool,
}

impl Answer {
    pub(crate) const fn failed(failure: Failure) -> Self {
        Self { told: Err(failure), who: None, permit: None, watches: false }
    }

    pub(crate) fn of<T: Serialize>(told: Result<T, Failure>) -> Self {
        let told = told.and_then(|told| raw(&told));
        Self { told, who: None, permit: None, watches: false }
    }
}

fn raw<T: Serialize>(told: &T) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(told)
        .map_err(|error| Failure::new(FailureCode::Failed, format!("no JSON says this: {error}")))
}

/// What is taken out once it is durable.
#[derive(Debug)]
pub(crate) enum Held {
    Nothing,
    Decided(Box<Unkept<Result<Answered, Rejected>>>),
    Began(u64, Unkept<Result<Done, Rejected>>),
}

/// Runs that connections are carrying out.
pub(crate) type Runs = BTreeMap<u64, (u64, OpenRun)>;

/// What a question is judged with.
pub(crate) struct Desktop<'a> {
    pub(crate) places: &'a Places,
    pub(crate) cache: &'a Cache,
    pub(crate) policy: Option<&'a AcceptedPolicy>,
    pub(crate) times: &'a BTreeMap<u64, u64>,
    pub(crate) now_ms: u64,
    /// How the daemon is, but for what the ledger says.
    pub(crate) status: &'a wire::Status,
}

impl Desktop<'_> {
    /// Judges and drafts one question.
    pub(crate) fn draft(
        &self,
        sheet: &mut Sheet<'_, '_>,
        asked: Asked,
        runs: &mut Runs,
    ) -> (Answer, Held) {
        let Asked { connection, peer, who, job } = asked;
        let by = who.caller(sheet.views());
        match job {
            Job::Act { session, call, call_id, version, presence } => {
                let is_opened = facts::is_opened(sheet.views(), &session);
                let call_id = call_id.as_deref();
                let new = NewCall { session: session.clone(), call: &call, call_id, version };
                let answered = self.gated(presence, |gate| sheet.act(gate, by, &new));
                self.acted(sheet.views(), &who, (&new, is_opened), answered)
            }
            Job::Fire { entry, text, pins, session } => {
                let pins = pins.iter().map(|(name, text, content)| (&**name, &**text, *content));
                let new = NewFire {
                    namespace: self.namespace(),
                    name: &entry.name,
                    text: &text,
                    content: entry.content,
                    pins: pins.collect(),
                    session: session.clone(),
                };
                let answered = self.gated(Presence::Nobody, |gate| sheet.fire(gate, by, &new));
                let told = match answered.peek() {
                    Ok(answered) => Ok(wire::Fired {
                        decision: answered.judgement.decision(),
                        code: answered.judgement.code,
                        record: answered.judgement.record,
                        event: answered.event,
                        session: answered.opened.map(|_| session.to_string()),
                    }),
                    Err(rejected) => Err(failure_of(rejected)),
                };
                (Answer::of(told), Held::Decided(Box::new(answered)))
            }
            Job::Begin(run) => {
                if let Err(failure) = who.may(actum_core::Asks::Record) {
                    return (Answer::failed(failure), Held::Nothing);
                }
                let began = sheet.request(Request::Begin(*run));
                let told = done(began.peek()).map(|run| wire::Began { run });
                (Answer::of(told), Held::Began(connection, began))
            }
            Job::Finish(finish) => {
                let told = finished(sheet, connection, &finish, runs);
                (Answer::of(told), Held::Nothing)
            }
            Job::Hello(role) => {
                let answer = greet(self.status, peer, &role, Some(sheet.views()));
                (answer, Held::Nothing)
            }
            Job::Open { .. }
            | Job::Observe(_)
            | Job::Remember { .. }
            | Job::Recall { .. }
            | Job::End { .. }
            | Job::Ground { .. }
            | Job::Skip { .. }
            | Job::Inbox
            | Job::Approve { .. }
            | Job::Deny { .. }
            | Job::Keep(_)
            | Job::Record(_)
            | Job::Status
            | Job::Watch => (self.plain(sheet, &who, by, job), Held::Nothing),
        }
    }

    /// Whatever gives no right that has to be taken out.
    fn plain(&self, sheet: &mut Sheet<'_, '_>, who: &Who, by: Caller, job: Job) -> Answer {
        match job {
            Job::Open { start, session } => {
                let request = MemoryRequest::Open { session: session.clone(), start };
                let event = done(sheet.request(memory(by, request)).peek());
                let session = session.to_string();
                Answer::of(event.map(|event| wire::Opened { session, event }))
            }
            Job::Observe(observe) => Answer::of(self.observe(sheet, by, *observe)),
            Job::Remember { session, entry, proven, supersedes } => {
                let entry = self.entry(entry);
                let is_opened = facts::is_opened(sheet.views(), &session);
                let policy = policy_event(sheet.views());
                let request =
                    MemoryRequest::Remember { session, entry, proven, supersedes, policy };
                let event = done(sheet.request(memory(by, request)).peek());
                Answer::of(event.map(|event| remembered(sheet.views(), event, is_opened)))
            }
            Job::Recall { session, entry, text, purpose } => {
                let new = NewRecall {
                    session,
                    namespace: self.namespace(),
                    name: &entry.name,
                    text: &text,
                    content: entry.content,
                    purpose,
                };
                Answer::of(self.recall(sheet, who, by, &new))
            }
            Job::End { permit, outcome, result } => {
                let end = NewCallEnd { outcome, result };
                Answer::of(end_call(sheet, by, permit, &end))
            }
            Job::Ground { step, subject } => {
                Answer::of(self.claims(sheet.views()).told(&step, subject.as_deref()))
            }
            Job::Skip { session, step, subject } => {
                Answer::of(self.skip(sheet, by, &session, &step, subject.as_deref()))
            }
            Job::Inbox => Answer::of(Ok(self.shown(sheet.views()).inbox())),
            Job::Approve { receipt, for_ms } => {
                Answer::of(self.approve(sheet, who, &receipt, for_ms))
            }
            Job::Deny { receipt } => {
                let told = of_receipt(sheet.views(), &receipt).and_then(|(event, _)| {
                    let declined = sheet.decline(by, event);
                    let event = *declined.peek().as_ref().map_err(failure_of)?;
                    Ok(wire::Written { events: vec![event] })
                });
                Answer::of(told)
            }
            Job::Keep(digest) => Answer::of(Ok(wire::Kept { digest })),
            Job::Record(acts) => Answer::of(self.record(sheet, who, by, acts)),
            Job::Status => Answer::of(Ok(self.status(sheet.views(), who))),
            Job::Watch => {
                let from = sheet.views().position().count;
                Answer { watches: true, ..Answer::of(Ok(wire::Watching { from })) }
            }
            Job::Act { .. } | Job::Fire { .. } | Job::Begin(_) | Job::Finish(_) | Job::Hello(_) => {
                Answer::failed(Failure::new(FailureCode::Failed, "it was answered elsewhere"))
            }
        }
    }

    fn namespace(&self) -> Namespace {
        self.policy.map(|policy| policy.policy().namespace().clone()).unwrap_or_default()
    }

    fn entry(&self, entry: Entry) -> NewEntry {
        let Entry { kind, name, content } = entry;
        NewEntry { namespace: self.namespace(), kind, name, content }
    }

    fn gated<T>(&self, presence: Presence, asks: impl FnOnce(&Gate<'_>) -> T) -> T {
        let things = Things { places: self.places, cache: self.cache };
        let force: Option<InForce<'_>> = self.policy.map(AcceptedPolicy::in_force_now);
        asks(&Gate { force, surroundings: &things, presence })
    }

    const fn claims<'v>(&'v self, views: &'v Views) -> Claims<'v> {
        Claims { views, policy: self.policy, places: self.places, now_ms: self.now_ms }
    }

    const fn shown<'v>(&'v self, views: &'v Views) -> Shown<'v> {
        let Self { policy, places, times, now_ms, .. } = *self;
        Shown { views, policy, places, times, now_ms }
    }

    fn acted(
        &self,
        views: &Views,
        who: &Who,
        (new, is_opened): (&NewCall<'_>, bool),
        answered: Unkept<Result<Answered, Rejected>>,
    ) -> (Answer, Held) {
        let call = new.call;
        let answer = match answered.peek() {
            Err(rejected) => Answer::failed(failure_of(rejected)),
            Ok(it) => {
                let session = views.number(Space::Session, new.session.as_str().as_bytes());
                let session = (session, is_opened);
                let mut told = facts::acted(views, self.policy, call, it, session, self.now_ms);
                let permit = told.permit;
                let told = match (&told.receipt, who.reads()) {
                    // What the owner will be shown. A call that cannot be kept cannot be approved, and nothing else changes.
                    (Some(_), _) => self.keep_call(call).map(|()| told),
                    (None, true) => Ok(told),
                    (None, false) => {
                        told.detail = None;
                        Ok(told)
                    }
                };
                Answer { permit, ..Answer::of(told) }
            }
        };
        (answer, Held::Decided(Box::new(answered)))
    }

    fn keep_call(&self, call: &actum_core::Call) -> Result<(), Failure> {
        let kept = self.cache.keep_call(&call.digest(), &call_to_json(call));
        kept.map_err(|error| Failure::new(FailureCode::Failed, chain(&error)))
    }

    fn observe(
        &self,
        sheet: &mut Sheet<'_, '_>,
        by: Caller,
        observe: Observe,
    ) -> Result<wire::Observed, Failure> {
        let Observe { session, seen, channel, author, content, entry, answers, carries } = observe;
        let entry = entry.map(|name| (self.namespace(), name));
        let answers = answers.as_ref();
        let shown = channel.to_string();
        let new =
            NewObservation { session, seen, channel, author, content, entry, answers, carries };
        let event = self.gated(Presence::Nobody, |gate| sheet.observe(gate, by, &new));
        let event = *event.peek().as_ref().map_err(failure_of)?;
        let authority = facts::standing(sheet.views(), event);
        let authority = authority.unwrap_or(actum_core::Authority::Untrusted);
        Ok(wire::Observed { event, seen, channel: shown, authority, content })
    }

    fn recall(
        &self,
        sheet: &mut Sheet<'_, '_>,
        who: &Who,
        by: Caller,
        new: &NewRecall<'_>,
    ) -> Result<wire::Recalled, Failure> {
        let answered = self.gated(Presence::Nobody, |gate| sheet.recall(gate, by, new));
        let answered = answered.peek().as_ref().map_err(failure_of)?;
        let (code, record, event) =
            (answered.judgement.code, answered.judgement.record, answered.event);
        let decision = code.decision();
        match decision {
            Decision::Allow | Decision::Label => self.seen(sheet, who, by, new)?,
            Decision::Quarantine => self.keep_withheld(sheet.views(), event, new.text),
            Decision::Ask | Decision::Deny => {}
        }
        let label = (decision == Decision::Label).then(|| label(code));
        Ok(wire::Recalled { decision, code, record, event, label })
    }

    /// What is recalled in a session is seen there, whoever asked: that it was served is this program's own observation.
    fn seen(
        &self,
        sheet: &mut Sheet<'_, '_>,
        who: &Who,
        by: Caller,
        new: &NewRecall<'_>,
    ) -> Result<(), Failure> {
        let Some(session) = new.session.clone() else { return Ok(()) };
        let by = match who.kind() {
            actum_core::CallerKind::Agent => Caller::Owner(Owner::Code),
            actum_core::CallerKind::Owner | actum_core::CallerKind::Adapter => by,
        };
        let kept = self.cache.keep(new.text);
        let observation = NewObservation {
            session,
            seen: Seen::Recalled,
            channel: named(ChannelName::new("file:memory"))?,
            author: named(AuthorName::new("memory"))?,
            content: kept.map_err(|error| Failure::new(FailureCode::Failed, chain(&error)))?,
            entry: Some((new.namespace.clone(), new.name.to_owned())),
            answers: None,
            carries: None,
        };
        let event = self.gated(Presence::Nobody, |gate| sheet.observe(gate, by, &observation));
        event.peek().as_ref().map(|_| ()).map_err(failure_of)
    }

    /// Keeps what is held, so that its owner can be shown it. Nothing else is kept: what is asked for again and again under the
    /// name of something held would fill the disk.
    fn keep_withheld(&self, views: &Views, event: Option<u64>, text: &str) {
        let held = event.and_then(|event| views.provenance().held_at(event));
        if held.is_some_and(|held| held.content == content_digest(text)) {
            // It is withheld all the same where it cannot be kept.
            drop(self.cache.keep(text));
        }
    }

    fn skip(
        &self,
        sheet: &mut Sheet<'_, '_>,
        by: Caller,
        session: &actum_core::SessionName,
        step: &str,
        subject: Option<&str>,
    ) -> Result<wire::Skipped, Failure> {
        let grounded = self.claims(sheet.views()).told(step, subject)?;
        if grounded.answer != actum_core::Answer::Grounded {
            return Ok(wire::Skipped { grounded, event: None });
        }
        let policy = self.policy.ok_or_else(not_backed)?;
        let settled = self.claims(sheet.views()).settle(policy, step, subject)?;
        let settled = settled.map_err(|_unreadable| not_backed())?;
        let skipped = sheet.skip(by, session, &settled.question());
        let (_, event) = skipped.peek().as_ref().map_err(failure_of)?;
        let event = Some(event.ok_or_else(not_backed)?);
        Ok(wire::Skipped { grounded, event })
    }

    fn approve(
        &self,
        sheet: &mut Sheet<'_, '_>,
        who: &Who,
        receipt: &str,
        for_ms: u64,
    ) -> Result<wire::Approved, Failure> {
        let owner = owned(who, actum_core::Asks::Approve)?;
        let (event, decided) = of_receipt(sheet.views(), receipt)?;
        let until_ms = self.now_ms.max(sheet.views().time_ms()).saturating_add(for_ms);
        let request = MemoryRequest::Approve { receipt: event, call: decided.call, until_ms };
        let event = done(sheet.request(memory(Caller::Owner(owner), request)).peek())?;
        let session = facts::name_of(sheet.views(), Space::Session, decided.session);
        Ok(wire::Approved { event, session, until_ms, owner })
    }

    fn record(
        &self,
        sheet: &mut Sheet<'_, '_>,
        who: &Who,
        by: Caller,
        acts: Vec<Act>,
    ) -> Result<wire::Written, Failure> {
        let owner = owned(who, actum_core::Asks::Grant)?;
        let now_ms = self.now_ms.max(sheet.views().time_ms());
        let policy = policy_event(sheet.views());
        let mut events = Vec::new();
        let mut wrong = None;
        for act in acts {
            let request = match act {
                Act::Memory(MemoryRequest::Adopt { entry, releases, .. }) => {
                    memory(by, MemoryRequest::Adopt { entry, releases, policy })
                }
                Act::Memory(MemoryRequest::Grant(mut mandate)) => {
                    if mandate.from_ms == 0 {
                        mandate.from_ms = now_ms;
                    }
                    memory(by, MemoryRequest::Grant(mandate))
                }
                Act::Memory(request) => memory(by, request),
                Act::RevokeRun { run, reason } => Request::Revoke { run, reason, owner },
                Act::ResolveClock => Request::ResolveClock { owner },
                Act::Accept(policy) => Request::Accept { policy: policy.digest(), owner },
            };
            match done(sheet.request(request).peek()) {
                Ok(event) => events.push(event),
                Err(failure) => wrong = wrong.or(Some(failure)),
            }
        }
        wrong.map_or(Ok(wire::Written { events }), Err)
    }

    fn status(&self, views: &Views, who: &Who) -> wire::Status {
        let provenance = views.provenance();
        // The id of a session lets an agent speak in it, so agents are told none.
        let partial = if who.reads() { facts::partial_sessions(views) } else { Vec::new() };
        wire::Status {
            events: Some(views.position().count),
            policy: policy_event(views),
            asks: facts::asked_in_all(views),
            waiting: provenance.pending().count(),
            quarantine: provenance.unreleased(),
            partial,
            ..self.status.clone()
        }
    }
}

/// What a peer is told first.
pub(crate) fn greet(
    status: &wire::Status,
    peer: Peer,
    role: &wire::Role,
    views: Option<&Views>,
) -> Answer {
    let who = match Who::admit(peer, role, views) {
        Ok(who) => who,
        Err(failure) => return Answer::failed(failure),
    };
    let told = wire::Welcome {
        version: wire::VERSION,
        program: status.program.clone(),
        ledger: status.ledger.clone(),
        you: who.kind().word().to_owned(),
        uid: peer.uid,
        weaker: status.weaker,
    };
    Answer { who: Some(who), ..Answer::of(Ok(told)) }
}

fn owned(who: &Who, asked: actum_core::Asks) -> Result<Owner, Failure> {
    who.may(asked)?;
    let no_owner = || Failure::new(FailureCode::NotAllowed, "only the owner may do that");
    who.owned().ok_or_else(no_owner)
}

fn policy_event(views: &Views) -> Option<u64> {
    views.policy().map(|accepted| accepted.event)
}

fn remembered(views: &Views, event: u64, is_opened: bool) -> wire::Remembered {
    if let Some(held) = views.provenance().held_at(event) {
        let code = DecisionCode::from_number(held.reason);
        return wire::Remembered { event, record: None, authority: None, code, is_opened };
    }
    let authority = facts::standing(views, event);
    wire::Remembered { event, record: Some(event), authority, code: None, is_opened }
}

fn end_call(
    sheet: &mut Sheet<'_, '_>,
    by: Caller,
    decided: u64,
    end: &NewCallEnd,
) -> Result<wire::Ended, Failure> {
    let views = sheet.views();
    let known = views.provenance().decision(decided).map(|(_, it)| it.session);
    let session = known.and_then(|it| views.provenance().session(it));
    let is_own = session.is_some_and(|session| match by {
        Caller::Owner(_) => true,
        Caller::Adapter(adapter) => session.adapter == Some(adapter),
        Caller::Agent(_) => false,
    });
    let permit = sheet.permit_again(decided).filter(|_| is_own);
    let permit = permit.ok_or_else(|| {
        let said = format!("event {decided} is no call of yours that is going on");
        Failure::new(FailureCode::Usage, said)
            .hint("`actum act` prints the number of a call that it allows; each ends once")
    })?;
    let events = sheet.end_call(permit, end);
    let events = events.peek().as_ref().map_err(failure_of)?.clone();
    Ok(wire::Ended { events })
}

fn finished(
    sheet: &mut Sheet<'_, '_>,
    connection: u64,
    finish: &wire::Finish,
    runs: &mut Runs,
) -> Result<wire::Finished, Failure> {
    let wire::Finish { run, outcome, code, result, content } = *finish;
    let own = runs.get(&run).is_some_and(|(of, _)| *of == connection);
    let open = runs.remove(&run).filter(|_| own);
    let (_, open) = open.ok_or_else(|| failure_of(&Rejected::NotOpen { run }))?;
    let done = sheet.request(Request::End(NewEnd { run: open, outcome, code, result, content }));
    match done.peek() {
        Ok(Done::Ended { event, outcome }) => {
            Ok(wire::Finished { event: *event, outcome: *outcome })
        }
        Ok(Done::Event(_) | Done::Began(_)) => Err(failure_of(&Rejected::NotOpen { run })),
        Err(rejected) => Err(failure_of(rejected)),
    }
}

fn done(done: &Result<Done, Rejected>) -> Result<u64, Failure> {
    match done {
        Ok(Done::Event(event) | Done::Ended { event, .. }) => Ok(*event),
        Ok(Done::Began(run)) => Ok(run.index()),
        Err(rejected) => Err(failure_of(rejected)),
    }
}

pub(crate) fn failure_of(rejected: &Rejected) -> Failure {
    let not_theirs = matches!(rejected, Rejected::NotAllowed(_) | Rejected::NotOwner);
    let code = if not_theirs { FailureCode::NotAllowed } else { FailureCode::Rejected };
    Failure::new(code, rejected.to_string())
}
