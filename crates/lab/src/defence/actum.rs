//! Actum as it is shipped: the ledger, the gate and, where its bytes will be changed, the store of `actum-core` and `actum-store`,
//! asked as an adapter asks them. Nothing is decided here. Without a rule it is core's `Ablated`.

use core::time::Duration;
use std::borrow::Cow;
use std::collections::BTreeMap;

use actum_core::policy::{ChannelPattern, Policy, Step};
use actum_core::{
    APPROVAL_MS_MAX, Ablated, ArgumentName, AuthorName, Call, Caller, ChannelName, CommitError,
    Content, Decision, Digest, Done, Gate, InForce, Judgement, KeyFile, Keyring, Ledger, LedgerId,
    LimitKind, MemoryRequest, NewAudience, NewCall, NewCallEnd, NewEntry, NewFire, NewLimit,
    NewMandate, NewObservation, NewRecall, NewStart, Outcome, Owner, Permit, Presence, Purpose,
    Question, Reading, Request, Root, Rule, Seen, SessionName, Skip, Space, StepName, SubjectKind,
    SubjectName, Surroundings, ToolName, Value, Views, content_digest, content_of, label, skip,
};

use super::on_disk::OnDisk;
use super::{
    Defence, DefenceError, Ended, Entry, Grant, GrantLimit, Mandate, Meddle, Ruling, Served, Setup,
    StepSpec, Within, Worked, text_of,
};
use crate::segment::Segment;

/// The adapter that sees everything.
const HOOK: &str = "hook";
/// What it may name.
const CHANNELS: &[&str] = &[
    "user",
    "paste",
    "api",
    "system",
    "inbound:*",
    "schedule:*",
    "file:*",
    "web:*",
    "mail:*",
    "mcp:*",
    "exec:*",
    "repo:*",
];
/// What recalled entries come through.
const MEMORY: &str = "file:MEMORY.md";
const OWNER: Caller = Caller::Owner(Owner::Terminal);
pub(super) const START_MS: u64 = 1_800_000_000_000;
/// How long mandates hold here, and how often.
const MANDATE_MS: u64 = 365 * 24 * 60 * 60 * 1000;
const MANDATE_USES: u32 = 10_000;
/// Nothing was settled at acceptance: the steps here are tools.
static NO_COMMANDS: BTreeMap<StepName, Digest> = BTreeMap::new();

/// Actum, asked as an adapter asks it.
#[derive(Debug)]
pub struct Actum {
    name: String,
    engine: Engine,
    /// Whether a call needs its steps: without that rule there is nothing to skip.
    requires_steps: bool,
    policy: Policy,
    texts: Texts,
    steps: Vec<StepSpec>,
    attended: bool,
    now_ms: u64,
    sessions: u32,
    session: Option<SessionName>,
    permits: Vec<Permit>,
    /// The events of what was written down, by name.
    records: BTreeMap<String, u64>,
    /// The decision that the owner was last asked about, and its call.
    receipt: Option<(u64, Digest)>,
}

/// What keeps the events.
#[derive(Debug)]
enum Engine {
    Memory(Ledger<Segment>),
    Ablated(Ablated<Segment>),
    Disk(Box<OnDisk>),
}

/// What the ledger has only digests of.
#[derive(Debug, Default)]
struct Texts(BTreeMap<Digest, String>);

impl Surroundings for Texts {
    fn content(&self, digest: &Digest) -> Content<'_> {
        let known = self.0.get(digest);
        known.map_or(Content::Missing, |text| Content::Known(Cow::Borrowed(text)))
    }

    fn subject(&self, _subject: &SubjectName) -> Result<Digest, String> {
        Err("the steps here are tools".to_owned())
    }
}

