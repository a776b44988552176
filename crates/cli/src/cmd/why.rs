//! `actum why` and `actum trace`: where something came from, down to its roots, and what came of it.

use std::collections::{BTreeSet, VecDeque};

use actum_core::{
    Authority, Decided, Decision, DecisionCode, Item, ItemKind, Lineage, Seen, Space, Start, Views,
};
use actum_store::Cache;
use serde_json::{Value, json};

use super::inbox::judged_again;
use super::session::name_of;
use super::thing::{self, FIRE, times_of};
use crate::context::Context;
use crate::door::policy_of;
use crate::say::{Failure, Outcome, count, foreign};
use crate::time::{local, utc};

/// Links of a chain that are shown; the others are counted.
const LINKS_MAX: usize = 8;

pub(crate) fn why(context: &Context, event: u64) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let provenance = views.provenance();
    let chain = Chain { views, cache: Cache::of(context.places()) };
    let say = context.say;
    if let Some((_, decided)) = provenance.decision(event) {
        let at_ms = times_of(&snapshot, &BTreeSet::from([event]))?.get(&event).copied();
        let policy = policy_of(context, views);
        let arguments = judged_again(context, views, policy.as_ref(), decided);
        say.line(&decision_lines(views, event, decided, at_ms).join("\n"));
        let trigger = trigger_of(views, event, decided.session);
        if let Some(item) = trigger {
            say.line(&format!(
                "  the agent acted on event {}: {}",
                item.event,
                thing::in_words(views, item)
            ));
        }
        let arguments = arguments.unwrap_or_default();
        for bound in &arguments {
            say.line(&format!("  {}", thing::argument_lines(bound).join("\n  ")));
        }
        let origin = decided.origin.and_then(|origin| provenance.item(origin));
        let links = origin.map(|origin| chain.links(origin)).unwrap_or_default();
        if !links.is_empty() {
            say.line("  it rests on:");
        }
        chain.tell(context, &links);
        let mut value = thing::decision_to_json(views, event, decided);
        let more = json!({
            "at": at_ms.map(utc),
            "message": DecisionCode::from_number(decided.reason).map(DecisionCode::sentence),
            "way_out": DecisionCode::from_number(decided.reason).map(DecisionCode::way_out),
            "trigger": trigger.map(|item| item.event),
            "arguments": arguments.iter().map(super::act::argument_to_json).collect::<Vec<_>>(),
            "chain": chain.to_json(&links),
        });
        merge(&mut value, more);
        say.json(&value);
        return Ok(0);
    }
    // What was quarantined is explained by its record.
    let record = provenance.held_at(event).and_then(|held| held.record);
    let item = item_at(views, record.unwrap_or(event))?;
    if let Some(line) = held_line(views, event) {
        say.line(&line);
    }
    let links = chain.links(item);
    chain.tell(context, &links);
    let mut value = thing::to_json(views, item);
    merge(&mut value, json!({ "chain": chain.to_json(&links) }));
    say.json(&value);
    Ok(0)
}

pub(crate) fn trace(context: &Context, event: u64) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let provenance = views.provenance();
    let item = item_at(views, event)?;
    let descendants: Vec<&Item> =
        provenance.descendants(event).iter().filter_map(|event| provenance.item(*event)).collect();
    let uses = provenance.uses(event);
    let uses: Vec<(u64, &Decided)> =
        uses.iter().filter_map(|event| provenance.decision(*event)).collect();
    let say = context.say;
    say.line(&format!("{event:>6}  {}", thing::in_words(views, item)));
    say.line(&format!("{} came of it", count(descendants.len() as u64, "thing")));
    for item in &descendants {
        let (event, standing) = (item.event, provenance.standing(item));
        let state = thing::withheld_in_words(provenance, item);
        let state = state.map_or_else(String::new, |state| format!("; {state}"));
        let words = thing::in_words(views, item);
        say.line(&format!("{event:>6}  {words}: {standing}{state}"));
    }
    let calls = count(uses.len() as u64, "call");
    say.line(&format!("{calls} allowed while it, or anything of it, was before a model"));
    for (event, decided) in &uses {
        say.line(&thing::decision_in_words(views, *event, decided));
    }
    let mut value = thing::to_json(views, item);
    let descendants: Vec<_> = descendants.iter().map(|item| thing::to_json(views, item)).collect();
    let uses: Vec<_> =
        uses.iter().map(|(event, it)| thing::decision_to_json(views, *event, it)).collect();
    merge(&mut value, json!({ "descendants": descendants, "uses": uses }));
    say.json(&value);
    Ok(0)
}

