//! Where each remembered thing really came from, folded from events: sessions with what was put before their models, records
//! of entries, what was revoked or withheld, mandates and approvals. Decides nothing.
//!
//! Authority is computed once, when a thing is admitted, as a meet over things that are already there: lineage is acyclic by
//! construction, a shared ancestor is met once, and nobody walks anything to decide. Revocation is an overlay: it marks what
//! it names and all that came of it, visiting nothing else, and never raises anything.

use std::collections::{BTreeMap, BTreeSet};

use crate::authority::Authority;
use crate::canon::{Digest, Mac};
use crate::chain::EventFlaw;
use crate::event::{
    Audience, Consented, Decided, Decision, Enrolled, EntryKind, Granted, Limit, LimitKind,
    Observed, Opened, Owner, Parents, Quarantined, Released, Revoked, Revokes, Seen, Spends, Spent,
    Start, Superseded, Wrote,
};
use crate::fingerprint::{ByFingerprint, Fingerprint};
use crate::names::ChannelName;
use crate::policy::ChannelPattern;
use crate::rule::{Rule, Rules};

/// The numbers of the decision codes that come with a receipt: `untrusted_trigger` and `nobody_to_ask`.
pub(crate) const RECEIPTED: [u16; 2] = [42, 43];

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
    /// The numbers of the channels whose word it rests on, its own or those of what it came of: it is worth nothing for a
    /// tool, or at a time, for which one of them is not approved.
    pub rests_on: Box<[u32]>,
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
    /// The owner wrote or adopted it, and nobody acknowledged that: the owner says it again.
    Unconfirmed,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The event that opened it.
    pub opened: u64,
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
    /// The task that fired it, or fired the session that opened it.
    pub task: Option<u64>,
    /// Items whose lineage is a part of its context, by event.
    derived: Vec<u64>,
    /// The channels on whose word anything in its context rests.
    rests_on: BTreeSet<u32>,
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
    /// The event that enrolled it.
    pub event: u64,
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
    /// How it was released, if it was.
    pub released: Option<Release>,
}

/// How an entry was released from quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The event that says so.
    pub event: u64,
    /// The new record.
    pub record: u64,
}

