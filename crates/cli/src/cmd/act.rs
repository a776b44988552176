//! `actum act` and `actum end`: a call of a tool, before and after.

use actum_core::{Decision, DecisionCode, Outcome as RunOutcome};
pub(crate) use actum_serve::desk::receipt_of;
use actum_serve::wire::{Act, Acted, Bound, CallResult, Detail, End};
use actum_store::call_from_json;
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::observe::raw;
use super::recall::exit_of;
use crate::args_memory as args;
use crate::args_memory::OutcomeWord;
use crate::context::Context;
use crate::door::{Desk, note_unknown, role, text_of};
use crate::say::{Failure, Outcome, foreign};

pub(crate) fn act(context: &Context, args: &args::Act) -> Outcome<u8> {
    let json = text_of(args.arguments.as_deref())?;
    call_from_json(&args.tool, &json).map_err(|error| {
        Failure::usage(error.to_string()).hint(
            "in a shell, quote them once: --arguments '{\"payee\": \"DE89\", \"amount\": 13}'",
        )
    })?;
    let mut desk = Desk::open(context, "act", role(&args.door)?)?;
    let acted = desk.ask(Act {
        session: args.session.clone(),
        tool: args.tool.clone(),
        arguments: raw(&json)?,
        call_id: args.id.clone(),
        // A shell knows no definition of the tool.
        definition: None,
        somebody: !args.nobody,
    })?;
    if !acted.is_opened {
        note_unknown(context, &args.session);
    }
    let detail = acted.detail.clone().unwrap_or_default();
    tell(context, args, &acted, &detail);
    context.say.json(&to_json(&acted, &detail));
    Ok(exit_of(acted.decision))
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

fn tell(context: &Context, args: &args::Act, acted: &Acted, detail: &Detail) {
    let say = context.say;
    let Acted { decision, code, .. } = *acted;
    say.line(&format!("{} ({code}): {}", paint(decision, decision.word()), code.sentence()));
    if let Some(missing) = &detail.missing {
        say.line(&format!(
            "  step {} on {}: {}",
            foreign(&missing.step),
            foreign(&missing.subject),
            missing.reason.sentence()
        ));
        let perform = missing.perform.as_ref();
        let perform = perform.and_then(|(tool, json)| call_from_json(tool, json).ok());
        if let Some(perform) = perform {
            say.line("  Perform it first, as a call of its own:");
            for line in perform.to_string().lines() {
                say.line(&format!("    {}", foreign(line)));
            }
        }
    }
    if code == DecisionCode::UntrustedTrigger && detail.trigger.is_none() {
        say.line("  nothing that made the agent act was seen in this session: `actum observe` records a turn");
    }
    for bound in &detail.arguments {
        say.line(&format!("  {}", argument_in_words(bound)));
    }
    match (decision, &acted.receipt) {
        (Decision::Allow, _) => {
            if let Some(decided) = acted.permit {
                let door = args.door.words();
                say.line(&format!(
                    "  Perform it once, then: actum end {decided} --outcome passed{door}"
                ));
            }
        }
        (_, Some(receipt)) => {
            say.line(&format!("  {}", code.way_out()));
            say.line(&format!("  receipt {receipt}: actum approve {receipt}"));
        }
        (_, None) => say.line(&format!("  {}", code.way_out())),
    }
}

/// One binding argument and where it came from.
pub(crate) fn argument_in_words(bound: &Bound) -> String {
    let raised = bound.raised_by.map_or_else(String::new, |run| format!("; verified by run {run}"));
    let value = bound.value.as_ref().map(|value| format!(" = {}", foreign(value)));
    let value = value.unwrap_or_default();
    format!(
        "{}{value}: {} ({}{raised})",
        foreign(&bound.argument),
        bound.authority,
        foreign(&bound.reason)
    )
}

/// The same as facts.
pub(crate) fn argument_to_json(bound: &Bound) -> Value {
    json!({
        "argument": bound.argument,
        "value": bound.value.clone().unwrap_or_default(),
        "authority": bound.authority.word(),
        "sources": bound.sources.iter().map(|source| source.event).collect::<Vec<_>>(),
        "reason": bound.reason,
        "raised_by": bound.raised_by,
    })
}

fn to_json(acted: &Acted, detail: &Detail) -> Value {
    let missing = detail.missing.as_ref().map(|missing| {
        let perform = missing.perform.as_ref();
        // A reader that turns numbers into floats would see another call, so arguments travel as text.
        let perform =
            perform.map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments }));
        json!({
            "step": missing.step,
            "subject": missing.subject,
            "reason": missing.reason.code(),
            "perform": perform,
        })
    });
    json!({
        "decision": acted.decision.word(),
        "code": acted.code.code(),
        "message": acted.code.sentence(),
        "way_out": acted.code.way_out(),
        "for_agent": acted.for_agent,
        "event": acted.event,
        "receipt": acted.receipt,
        "permitted": acted.permitted,
        "runs": acted.permitted.then_some(&detail.runs),
        "call": acted.arguments,
        "missing": missing,
        "trigger": detail.trigger.as_ref().map(|trigger| json!({
            "event": trigger.event,
            "authority": trigger.authority.word(),
        })),
        "arguments": detail.arguments.iter().map(argument_to_json).collect::<Vec<_>>(),
        "origin": detail.origin,
        "mandate": detail.mandate,
        "approval": detail.approval,
    })
}

pub(crate) fn end(context: &Context, args: &args::End) -> Outcome<u8> {
    let outcome = match args.outcome {
        OutcomeWord::Passed => RunOutcome::Passed,
        OutcomeWord::Failed => RunOutcome::Failed,
        OutcomeWord::Errored => RunOutcome::Errored,
        OutcomeWord::Denied => RunOutcome::Denied,
        OutcomeWord::TimedOut => RunOutcome::TimedOut,
    };
    let mut desk = Desk::open(context, "end", role(&args.door)?)?;
    let decided = args.decision;
    let result = CallResult::Text(args.result.clone().unwrap_or_default());
    let events = desk.ask(End { permit: decided, outcome, result })?.events;
    context.say.line(&format!("call {decided} {outcome}"));
    context.say.json(&json!({ "decision": decided, "outcome": outcome.word(), "events": events }));
    Ok(0)
}
