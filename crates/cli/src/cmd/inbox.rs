//! `actum inbox`: the one place for what waits for its owner. Equal questions are one, and from the second on a mandate is
//! offered for them.

use std::collections::{BTreeMap, BTreeSet};

use actum_core::{Call, Decided, Views};
use actum_serve::desk::{OFFERED_FROM, Shown, bound_of, kept_call};
use actum_serve::wire::{AskInbox, Audience, Bound, Detail, Inbox, Mandate, Role, Waiting};
use actum_store::{AcceptedPolicy, Cache, call_from_json, read_clocks};
use serde_json::{Value as Json, json};

use super::act::argument_to_json;
use super::thing::{argument_lines, channel_in_words, times_of};
use crate::context::Context;
use crate::door::policy_of;
use crate::link;
use crate::say::{Outcome, Say, count, foreign};
use crate::time::{ago, utc};

pub(crate) fn run(context: &Context) -> Outcome<u8> {
    let inbox = look(context)?;
    let now_ms = read_clocks().wall_ms;
    let say = context.say;
    let all: usize = inbox.waiting.iter().map(Vec::len).sum();
    let wait = if all == 1 { "waits" } else { "wait" };
    let (questions, calls) = (inbox.questions, inbox.effect_calls);
    say.line(&format!("{} {wait}; {}", count(all as u64, "call"), rate(questions, calls)));
    let mut groups = Vec::new();
    for group in &inbox.waiting {
        let asked: u64 = group.iter().map(|it| it.asked).sum();
        let mut offers = group.iter().filter_map(|it| it.detail.as_ref()?.offer.as_ref());
        let offer = offers.next_back().and_then(in_a_shell);
        tell(say, group, now_ms);
        if asked >= OFFERED_FROM {
            let is_exact = group.iter().all(|one| one.is_exact);
            let more = if is_exact { "" } else { " or more" };
            say.line(&format!("  asked {asked} times{more}"));
        }
        if let Some(offer) = &offer {
            say.line(&format!("  allow it beforehand: {offer}"));
            if offer.contains("--audience channel:") {
                say.line(
                    "  whoever writes to that channel could set it off then, within its limits",
                );
            }
        }
        groups.push(json!({
            "asked": asked,
            "offer": offer,
            "calls": group.iter().map(to_json).collect::<Vec<_>>(),
        }));
    }
    say.json(&json!({ "questions": questions, "effect_calls": calls, "waiting": groups }));
    Ok(0)
}

/// What waits: as the daemon says that keeps the ledger from this user, or as it is read here.
pub(super) fn look(context: &Context) -> Outcome<Inbox> {
    if link::is_anothers()?
        && let Some(mut client) = context.daemon("inbox", Role::Agent { session: None })?
    {
        return Ok(client.ask(&AskInbox {})?);
    }
    let snapshot = context.read()?;
    let views = snapshot.views();
    let pending: BTreeSet<u64> = views.provenance().pending().map(|(event, _)| event).collect();
    let (times, policy) = (times_of(&snapshot, &pending)?, policy_of(context, views));
    let (places, now_ms) = (context.places(), read_clocks().wall_ms);
    let shown = Shown { views, policy: policy.as_ref(), places, times: &times, now_ms };
    Ok(shown.inbox())
}

/// Where the binding arguments of a call came from that waits still, as it would be judged now.
pub(super) fn judged_again(
    context: &Context,
    views: &Views,
    policy: Option<&AcceptedPolicy>,
    decided: &Decided,
) -> Option<Vec<Bound>> {
    let is_it = |it: &Decided| it.session == decided.session && it.call == decided.call;
    let waits = views.provenance().pending().any(|(_, it)| is_it(it));
    let cache = Cache::of(context.places());
    let call = kept_call(&cache, &decided.call).ok().filter(|_| waits)?;
    let (places, now_ms) = (context.places(), read_clocks().wall_ms);
    let shown = Shown { views, policy, places, times: &BTreeMap::new(), now_ms };
    let judgement = shown.judge(decided, &call);
    Some(judgement.arguments.iter().map(|judged| bound_of(views, judged)).collect())
}

pub(super) fn rate(questions: u64, calls: u64) -> String {
    let percent = (questions * 100).checked_div(calls);
    let percent = percent.map_or_else(String::new, |percent| format!(" ({percent} %)"));
    format!("{} in {}{percent}", count(questions, "question"), count(calls, "effect call"))
}

