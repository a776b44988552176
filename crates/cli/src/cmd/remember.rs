//! `actum remember`: the record of an entry, when it is written.

use actum_core::{DecisionCode, EntryKind};
use actum_serve::wire::Remember;
use serde_json::json;

use super::recall::QUARANTINE;
use crate::args_memory as args;
use crate::context::Context;
use crate::door::{Desk, agent_role, note_unknown, text_of};
use crate::say::Outcome;

pub(crate) fn run(context: &Context, args: &args::Remember) -> Outcome<u8> {
    let text = text_of(args.text.as_deref())?;
    let role = agent_role(&args.door, Some(&args.session))?;
    let mut desk = Desk::open(context, "remember", role)?;
    let told = desk.ask(Remember {
        session: args.session.clone(),
        entry: args.entry.clone(),
        kind: if args.task { EntryKind::Task } else { EntryKind::Memory },
        text,
        proven: args.proven.clone(),
        supersedes: args.supersedes,
    })?;
    if !told.is_opened {
        note_unknown(context, &args.session);
    }
    let Some(record) = told.record else {
        let (word, why) =
            told.code.map_or(("", ""), |code: DecisionCode| (code.code(), code.sentence()));
        context.say.line(&format!("in quarantine ({word}): {why}"));
        context.say.json(&json!({
            "record": null,
            "event": told.event,
            "entry": args.entry,
            "authority": null,
            "code": word,
        }));
        return Ok(QUARANTINE);
    };
    let word = told.authority.map_or("", actum_core::Authority::word);
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
