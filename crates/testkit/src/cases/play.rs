//! Plays a case on a ledger in memory, by the shipped rules or without some.

use std::borrow::Cow;
use std::collections::BTreeMap;

use actum_core::policy::{ChannelPattern, Policy};
use actum_core::{
    Ablated, ArgumentName, AuthorName, Call, Caller, ChannelName, CommitError, Content, Digest,
    Done, EntryKind, Gate, InForce, Judgement, KeyFile, Keyring, LedgerId, LimitKind,
    MemoryRequest, Namespace, NewAudience, NewCall, NewCallEnd, NewEnd, NewEntry, NewFire,
    NewLimit, NewMandate, NewObservation, NewRecall, NewRun, NewStart, Number, Outcome, Owner,
    Presence, Purpose, Reading, Request, Root, Rule, Seen, SessionName, Space, StepName,
    SubjectName, Surroundings, Takes, ToolName, content_digest,
};

use super::Case;
use super::spell::{
    Act, Adopt, Expected, Fire, Grant, Observe, Open, Recall, Remember, Revoke, Run, Spelled, Step,
    value_of,
};
use crate::memory::Memory;

/// The adapter that sees everything where a case names none.
const HOOK: &str = "hook";
/// What it may name.
const CHANNELS: &[&str] = &[
    "user",
    "paste",
    "api",
    "system",
    "file-edit",
    "inbound:*",
    "schedule:*",
    "consolidation:*",
    "file:*",
    "repo:*",
    "web:*",
    "mail:*",
    "mcp:*",
    "exec:*",
    "pigeon:*",
];
/// Nothing was settled, so a rule is what it says.
static NO_COMMANDS: BTreeMap<StepName, Digest> = BTreeMap::new();
/// An adapter that a case may name beside it.
const OTHER: &str = "other";
const SESSION: &str = "s";
const START_MS: u64 = 1_800_000_000_000;
const OWNER: Caller = Caller::Owner(Owner::Terminal);

/// Why a case does not come out as it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The case itself makes no sense.
    Broken(String),
    /// A step came out otherwise: its number from 1, and how.
    Otherwise(usize, String),
}

/// Plays a case without these rules.
///
/// # Errors
/// The first step that comes out otherwise than the case says.
pub fn play(case: &Case, without: &[Rule]) -> Result<(), Fault> {
    let policy = case.policy.as_deref().map(Policy::parse).transpose();
    let policy = policy.map_err(|error| Fault::Broken(error.to_string()))?;
    let mut world = World::new(policy, without).map_err(Fault::Broken)?;
    for (at, step) in (1..).zip(&case.step) {
        let came_out = world.take(step).map_err(|why| Fault::Broken(format!("{at}: {why}")))?;
        if let Some((label, made)) = step.label().zip(world.made.take()) {
            world.labels.insert(label.to_owned(), made);
        }
        compare(&step.expected(), &came_out).map_err(|how| Fault::Otherwise(at, how))?;
    }
    Ok(())
}

/// What a step came to.
enum CameOut {
    Done,
    Rejected(String),
    Judged(Box<Judgement>),
}

fn compare(expected: &Expected<'_>, came_out: &CameOut) -> Result<(), String> {
    let (word, because, missing) = match came_out {
        CameOut::Done => ("done", String::new(), None),
        CameOut::Rejected(why) => ("rejected", why.clone(), None),
        CameOut::Judged(judgement) => {
            let missing = judgement.missing.as_ref().map(|missing| missing.step.to_string());
            (judgement.decision().word(), judgement.code.code().to_owned(), missing)
        }
    };
    let Some(wanted) = expected.word else {
        // What nobody asked about has to work all the same.
        return if word == "rejected" { Err(format!("rejected: {because}")) } else { Ok(()) };
    };
    let is_because = match expected.because {
        None => true,
        Some(wanted) if word == "rejected" => because.contains(wanted),
        Some(wanted) => because == wanted,
    };
    let is_missing = expected.missing.is_none() || expected.missing == missing.as_deref();
    if wanted == word && is_because && is_missing {
        return Ok(());
    }
    Err(format!("{word} ({because}), not {wanted} ({})", expected.because.unwrap_or_default()))
}

