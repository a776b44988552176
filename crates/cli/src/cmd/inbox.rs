//! `actum inbox`: the one place for what waits for its owner. Equal questions are one, and from the second on a mandate is
//! offered for them.

use std::collections::{BTreeMap, BTreeSet};

use actum_core::{
    ArgumentName, AskedCall, Call, Decided, DecisionCode, Digest, Gate, Judgement, LimitKind,
    Presence, Session, Space, TriggerKind, Value, ValueKind, Views, check_limit, judge_act,
};
use actum_store::{AcceptedPolicy, Cache, Snapshot, arguments_to_json, read_clocks, waiting_call};
use serde_json::{Value as Json, json};

use super::act::{argument_to_json, receipt_of};
use super::session::name_of;
use super::thing::{argument_lines, channel_in_words, code_in_words, times_of};
use crate::context::Context;
use crate::door::{Things, policy_of};
use crate::say::{Outcome, Say, chain, count, foreign};
use crate::time::{ago, utc};

/// From this question on a mandate is offered.
const OFFERED_FROM: u64 = 2;

/// A call that waits for its owner.
pub(super) struct Waiting {
    pub(super) event: u64,
    pub(super) decided: Decided,
    pub(super) asked_ms: u64,
    /// How often it was asked, as far as that was written down.
    asked: u64,
    /// Whether each time was.
    is_exact: bool,
    /// The exact call, or why nobody can say what it is.
    pub(super) call: Result<Call, String>,
    /// As it would be judged now.
    pub(super) judgement: Option<Judgement>,
}

pub(crate) fn run(context: &Context) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let policy = policy_of(context, views);
    let all = waiting(context, &snapshot, policy.as_ref())?;
    let now_ms = read_clocks().wall_ms;
    let (questions, calls) = asked_in_all(views);
    let say = context.say;
    let wait = if all.len() == 1 { "waits" } else { "wait" };
    say.line(&format!("{} {wait}; {}", count(all.len() as u64, "call"), rate(questions, calls)));
    let mut groups = Vec::new();
    for group in grouped(views, &all) {
        let Some(newest) = group.last() else { continue };
        let asked: u64 = group.iter().map(|it| it.asked).sum();
        let offer = (asked >= OFFERED_FROM).then(|| offered(views, policy.as_ref(), newest));
        let offer = offer.flatten();
        tell(say, views, &group, now_ms);
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
            "calls": group.iter().map(|it| to_json(views, it)).collect::<Vec<_>>(),
        }));
    }
    say.json(&json!({ "questions": questions, "effect_calls": calls, "waiting": groups }));
    Ok(0)
}

/// Every call that waits, oldest question first.
pub(super) fn waiting(
    context: &Context,
    snapshot: &Snapshot,
    policy: Option<&AcceptedPolicy>,
) -> Outcome<Vec<Waiting>> {
    let views = snapshot.views();
    let cache = Cache::of(context.places());
    let mut pending: Vec<(u64, Decided)> =
        views.provenance().pending().map(|(event, decided)| (event, *decided)).collect();
    pending.sort_by_key(|(event, _)| *event);
    let times = times_of(snapshot, &pending.iter().map(|(event, _)| *event).collect())?;
    let waits = pending.into_iter().map(|(event, decided)| {
        let call = kept_call(&cache, &decided.call);
        let judgement =
            call.as_ref().ok().map(|call| judge(context, views, policy, &decided, call));
        let asked_ms = times.get(&event).copied().unwrap_or_default();
        let (asked, is_exact) = asked_of(views, decided.session, &decided.call);
        Waiting { event, decided, asked_ms, asked, is_exact, call, judgement }
    });
    Ok(waits.collect())
}

/// What would be decided now of a call that was decided before.
fn judge(
    context: &Context,
    views: &Views,
    policy: Option<&AcceptedPolicy>,
    decided: &Decided,
    call: &Call,
) -> Judgement {
    let cache = Cache::of(context.places());
    let things = Things { context, cache: &cache };
    let force = policy.map(AcceptedPolicy::in_force_now);
    let gate = Gate { force, surroundings: &things, presence: Presence::Somebody };
    let asked = AskedCall { session: Some(decided.session), call, call_id: None };
    judge_act(views, &gate, &asked, read_clocks().wall_ms)
}

/// The same, where the call was kept and waits still.
pub(super) fn judged_again(
    context: &Context,
    views: &Views,
    policy: Option<&AcceptedPolicy>,
    decided: &Decided,
) -> Option<Judgement> {
    let is_it = |it: &Decided| it.session == decided.session && it.call == decided.call;
    let waits = views.provenance().pending().any(|(_, it)| is_it(it));
    let call = kept_call(&Cache::of(context.places()), &decided.call).ok().filter(|_| waits)?;
    Some(judge(context, views, policy, decided, &call))
}

