//! The port of a guard that asks the ledger itself: opened for each question, so that others come to it in between, or held open
//! by one process alone.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use actum_core::policy::{ToolClass, ToolRule};
use actum_core::{
    APPROVAL_MS_MAX, ArgumentName, AuthorName, Caller, ChannelName, CommitError, Content, Decision,
    Digest, EntryKind, Gate, ItemKind, Journal, Judged, Ledger, LimitKind, MemoryRequest,
    NewAudience, NewCall, NewCallEnd, NewEntry, NewLimit, NewMandate, NewObservation, NewRecall,
    NewStart, Outcome, Owner, Permit, Presence, Purpose, Reading, Request, SessionName, Space,
    SubjectName, Surroundings, ToolName, Value, Views, content_digest, hex,
};
use actum_store::{
    AcceptedPolicy, Cache, CacheError, FileJournal, Places, RealDisk, Store, Writer, call_to_json,
    random, read_clocks,
};
use zeroize::Zeroizing;

use super::pool::lock;
use super::port::{
    Ask, Consent, Held, Listed, Observation, Pin, Port, PortError, Receipt, Ruling, Sight, Terms,
    Traced,
};
use crate::desk::{leads_to, subject_now};

/// How long a mandate holds that was granted on the way.
const MANDATE_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// How often it can be used.
const MANDATE_USES: u32 = 20;
/// How long a consent to one call holds.
const CONSENT_MS: u64 = 10 * 60 * 1000;

/// Where a ledger can be asked.
pub trait Desk: Send + Sync + fmt::Debug {
    /// Where its events go.
    type Kept: Journal;

    /// Does some work at the ledger, alone, with the policy in force.
    ///
    /// # Errors
    /// [`PortError`] if the ledger cannot be had.
    fn at<R>(
        &self,
        work: impl FnOnce(&mut Ledger<Self::Kept>, Option<&AcceptedPolicy>, &Reading) -> R,
    ) -> Result<R, PortError>;
}

/// A ledger that is opened for each question.
#[derive(Debug, Clone)]
pub struct Opened {
    store: Store,
}

impl Opened {
    /// The ledger of this store.
    pub const fn new(store: Store) -> Self {
        Self { store }
    }
}

impl Desk for Opened {
    type Kept = FileJournal<RealDisk>;

    fn at<R>(
        &self,
        work: impl FnOnce(&mut Ledger<Self::Kept>, Option<&AcceptedPolicy>, &Reading) -> R,
    ) -> Result<R, PortError> {
        let writer = Writer {
            holder: format!("`actum guard` (process {})", std::process::id()),
            patience: actum_store::PATIENCE,
            reading: read_clocks(),
        };
        let mut ledger = self.store.write(&writer).map_err(|error| PortError::of(&error))?;
        // A policy that cannot be used is the same as none: nothing but what needs none is allowed.
        let policy = AcceptedPolicy::in_force(&RealDisk, self.store.places(), ledger.views()).ok();
        Ok(work(&mut ledger, policy.as_ref(), &writer.reading))
    }
}

/// A ledger that one process holds open, with its policy and clock.
pub struct HeldOpen<J> {
    ledger: Mutex<Ledger<J>>,
    policy: Option<AcceptedPolicy>,
    clock: fn() -> Reading,
}

impl<J> fmt::Debug for HeldOpen<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldOpen").finish_non_exhaustive()
    }
}

impl<J: Journal> HeldOpen<J> {
    /// This ledger under this policy.
    pub const fn new(
        ledger: Ledger<J>,
        policy: Option<AcceptedPolicy>,
        clock: fn() -> Reading,
    ) -> Self {
        Self { ledger: Mutex::new(ledger), policy, clock }
    }
}

impl<J: Journal + Send> Desk for HeldOpen<J> {
    type Kept = J;

    fn at<R>(
        &self,
        work: impl FnOnce(&mut Ledger<J>, Option<&AcceptedPolicy>, &Reading) -> R,
    ) -> Result<R, PortError> {
        // A ledger in the middle of which somebody panicked has closed itself, or is as it was.
        let mut ledger = lock(&self.ledger);
        Ok(work(&mut ledger, self.policy.as_ref(), &(self.clock)()))
    }
}

/// Who asks.
#[derive(Clone)]
pub enum Who {
    /// The owner, and how that was known.
    Owner(Owner),
    /// An adapter, with its credential.
    Adapter {
        /// Its name.
        name: String,
        /// What only it has.
        credential: Zeroizing<Vec<u8>>,
    },
}

