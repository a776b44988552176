//! Decisions and what they rest on, as facts for the wire.

use std::collections::{BTreeMap, BTreeSet};

use actum_core::{
    Answered, ArgumentName, Authority, Call, Decided, DecisionCode, Digest, Item, ItemKind, Judged,
    Judgement, LimitKind, Session, SessionName, Space, Start, TriggerKind, Value, ValueKind, Views,
    check_limit,
};
use actum_store::{AcceptedPolicy, arguments_to_json};

use crate::wire::{
    Acted, Audience, Bound, Detail, Limit, Mandate, Missing, Partial, Source, Trigger, Watched,
};

/// Things that are named as where one value stands.
const SOURCES_MAX: usize = 64;
/// How long an offered mandate would hold.
const OFFERED_MS: u64 = 24 * 60 * 60 * 1000;
/// How often an offered mandate could be used.
const OFFERED_USES: u32 = 3;

/// The short code of a held call: the event, and enough of the call that a slip of the finger meets no other.
pub fn receipt_of(event: u64, call: &Digest) -> String {
    let digits: String = call.to_string().chars().take(6).collect();
    format!("{event}-{digits}")
}

/// A name by its number.
pub fn name_of(views: &Views, space: Space, number: u32) -> String {
    String::from_utf8_lossy(views.name(space, number).unwrap_or_default()).into_owned()
}

/// The answer to a call, for whoever may see what it rests on.
pub(crate) fn acted(
    views: &Views,
    policy: Option<&AcceptedPolicy>,
    call: &Call,
    answered: &Answered,
    (session, is_opened): (Option<u32>, bool),
    now_ms: u64,
) -> Acted {
    let judgement = &answered.judgement;
    let receipt = answered.event.filter(|_| judgement.has_receipt());
    let mut detail = detail_of(views, judgement);
    detail.runs = answered.permit.iter().flat_map(actum_core::Permit::runs).collect();
    if let (Some(session), true) = (session, judgement.has_receipt()) {
        detail.offer = offered(views, policy, session, call, judgement, now_ms);
    }
    Acted {
        decision: judgement.decision(),
        code: judgement.code,
        for_agent: judgement.for_agent(),
        permitted: answered.permit.is_some(),
        permit: answered.permit.as_ref().and_then(actum_core::Permit::decided),
        event: answered.event,
        receipt: receipt.map(|event| receipt_of(event, &call.digest())),
        arguments: arguments_to_json(call),
        is_opened,
        detail: Some(detail),
    }
}

/// All that a judgement rests on.
pub(crate) fn detail_of(views: &Views, judgement: &Judgement) -> Detail {
    let missing = judgement.missing.as_ref().map(|missing| Missing {
        step: missing.step.to_string(),
        subject: missing.subject.clone(),
        reason: missing.reason,
        perform: missing
            .perform
            .as_ref()
            .map(|call| (call.tool().to_owned(), arguments_to_json(call))),
    });
    let trigger = judgement.trigger.map(|trigger| Trigger {
        event: trigger.event,
        kind: trigger_word(trigger.kind).to_owned(),
        channel: name_of(views, Space::Channel, trigger.channel),
        authority: trigger.authority,
    });
    Detail {
        missing,
        trigger,
        arguments: judgement.arguments.iter().map(|judged| bound_of(views, judged)).collect(),
        origin: judgement.origin,
        mandate: judgement.mandate.map(|(mandate, _)| mandate),
        approval: judgement.approval,
        runs: Vec::new(),
        offer: None,
    }
}

/// The word for what made an agent act.
pub const fn trigger_word(kind: TriggerKind) -> &'static str {
    match kind {
        TriggerKind::Turn => "turn",
        TriggerKind::Task(_) => "task",
        TriggerKind::Inbound => "inbound",
    }
}

/// A binding argument, with where it came from.
pub fn bound_of(views: &Views, judged: &Judged) -> Bound {
    let sources = judged.origin.sources.iter().take(SOURCES_MAX);
    let sources = sources.filter_map(|event| views.provenance().item(*event));
    Bound {
        argument: judged.argument.clone(),
        value: judged.value.as_ref().map(ToString::to_string),
        authority: judged.authority,
        sources: sources.map(|item| source_of(views, item)).collect(),
        reason: judged.origin.reason.clone().into_owned(),
        raised_by: judged.raised_by,
    }
}

/// A thing with an origin.
pub fn source_of(views: &Views, item: &Item) -> Source {
    let (what, entry, owner) = match &item.what {
        ItemKind::Seen(seen) => (seen.word(), None, None),
        ItemKind::Entry { kind, name, owner, .. } => (kind.word(), Some(name.to_string()), *owner),
    };
    Source {
        event: item.event,
        what: what.to_owned(),
        entry,
        channel: name_of(views, Space::Channel, item.channel),
        author: name_of(views, Space::Author, item.author),
        at_ms: item.at_ms,
        authority: item.authority,
        owner,
    }
}