impl Actum {
    /// The shipped code path.
    ///
    /// # Errors
    /// [`DefenceError`] if the policy cannot be read or the store not made.
    pub fn shipped(setup: &Setup) -> Worked<Self> {
        let fail = |what: String| DefenceError { defence: "actum".to_owned(), what };
        let engine = if setup.on_disk {
            Engine::Disk(Box::new(OnDisk::create().map_err(fail)?))
        } else {
            let made = Ledger::create(keys(7), Segment::default(), &Reading::wall(START_MS));
            Engine::Memory(made.map_err(|error| fail(error.to_string()))?)
        };
        Self::on(engine, "actum", setup)
    }

    /// The same without these rules.
    ///
    /// # Errors
    /// As [`Actum::shipped`].
    pub fn without(rules: &[Rule], name: &str, setup: &Setup) -> Worked<Self> {
        let made = Ablated::create(rules, keys(7), Segment::default(), &Reading::wall(START_MS));
        let fail =
            |error: CommitError| DefenceError { defence: name.to_owned(), what: error.to_string() };
        let mut actum = Self::on(Engine::Ablated(made.map_err(fail)?), name, setup)?;
        actum.requires_steps = !rules.contains(&Rule::Obligation);
        Ok(actum)
    }

    fn on(engine: Engine, name: &str, setup: &Setup) -> Worked<Self> {
        let policy = Policy::parse(&setup.policy);
        let policy = policy
            .map_err(|error| DefenceError { defence: name.to_owned(), what: error.to_string() })?;
        let mut actum = Self {
            name: name.to_owned(),
            engine,
            requires_steps: true,
            policy,
            texts: Texts::default(),
            steps: setup.steps.clone(),
            attended: setup.attended,
            now_ms: START_MS,
            sessions: 0,
            session: None,
            permits: Vec::new(),
            records: BTreeMap::new(),
            receipt: None,
        };
        let channels = CHANNELS.iter().filter_map(|text| ChannelPattern::read(text)).collect();
        let (adapter, credential) = (HOOK.to_owned(), Digest::plain(HOOK.as_bytes()));
        let done = actum.request(OWNER, MemoryRequest::Enrol { adapter, credential, channels })?;
        done.map_err(|why| actum.broken(why))?;
        for mandate in &setup.mandates {
            actum.grant(mandate)?;
        }
        Ok(actum)
    }

    /// The owner allows calls of whatever the hook sees, with these values and no others.
    fn grant(&mut self, mandate: &Mandate) -> Worked<()> {
        let equal = |(argument, value): (&String, &String)| GrantLimit {
            argument: argument.clone(),
            kind: Within::Equal,
            values: vec![value.clone()],
        };
        let limits = mandate.equal.iter().map(equal).collect();
        self.allow(&Grant { tool: mandate.tool.clone(), task: None, uses: MANDATE_USES, limits })
    }

    fn broken(&self, what: impl Into<String>) -> DefenceError {
        DefenceError { defence: self.name.clone(), what: what.into() }
    }

    fn reading(&mut self) -> Reading {
        self.now_ms += 1;
        Reading::wall(self.now_ms)
    }

    fn views(&self) -> Option<&Views> {
        match &self.engine {
            Engine::Memory(ledger) => Some(ledger.views()),
            Engine::Ablated(ledger) => Some(ledger.views()),
            Engine::Disk(disk) => disk.ledger.as_ref().map(Ledger::views),
        }
    }

    /// Why the store may not be believed: an error is never a yes.
    fn refused(&self) -> Option<String> {
        match &self.engine {
            Engine::Disk(disk) => disk.refused.clone(),
            Engine::Memory(_) | Engine::Ablated(_) => None,
        }
    }

    fn number(&self, space: Space, name: &str) -> u32 {
        let number = self.views().and_then(|views| views.number(space, name.as_bytes()));
        number.unwrap_or(u32::MAX)
    }

    fn hook(&self) -> Caller {
        Caller::Adapter(self.number(Space::Adapter, HOOK))
    }

    fn text(&mut self, text: &str) -> Digest {
        let digest = content_digest(text);
        self.texts.0.entry(digest).or_insert_with(|| text.to_owned());
        digest
    }