fn tell(say: Say, group: &[Waiting], now_ms: u64) {
    for (at, one) in group.iter().enumerate() {
        let (tool, session) = (foreign(&one.tool), foreign(&one.session));
        let code = one.code.map_or("another reason", actum_core::DecisionCode::code);
        if at == 0 {
            say.line("");
        }
        let asked = ago(one.asked_ms, now_ms);
        say.line(&format!("{}  {tool} in {session}, {asked}: {code}", one.receipt));
        match exact_call(one) {
            Ok(call) => call_lines(&call).iter().for_each(|line| say.line(&format!("  {line}"))),
            Err(why) => {
                say.line(&format!("  {}; it cannot be approved", foreign(&why)));
            }
        }
    }
    let Some(detail) = group.last().and_then(|one| one.detail.as_ref()) else { return };
    for line in why_lines(detail) {
        say.line(&format!("  {line}"));
    }
    for one in group {
        let receipt = &one.receipt;
        say.line(&format!("  approve it once: actum approve {receipt}"));
    }
}

/// The exact call, or why nobody can say what it is.
pub(super) fn exact_call(one: &Waiting) -> Result<Call, String> {
    let none = || one.unreadable.clone().unwrap_or_else(|| "it cannot be shown".to_owned());
    let arguments = one.arguments.as_ref().ok_or_else(none)?;
    call_from_json(&one.tool, arguments).map_err(|error| error.to_string())
}

/// The exact call, as it would be approved.
pub(super) fn call_lines(call: &Call) -> Vec<String> {
    call.to_string().lines().map(foreign).collect()
}

/// Where each binding argument came from, and what made the agent act.
pub(super) fn why_lines(detail: &Detail) -> Vec<String> {
    let mut lines: Vec<String> = detail.arguments.iter().flat_map(argument_lines).collect();
    if let Some(trigger) = &detail.trigger {
        let what = match trigger.kind.as_str() {
            "turn" => "a turn",
            "task" => "a stored task",
            _ => "a message",
        };
        let channel = channel_in_words(&trigger.channel);
        let (event, authority) = (trigger.event, trigger.authority);
        lines.push(format!("set off by {what} from {channel}, event {event}: {authority}"));
    } else {
        lines.push("nobody saw what set it off".to_owned());
    }
    if let Some(missing) = &detail.missing {
        lines.push(format!(
            "step {} on {} is missing: {}",
            foreign(&missing.step),
            foreign(&missing.subject),
            missing.reason.sentence()
        ));
    }
    lines
}

/// The command that would grant an offered mandate; nothing where it cannot be shown as it is.
fn in_a_shell(offer: &Mandate) -> Option<String> {
    let audience = match &offer.audience {
        Audience::Task(record) => format!("task:{record}"),
        Audience::Adapter(name) => format!("adapter:{name}"),
        Audience::Session(name) => format!("session:{name}"),
        Audience::Channel(name) => format!("channel:{name}"),
    };
    let mut words = vec![
        "actum mandate grant".to_owned(),
        format!("--tool {}", shell_word(&offer.tool)?),
        format!("--audience {}", shell_word(&audience)?),
    ];
    for limit in &offer.limits {
        let value = limit.values.first()?;
        words.push(format!("--equal {}", shell_word(&format!("{}={value}", limit.argument))?));
    }
    words.push(format!("--uses {} --for 24h", offer.uses));
    Some(words.join(" "))
}

/// The text as one word of a shell, whatever is in it. Nothing for one that cannot be shown as it is: whoever copies a line has
/// to see what is in it.
fn shell_word(text: &str) -> Option<String> {
    if text.chars().any(|c| !c.is_ascii() || c.is_ascii_control()) {
        return None;
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+".contains(c);
    if text.chars().all(is_plain) {
        return Some(text.to_owned());
    }
    Some(format!("'{}'", text.replace('\'', r"'\''")))
}

fn to_json(one: &Waiting) -> Json {
    let detail = one.detail.as_ref();
    let arguments: Vec<Json> =
        detail.map(|it| it.arguments.iter().map(argument_to_json).collect()).unwrap_or_default();
    json!({
        "receipt": one.receipt,
        "event": one.event,
        "at": utc(one.asked_ms),
        "session": one.session,
        "tool": one.tool,
        "decision": one.decision.word(),
        "code": one.code.map(actum_core::DecisionCode::code),
        "asked": one.asked,
        "call": one.arguments,
        "unreadable": one.unreadable,
        "code_now": one.code_now.map(actum_core::DecisionCode::code),
        "trigger": detail.and_then(|it| it.trigger.as_ref()).map(|trigger| json!({
            "event": trigger.event,
            "authority": trigger.authority.word(),
        })),
        "arguments": arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_one_word_of_a_shell() {
        for (text, word) in [
            ("payee=DE89", Some("payee=DE89")),
            ("a=$(rm -rf x)", Some("'a=$(rm -rf x)'")),
            ("a='; rm x; '", Some(r"'a='\''; rm x; '\'''")),
            ("a=b\nc", None),
            ("a=\u{202e}x", None),
        ] {
            assert_eq!(shell_word(text).as_deref(), word);
        }
    }
}
