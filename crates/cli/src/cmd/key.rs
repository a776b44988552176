//! `actum key`: where it is, and a new one.

use serde_json::json;

use crate::args;
use crate::context::{Context, confirm, writer};
use crate::say::Outcome;

pub(crate) fn run(context: &Context, args: &args::Key) -> Outcome<u8> {
    match args {
        args::Key::Where => show(context),
        args::Key::Rotate(confirmed) => rotate(context, confirmed.yes),
    }
}

/// Says the paths even if the key cannot be used: that is when they are needed.
fn show(context: &Context) -> Outcome<u8> {
    let ledger = context.store.identify()?;
    let places = context.places();
    let (key, anchor) = (places.key(ledger), places.anchor(ledger));
    let state = context.store.read();
    let usable =
        !matches!(&state, Err(actum_store::StoreError::Refused(actum_core::Refusal::Key { .. })));
    let generation = state.as_ref().ok().map(|snapshot| snapshot.views().position().generation);
    context.say.line(&format!("ledger {ledger}"));
    context.say.line(&format!("key    {}", key.display()));
    context.say.line(&format!("anchor {}", anchor.display()));
    if let Some(generation) = generation {
        context.say.line(&format!("generation {generation} is in force"));
    }
    if let Err(error) = &state {
        context.say.line(&format!("note: {error}"));
    }
    context.say.line("whoever can read the key can forge; a shell of the same user can");
    context.say.json(&json!({
        "ledger": ledger.to_string(),
        "key": key.display().to_string(),
        "anchor": anchor.display().to_string(),
        "generation": generation,
        "usable": usable,
    }));
    Ok(0)
}

fn rotate(context: &Context, yes: bool) -> Outcome<u8> {
    context.read()?;
    let owner = confirm("Replace the key?", yes)?;
    let event = context.store.rotate(&writer("key rotate"), owner)?;
    context.say.line(&format!(
        "event {event} was sealed with the old key; what follows is sealed with a new one"
    ));
    context.say.json(&json!({ "event": event, "owner": owner.word() }));
    Ok(0)
}