    /// Carries out a request; the inner error is a refusal of it.
    fn request(&mut self, by: Caller, request: MemoryRequest) -> Worked<Result<u64, String>> {
        let reading = self.reading();
        let request = Request::Memory { by, request };
        let done = match &mut self.engine {
            Engine::Memory(ledger) => ledger.record(request, &reading),
            Engine::Disk(disk) => match &mut disk.ledger {
                Some(ledger) => ledger.record(request, &reading),
                None => return Ok(Err("the store is refused".to_owned())),
            },
            Engine::Ablated(ledger) => match ledger.record(request, &reading) {
                Ok(Done::Event(event) | Done::Ended { event, .. }) => Ok(event),
                Ok(Done::Began(run)) => Ok(run.index()),
                Err(error) => Err(error),
            },
        };
        self.after(done)
    }

    fn after<T>(&mut self, done: Result<T, CommitError>) -> Worked<Result<T, String>> {
        if let Engine::Disk(disk) = &mut self.engine {
            disk.measure();
        }
        match done {
            Ok(done) => Ok(Ok(done)),
            Err(CommitError::Rejected(rejected)) => Ok(Err(rejected.to_string())),
            Err(
                error @ (CommitError::Closed | CommitError::Journal(_) | CommitError::Batch { .. }),
            ) => Err(self.broken(error.to_string())),
        }
    }

    fn new_session(&mut self) -> Worked<SessionName> {
        self.sessions += 1;
        SessionName::new(&format!("s{}", self.sessions))
            .map_err(|error| self.broken(error.to_string()))
    }

    fn begun(&mut self) -> Worked<SessionName> {
        let session = self.new_session()?;
        let open = MemoryRequest::Open { session: session.clone(), start: NewStart::Fresh };
        let done = self.request(self.hook(), open)?;
        if self.refused().is_none() {
            done.map_err(|why| self.broken(why))?;
        }
        Ok(session)
    }

    fn observe(
        &mut self,
        session: &SessionName,
        (seen, channel, author): (Seen, &str, &str),
        text: &str,
        (entry, answers): (Option<&str>, Option<&Call>),
    ) -> Worked<Result<u64, String>> {
        let broken = |it: &Self, error: actum_core::NameError| it.broken(error.to_string());
        let new = NewObservation {
            session: session.clone(),
            seen,
            channel: ChannelName::new(channel).map_err(|error| broken(self, error))?,
            author: AuthorName::new(author).map_err(|error| broken(self, error))?,
            content: self.text(text),
            entry: entry.map(|name| (self.policy.namespace().clone(), name.to_owned())),
            answers,
            carries: None,
        };
        let (by, reading) = (self.hook(), self.reading());
        let gate = gate(&self.policy, &self.texts, self.attended);
        let done = match &mut self.engine {
            Engine::Memory(ledger) => ledger.observe(&gate, by, &new, &reading),
            Engine::Ablated(ledger) => ledger.observe(&gate, by, &new, &reading),
            Engine::Disk(disk) => match &mut disk.ledger {
                Some(ledger) => ledger.observe(&gate, by, &new, &reading),
                None => return Ok(Err("the store is refused".to_owned())),
            },
        };
        self.after(done)
    }

    fn session(&mut self) -> Worked<SessionName> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
        let session = self.begun()?;
        self.session = Some(session.clone());
        Ok(session)
    }

    fn new_entry(&mut self, entry: &Entry) -> NewEntry {
        NewEntry {
            namespace: self.policy.namespace().clone(),
            kind: entry.kind,
            name: entry.name.clone(),
            content: self.text(&entry.text),
        }
    }

    fn question(&self, step: &StepSpec, subject: &str, content: &str) -> Option<OwnQuestion> {
        let name = StepName::new(&step.step).ok()?;
        let Some(Step::Tool(rule)) = self.policy.step(&name) else { return None };
        let millis = |lifetime: Duration| u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX);
        Some(OwnQuestion {
            subject: SubjectName::new(SubjectKind::Text, subject).ok()?,
            content: content_of(&Value::from(content)),
            rule: self.policy.step_digest(&name, &[])?,
            lifetime_ms: rule.lifetime().map(millis),
            step: name,
        })
    }

    fn ruling(&self, call: &Call, judgement: &Judgement) -> Ruling {
        let why = judgement.code.code().to_owned();
        if let Some(perform) = self.missing(call, judgement) {
            return Ruling::Perform(perform);
        }
        match judgement.decision() {
            Decision::Allow | Decision::Label => Ruling::Go,
            Decision::Ask => Ruling::Ask(why),
            Decision::Deny | Decision::Quarantine => Ruling::Refuse(why),
        }
    }
}

