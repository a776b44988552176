//! What `actum log` says of the events about what an agent remembers, calls and is allowed.

use actum_core::{
    Decided, DecisionCode, Event, Granted, Observed, Opened, Owner, Parents, Revoked, Revokes,
    Space, Views, Wrote,
};
use serde_json::{Value, json};

use super::thing::code_in_words;
use crate::time::{local, utc};

/// An event of these kinds in words and as facts; any other has neither.
pub(super) fn remembered(event: &Event<'_>, views: &Views) -> (String, Value) {
    let text = |space, number| {
        let name = views.name(space, number).unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    };
    match event {
        Event::Revoked(revoked) => revoked_thing(revoked, &text),
        Event::Opened(opened) => opened_session(opened, &text),
        Event::Observed(observed) => observed_thing(observed, &text),
        Event::Wrote(wrote) => wrote_entry(wrote, &text),
        Event::Superseded(superseded) => {
            let (record, by) = (superseded.record, superseded.by);
            let words = match by {
                Some(by) => format!("record {record} is replaced by {by}"),
                None => format!("record {record} is taken back"),
            };
            let owner = superseded.owner.map(Owner::word);
            (words, json!({ "record": record, "by": by, "owner": owner }))
        }
        Event::Quarantined(held) => (
            format!("{} is withheld ({})", held.name, code_in_words(held.reason)),
            json!({
                "record": held.record,
                "namespace": text(Space::Namespace, held.namespace),
                "name": held.name,
                "content": held.content.to_string(),
                "reason": held.reason,
                "code": code_word(held.reason),
            }),
        ),
        Event::Released(released) => {
            let (held, record, owner) = (released.quarantined, released.record, released.owner);
            (
                format!("what {held} withheld is record {record} now (owner known by {owner})"),
                json!({ "quarantined": held, "record": record, "owner": owner.word() }),
            )
        }
        Event::Granted(granted) => granted_mandate(granted, &text),
        Event::Consented(consented) => {
            let (session, owner) = (text(Space::Session, consented.session), consented.owner);
            let call = consented.call.short();
            let until = local(consented.until_ms);
            (
                format!("call {call} in {session}, until {until} (owner known by {owner})"),
                json!({
                    "session": session,
                    "call": consented.call.to_string(),
                    "until": utc(consented.until_ms),
                    "owner": owner.word(),
                }),
            )
        }
        Event::Spent(spent) => {
            let (what, of, amount) = (spent.what, spent.of, spent.amount);
            let words = format!("{what} {of} is used");
            (words, json!({ "what": what.word(), "of": of, "amount_millionths": amount }))
        }
        Event::Decided(decided) => decided_call(decided, &text),
        Event::Enrolled(enrolled) => {
            let (adapter, owner) = (text(Space::Adapter, enrolled.adapter), enrolled.owner);
            let channels = enrolled.channels.join(", ");
            (
                format!("adapter {adapter} may observe {channels} (owner known by {owner})"),
                json!({
                    "adapter": adapter,
                    "credential": enrolled.credential.to_string(),
                    "channels": enrolled.channels,
                    "owner": owner.word(),
                }),
            )
        }
        Event::Genesis { .. }
        | Event::Named { .. }
        | Event::Policy { .. }
        | Event::Began(_)
        | Event::Ended(_)
        | Event::Clock { .. }
        | Event::Recovered { .. }
        | Event::Resolved { .. }
        | Event::Rotated { .. } => (String::new(), json!({})),
    }
}

fn code_word(number: u16) -> Option<&'static str> {
    DecisionCode::from_number(number).map(DecisionCode::code)
}

fn opened_session(opened: &Opened, text: &dyn Fn(Space, u32) -> String) -> (String, Value) {
    let session = text(Space::Session, opened.session);
    let adapter = opened.adapter.map(|number| text(Space::Adapter, number));
    let seen_by = adapter.as_deref().unwrap_or("the owner");
    (
        format!("session {session}: {}, seen by {seen_by}", opened.start),
        json!({
            "session": session,
            "adapter": adapter,
            "start": opened.start.word(),
            "from": opened.from,
        }),
    )
}

