//! Where each remembered thing really came from, folded from events: sessions with what was put before their models, records
//! of entries, what was revoked or withheld, mandates and approvals. Decides nothing.
//!
//! Authority is computed once, when a thing is admitted, as a meet over things that are already there: lineage is acyclic by
//! construction, a shared ancestor is met once, and nobody walks anything to decide. Revocation is an overlay: it marks what
//! it names and all that came of it, in one pass forward, and never raises anything.

use core::hash::BuildHasherDefault;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::authority::Authority;
use crate::canon::Digest;
use crate::chain::EventFlaw;
use crate::event::{
    Audience, Consented, Decided, EntryKind, Granted, LimitKind, Observed, Opened, Owner, Parents,
    Quarantined, Released, Revoked, Revokes, Seen, Spends, Spent, Start, Superseded, Wrote,
};
use crate::fingerprint::{Fingerprint, LowBits};

/// A thing with an origin: something observed, or a record. Known by the index of its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its event.
    pub event: u64,
    /// When it was admitted, by the ledger's time in ms.
    pub at_ms: u64,
    /// The number of its channel.
    pub channel: u32,
    /// The number of its author.
    pub author: u32,
    /// Its authority, as computed when it was admitted.
    pub authority: Authority,
    /// Its content.
    pub content: Digest,
    /// The session it was observed or written in.
    pub session: Option<u32>,
    /// What it is.
    pub what: ItemKind,
    /// What it came of, by event.
    pub parents: Lineage,
    /// Why it is withheld, if it is.
    pub withheld: Option<Withheld>,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// Something put before a model.
    Seen(Seen),
    /// An entry.
    Entry {
        /// Memory or task.
        kind: EntryKind,
        /// The number of its namespace.
        namespace: u32,
        /// Where it lies and which one it is there.
        name: Box<str>,
        /// Its keyed fingerprint.
        fingerprint: Digest,
        /// How the owner was known who wrote or adopted it.
        owner: Option<Owner>,
    },
}

/// What an item came of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lineage {
    /// Nothing: it entered here.
    Root,
    /// The part of a session's context from one place to another.
    Context {
        /// The session.
        session: u32,
        /// From this place in its list.
        from: usize,
        /// Up to this place, not included.
        until: usize,
    },
    /// These events.
    These(Box<[u64]>),
}

/// Why an item is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withheld {
    /// The event that revoked it.
    Revoked(u64),
    /// The event that superseded it.
    Superseded(u64),
    /// The event that quarantined it.
    Quarantined(u64),
    /// An ancestor of it is withheld: that ancestor's event.
    Ancestor(u64),
}

/// What made an agent act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// The event.
    pub event: u64,
    /// Its authority.
    pub authority: Authority,
    /// What it was.
    pub kind: TriggerKind,
    /// The number of its channel.
    pub channel: u32,
}

/// Kinds of trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerKind {
    /// Somebody's turn.
    Turn,
    /// A stored task that fired: its record.
    Task(u64),
    /// A message from outside.
    Inbound,
}

/// A session, and what is before its model.
#[derive(Debug, Clone)]
pub struct Session {
    /// The adapter that opened it; nothing for the owner at a shell.
    pub adapter: Option<u32>,
    /// How it began.
    pub start: Start,
    /// Everything put before its model, by event, oldest first.
    pub seen: Vec<u64>,
    /// Where its context begins in that list: behind the last reset.
    pub from: usize,
    /// The least authority of anything in its context.
    pub least: Authority,
    /// What made its agent act last.
    pub trigger: Option<Trigger>,
    /// The task that fired it.
    pub task: Option<u64>,
}

impl Session {
    /// What is before its model now, by event.
    pub fn context(&self) -> &[u64] {
        self.seen.get(self.from..).unwrap_or_default()
    }
}

/// A mandate with what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandate {
    /// Its event.
    pub event: u64,
    /// The number of the tool.
    pub called: u32,
    /// For which calls.
    pub audience: Audience,
    /// Which one.
    pub audience_of: u64,
    /// Not before, in ms.
    pub from_ms: u64,
    /// Not after, in ms.
    pub until_ms: u64,
    /// How often it may still be used.
    pub uses_left: u32,
    /// The argument that is summed, and what is left for it, in millionths.
    pub budget_left: Option<(Box<str>, u64)>,
    /// Limits on arguments.
    pub limits: Vec<(Box<str>, LimitKind, Vec<Box<str>>)>,
    /// The mandate it draws on.
    pub parent: Option<u64>,
    /// The event that revoked it.
    pub revoked: Option<u64>,
}