impl Actum {
    /// The call that performs the step which is missing for this one.
    fn missing(&self, call: &Call, judgement: &Judgement) -> Option<Call> {
        let missing = judgement.missing.as_ref()?;
        let step = self.steps.iter().find(|step| step.step == missing.step.as_str())?;
        let argument = |name: &str| text_of(call, name);
        Some(step.call(argument(&step.subject)?, argument(&step.content)?))
    }
}

/// A [`Question`] with its parts.
struct OwnQuestion {
    step: StepName,
    subject: SubjectName,
    content: Digest,
    rule: Digest,
    lifetime_ms: Option<u64>,
}

fn keys(byte: u8) -> Keyring {
    let ledger = LedgerId::from_bytes(*b"a lab's ledger..");
    Keyring::new(&KeyFile::new(ledger, Root::from_bytes([byte; 32])))
}

fn gate<'a>(policy: &'a Policy, texts: &'a Texts, attended: bool) -> Gate<'a> {
    let force = Some(InForce { policy, programs: &[], commands: &NO_COMMANDS });
    let presence = if attended { Presence::Somebody } else { Presence::Nobody };
    Gate { force, surroundings: texts, presence }
}

fn served(judgement: &Judgement) -> Served {
    match judgement.decision() {
        Decision::Allow => Served::Plain,
        Decision::Label => Served::Labelled(label(judgement.code)),
        Decision::Ask | Decision::Deny | Decision::Quarantine => {
            Served::Withheld(judgement.code.code().to_owned())
        }
    }
}

impl Defence for Actum {
    fn open(&mut self) -> Worked<()> {
        self.session = Some(self.begun()?);
        Ok(())
    }

    fn turn(&mut self, text: &str) -> Worked<()> {
        let session = self.session()?;
        let done = self.observe(&session, (Seen::Turn, "user", "user"), text, (None, None))?;
        if self.refused().is_none() {
            done.map_err(|why| self.broken(why))?;
        }
        Ok(())
    }

    fn seen(&mut self, channel: &str, tool: &str, text: &str) -> Worked<()> {
        let session = self.session()?;
        let done = self.observe(&session, (Seen::Result, channel, tool), text, (None, None))?;
        if self.refused().is_none() {
            done.map_err(|why| self.broken(why))?;
        }
        Ok(())
    }

    fn keep(&mut self, entry: &Entry) -> Worked<bool> {
        let new = self.new_entry(entry);
        let done = match entry.channel.as_str() {
            "user" => {
                let adopt = MemoryRequest::Adopt { entry: new, releases: None, policy: None };
                self.request(OWNER, adopt)?
            }
            "agent" => {
                let session = self.session()?;
                let by = Caller::Agent(self.number(Space::Session, session.as_str()));
                let request = MemoryRequest::Remember {
                    session,
                    entry: new,
                    proven: None,
                    supersedes: None,
                    policy: None,
                };
                self.request(by, request)?
            }
            channel => {
                // Whoever this is writes in a session of its own, as the hook sees it come.
                let session = self.begun()?;
                let seen = (Seen::Inbound, channel, channel);
                match self.observe(&session, seen, &entry.text, (None, None))? {
                    Err(why) => Err(why),
                    Ok(event) => {
                        let request = MemoryRequest::Remember {
                            session,
                            entry: new,
                            proven: Some(vec![event]),
                            supersedes: None,
                            policy: None,
                        };
                        self.request(self.hook(), request)?
                    }
                }
            }
        };
        if let Ok(event) = &done {
            self.records.insert(entry.name.clone(), *event);
        }
        Ok(done.is_ok())
    }

