//! `actum revoke`: the owner takes a run back.

use actum_core::Request;
use serde_json::json;

use crate::args;
use crate::context::{Context, confirm, writer};
use crate::say::{Failure, Outcome};

pub(crate) fn run(context: &Context, args: &args::Revoke) -> Outcome<u8> {
    let run = args.run;
    if !context.read()?.views().has_run(run) {
        return Err(Failure::usage(format!("event {run} is not the beginning of a run"))
            .hint("see the runs with `actum log --kind began`"));
    }
    let owner = confirm(&format!("Revoke run {run}?"), args.confirm.yes)?;
    let writer = writer("revoke");
    let mut ledger = context.store.write(&writer)?;
    let request = Request::Revoke { run, reason: args.reason.clone(), owner };
    let event = ledger.record(request, &writer.reading)?;
    context.say.line(&format!("run {run} is revoked (event {event}, owner known by {owner})"));
    context.say.json(&json!({ "revoked": run, "event": event, "owner": owner.word() }));
    Ok(0)
}