/// What a case has put into the world beside the ledger.
#[derive(Default)]
struct Things {
    texts: BTreeMap<Digest, Content<'static>>,
    subjects: BTreeMap<SubjectName, Digest>,
    links: BTreeMap<String, String>,
}

impl Surroundings for Things {
    fn content(&self, digest: &Digest) -> Content<'_> {
        match self.texts.get(digest) {
            Some(Content::Known(text)) => Content::Known(Cow::Borrowed(text)),
            Some(Content::Edited) => Content::Edited,
            Some(Content::Missing) | None => Content::Missing,
        }
    }

    fn subject(&self, subject: &SubjectName) -> Result<Digest, String> {
        self.subjects.get(subject).copied().ok_or_else(|| "it is not there".to_owned())
    }

    fn leads_to(&self, path: &str) -> Option<String> {
        self.links.get(path).cloned()
    }
}

struct World {
    ledger: Ablated<Memory>,
    policy: Option<Policy>,
    things: Things,
    now_ms: u64,
    /// What steps are called, and what each made.
    labels: BTreeMap<String, (u64, Digest)>,
    /// What the step that was just taken made: an event, and the digest of its text or call.
    made: Option<(u64, Digest)>,
}

impl World {
    fn new(policy: Option<Policy>, without: &[Rule]) -> Result<Self, String> {
        let ledger = LedgerId::from_bytes(*b"a ledger's name.");
        let keys = Keyring::new(&KeyFile::new(ledger, Root::from_bytes([7; 32])));
        let reading = Reading::wall(START_MS);
        let ledger = Ablated::create(without, keys, Memory::default(), &reading);
        let mut world = Self {
            ledger: ledger.map_err(|error| error.to_string())?,
            policy,
            things: Things::default(),
            now_ms: START_MS,
            labels: BTreeMap::new(),
            made: None,
        };
        for adapter in [HOOK, OTHER] {
            let channels = CHANNELS.iter().filter_map(|text| ChannelPattern::read(text)).collect();
            let (adapter, credential) = (adapter.to_owned(), Digest::plain(adapter.as_bytes()));
            let request = MemoryRequest::Enrol { adapter, credential, channels };
            world.ask(OWNER, request, nothing())?;
        }
        let request = MemoryRequest::Open { session: session(SESSION)?, start: NewStart::Fresh };
        let hook = world.caller(None, HOOK)?;
        world.ask(hook, request, nothing())?;
        Ok(world)
    }

    fn reading(&mut self) -> Reading {
        self.now_ms += 1;
        Reading::wall(self.now_ms)
    }

    /// Who `by` is.
    fn caller(&self, by: Option<&str>, usually: &str) -> Result<Caller, String> {
        let by = by.unwrap_or(usually);
        let (kind, rest) = by.split_once(':').unwrap_or((by, ""));
        let number = |space, name: &str| {
            self.ledger.views().number(space, name.as_bytes()).ok_or(format!("no {space} {name}"))
        };
        Ok(match kind {
            "owner" => OWNER,
            "agent" => {
                let name = if rest.is_empty() { SESSION } else { rest };
                Caller::Agent(number(Space::Session, name).unwrap_or(u32::MAX))
            }
            adapter => Caller::Adapter(number(Space::Adapter, adapter)?),
        })
    }

    fn event(&self, label: &str) -> Result<u64, String> {
        let number = || label.parse().ok();
        let labelled = self.labels.get(label).map(|(event, _)| *event);
        labelled.or_else(number).ok_or(format!("nothing is called {label}"))
    }

    fn content(&self, label: &str) -> Result<Digest, String> {
        let labelled = self.labels.get(label).map(|(_, content)| *content);
        labelled.ok_or(format!("nothing is called {label}"))
    }

    fn events(&self, labels: &[String]) -> Result<Vec<u64>, String> {
        labels.iter().map(|label| self.event(label)).collect()
    }

    fn text(&mut self, text: &str) -> Digest {
        let digest = content_digest(text);
        let known = Content::Known(Cow::Owned(text.to_owned()));
        self.things.texts.entry(digest).or_insert(known);
        digest
    }

    fn namespace(&self) -> Namespace {
        self.policy.as_ref().map_or_else(Namespace::default, |policy| policy.namespace().clone())
    }

