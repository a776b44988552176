//! `actum recall` and `actum fire`: an entry at the moment it is used again.

use std::fs;

use actum_core::{
    AuthorName, Caller, ChannelName, Decision, DecisionCode, NewFire, NewObservation, NewRecall,
    Presence, Purpose, Seen, content_digest, label,
};
use serde_json::json;

use crate::args_memory as args;
use crate::args_memory::PurposeWord;
use crate::context::{Context, namespace};
use crate::door::{Desk, new_session, session, text_of};
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
    let mut desk = match Desk::open(context, "recall") {
        Ok(desk) => desk,
        // Reading goes on without a ledger that can be believed, and says so.
        Err(failure) if failure.is_refusal() => {
            return Ok(serve(context, &text, unverified(purpose), None, None));
        }
        Err(failure) => return Err(failure),
    };
    let session = args.session.as_deref().map(session).transpose()?;
    let by = desk.agent(&args.door, session.as_ref())?;
    let namespace = desk.policy().map(namespace).unwrap_or_default();
    let new = NewRecall {
        session: session.clone(),
        namespace: namespace.clone(),
        name: &args.entry,
        text: &text,
        content: content_digest(&text),
        purpose,
    };
    let answered =
        desk.ask(Presence::Nobody, |ledger, gate, reading| ledger.recall(gate, by, &new, reading))?;
    let (code, record) = (answered.judgement.code, answered.judgement.record);
    if code.decision() == Decision::Quarantine {
        keep_withheld(&desk, answered.event, &text);
    }
    let is_served = matches!(code.decision(), Decision::Allow | Decision::Label);
    if let (true, Some(session)) = (is_served, session) {
        let by = seen_by(&desk, by, &session);
        let kept = desk.keep(&text)?;
        let seen = NewObservation {
            session,
            seen: Seen::Recalled,
            channel: fixed(ChannelName::new("file:memory"))?,
            author: fixed(AuthorName::new("memory"))?,
            content: kept,
            entry: Some((namespace, args.entry.clone())),
            answers: None,
            carries: None,
        };
        desk.ask(Presence::Nobody, |ledger, gate, reading| {
            ledger.observe(gate, by, &seen, reading)
        })?;
    }
    Ok(serve(context, &text, code, record, answered.event))
}

/// Keeps what is held, so that its owner can be shown it. Nothing else is kept: what is asked for again and again under the
/// name of something held would fill the disk.
fn keep_withheld(desk: &Desk<'_>, event: Option<u64>, text: &str) {
    let held = event.and_then(|event| desk.views().provenance().held_at(event));
    if held.is_none_or(|held| held.content != content_digest(text)) {
        return;
    }
    if let Err(failure) = desk.keep(text) {
        // It is withheld all the same.
        note(&format!("what is withheld could not be kept for its owner: {}", failure.message));
    }
}

/// What is recalled in a session is seen there, whoever asked: that it was served is this program's own observation.
fn seen_by(desk: &Desk<'_>, by: Caller, session: &actum_core::SessionName) -> Caller {
    let number = desk.views().number(actum_core::Space::Session, session.as_str().as_bytes());
    let opened = number.and_then(|it| desk.views().provenance().session(it));
    match (by, opened.map(|session| session.adapter)) {
        (Caller::Agent(_), _) => Caller::Owner(actum_core::Owner::Code),
        (by, _) => by,
    }
}

fn unverified(purpose: Purpose) -> DecisionCode {
    match purpose {
        Purpose::Reading => DecisionCode::Unverified,
        Purpose::Action => DecisionCode::NotForAction,
    }
}

fn serve(
    context: &Context,
    text: &str,
    code: DecisionCode,
    record: Option<u64>,
    event: Option<u64>,
) -> u8 {
    let decision = code.decision();
    let say = context.say;
    let (served, labelled) = match decision {
        Decision::Allow => (true, None),
        Decision::Label => (true, Some(label(code))),
        Decision::Ask | Decision::Deny | Decision::Quarantine => (false, None),
    };
    if say.json {
        say.json(&json!({
            "decision": decision.word(),
            "code": code.code(),
            "message": code.sentence(),
            "way_out": code.way_out(),
            "record": record,
            "event": event,
            "label": labelled,
            "text": served.then_some(text),
        }));
    } else if served {
        if let Some(label) = labelled {
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
        pins.push((name.to_owned(), read));
    }
    let mut desk = Desk::open(context, "fire")?;
    let by = desk.caller(&args.door)?;
    for text in [&text].into_iter().chain(pins.iter().map(|(_, text)| text)) {
        desk.keep(text)?;
    }
    let name = new_session()?;
    let pinned = pins.iter().map(|(name, text)| (&**name, &**text, content_digest(text)));
    let new = NewFire {
        namespace: desk.policy().map(namespace).unwrap_or_default(),
        name: &args.entry,
        text: &text,
        content: content_digest(&text),
        pins: pinned.collect(),
        session: name.clone(),
    };
    let answered =
        desk.ask(Presence::Nobody, |ledger, gate, reading| ledger.fire(gate, by, &new, reading))?;
    let code = answered.judgement.code;
    let opened = answered.opened.map(|_| name.as_str());
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
        "record": answered.judgement.record,
        "event": answered.event,
        "session": opened,
    }));
    Ok(exit_of(code.decision()))
}

fn fixed<T>(name: Result<T, actum_core::NameError>) -> Outcome<T> {
    name.map_err(|error| Failure::usage(error.to_string()))
}
