//! `actum remember`: the record of an entry, when it is written.

use actum_core::{DecisionCode, EntryKind, MemoryRequest, NewEntry, Request};
use serde_json::json;

use super::recall::QUARANTINE;
use crate::args_memory as args;
use crate::context::{Context, namespace};
use crate::door::{Desk, session, text_of};
use crate::say::Outcome;

pub(crate) fn run(context: &Context, args: &args::Remember) -> Outcome<u8> {
    let text = text_of(args.text.as_deref())?;
    let mut desk = Desk::open(context, "remember")?;
    let session = session(&args.session)?;
    let by = desk.agent(&args.door, Some(&session))?;
    desk.note_unknown(&session);
    let entry = NewEntry {
        namespace: desk.policy().map(namespace).unwrap_or_default(),
        kind: if args.task { EntryKind::Task } else { EntryKind::Memory },
        name: args.entry.clone(),
        content: desk.keep(&text)?,
    };
    let request = MemoryRequest::Remember {
        session,
        entry,
        proven: args.proven.clone(),
        supersedes: args.supersedes,
        policy: desk.views().policy().map(|accepted| accepted.event),
    };
    let record = desk.ledger.record(Request::Memory { by, request }, &desk.writer.reading)?;
    if let Some(held) = desk.views().provenance().held_at(record) {
        let code = DecisionCode::from_number(held.reason);
        let (word, why) = code.map_or(("", ""), |code| (code.code(), code.sentence()));
        context.say.line(&format!("in quarantine ({word}): {why}"));
        context.say.json(&json!({
            "record": null,
            "event": record,
            "entry": args.entry,
            "authority": null,
            "code": word,
        }));
        return Ok(QUARANTINE);
    }
    let item = desk.views().provenance().item(record);
    let authority = item.map(|item| desk.views().provenance().standing(item));
    let word = authority.map_or("", actum_core::Authority::word);
    context.say.line(&format!("record {record}: {}, worth {word}", args.entry));
    context.say.json(&json!({
        "record": record,
        "event": record,
        "entry": args.entry,
        "authority": word,
        "code": null,
    }));
    Ok(0)
}