    fn ask(
        &mut self,
        by: Caller,
        request: MemoryRequest,
        content: Digest,
    ) -> Result<CameOut, String> {
        let reading = self.reading();
        match self.ledger.record(Request::Memory { by, request }, &reading) {
            Ok(Done::Event(event)) => {
                self.made = Some((event, content));
                Ok(CameOut::Done)
            }
            Ok(done) => Err(format!("{done:?}")),
            Err(error) => refused(error),
        }
    }

    fn take(&mut self, step: &Step) -> Result<CameOut, String> {
        match step {
            Step::Open(it) => self.open(it),
            Step::Observe(it) => self.observe(it),
            Step::Remember(it) => self.remember(it),
            Step::Adopt(it) => self.adopt(it),
            Step::Recall(it) => self.recall(it),
            Step::Fire(it) => self.fire(it),
            Step::Act(it) => {
                let mut came_out = self.act(it, 1)?;
                for number in 2..=it.times.unwrap_or(1) {
                    came_out = self.act(it, number)?;
                }
                Ok(came_out)
            }
            Step::Grant(it) => self.grant(it),
            Step::Revoke(it) => self.revoke(it),
            Step::Run(it) => self.run(it),
            Step::Approve(it) => {
                let by = self.caller(it.by.as_deref(), "owner")?;
                let receipt = self.event(&it.of)?;
                let call = self.content(&it.of).unwrap_or_else(|_| nothing());
                let until_ms = self.now_ms + 600_000;
                self.ask(by, MemoryRequest::Approve { receipt, call, until_ms }, nothing())
            }
            Step::Forget(it) => {
                let by = self.caller(it.by.as_deref(), "owner")?;
                let record = self.event(&it.of)?;
                self.ask(by, MemoryRequest::Forget { record }, nothing())
            }
            Step::Link(it) => {
                self.things.links.insert(it.path.clone(), it.to.clone());
                Ok(CameOut::Done)
            }
            Step::Edit(it) => {
                let digest = self.content(&it.of)?;
                self.things.texts.insert(digest, Content::Edited);
                Ok(CameOut::Done)
            }
            Step::Lose(it) => {
                let digest = self.content(&it.of)?;
                self.things.texts.insert(digest, Content::Missing);
                Ok(CameOut::Done)
            }
            Step::Subject(it) => {
                let name = SubjectName::parse(&it.name).map_err(|error| error.to_string())?;
                self.things.subjects.insert(name, content_digest(&it.content));
                Ok(CameOut::Done)
            }
            Step::Wait(it) => {
                self.now_ms += it.seconds * 1000;
                Ok(CameOut::Done)
            }
        }
    }

    fn open(&mut self, it: &Open) -> Result<CameOut, String> {
        let by = self.caller(it.by.as_deref(), HOOK)?;
        let of = || session(it.of.as_deref().unwrap_or(SESSION));
        let start = match it.start.as_deref() {
            None | Some("fresh") => NewStart::Fresh,
            Some("unknown") => NewStart::Unknown,
            Some("partial") => NewStart::Partial,
            Some("interactive") => NewStart::Interactive,
            Some("subagent") => NewStart::Subagent(of()?),
            Some(word) => return Err(format!("`{word}` is no start")),
        };
        let session = session(it.session.as_deref().unwrap_or(SESSION))?;
        self.ask(by, MemoryRequest::Open { session, start }, nothing())
    }