impl fmt::Debug for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(owner) => f.debug_tuple("Owner").field(owner).finish(),
            Self::Adapter { name, .. } => {
                f.debug_struct("Adapter").field("name", name).finish_non_exhaustive()
            }
        }
    }
}

impl Who {
    fn caller(&self, views: &Views) -> Result<Caller, PortError> {
        match self {
            Self::Owner(owner) => Ok(Caller::Owner(*owner)),
            Self::Adapter { name, credential } => {
                let number = views.number(Space::Adapter, name.as_bytes());
                let known = number.filter(|number| {
                    let adapter = views.provenance().adapter(*number);
                    adapter.is_some_and(|adapter| adapter.is_credential(credential))
                });
                let what = format!("adapter {name} is not known by this credential");
                known.map(Caller::Adapter).ok_or(PortError { what })
            }
        }
    }
}

/// The port on a ledger of this process.
#[derive(Debug)]
pub struct Own<D> {
    desk: D,
    who: Who,
    things: Things,
}

impl<D: Desk> Own<D> {
    /// Asks at this desk, as this caller, about this project.
    pub fn new(desk: D, who: Who, places: &Places) -> Self {
        Self {
            desk,
            who,
            things: Things {
                cache: Cache::of(places),
                places: places.clone(),
                kept: Mutex::default(),
            },
        }
    }

    /// Whether the ledger can be asked, by this caller.
    ///
    /// # Errors
    /// [`PortError`].
    pub fn ready(&self) -> Result<(), PortError> {
        self.ask(Presence::Nobody, |_ledger, _gate, _by, _reading| Ok(()))
    }

    fn ask<R>(
        &self,
        presence: Presence,
        work: impl FnOnce(&mut Ledger<D::Kept>, &Gate<'_>, Caller, &Reading) -> Result<R, PortError>,
    ) -> Result<R, PortError> {
        self.desk.at(|ledger, policy, reading| {
            let by = self.who.caller(ledger.views())?;
            let force = policy.map(AcceptedPolicy::in_force_now);
            let gate = Gate { force, surroundings: &self.things, presence };
            work(ledger, &gate, by, reading)
        })?
    }
}

fn commit(error: CommitError) -> PortError {
    PortError::of(&error)
}

fn cache(error: CacheError) -> PortError {
    PortError::of(&error)
}

fn said(error: impl fmt::Display) -> PortError {
    PortError { what: error.to_string() }
}

impl<D: Desk> Port for Own<D> {
    fn open(&self, sight: Sight) -> Result<SessionName, PortError> {
        let bytes = random::<8>().map_err(|error| PortError::of(&error))?;
        let session = SessionName::new(&format!("g-{}", hex(&*bytes))).map_err(said)?;
        let start = match sight {
            Sight::Partial => NewStart::Partial,
            Sight::Interactive => NewStart::Interactive,
        };
        self.ask(Presence::Nobody, |ledger, _gate, by, reading| {
            let request = MemoryRequest::Open { session: session.clone(), start };
            ledger.record(Request::Memory { by, request }, reading).map_err(commit)
        })?;
        Ok(session)
    }

    fn observe(&self, session: &SessionName, seen: &Observation<'_>) -> Result<(), PortError> {
        let channel = ChannelName::new(seen.channel).map_err(said)?;
        let author = AuthorName::new(seen.author).map_err(said)?;
        let contents = seen.texts.iter().map(|text| self.things.keep(text));
        let contents: Vec<Digest> = contents.collect::<Result<_, _>>().map_err(cache)?;
        self.ask(Presence::Nobody, |ledger, gate, by, reading| {
            for content in contents {
                let new = NewObservation {
                    session: session.clone(),
                    seen: seen.seen,
                    channel: channel.clone(),
                    author: author.clone(),
                    content,
                    entry: None,
                    answers: seen.answers,
                    carries: None,
                };
                ledger.observe(gate, by, &new, reading).map_err(commit)?;
            }
            Ok(())
        })
    }