fn kept_call(cache: &Cache, digest: &Digest) -> Result<Call, String> {
    match cache.read_call(digest, waiting_call, Call::digest) {
        Ok(Some(call)) => Ok(call),
        Ok(None) => Err("the call was not kept, so nobody can say what it is".to_owned()),
        Err(error) => Err(format!("the call cannot be shown: {}", chain(&error))),
    }
}

/// A question, or a no that the owner can turn into a yes.
fn is_question(decided: &Decided) -> bool {
    matches!(
        DecisionCode::from_number(decided.reason),
        Some(
            DecisionCode::Derived
                | DecisionCode::UntrustedArgument
                | DecisionCode::UntrustedTrigger
                | DecisionCode::NobodyToAsk
        )
    )
}

/// How often this was a question, and whether that is exact: of those in a row the first, second, fourth, eighth, ... are
/// events.
fn asked_of(views: &Views, session: u32, call: &Digest) -> (u64, bool) {
    let decisions = views.provenance().decisions().iter().map(|(_, decided)| decided);
    let same = decisions.filter(|it| it.session == session && it.call == *call && is_question(it));
    let (mut asked, mut before, mut is_exact) = (0, 0, true);
    for decided in same {
        let count = u64::from(decided.count);
        asked += if count > before { count - before } else { count };
        before = count;
        is_exact &= count < 2;
    }
    (asked, is_exact)
}

/// Questions and calls that were decided; the same one several times in a row is one, and so is one that was approved then.
fn asked_in_all(views: &Views) -> (u64, u64) {
    let (mut questions, mut calls) = (0, 0);
    for (_, decided) in views.provenance().decisions() {
        let code = DecisionCode::from_number(decided.reason);
        let is_call = code != Some(DecisionCode::Grounded)
            && !name_of(views, Space::Called, decided.called).starts_with('(');
        let no_effect = matches!(code, Some(DecisionCode::ApprovedCall | DecisionCode::Read));
        if !is_call || decided.count > 1 || no_effect {
            continue;
        }
        calls += 1;
        questions += u64::from(is_question(decided));
    }
    (questions, calls)
}

fn rate(questions: u64, calls: u64) -> String {
    let percent = (questions * 100).checked_div(calls);
    let percent = percent.map_or_else(String::new, |percent| format!(" ({percent} %)"));
    format!("{} in {}{percent}", count(questions, "question"), count(calls, "effect call"))
}

