//! A question made ready for the gate by whoever took it in: names read, calls parsed, texts kept and digested. What is wrong with
//! it is found here, beside the gate and not in its way.

use actum_core::policy::ChannelPattern;
use actum_core::{
    ArgumentName, AuthorName, Call, Caller, ChannelName, Digest, EntryKind, FREE_NAME_MAX,
    MemoryRequest, NameError, Namespace, NewAudience, NewEntry, NewLimit, NewMandate, NewRun,
    NewStart, Outcome, Presence, Purpose, Request, Seen, SessionName, StepName, SubjectName, Takes,
    ToolName, content_digest,
};
use actum_store::{AcceptedPolicy, CONTENT_MAX, Cache, call_from_json, random};

use super::things::chain;
use super::who::Who;
use crate::wire::{self, Ask, CallResult, DEEDS_MAX, Deed, Failure, FailureCode};

/// A question that is ready for the gate.
#[derive(Debug)]
pub(crate) enum Job {
    Hello(wire::Role),
    Open {
        start: NewStart,
        session: SessionName,
    },
    Observe(Box<Observe>),
    Remember {
        session: SessionName,
        entry: Entry,
        proven: Option<Vec<u64>>,
        supersedes: Option<u64>,
    },
    Recall {
        session: Option<SessionName>,
        entry: Entry,
        text: String,
        purpose: Purpose,
    },
    Fire {
        entry: Entry,
        text: String,
        pins: Vec<(String, String, Digest)>,
        session: SessionName,
    },
    Act {
        session: SessionName,
        call: Box<Call>,
        call_id: Option<String>,
        version: Digest,
        presence: Presence,
    },
    End {
        permit: u64,
        outcome: Outcome,
        result: Digest,
    },
    Ground {
        step: String,
        subject: Option<String>,
    },
    Skip {
        session: SessionName,
        step: String,
        subject: Option<String>,
    },
    Inbox,
    Approve {
        receipt: String,
        for_ms: u64,
    },
    Deny {
        receipt: String,
    },
    Keep(Digest),
    Record(Vec<Act>),
    Begin(Box<NewRun>),
    Finish(wire::Finish),
    Status,
    Watch,
}

/// What was put before a model.
#[derive(Debug)]
pub(crate) struct Observe {
    pub(crate) session: SessionName,
    pub(crate) seen: Seen,
    pub(crate) channel: ChannelName,
    pub(crate) author: AuthorName,
    pub(crate) content: Digest,
    pub(crate) entry: Option<String>,
    pub(crate) answers: Option<Call>,
    pub(crate) carries: Option<Vec<u64>>,
}

/// An entry; its namespace is that of the policy in force.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    pub(crate) name: String,
    pub(crate) content: Digest,
}

/// An act of the owner.
#[derive(Debug)]
pub(crate) enum Act {
    /// A request of the ledger; whose it is, is settled at the gate.
    Memory(MemoryRequest),
    RevokeRun {
        run: u64,
        reason: String,
    },
    ResolveClock,
    Accept(Box<AcceptedPolicy>),
}

impl Job {
    /// Whether the policy in force may be another after it.
    pub(crate) fn changes_policy(&self) -> bool {
        matches!(self, Self::Record(acts) if acts.iter().any(|act| matches!(act, Act::Accept(_))))
    }
}

