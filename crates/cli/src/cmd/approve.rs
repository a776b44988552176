//! `actum approve`: one consent to one exact call, as it was shown.

use actum_core::{APPROVAL_MS_MAX, Decided, Decision, DecisionCode, Digest, Space, Views};
use actum_serve::wire::{Deed, Deny, Waiting};
use actum_store::read_clocks;
use serde_json::json;

use super::act::receipt_of;
use super::inbox::{call_lines, exact_call, look, why_lines};
use super::session::name_of;
use crate::args::Confirm;
use crate::args_memory as args;
use crate::context::{Context, confirm};
use crate::door::{self, Desk};
use crate::link;
use crate::say::{FAILED, Failure, Outcome, foreign};
use crate::time::{local, utc};

pub(crate) fn run(context: &Context, args: &args::Approve) -> Outcome<u8> {
    let length = u64::try_from(args.holds_for.as_millis()).unwrap_or(u64::MAX);
    if length > APPROVAL_MS_MAX {
        let minutes = APPROVAL_MS_MAX / 60_000;
        let message = format!("an approval holds for at most {minutes} minutes");
        let hint = "what is to hold for longer is a mandate: `actum mandate grant`";
        return Err(Failure::usage(message).hint(hint));
    }
    let waits = waiting(context, &args.receipt)?;
    let exact = exact_call(&waits).map_err(|why| {
        Failure::new(FAILED, format!("{}: {why}", args.receipt))
            .hint("the agent asks again, and the call is kept anew; nothing was approved")
    })?;
    let mut lines = call_lines(&exact);
    if let Some(detail) = &waits.detail {
        lines.extend(why_lines(detail).into_iter().map(|line| format!("  {line}")));
    }
    if let Some(code) = waits.code_now {
        let refused = matches!(code.decision(), Decision::Deny | Decision::Quarantine);
        if refused && !has_receipt(code) {
            let why = code.sentence();
            lines.push(format!("  an approval alone does not let it out: {why}"));
        }
    }
    if !context.say.json || !args.confirm.yes {
        context.say.show(&lines.join("\n"));
    }
    let owner = confirm("Approve exactly this call, once?", args.confirm.yes)?;
    let mut desk = Desk::open(context, "approve", door::owner(owner))?;
    let now_ms = read_clocks().wall_ms;
    let until_ms = now_ms.saturating_add(length);
    let (decision, call) = (waits.event, exact.digest());
    let event = desk.record(Deed::Approve { decision, call, until_ms })?;
    let shown = &waits.session;
    context.say.line(&format!(
        "approved once in {}, until {} (event {event}, owner known by {owner})",
        foreign(shown),
        local(until_ms)
    ));
    context.say.json(&json!({
        "receipt": waits.receipt,
        "event": event,
        "session": shown,
        "call": call.to_string(),
        "until": utc(until_ms),
        "owner": owner.word(),
    }));
    Ok(0)
}

/// The owner says no to exactly one call.
pub(crate) fn deny(context: &Context, receipt: &str, sure: &Confirm) -> Outcome<u8> {
    let waits = waiting(context, receipt)?;
    if let (Ok(exact), false) = (exact_call(&waits), sure.yes) {
        context.say.show(&call_lines(&exact).join("\n"));
    }
    let owner = confirm("Say no to exactly this call?", sure.yes)?;
    let mut desk = Desk::open(context, "deny", door::owner(owner))?;
    let written = desk.ask(Deny { receipt: waits.receipt.clone() })?;
    let event = written.events.first().copied();
    let session = foreign(&waits.session);
    context.say.line(&format!("denied in {session}: asked again there, it is refused"));
    context.say.json(&json!({
        "receipt": waits.receipt,
        "event": event,
        "session": waits.session,
        "owner": owner.word(),
    }));
    Ok(0)
}

/// A no that the owner can turn into a yes, or a question.
const fn has_receipt(code: DecisionCode) -> bool {
    matches!(
        code,
        DecisionCode::Derived
            | DecisionCode::UntrustedArgument
            | DecisionCode::UntrustedTrigger
            | DecisionCode::NobodyToAsk
    )
}

/// The call that waits behind a receipt, which may be that of an earlier question about it.
fn waiting(context: &Context, receipt: &str) -> Outcome<Waiting> {
    let inbox = look(context)?;
    let mut all = inbox.waiting.into_iter().flatten();
    if link::is_anothers()? {
        let found = all.find(|it| it.receipt.eq_ignore_ascii_case(receipt));
        return found.ok_or_else(|| {
            Failure::usage(format!("nothing waits behind {receipt}"))
                .hint("`actum inbox` shows what waits")
        });
    }
    let snapshot = context.read()?;
    let views = snapshot.views();
    let (session, call) = asked_about(views, receipt)?;
    let name = name_of(views, Space::Session, session);
    let is_it = |it: &Waiting| {
        let decided = views.provenance().decision(it.event);
        it.session == name && decided.is_some_and(|(_, decided)| decided.call == call)
    };
    all.find(is_it).ok_or_else(|| answered(views, session, &call))
}

/// The call that a receipt is of, and its session.
fn asked_about(views: &Views, receipt: &str) -> Outcome<(u32, Digest)> {
    let Some((event, _)) =
        receipt.split_once('-').and_then(|(event, digits)| Some((event.parse().ok()?, digits)))
    else {
        return Err(Failure::usage(format!("`{receipt}` is no receipt"))
            .hint("write it as `actum inbox` shows it, such as 41-1f2e3a"));
    };
    let Some((_, decided)) = views.provenance().decision(event) else {
        return Err(Failure::usage(format!("{receipt} is no receipt of this ledger"))
            .hint("`actum inbox` shows what waits here"));
    };
    if receipt_of(event, &decided.call) != receipt.to_ascii_lowercase() {
        let message =
            format!("{receipt} is no receipt of this ledger: event {event} is another call");
        return Err(Failure::usage(message).hint(
            "a digit is wrong, or it is of another ledger; `actum inbox` shows what waits here",
        ));
    }
    Ok((decided.session, decided.call))
}

/// Why nothing waits there.
fn answered(views: &Views, session: u32, call: &Digest) -> Failure {
    let provenance = views.provenance();
    let approval = provenance.approvals().find(|it| it.session == session && it.call == *call);
    if let Some(approval) = approval {
        let until = local(approval.until_ms);
        if approval.until_ms < read_clocks().wall_ms.max(views.time_ms()) {
            let message = format!("the approval of that call ran out: it held until {until}");
            return Failure::new(FAILED, message)
                .hint("the agent asks again, and the call waits again; `actum inbox` shows it");
        }
        let message =
            format!("that call was approved already, by event {}, until {until}", approval.event);
        return Failure::new(FAILED, message)
            .hint("an approval is for one call, once; it asks again after that");
    }
    let latest: Option<(u64, &Decided)> = provenance.latest(session, call);
    let by = latest.map_or_else(String::new, |(event, decided)| {
        format!(": event {event} decided `{}`", decided.decision)
    });
    Failure::new(FAILED, format!("that call does not wait any more{by}"))
        .hint("`actum inbox` shows what waits")
}