/// An approval of one call that was not used yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approval {
    /// Its event.
    pub event: u64,
    /// In this session.
    pub session: u32,
    /// The exact call.
    pub call: Digest,
    /// Not after, in ms.
    pub until_ms: u64,
}

/// An adapter that may observe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// The digest of its credential.
    pub credential: Digest,
    /// Patterns of the channels it may name.
    pub channels: Vec<Box<str>>,
    /// The event that took its credential back.
    pub revoked: Option<u64>,
}

/// Something withheld, as the owner sees it listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The event that quarantined it.
    pub event: u64,
    /// Its record, if it has one.
    pub record: Option<u64>,
    /// The number of its namespace.
    pub namespace: u32,
    /// Where it lies and which one it is there.
    pub name: Box<str>,
    /// Its content.
    pub content: Digest,
    /// The code of the reason.
    pub reason: u16,
    /// The record it was released as.
    pub released: Option<u64>,
}

/// The provenance views.
#[derive(Debug, Default)]
pub struct Provenance {
    sessions: BTreeMap<u32, Session>,
    /// In the order of their events.
    items: Vec<Item>,
    /// The newest record of each entry.
    newest: IndexMap<Fingerprint, u64, BuildHasherDefault<LowBits>>,
    mandates: BTreeMap<u64, Mandate>,
    approvals: BTreeMap<u64, Approval>,
    adapters: BTreeMap<u32, Adapter>,
    held: BTreeMap<u64, Held>,
    decisions: Vec<(u64, Decided)>,
    /// The first answer to a call id of a session.
    answered: BTreeMap<(u32, Digest), u64>,
    /// Interval revocations, which also bind what is admitted later with such a channel or author.
    intervals: Vec<(Revokes, u32, u64, u64, u64)>,
    void_before: u64,
}

impl Provenance {
    /// A session by its number.
    pub fn session(&self, number: u32) -> Option<&Session> {
        self.sessions.get(&number)
    }

    /// Every session.
    pub fn sessions(&self) -> impl Iterator<Item = (u32, &Session)> {
        self.sessions.iter().map(|(number, session)| (*number, session))
    }

    /// A thing by its event.
    pub fn item(&self, event: u64) -> Option<&Item> {
        let at = self.items.binary_search_by_key(&event, |item| item.event).ok()?;
        self.items.get(at)
    }

    /// Everything with an origin, oldest first.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The newest record of the entry with this fingerprint.
    pub(crate) fn newest(&self, entry: Fingerprint) -> Option<&Item> {
        self.item(*self.newest.get(&entry)?)
    }

    /// The events an item came of.
    pub fn parents<'a>(&'a self, item: &'a Item) -> &'a [u64] {
        match &item.parents {
            Lineage::Root => &[],
            Lineage::Context { session, from, until } => self
                .sessions
                .get(session)
                .and_then(|session| session.seen.get(*from..*until))
                .unwrap_or_default(),
            Lineage::These(events) => events,
        }
    }

    /// Everything that came of an item, oldest first: one pass forward.
    pub fn descendants(&self, of: u64) -> Vec<u64> {
        let mut marked = BTreeSet::from([of]);
        for item in self.items.iter().filter(|item| item.event > of) {
            if self.parents(item).iter().any(|parent| marked.contains(parent)) {
                marked.insert(item.event);
            }
        }
        marked.remove(&of);
        marked.into_iter().collect()
    }

    /// Every mandate.
    pub fn mandates(&self) -> impl Iterator<Item = &Mandate> {
        self.mandates.values()
    }

    /// A mandate by its event.
    pub fn mandate(&self, event: u64) -> Option<&Mandate> {
        self.mandates.get(&event)
    }

    /// An unused approval of exactly this call in this session.
    pub fn approval(&self, session: u32, call: &Digest, now_ms: u64) -> Option<&Approval> {
        self.approvals.values().find(|approval| {
            approval.session == session && approval.call == *call && now_ms <= approval.until_ms
        })
    }

    /// An adapter by its number.
    pub fn adapter(&self, number: u32) -> Option<&Adapter> {
        self.adapters.get(&number)
    }

