//! Things with an origin in the words of a person: what each is, how it came, and what withholds it.

use std::collections::{BTreeMap, BTreeSet};

use actum_core::{
    Authority, Decided, Decision, DecisionCode, EntryKind, Event, Item, ItemKind, Provenance,
    Space, Views, Withheld,
};
use actum_serve::desk::source_of;
use actum_serve::wire::{Bound, Source};
use actum_store::{Cache, Snapshot};
use serde_json::{Value, json};

use super::act::argument_in_words;
use super::session::{name_of, why_withheld};
use crate::say::{Outcome, foreign};
use crate::time::{day, utc};

/// Characters of a text that are shown.
const SHOWN_MAX: usize = 60;
/// Things that are named as where one value stands.
const SOURCES_MAX: usize = 2;
/// The name under which a fire is recorded that is no call.
pub(super) const FIRE: &str = "(fire)";

/// What a channel is to a person.
pub(super) fn channel_in_words(channel: &str) -> String {
    let scheme = channel.split(':').next().unwrap_or_default();
    let what = match scheme {
        "user" => return "the user".to_owned(),
        "agent" => return "the agent".to_owned(),
        "web" => "a web page",
        "mail" => "a mail",
        "mcp" => "a tool server",
        "exec" => "a program",
        "file" => "a file",
        "schedule" => "a schedule",
        "consolidation" => "a summary",
        _ => return format!("channel {}", foreign(channel)),
    };
    format!("{what} ({})", foreign(channel))
}

/// What it is, without where it came from.
pub(super) fn name_in_words(item: &Item) -> String {
    match &item.what {
        ItemKind::Seen(seen) => seen_in_words(seen.word()),
        ItemKind::Entry { kind: EntryKind::Memory, name, .. } => foreign(name),
        ItemKind::Entry { kind: EntryKind::Task, name, .. } => format!("task {}", foreign(name)),
    }
}

fn seen_in_words(seen: &str) -> String {
    match seen {
        "turn" => "a turn".to_owned(),
        "result" => "a result".to_owned(),
        "recalled" => "an entry that was recalled".to_owned(),
        "inbound" => "a message".to_owned(),
        "summary" => "a summary".to_owned(),
        "reset" => "a reset".to_owned(),
        "refusal" => "a refusal of Actum".to_owned(),
        _ => "something".to_owned(),
    }
}

/// How it came: channel, author and day, and that nobody has checked what anybody could have written.
pub(super) fn coming_in_words(views: &Views, item: &Item) -> String {
    source_coming_in_words(&source_of(views, item))
}

fn source_coming_in_words(source: &Source) -> String {
    let (channel, author) = (&source.channel, &source.author);
    let day = day(source.at_ms);
    match (&source.entry, source.owner, source.what.as_str()) {
        (Some(_), Some(owner), _) => {
            format!("written or adopted by the owner (known by {owner}) on {day}")
        }
        (Some(_), None, _) => format!("written by the agent on {day}"),
        (None, _, "summary") => format!("made on {day} of all that was before the model"),
        (None, _, "refusal") => format!("given on {day}"),
        (None, _, _) => {
            let is_said = author == channel || author == "owner" || author == "memory";
            let by = if is_said { String::new() } else { format!(", by {}", foreign(author)) };
            let unchecked = match source.authority {
                Authority::Untrusted => "; nobody has checked it",
                Authority::Derived | Authority::Approved | Authority::User => "",
            };
            format!("from {}{by}, read on {day}{unchecked}", channel_in_words(channel))
        }
    }
}

/// What it is and how it came.
pub(super) fn in_words(views: &Views, item: &Item) -> String {
    source_in_words(&source_of(views, item))
}

/// The same of what a daemon says.
pub(super) fn source_in_words(source: &Source) -> String {
    let coming = source_coming_in_words(source);
    match &source.entry {
        Some(name) if source.what == EntryKind::Task.word() => {
            format!("task {}, {coming}", foreign(name))
        }
        Some(name) => format!("{}, {coming}", foreign(name)),
        None => format!("{} {coming}", seen_in_words(&source.what)),
    }
}

/// A binding argument, and on lines of their own the things in which its value stands.
pub(super) fn argument_lines(bound: &Bound) -> Vec<String> {
    let mut lines = vec![argument_in_words(bound)];
    for source in bound.sources.iter().take(SOURCES_MAX) {
        lines.push(format!("  in event {}: {}", source.event, source_in_words(source)));
    }
    lines
}