    fn observe(&mut self, it: &Observe) -> Result<CameOut, String> {
        let by = self.caller(it.by.as_deref(), HOOK)?;
        let word = it.seen.as_deref().unwrap_or("turn");
        let seen = Seen::ALL.iter().copied().find(|seen| seen.word() == word);
        let seen = seen.ok_or(format!("`{word}` is nothing to see"))?;
        let usually = match seen {
            Seen::Turn => "user",
            Seen::Summary | Seen::Reset | Seen::Recalled | Seen::Refusal => "system",
            Seen::Result | Seen::Inbound => return_channel(it)?,
        };
        let channel = it.channel.as_deref().unwrap_or(usually);
        let answers = it.answers.as_ref().map(call_of).transpose()?;
        let author = it.author.as_deref().or(answers.as_ref().map(Call::tool));
        let content = self.text(&it.text);
        let carries = it.carries.as_deref().map(|labels| self.events(labels)).transpose()?;
        let new = NewObservation {
            session: session(it.session.as_deref().unwrap_or(SESSION))?,
            seen,
            channel: ChannelName::new(channel).map_err(|error| error.to_string())?,
            author: AuthorName::new(author.unwrap_or("somebody"))
                .map_err(|error| error.to_string())?,
            content,
            entry: it.entry.clone().map(|name| (self.namespace(), name)),
            answers: answers.as_ref(),
            carries,
        };
        let reading = self.reading();
        let gate = gate_of(self.policy.as_ref(), &self.things, Presence::Somebody);
        match self.ledger.observe(&gate, by, &new, &reading) {
            Ok(event) => {
                self.made = Some((event, content));
                Ok(CameOut::Done)
            }
            Err(error) => refused(error),
        }
    }

    fn entry(&mut self, name: &str, text: &str, kind: Option<&str>) -> Result<NewEntry, String> {
        let word = kind.unwrap_or("memory");
        let kind = EntryKind::ALL.iter().copied().find(|kind| kind.word() == word);
        let kind = kind.ok_or(format!("`{word}` is no kind of entry"))?;
        let content = self.text(text);
        Ok(NewEntry { namespace: self.namespace(), kind, name: name.to_owned(), content })
    }

    fn remember(&mut self, it: &Remember) -> Result<CameOut, String> {
        let name = it.session.as_deref().unwrap_or(SESSION);
        let usually = format!("agent:{name}");
        let by = self.caller(it.by.as_deref(), &usually)?;
        let entry = self.entry(&it.entry, &it.text, it.kind.as_deref())?;
        let content = entry.content;
        let request = MemoryRequest::Remember {
            session: session(name)?,
            entry,
            proven: it.proven.as_deref().map(|labels| self.events(labels)).transpose()?,
            supersedes: it.supersedes.as_deref().map(|label| self.event(label)).transpose()?,
            policy: None,
        };
        self.ask(by, request, content)
    }

    fn adopt(&mut self, it: &Adopt) -> Result<CameOut, String> {
        let by = self.caller(it.by.as_deref(), "owner")?;
        let entry = self.entry(&it.entry, &it.text, it.kind.as_deref())?;
        let content = entry.content;
        let releases = it.releases.as_deref().map(|label| self.event(label)).transpose()?;
        let request = MemoryRequest::Adopt { entry, releases, policy: None };
        self.ask(by, request, content)
    }

    fn recall(&mut self, it: &Recall) -> Result<CameOut, String> {
        let by = self.caller(it.by.as_deref(), HOOK)?;
        let purpose = match it.purpose.as_deref() {
            None | Some("reading") => Purpose::Reading,
            Some("action") => Purpose::Action,
            Some(word) => return Err(format!("`{word}` is no purpose")),
        };
        let new = NewRecall {
            session: it.session.as_deref().map(session).transpose()?,
            namespace: self.namespace(),
            name: &it.entry,
            text: &it.text,
            content: content_digest(&it.text),
            purpose,
        };
        let reading = self.reading();
        let gate = gate_of(self.policy.as_ref(), &self.things, Presence::Somebody);
        match self.ledger.recall(&gate, by, &new, &reading) {
            Ok((judgement, event)) => {
                let event = event.or(judgement.record).unwrap_or_default();
                self.made = Some((event, new.content));
                Ok(CameOut::Judged(Box::new(judgement)))
            }
            Err(error) => refused(error),
        }
    }

    fn fire(&mut self, it: &Fire) -> Result<CameOut, String> {
        let by = self.caller(it.by.as_deref(), HOOK)?;
        let content = self.text(&it.text);
        for text in it.pins.values() {
            self.text(text);
        }
        let pins = it.pins.iter().map(|(name, text)| (&**name, &**text, content_digest(text)));
        let new = NewFire {
            namespace: self.namespace(),
            name: &it.entry,
            text: &it.text,
            content,
            pins: pins.collect(),
            session: session(&it.session)?,
        };
        let reading = self.reading();
        let gate = gate_of(self.policy.as_ref(), &self.things, Presence::Somebody);
        match self.ledger.fire(&gate, by, &new, &reading) {
            Ok((judgement, event)) => {
                self.made = Some((event.unwrap_or_default(), content));
                Ok(CameOut::Judged(Box::new(judgement)))
            }
            Err(error) => refused(error),
        }
    }