fn item_at(views: &Views, event: u64) -> Outcome<&Item> {
    views.provenance().item(event).ok_or_else(|| {
        if let Some(held) = views.provenance().held_at(event) {
            let (name, code) = (&held.name, thing::code_in_words(held.reason));
            let message =
                format!("{name} is withheld ({code}) and has no record of where it came from");
            return Failure::usage(message)
                .hint("the owner looks at it: `actum quarantine`, then releases it or leaves it");
        }
        let what = if event < views.position().count {
            format!("event {event} is no record, nothing that was seen, and no decision")
        } else {
            format!("there is no event {event}")
        };
        Failure::usage(what).hint("`actum log` shows the events with their numbers")
    })
}

fn merge(value: &mut Value, more: Value) {
    if let (Value::Object(keys), Value::Object(more)) = (value, more) {
        keys.extend(more);
    }
}

fn decision_lines(views: &Views, event: u64, decided: &Decided, at_ms: Option<u64>) -> Vec<String> {
    let called = name_of(views, Space::Called, decided.called);
    let code = DecisionCode::from_number(decided.reason);
    let what = if called == FIRE {
        "a task that was to fire".to_owned()
    } else if code == Some(DecisionCode::Grounded) {
        format!("the skip of step {}", foreign(&called))
    } else {
        format!("the call of {}", foreign(&called))
    };
    let by = match decided.decision {
        Decision::Allow => "was allowed",
        Decision::Label => "was labelled",
        Decision::Ask => "became a question",
        Decision::Deny => "was denied",
        Decision::Quarantine => "was put in quarantine",
    };
    let at = at_ms.map_or_else(String::new, |at_ms| format!(" on {}", local(at_ms)));
    let session = foreign(&name_of(views, Space::Session, decided.session));
    let code_word = thing::code_in_words(decided.reason);
    let mut lines = vec![format!("decision {event}: {what} in {session} {by}{at} ({code_word})")];
    lines.extend(code.map(|code| format!("  {}", code.sentence())));
    lines
}

/// What an event withheld, if it is one that did.
fn held_line(views: &Views, event: u64) -> Option<String> {
    let held = views.provenance().held_at(event)?;
    let code = thing::code_in_words(held.reason);
    let why = DecisionCode::from_number(held.reason).map_or("", DecisionCode::sentence);
    let now =
        held.released.map_or_else(String::new, |it| format!(" Released by event {}.", it.event));
    Some(format!("event {event} withheld {} ({code}): {why}{now}", foreign(&held.name)))
}

/// What made the agent act: the newest turn or message before that in its session, unless its context was emptied since, or the
/// task that fired it.
fn trigger_of(views: &Views, event: u64, number: u32) -> Option<&Item> {
    let provenance = views.provenance();
    let session = provenance.session(number)?;
    let was_reset = |item: &Item| {
        let mut items = provenance.items().iter().filter(|it| it.session == Some(number));
        items.any(|it| {
            it.what == ItemKind::Seen(Seen::Reset) && it.event > item.event && it.event < event
        })
    };
    let before = session.seen.iter().rev().filter(|seen| **seen < event);
    let acts = |item: &&Item| {
        matches!(item.what, ItemKind::Seen(Seen::Turn | Seen::Inbound)) && !was_reset(item)
    };
    let turn = before.filter_map(|seen| provenance.item(*seen)).find(acts);
    turn.or_else(|| provenance.item(session.task?))
}

/// What one thing came of, as links down to the roots.
struct Chain<'v> {
    views: &'v Views,
    cache: Cache,
}