    /// Everything that was quarantined, released or not.
    pub fn held(&self) -> impl Iterator<Item = &Held> {
        self.held.values()
    }

    /// What quarantines an entry with this content now.
    pub fn holding(&self, namespace: u32, name: &str, content: &Digest) -> Option<&Held> {
        self.held.values().rev().find(|held| {
            held.released.is_none()
                && held.namespace == namespace
                && *held.name == *name
                && held.content == *content
        })
    }

    /// Every decision that was recorded, with its event.
    pub fn decisions(&self) -> &[(u64, Decided)] {
        &self.decisions
    }

    /// The first decision on a call id of a session.
    pub fn answer_to(&self, session: u32, call_id: &Digest) -> Option<(u64, &Decided)> {
        let event = self.answered.get(&(session, *call_id))?;
        let at = self.decisions.binary_search_by_key(event, |(event, _)| *event).ok()?;
        self.decisions.get(at).map(|(event, decided)| (*event, decided))
    }

    // Folding. Each refuses what a sound writer does not write.

    pub(crate) fn fold_opened(&mut self, opened: &Opened) -> Result<(), EventFlaw> {
        let adapter = opened.adapter;
        if adapter.is_some_and(|adapter| !self.adapters.contains_key(&adapter)) {
            return Err(EventFlaw::NoEvent { event: adapter.map_or(0, u64::from) });
        }
        if self.sessions.contains_key(&opened.session) {
            return Err(EventFlaw::OpenedTwice { session: opened.session });
        }
        let mut session = Session {
            adapter,
            start: opened.start,
            seen: Vec::new(),
            from: 0,
            least: Authority::User,
            trigger: None,
            task: None,
        };
        match (opened.start, opened.from) {
            (Start::Fresh, None) => {}
            (Start::Unknown, None) => session.least = Authority::Untrusted,
            (Start::Subagent, Some(from)) => {
                let number = u32::try_from(from).ok();
                let known = number.and_then(|number| self.sessions.get(&number));
                let parent = known.ok_or(EventFlaw::NoEvent { event: from })?;
                session.seen = parent.context().to_vec();
                session.least = parent.least;
                session.trigger = parent.trigger;
            }
            (Start::Fired, Some(record)) => {
                let task = self.item(record).ok_or(EventFlaw::NoEvent { event: record })?;
                session.seen = vec![record];
                session.least = standing(task);
                session.trigger = Some(Trigger {
                    event: record,
                    authority: standing(task),
                    kind: TriggerKind::Task(record),
                    channel: task.channel,
                });
                session.task = Some(record);
            }
            (Start::Fresh | Start::Unknown, Some(event)) => {
                return Err(EventFlaw::NoEvent { event });
            }
            (Start::Subagent | Start::Fired, None) => return Err(EventFlaw::NoEvent { event: 0 }),
        }
        self.sessions.insert(opened.session, session);
        Ok(())
    }

    pub(crate) fn fold_observed(
        &mut self,
        event: u64,
        at_ms: u64,
        observed: &Observed,
    ) -> Result<(), EventFlaw> {
        let record = match observed.record {
            None => None,
            Some(record) => Some(self.item(record).ok_or(EventFlaw::NoEvent { event: record })?),
        };
        // What is recalled is never more than its record, whatever the observation says.
        let bound =
            record.map_or(observed.authority, |record| standing(record).meet(observed.authority));
        let withheld =
            record.and_then(|record| record.withheld.map(|_| Withheld::Ancestor(record.event)));
        let Some(session) = self.sessions.get_mut(&observed.session) else {
            return Err(EventFlaw::NoSession { session: observed.session });
        };
        let parents = match observed.seen {
            Seen::Summary => Lineage::Context {
                session: observed.session,
                from: session.from,
                until: session.seen.len(),
            },
            Seen::Turn
            | Seen::Result
            | Seen::Recalled
            | Seen::Inbound
            | Seen::Reset
            | Seen::Refusal => match observed.record {
                Some(record) => Lineage::These([record].into()),
                None => Lineage::Root,
            },
        };
        let authority = match observed.seen {
            Seen::Summary => bound.meet(session.least).meet(Authority::Derived),
            Seen::Refusal => Authority::Untrusted,
            Seen::Turn | Seen::Result | Seen::Recalled | Seen::Inbound | Seen::Reset => bound,
        };
        match observed.seen {
            Seen::Reset => {
                session.from = session.seen.len();
                session.least = Authority::User;
                session.trigger = None;
            }
            Seen::Turn | Seen::Inbound => {
                let kind = if observed.seen == Seen::Turn {
                    TriggerKind::Turn
                } else {
                    TriggerKind::Inbound
                };
                let channel = observed.channel;
                session.trigger = Some(Trigger { event, authority, kind, channel });
                session.take(event, authority);
            }
            Seen::Result | Seen::Recalled | Seen::Summary | Seen::Refusal => {
                session.take(event, authority);
            }
        }
        self.push(Item {
            event,
            at_ms,
            channel: observed.channel,
            author: observed.author,
            authority,
            content: observed.content,
            session: Some(observed.session),
            what: ItemKind::Seen(observed.seen),
            parents,
            withheld,
        });
        Ok(())
    }

