//! `actum recall` and `actum fire`: an entry at the moment it is used again.

use std::fs;

use actum_core::{Decision, Purpose};
use actum_serve::desk::unverified;
use actum_serve::wire::{Fire, Pin, Recall, Recalled};
use serde_json::json;

use crate::args_memory as args;
use crate::args_memory::PurposeWord;
use crate::context::Context;
use crate::door::{Desk, agent_role, role, text_of};
use crate::say::{Failure, Outcome, note, out};

/// The owner has to be asked.
pub(crate) const ASK: u8 = 13;
/// Refused or withheld.
pub(crate) const DENY: u8 = 14;
/// In quarantine.
pub(crate) const QUARANTINE: u8 = 15;

/// The exit code of a decision.
pub(crate) const fn exit_of(decision: Decision) -> u8 {
    match decision {
        Decision::Allow | Decision::Label => 0,
        Decision::Ask => ASK,
        Decision::Deny => DENY,
        Decision::Quarantine => QUARANTINE,
    }
}

pub(crate) fn recall(context: &Context, args: &args::Recall) -> Outcome<u8> {
    let text = text_of(args.text.as_deref())?;
    let purpose = match args.purpose {
        PurposeWord::Reading => Purpose::Reading,
        PurposeWord::Action => Purpose::Action,
    };
    let told = match asked(context, args, &text, purpose) {
        Ok(told) => told,
        // Reading goes on without a ledger that can be believed or a daemon that answers, and says so.
        Err(failure) if failure.is_refusal() => unverified(purpose),
        Err(failure) if failure.unanswered => {
            note(&failure.message);
            unverified(purpose)
        }
        Err(failure) => return Err(failure),
    };
    Ok(serve(context, &text, &told))
}

fn asked(
    context: &Context,
    args: &args::Recall,
    text: &str,
    purpose: Purpose,
) -> Outcome<Recalled> {
    let role = agent_role(&args.door, args.session.as_deref())?;
    let mut desk = Desk::open(context, "recall", role)?;
    desk.ask(Recall {
        session: args.session.clone(),
        entry: args.entry.clone(),
        text: text.to_owned(),
        for_action: purpose == Purpose::Action,
    })
}

fn serve(context: &Context, text: &str, told: &Recalled) -> u8 {
    let Recalled { decision, code, record, event, .. } = *told;
    let served = matches!(decision, Decision::Allow | Decision::Label);
    let say = context.say;
    if say.json {
        say.json(&json!({
            "decision": decision.word(),
            "code": code.code(),
            "message": code.sentence(),
            "way_out": code.way_out(),
            "record": record,
            "event": event,
            "label": told.label,
            "text": served.then_some(text),
        }));
    } else if served {
        if let Some(label) = &told.label {
            out(&format!("{label}\n"));
        }
        out(text);
        if !text.ends_with('\n') {
            out("\n");
        }
    } else {
        note(&format!("withheld ({code}): {}", code.sentence()));
        note(code.way_out());
    }
    exit_of(decision)
}

pub(crate) fn fire(context: &Context, args: &args::Fire) -> Outcome<u8> {
    let text = text_of(args.text.as_deref())?;
    let mut pins = Vec::new();
    for pin in &args.pins {
        let Some((name, path)) = pin.split_once('=') else {
            return Err(Failure::usage(format!("`{pin}` is no pin; write it as NAME=FILE")));
        };
        let read = fs::read_to_string(path);
        let read = read.map_err(|error| Failure::usage(format!("cannot read {path}: {error}")))?;
        pins.push(Pin { entry: name.to_owned(), text: read });
    }
    let mut desk = Desk::open(context, "fire", role(&args.door)?)?;
    let told = desk.ask(Fire { entry: args.entry.clone(), text, pins })?;
    let (code, opened) = (told.code, told.session.as_deref());
    if let Some(session) = opened {
        context.say.line(session);
    } else if !context.say.json {
        note(&format!("does not fire ({code}): {}", code.sentence()));
        note(code.way_out());
    }
    context.say.json(&json!({
        "decision": code.decision().word(),
        "code": code.code(),
        "message": code.sentence(),
        "way_out": code.way_out(),
        "record": told.record,
        "event": told.event,
        "session": opened,
    }));
    Ok(exit_of(code.decision()))
}
