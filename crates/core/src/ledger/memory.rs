//! Requests about what an agent remembers and is allowed: who may make each, what is wrong with one, and the events it
//! becomes. Everything is checked before the first name is introduced, so that a request that is rejected leaves nothing.

use super::{Done, Draft, Rejected, within};
use crate::authority::Authority;
use crate::caller::{Asks, Caller, CallerKind, may};
use crate::canon::Digest;
use crate::event::{
    Audience, Consented, ENTRY_NAME_MAX, Enrolled, EntryKind, Event, FIELDS_MAX, Granted,
    LIMITS_MAX, Limit, LimitKind, Opened, Owner, PARENTS_MAX, Parents, Quarantined, REASON_MAX,
    Released, Revoked, Revokes, Space, Start, Superseded, Wrote,
};
use crate::gate::{DecisionCode, QUARANTINE_MAX, check_limit};
use crate::kind::ValueKind;
use crate::names::{ArgumentName, AuthorName, ChannelName, Namespace, SessionName, ToolName};
use crate::policy::ChannelPattern;
use crate::provenance::{Adapter, Item, ItemKind, Session};
use crate::rule::Rule;

/// How long an approval holds: it is for a call that waits.
pub const APPROVAL_MS_MAX: u64 = 60 * 60 * 1000;
/// How long a mandate holds at most: ten years of 365 days.
pub const MANDATE_MS_MAX: u64 = 10 * 365 * 24 * 60 * 60 * 1000;

/// What a session begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewStart {
    /// Nothing: an adapter saw it begin.
    Fresh,
    /// Nobody saw what.
    Unknown,
    /// All that is before the model of this session, which opened it.
    Subagent(SessionName),
    /// Whatever it may be: a guard sees the calls of its own server and nothing else.
    Partial,
    /// The same, and the owner has said that somebody sits before it.
    Interactive,
}

/// An entry by where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Whose.
    pub namespace: Namespace,
    /// Memory or task.
    pub kind: EntryKind,
    /// Where it lies and which one it is there.
    pub name: String,
    /// Its content.
    pub content: Digest,
}

/// A mandate about to be granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMandate {
    /// The tool.
    pub tool: ToolName,
    /// For which calls.
    pub audience: NewAudience,
    /// Not before, in ms.
    pub from_ms: u64,
    /// Not after, in ms.
    pub until_ms: u64,
    /// How often.
    pub uses: u32,
    /// The numeric argument that is summed, and its most, in millionths.
    pub budget: Option<(String, u64)>,
    /// Limits on arguments.
    pub limits: Vec<NewLimit>,
    /// The mandate it narrows.
    pub parent: Option<u64>,
}

/// For which calls a mandate is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewAudience {
    /// Those of a stored task: its record.
    Task(u64),
    /// Those of sessions that an adapter opened.
    Adapter(String),
    /// Those of one session.
    Session(SessionName),
    /// Those that messages through a channel set off.
    Channel(ChannelName),
}

/// A limit about to be granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLimit {
    /// On which argument.
    pub argument: ArgumentName,
    /// How.
    pub kind: LimitKind,
    /// By which values.
    pub values: Vec<String>,
}

/// What is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Takes {
    /// A record or an observation, by event.
    Record(u64),
    /// Everything through a channel, within an interval of admission times in ms.
    Channel(ChannelName, u64, u64),
    /// Everything by an author, within such an interval.
    Author(AuthorName, u64, u64),
    /// A mandate, by event.
    Mandate(u64),
    /// An adapter's credential.
    Adapter(String),
}