/// Makes a question ready. Texts are kept before the event that names them, and only for whoever may have one written.
///
/// # Errors
/// [`FailureCode::Usage`] for what is none, [`FailureCode::NotAllowed`], or [`FailureCode::Failed`] where a text cannot be kept.
pub(crate) fn prepare(who: &Who, cache: &Cache, ask: Ask) -> Result<Job, Failure> {
    if let Some(asks) = Who::asks(&ask) {
        who.may(asks)?;
    }
    Ok(match ask {
        Ask::Hello(hello) => Job::Hello(hello.role),
        Ask::Open(open) => Job::Open { start: start_of(open.start)?, session: new_session()? },
        Ask::Observe(observe) => Job::Observe(Box::new(observation(cache, observe)?)),
        Ask::Remember(ask) => Job::Remember {
            session: who.session(&ask.session)?,
            entry: Entry { kind: ask.kind, name: ask.entry, content: keep(cache, &ask.text)? },
            proven: ask.proven,
            supersedes: ask.supersedes,
        },
        Ask::Recall(ask) => {
            let session = ask.session.as_deref().map(|it| who.session(it)).transpose()?;
            let content = content_digest(within(&ask.text)?);
            let entry = Entry { kind: EntryKind::Memory, name: ask.entry, content };
            let purpose = if ask.for_action { Purpose::Action } else { Purpose::Reading };
            Job::Recall { session, entry, text: ask.text, purpose }
        }
        Ask::Fire(ask) => {
            let content = keep(cache, &ask.text)?;
            let pins = ask.pins.into_iter().map(|pin| {
                let content = keep(cache, &pin.text)?;
                Ok((pin.entry, pin.text, content))
            });
            let pins = pins.collect::<Result<_, Failure>>()?;
            let entry = Entry { kind: EntryKind::Task, name: ask.entry, content };
            Job::Fire { entry, text: ask.text, pins, session: new_session()? }
        }
        Ask::Act(ask) => Job::Act {
            session: named(SessionName::new(&ask.session))?,
            call: Box::new(call_of(&ask.tool, ask.arguments.get())?),
            call_id: ask.call_id,
            version: match ask.definition.as_deref() {
                None => Digest::plain(b""),
                Some(text) => Digest::from_hex(text).ok_or_else(|| {
                    misused("the digest of a definition has 64 hexadecimal digits")
                })?,
            },
            presence: if ask.somebody { Presence::Somebody } else { Presence::Nobody },
        },
        Ask::End(ask) => Job::End {
            permit: ask.permit,
            outcome: ask.outcome,
            result: match ask.result {
                CallResult::Text(text) => Digest::plain(text.as_bytes()),
                CallResult::Digest(digest) => digest,
            },
        },
        Ask::Ground(ask) => Job::Ground { step: ask.step, subject: ask.subject },
        Ask::Skip(ask) => {
            let session = who.session(&ask.session)?;
            Job::Skip { session, step: ask.step, subject: ask.subject }
        }
        Ask::Inbox(_) => Job::Inbox,
        Ask::Approve(ask) => Job::Approve { receipt: ask.receipt, for_ms: ask.for_ms },
        Ask::Deny(ask) => Job::Deny { receipt: ask.receipt },
        Ask::Keep(ask) => Job::Keep(keep(cache, &ask.text)?),
        Ask::Record(ask) => Job::Record(acts_of(ask.acts)?),
        Ask::Begin(ask) => Job::Begin(Box::new(run_of(ask)?)),
        Ask::Finish(ask) => Job::Finish(ask),
        Ask::Status(_) => Job::Status,
        Ask::Watch(_) => Job::Watch,
    })
}

fn start_of(start: wire::Start) -> Result<NewStart, Failure> {
    Ok(match start {
        wire::Start::Fresh {} => NewStart::Fresh,
        wire::Start::Unknown {} => NewStart::Unknown,
        wire::Start::Partial {} => NewStart::Partial,
        wire::Start::Interactive {} => NewStart::Interactive,
        wire::Start::Subagent { of } => NewStart::Subagent(named(SessionName::new(&of))?),
    })
}

fn observation(cache: &Cache, ask: wire::Observe) -> Result<Observe, Failure> {
    let channel = match (&ask.channel, ask.seen) {
        (Some(channel), _) => channel.as_str(),
        (None, Seen::Turn) => "user",
        (None, Seen::Summary) => "consolidation:host",
        (None, Seen::Recalled) => "file:memory",
        (None, Seen::Reset | Seen::Refusal) => "system",
        (None, Seen::Result | Seen::Inbound) => {
            return Err(misused("through which channel?")
                .hint("name one: web:HOST, mail:ADDRESS, mcp:SERVER, exec:PROGRAM, ..."));
        }
    };
    let channel = named(ChannelName::new(channel))?;
    let author = ask.author.as_deref().unwrap_or_else(|| channel.as_str());
    let author = author.get(..author.len().min(FREE_NAME_MAX)).unwrap_or("unknown");
    let answers = match (&ask.arguments, &ask.author) {
        (None, _) => None,
        (Some(arguments), Some(tool)) => Some(call_of(tool, arguments.get())?),
        (Some(_), None) => return Err(misused("the call of which tool? Its author names it")),
    };
    let text = if ask.seen == Seen::Reset { "" } else { ask.text.as_str() };
    Ok(Observe {
        session: named(SessionName::new(&ask.session))?,
        seen: ask.seen,
        author: named(AuthorName::new(author))?,
        channel,
        content: keep(cache, text)?,
        entry: ask.entry,
        answers,
        carries: ask.carries,
    })
}

fn call_of(tool: &str, arguments: &str) -> Result<Call, Failure> {
    call_from_json(tool, arguments).map_err(|error| misused(error.to_string()))
}

fn acts_of(deeds: Vec<Deed>) -> Result<Vec<Act>, Failure> {
    if deeds.len() > DEEDS_MAX {
        return Err(misused(format!("{} acts at once; the limit is {DEEDS_MAX}", deeds.len())));
    }
    deeds.into_iter().map(act_of).collect()
}

