//! Entries at the moment they are used again: recalled to be read or acted on, or fired as a task.

use super::{AskedEntry, DecisionCode, Gate, Judgement, Purpose};
use crate::authority::Authority;
use crate::event::{EntryKind, Space};
use crate::looks::looks_like_instruction;
use crate::names::ChannelName;
use crate::policy::Profile;
use crate::provenance::{Item, ItemKind, Withheld};
use crate::rule::Rule;
use crate::views::Views;

/// Whether an entry may be used: `User`, `Approved` and `Derived` are served; `Untrusted` and unknown are served as data, and
/// not at all for action; what is not what its record says is quarantined, whatever its class.
pub fn judge_recall(
    views: &Views,
    gate: &Gate<'_>,
    asked: &AskedEntry<'_>,
    purpose: Purpose,
    now_ms: u64,
) -> Judgement {
    let record = asked.namespace.and_then(|number| views.record_of(number, asked.name));
    if let Some(judgement) = is_withheld(views, asked, record) {
        return judgement;
    }
    let Some(record) = record else {
        return as_data(views, gate, asked, None, DecisionCode::NoRecord, purpose);
    };
    if views.provenance().is_void(record) {
        return as_data(views, gate, asked, Some(record), DecisionCode::Void, purpose);
    }
    match authority_for(views, gate, record, None, now_ms) {
        Authority::Untrusted if views.rules().hold(Rule::Label) => {
            as_data(views, gate, asked, Some(record), DecisionCode::Untrusted, purpose)
        }
        Authority::Untrusted | Authority::Derived | Authority::Approved | Authority::User => {
            Judgement::of(DecisionCode::TrustedEntry, Some(record))
        }
    }
}

/// What holds of an entry whatever its class.
fn is_withheld(views: &Views, asked: &AskedEntry<'_>, record: Option<&Item>) -> Option<Judgement> {
    let (provenance, rules) = (views.provenance(), views.rules());
    let held = asked.namespace.and_then(|it| views.holding(it, asked.name, &asked.content));
    if let Some(held) = held.filter(|_| rules.hold(Rule::Held)) {
        let repeats = Some(held.event);
        return Some(Judgement { repeats, ..Judgement::of(DecisionCode::Held, record) });
    }
    let record = record?;
    if let Some(why) = record.withheld.filter(|why| provenance.minds(why)) {
        let code = match why {
            Withheld::Revoked(_) => DecisionCode::Revoked,
            Withheld::Superseded(_) => DecisionCode::Superseded,
            Withheld::Quarantined(_) => DecisionCode::Held,
            Withheld::Ancestor(_) => DecisionCode::AncestorWithheld,
            Withheld::Unconfirmed => DecisionCode::Unconfirmed,
        };
        let repeats = (code == DecisionCode::Held).then_some(record.event);
        return Some(Judgement { repeats, ..Judgement::of(code, Some(record)) });
    }
    let changed = record.content != asked.content && rules.hold(Rule::Changed);
    changed.then(|| Judgement::of(DecisionCode::Changed, Some(record)))
}

fn as_data(
    views: &Views,
    gate: &Gate<'_>,
    asked: &AskedEntry<'_>,
    record: Option<&Item>,
    code: DecisionCode,
    purpose: Purpose,
) -> Judgement {
    let strict = gate.force.is_some_and(|force| force.policy.profile() == Profile::Strict);
    let minds_looks = strict && views.rules().hold(Rule::Strict);
    if minds_looks && looks_like_instruction(asked.text).is_some() {
        return Judgement::of(DecisionCode::LooksLikeInstruction, record);
    }
    // The article blocks and quarantines what is about to cause a side effect as well.
    if minds_looks && purpose == Purpose::Action {
        return Judgement::of(DecisionCode::UntrustedAction, record);
    }
    match purpose {
        Purpose::Action if views.rules().hold(Rule::Label) => {
            Judgement::of(DecisionCode::NotForAction, record)
        }
        Purpose::Action | Purpose::Reading => Judgement::of(code, record),
    }
}

/// Whether a stored task may fire: the assembled prompt is what its record says, each thing it pins is what its own record
/// says, and nothing untrusted went into any of them.
pub fn judge_fire(
    views: &Views,
    gate: &Gate<'_>,
    task: &AskedEntry<'_>,
    pins: &[AskedEntry<'_>],
    now_ms: u64,
) -> Judgement {
    if gate.force.is_none() {
        return Judgement::new(DecisionCode::NoPolicy);
    }
    let record_of = |asked: &AskedEntry<'_>| {
        asked.namespace.and_then(|number| views.record_of(number, asked.name))
    };
    let record = record_of(task).filter(|item| match item.what {
        ItemKind::Entry { kind, .. } => kind == EntryKind::Task,
        ItemKind::Seen(_) => false,
    });
    let about = |judgement: Judgement| Judgement { record: record.map(|it| it.event), ..judgement };
    let Some(record) = record else {
        let held = is_withheld(views, task, None);
        return held.unwrap_or(Judgement::new(DecisionCode::UnknownTask));
    };
    let mut least = Authority::User;
    for asked in [task].into_iter().chain(pins) {
        let Some(item) = record_of(asked) else {
            return about(Judgement::new(DecisionCode::UnknownTask));
        };
        if let Some(judgement) = is_withheld(views, asked, Some(item)) {
            return about(judgement);
        }
        least = least.meet(authority_for(views, gate, item, None, now_ms));
    }
    match least {
        Authority::Untrusted if views.rules().hold(Rule::Fire) => {
            Judgement::of(DecisionCode::UntrustedTask, Some(record))
        }
        Authority::Untrusted | Authority::Derived | Authority::Approved | Authority::User => {
            Judgement::of(DecisionCode::TrustedTask, Some(record))
        }
    }
}

/// What an item is worth now, for the calls of a tool if one is named. What rests on the word of a channel, at first hand or
/// after any number of summaries and copies, lasts no longer and reaches no further than the channel's own line.
pub(crate) fn authority_for(
    views: &Views,
    gate: &Gate<'_>,
    item: &Item,
    tool: Option<&str>,
    now_ms: u64,
) -> Authority {
    let standing = views.provenance().standing(item);
    match standing {
        Authority::Untrusted | Authority::User => return standing,
        Authority::Derived | Authority::Approved => {}
    }
    let at_ms = if views.rules().hold(Rule::Expiry) { now_ms } else { item.at_ms };
    let tool = tool.filter(|_| views.rules().hold(Rule::Scope));
    let holds = |channel: &u32| is_approved(views, gate, *channel, standing, tool, at_ms);
    if item.rests_on.iter().all(holds) { standing } else { Authority::Untrusted }
}

/// Whether a channel is still worth that.
fn is_approved(
    views: &Views,
    gate: &Gate<'_>,
    channel: u32,
    standing: Authority,
    tool: Option<&str>,
    at_ms: u64,
) -> bool {
    let Some(force) = gate.force else { return false };
    let name = views.name(Space::Channel, channel).unwrap_or_default();
    let name = core::str::from_utf8(name).ok().and_then(|name| ChannelName::new(name).ok());
    let Some(channel) = name else { return false };
    let rule = force.policy.authority_of(&channel, at_ms);
    // What was carried has a line of its own, which is not known here any more.
    let is_carried = rule.inherits && standing == Authority::Derived;
    is_carried || tool.map_or(rule.authority, |tool| rule.reaches(tool)) >= Authority::Approved
}