    fn act(&mut self, it: &Act, number: u32) -> Result<CameOut, String> {
        let by = self.caller(it.by.as_deref(), HOOK)?;
        let mut args = it.args.clone();
        for value in args.values_mut() {
            if let toml::Value::String(text) = value {
                *text = text.replace("{number}", &number.to_string());
            }
        }
        let call = call_of(&Spelled { tool: it.tool.clone(), args })?;
        let presence = if it.nobody { Presence::Nobody } else { Presence::Somebody };
        let new = NewCall {
            session: session(it.session.as_deref().unwrap_or(SESSION))?,
            call: &call,
            call_id: it.id.as_deref(),
            version: nothing(),
        };
        let outcome = it.ends.as_deref().map(outcome_of).transpose()?;
        let ends = outcome.map(|outcome| NewCallEnd { outcome, result: nothing() });
        let reading = self.reading();
        let gate = gate_of(self.policy.as_ref(), &self.things, presence);
        match self.ledger.act(&gate, by, &new, ends.as_ref(), &reading) {
            Ok((judgement, event)) => {
                self.made = Some((event.unwrap_or_default(), call.digest()));
                Ok(CameOut::Judged(Box::new(judgement)))
            }
            Err(error) => refused(error),
        }
    }

    fn grant(&mut self, it: &Grant) -> Result<CameOut, String> {
        let by = self.caller(it.by.as_deref(), "owner")?;
        let (kind, of) = it.audience.split_once(' ').unwrap_or((&it.audience, SESSION));
        let audience = match kind {
            "session" => NewAudience::Session(session(of)?),
            "adapter" => NewAudience::Adapter(of.to_owned()),
            "task" => NewAudience::Task(self.event(of)?),
            "channel" => {
                NewAudience::Channel(ChannelName::new(of).map_err(|error| error.to_string())?)
            }
            word => return Err(format!("`{word}` is no audience")),
        };
        let budget = it.budget.as_ref().map(|(argument, most)| {
            let most = Number::parse(most).and_then(|most| most.millionths());
            most.map(|most| (argument.clone(), most)).ok_or("no budget")
        });
        let mandate = NewMandate {
            tool: ToolName::new(&it.tool).map_err(|error| error.to_string())?,
            audience,
            from_ms: self.now_ms,
            until_ms: self.now_ms + it.seconds.unwrap_or(3600) * 1000,
            uses: it.uses.unwrap_or(1),
            budget: budget.transpose()?,
            limits: limits_of(it)?,
            parent: it.narrows.as_deref().map(|label| self.event(label)).transpose()?,
        };
        self.ask(by, MemoryRequest::Grant(Box::new(mandate)), nothing())
    }

    fn revoke(&mut self, it: &Revoke) -> Result<CameOut, String> {
        let by = self.caller(it.by.as_deref(), "owner")?;
        let error = |error: actum_core::NameError| error.to_string();
        let at = |seconds: Option<u64>| seconds.map(|seconds| START_MS + seconds * 1000);
        let all = (at(it.from).unwrap_or(0), at(it.until).unwrap_or(u64::MAX));
        let takes = match (&it.record, &it.channel, &it.author, &it.mandate, &it.adapter, &it.run) {
            (Some(label), ..) => Takes::Record(self.event(label)?),
            (_, Some(name), ..) => {
                Takes::Channel(ChannelName::new(name).map_err(error)?, all.0, all.1)
            }
            (_, _, Some(name), ..) => {
                Takes::Author(AuthorName::new(name).map_err(error)?, all.0, all.1)
            }
            (_, _, _, Some(label), ..) => Takes::Mandate(self.event(label)?),
            (_, _, _, _, Some(name), _) => Takes::Adapter(name.clone()),
            (_, _, _, _, _, Some(label)) => {
                let run = self.event(label)?;
                let (reason, owner) = (String::new(), Owner::Terminal);
                let reading = self.reading();
                let request = Request::Revoke { run, reason, owner };
                return match self.ledger.record(request, &reading) {
                    Ok(_) => Ok(CameOut::Done),
                    Err(error) => refused(error),
                };
            }
            _ => return Err("nothing to revoke".to_owned()),
        };
        self.ask(by, MemoryRequest::Revoke { takes, reason: String::new() }, nothing())
    }