    fn result(&mut self, call: &Call, channel: &str, text: &str) -> Worked<()> {
        let session = self.session()?;
        let seen = (Seen::Result, channel, call.tool());
        let done = self.observe(&session, seen, text, (None, Some(call)))?;
        if self.refused().is_none() {
            done.map_err(|why| self.broken(why))?;
        }
        Ok(())
    }

    fn allow(&mut self, grant: &Grant) -> Worked<()> {
        let mandate = self.mandate(grant)?;
        let done = self.request(OWNER, MemoryRequest::Grant(Box::new(mandate)))?;
        done.map_err(|why| self.broken(why)).map(drop)
    }

    fn approve(&mut self, call: &Call) -> Worked<()> {
        let asked = self.receipt.take().filter(|(_, of)| *of == call.digest());
        let (receipt, call) = asked.ok_or_else(|| self.broken("nobody asked about this call"))?;
        let until_ms = self.now_ms + APPROVAL_MS_MAX;
        let done = self.request(OWNER, MemoryRequest::Approve { receipt, call, until_ms })?;
        done.map_err(|why| self.broken(why)).map(drop)
    }

    fn recall(&mut self, entry: &Entry) -> Worked<Served> {
        if let Some(why) = self.refused() {
            // Plain reading goes on, labelled.
            return Ok(Served::Labelled(format!("[actum: unverified. {why}]")));
        }
        let session = self.session()?;
        let new = NewRecall {
            session: Some(session.clone()),
            namespace: self.policy.namespace().clone(),
            name: &entry.name,
            text: &entry.text,
            content: content_digest(&entry.text),
            purpose: Purpose::Reading,
        };
        let (by, reading) = (self.hook(), self.reading());
        let gate = gate(&self.policy, &self.texts, self.attended);
        let done = match &mut self.engine {
            Engine::Memory(ledger) => {
                ledger.recall(&gate, by, &new, &reading).map(|it| it.judgement)
            }
            Engine::Ablated(ledger) => ledger.recall(&gate, by, &new, &reading).map(|(it, _)| it),
            Engine::Disk(disk) => match &mut disk.ledger {
                Some(ledger) => ledger.recall(&gate, by, &new, &reading).map(|it| it.judgement),
                None => return Ok(Served::Labelled("[actum: unverified.]".to_owned())),
            },
        };
        let judgement = self.after(done)?.map_err(|why| self.broken(why))?;
        let served = served(&judgement);
        if !matches!(served, Served::Withheld(_)) {
            let seen = (Seen::Recalled, MEMORY, "memory");
            let done = self.observe(&session, seen, &entry.text, (Some(&entry.name), None))?;
            done.map_err(|why| self.broken(why))?;
        }
        Ok(served)
    }

    fn fire(&mut self, task: &Entry) -> Worked<Served> {
        if let Some(why) = self.refused() {
            return Ok(Served::Withheld(why));
        }
        let session = self.new_session()?;
        let content = self.text(&task.text);
        let new = NewFire {
            namespace: self.policy.namespace().clone(),
            name: &task.name,
            text: &task.text,
            content,
            pins: Vec::new(),
            session: session.clone(),
        };
        let (by, reading) = (self.hook(), self.reading());
        let gate = gate(&self.policy, &self.texts, self.attended);
        let done = match &mut self.engine {
            Engine::Memory(ledger) => ledger.fire(&gate, by, &new, &reading).map(|it| it.judgement),
            Engine::Ablated(ledger) => ledger.fire(&gate, by, &new, &reading).map(|(it, _)| it),
            Engine::Disk(disk) => match &mut disk.ledger {
                Some(ledger) => ledger.fire(&gate, by, &new, &reading).map(|it| it.judgement),
                None => return Ok(Served::Withheld("the store is refused".to_owned())),
            },
        };
        let judgement = self.after(done)?.map_err(|why| self.broken(why))?;
        self.session = Some(session);
        Ok(served(&judgement))
    }