    pub(crate) fn fold_wrote(
        &mut self,
        event: u64,
        at_ms: u64,
        wrote: &Wrote<'_>,
        entry: Fingerprint,
    ) -> Result<(), EventFlaw> {
        let no_session = EventFlaw::NoSession { session: wrote.session.unwrap_or(u32::MAX) };
        let (parents, least) = match (&wrote.parents, wrote.session) {
            (Parents::None, _) if wrote.owner.is_some() => (Lineage::Root, Authority::User),
            (Parents::None, _) | (Parents::Context, None) => return Err(no_session),
            (Parents::Context, Some(number)) => {
                let session = self.sessions.get(&number).ok_or(no_session)?;
                let (from, until) = (session.from, session.seen.len());
                let lineage = Lineage::Context { session: number, from, until };
                (lineage, session.least.meet(Authority::Derived))
            }
            (Parents::Proven(events), _) => {
                let least = self.least_of(events, &wrote.content)?;
                (Lineage::These(events.clone().into()), least)
            }
        };
        if wrote.authority > least {
            return Err(EventFlaw::Raised { claimed: wrote.authority, least });
        }
        let withheld = self.first_withheld(&parents).map(Withheld::Ancestor);
        self.newest.insert(entry, event);
        self.push(Item {
            event,
            at_ms,
            channel: wrote.channel,
            author: wrote.author,
            authority: wrote.authority,
            content: wrote.content,
            session: wrote.session,
            what: ItemKind::Entry {
                kind: wrote.entry,
                namespace: wrote.namespace,
                name: wrote.name.into(),
                fingerprint: wrote.fingerprint,
                owner: wrote.owner,
            },
            parents,
            withheld,
        });
        Ok(())
    }

    /// The least of proven parents. What is one of them word for word keeps its authority; anything else is derived.
    fn least_of(&self, events: &[u64], content: &Digest) -> Result<Authority, EventFlaw> {
        let mut least = Authority::Derived;
        if let [only] = events
            && self.item(*only).is_some_and(|item| item.content == *content)
        {
            least = Authority::User;
        }
        for event in events {
            let item = self.item(*event).ok_or(EventFlaw::NoEvent { event: *event })?;
            least = least.meet(standing(item));
        }
        Ok(least)
    }

    fn first_withheld(&self, parents: &Lineage) -> Option<u64> {
        let events: &[u64] = match parents {
            Lineage::Root => &[],
            Lineage::Context { session, from, until } => self
                .sessions
                .get(session)
                .and_then(|session| session.seen.get(*from..*until))
                .unwrap_or_default(),
            Lineage::These(events) => events,
        };
        let withheld =
            |event: &&u64| self.item(**event).is_some_and(|item| item.withheld.is_some());
        events.iter().find(withheld).copied()
    }

    fn push(&mut self, mut item: Item) {
        // An interval revocation binds by admission time, so it also binds what is admitted after it.
        let revoked = self.intervals.iter().find(|(what, number, from, until, _)| {
            let named = match what {
                Revokes::Channel => item.channel == *number,
                Revokes::Author => item.author == *number,
                Revokes::Run | Revokes::Record | Revokes::Mandate | Revokes::Adapter => false,
            };
            named && (*from..=*until).contains(&item.at_ms)
        });
        if let Some((.., event)) = revoked {
            item.withheld = Some(Withheld::Revoked(*event));
        }
        let tainted = item.withheld.is_some();
        let session = item.session.filter(|_| matches!(item.what, ItemKind::Seen(_)));
        self.items.push(item);
        if let Some(session) = session.filter(|_| tainted).and_then(|it| self.sessions.get_mut(&it))
        {
            session.least = Authority::Untrusted;
        }
    }