/// The provenance views.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    sessions: BTreeMap<u32, Session>,
    /// In the order of their events.
    items: Vec<Item>,
    /// The newest record of each entry.
    newest: ByFingerprint<u64>,
    /// Items that name others as their parents, by parent.
    children: BTreeMap<u64, Vec<u64>>,
    /// Sessions that have something before their model that another session observed, or a record.
    also_in: BTreeMap<u64, Vec<u32>>,
    mandates: BTreeMap<u64, Mandate>,
    approvals: BTreeMap<u64, Approval>,
    /// The newest approval of each call in its session.
    approved: BTreeMap<(u32, Digest), u64>,
    /// Every enrolment of each number, newest last: one that was not acknowledged gives way to the one before.
    adapters: BTreeMap<u32, Vec<Adapter>>,
    held: BTreeMap<u64, Held>,
    /// What was quarantined of each entry.
    held_of: ByFingerprint<Vec<u64>>,
    unreleased: usize,
    decisions: Vec<(u64, Decided)>,
    /// The first answer to a call id of a session.
    answered: BTreeMap<(u32, Digest), u64>,
    /// The newest decision on each call of a session.
    latest: BTreeMap<(u32, Digest), u64>,
    /// The calls that wait for the owner, each with the first decision since it was last allowed or approved.
    asked_since: BTreeMap<(u32, Digest), u64>,
    /// How many different calls wait for the owner, by session and the channel that they come from.
    waiting: BTreeMap<(u32, Option<u32>), BTreeSet<Digest>>,
    /// Interval revocations, which also bind what is admitted later with such a channel or author.
    intervals: Vec<Interval>,
    void_before: u64,
    rules: Rules,
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

    /// An item's authority now: the least there is once it is withheld, or once a loss made it void.
    pub fn standing(&self, item: &Item) -> Authority {
        if item.withheld.is_some_and(|why| self.minds(&why)) || self.is_void(item) {
            Authority::Untrusted
        } else {
            item.authority
        }
    }

    /// Whether this reason to withhold holds; all do where something can come of it.
    pub(crate) fn minds(&self, why: &Withheld) -> bool {
        if self.rules == Rules::ALL {
            return true;
        }
        match why {
            Withheld::Revoked(_) | Withheld::Unconfirmed => self.rules.hold(Rule::Revoked),
            Withheld::Superseded(_) => self.rules.hold(Rule::Superseded),
            Withheld::Quarantined(_) => self.rules.hold(Rule::Held),
            Withheld::Ancestor(of) => {
                let why = self.item(*of).and_then(|item| item.withheld);
                why.is_none_or(|why| self.minds(&why))
            }
        }
    }

    /// Takes one rule away.
    pub(crate) const fn ablate(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// The events an item came of.
    pub fn parents<'a>(&'a self, item: &'a Item) -> &'a [u64] {
        self.events_of(&item.parents)
    }

    fn events_of<'a>(&'a self, lineage: &'a Lineage) -> &'a [u64] {
        match lineage {
            Lineage::Root => &[],
            Lineage::Context { session, from, until } => self
                .sessions
                .get(session)
                .and_then(|session| session.seen.get(*from..*until))
                .unwrap_or_default(),
            Lineage::These(events) => events,
        }
    }

    /// What a record that is to be written now comes of.
    pub(crate) fn parents_of_new<'a>(&'a self, wrote: &'a Wrote<'_>) -> &'a [u64] {
        match &wrote.parents {
            Parents::None => &[],
            Parents::Context => {
                let session = wrote.session.and_then(|number| self.sessions.get(&number));
                session.map(Session::context).unwrap_or_default()
            }
            Parents::Proven(events) => events,
        }
    }

    /// What came of an item at first hand.
    fn children_of(&self, event: u64) -> Vec<u64> {
        let mut children = self.children.get(&event).cloned().unwrap_or_default();
        for session in self.sessions_with(event).filter_map(|number| self.sessions.get(&number)) {
            let came_of = |child: &&u64| {
                self.item(**child).is_some_and(|item| self.parents(item).contains(&event))
            };
            children.extend(session.derived.iter().filter(came_of));
        }
        children
    }

    /// The sessions that have, or had, this before their model.
    fn sessions_with(&self, event: u64) -> impl Iterator<Item = u32> + '_ {
        let own = self.item(event).filter(|item| matches!(item.what, ItemKind::Seen(_)));
        let own = own.and_then(|item| item.session);
        own.into_iter().chain(self.also_in.get(&event).into_iter().flatten().copied())
    }

    /// Everything that came of an item, oldest first.
    pub fn descendants(&self, of: u64) -> Vec<u64> {
        self.descendants_of_any(&[of])
    }

    /// Everything that came of any of these items, oldest first.
    pub fn descendants_of_any(&self, of: &[u64]) -> Vec<u64> {
        let mut found = BTreeSet::new();
        let mut next = of.to_vec();
        while let Some(event) = next.pop() {
            let new = self.children_of(event).into_iter().filter(|child| found.insert(*child));
            next.extend(new);
        }
        found.into_iter().collect()
    }

    /// The items that a revocation of this channel would withhold by themselves, for an interval of admission times in ms.
    pub fn through_channel(&self, number: u32, from_ms: u64, until_ms: u64) -> Vec<u64> {
        self.bound_by(&Interval { channel: true, number, from_ms, until_ms, event: 0 })
    }

    /// The same of this author.
    pub fn by_author(&self, number: u32, from_ms: u64, until_ms: u64) -> Vec<u64> {
        self.bound_by(&Interval { channel: false, number, from_ms, until_ms, event: 0 })
    }

    fn bound_by(&self, interval: &Interval) -> Vec<u64> {
        let bound = self.items.iter().filter(|it| interval.binds(it.channel, it.author, it.at_ms));
        bound.map(|item| item.event).collect()
    }

    /// The event that revoked this channel for all of such an interval already.
    pub fn channel_revoked(&self, number: u32, from_ms: u64, until_ms: u64) -> Option<u64> {
        self.covered_by(&Interval { channel: true, number, from_ms, until_ms, event: 0 })
    }

    /// The same of this author.
    pub fn author_revoked(&self, number: u32, from_ms: u64, until_ms: u64) -> Option<u64> {
        self.covered_by(&Interval { channel: false, number, from_ms, until_ms, event: 0 })
    }

    fn covered_by(&self, interval: &Interval) -> Option<u64> {
        self.intervals.iter().find(|known| known.covers(interval)).map(|known| known.event)
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
        let exact = || self.approvals.get(self.approved.get(&(session, *call))?);
        let found = if self.rules.hold(Rule::ExactCall) {
            exact()
        } else {
            self.approvals.values().find(|approval| approval.session == session)
        };
        found.filter(|approval| now_ms <= approval.until_ms)
    }

    /// Whether any call of this session has an approval.
    pub(crate) fn has_approvals(&self, session: u32) -> bool {
        let first = (session, Digest::from_bytes([0; 32]));
        self.approved.range(first..).next().is_some_and(|((of, _), _)| *of == session)
    }

    /// Every approval that was not used yet.
    pub fn approvals(&self) -> impl Iterator<Item = &Approval> {
        self.approvals.values()
    }

    /// An adapter by its number.
    pub fn adapter(&self, number: u32) -> Option<&Adapter> {
        self.adapters.get(&number)?.last()
    }

    /// Every adapter, as it was enrolled last.
    pub fn adapters(&self) -> impl Iterator<Item = (u32, &Adapter)> {
        self.adapters.iter().filter_map(|(number, all)| Some((*number, all.last()?)))
    }

    /// Everything that was quarantined, released or not.
    pub fn held(&self) -> impl Iterator<Item = &Held> {
        self.held.values()
    }

    /// One thing that was quarantined, by its event.
    pub fn held_at(&self, event: u64) -> Option<&Held> {
        self.held.get(&event)
    }

    /// What quarantines an entry with this content now.
    pub(crate) fn holding(&self, entry: Fingerprint, content: &Digest) -> Option<&Held> {
        let held = self.held_of.get(&entry)?.iter().rev().filter_map(|event| self.held.get(event));
        held.into_iter().find(|held| held.released.is_none() && held.content == *content)
    }

    /// How many entries are in quarantine.
    pub const fn unreleased(&self) -> usize {
        self.unreleased
    }

    /// The newest decision on a call of a session.
    pub fn latest(&self, session: u32, call: &Digest) -> Option<(u64, &Decided)> {
        self.decision(*self.latest.get(&(session, *call))?)
    }

    /// A decision by its event.
    pub fn decision(&self, event: u64) -> Option<(u64, &Decided)> {
        let at = self.decisions.binary_search_by_key(&event, |(event, _)| *event).ok()?;
        self.decisions.get(at).map(|(event, decided)| (*event, decided))
    }

    /// Calls that wait for the owner: the newest decision on each is a question, or a no with a receipt.
    pub fn pending(&self) -> impl Iterator<Item = (u64, &Decided)> {
        self.asked_since.keys().filter_map(|(session, call)| self.latest(*session, call))
    }

    /// The call that waits for the owner and that this decision asked about, at first or again.
    pub(crate) fn asked_by(&self, receipt: u64) -> Option<&Decided> {
        let (_, decided) = self.decision(receipt)?;
        let since = self.asked_since.get(&(decided.session, decided.call))?;
        (*since <= receipt).then_some(decided)
    }

    /// Whether the newest decision on a call of a session waits for the owner still.
    pub(crate) fn is_pending(&self, session: u32, call: &Digest) -> bool {
        self.asked_since.contains_key(&(session, *call))
    }

    /// How many calls of this session that come from this channel wait for the owner.
    pub(crate) fn waiting(&self, session: u32, channel: Option<u32>) -> usize {
        self.waiting.get(&(session, channel)).map_or(0, BTreeSet::len)
    }

    fn channel_of(&self, origin: Option<u64>) -> Option<u32> {
        origin.and_then(|origin| self.item(origin)).map(|item| item.channel)
    }

    /// What was decided, allowed, while this or anything that came of it was before the model: what it may have brought
    /// about.
    pub fn uses(&self, of: u64) -> Vec<u64> {
        self.uses_of_any(&[of])
    }

    /// The same for several things together.
    pub fn uses_of_any(&self, of: &[u64]) -> Vec<u64> {
        let all = of.iter().copied().chain(self.descendants_of_any(of));
        let mut since: BTreeMap<u32, u64> = BTreeMap::new();
        for event in all {
            for number in self.sessions_with(event) {
                let first = since.entry(number).or_insert(event);
                *first = (*first).min(event);
            }
            for (number, session) in &self.sessions {
                if session.task == Some(event) {
                    since.entry(*number).or_insert(event);
                }
            }
        }
        let used = self.decisions.iter().filter(|(event, decided)| {
            decided.decision == Decision::Allow
                && since.get(&decided.session).is_some_and(|first| first < event)
        });
        used.map(|(event, _)| *event).collect()
    }

    /// Every decision that was recorded, with its event.
    pub fn decisions(&self) -> &[(u64, Decided)] {
        &self.decisions
    }

    /// The first decision on a call id of a session.
    pub fn answer_to(&self, session: u32, call_id: &Digest) -> Option<(u64, &Decided)> {
        self.decision(*self.answered.get(&(session, *call_id))?)
    }

    // Folding. Each refuses what a sound writer does not write.

    pub(crate) fn fold_opened(&mut self, event: u64, opened: &Opened) -> Result<(), EventFlaw> {
        let Opened { session: number, adapter, start, from } = *opened;
        if let Some(adapter) = adapter.filter(|adapter| self.adapter(*adapter).is_none()) {
            return Err(EventFlaw::NotEnrolled { adapter });
        }
        if self.sessions.contains_key(&number) {
            return Err(EventFlaw::OpenedTwice { session: number });
        }
        let mut session = Session {
            opened: event,
            adapter,
            start,
            seen: Vec::new(),
            from: 0,
            least: Authority::User,
            trigger: None,
            task: None,
            derived: Vec::new(),
            rests_on: BTreeSet::new(),
        };
        match (start, from) {
            (Start::Fresh, _) => {}
            (Start::Unknown, _) if !self.rules.hold(Rule::UnknownContext) => {}
            (Start::Unknown, _) => session.least = Authority::Untrusted,
            (Start::Subagent, from) => {
                let from = from.and_then(|from| u32::try_from(from).ok()).unwrap_or(u32::MAX);
                let no_session = EventFlaw::NoSession { session: from };
                let parent = self.sessions.get(&from).ok_or(no_session)?;
                session.seen = parent.context().to_vec();
                session.least = parent.least;
                session.trigger = parent.trigger;
                session.task = parent.task;
                session.rests_on.clone_from(&parent.rests_on);
            }
            (Start::Fired, record) => {
                let record = record.unwrap_or(u64::MAX);
                let task = self.entry(record, Some(EntryKind::Task))?;
                let (authority, channel) = (self.standing(task), task.channel);
                let kind = TriggerKind::Task(record);
                session.trigger = Some(Trigger { event: record, authority, kind, channel });
                session.task = Some(record);
                session.take(record, authority, &task.rests_on);
            }
        }
        for event in &session.seen {
            self.also_in.entry(*event).or_default().push(number);
        }
        self.sessions.insert(number, session);
        Ok(())
    }

    /// The record of an entry, of one kind or of any.
    fn entry(&self, record: u64, wanted: Option<EntryKind>) -> Result<&Item, EventFlaw> {
        let is_entry = |item: &&Item| match item.what {
            ItemKind::Entry { kind, .. } => wanted.is_none_or(|wanted| wanted == kind),
            ItemKind::Seen(_) => false,
        };
        self.item(record).filter(is_entry).ok_or(EventFlaw::NoEvent { event: record })
    }

    pub(crate) fn fold_observed(
        &mut self,
        event: u64,
        at_ms: u64,
        observed: &Observed,
    ) -> Result<(), EventFlaw> {
        let Observed { session: number, seen, channel, author, content, .. } = *observed;
        let no_session = EventFlaw::NoSession { session: number };
        let session = self.sessions.get(&number).ok_or(no_session)?;
        // What is recalled is never more than its record, and nothing if it is not what the record says.
        let recalled = match observed.record {
            Some(record) => {
                let record = self.entry(record, None)?;
                let same = record.content == content;
                if same { self.standing(record) } else { Authority::Untrusted }
            }
            None if seen == Seen::Recalled => Authority::Untrusted,
            None => Authority::User,
        };
        let recalled = if self.rules.hold(Rule::Recalled) { recalled } else { Authority::User };
        let parents = match (seen, observed.record) {
            (Seen::Summary, _) => {
                let (from, until) = (session.from, session.seen.len());
                Lineage::Context { session: number, from, until }
            }
            (_, Some(record)) => Lineage::These([record].into()),
            (_, None) => Lineage::Root,
        };
        let most = match seen {
            Seen::Summary if !self.rules.hold(Rule::Summary) => Authority::Derived,
            Seen::Refusal if !self.rules.hold(Rule::Refusal) => Authority::User,
            Seen::Summary => session.least.meet(Authority::Derived),
            Seen::Refusal => Authority::Untrusted,
            Seen::Turn | Seen::Result | Seen::Recalled | Seen::Inbound | Seen::Reset => {
                Authority::User
            }
        };
        let rests_on: Box<[u32]> = match (seen, observed.record, observed.authority) {
            (Seen::Summary, _, _) => session.rests_on.iter().copied().collect(),
            (_, Some(record), _) => self.rest_of(&[record]),
            (_, None, Authority::Approved | Authority::Derived) => [channel].into(),
            (_, None, Authority::Untrusted | Authority::User) => [].into(),
        };
        let item = Item {
            event,
            at_ms,
            channel,
            author,
            authority: observed.authority.meet(recalled).meet(most),
            content,
            session: Some(number),
            what: ItemKind::Seen(seen),
            withheld: self.withheld_at_once(&parents, channel, author, at_ms),
            rests_on: rests_on.clone(),
            parents,
        };
        let authority = self.standing(&item);
        let task = session.task.and_then(|task| self.item(task));
        let task = task.map(|task| (task.event, self.standing(task), task.rests_on.clone()));
        self.push(item);
        let Some(session) = self.sessions.get_mut(&number) else { return Ok(()) };
        let trigger = |kind| Some(Trigger { event, authority, kind, channel });
        match seen {
            Seen::Reset => {
                session.from = session.seen.len();
                session.least = Authority::User;
                session.trigger = None;
                session.rests_on.clear();
                // What fired it stays: such a session never has more authority than its task.
                if let Some((task, authority, rests_on)) = task {
                    session.take(task, authority, &rests_on);
                    let at = self.also_in.entry(task).or_default();
                    if !at.contains(&number) {
                        at.push(number);
                    }
                }
            }
            Seen::Turn => {
                session.trigger = trigger(TriggerKind::Turn);
                session.take(event, authority, &rests_on);
            }
            Seen::Inbound => {
                session.trigger = trigger(TriggerKind::Inbound);
                session.take(event, authority, &rests_on);
            }
            Seen::Result | Seen::Recalled | Seen::Summary | Seen::Refusal => {
                session.take(event, authority, &rests_on);
            }
        }
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
        let session =
            wrote.session.map(|number| self.sessions.get(&number).ok_or(no_session.clone()));
        let session = session.transpose()?;
        let (parents, least, rests_on) = match (&wrote.parents, wrote.session.zip(session)) {
            (Parents::None, _) => (Lineage::Root, Authority::User, [].into()),
            (Parents::Context, None) => return Err(no_session),
            (Parents::Context, Some((number, session))) => {
                let (from, until) = (session.from, session.seen.len());
                let lineage = Lineage::Context { session: number, from, until };
                let rests_on = session.rests_on.iter().copied().collect();
                (lineage, session.least.meet(Authority::Derived), rests_on)
            }
            (Parents::Proven(events), _) => {
                let least = self.least_of(events, &wrote.content)?;
                (Lineage::These(events.clone().into()), least, self.rest_of(events))
            }
        };
        if wrote.authority > least && self.rules.hold(Rule::LeastOfAll) {
            return Err(EventFlaw::Raised { claimed: wrote.authority, least });
        }
        let withheld = self.withheld_at_once(&parents, wrote.channel, wrote.author, at_ms);
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
            rests_on,
            withheld,
        });
        Ok(())
    }

    /// The channels on whose word any of these rests.
    fn rest_of(&self, events: &[u64]) -> Box<[u32]> {
        let items = events.iter().filter_map(|event| self.item(*event));
        let all: BTreeSet<u32> = items.flat_map(|item| item.rests_on.iter().copied()).collect();
        all.into_iter().collect()
    }

    /// The least of proven parents. What is one of them word for word keeps its authority; anything else is derived.
    pub(crate) fn least_of(
        &self,
        events: &[u64],
        content: &Digest,
    ) -> Result<Authority, EventFlaw> {
        let mut least = Authority::Derived;
        if let [only] = events
            && self.item(*only).is_some_and(|item| item.content == *content)
        {
            least = Authority::User;
        }
        for event in events {
            let item = self.item(*event).ok_or(EventFlaw::NoEvent { event: *event })?;
            least = least.meet(self.standing(item));
        }
        Ok(least)
    }

    /// Why something is withheld from the moment it is admitted: what it came of is, or its channel or author was revoked for
    /// an interval that goes on.
    fn withheld_at_once(
        &self,
        parents: &Lineage,
        channel: u32,
        author: u32,
        at_ms: u64,
    ) -> Option<Withheld> {
        let revoked = self.intervals.iter().find(|it| it.binds(channel, author, at_ms));
        if let Some(revoked) = revoked {
            return Some(Withheld::Revoked(revoked.event));
        }
        let withheld =
            |event: &&u64| self.item(**event).is_some_and(|item| item.withheld.is_some());
        self.events_of(parents).iter().find(withheld).copied().map(Withheld::Ancestor)
    }

    fn push(&mut self, item: Item) {
        match &item.parents {
            Lineage::Root => {}
            Lineage::Context { session, .. } => {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.derived.push(item.event);
                }
            }
            Lineage::These(parents) => {
                for parent in parents.iter().collect::<BTreeSet<_>>() {
                    self.children.entry(*parent).or_default().push(item.event);
                }
            }
        }
        self.items.push(item);
    }

    pub(crate) fn fold_superseded(
        &mut self,
        event: u64,
        superseded: &Superseded,
    ) -> Result<(), EventFlaw> {
        self.entry(superseded.record, None)?;
        if let Some(by) = superseded.by {
            self.entry(by, None)?;
            if by == superseded.record {
                return Err(EventFlaw::NoEvent { event: by });
            }
        }
        self.withhold(vec![(superseded.record, Withheld::Superseded(event))], superseded.by);
        Ok(())
    }

    pub(crate) fn fold_revoked(
        &mut self,
        event: u64,
        revoked: &Revoked<'_>,
    ) -> Result<(), EventFlaw> {
        let target = revoked.target;
        let missing = EventFlaw::NoEvent { event: target };
        let number = u32::try_from(target).unwrap_or(u32::MAX);
        match revoked.what {
            // Runs are another view's.
            Revokes::Run => {}
            Revokes::Record => {
                self.item(target).ok_or(missing)?;
                self.withhold(vec![(target, Withheld::Revoked(event))], None);
            }
            Revokes::Channel | Revokes::Author => {
                let (from_ms, until_ms) = revoked.interval.unwrap_or((0, u64::MAX));
                let channel = revoked.what == Revokes::Channel;
                let interval = Interval { channel, number, from_ms, until_ms, event };
                let bound = self
                    .items
                    .iter()
                    .filter(|item| interval.binds(item.channel, item.author, item.at_ms))
                    .map(|item| (item.event, Withheld::Revoked(event)));
                let bound = bound.collect();
                self.intervals.push(interval);
                self.withhold(bound, None);
            }
            Revokes::Mandate => {
                self.mandates.get_mut(&target).ok_or(missing)?.revoked.get_or_insert(event);
            }
            Revokes::Adapter => {
                let flaw = EventFlaw::NotEnrolled { adapter: number };
                for adapter in self.adapters.get_mut(&number).ok_or(flaw)? {
                    adapter.revoked.get_or_insert(event);
                }
            }
        }
        Ok(())
    }

    /// Withholds these, and everything that came of them but `spared` and what came only of that: what replaces an entry may
    /// come of it. What is withheld already stays so for its own reason, and what came of it is looked at all the same: some
    /// of it may have been spared before.
    fn withhold(&mut self, named: Vec<(u64, Withheld)>, spared: Option<u64>) {
        let mut seen = BTreeSet::new();
        let mut next = named;
        while let Some((event, why)) = next.pop() {
            if spared == Some(event) || !seen.insert(event) {
                continue;
            }
            let Ok(at) = self.items.binary_search_by_key(&event, |item| item.event) else {
                continue;
            };
            if let Some(item) = self.items.get_mut(at) {
                item.withheld.get_or_insert(why);
            }
            // A context that holds something withheld is worth no more than the least.
            for number in self.sessions_with(event).collect::<Vec<_>>() {
                let Some(session) = self.sessions.get_mut(&number) else { continue };
                if session.context().contains(&event) {
                    session.least = Authority::Untrusted;
                }
                if let Some(trigger) = session.trigger.as_mut().filter(|it| it.event == event) {
                    trigger.authority = Authority::Untrusted;
                }
            }
            let children = self.children_of(event).into_iter();
            next.extend(children.map(|child| (child, Withheld::Ancestor(event))));
        }
    }

    pub(crate) fn fold_quarantined(
        &mut self,
        event: u64,
        quarantined: &Quarantined<'_>,
        entry: Fingerprint,
    ) -> Result<(), EventFlaw> {
        if let Some(record) = quarantined.record {
            // An entry whose content is not that of its record is held by its content; the record itself is not to blame.
            if self.entry(record, None)?.content == quarantined.content {
                self.withhold(vec![(record, Withheld::Quarantined(event))], None);
            }
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
        self.held_of.entry(entry).or_default().push(event);
        self.unreleased += 1;
        Ok(())
    }

    pub(crate) fn fold_released(
        &mut self,
        event: u64,
        released: &Released,
    ) -> Result<(), EventFlaw> {
        let Released { quarantined, record, .. } = *released;
        // Only what the owner wrote releases.
        self.entry(record, None)
            .ok()
            .filter(|item| item.parents == Lineage::Root)
            .ok_or(EventFlaw::NoEvent { event: record })?;
        let held = self.held.get_mut(&quarantined).filter(|held| held.released.is_none());
        let held = held.ok_or(EventFlaw::NoEvent { event: quarantined })?;
        held.released = Some(Release { event, record });
        self.unreleased = self.unreleased.saturating_sub(1);
        Ok(())
    }

    pub(crate) fn fold_granted(
        &mut self,
        event: u64,
        granted: &Granted<'_>,
    ) -> Result<(), EventFlaw> {
        if let Some(parent) = granted.parent {
            let wider = EventFlaw::Widens { of: parent };
            let missing = EventFlaw::NoEvent { event: parent };
            if !self.mandates.get(&parent).ok_or(missing)?.is_narrowed_by(granted) {
                return Err(wider);
            }
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
        self.approved.insert((session, call), event);
        self.asked_since.remove(&(session, call));
        if let Some(channel) = self.latest(session, &call).map(|(_, decided)| decided.origin) {
            self.stops_waiting(session, self.channel_of(channel), &call);
        }
        Ok(())
    }

    /// An approval is gone once spent; a mandate and all it draws on lose a use and the amount, or none of them does.
    pub(crate) fn fold_spent(&mut self, spent: &Spent) -> Result<(), EventFlaw> {
        let over = EventFlaw::Overspent { of: spent.of };
        match spent.what {
            Spends::Approval | Spends::Mandate if !self.rules.hold(Rule::Spent) => Ok(()),
            Spends::Approval => {
                let spent = self.approvals.remove(&spent.of).ok_or(over)?;
                let key = (spent.session, spent.call);
                if self.approved.get(&key) == Some(&spent.event) {
                    self.approved.remove(&key);
                }
                Ok(())
            }
            Spends::Mandate => {
                if !self.covers(spent.of, spent.amount) {
                    return Err(over);
                }
                let drawn_on = self.drawn_on(spent.of);
                for event in drawn_on {
                    if let Some(mandate) = self.mandates.get_mut(&event) {
                        mandate.spend(spent.amount);
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether a mandate and all it draws on have a use and this amount left.
    pub(crate) fn covers(&self, mandate: u64, amount: u64) -> bool {
        let covers =
            |event: &u64| self.mandates.get(event).is_some_and(|mandate| mandate.covers(amount));
        self.drawn_on(mandate).iter().all(covers) || !self.rules.hold(Rule::Spent)
    }

    /// A mandate and those it draws on, itself first. One that is not there any more is listed too, and covers nothing.
    fn drawn_on(&self, mandate: u64) -> Vec<u64> {
        let parent = |event: &u64| self.mandates.get(event).and_then(|mandate| mandate.parent);
        core::iter::successors(Some(mandate), parent).collect()
    }

    pub(crate) fn fold_decided(&mut self, event: u64, decided: &Decided) -> Result<(), EventFlaw> {
        let session = decided.session;
        if !self.sessions.contains_key(&session) {
            return Err(EventFlaw::NoSession { session });
        }
        if decided.call_id != Digest::from_bytes([0; 32]) {
            self.answered.entry((session, decided.call_id)).or_insert(event);
        }
        let call = decided.call;
        let before = self.latest.insert((session, call), event);
        if let Some(origin) = before.and_then(|event| self.decision(event)).map(|(_, it)| it.origin)
        {
            self.stops_waiting(session, self.channel_of(origin), &call);
        }
        if waits(decided) {
            let key = (session, self.channel_of(decided.origin));
            self.waiting.entry(key).or_default().insert(call);
            self.asked_since.entry((session, call)).or_insert(event);
        } else {
            self.asked_since.remove(&(session, call));
        }
        self.decisions.push((event, *decided));
        Ok(())
    }

    fn stops_waiting(&mut self, session: u32, channel: Option<u32>, call: &Digest) {
        if let Some(waiting) = self.waiting.get_mut(&(session, channel)) {
            waiting.remove(call);
        }
    }

    pub(crate) fn fold_enrolled(&mut self, event: u64, enrolled: &Enrolled<'_>) {
        let channels = enrolled.channels.iter().map(|&channel| channel.into()).collect();
        let credential = enrolled.credential;
        let adapter = Adapter { event, credential, channels, revoked: None };
        self.adapters.entry(enrolled.adapter).or_default().push(adapter);
    }

    /// After a loss: approvals, mandates and enrolments are void, and what came before counts as `Untrusted` until it is
    /// adopted again.
    pub(crate) fn void_before(&mut self, event: u64) {
        self.void_before = event;
        self.approvals.clear();
        self.approved.clear();
        self.mandates.clear();
        self.adapters.clear();
        self.answered.clear();
        for session in self.sessions.values_mut() {
            session.least = Authority::Untrusted;
            session.trigger = None;
        }
    }

    /// A record of before a loss that the owner resolved.
    pub const fn is_void(&self, item: &Item) -> bool {
        item.event < self.void_before
    }

    /// Whether a session began before a loss that the owner resolved.
    pub(crate) fn is_session_void(&self, session: &Session) -> bool {
        session.opened < self.void_before
    }

    /// What went up at or after `first` was never acknowledged and does not count: approvals, mandates, enrolments, releases,
    /// what the owner wrote or adopted, and answers to calls. What went down does: revoked, superseded, quarantined, spent.
    pub(crate) fn confirm_before(&mut self, first: u64) {
        self.approvals.retain(|event, _| *event < first);
        let unconfirmed = self.approved.extract_if(.., |_, event| *event >= first);
        let unconfirmed: Vec<(u32, Digest)> = unconfirmed.map(|(key, _)| key).collect();
        for (session, call) in unconfirmed {
            let latest = self.latest(session, &call).filter(|(_, decided)| waits(decided));
            if let Some((event, _)) = latest {
                self.asked_since.entry((session, call)).or_insert(event);
            }
        }
        self.mandates.retain(|event, _| *event < first);
        self.answered.retain(|_, event| *event < first);
        for enrolments in self.adapters.values_mut() {
            enrolments.retain(|adapter| adapter.event < first);
        }
        self.adapters.retain(|_, enrolments| !enrolments.is_empty());
        for held in self.held.values_mut() {
            held.released = held.released.filter(|release| release.event < first);
        }
        self.unreleased = self.held.values().filter(|held| held.released.is_none()).count();
        let beyond = self.items.partition_point(|item| item.event < first);
        let by_owner = |item: &&Item| match item.what {
            ItemKind::Entry { owner, .. } => owner.is_some(),
            ItemKind::Seen(_) => false,
        };
        let unconfirmed = self.items.iter().skip(beyond).filter(by_owner);
        let unconfirmed = unconfirmed.map(|item| (item.event, Withheld::Unconfirmed)).collect();
        self.withhold(unconfirmed, None);
    }
}

/// A question, or a no that the owner can turn into a yes.
fn waits(decided: &Decided) -> bool {
    match decided.decision {
        Decision::Ask => true,
        Decision::Deny => RECEIPTED.contains(&decided.reason),
        Decision::Allow | Decision::Label | Decision::Quarantine => false,
    }
}

/// Everything through one channel, or by one author, within an interval of admission times. It also binds what is admitted
/// after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    /// A channel's number, else an author's.
    channel: bool,
    number: u32,
    from_ms: u64,
    until_ms: u64,
    event: u64,
}

impl Interval {
    fn binds(&self, channel: u32, author: u32, at_ms: u64) -> bool {
        let number = if self.channel { channel } else { author };
        number == self.number && (self.from_ms..=self.until_ms).contains(&at_ms)
    }

    const fn covers(&self, other: &Self) -> bool {
        self.channel == other.channel
            && self.number == other.number
            && self.from_ms <= other.from_ms
            && self.until_ms >= other.until_ms
    }
}

impl Item {
    /// What stands for it in the fingerprint of what comes of it.
    pub(crate) const fn identity(&self) -> Digest {
        match self.what {
            ItemKind::Entry { fingerprint, .. } => fingerprint,
            ItemKind::Seen(_) => self.content,
        }
    }
}

impl Adapter {
    /// The digest that an enrolment holds of a credential.
    pub fn credential_digest(secret: &[u8]) -> Digest {
        Digest::of("actum/credential/v1", &[secret])
    }

    /// Whether this is its credential; compared in constant time. None is once it was taken back.
    pub fn is_credential(&self, secret: &[u8]) -> bool {
        let mac = |digest: &Digest| Mac::from_bytes(*digest.as_bytes());
        mac(&Self::credential_digest(secret)) == mac(&self.credential) && self.revoked.is_none()
    }

    /// Whether the owner gave it this channel.
    pub fn names(&self, channel: &ChannelName) -> bool {
        self.channels.iter().any(|pattern| {
            ChannelPattern::read(pattern).is_some_and(|pattern| pattern.names(channel))
        })
    }
}

impl Session {
    fn take(&mut self, event: u64, authority: Authority, rests_on: &[u32]) {
        self.seen.push(event);
        self.least = self.least.meet(authority);
        self.rests_on.extend(rests_on);
    }
}

impl Mandate {
    /// One that draws on this one may only narrow it.
    pub(crate) fn is_narrowed_by(&self, granted: &Granted<'_>) -> bool {
        let same =
            |limit: &Limit<'_>, (argument, kind, values): &(Box<str>, LimitKind, Vec<Box<str>>)| {
                limit.argument == &**argument
                    && limit.kind == *kind
                    && limit.values.len() == values.len()
                    && limit.values.iter().zip(values).all(|(one, other)| *one == &**other)
            };
        let keeps = |ours| granted.limits.iter().any(|limit| same(limit, ours));
        let summed = match (&self.budget_left, &granted.budget) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((ours, _)), Some((theirs, _))) => **ours == **theirs,
        };
        self.revoked.is_none()
            && granted.called == self.called
            && (granted.audience, granted.audience_of) == (self.audience, self.audience_of)
            && granted.from_ms >= self.from_ms
            && granted.until_ms <= self.until_ms
            && summed
            && self.limits.iter().all(keeps)
    }

    /// Whether a use of this amount is left.
    pub(crate) fn covers(&self, amount: u64) -> bool {
        let budget = self.budget_left.as_ref().is_none_or(|(_, left)| amount <= *left);
        self.revoked.is_none() && self.uses_left > 0 && budget
    }

    fn spend(&mut self, amount: u64) {
        self.uses_left = self.uses_left.saturating_sub(1);
        if let Some((_, left)) = &mut self.budget_left {
            *left = left.saturating_sub(amount);
        }
    }
}
