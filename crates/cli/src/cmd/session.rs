//! `actum session`: what one model was shown.

use actum_core::{ItemKind, Session, Space, Views, Withheld};
pub(crate) use actum_serve::desk::name_of;
use actum_serve::desk::trigger_word;
use actum_serve::wire::{Open, Start};
use serde_json::{Value, json};

use crate::args_memory as args;
use crate::context::Context;
use crate::door::{Desk, role, session};
use crate::say::{Failure, Outcome, dim, foreign};
use crate::time::utc;

pub(crate) fn run(context: &Context, args: &args::Session) -> Outcome<u8> {
    match args {
        args::Session::Open { unknown, of, door } => open(context, *unknown, of.as_deref(), door),
        args::Session::List => list(context),
        args::Session::Show { session: name } => show(context, name),
    }
}

fn open(context: &Context, unknown: bool, of: Option<&str>, door: &args::Door) -> Outcome<u8> {
    let start = match (unknown, of) {
        (_, Some(of)) => Start::Subagent { of: of.to_owned() },
        (true, None) => Start::Unknown {},
        (false, None) => Start::Fresh {},
    };
    let mut desk = Desk::open(context, "session open", role(door)?)?;
    let opened = desk.ask(Open { start })?;
    context.say.line(&opened.session);
    context.say.json(&json!({ "session": opened.session, "event": opened.event }));
    Ok(0)
}

fn list(context: &Context) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let mut all: Vec<_> = views.provenance().sessions().collect();
    all.sort_by_key(|(_, session)| session.opened);
    for (number, session) in &all {
        let name = foreign(&name_of(views, Space::Session, *number));
        let by = session.adapter.map(|it| name_of(views, Space::Adapter, it));
        let by = by.as_deref().unwrap_or("the owner");
        let seen = session.context().len();
        context.say.line(&format!(
            "{name}  {}, opened by {}, {seen} before the model, worth {}",
            session.start,
            foreign(by),
            session.least
        ));
    }
    let all: Vec<_> =
        all.iter().map(|(number, session)| to_json(views, *number, session)).collect();
    context.say.json(&json!({ "sessions": all }));
    Ok(0)
}

fn show(context: &Context, name: &str) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let number = views.number(Space::Session, session(name)?.as_str().as_bytes());
    let found = number.and_then(|it| Some((it, views.provenance().session(it)?)));
    let Some((number, found)) = found else {
        return Err(Failure::usage(format!("there is no session {name}"))
            .hint("`actum session list` lists them"));
    };
    let say = context.say;
    say.line(&format!("{}: {}, worth {}", foreign(name), found.start, found.least));
    let mut seen = Vec::new();
    for event in found.context() {
        let Some(item) = views.provenance().item(*event) else { continue };
        let what = match &item.what {
            ItemKind::Seen(seen) => seen.word().to_owned(),
            ItemKind::Entry { name, .. } => format!("task {name}"),
        };
        let channel = name_of(views, Space::Channel, item.channel);
        let authority = views.provenance().standing(item);
        let withheld = item.withheld.map_or("", why_withheld);
        let line = format!("{event:>6}  {what}  {}  {authority}", foreign(&channel));
        say.line(&format!("{line}  {}", dim(withheld)));
        seen.push(json!({
            "event": event,
            "what": what,
            "channel": channel,
            "authority": authority.word(),
            "content": item.content.to_string(),
            "at": utc(item.at_ms),
            "withheld": item.withheld.map(why_withheld),
        }));
    }
    let mut value = to_json(views, number, found);
    if let Value::Object(keys) = &mut value {
        keys.insert("context".to_owned(), json!(seen));
    }
    say.json(&value);
    Ok(0)
}

fn to_json(views: &Views, number: u32, session: &Session) -> Value {
    let trigger = session.trigger.map(|trigger| {
        let kind = trigger_word(trigger.kind);
        json!({ "event": trigger.event, "kind": kind, "authority": trigger.authority.word() })
    });
    json!({
        "session": name_of(views, Space::Session, number),
        "adapter": session.adapter.map(|it| name_of(views, Space::Adapter, it)),
        "start": session.start.word(),
        "seen": session.context().len(),
        "least": session.least.word(),
        "trigger": trigger,
        "partial": session.start == actum_core::Start::Unknown || session.is_partial(),
    })
}

/// Why something is withheld, in a few words.
pub(crate) const fn why_withheld(why: Withheld) -> &'static str {
    match why {
        Withheld::Revoked(_) => "revoked",
        Withheld::Superseded(_) => "superseded",
        Withheld::Quarantined(_) => "in quarantine",
        Withheld::Ancestor(_) => "what it came of is withheld",
        Withheld::Unconfirmed => "never acknowledged",
    }
}