    pub(crate) fn fold_superseded(
        &mut self,
        event: u64,
        superseded: &Superseded,
    ) -> Result<(), EventFlaw> {
        let missing = |event| EventFlaw::NoEvent { event };
        self.item(superseded.record).ok_or(missing(superseded.record))?;
        if let Some(by) = superseded.by {
            self.item(by).ok_or(missing(by))?;
        }
        let record = superseded.record;
        self.mark(|item| (item.event == record).then_some(Withheld::Superseded(event)));
        Ok(())
    }

    pub(crate) fn fold_revoked(
        &mut self,
        event: u64,
        revoked: &Revoked<'_>,
    ) -> Result<(), EventFlaw> {
        let target = revoked.target;
        let missing = EventFlaw::NoEvent { event: target };
        let number = u32::try_from(target).ok();
        match (revoked.what, revoked.interval) {
            // Runs are another view's.
            (Revokes::Run, _) => {}
            (Revokes::Record, _) => {
                self.item(target).ok_or(missing)?;
                self.mark(|item| (item.event == target).then_some(Withheld::Revoked(event)));
            }
            (what @ (Revokes::Channel | Revokes::Author), Some((from, until))) => {
                let number = number.ok_or(missing)?;
                self.intervals.push((what, number, from, until, event));
                self.mark(|item| {
                    let named = match what {
                        Revokes::Channel => item.channel == number,
                        Revokes::Author => item.author == number,
                        Revokes::Run | Revokes::Record | Revokes::Mandate | Revokes::Adapter => {
                            false
                        }
                    };
                    let within = (from..=until).contains(&item.at_ms);
                    (named && within).then_some(Withheld::Revoked(event))
                });
            }
            (Revokes::Channel | Revokes::Author, None) => return Err(missing),
            (Revokes::Mandate, _) => {
                self.mandates.get_mut(&target).ok_or(missing)?.revoked = Some(event);
            }
            (Revokes::Adapter, _) => {
                let adapter = number.and_then(|number| self.adapters.get_mut(&number));
                adapter.ok_or(missing)?.revoked = Some(event);
            }
        }
        Ok(())
    }

    /// Withholds what `names` says, and everything that came of it: one pass forward, since parents come before children.
    /// What is withheld already stays so for its own reason.
    fn mark(&mut self, names: impl Fn(&Item) -> Option<Withheld>) {
        for at in 0..self.items.len() {
            let Some(item) = self.items.get(at) else { return };
            if item.withheld.is_some() {
                continue;
            }
            let why =
                names(item).or_else(|| self.first_withheld(&item.parents).map(Withheld::Ancestor));
            if let (Some(why), Some(item)) = (why, self.items.get_mut(at)) {
                item.withheld = Some(why);
            }
        }
        // A context that holds something withheld is worth no more than the least.
        let items = &self.items;
        let withheld = |event: &u64| {
            let at = items.binary_search_by_key(event, |item| item.event);
            at.ok().and_then(|at| items.get(at)).is_some_and(|item| item.withheld.is_some())
        };
        for session in self.sessions.values_mut() {
            if session.context().iter().any(withheld) {
                session.least = Authority::Untrusted;
            }
            if let Some(trigger) = &mut session.trigger
                && withheld(&trigger.event)
            {
                trigger.authority = Authority::Untrusted;
            }
        }
    }

    pub(crate) fn fold_quarantined(
        &mut self,
        event: u64,
        quarantined: &Quarantined<'_>,
    ) -> Result<(), EventFlaw> {
        if let Some(record) = quarantined.record {
            self.item(record).ok_or(EventFlaw::NoEvent { event: record })?;
            // An entry whose content is not that of its record is held by its content; the record itself is not to blame.
            let content = quarantined.content;
            self.mark(|item| {
                let this = item.event == record && item.content == content;
                this.then_some(Withheld::Quarantined(event))
            });
        }
        let held = Held {
            event,
            record: quarantined.record,
            namespace: quarantined.namespace,
            name: quarantined.name.into(),
            content: quarantined.content,
            reason: quarantined.reason,
            released: None,
        };
        self.held.insert(event, held);
        Ok(())
    }