/// Calls of one tool in one session whose binding arguments are equal.
fn grouped<'w>(views: &Views, all: &'w [Waiting]) -> Vec<Vec<&'w Waiting>> {
    let mut groups: Vec<Vec<&Waiting>> = Vec::new();
    let mut by_key = BTreeMap::new();
    for one in all {
        let Some(judgement) = &one.judgement else {
            groups.push(vec![one]);
            continue;
        };
        let binding = judgement.arguments.iter();
        let binding = binding.map(|it| (it.argument.clone(), it.shown())).collect::<Vec<_>>();
        let tool = name_of(views, Space::Called, one.decided.called);
        if binding.is_empty() {
            // As it is judged now nothing says what binds, so it is like no other.
            groups.push(vec![one]);
            continue;
        }
        let next = groups.len();
        let at = *by_key.entry((one.decided.session, tool, binding)).or_insert(next);
        match groups.get_mut(at) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

fn tell(say: Say, views: &Views, group: &[&Waiting], now_ms: u64) {
    for (at, one) in group.iter().enumerate() {
        let tool = foreign(&name_of(views, Space::Called, one.decided.called));
        let session = foreign(&name_of(views, Space::Session, one.decided.session));
        let receipt = receipt_of(one.event, &one.decided.call);
        let code = code_in_words(one.decided.reason);
        if at == 0 {
            say.line("");
        }
        say.line(&format!("{receipt}  {tool} in {session}, {}: {code}", ago(one.asked_ms, now_ms)));
        match &one.call {
            Ok(call) => call_lines(call).iter().for_each(|line| say.line(&format!("  {line}"))),
            Err(why) => {
                say.line(&format!("  {}; it cannot be approved", foreign(why)));
            }
        }
    }
    let Some(judgement) = group.last().and_then(|one| one.judgement.as_ref()) else { return };
    for line in why_lines(views, judgement) {
        say.line(&format!("  {line}"));
    }
    for one in group {
        let receipt = receipt_of(one.event, &one.decided.call);
        say.line(&format!("  approve it once: actum approve {receipt}"));
    }
}

/// The exact call, as it would be approved.
pub(super) fn call_lines(call: &Call) -> Vec<String> {
    call.to_string().lines().map(foreign).collect()
}

/// Where each binding argument came from, and what made the agent act.
pub(super) fn why_lines(views: &Views, judgement: &Judgement) -> Vec<String> {
    let arguments = judgement.arguments.iter();
    let mut lines: Vec<String> = arguments.flat_map(|it| argument_lines(views, it)).collect();
    if let Some(trigger) = judgement.trigger {
        let what = match trigger.kind {
            TriggerKind::Turn => "a turn",
            TriggerKind::Task(_) => "a stored task",
            TriggerKind::Inbound => "a message",
        };
        let channel = channel_in_words(&name_of(views, Space::Channel, trigger.channel));
        let (event, authority) = (trigger.event, trigger.authority);
        lines.push(format!("set off by {what} from {channel}, event {event}: {authority}"));
    } else {
        lines.push("nobody saw what set it off".to_owned());
    }
    if let Some(missing) = &judgement.missing {
        lines.push(format!(
            "step {} on {} is missing: {}",
            foreign(missing.step.as_str()),
            foreign(&missing.subject),
            missing.reason.sentence()
        ));
    }
    lines
}

/// The command that would allow calls like this one beforehand; nothing where no mandate would cover it.
fn offered(views: &Views, policy: Option<&AcceptedPolicy>, one: &Waiting) -> Option<String> {
    let (call, judgement) = (one.call.as_ref().ok()?, one.judgement.as_ref()?);
    let session = views.provenance().session(one.decided.session)?;
    let audience = audience_for(views, session, one, judgement)?;
    let tool = actum_core::ToolName::new(call.tool()).ok()?;
    let rule = policy?.policy().tool(&tool);
    let binding: BTreeSet<&str> =
        judgement.arguments.iter().map(|judged| judged.argument.as_str()).collect();
    let mut words = vec![
        "actum mandate grant".to_owned(),
        format!("--tool {}", shell_word(call.tool())?),
        format!("--audience {}", shell_word(&audience)?),
    ];
    for argument in binding {
        let name = ArgumentName::new(argument).ok()?;
        let value = match call.argument(argument)? {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null | Value::List(_) | Value::Map(_) => return None,
        };
        let of: ValueKind = rule.kind(&name);
        check_limit(argument, LimitKind::Equal, &[&value], of).ok()?;
        if value.is_empty() {
            return None;
        }
        words.push(format!("--equal {}", shell_word(&format!("{argument}={value}"))?));
    }
    words.push("--uses 3 --for 24h".to_owned());
    Some(words.join(" "))
}

/// For whom a mandate would have to be, so that it covers this.
fn audience_for(
    views: &Views,
    session: &Session,
    one: &Waiting,
    judgement: &Judgement,
) -> Option<String> {
    let code = judgement.code;
    if matches!(code, DecisionCode::Derived | DecisionCode::UntrustedArgument) {
        return Some(match session.task {
            Some(record) => format!("task:{record}"),
            None => format!("session:{}", name_of(views, Space::Session, one.decided.session)),
        });
    }
    let trigger = judgement.trigger.filter(|_| code == DecisionCode::UntrustedTrigger)?;
    match trigger.kind {
        TriggerKind::Task(_) => None,
        TriggerKind::Turn | TriggerKind::Inbound => {
            Some(format!("channel:{}", name_of(views, Space::Channel, trigger.channel)))
        }
    }
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

fn to_json(views: &Views, one: &Waiting) -> Json {
    let judgement = one.judgement.as_ref();
    let arguments = judgement.map(|it| it.arguments.iter().map(argument_to_json).collect());
    let arguments: Vec<Json> = arguments.unwrap_or_default();
    let call = one.call.as_ref();
    json!({
        "receipt": receipt_of(one.event, &one.decided.call),
        "event": one.event,
        "at": utc(one.asked_ms),
        "session": name_of(views, Space::Session, one.decided.session),
        "tool": name_of(views, Space::Called, one.decided.called),
        "decision": one.decided.decision.word(),
        "code": DecisionCode::from_number(one.decided.reason).map(DecisionCode::code),
        "asked": one.asked,
        "call": call.ok().map(arguments_to_json),
        "unreadable": call.err(),
        "code_now": judgement.map(|it| it.code.code()),
        "trigger": judgement.and_then(|it| it.trigger).map(|trigger| json!({
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