    fn act(&self, session: &SessionName, ask: &Ask<'_>) -> Result<Ruling, PortError> {
        let answered = self.ask(ask.presence, |ledger, gate, by, reading| {
            let new = NewCall {
                session: session.clone(),
                call: ask.call,
                call_id: Some(ask.call_id),
                version: ask.version,
            };
            ledger.act(gate, by, &new, reading).map_err(commit)
        })?;
        let judgement = &answered.judgement;
        let digest = ask.call.digest();
        let mut receipt = None;
        if judgement.has_receipt() {
            // What the owner will be shown. If it cannot be kept the call cannot be approved, and nothing else changes.
            self.things.cache.keep_call(&digest, &call_to_json(ask.call)).map_err(cache)?;
            receipt = answered.event.map(|event| Receipt::of(event, &digest));
        }
        // A call that was answered before gets no second permit.
        let is_spent = judgement.decision() == Decision::Allow && answered.permit.is_none();
        Ok(Ruling {
            decision: if is_spent { Decision::Deny } else { judgement.decision() },
            code: judgement.code.code().to_owned(),
            told: if is_spent {
                "Refused (repeated). This call was answered before; call anew.".to_owned()
            } else {
                judgement.for_agent()
            },
            way_out: judgement.code.way_out().to_owned(),
            receipt,
            perform: judgement.missing.as_ref().and_then(|missing| missing.perform.clone()),
            arguments: judgement.arguments.iter().map(traced).collect(),
            permit: answered.permit.as_ref().and_then(Permit::decided),
        })
    }

    fn end(&self, permit: u64, outcome: Outcome, result: Digest) -> Result<(), PortError> {
        self.ask(Presence::Nobody, |ledger, _gate, _by, reading| {
            let what = format!("call {permit} is not going on");
            let right = ledger.permit_again(permit).ok_or(PortError { what })?;
            ledger.end_call(right, &NewCallEnd { outcome, result }, reading).map_err(commit)?;
            Ok(())
        })
    }

    fn terms(&self, tool: &str, server: &str, client: Option<&str>) -> Result<Terms, PortError> {
        self.desk.at(|_ledger, policy, _reading| {
            let Some(policy) = policy.map(AcceptedPolicy::policy) else { return Terms::default() };
            let rule = ToolName::new(tool).ok().map(|tool| policy.tool(&tool));
            Terms {
                listed: rule.map_or(Listed::Nowhere, listed),
                trusts_hints: policy.trusts_hints_of(server),
                owner_answers: client.is_some_and(|client| policy.asks_owner_through(client)),
            }
        })
    }

    fn pin(&self, session: &SessionName, name: &str, definition: &str) -> Result<Pin, PortError> {
        let content = self.things.keep(definition).map_err(cache)?;
        let (event, before) = self.ask(Presence::Nobody, |ledger, gate, by, reading| {
            let namespace =
                gate.force.map(|force| force.policy.namespace().clone()).unwrap_or_default();
            let views = ledger.views();
            let number = views.number(Space::Namespace, namespace.as_str().as_bytes());
            let known = number.and_then(|number| views.record_of(number, name));
            let Some(known) = known else {
                let policy = views.policy().map(|accepted| accepted.event);
                let kind = EntryKind::Memory;
                let entry = NewEntry { namespace, kind, name: name.to_owned(), content };
                let session = session.clone();
                let request = MemoryRequest::Remember {
                    session,
                    entry,
                    proven: None,
                    supersedes: None,
                    policy,
                };
                ledger.record(Request::Memory { by, request }, reading).map_err(commit)?;
                return Ok((None, None));
            };
            let is_entry = matches!(known.what, ItemKind::Entry { .. });
            if is_entry && known.content == content && known.withheld.is_none() {
                return Ok((None, None));
            }
            let before = known.content;
            let (session, purpose) = (Some(session.clone()), Purpose::Reading);
            let new = NewRecall { session, namespace, name, text: definition, content, purpose };
            let answered = ledger.recall(gate, by, &new, reading).map_err(commit)?;
            Ok((answered.event, Some(before)))
        })?;
        let Some(before) = before else { return Ok(Pin::Known) };
        let before = self.things.cache.read(&before).ok().flatten();
        Ok(Pin::Held { event, before })
    }

