//! `actum approve`: one consent to one exact call, as it was shown.

use actum_core::{
    APPROVAL_MS_MAX, Caller, Decided, Decision, Digest, MemoryRequest, Request, Space, Views,
};
use actum_store::read_clocks;
use serde_json::json;

use super::act::receipt_of;
use super::inbox::{Waiting, call_lines, waiting, why_lines};
use super::session::name_of;
use crate::args_memory as args;
use crate::context::{Context, confirm};
use crate::door::{Desk, policy_of};
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
    let snapshot = context.read()?;
    let views = snapshot.views();
    let (session, call) = asked_about(views, &args.receipt)?;
    let policy = policy_of(context, views);
    let all = waiting(context, &snapshot, policy.as_ref())?;
    let is_it = |it: &&Waiting| it.decided.session == session && it.decided.call == call;
    let waits = all.iter().find(is_it).ok_or_else(|| answered(views, session, &call))?;
    let exact = match &waits.call {
        Ok(call) => call,
        Err(why) => {
            return Err(Failure::new(FAILED, format!("{}: {why}", args.receipt))
                .hint("the agent asks again, and the call is kept anew; nothing was approved"));
        }
    };
    let shown = name_of(views, Space::Session, session);
    let mut lines = call_lines(exact);
    if let Some(judgement) = &waits.judgement {
        lines.extend(why_lines(views, judgement).into_iter().map(|line| format!("  {line}")));
        let refused = matches!(judgement.decision(), Decision::Deny | Decision::Quarantine);
        if refused && !judgement.has_receipt() {
            let why = judgement.code.sentence();
            lines.push(format!("  an approval alone does not let it out: {why}"));
        }
    }
    if !context.say.json || !args.confirm.yes {
        context.say.show(&lines.join("\n"));
    }
    let owner = confirm("Approve exactly this call, once?", args.confirm.yes)?;
    let mut desk = Desk::open(context, "approve")?;
    let until_ms = desk.writer.reading.wall_ms.max(desk.views().time_ms()).saturating_add(length);
    let until_ms = until_ms.min(desk.writer.reading.wall_ms.saturating_add(APPROVAL_MS_MAX));
    let request = MemoryRequest::Approve { receipt: waits.event, call, until_ms };
    let by = Caller::Owner(owner);
    let event = desk.ledger.record(Request::Memory { by, request }, &desk.writer.reading)?;
    context.say.line(&format!(
        "approved once in {}, until {} (event {event}, owner known by {owner})",
        foreign(&shown),
        local(until_ms)
    ));
    context.say.json(&json!({
        "receipt": receipt_of(waits.event, &call),
        "event": event,
        "session": shown,
        "call": call.to_string(),
        "until": utc(until_ms),
        "owner": owner.word(),
    }));
    Ok(0)
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
