//! `actum quarantine`: what is withheld until its owner looks at it.

use std::collections::BTreeMap;

use actum_core::{DecisionCode, EntryKind, Event, Held, ItemKind, Namespace, Space, Views};
use actum_serve::wire::Deed;
use actum_store::entries::{inventory, path_of};
use actum_store::{Cache, Snapshot};
use serde_json::json;

use super::inventory::count_entries;
use super::session::name_of;
use crate::args_memory as args;
use crate::context::{Context, confirm};
use crate::door::{self, Desk};
use crate::say::{FAILED, Failure, Outcome, dim, foreign, quoted};
use crate::time::{local, utc};

pub(crate) fn run(context: &Context, args: &args::Quarantine) -> Outcome<u8> {
    match &args.what {
        None => list(context, false),
        Some(args::OfQuarantine::List { all }) => list(context, *all),
        Some(args::OfQuarantine::Release { event, confirm }) => {
            release(context, *event, confirm.yes)
        }
    }
}

fn list(context: &Context, all: bool) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let held: Vec<_> =
        views.provenance().held().filter(|held| all || held.released.is_none()).collect();
    let times = times(&snapshot, &held)?;
    let (say, cache) = (context.say, Cache::of(context.places()));
    let mut facts = Vec::new();
    for it in &held {
        let (code, sentence) = reason(it);
        let at_ms = times.get(&it.event).copied().unwrap_or_default();
        let name = foreign(&it.name);
        say.line(&format!("{:>6}  {}  {name}", it.event, dim(&local(at_ms))));
        let of = it.record.map_or_else(String::new, |record| format!(" Its record is {record}."));
        say.line(&format!("        {code}: {sentence}{of}"));
        if let Some(released) = it.released {
            say.line(&format!("        released: it is record {} now", released.record));
        }
        facts.push(json!({
            "event": it.event,
            "entry": it.name,
            "namespace": name_of(views, Space::Namespace, it.namespace),
            "code": code,
            "message": sentence,
            "at": utc(at_ms),
            "record": it.record,
            "content": it.content.to_string(),
            "kept": matches!(cache.read(&it.content), Ok(Some(_))),
            "released": it.released.map(|released| released.event),
            "new_record": it.released.map(|released| released.record),
        }));
    }
    let waiting = views.provenance().unreleased();
    if waiting == 0 {
        say.line("nothing is in quarantine");
    } else {
        say.line(&format!(
            "{} in quarantine; see and release one with `actum quarantine release EVENT`",
            count_entries(waiting)
        ));
    }
    say.json(&json!({ "held": facts }));
    Ok(0)
}

/// When each was withheld.
fn times(snapshot: &Snapshot, held: &[&Held]) -> Outcome<BTreeMap<u64, u64>> {
    let mut times = BTreeMap::new();
    if let Some(first) = held.iter().map(|held| held.event).min() {
        snapshot.events(first, |header, event| {
            if let Event::Quarantined(_) = event {
                times.insert(header.index, header.time_ms);
            }
        })?;
    }
    Ok(times)
}

fn reason(held: &Held) -> (String, String) {
    match DecisionCode::from_number(held.reason) {
        Some(code) => (code.code().to_owned(), code.sentence().to_owned()),
        None => (held.reason.to_string(), "A newer Actum withheld it.".to_owned()),
    }
}

fn release(context: &Context, event: u64, yes: bool) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let held = views.provenance().held_at(event).ok_or_else(|| {
        Failure::usage(format!("event {event} withholds nothing"))
            .hint("see what is withheld with `actum quarantine`")
    })?;
    if let Some(released) = held.released {
        let record = released.record;
        return Err(Failure::usage(format!(
            "what {event} withheld was released before: it is record {record}"
        )));
    }
    let text = text_of(context, held)?;
    let (code, sentence) = reason(held);
    let say = context.say;
    say.show(&format!("{}, withheld by event {event} ({code}):", foreign(&held.name)));
    say.show(&quoted(&text));
    say.show(&format!("  {sentence}"));
    let owner = confirm("Release it, as your own word from now on?", yes)?;
    let mut desk = Desk::open(context, "quarantine release", door::owner(owner))?;
    let digest = desk.keep(&text)?;
    let record = desk.record(Deed::Adopt {
        namespace: namespace_of(views, held)?.to_string(),
        entry: held.name.to_string(),
        kind: kind_of(views, held),
        content: digest,
        releases: Some(event),
    })?;
    say.line(&format!("released: it is record {record} now, owner known by {owner}"));
    say.json(&json!({
        "event": event,
        "entry": held.name,
        "record": record,
        "owner": owner.word(),
    }));
    Ok(0)
}

/// The very text that is withheld: as it was kept when it was asked for, or as it still lies in its file. Nothing is released
/// unseen.
fn text_of(context: &Context, held: &Held) -> Outcome<String> {
    let kept = Cache::of(context.places()).read(&held.content);
    let edited = match kept {
        Ok(Some(text)) => return Ok(text),
        Ok(None) => None,
        Err(error) => Some(crate::say::chain(&error)),
    };
    let path = path_of(&held.name);
    if let Some(path) = &path {
        let found = inventory(context.project(), &[path.into()])?;
        let entry = found.entries.into_iter().find(|entry| entry.content() == held.content);
        if let Some(entry) = entry {
            return Ok(entry.text);
        }
    }
    let kept = edited.unwrap_or_else(|| "it is not kept".to_owned());
    let there = path.map_or_else(
        || "its name tells no file".to_owned(),
        |path| format!("{path} does not hold it any more"),
    );
    let event = held.event;
    Err(Failure::new(
        FAILED,
        format!("the text that event {event} withholds cannot be shown: {kept}, and {there}"),
    )
    .hint("nothing is released unseen; put the text back as it was, or leave it"))
}

fn namespace_of(views: &Views, held: &Held) -> Outcome<Namespace> {
    let name = name_of(views, Space::Namespace, held.namespace);
    Namespace::new(&name).map_err(|error| Failure::new(FAILED, error.to_string()))
}

/// What it is, by its record; without one, by what it was withheld for.
fn kind_of(views: &Views, held: &Held) -> EntryKind {
    let record = held.record.and_then(|record| views.provenance().item(record));
    match record.map(|item| &item.what) {
        Some(ItemKind::Entry { kind, .. }) => *kind,
        Some(ItemKind::Seen(_)) | None => {
            let tasks = [DecisionCode::UnknownTask, DecisionCode::UntrustedTask];
            let is_task = tasks.iter().any(|code| code.number() == held.reason);
            if is_task { EntryKind::Task } else { EntryKind::Memory }
        }
    }
}