    fn skip(&mut self, step: &StepSpec, subject: &str, content: &str) -> Worked<Ruling> {
        if let Some(why) = self.refused() {
            return Ok(Ruling::Refuse(why));
        }
        let perform = Ruling::Perform(step.call(subject, content));
        let Some(own) = self.question(step, subject, content) else { return Ok(perform) };
        let question = Question {
            namespace: &self.policy.namespace().clone(),
            step: &own.step,
            subject: &own.subject,
            content: &own.content,
            rule: &own.rule,
            lifetime_ms: own.lifetime_ms,
        };
        let session = self.session()?;
        let (by, reading) = (self.hook(), self.reading());
        let done = match &mut self.engine {
            Engine::Memory(ledger) => ledger.skip(by, &session, &question, &reading).map(|it| it.0),
            Engine::Disk(disk) => match &mut disk.ledger {
                Some(ledger) => ledger.skip(by, &session, &question, &reading).map(|it| it.0),
                None => return Ok(Ruling::Refuse("the store is refused".to_owned())),
            },
            // The rules that can be off are the gate's; a skip is Algorithm 1 and has none of them.
            Engine::Ablated(_) if !self.requires_steps => return Ok(Ruling::Go),
            Engine::Ablated(ledger) => Ok(skip(ledger.views(), &question, reading.wall_ms)),
        };
        Ok(match self.after(done)? {
            Ok(Skip::Allow(_)) => Ruling::Go,
            Ok(Skip::Perform(_)) => perform,
            Err(why) => Ruling::Refuse(why),
        })
    }

    fn act(&mut self, call: &Call) -> Worked<Ruling> {
        if let Some(why) = self.refused() {
            return Ok(Ruling::Refuse(why));
        }
        let session = self.session()?;
        let new = NewCall { session, call, call_id: None, version: Digest::plain(b"") };
        let (by, reading) = (self.hook(), self.reading());
        let gate = gate(&self.policy, &self.texts, self.attended);
        let done = match &mut self.engine {
            Engine::Memory(ledger) => {
                ledger.act(&gate, by, &new, &reading).map(|it| (it.judgement, it.event, it.permit))
            }
            Engine::Ablated(ledger) => {
                let done = ledger.act(&gate, by, &new, None, &reading);
                done.map(|(judgement, event)| (judgement, event, None))
            }
            Engine::Disk(disk) => match &mut disk.ledger {
                Some(ledger) => {
                    let done = ledger.act(&gate, by, &new, &reading);
                    done.map(|it| (it.judgement, it.event, it.permit))
                }
                None => return Ok(Ruling::Refuse("the store is refused".to_owned())),
            },
        };
        let (judgement, event, permit) = self.after(done)?.map_err(|why| self.broken(why))?;
        self.permits.extend(permit);
        if judgement.decision() == Decision::Ask {
            self.receipt = event.map(|event| (event, call.digest()));
        }
        Ok(self.ruling(call, &judgement))
    }

    fn ended(&mut self, call: &Call, how: Ended) -> Worked<()> {
        let outcome = match how {
            Ended::Passed => Outcome::Passed,
            Ended::Failed => Outcome::Failed,
        };
        let end = NewCallEnd { outcome, result: Digest::plain(b"") };
        let reading = self.reading();
        let done = if let Engine::Ablated(ledger) = &mut self.engine {
            ledger.end_call(&end, &reading)
        } else {
            let Some(at) = self.permits.iter().position(|it| *it.call() == call.digest()) else {
                // A mere look is not written down.
                return Ok(());
            };
            let permit = self.permits.swap_remove(at);
            match &mut self.engine {
                Engine::Memory(ledger) => ledger.end_call(permit, &end, &reading).map(drop),
                Engine::Disk(disk) => match &mut disk.ledger {
                    Some(ledger) => ledger.end_call(permit, &end, &reading).map(drop),
                    None => return Ok(()),
                },
                Engine::Ablated(_) => Ok(()),
            }
        };
        self.after(done)?.map_err(|why| self.broken(why))
    }

