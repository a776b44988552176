//! `actum watch`: decisions as they are made, a line each.

use actum_core::Decision;
use actum_serve::wire::{Role, Watched};
use serde_json::json;

use super::act::paint;
use super::status::no_daemon;
use super::thing::source_in_words;
use crate::context::Context;
use crate::say::{Outcome, foreign, print};
use crate::time::{clock, utc};

pub(crate) fn run(context: &Context) -> Outcome<u8> {
    let role = Role::Agent { session: None };
    let client = context.daemon("watch", role)?.ok_or_else(no_daemon)?;
    for seen in client.watch()? {
        let seen = seen?;
        let line = if context.say.json { to_json(&seen) } else { in_words(&seen) };
        if print(&format!("{line}\n")).is_err() {
            // Nobody reads it any more.
            return Ok(0);
        }
    }
    // The daemon ended.
    Ok(0)
}

fn in_words(seen: &Watched) -> String {
    let called = match seen.called.as_str() {
        "(fire)" => "the fire of a task".to_owned(),
        "(recall)" => "the recall of an entry".to_owned(),
        called => foreign(called),
    };
    let code = seen.code.map_or("another reason", actum_core::DecisionCode::code);
    let decision = paint(seen.decision, seen.decision.word());
    let times = if seen.count > 1 { format!(" {} times", seen.count) } else { String::new() };
    let head = format!(
        "{}  {decision}{times} ({code})  {called} in {}, event {}",
        clock(seen.at_ms),
        foreign(&seen.session),
        seen.event
    );
    let mut lines = vec![head];
    if let (Some(origin), false) = (&seen.origin, seen.decision == Decision::Allow) {
        lines.push(format!("          for {}, event {}", source_in_words(origin), origin.event));
    }
    if let Some(receipt) = &seen.receipt {
        lines.push(format!("          actum approve {receipt}"));
    }
    lines.join("\n")
}

fn to_json(seen: &Watched) -> String {
    json!({
        "event": seen.event,
        "at": utc(seen.at_ms),
        "session": seen.session,
        "called": seen.called,
        "decision": seen.decision.word(),
        "code": seen.code.map(actum_core::DecisionCode::code),
        "count": seen.count,
        "origin": seen.origin.as_ref().map(|it| it.event),
        "receipt": seen.receipt,
    })
    .to_string()
}
