//! `actum status`: whether a daemon runs, for whom, and how it is.

use actum_serve::wire::{AskStatus, Role, Status};
use actum_store::read_clocks;
use serde_json::{Value, json};

use super::daemon::WEAKER;
use super::inbox::rate;
use crate::context::Context;
use crate::say::{FAILED, Failure, Outcome, count, foreign};
use crate::time::{ago, utc};

/// Ends with 0 if a daemon answers and believes its ledger, 12 if it does not believe it, 1 if none answers.
pub(crate) fn run(context: &Context) -> Outcome<u8> {
    let role = Role::Agent { session: None };
    let Some(mut client) = context.daemon("status", role)? else {
        context.say.line("no daemon runs: each command opens the ledger for itself");
        context.say.line(
            "start one with `actum daemon`, or in the background with `actum daemon --background`",
        );
        context.say.json(&json!({ "running": false }));
        return Ok(FAILED);
    };
    let status = client.ask(&AskStatus {})?;
    tell(context, &status);
    context.say.json(&to_json(&status));
    Ok(if status.refused.is_some() { 12 } else { 0 })
}

fn tell(context: &Context, status: &Status) {
    let say = context.say;
    let since = ago(status.since_ms, read_clocks().wall_ms);
    let Status { process, uid, .. } = *status;
    say.line(&format!("{} runs as user {uid}, process {process}, begun {since}", status.program));
    if status.weaker {
        say.line(WEAKER);
    }
    match (&status.refused, status.events) {
        (Some(why), _) => say.line(&format!(
            "the ledger cannot be believed: {}; effects are refused, reading goes on unverified",
            foreign(why)
        )),
        (None, events) => {
            let events = count(events.unwrap_or_default(), "event");
            let policy = status.policy.map_or_else(
                || "no policy is in force".to_owned(),
                |event| format!("the policy of event {event} is in force"),
            );
            say.line(&format!("{events} in {}; {policy}", foreign(&status.store)));
        }
    }
    let (questions, calls) = status.asks;
    let wait = if status.waiting == 1 { "waits" } else { "wait" };
    let waiting = count(status.waiting as u64, "call");
    say.line(&format!("{}; {waiting} {wait} for you", rate(questions, calls)));
    say.line(&format!("{} in quarantine", entries(status.quarantine)));
    let (waiting, most) = status.queue;
    let (full, late) = status.turned_away;
    let connections = count(status.connections as u64, "connection");
    say.line(&format!(
        "{connections}; {waiting} of {most} requests wait; {full} turned away, {late} too late"
    ));
    for partial in &status.partial {
        let session = foreign(&partial.session);
        say.line(&format!("seen only in part: session {session}: {}", foreign(&partial.why)));
    }
}

fn entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

fn to_json(status: &Status) -> Value {
    let partial = status.partial.iter();
    let partial: Vec<_> =
        partial.map(|it| json!({ "session": it.session, "why": it.why })).collect();
    json!({
        "running": true,
        "program": status.program,
        "process": status.process,
        "uid": status.uid,
        "since": utc(status.since_ms),
        "weaker": status.weaker,
        "ledger": status.ledger,
        "store": status.store,
        "events": status.events,
        "refused": status.refused,
        "policy": status.policy,
        "questions": status.asks.0,
        "effect_calls": status.asks.1,
        "waiting": status.waiting,
        "quarantine": status.quarantine,
        "connections": status.connections,
        "watchers": status.watchers,
        "requests_waiting": status.queue.0,
        "requests_max": status.queue.1,
        "turned_away": status.turned_away.0,
        "late": status.turned_away.1,
        "commits": status.commits.0,
        "requests": status.commits.1,
        "partial": partial,
    })
}

/// The daemon that has to answer here.
pub(super) fn no_daemon() -> Failure {
    Failure::new(FAILED, "no daemon runs").hint("start one with `actum daemon`")
}
