//! `actum policy`: check a file, show what is in force, accept a change.

use std::path::Path;

use actum_core::policy::{Element, PolicyError, Rule, Step};
use actum_core::{Owner, StepName};
use actum_serve::wire::Deed;
use actum_store::AcceptedPolicy;
use serde_json::json;
use similar::TextDiff;

use crate::args;
use crate::context::{Context, confirm};
use crate::door::{self, Desk};
use crate::say::{FAILED, Failure, Outcome, USAGE, changed_line, dim, read_text};

pub(crate) fn run(context: &Context, args: &args::Policy) -> Outcome<u8> {
    match args {
        args::Policy::Check { file } => check(context, file.as_deref()),
        args::Policy::Show => show(context),
        args::Policy::Accept(confirm) => accept_file(context, confirm.yes),
    }
}

/// A policy with its programs resolved as they are here and now.
pub(crate) fn prepare(context: &Context, text: &str) -> Outcome<AcceptedPolicy> {
    settle(context, text).map_err(|error| Failure::new(USAGE, error.to_string()))
}

fn settle(context: &Context, text: &str) -> Result<AcceptedPolicy, PolicyError> {
    let variable = |name: &str| std::env::var(name).ok();
    AcceptedPolicy::prepare(text, context.project(), &variable)
}

/// Keeps the document, then has the ledger say that it is in force.
pub(crate) fn accept(context: &Context, policy: &AcceptedPolicy, owner: Owner) -> Outcome<u64> {
    let document = String::from_utf8(policy.to_bytes())
        .map_err(|error| Failure::new(FAILED, error.to_string()))?;
    let mut desk = Desk::open(context, "policy accept", door::owner(owner))?;
    desk.record(Deed::AcceptPolicy { document })
}

fn check(context: &Context, file: Option<&Path>) -> Outcome<u8> {
    let policy = match file {
        None => prepare(context, &read(context)?)?,
        Some(path) => {
            let text = read_text(path).map_err(Failure::usage)?;
            settle(context, &text).map_err(|error| {
                let (line, column) = (error.line(), error.column());
                Failure::usage(format!("{}:{line}:{column}: {}", path.display(), error.problem()))
            })?
        }
    };
    let in_force = context.store.read().ok().and_then(|snapshot| snapshot.policy().ok());
    let same = in_force.as_ref().is_some_and(|in_force| in_force.digest() == policy.digest());
    let say = context.say;
    for (name, step) in policy.policy().steps() {
        match step {
            Step::Command(rule) => {
                say.line(&format!("{name} on {}", subject_words(rule)));
                for command in rule.commands() {
                    say.line(&format!("  {}", command_line(&policy, command)));
                }
            }
            Step::Tool(step) => {
                say.line(&format!("{name} on the argument {} of a tool", step.subject()));
                say.line(&format!("  {}", step.tool()));
            }
            Step::AllOf(all_of) => {
                let parts: Vec<_> = all_of.parts().iter().map(StepName::as_str).collect();
                say.line(&format!("{name}, which is all of"));
                say.line(&format!("  {}", parts.join(", ")));
            }
        }
    }
    for (name, rule) in policy.policy().tools() {
        say.line(&format!("tool {name}: {}", rule.class().word()));
    }
    for line in policy.policy().channels().filter(|line| line.default_reason().is_none()) {
        say.line(&format!("channel {}: {}", line.pattern().as_str(), line.authority()));
        let tools = line.scope().into_iter().flatten();
        for tool in tools.filter(|tool| !policy.policy().tool(tool).listed()) {
            say.line(&format!("  note: no table [tools] is called {tool}, which is in its scope"));
        }
    }
    say.line(match (same, file) {
        (true, _) => "this is the policy in force",
        (false, None) => "this is not the policy in force; `actum policy accept` makes it so",
        (false, Some(_)) => "this is not the policy in force",
    });
    say.json(&json!({
        "namespace": policy.policy().namespace().as_str(),
        "steps": policy.policy().steps().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        "programs_missing": policy.missing(),
        "digest": policy.digest().to_string(),
        "in_force": same,
    }));
    Ok(0)
}