/// Its text, if it is kept and short enough for a line.
pub(super) fn text_of(cache: &Cache, item: &Item) -> Option<String> {
    let text = cache.read(&item.content).ok().flatten()?;
    let is_short = !text.is_empty() && text.chars().count() <= SHOWN_MAX;
    let is_one_line = !text.trim_end().chars().any(char::is_control);
    (is_short && is_one_line).then(|| actum_core::Value::from(text.trim_end()).to_string())
}

/// What withholds it, down to what was withheld for its own sake.
pub(super) fn withheld_in_words(provenance: &Provenance, item: &Item) -> Option<String> {
    let withheld = item.withheld?;
    let words = why_withheld(withheld);
    Some(match withheld {
        Withheld::Revoked(event) | Withheld::Superseded(event) | Withheld::Quarantined(event) => {
            format!("withheld: {words} (event {event})")
        }
        Withheld::Unconfirmed => format!("withheld: {words}"),
        Withheld::Ancestor(_) => {
            let (ancestor, why) = root_of(provenance, withheld);
            let why = why.map_or("withheld", why_withheld);
            format!("withheld: it came of event {ancestor}, which is {why}")
        }
    })
}

/// The ancestor that was withheld for its own sake.
fn root_of(provenance: &Provenance, withheld: Withheld) -> (u64, Option<Withheld>) {
    let (mut of, mut why) = (0, Some(withheld));
    // Each is older than what came of it, so this ends.
    while let Some(Withheld::Ancestor(event)) = why {
        of = event;
        why = provenance.item(event).and_then(|item| item.withheld);
    }
    (of, why)
}

/// A word for why it is withheld, for programs.
pub(super) fn withheld_word(item: &Item) -> Option<&'static str> {
    item.withheld.map(|why| match why {
        Withheld::Revoked(_) => "revoked",
        Withheld::Superseded(_) => "superseded",
        Withheld::Quarantined(_) => "quarantined",
        Withheld::Ancestor(_) => "ancestor",
        Withheld::Unconfirmed => "unconfirmed",
    })
}

/// A thing as facts.
pub(super) fn to_json(views: &Views, item: &Item) -> Value {
    let (what, name) = match &item.what {
        ItemKind::Seen(seen) => (seen.word(), None),
        ItemKind::Entry { kind, name, .. } => (kind.word(), Some(name)),
    };
    json!({
        "event": item.event,
        "what": what,
        "name": name,
        "channel": name_of(views, Space::Channel, item.channel),
        "author": name_of(views, Space::Author, item.author),
        "at": utc(item.at_ms),
        "session": item.session.map(|number| name_of(views, Space::Session, number)),
        "authority": views.provenance().standing(item).word(),
        "withheld": withheld_word(item),
    })
}

/// A decision in a line.
pub(super) fn decision_in_words(views: &Views, event: u64, decided: &Decided) -> String {
    let called = name_of(views, Space::Called, decided.called);
    let called = if called == FIRE { "the fire of a task".to_owned() } else { foreign(&called) };
    let session = foreign(&name_of(views, Space::Session, decided.session));
    let by = match decided.decision {
        Decision::Allow => "allowed",
        Decision::Label => "labelled",
        Decision::Ask => "a question",
        Decision::Deny => "denied",
        Decision::Quarantine => "put in quarantine",
    };
    format!("{event:>6}  {called} in {session}: {by} ({})", code_in_words(decided.reason))
}

/// A decision as facts.
pub(super) fn decision_to_json(views: &Views, event: u64, decided: &Decided) -> Value {
    json!({
        "event": event,
        "called": name_of(views, Space::Called, decided.called),
        "session": name_of(views, Space::Session, decided.session),
        "decision": decided.decision.word(),
        "code": DecisionCode::from_number(decided.reason).map(DecisionCode::code),
    })
}

/// The word of a code that stands in an event.
pub(super) fn code_in_words(number: u16) -> String {
    DecisionCode::from_number(number)
        .map_or_else(|| format!("reason {number}"), |code| code.code().to_owned())
}

/// When these events were written.
pub(super) fn times_of(snapshot: &Snapshot, events: &BTreeSet<u64>) -> Outcome<BTreeMap<u64, u64>> {
    let mut times = BTreeMap::new();
    let Some(first) = events.first() else { return Ok(times) };
    snapshot.events(*first, |header, _event: &Event<'_>| {
        if events.contains(&header.index) {
            times.insert(header.index, header.time_ms);
        }
    })?;
    Ok(times)
}
