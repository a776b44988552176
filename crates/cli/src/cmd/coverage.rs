//! `actum coverage`: what was seen and no rule guards. The guarantee equals the coverage.

use std::collections::BTreeMap;

use actum_core::policy::ToolClass;
use actum_core::{DecisionCode, Space, ToolName, Views};
use actum_serve::desk::partial_sessions;
use serde_json::json;

use super::recall::DENY;
use super::session::name_of;
use crate::context::Context;
use crate::door::policy_of;
use crate::say::{Outcome, count, foreign};

/// Ends with 0 if all that was seen is covered.
pub(crate) fn run(context: &Context) -> Outcome<u8> {
    let snapshot = context.read()?;
    let views = snapshot.views();
    let policy = policy_of(context, views);
    let policy = policy.as_ref().map(actum_store::AcceptedPolicy::policy);
    let seen = tools_seen(views);
    let is_listed = |tool: &str| {
        let tool = ToolName::new(tool).ok();
        policy.zip(tool).is_some_and(|(policy, tool)| policy.tool(&tool).listed())
    };
    let unguarded: Vec<(&String, &u64)> =
        seen.iter().filter(|(tool, _)| !is_listed(tool)).collect();
    let partial: Vec<(String, String)> =
        partial_sessions(views).into_iter().map(|it| (it.session, it.why)).collect();
    // Looking is allowed and leaves no event, so nobody can tell of a `read` whether it was seen.
    let never: Vec<String> = policy
        .into_iter()
        .flat_map(actum_core::policy::Policy::tools)
        .filter(|(_, rule)| rule.class() != ToolClass::Read)
        .map(|(tool, _)| tool.to_string())
        .filter(|tool| !seen.contains_key(tool))
        .collect();
    let covered = policy.is_some() && unguarded.is_empty() && partial.is_empty();
    let say = context.say;
    if policy.is_none() {
        say.line(
            "no policy is in force: nothing but reading is allowed, and no rule guards anything",
        );
    }
    for (tool, calls) in &unguarded {
        let calls = count(**calls, "decision");
        say.line(&format!("no rule guards {}: {calls}, each argument binds", foreign(tool)));
    }
    if policy.is_some() && !unguarded.is_empty() {
        say.line("  give each a table [tools.NAME] in actum.toml, then `actum policy accept`");
    }
    for (session, why) in &partial {
        say.line(&format!("seen only in part: session {}: {why}", foreign(session)));
    }
    for tool in &never {
        say.line(&format!("listed and never seen: {}", foreign(tool)));
    }
    say.line(if covered {
        "everything that was seen is covered. The guarantee equals the coverage: what no adapter fronts is not seen"
    } else {
        "the guarantee equals the coverage: what is listed above is judged as unknown, and what no adapter fronts is not seen"
    });
    let unguarded: Vec<_> =
        unguarded.iter().map(|(tool, calls)| json!({ "tool": tool, "decisions": calls })).collect();
    let partial: Vec<_> =
        partial.iter().map(|(session, why)| json!({ "session": session, "why": why })).collect();
    say.json(&json!({
        "covered": covered,
        "policy": policy.is_some(),
        "unguarded": unguarded,
        "partial": partial,
        "never_seen": never,
    }));
    Ok(if covered { 0 } else { DENY })
}

/// The tools that calls were decided of, and how often.
fn tools_seen(views: &Views) -> BTreeMap<String, u64> {
    let mut seen = BTreeMap::new();
    for (_, decided) in views.provenance().decisions() {
        let name = name_of(views, Space::Called, decided.called);
        // A skip is recorded under the name of its step, and is no call.
        let is_skip = decided.reason == DecisionCode::Grounded.number();
        if !name.starts_with('(') && !is_skip {
            *seen.entry(name).or_default() += 1;
        }
    }
    seen
}
