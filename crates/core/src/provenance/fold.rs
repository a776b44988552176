//! How each event changes the provenance views. Each fold refuses what a sound writer does not write, and then has changed
//! nothing.

use std::collections::BTreeSet;

use super::{
    Adapter, Approval, Held, Interval, Item, ItemKind, Lineage, Mandate, Provenance, Release,
    Session, Trigger, TriggerKind, Withheld, waits,
};
use crate::authority::Authority;
use crate::canon::Digest;
use crate::chain::EventFlaw;
use crate::event::{
    Consented, Decided, Enrolled, EntryKind, Granted, Observed, Opened, Parents, Quarantined,
    Released, Revoked, Revokes, Seen, Spends, Spent, Start, Superseded, Wrote,
};
use crate::fingerprint::Fingerprint;
use crate::rule::Rule;

impl Provenance {
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
            (Start::Unknown | Start::Partial | Start::Interactive, _) => {
                if self.rules.hold(Rule::UnknownContext) {
                    session.least = Authority::Untrusted;
                }
            }
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
        self.newest.insert(entry, u32::try_from(self.items.len()).unwrap_or(u32::MAX));
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

impl Session {
    fn take(&mut self, event: u64, authority: Authority, rests_on: &[u32]) {
        self.seen.push(event);
        self.least = self.least.meet(authority);
        self.rests_on.extend(rests_on);
    }
}