fn act_of(deed: Deed) -> Result<Act, Failure> {
    Ok(Act::Memory(match deed {
        Deed::AcceptPolicy { document } => {
            let policy = AcceptedPolicy::from_bytes(document.as_bytes()).map_err(misused)?;
            return Ok(Act::Accept(Box::new(policy)));
        }
        Deed::RevokeRun { run, reason } => return Ok(Act::RevokeRun { run, reason }),
        Deed::ResolveClock {} => return Ok(Act::ResolveClock),
        Deed::Adopt { namespace, entry, kind, content, releases } => {
            let namespace = named(Namespace::new(&namespace))?;
            let entry = NewEntry { namespace, kind, name: entry, content };
            // The policy's event is put in at the gate.
            MemoryRequest::Adopt { entry, releases, policy: None }
        }
        Deed::Forget { record } => MemoryRequest::Forget { record },
        Deed::Enrol { adapter, credential, channels } => {
            let channels = channels.iter().map(|text| {
                ChannelPattern::read(text)
                    .ok_or_else(|| misused(format!("`{}` names no channel", text.escape_debug())))
            });
            let channels = channels.collect::<Result<_, _>>()?;
            MemoryRequest::Enrol { adapter, credential, channels }
        }
        Deed::Grant(mandate) => MemoryRequest::Grant(Box::new(mandate_of(mandate)?)),
        Deed::Approve { decision, call, until_ms } => {
            MemoryRequest::Approve { receipt: decision, call, until_ms }
        }
        Deed::Revoke { takes, reason } => {
            let takes = match takes {
                wire::Takes::Record(event) => Takes::Record(event),
                wire::Takes::Channel(channel, from, until) => {
                    Takes::Channel(named(ChannelName::new(&channel))?, from, until)
                }
                wire::Takes::Author(author, from, until) => {
                    Takes::Author(named(AuthorName::new(&author))?, from, until)
                }
                wire::Takes::Mandate(event) => Takes::Mandate(event),
                wire::Takes::Adapter(name) => Takes::Adapter(name),
            };
            MemoryRequest::Revoke { takes, reason }
        }
    }))
}

fn mandate_of(mandate: wire::Mandate) -> Result<NewMandate, Failure> {
    let limits = mandate.limits.into_iter().map(|limit| {
        let argument = named(ArgumentName::new(&limit.argument))?;
        Ok(NewLimit { argument, kind: limit.kind, values: limit.values })
    });
    Ok(NewMandate {
        tool: named(ToolName::new(&mandate.tool))?,
        audience: match mandate.audience {
            wire::Audience::Task(record) => NewAudience::Task(record),
            wire::Audience::Adapter(name) => NewAudience::Adapter(name),
            wire::Audience::Session(name) => NewAudience::Session(named(SessionName::new(&name))?),
            wire::Audience::Channel(name) => NewAudience::Channel(named(ChannelName::new(&name))?),
        },
        from_ms: mandate.from_ms.unwrap_or_default(),
        until_ms: mandate.until_ms,
        uses: mandate.uses,
        budget: mandate.budget,
        limits: limits.collect::<Result<_, Failure>>()?,
        parent: mandate.narrows,
    })
}

fn run_of(ask: wire::Begin) -> Result<NewRun, Failure> {
    Ok(NewRun {
        namespace: named(Namespace::new(&ask.namespace))?,
        step: named(StepName::new(&ask.step))?,
        subject: named(SubjectName::parse(&ask.subject))?,
        content: ask.content,
        arguments: ask.arguments,
        tool: ask.program,
        tool_path: ask.path.into_bytes(),
        rule: ask.rule,
        session: named(SessionName::new(&ask.session))?,
    })
}

/// A name of a session that nobody had before.
fn new_session() -> Result<SessionName, Failure> {
    let bytes = random::<8>();
    let bytes = bytes.map_err(|error| Failure::new(FailureCode::Failed, chain(&error)))?;
    named(SessionName::new(&format!("s-{}", actum_core::hex(&*bytes))))
}

fn keep(cache: &Cache, text: &str) -> Result<Digest, Failure> {
    let kept = cache.keep(within(text)?);
    kept.map_err(|error| Failure::new(FailureCode::Failed, chain(&error)))
}

fn within(text: &str) -> Result<&str, Failure> {
    if text.len() > CONTENT_MAX {
        let said = format!("the text has {} bytes; the limit is {CONTENT_MAX}", text.len());
        return Err(misused(said));
    }
    Ok(text)
}

pub(crate) fn named<T>(name: Result<T, NameError>) -> Result<T, Failure> {
    name.map_err(|error| misused(error.to_string()))
}

/// Something that is not written as it is wanted.
pub(crate) fn misused(what: impl Into<String>) -> Failure {
    Failure::new(FailureCode::Usage, what)
}

pub(crate) fn memory(by: Caller, request: MemoryRequest) -> Request {
    Request::Memory { by, request }
}
