//! `actum adapter`: who may observe, on which channels.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use actum_core::policy::ChannelPattern;
use actum_core::{Adapter, Space, hex};
use actum_serve::wire::{Deed, Takes};
use actum_store::random;
use serde_json::json;
use zeroize::Zeroizing;

use super::session::name_of;
use crate::args::Confirm;
use crate::args_memory as args;
use crate::context::{Context, confirm};
use crate::door::{self, CREDENTIAL_BYTES, Desk};
use crate::say::{FAILED, Failure, Outcome, foreign};

pub(crate) fn run(context: &Context, args: &args::Adapter) -> Outcome<u8> {
    match args {
        args::Adapter::Add { name, channels, to, confirm } => {
            add(context, name, channels, to.as_deref(), confirm)
        }
        args::Adapter::List => list(context),
        args::Adapter::Remove { name, confirm } => remove(context, name, confirm),
    }
}

fn add(
    context: &Context,
    name: &str,
    channels: &[String],
    to: Option<&Path>,
    sure: &Confirm,
) -> Outcome<u8> {
    let patterns: Vec<ChannelPattern> = channels
        .iter()
        .map(|text| {
            ChannelPattern::read(text).ok_or_else(|| {
                Failure::usage(format!("`{text}` names no channel"))
                    .hint("such as user, web:*, web:*.example.org, mail:*@example.org, mcp:bank")
            })
        })
        .collect::<Outcome<_>>()?;
    let question = format!("Let adapter {name} observe on {}?", channels.join(", "));
    let owner = confirm(&question, sure.yes)?;
    let secret = random::<CREDENTIAL_BYTES>()?;
    let text = Zeroizing::new(hex(&*secret));
    if let Some(path) = to {
        write_new(path, &text)?;
    }
    let mut desk = Desk::open(context, "adapter add", door::owner(owner))?;
    let event = desk.record(Deed::Enrol {
        adapter: name.to_owned(),
        credential: Adapter::credential_digest(text.as_bytes()),
        channels: patterns.iter().map(|it| it.as_str().to_owned()).collect(),
    })?;
    let say = context.say;
    say.line(&format!("adapter {name} may observe (event {event}, owner known by {owner})"));
    match to {
        Some(path) => say.line(&format!("its credential is in {}", path.display())),
        None => say.line(&format!("its credential, shown this once: {}", *text)),
    }
    let variable = if to.is_some() { "ACTUM_CREDENTIAL_FILE" } else { "ACTUM_CREDENTIAL" };
    say.line(&format!("with it in {variable}: actum session open --as {}", foreign(name)));
    say.json(&json!({
        "adapter": name,
        "event": event,
        "owner": owner.word(),
        "credential": to.is_none().then_some(text.as_str()),
    }));
    Ok(0)
}

/// A new file for the owner's eyes alone.
fn write_new(path: &Path, text: &str) -> Outcome<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Failure::new(FAILED, format!("cannot write {}: {error}", path.display()))
            .hint("name a file that is not there yet")
    })
}

fn list(context: &Context) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let mut all = Vec::new();
    for (number, adapter) in views.provenance().adapters() {
        let name = name_of(views, Space::Adapter, number);
        let state = if adapter.revoked.is_some() { "removed" } else { "observes on" };
        let channels = adapter.channels.join(", ");
        context.say.line(&format!("{}  {state} {}", foreign(&name), foreign(&channels)));
        all.push(json!({
            "adapter": name,
            "event": adapter.event,
            "channels": adapter.channels,
            "removed": adapter.revoked,
        }));
    }
    context.say.json(&json!({ "adapters": all }));
    Ok(0)
}

fn remove(context: &Context, name: &str, sure: &Confirm) -> Outcome<u8> {
    let owner = confirm(&format!("Take back the credential of adapter {name}?"), sure.yes)?;
    let mut desk = Desk::open(context, "adapter remove", door::owner(owner))?;
    let takes = Takes::Adapter(name.to_owned());
    let event = desk.record(Deed::Revoke { takes, reason: String::new() })?;
    context.say.line(&format!("adapter {name} may do nothing more (event {event})"));
    context.say.json(&json!({ "adapter": name, "event": event, "owner": owner.word() }));
    Ok(0)
}