    /// A run of a step that is a command.
    fn run(&mut self, it: &Run) -> Result<CameOut, String> {
        let policy = self.policy.as_ref().ok_or("no policy")?;
        let step = StepName::new(&it.name).map_err(|error| error.to_string())?;
        let subject = SubjectName::parse(&it.subject).map_err(|error| error.to_string())?;
        let content = self.things.subject(&subject)?;
        let run = NewRun {
            namespace: policy.namespace().clone(),
            rule: policy.step_digest(&step, &[]).ok_or("no such step")?,
            step,
            subject,
            content,
            arguments: nothing(),
            tool: nothing(),
            tool_path: b"/bin/step".to_vec(),
            session: session(SESSION)?,
        };
        let reading = self.reading();
        let run = match self.ledger.record(Request::Begin(run), &reading) {
            Ok(Done::Began(run)) => run,
            other => return Err(format!("{other:?}")),
        };
        self.made = Some((run.index(), content));
        let outcome = it.outcome.as_deref().map_or(Ok(Outcome::Passed), outcome_of)?;
        let result = nothing();
        let reading = self.reading();
        let end = NewEnd { run, outcome, code: 0, result, content };
        match self.ledger.record(Request::End(end), &reading) {
            Ok(_) => Ok(CameOut::Done),
            Err(error) => refused(error),
        }
    }
}

/// The digest of what has no content.
fn nothing() -> Digest {
    Digest::plain(b"")
}

fn return_channel(it: &Observe) -> Result<&str, String> {
    it.channel.as_deref().ok_or("a result or a message came through some channel".to_owned())
}

fn limits_of(it: &Grant) -> Result<Vec<NewLimit>, String> {
    let one = |(argument, value): (&String, &String)| (argument.clone(), vec![value.clone()]);
    let equal = it.equal.iter().map(one).map(|it| (LimitKind::Equal, it));
    let prefix = it.prefix.iter().map(one).map(|it| (LimitKind::Prefix, it));
    let glob = it.glob.iter().map(one).map(|it| (LimitKind::Glob, it));
    let several = |(argument, values): (&String, &Vec<String>)| (argument.clone(), values.clone());
    let one_of = it.one_of.iter().map(several).map(|it| (LimitKind::OneOf, it));
    let range = it.range.iter().map(|(argument, (from, until))| {
        (LimitKind::Range, (argument.clone(), vec![from.clone(), until.clone()]))
    });
    let all = equal.chain(prefix).chain(glob).chain(one_of).chain(range);
    all.map(|(kind, (argument, values))| {
        let argument = ArgumentName::new(&argument).map_err(|error| error.to_string())?;
        Ok(NewLimit { argument, kind, values })
    })
    .collect()
}

fn gate_of<'a>(policy: Option<&'a Policy>, things: &'a Things, presence: Presence) -> Gate<'a> {
    let force = policy.map(|policy| InForce { policy, programs: &[], commands: &NO_COMMANDS });
    Gate { force, surroundings: things, presence }
}

fn session(name: &str) -> Result<SessionName, String> {
    SessionName::new(name).map_err(|error| error.to_string())
}

fn outcome_of(word: &str) -> Result<Outcome, String> {
    Outcome::ALL.iter().copied().find(|it| it.word() == word).ok_or(format!("no outcome {word}"))
}

fn call_of(spelled: &Spelled) -> Result<Call, String> {
    let arguments = spelled.args.iter().map(|(name, value)| Ok((name.clone(), value_of(value)?)));
    Call::new(&spelled.tool, arguments.collect::<Result<_, String>>()?)
        .map_err(|error| error.to_string())
}

fn refused(error: CommitError) -> Result<CameOut, String> {
    match &error {
        CommitError::Rejected(rejected) => Ok(CameOut::Rejected(rejected.to_string())),
        CommitError::Closed | CommitError::Journal(_) | CommitError::Batch { .. } => {
            Err(error.to_string())
        }
    }
}