/// A request about what is remembered and allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryRequest {
    /// A session begins.
    Open {
        /// Its name; Actum's own, and new.
        session: SessionName,
        /// With what before its model.
        start: NewStart,
    },
    /// An entry is written in a session.
    Remember {
        /// In which.
        session: SessionName,
        /// What.
        entry: NewEntry,
        /// The events it came of, where an adapter has proved that it came of nothing else. The whole context without.
        proven: Option<Vec<u64>>,
        /// The record that it replaces, whatever its name.
        supersedes: Option<u64>,
        /// The event of the policy in force.
        policy: Option<u64>,
    },
    /// The owner writes an entry, or adopts one that was there.
    Adopt {
        /// What.
        entry: NewEntry,
        /// The quarantine that this ends.
        releases: Option<u64>,
        /// The event of the policy in force.
        policy: Option<u64>,
    },
    /// An entry is replaced by nothing.
    Forget {
        /// Its record.
        record: u64,
    },
    /// The owner lets an adapter observe.
    Enrol {
        /// Its name.
        adapter: String,
        /// The digest of its credential.
        credential: Digest,
        /// The channels it may name.
        channels: Vec<ChannelPattern>,
    },
    /// The owner allows something beforehand; anybody narrows a mandate.
    Grant(Box<NewMandate>),
    /// The owner allows one call.
    Approve {
        /// The decision that has the receipt.
        receipt: u64,
        /// The exact call, as the owner was shown it.
        call: Digest,
        /// Not after, in ms.
        until_ms: u64,
    },
    /// The owner takes something back.
    Revoke {
        /// What.
        takes: Takes,
        /// Why.
        reason: String,
    },
}

impl MemoryRequest {
    const fn asks(&self) -> Asks {
        match self {
            Self::Open { .. } => Asks::OpenSession,
            Self::Remember { .. } | Self::Forget { .. } => Asks::Remember,
            Self::Adopt { releases: Some(_), .. } => Asks::Release,
            Self::Adopt { releases: None, .. } => Asks::Adopt,
            Self::Enrol { .. } => Asks::Enrol,
            Self::Grant(_) => Asks::Grant,
            Self::Approve { .. } => Asks::Approve,
            Self::Revoke { .. } => Asks::Revoke,
        }
    }
}