impl Chain<'_> {
    /// The thing and what it came of, nearest first, each once. Of a whole context only what is worth least.
    fn links<'i>(&'i self, item: &'i Item) -> Vec<&'i Item> {
        let provenance = self.views.provenance();
        let (mut links, mut seen) = (Vec::new(), BTreeSet::from([item.event]));
        let mut next = VecDeque::from([item]);
        while let Some(item) = next.pop_front() {
            links.push(item);
            for parent in self.deciding(item) {
                if let Some(parent) = provenance.item(parent).filter(|it| seen.insert(it.event)) {
                    next.push_back(parent);
                }
            }
        }
        links
    }

    /// The parents that decided what it is worth: all that are named, and the least of a whole context.
    fn deciding(&self, item: &Item) -> Vec<u64> {
        let provenance = self.views.provenance();
        let parents = provenance.parents(item);
        match item.parents {
            Lineage::Root => Vec::new(),
            Lineage::These(_) => parents.to_vec(),
            Lineage::Context { .. } => {
                let items = || parents.iter().filter_map(|event| provenance.item(*event));
                let least = items().map(|item| provenance.standing(item)).min();
                let of_least = items().filter(|item| Some(provenance.standing(item)) == least);
                of_least.map(|item| item.event).collect()
            }
        }
    }

    fn tell(&self, context: &Context, links: &[&Item]) {
        for (at, item) in links.iter().take(LINKS_MAX).enumerate() {
            let mark = if at == 0 { "" } else { "  " };
            context.say.line(&format!("{:>6}  {mark}{}", item.event, self.words(item)));
        }
        if let Some(more) = links.len().checked_sub(LINKS_MAX).filter(|more| *more > 0) {
            context.say.line(&format!("        and {more} more that it came of"));
        }
    }

    /// One link in a line.
    fn words(&self, item: &Item) -> String {
        let provenance = self.views.provenance();
        let text = thing::text_of(&self.cache, item);
        let text = text.map_or_else(String::new, |text| format!(" {text}"));
        let name = thing::name_in_words(item);
        let coming = thing::coming_in_words(self.views, item);
        let because = self.because(item).map_or_else(String::new, |why| format!(", {why}"));
        let state = thing::withheld_in_words(provenance, item);
        let state = state.map_or_else(String::new, |state| format!("; {state}"));
        format!("{name}{text} {coming}: {}{because}{state}", provenance.standing(item))
    }

    /// Why it is worth what it is.
    fn because(&self, item: &Item) -> Option<String> {
        let provenance = self.views.provenance();
        if provenance.is_void(item) {
            return Some("because it is from before a loss that the owner resolved".to_owned());
        }
        let parents = self.deciding(item);
        let least = parents.iter().filter_map(|event| provenance.item(*event));
        let least = least.map(|item| provenance.standing(item)).min();
        let names = || {
            let shown: Vec<String> = parents.iter().take(3).map(ToString::to_string).collect();
            let more = parents.len().checked_sub(3).filter(|more| *more > 0);
            let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
            let events = if parents.len() == 1 { "event" } else { "events" };
            format!("{events} {}{more}", shown.join(", "))
        };
        let began = item.session.and_then(|number| provenance.session(number));
        let unseen =
            began.is_some_and(|session| session.start == Start::Unknown || session.is_partial());
        match (&item.what, &item.parents, least) {
            (
                ItemKind::Entry { .. } | ItemKind::Seen(Seen::Summary),
                Lineage::Context { .. },
                _,
            ) if unseen && least != Some(Authority::Untrusted) => {
                Some("because nobody saw what its session began with".to_owned())
            }
            (_, Lineage::Root, _) => None,
            (_, _, None) => Some("because nothing else was before the model".to_owned()),
            (_, Lineage::Context { .. }, Some(least)) => {
                if least > item.authority {
                    return Some(format!("put together from {} ({least})", names()));
                }
                Some(format!("for what was before the model includes {} ({least})", names()))
            }
            (_, Lineage::These(_), Some(_)) => Some(format!("for it came of {}", names())),
        }
    }

    fn to_json(&self, links: &[&Item]) -> Value {
        let links = links.iter().map(|item| {
            let mut value = thing::to_json(self.views, item);
            let parents = self.deciding(item);
            merge(&mut value, json!({ "of": parents, "words": self.words(item) }));
            value
        });
        links.collect()
    }
}
