//! `actum act` and `actum end`: a call of a tool, before and after.

use actum_core::{
    Answered, Decision, DecisionCode, Digest, Judged, NewCall, NewCallEnd, Outcome as RunOutcome,
    Presence,
};
use actum_store::{arguments_to_json, call_from_json, call_to_json};
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::recall::exit_of;
use crate::args_memory as args;
use crate::args_memory::OutcomeWord;
use crate::context::Context;
use crate::door::{Desk, cache_failure, session, text_of};
use crate::say::{Failure, Outcome, foreign};

pub(crate) fn act(context: &Context, args: &args::Act) -> Outcome<u8> {
    let json = text_of(args.arguments.as_deref())?;
    let call = call_from_json(&args.tool, &json).map_err(|error| {
        Failure::usage(error.to_string()).hint(
            "in a shell, quote them once: --arguments '{\"payee\": \"DE89\", \"amount\": 13}'",
        )
    })?;
    let mut desk = Desk::open(context, "act")?;
    let by = desk.caller(&args.door)?;
    let session = session(&args.session)?;
    desk.note_unknown(&session);
    let new = NewCall {
        session,
        call: &call,
        call_id: args.id.as_deref(),
        // A shell knows no definition of the tool.
        version: Digest::plain(b""),
    };
    let presence = if args.nobody { Presence::Nobody } else { Presence::Somebody };
    let answered =
        desk.ask(presence, |ledger, gate, reading| ledger.act(gate, by, &new, reading))?;
    let mut receipt = None;
    if answered.judgement.has_receipt() {
        // What the owner will be shown. If it cannot be kept, the call cannot be approved, and nothing else changes.
        desk.cache
            .keep_call(&call.digest(), &call_to_json(&call))
            .map_err(|error| cache_failure(&error))?;
        receipt = answered.event.map(|event| receipt_of(event, &call.digest()));
    }
    tell(context, args, &answered, receipt.as_deref());
    context.say.json(&to_json(&answered, receipt.as_deref(), &arguments_to_json(&call)));
    Ok(exit_of(answered.judgement.decision()))
}

/// The short code of a held call: the event, and enough of the call that a slip of the finger meets no other.
pub(crate) fn receipt_of(event: u64, call: &Digest) -> String {
    let digits: String = call.to_string().chars().take(6).collect();
    format!("{event}-{digits}")
}