/// The mandate that would allow calls like this one beforehand; nothing where none would cover it.
pub(crate) fn offered(
    views: &Views,
    policy: Option<&AcceptedPolicy>,
    session: u32,
    call: &Call,
    judgement: &Judgement,
    now_ms: u64,
) -> Option<Mandate> {
    let of = views.provenance().session(session)?;
    let audience = audience_for(views, of, session, judgement)?;
    let tool = actum_core::ToolName::new(call.tool()).ok()?;
    let rule = policy?.policy().tool(&tool);
    let binding: BTreeSet<&str> =
        judgement.arguments.iter().map(|judged| judged.argument.as_str()).collect();
    let mut limits = Vec::new();
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
        let argument = argument.to_owned();
        limits.push(Limit { argument, kind: LimitKind::Equal, values: vec![value] });
    }
    Some(Mandate {
        tool: call.tool().to_owned(),
        audience,
        from_ms: None,
        until_ms: now_ms.saturating_add(OFFERED_MS),
        uses: OFFERED_USES,
        budget: None,
        limits,
        narrows: None,
    })
}

/// For whom a mandate would have to be, so that it covers this.
fn audience_for(
    views: &Views,
    session: &Session,
    number: u32,
    judgement: &Judgement,
) -> Option<Audience> {
    let code = judgement.code;
    if matches!(code, DecisionCode::Derived | DecisionCode::UntrustedArgument) {
        return Some(match session.task {
            Some(record) => Audience::Task(record),
            None => Audience::Session(name_of(views, Space::Session, number)),
        });
    }
    let trigger = judgement.trigger.filter(|_| code == DecisionCode::UntrustedTrigger)?;
    match trigger.kind {
        TriggerKind::Task(_) => None,
        TriggerKind::Turn | TriggerKind::Inbound => {
            Some(Audience::Channel(name_of(views, Space::Channel, trigger.channel)))
        }
    }
}

/// A decision as a stream shows it.
pub(crate) fn watched(views: &Views, event: u64, decided: &Decided, at_ms: u64) -> Watched {
    let waits = views.provenance().pending().any(|(pending, _)| pending == event);
    let origin = decided.origin.and_then(|origin| views.provenance().item(origin));
    Watched {
        event,
        at_ms,
        session: name_of(views, Space::Session, decided.session),
        called: name_of(views, Space::Called, decided.called),
        decision: decided.decision,
        code: DecisionCode::from_number(decided.reason),
        origin: origin.map(|item| source_of(views, item)),
        count: decided.count,
        receipt: waits.then(|| receipt_of(event, &decided.call)),
    }
}

/// A question, or a no that the owner can turn into a yes.
pub fn is_question(decided: &Decided) -> bool {
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

/// Questions and calls that were decided; the same one several times in a row is one, and so is one that was approved then.
pub fn asked_in_all(views: &Views) -> (u64, u64) {
    let (mut questions, mut calls) = (0, 0);
    for (_, decided) in views.provenance().decisions() {
        let code = DecisionCode::from_number(decided.reason);
        let is_call = code != Some(DecisionCode::Grounded)
            && !name_of(views, Space::Called, decided.called).starts_with('(');
        let is_other = matches!(
            code,
            Some(DecisionCode::ApprovedCall | DecisionCode::Read | DecisionCode::Declined)
        );
        if !is_call || decided.count > 1 || is_other {
            continue;
        }
        calls += 1;
        questions += u64::from(is_question(decided));
    }
    (questions, calls)
}

/// Sessions that were seen only in part, each with why.
pub fn partial_sessions(views: &Views) -> Vec<Partial> {
    let mut only: BTreeMap<u32, (bool, usize)> = BTreeMap::new();
    for (_, decided) in views.provenance().decisions() {
        let fired = name_of(views, Space::Called, decided.called).starts_with('(');
        let of = only.entry(decided.session).or_insert((fired, 0));
        of.1 += 1;
    }
    // A task that did not fire leaves a session with nothing in it but that decision.
    let is_of_a_fire = |number: u32, session: &Session| {
        session.seen.is_empty() && only.get(&number) == Some(&(true, 1))
    };
    let sessions = views.provenance().sessions();
    let partial = sessions.filter_map(|(number, session)| {
        let why = match session.start {
            Start::Unknown if !is_of_a_fire(number, session) => "nobody saw it begin",
            Start::Partial | Start::Interactive => {
                let no_turn = session.trigger.is_none();
                no_turn.then_some("only a guard saw it: no turn of the user was observed")?
            }
            Start::Unknown | Start::Fresh | Start::Subagent | Start::Fired => return None,
        };
        let session = name_of(views, Space::Session, number);
        Some(Partial {
            session,
            start: views.provenance().session(number)?.start,
            why: why.to_owned(),
        })
    });
    partial.collect()
}

/// Whether somebody opened this session.
pub(crate) fn is_opened(views: &Views, session: &SessionName) -> bool {
    let number = views.number(Space::Session, session.as_str().as_bytes());
    number.is_some_and(|number| views.provenance().session(number).is_some())
}

/// What something is worth now.
pub(crate) fn standing(views: &Views, event: u64) -> Option<Authority> {
    views.provenance().item(event).map(|item| views.provenance().standing(item))
}