    pub(crate) fn fold_released(&mut self, released: &Released) -> Result<(), EventFlaw> {
        self.item(released.record).ok_or(EventFlaw::NoEvent { event: released.record })?;
        let missing = EventFlaw::NoEvent { event: released.quarantined };
        let held = self.held.get_mut(&released.quarantined).ok_or(missing)?;
        held.released = Some(released.record);
        Ok(())
    }

    pub(crate) fn fold_granted(
        &mut self,
        event: u64,
        granted: &Granted<'_>,
    ) -> Result<(), EventFlaw> {
        if let Some(parent) = granted.parent {
            self.mandates.get(&parent).ok_or(EventFlaw::NoEvent { event: parent })?;
        }
        let limits = granted.limits.iter().map(|limit| {
            let values = limit.values.iter().map(|&value| value.into()).collect();
            (limit.argument.into(), limit.kind, values)
        });
        let mandate = Mandate {
            event,
            called: granted.called,
            audience: granted.audience,
            audience_of: granted.audience_of,
            from_ms: granted.from_ms,
            until_ms: granted.until_ms,
            uses_left: granted.uses,
            budget_left: granted.budget.map(|(argument, most)| (argument.into(), most)),
            limits: limits.collect(),
            parent: granted.parent,
            revoked: None,
        };
        self.mandates.insert(event, mandate);
        Ok(())
    }

    pub(crate) fn fold_consented(
        &mut self,
        event: u64,
        consented: &Consented,
    ) -> Result<(), EventFlaw> {
        let Consented { session, call, until_ms, .. } = *consented;
        if !self.sessions.contains_key(&session) {
            return Err(EventFlaw::NoSession { session });
        }
        self.approvals.insert(event, Approval { event, session, call, until_ms });
        Ok(())
    }

    /// An approval is gone once spent; a mandate and all it draws on lose a use and the amount.
    pub(crate) fn fold_spent(&mut self, spent: &Spent) -> Result<(), EventFlaw> {
        let over = EventFlaw::Overspent { of: spent.of };
        match spent.what {
            Spends::Approval => self.approvals.remove(&spent.of).map(|_| ()).ok_or(over),
            Spends::Mandate => {
                let mut next = Some(spent.of);
                while let Some(event) = next {
                    let mandate = self.mandates.get_mut(&event).ok_or(over.clone())?;
                    mandate.uses_left = mandate.uses_left.checked_sub(1).ok_or(over.clone())?;
                    if let Some((_, left)) = &mut mandate.budget_left {
                        *left = left.checked_sub(spent.amount).ok_or(over.clone())?;
                    }
                    next = mandate.parent;
                }
                Ok(())
            }
        }
    }

    pub(crate) fn fold_decided(&mut self, event: u64, decided: &Decided) {
        self.answered.entry((decided.session, decided.call_id)).or_insert(event);
        self.decisions.push((event, *decided));
    }

    pub(crate) fn fold_enrolled(&mut self, number: u32, credential: Digest, channels: &[&str]) {
        let channels = channels.iter().map(|&channel| channel.into()).collect();
        self.adapters.insert(number, Adapter { credential, channels, revoked: None });
    }

    /// After a loss: approvals and mandates are void, and records count as Untrusted until they are adopted again.
    pub(crate) fn void_before(&mut self, event: u64) {
        self.void_before = event;
        self.approvals.clear();
        self.mandates.clear();
        for session in self.sessions.values_mut() {
            session.least = Authority::Untrusted;
            session.trigger = None;
        }
    }

    /// A record of before a loss that the owner resolved.
    pub const fn is_void(&self, item: &Item) -> bool {
        item.event < self.void_before
    }

    /// Approvals, mandates and releases at or after `first` were never acknowledged: they do not count.
    pub(crate) fn confirm_before(&mut self, first: u64) {
        self.approvals.retain(|event, _| *event < first);
        self.mandates.retain(|event, _| *event < first);
        for held in self.held.values_mut() {
            held.released = held.released.filter(|record| *record < first);
        }
    }
}

impl Session {
    fn take(&mut self, event: u64, authority: Authority) {
        self.seen.push(event);
        self.least = self.least.meet(authority);
    }
}

/// An item's authority now: nothing, once it is withheld.
pub fn standing(item: &Item) -> Authority {
    if item.withheld.is_some() { Authority::Untrusted } else { item.authority }
}
