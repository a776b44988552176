//! `actum resolve`: shows what was lost, and goes on without it. The owner's way out, and the only one.

use actum_store::LossReport;
use serde_json::json;

use crate::args;
use crate::context::{Context, confirm, writer};
use crate::say::{Outcome, count};

pub(crate) fn run(context: &Context, args: &args::Confirm) -> Outcome<u8> {
    let Some(loss) = context.store.examine()? else {
        context.say.line("the ledger is sound; there is nothing to resolve");
        context.say.json(&json!({
            "resolved": false,
            "cause": null,
            "message": null,
            "found": null,
            "acknowledged": null,
            "moved_aside_bytes": null,
            "owner": null,
        }));
        return Ok(0);
    };
    for line in describe(&loss) {
        context.say.line(&line);
    }
    let owner = confirm("Go on with what is left? Earlier passes will be void.", args.yes)?;
    let loss = context.store.resolve_as_shown(&writer("resolve"), owner, &loss)?;
    context.say.line(&format!("resolved (owner known by {owner})"));
    if context.store.read()?.views().policy().is_none() {
        context.say.line(
            "next: no policy is in force now; look at actum.toml, then `actum policy accept`",
        );
    }
    context.say.json(&json!({
        "resolved": true,
        "cause": loss.cause.word(),
        "message": loss.what,
        "found": loss.found,
        "acknowledged": loss.acknowledged,
        "moved_aside_bytes": loss.unverified,
        "owner": owner.word(),
    }));
    Ok(0)
}

fn describe(loss: &LossReport) -> Vec<String> {
    let acknowledged = match loss.acknowledged {
        Some(1) => "1 event was acknowledged".to_owned(),
        Some(number) => format!("{number} events were acknowledged"),
        None => "how many events there were cannot be told".to_owned(),
    };
    let mut lines = vec![
        format!("{}: {}", loss.cause, loss.what),
        format!(
            "  {} {}; {acknowledged}",
            count(loss.found, "event"),
            if loss.found == 1 { "verifies" } else { "verify" }
        ),
    ];
    if let Some(gone) = loss.acknowledged.and_then(|count| count.checked_sub(loss.found))
        && gone > 0
    {
        lines.push(format!(
            "  {} would be given up; failures and revocations may be among them",
            count(gone, "acknowledged event")
        ));
    }
    if loss.unverified > 0 {
        lines.push(format!("  {} would be moved to .actum/lost", count(loss.unverified, "byte")));
    }
    lines
}
