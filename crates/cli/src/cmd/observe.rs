//! `actum observe`: what was put before a model.

use actum_core::{AuthorName, ChannelName, NewObservation, Presence, Seen};
use actum_store::call_from_json;
use serde_json::json;

use crate::args_memory as args;
use crate::args_memory::SeenWord;
use crate::context::{Context, namespace};
use crate::door::{Desk, session, text_of};
use crate::say::{Failure, Outcome};

pub(crate) fn run(context: &Context, args: &args::Observe) -> Outcome<u8> {
    let text =
        if args.seen == SeenWord::Reset { String::new() } else { text_of(args.text.as_deref())? };
    let mut desk = Desk::open(context, "observe")?;
    let by = desk.caller(&args.door)?;
    let new = observation(&desk, args, &text)?;
    let answers = answered_call(args)?;
    let new = NewObservation { answers: answers.as_ref(), ..new };
    let event = desk
        .ask(Presence::Nobody, |ledger, gate, reading| ledger.observe(gate, by, &new, reading))?;
    let item = desk.views().provenance().item(event);
    let authority = item.map(|item| desk.views().provenance().standing(item));
    let word = authority.map_or("", actum_core::Authority::word);
    context.say.line(&format!("event {event}: {} through {}, worth {word}", new.seen, new.channel));
    context.say.json(&json!({
        "event": event,
        "seen": new.seen.word(),
        "authority": word,
        "content": new.content.to_string(),
    }));
    Ok(0)
}

fn observation<'a>(
    desk: &Desk<'_>,
    args: &args::Observe,
    text: &str,
) -> Outcome<NewObservation<'a>> {
    let seen = seen_of(args.seen);
    let channel = match (&args.channel, seen) {
        (Some(channel), _) => channel.as_str(),
        (None, Seen::Turn) => "user",
        (None, Seen::Summary) => "consolidation:host",
        (None, Seen::Recalled) => "file:memory",
        (None, Seen::Reset | Seen::Refusal) => "system",
        (None, Seen::Result | Seen::Inbound) => {
            return Err(Failure::usage("through which channel?")
                .hint("say --channel web:HOST, mail:ADDRESS, mcp:SERVER, exec:PROGRAM, ..."));
        }
    };
    let channel = ChannelName::new(channel).map_err(|error| Failure::usage(error.to_string()))?;
    let author = args.author.as_deref().unwrap_or_else(|| channel.as_str());
    let author = author.get(..author.len().min(actum_core::FREE_NAME_MAX)).unwrap_or("unknown");
    let author = AuthorName::new(author).map_err(|error| Failure::usage(error.to_string()))?;
    let namespace = desk.policy().map(namespace).unwrap_or_default();
    Ok(NewObservation {
        session: session(&args.session)?,
        seen,
        channel,
        author,
        content: desk.keep(text)?,
        entry: args.entry.clone().map(|name| (namespace, name)),
        answers: None,
        carries: args.carries.clone(),
    })
}

fn answered_call(args: &args::Observe) -> Outcome<Option<actum_core::Call>> {
    let Some(json) = &args.call else { return Ok(None) };
    let Some(tool) = &args.author else {
        return Err(Failure::usage("the call of which tool? Name it with --author"));
    };
    let call = call_from_json(tool, json).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Some(call))
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