/// The kind of subject, or the one subject.
fn subject_words(rule: &Rule) -> String {
    rule.fixed_subject().map_or_else(|| rule.subject().word().to_owned(), ToString::to_string)
}

fn command_line(policy: &AcceptedPolicy, command: &[Element]) -> String {
    let words: Vec<_> = command.iter().map(Element::as_str).collect();
    let program = words.first().and_then(|name| policy.program(name));
    let found = program.map_or_else(
        || "not found here".to_owned(),
        |program| format!("{} ({})", program.path, program.digest.short()),
    );
    format!("{}  {}", words.join(" "), dim(&found))
}

fn show(context: &Context) -> Outcome<u8> {
    let snapshot = context.read()?;
    let policy = context.policy(&snapshot)?;
    let accepted = snapshot.views().policy().copied();
    context.say.line(policy.text().trim_end());
    context.say.json(&json!({
        "text": policy.text(),
        "digest": policy.digest().to_string(),
        "event": accepted.map(|accepted| accepted.event),
        "owner": accepted.map(|accepted| accepted.owner.word()),
    }));
    Ok(0)
}

fn accept_file(context: &Context, yes: bool) -> Outcome<u8> {
    let policy = prepare(context, &read(context)?)?;
    let snapshot = context.read()?;
    let before = snapshot.policy().ok();
    let say = context.say;
    if before.as_ref().is_some_and(|before| before.digest() == policy.digest()) {
        say.line("this is the policy in force already; nothing was changed");
        say.json(&json!({
            "accepted": null,
            "event": null,
            "digest": policy.digest().to_string(),
            "programs_missing": policy.missing(),
        }));
        return Ok(0);
    }
    say.show(&difference(before.as_ref(), &policy));
    for name in policy.missing() {
        say.line(&format!("note: `{name}` was not found; commands that begin with it cannot run"));
    }
    let owner = confirm("Accept this?", yes)?;
    let event = accept(context, &policy, owner)?;
    say.line(&format!("accepted (event {event}, owner known by {owner})"));
    say.json(&json!({
        "accepted": owner.word(),
        "event": event,
        "digest": policy.digest().to_string(),
        "programs_missing": policy.missing(),
    }));
    Ok(0)
}

/// The text of the project's own file.
fn read(context: &Context) -> Outcome<String> {
    let path = context.policy_path();
    if path.exists() {
        return read_text(&path).map_err(Failure::usage);
    }
    let message = format!("there is no {}", path.display());
    let first = context.read().is_err();
    let hint = if first {
        "`actum init` writes a first one"
    } else {
        "`actum policy show` prints the one in force"
    };
    Err(Failure::usage(message).hint(hint))
}

/// What acceptance would change: the text, and what a text does not show - the programs and the environment.
fn difference(before: Option<&AcceptedPolicy>, after: &AcceptedPolicy) -> String {
    let old = before.map_or_else(String::new, settled);
    let new = settled(after);
    let diff = TextDiff::from_lines(&old, &new);
    let mut shown = String::new();
    for group in diff.grouped_ops(2) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            shown.push_str(&changed_line(change.tag(), change.value()));
            shown.push('\n');
        }
    }
    shown
}

fn settled(policy: &AcceptedPolicy) -> String {
    use std::fmt::Write as _;
    let mut text = policy.text().to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str("\n# settled when accepted:\n");
    for (_, rule) in policy.policy().commands() {
        for name in rule.programs() {
            if let Some(program) = policy.program(name) {
                let line =
                    format!("# program {name} = {} ({})", program.path, program.digest.short());
                if !text.contains(&line) {
                    // Writing to a string cannot fail.
                    let _infallible = writeln!(text, "{line}");
                }
            }
        }
    }
    for (_, rule) in policy.policy().commands() {
        for file in policy.files(rule) {
            let line = format!("# file {} = {} ({})", file.name, file.path, file.digest.short());
            if !text.contains(&line) {
                let _infallible = writeln!(text, "{line}");
            }
        }
    }
    for (name, value) in policy.environment() {
        let _infallible = writeln!(text, "# environment {name} = {value}");
    }
    text
}
