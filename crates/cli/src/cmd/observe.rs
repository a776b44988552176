//! `actum observe`: what was put before a model.

use actum_core::Seen;
use actum_serve::wire::Observe;
use serde_json::json;
use serde_json::value::RawValue;

use crate::args_memory as args;
use crate::args_memory::SeenWord;
use crate::context::Context;
use crate::door::{Desk, role, text_of};
use crate::say::{Failure, Outcome};

pub(crate) fn run(context: &Context, args: &args::Observe) -> Outcome<u8> {
    let text =
        if args.seen == SeenWord::Reset { String::new() } else { text_of(args.text.as_deref())? };
    let mut desk = Desk::open(context, "observe", role(&args.door)?)?;
    let told = desk.ask(Observe {
        session: args.session.clone(),
        seen: seen_of(args.seen),
        channel: args.channel.clone(),
        author: args.author.clone(),
        text,
        entry: args.entry.clone(),
        arguments: args.call.as_deref().map(raw).transpose()?,
        carries: args.carries.clone(),
    })?;
    let (event, seen, channel) = (told.event, told.seen, told.channel);
    let word = told.authority.word();
    context.say.line(&format!("event {event}: {seen} through {channel}, worth {word}"));
    context.say.json(&json!({
        "event": event,
        "seen": seen.word(),
        "content": told.content.to_string(),
        "authority": word,
    }));
    Ok(0)
}

/// Arguments as they were given, read strictly by whoever decides on them.
pub(crate) fn raw(json: &str) -> Outcome<Box<RawValue>> {
    RawValue::from_string(json.to_owned())
        .map_err(|error| Failure::usage(format!("the arguments are not a JSON object: {error}")))
}

pub(crate) const fn seen_of(word: SeenWord) -> Seen {
    match word {
        SeenWord::Turn => Seen::Turn,
        SeenWord::Result => Seen::Result,
        SeenWord::Recalled => Seen::Recalled,
        SeenWord::Inbound => Seen::Inbound,
        SeenWord::Summary => Seen::Summary,
        SeenWord::Reset => Seen::Reset,
        SeenWord::Refusal => Seen::Refusal,
    }
}
