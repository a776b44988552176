//! `actum verify`: three questions, answered one by one: intact, complete, fresh.

use std::time::Instant;

use actum_store::Snapshot;
use serde_json::json;

use crate::context::Context;
use crate::losses::Losses;
use crate::say::{Outcome, count as counted, dim};
use crate::time::{local, utc};

pub(crate) fn run(context: &Context) -> Outcome<u8> {
    let begun = Instant::now();
    let snapshot = context.read()?;
    let took = begun.elapsed();
    let views = snapshot.views();
    let count = views.position().count;
    let say = context.say;
    say.line(&format!(
        "intact    yes: {}, {}, every MAC checked {}",
        counted(count, "event"),
        counted(views.run_count() as u64, "run"),
        dim(&format!("({} kB in {} ms)", snapshot.bytes() / 1000, took.as_millis()))
    ));
    let head = snapshot.head();
    say.line(&format!(
        "complete  yes: reaches event {} that the anchor remembers, of {}",
        head.count.saturating_sub(1),
        local(head.reading.wall_ms)
    ));
    say.line(&format!(
        "          {}",
        dim(&context.places().anchor(views.keys().ledger()).display().to_string())
    ));
    // A process that has just started remembers nothing: only the anchor can say, and it lies on the same machine.
    say.line("fresh     not shown: store and anchor rolled back together would look the same;");
    say.line("          a process that stays, such as `actum log --follow`, would refuse that");
    let notes = remarks(&snapshot)?;
    for line in &notes {
        say.line(&format!("note: {line}"));
    }
    say.json(&json!({
        "intact": true,
        "complete_to": head.count,
        "fresh": null,
        "events": count,
        "runs": views.run_count(),
        "beyond_head": snapshot.beyond(),
        "leftover_bytes": snapshot.leftover().map_or(0, |(bytes, _)| *bytes),
        "leftover": snapshot.leftover().map(|(_, what)| what.as_str()),
        "anchored_at": utc(head.reading.wall_ms),
        "generation": views.position().generation,
        "notes": notes,
    }));
    Ok(0)
}

fn remarks(snapshot: &Snapshot) -> Outcome<Vec<String>> {
    let views = snapshot.views();
    let mut lines = Vec::new();
    if snapshot.beyond() > 0 {
        let beyond = snapshot.beyond();
        let events = counted(beyond, "genuine event");
        lines.push(format!(
            "{events} beyond the anchor: a writer stopped before it could acknowledge that much"
        ));
    }
    if let Some((bytes, what)) = snapshot.leftover() {
        let bytes = counted(*bytes, "byte");
        lines.push(format!("{bytes} beyond the newest event do not verify ({what}); the next writer moves them aside"));
    }
    if let Some(event) = views.distrusted_since() {
        lines.push(format!("the clock jumped at event {event}: evidence with a lifetime does not ground until `actum resolve`"));
    }
    let open = views.open_runs().count();
    if open > 0 {
        let have = if open == 1 { "has" } else { "have" };
        lines.push(format!("{} began and {have} not ended", counted(open as u64, "run")));
    }
    if let Some(policy) = views.policy() {
        lines.push(format!(
            "the policy of event {} was accepted with the owner known by {}",
            policy.event, policy.owner
        ));
    }
    if let Some(losses) = Losses::of(snapshot)? {
        let (event, owner, words) = (losses.newest.event, losses.newest.owner, losses.words());
        lines.push(format!(
            "at event {event} the owner (known by {owner}) went on after a loss: {words}"
        ));
    }
    lines.push("key and ledger belong to the same user: weaker, for whatever runs as that user can read the key".to_owned());
    if let Err(missing) = snapshot.policy() {
        lines.push(missing.to_string());
    }
    Ok(lines)
}