    fn meddle(&mut self, how: &Meddle) -> Worked<()> {
        let forged = match how {
            Meddle::Forge { step, subject } => Some(self.forged(step, subject)?),
            Meddle::CutTo(_) | Meddle::Reframe { .. } => None,
        };
        let now = self.reading();
        let fail = |what: String| DefenceError { defence: self.name.clone(), what };
        match &mut self.engine {
            Engine::Disk(disk) => disk.meddle(how, forged.as_deref(), now).map_err(fail),
            // Rules that are off are not looked for in the store, so an ablation is tried on an honest one.
            Engine::Ablated(_) => Ok(()),
            Engine::Memory(_) => {
                Err(fail("its store is not on disk, so there is nothing to meddle with".to_owned()))
            }
        }
    }

    fn events(&self) -> u64 {
        self.views().map_or(0, |views| views.position().count)
    }

    fn head(&self) -> Option<String> {
        // A store on disk has a key of its own each time, so its head would say nothing to anybody who runs this again.
        if matches!(self.engine, Engine::Disk(_)) {
            return None;
        }
        self.views().map(|views| views.position().mac.to_string())
    }
}

impl Actum {
    fn mandate(&self, grant: &Grant) -> Worked<NewMandate> {
        let broken = |error: actum_core::NameError| self.broken(error.to_string());
        let limit = |limit: &GrantLimit| {
            let kind = match limit.kind {
                Within::Equal => LimitKind::Equal,
                Within::OneOf => LimitKind::OneOf,
                Within::Range => LimitKind::Range,
                Within::Prefix => LimitKind::Prefix,
            };
            let argument = ArgumentName::new(&limit.argument).map_err(broken)?;
            Ok(NewLimit { argument, kind, values: limit.values.clone() })
        };
        let audience = match &grant.task {
            None => NewAudience::Adapter(HOOK.to_owned()),
            Some(task) => {
                let record = self.records.get(task).copied();
                NewAudience::Task(record.ok_or_else(|| self.broken(format!("no task {task}")))?)
            }
        };
        Ok(NewMandate {
            tool: ToolName::new(&grant.tool).map_err(broken)?,
            audience,
            from_ms: self.now_ms,
            until_ms: self.now_ms + MANDATE_MS,
            uses: grant.uses,
            budget: None,
            limits: grant.limits.iter().map(limit).collect::<Worked<_>>()?,
            parent: None,
        })
    }

    /// The records of a run of this step that passed, as whoever has another key would write them.
    fn forged(&self, step: &str, subject: &str) -> Worked<Vec<u8>> {
        let made = Ledger::create(keys(8), Segment::default(), &Reading::wall(START_MS));
        let ledger = made.map_err(|error| self.broken(error.to_string()))?;
        let setup = Setup { attended: self.attended, ..Setup::default() };
        let forger = Setup { policy: "version = 1\n".to_owned(), ..setup };
        let mut forger = Self::on(Engine::Memory(ledger), "forger", &forger)?;
        forger.policy = self.policy.clone();
        forger.open()?;
        let before = forger.segment().len();
        let name = StepName::new(step).ok();
        if let Some(Step::Tool(rule)) = name.as_ref().and_then(|name| self.policy.step(name)) {
            let argument = rule.subject().as_str();
            let call = super::call(rule.tool().as_str(), &[(argument, subject)]);
            forger.act(&call)?;
            forger.ended(&call, Ended::Passed)?;
        }
        Ok(forger.segment().get(before..).unwrap_or_default().to_vec())
    }

    fn segment(&self) -> &[u8] {
        match &self.engine {
            Engine::Memory(ledger) => &ledger.journal().0,
            Engine::Ablated(_) | Engine::Disk(_) => &[],
        }
    }
}