impl Draft<'_> {
    pub(super) fn remember(
        &mut self,
        by: Caller,
        request: &MemoryRequest,
    ) -> Result<Done, Rejected> {
        self.may(by, request.asks())?;
        self.check_adapter(by)?;
        let event = match request {
            MemoryRequest::Open { session, start } => {
                let start = self.start_of(by, start)?;
                self.open(by, session, start)?.1
            }
            MemoryRequest::Remember { session, entry, proven, supersedes, policy } => {
                self.write(by, session, entry, proven.as_deref(), *supersedes, *policy)?
            }
            MemoryRequest::Adopt { entry, releases, policy } => {
                self.adopt(owner_of(by)?, entry, *releases, *policy)?
            }
            MemoryRequest::Forget { record } => self.forget(by, *record)?,
            MemoryRequest::Enrol { adapter, credential, channels } => {
                self.enrol(owner_of(by)?, adapter, *credential, channels)?
            }
            MemoryRequest::Grant(mandate) => self.grant(owner_of(by)?, mandate)?,
            MemoryRequest::Approve { receipt, call, until_ms } => {
                self.approve(owner_of(by)?, *receipt, call, *until_ms)?
            }
            MemoryRequest::Revoke { takes, reason } => self.take(owner_of(by)?, takes, reason)?,
        };
        Ok(Done::Event(event))
    }

    pub(super) fn may(&self, by: Caller, asked: Asks) -> Result<(), Rejected> {
        if self.views.rules().hold(Rule::Caller) {
            may(&by, asked)?;
        }
        Ok(())
    }

    /// An adapter whose credential was taken back may do nothing.
    pub(super) fn check_adapter(&self, by: Caller) -> Result<(), Rejected> {
        match by {
            Caller::Owner(_) | Caller::Agent(_) => Ok(()),
            Caller::Adapter(number) => self.adapter(number).map(|_| ()),
        }
    }

    fn adapter(&self, number: u32) -> Result<&Adapter, Rejected> {
        let adapter = self.views.provenance().adapter(number);
        adapter.filter(|adapter| adapter.revoked.is_none()).ok_or(Rejected::NotEnrolled)
    }

    fn start_of(&self, by: Caller, start: &NewStart) -> Result<(Start, Option<u64>), Rejected> {
        match start {
            NewStart::Fresh => Ok((Start::Fresh, None)),
            NewStart::Unknown => Ok((Start::Unknown, None)),
            NewStart::Partial => Ok((Start::Partial, None)),
            NewStart::Interactive => Ok((Start::Interactive, None)),
            NewStart::Subagent(of) => {
                let number = self.session_of(by, of)?;
                Ok((Start::Subagent, Some(u64::from(number))))
            }
        }
    }

    pub(super) fn open(
        &mut self,
        by: Caller,
        session: &SessionName,
        (start, from): (Start, Option<u64>),
    ) -> Result<(u32, u64), Rejected> {
        self.check_unopened(session)?;
        let adapter = match by {
            Caller::Adapter(number) => Some(number),
            Caller::Owner(_) | Caller::Agent(_) => None,
        };
        let number = self.number(Space::Session, session.as_str().as_bytes());
        let opened = Opened { session: number, adapter, start, from };
        Ok((number, self.push(&Event::Opened(opened))))
    }

    /// A session is opened once.
    pub(super) fn check_unopened(&self, session: &SessionName) -> Result<(), Rejected> {
        let known = self.views.number(Space::Session, session.as_str().as_bytes());
        if known.is_some_and(|number| self.session(number).is_some()) {
            return Err(Rejected::OpenedAlready { session: session.to_string() });
        }
        Ok(())
    }

    /// A session by its name, if this caller may speak for it.
    pub(super) fn session_of(&self, by: Caller, name: &SessionName) -> Result<u32, Rejected> {
        let number = self.views.number(Space::Session, name.as_str().as_bytes());
        let known = number.and_then(|it| Some((it, self.views.provenance().session(it)?)));
        let no_session = Rejected::NoSession { session: name.to_string() };
        let (number, session) = known.ok_or(no_session)?;
        let may_speak = match by {
            Caller::Owner(_) => true,
            Caller::Adapter(adapter) => session.adapter == Some(adapter),
            Caller::Agent(own) => own == number,
        };
        if may_speak || !self.views.rules().hold(Rule::Caller) {
            Ok(number)
        } else {
            Err(Rejected::OtherSession { session: name.to_string() })
        }
    }

    /// The session, or one that nobody saw begin: an id that nobody knows is an unknown context.
    pub(super) fn session_or_unknown(
        &mut self,
        by: Caller,
        name: &SessionName,
    ) -> Result<u32, Rejected> {
        match self.session_of(by, name) {
            Err(Rejected::NoSession { .. }) => Ok(self.open(by, name, (Start::Unknown, None))?.0),
            Ok(number) => Ok(number),
            Err(rejected) => Err(rejected),
        }
    }

    fn session(&self, number: u32) -> Option<&Session> {
        self.views.provenance().session(number)
    }

    fn write(
        &mut self,
        by: Caller,
        session: &SessionName,
        entry: &NewEntry,
        proven: Option<&[u64]>,
        supersedes: Option<u64>,
        policy: Option<u64>,
    ) -> Result<u64, Rejected> {
        check_name(&entry.name)?;
        let known = match self.session_of(by, session) {
            Ok(number) => Some(number),
            Err(Rejected::NoSession { .. }) => None,
            Err(rejected) => return Err(rejected),
        };
        if proven.is_some() && by.kind() == CallerKind::Agent {
            // Only what observes can say that nothing else went into it.
            return Err(Rejected::NotProven);
        }
        let parents = match proven {
            None => Parents::Context,
            Some(events) => {
                if events.is_empty() || events.len() > PARENTS_MAX {
                    return Err(Rejected::Parents { count: events.len() });
                }
                Parents::Proven(events.to_vec())
            }
        };
        let unknown = if self.views.rules().hold(Rule::UnknownContext) {
            Authority::Untrusted
        } else {
            Authority::User
        };
        let session_known = known.and_then(|number| self.session(number));
        let context_least = session_known.map_or(unknown, |session| session.least);
        let in_ledger = |event: &u64| self.views.provenance().item(*event).is_some();
        if !proven.unwrap_or_default().iter().all(in_ledger) {
            // What it came of is not there to be judged: nobody sees it before its owner has.
            if self.views.provenance().unreleased() >= QUARANTINE_MAX {
                return Err(Rejected::NoParent);
            }
            return Ok(self.hold(entry));
        }
        let authority = match proven {
            None if !self.views.rules().hold(Rule::LeastOfAll) => Authority::Derived,
            None => context_least.meet(Authority::Derived),
            Some(events) => {
                let least = self.views.provenance().least_of(events, &entry.content);
                least.map_err(|_no_event| Rejected::NoParent)?
            }
        };
        let old = supersedes.map(|record| self.entry_record(record).map(|item| item.authority));
        let old = old.transpose()?;
        let is_owner = by.kind() == CallerKind::Owner;
        if !is_owner
            && self.views.rules().hold(Rule::Outranked)
            && (old.is_some_and(|old| old > authority) || self.is_above(entry, authority))
        {
            // Or an injected text could take the owner's own rules away.
            return Err(Rejected::Outranked);
        }
        let number = match known {
            Some(number) => number,
            None => self.open(by, session, (Start::Unknown, None))?.0,
        };
        let event = self.push_record(Some(number), entry, authority, parents, None, policy);
        if let Some(record) = supersedes {
            let owner = owner_of(by).ok();
            self.push(&Event::Superseded(Superseded { record, by: Some(event), owner }));
        }
        Ok(event)
    }

    /// Whether what the entry of this name holds until now is the word of the user or of something approved, and so more
    /// than this. Memory that was derived may be written over.
    fn is_above(&self, entry: &NewEntry, authority: Authority) -> bool {
        let namespace = entry.namespace.as_str().as_bytes();
        let number = self.views.number(Space::Namespace, namespace);
        let before = number.and_then(|number| self.views.record_of(number, &entry.name));
        let before = before.map(|item| self.views.provenance().standing(item));
        before.is_some_and(|before| before >= Authority::Approved && before > authority)
    }

    /// Withholds an entry that names a parent which is not there.
    fn hold(&mut self, entry: &NewEntry) -> u64 {
        let namespace = self.number(Space::Namespace, entry.namespace.as_str().as_bytes());
        let reason = DecisionCode::MissingParent.number();
        let (name, content) = (entry.name.as_str(), entry.content);
        self.push(&Event::Quarantined(Quarantined {
            record: None,
            namespace,
            name,
            content,
            reason,
        }))
    }

    fn push_record(
        &mut self,
        session: Option<u32>,
        entry: &NewEntry,
        authority: Authority,
        parents: Parents,
        owner: Option<Owner>,
        policy: Option<u64>,
    ) -> u64 {
        // A record comes by its parents; what it says of itself is only who put it there.
        let (channel, author) =
            if owner.is_some() { ("user", "owner") } else { ("agent", "agent") };
        let namespace = self.number(Space::Namespace, entry.namespace.as_str().as_bytes());
        let channel = self.number(Space::Channel, channel.as_bytes());
        let author = self.number(Space::Author, author.as_bytes());
        let unsealed = Wrote {
            session,
            entry: entry.kind,
            namespace,
            channel,
            author,
            authority,
            parents,
            policy,
            name: &entry.name,
            content: entry.content,
            fingerprint: Digest::from_bytes([0; 32]),
            owner,
        };
        let fingerprint = self.views.record_fingerprint(&unsealed);
        self.push(&Event::Wrote(Wrote { fingerprint, ..unsealed }))
    }

    fn adopt(
        &mut self,
        owner: Owner,
        entry: &NewEntry,
        releases: Option<u64>,
        policy: Option<u64>,
    ) -> Result<u64, Rejected> {
        check_name(&entry.name)?;
        let mut held = None;
        if let Some(event) = releases {
            let namespace = entry.namespace.as_str().as_bytes();
            let namespace = self.views.number(Space::Namespace, namespace);
            let is_it = |held: &&crate::provenance::Held| {
                held.released.is_none()
                    && *held.name == *entry.name
                    && held.content == entry.content
                    && Some(held.namespace) == namespace
            };
            let found = self.views.provenance().held_at(event).filter(is_it);
            held = Some(found.ok_or(Rejected::NotHeld { event })?.event);
        }
        let parents = Parents::None;
        let record = self.push_record(None, entry, Authority::User, parents, Some(owner), policy);
        if let Some(quarantined) = held {
            self.push(&Event::Released(Released { quarantined, record, owner }));
        }
        Ok(record)
    }

    fn entry_record(&self, record: u64) -> Result<&Item, Rejected> {
        let item = self.views.provenance().item(record);
        let is_entry = |item: &&Item| matches!(item.what, ItemKind::Entry { .. });
        item.filter(is_entry).ok_or(Rejected::NoRecord { event: record })
    }

    fn forget(&mut self, by: Caller, record: u64) -> Result<u64, Rejected> {
        let item = self.entry_record(record)?;
        let own = match by {
            Caller::Owner(_) => true,
            Caller::Adapter(_) => item.authority < Authority::Approved,
            // Its own, and none that is worth more than what it knows.
            Caller::Agent(number) => {
                let least = self.session(number).map_or(Authority::Untrusted, |it| it.least);
                item.session == Some(number) && item.authority <= least.meet(Authority::Derived)
            }
        };
        if !own && self.views.rules().hold(Rule::Outranked) {
            return Err(Rejected::Outranked);
        }
        let owner = owner_of(by).ok();
        Ok(self.push(&Event::Superseded(Superseded { record, by: None, owner })))
    }

    fn enrol(
        &mut self,
        owner: Owner,
        name: &str,
        credential: Digest,
        channels: &[ChannelPattern],
    ) -> Result<u64, Rejected> {
        // Shaped like the name of a session, because it is shown beside them.
        if let Err(error) = SessionName::new(name) {
            return Err(Rejected::Name { what: "adapter", error: error.to_string() });
        }
        if channels.is_empty() || channels.len() > LIMITS_MAX {
            return Err(Rejected::Channels { count: channels.len() });
        }
        let channels: Vec<&str> = channels.iter().map(ChannelPattern::as_str).collect();
        let fields: usize = channels.iter().map(|channel| channel.len() + 2).sum();
        within("channels of the adapter", fields, FIELDS_MAX - 64)?;
        let adapter = self.number(Space::Adapter, name.as_bytes());
        Ok(self.push(&Event::Enrolled(Enrolled { adapter, credential, channels, owner })))
    }

    fn grant(&mut self, owner: Owner, mandate: &NewMandate) -> Result<u64, Rejected> {
        let now_ms = self.time_ms.max(self.views.time_ms());
        let window = mandate.from_ms..=mandate.until_ms;
        if window.is_empty() || mandate.until_ms < now_ms {
            return Err(Rejected::Window);
        }
        if mandate.until_ms.saturating_sub(mandate.from_ms) > MANDATE_MS_MAX {
            return Err(Rejected::Window);
        }
        if mandate.uses == 0 || mandate.budget.as_ref().is_some_and(|(_, most)| *most == 0) {
            return Err(Rejected::NoUses);
        }
        within("number of limits", mandate.limits.len(), LIMITS_MAX)?;
        let mut bytes = 128;
        for limit in &mandate.limits {
            within("number of values of a limit", limit.values.len(), LIMITS_MAX)?;
            bytes += limit.argument.as_str().len() + 8;
            for value in &limit.values {
                within("value of a limit", value.len(), REASON_MAX)?;
                bytes += value.len() + 2;
            }
        }
        if let Some((argument, _)) = &mandate.budget {
            if let Err(error) = ArgumentName::new(argument) {
                return Err(Rejected::Name { what: "argument", error: error.to_string() });
            }
            bytes += argument.len();
        }
        within("mandate", bytes, FIELDS_MAX)?;
        for limit in &mandate.limits {
            let values: Vec<&str> = limit.values.iter().map(String::as_str).collect();
            // What the kind of the argument adds to this, the door knows from its policy.
            check_limit(limit.argument.as_str(), limit.kind, &values, ValueKind::Text)?;
        }
        let (audience, audience_of) = self.audience_of(mandate)?;
        let limits = mandate.limits.iter().map(|limit| Limit {
            argument: limit.argument.as_str(),
            kind: limit.kind,
            values: limit.values.iter().map(String::as_str).collect(),
        });
        let granted = |called| Granted {
            called,
            audience,
            audience_of,
            from_ms: mandate.from_ms,
            until_ms: mandate.until_ms,
            uses: mandate.uses,
            budget: mandate.budget.as_ref().map(|(argument, most)| (argument.as_str(), *most)),
            limits: limits.clone().collect(),
            parent: mandate.parent,
            owner: Some(owner),
        };
        if let Some(parent) = mandate.parent {
            let found = self.views.provenance().mandate(parent);
            let found = found.ok_or(Rejected::NoMandate { event: parent })?;
            let called = self.views.number(Space::Called, mandate.tool.as_str().as_bytes());
            let fits = called.is_some_and(|called| found.is_narrowed_by(&granted(called)));
            fits.then_some(()).ok_or(Rejected::Widens { of: parent })?;
        }
        let called = self.number(Space::Called, mandate.tool.as_str().as_bytes());
        Ok(self.push(&Event::Granted(granted(called))))
    }

    fn audience_of(&mut self, mandate: &NewMandate) -> Result<(Audience, u64), Rejected> {
        Ok(match &mandate.audience {
            NewAudience::Task(record) => {
                let item = self.entry_record(*record)?;
                let is_task = matches!(item.what, ItemKind::Entry { kind: EntryKind::Task, .. });
                is_task.then_some(()).ok_or(Rejected::NoRecord { event: *record })?;
                (Audience::Task, *record)
            }
            NewAudience::Adapter(name) => {
                let number = self.views.number(Space::Adapter, name.as_bytes());
                let number = number.ok_or(Rejected::NotEnrolled)?;
                self.adapter(number)?;
                (Audience::Adapter, u64::from(number))
            }
            NewAudience::Session(name) => {
                let number = self.views.number(Space::Session, name.as_str().as_bytes());
                let no_session = Rejected::NoSession { session: name.to_string() };
                let number = number.filter(|it| self.session(*it).is_some()).ok_or(no_session)?;
                (Audience::Session, u64::from(number))
            }
            NewAudience::Channel(channel) => {
                let known = self.views.number(Space::Channel, channel.as_str().as_bytes());
                // A name is introduced only where nothing can be rejected any more.
                let number = match (known, mandate.parent) {
                    (Some(number), _) => number,
                    (None, Some(of)) => return Err(Rejected::Widens { of }),
                    (None, None) => self.number(Space::Channel, channel.as_str().as_bytes()),
                };
                (Audience::Channel, u64::from(number))
            }
        })
    }

    fn approve(
        &mut self,
        owner: Owner,
        receipt: u64,
        call: &Digest,
        until_ms: u64,
    ) -> Result<u64, Rejected> {
        let now_ms = self.time_ms.max(self.views.time_ms());
        if until_ms < now_ms || until_ms.saturating_sub(now_ms) > APPROVAL_MS_MAX {
            return Err(Rejected::Window);
        }
        let asked = self.views.provenance().asked_by(receipt);
        let decided = asked.ok_or(Rejected::NotPending { event: receipt })?;
        if decided.call != *call {
            return Err(Rejected::OtherCall { event: receipt });
        }
        let session = decided.session;
        Ok(self.push(&Event::Consented(Consented { session, call: *call, until_ms, owner })))
    }

    fn take(&mut self, owner: Owner, takes: &Takes, reason: &str) -> Result<u64, Rejected> {
        within("reason", reason.len(), REASON_MAX)?;
        let named = |space, name: &str| {
            let unknown = Rejected::Unknown { what: space, name: name.to_owned() };
            self.views.number(space, name.as_bytes()).map(u64::from).ok_or(unknown)
        };
        let (what, target, interval) = match takes {
            Takes::Record(event) => {
                let found = self.views.provenance().item(*event);
                found.ok_or(Rejected::NoRecord { event: *event })?;
                (Revokes::Record, *event, None)
            }
            Takes::Channel(channel, from, until) => {
                let number = named(Space::Channel, channel.as_str())?;
                (Revokes::Channel, number, Some((*from, *until)))
            }
            Takes::Author(author, from, until) => {
                let number = named(Space::Author, author.as_str())?;
                (Revokes::Author, number, Some((*from, *until)))
            }
            Takes::Mandate(event) => {
                let found = self.views.provenance().mandate(*event);
                found.ok_or(Rejected::NoMandate { event: *event })?;
                (Revokes::Mandate, *event, None)
            }
            Takes::Adapter(name) => {
                let number = named(Space::Adapter, name)?;
                let known = u32::try_from(number).ok();
                known
                    .and_then(|it| self.views.provenance().adapter(it))
                    .ok_or(Rejected::NotEnrolled)?;
                (Revokes::Adapter, number, None)
            }
        };
        if interval.is_some_and(|(from, until)| from > until) {
            return Err(Rejected::Window);
        }
        Ok(self.push(&Event::Revoked(Revoked { what, target, interval, owner, reason })))
    }
}

pub(super) fn check_name(name: &str) -> Result<(), Rejected> {
    within("name of the entry", name.len(), ENTRY_NAME_MAX)?;
    if name.is_empty() || name.chars().any(char::is_control) {
        let error = "it is empty or holds a control character".to_owned();
        return Err(Rejected::Name { what: "entry", error });
    }
    Ok(())
}

fn owner_of(by: Caller) -> Result<Owner, Rejected> {
    match by {
        Caller::Owner(owner) => Ok(owner),
        Caller::Adapter(_) | Caller::Agent(_) => Err(Rejected::NotOwner),
    }
}