fn observed_thing(observed: &Observed, text: &dyn Fn(Space, u32) -> String) -> (String, Value) {
    let session = text(Space::Session, observed.session);
    let channel = text(Space::Channel, observed.channel);
    let (seen, authority) = (observed.seen, observed.authority);
    (
        format!("{seen} in {session} through {channel}: {authority}"),
        json!({
            "session": session,
            "seen": seen.word(),
            "channel": channel,
            "author": text(Space::Author, observed.author),
            "authority": authority.word(),
            "record": observed.record,
            "content": observed.content.to_string(),
        }),
    )
}

fn wrote_entry(wrote: &Wrote<'_>, text: &dyn Fn(Space, u32) -> String) -> (String, Value) {
    let session = wrote.session.map(|number| text(Space::Session, number));
    let (entry, name, authority) = (wrote.entry, wrote.name, wrote.authority);
    let parents = match &wrote.parents {
        Parents::None => json!([]),
        Parents::Context => json!("context"),
        Parents::Proven(parents) => json!(parents),
    };
    (
        format!("{entry} {name}: {authority}"),
        json!({
            "session": session,
            "entry": entry.word(),
            "namespace": text(Space::Namespace, wrote.namespace),
            "name": name,
            "channel": text(Space::Channel, wrote.channel),
            "author": text(Space::Author, wrote.author),
            "authority": authority.word(),
            "parents": parents,
            "policy": wrote.policy,
            "content": wrote.content.to_string(),
            "fingerprint": wrote.fingerprint.to_string(),
            "owner": wrote.owner.map(Owner::word),
        }),
    )
}

fn granted_mandate(granted: &Granted<'_>, text: &dyn Fn(Space, u32) -> String) -> (String, Value) {
    let called = text(Space::Called, granted.called);
    let limits: Vec<_> = granted
        .limits
        .iter()
        .map(|limit| {
            let (argument, kind, values) = (limit.argument, limit.kind.word(), &limit.values);
            json!({ "argument": argument, "kind": kind, "values": values })
        })
        .collect();
    let budget = granted
        .budget
        .map(|(argument, most)| json!({ "argument": argument, "most_millionths": most }));
    (
        format!("{called}, {} times until {}", granted.uses, local(granted.until_ms)),
        json!({
            "called": called,
            "audience": granted.audience.word(),
            "audience_of": granted.audience_of,
            "from": utc(granted.from_ms),
            "until": utc(granted.until_ms),
            "uses": granted.uses,
            "budget": budget,
            "limits": limits,
            "parent": granted.parent,
            "owner": granted.owner.map(Owner::word),
        }),
    )
}

fn revoked_thing(revoked: &Revoked<'_>, text: &dyn Fn(Space, u32) -> String) -> (String, Value) {
    let number = u32::try_from(revoked.target).unwrap_or(u32::MAX);
    let target = match revoked.what {
        Revokes::Channel => text(Space::Channel, number),
        Revokes::Author => text(Space::Author, number),
        Revokes::Adapter => text(Space::Adapter, number),
        Revokes::Run | Revokes::Record | Revokes::Mandate => revoked.target.to_string(),
    };
    let (what, reason, owner) = (revoked.what, revoked.reason, revoked.owner);
    // An end that is open is no time.
    let from = revoked.interval.map(|(from, _)| from).filter(|from| *from > 0);
    let until = revoked.interval.map(|(_, until)| until).filter(|until| *until < u64::MAX);
    let from_words = from.map_or_else(String::new, |from| format!(" from {}", local(from)));
    let until_words = until.map_or_else(String::new, |until| format!(" until {}", local(until)));
    let during = format!("{from_words}{until_words}");
    (
        format!("{what} {target}{during}: {reason} (owner known by {owner})"),
        json!({
            "what": what.word(),
            "target": target,
            "from": from.map(utc),
            "until": until.map(utc),
            "reason": reason,
            "owner": owner.word(),
        }),
    )
}

fn decided_call(decided: &Decided, text: &dyn Fn(Space, u32) -> String) -> (String, Value) {
    let called = text(Space::Called, decided.called);
    let session = text(Space::Session, decided.session);
    let (decision, reason) = (decided.decision, decided.reason);
    (
        format!("{decision}: {called} in {session} ({})", code_in_words(reason)),
        json!({
            "session": session,
            "called": called,
            "call": decided.call.to_string(),
            "call_id": decided.call_id.to_string(),
            "decision": decision.word(),
            "reason": reason,
            "code": code_word(reason),
            "origin": decided.origin,
            "count": decided.count,
        }),
    )
}