    fn consent(
        &self,
        session: &SessionName,
        client: &str,
        held: &Held<'_>,
        consent: Consent,
    ) -> Result<(), PortError> {
        self.ask(Presence::Nobody, |ledger, gate, _by, reading| {
            let counts = gate.force.is_some_and(|force| force.policy.asks_owner_through(client));
            if !counts {
                let what = format!("the policy does not list the client {client}");
                return Err(PortError { what });
            }
            let by = Caller::Owner(Owner::Client);
            let now_ms = reading.wall_ms.max(ledger.views().time_ms());
            let request = match consent {
                Consent::Once => MemoryRequest::Approve {
                    receipt: held.receipt.event,
                    call: held.call.digest(),
                    until_ms: now_ms
                        .saturating_add(CONSENT_MS)
                        .min(reading.wall_ms.saturating_add(APPROVAL_MS_MAX)),
                },
                Consent::Mandate => {
                    let audience = match &self.who {
                        Who::Adapter { name, .. } => NewAudience::Adapter(name.clone()),
                        Who::Owner(_) => NewAudience::Session(session.clone()),
                    };
                    MemoryRequest::Grant(Box::new(mandate(held, audience, now_ms)?))
                }
            };
            ledger.record(Request::Memory { by, request }, reading).map_err(commit)?;
            Ok(())
        })
    }
}

fn listed(rule: &ToolRule) -> Listed {
    match (rule.listed(), rule.class()) {
        (false, _) => Listed::Nowhere,
        (true, ToolClass::Read) => Listed::Reads,
        (true, ToolClass::Fetch | ToolClass::Effect) => Listed::Judged,
    }
}

fn traced(judged: &Judged) -> Traced {
    Traced {
        argument: judged.argument.clone(),
        value: judged.shown(),
        authority: judged.authority,
        reason: judged.origin.reason.to_string(),
    }
}

/// The mandate that is offered beside one call: the same binding arguments, again.
fn mandate(held: &Held<'_>, audience: NewAudience, now_ms: u64) -> Result<NewMandate, PortError> {
    let mut limits: Vec<NewLimit> = Vec::new();
    for traced in held.binding {
        let Ok(argument) = ArgumentName::new(&traced.argument) else { continue };
        if limits.iter().any(|limit| limit.argument == argument) {
            continue;
        }
        let value = match held.call.argument(&traced.argument) {
            Some(Value::Text(text)) => text.clone(),
            Some(Value::Number(number)) => number.as_str().to_owned(),
            Some(Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_)) | None => {
                let what = format!("no mandate can fix the argument {}", traced.argument);
                return Err(PortError { what });
            }
        };
        limits.push(NewLimit { argument, kind: LimitKind::Equal, values: vec![value] });
    }
    if limits.is_empty() {
        return Err(PortError {
            what: "nothing in the call binds, so no mandate can fix it".to_owned(),
        });
    }
    Ok(NewMandate {
        tool: ToolName::new(held.call.tool()).map_err(said)?,
        audience,
        from_ms: now_ms,
        until_ms: now_ms.saturating_add(MANDATE_MS),
        uses: MANDATE_USES,
        budget: None,
        limits,
        parent: None,
    })
}

/// What the gate asks of this machine.
#[derive(Debug)]
struct Things {
    cache: Cache,
    places: Places,
    kept: Mutex<Kept>,
}

/// Bytes of texts that are held beside the cache on disk: every call looks through its whole context.
const KEPT_MAX: usize = 32 << 20;

/// Texts that were read, or kept, under the very digests that they have.
#[derive(Debug, Default)]
struct Kept {
    texts: BTreeMap<Digest, Arc<str>>,
    bytes: usize,
}

impl Kept {
    fn take(&mut self, digest: Digest, text: &str) {
        if self.bytes + text.len() > KEPT_MAX {
            // What is needed is read again.
            *self = Self::default();
        }
        if self.texts.insert(digest, text.into()).is_none() {
            self.bytes += text.len();
        }
    }
}

impl Things {
    fn keep(&self, text: &str) -> Result<Digest, CacheError> {
        let digest = content_digest(text);
        if lock(&self.kept).texts.contains_key(&digest) {
            // It was written before, or read.
            return Ok(digest);
        }
        let digest = self.cache.keep(text)?;
        lock(&self.kept).take(digest, text);
        Ok(digest)
    }
}

impl Surroundings for Things {
    fn content(&self, digest: &Digest) -> Content<'_> {
        if let Some(text) = lock(&self.kept).texts.get(digest) {
            return Content::Known(Cow::Owned(text.to_string()));
        }
        match self.cache.read(digest) {
            Ok(Some(text)) => {
                lock(&self.kept).take(*digest, &text);
                Content::Known(Cow::Owned(text))
            }
            Ok(None) => Content::Missing,
            // Whatever else is wrong with it, it is not the text.
            Err(_) => Content::Edited,
        }
    }

    fn subject(&self, name: &SubjectName) -> Result<Digest, String> {
        subject_now(&self.places, name).map(|taken| taken.digest)
    }

    fn leads_to(&self, path: &str) -> Option<String> {
        leads_to(&self.places, path)
    }
}