/// A decision in the colour of its meaning.
pub(crate) fn paint(decision: Decision, text: &str) -> String {
    let color = match decision {
        Decision::Allow => AnsiColor::Green,
        Decision::Label | Decision::Ask => AnsiColor::Yellow,
        Decision::Deny | Decision::Quarantine => AnsiColor::Red,
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    format!("{style}{text}{style:#}")
}

fn tell(context: &Context, args: &args::Act, answered: &Answered, receipt: Option<&str>) {
    let say = context.say;
    let judgement = &answered.judgement;
    let decision = judgement.decision();
    say.line(&format!(
        "{} ({}): {}",
        paint(decision, decision.word()),
        judgement.code,
        judgement.code.sentence()
    ));
    if let Some(missing) = &judgement.missing {
        say.line(&format!(
            "  step {} on {}: {}",
            foreign(missing.step.as_str()),
            foreign(&missing.subject),
            missing.reason.sentence()
        ));
        if let Some(perform) = &missing.perform {
            say.line("  Perform it first, as a call of its own:");
            for line in perform.to_string().lines() {
                say.line(&format!("    {}", foreign(line)));
            }
        }
    }
    if judgement.code == DecisionCode::UntrustedTrigger && judgement.trigger.is_none() {
        say.line("  nothing that made the agent act was seen in this session: `actum observe` records a turn");
    }
    for judged in &judgement.arguments {
        say.line(&format!("  {}", argument_in_words(judged)));
    }
    match (decision, receipt) {
        (Decision::Allow, _) => {
            if let Some(decided) = answered.permit.as_ref().and_then(actum_core::Permit::decided) {
                let door = args.door.words();
                say.line(&format!(
                    "  Perform it once, then: actum end {decided} --outcome passed{door}"
                ));
            }
        }
        (_, Some(receipt)) => {
            say.line(&format!("  {}", judgement.code.way_out()));
            say.line(&format!("  receipt {receipt}: actum approve {receipt}"));
        }
        (_, None) => say.line(&format!("  {}", judgement.code.way_out())),
    }
}

/// One binding argument and where it came from.
pub(crate) fn argument_in_words(judged: &Judged) -> String {
    let raised =
        judged.raised_by.map_or_else(String::new, |run| format!("; verified by run {run}"));
    let value = judged.value.as_ref().map(|value| format!(" = {}", foreign(&value.to_string())));
    let value = value.unwrap_or_default();
    format!(
        "{}{value}: {} ({}{raised})",
        foreign(&judged.argument),
        judged.authority,
        foreign(&judged.origin.reason)
    )
}

/// The same as facts.
pub(crate) fn argument_to_json(judged: &Judged) -> Value {
    json!({
        "argument": judged.argument,
        "value": judged.shown(),
        "authority": judged.authority.word(),
        "sources": judged.origin.sources,
        "reason": judged.origin.reason,
        "raised_by": judged.raised_by,
    })
}

fn to_json(answered: &Answered, receipt: Option<&str>, arguments: &str) -> Value {
    let judgement = &answered.judgement;
    let missing = judgement.missing.as_ref().map(|missing| {
        let perform = missing
            .perform
            .as_ref()
            .map(|call| json!({ "tool": call.tool(), "arguments": raw(&arguments_to_json(call)) }));
        json!({
            "step": missing.step.as_str(),
            "subject": missing.subject,
            "reason": missing.reason.code(),
            "perform": perform,
        })
    });
    json!({
        "decision": judgement.decision().word(),
        "code": judgement.code.code(),
        "message": judgement.code.sentence(),
        "way_out": judgement.code.way_out(),
        "for_agent": judgement.for_agent(),
        "event": answered.event,
        "receipt": receipt,
        "permitted": answered.permit.is_some(),
        "runs": answered.permit.as_ref().map(|permit| permit.runs().collect::<Vec<_>>()),
        "call": raw(arguments),
        "missing": missing,
        "trigger": judgement.trigger.map(|trigger| json!({
            "event": trigger.event,
            "authority": trigger.authority.word(),
        })),
        "arguments": judgement.arguments.iter().map(argument_to_json).collect::<Vec<_>>(),
        "origin": judgement.origin,
        "mandate": judgement.mandate.map(|(mandate, _)| mandate),
        "approval": judgement.approval,
    })
}

/// Arguments as they will leave, each number with every digit.
fn raw(json: &str) -> Value {
    // A reader that turns numbers into floats would see another call, so they travel as text.
    Value::String(json.to_owned())
}

pub(crate) fn end(context: &Context, args: &args::End) -> Outcome<u8> {
    let mut desk = Desk::open(context, "end")?;
    let by = desk.caller(&args.door)?;
    actum_core::may(&by, actum_core::Asks::Record)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let decided = args.decision;
    let known = desk.views().provenance().decision(decided).map(|(_, it)| it.session);
    let own =
        known.and_then(|it| desk.views().provenance().session(it)).is_some_and(
            |session| match by {
                actum_core::Caller::Owner(_) => true,
                actum_core::Caller::Adapter(adapter) => session.adapter == Some(adapter),
                actum_core::Caller::Agent(_) => false,
            },
        );
    let permit = desk.ledger.permit_again(decided).filter(|_| own);
    let Some(permit) = permit else {
        return Err(Failure::usage(format!(
            "event {decided} is no call of yours that is going on"
        ))
        .hint("`actum act` prints the number of a call that it allows; each ends once"));
    };
    let outcome = match args.outcome {
        OutcomeWord::Passed => RunOutcome::Passed,
        OutcomeWord::Failed => RunOutcome::Failed,
        OutcomeWord::Errored => RunOutcome::Errored,
        OutcomeWord::Denied => RunOutcome::Denied,
        OutcomeWord::TimedOut => RunOutcome::TimedOut,
    };
    let result = Digest::plain(args.result.as_deref().unwrap_or_default().as_bytes());
    let end = NewCallEnd { outcome, result };
    let events = desk.ledger.end_call(permit, &end, &desk.writer.reading)?;
    context.say.line(&format!("call {decided} {outcome}"));
    context.say.json(&json!({ "decision": decided, "outcome": outcome.word(), "events": events }));
    Ok(0)
}
