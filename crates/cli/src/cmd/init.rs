//! `actum init`: a ledger here, and a policy for this project.

use std::fs;

use actum_core::policy::Element;
use actum_core::{Owner, SubjectKind};
use actum_store::AcceptedPolicy;
use serde_json::json;

use crate::args;
use crate::cmd::policy::{accept, prepare};
use crate::context::{Context, POLICY_NAME, at_a_terminal, confirm, store_above, writer};
use crate::detect::policy_text;
use crate::say::{FAILED, Failure, Outcome, dim, foreign, read_text};

pub(crate) fn init(context: &Context, args: &args::Init) -> Outcome<u8> {
    refuse_nested(context, args)?;
    let (text, written) = policy_file(context)?;
    // Whatever is wrong with the policy is said before anything is made.
    let policy = prepare(context, &text)?;
    let made = context.store.init(&writer("init"));
    let ledger = made.map_err(|error| Failure::from(error).exiting(FAILED))?;
    let id = ledger.views().keys().ledger();
    drop(ledger);
    let places = context.places();
    context.say.line(&format!("made {}", places.store.display()));
    context.say.line(&dim(&format!("key    {}", places.key(id).display())));
    context.say.line(&dim(&format!("anchor {}", places.anchor(id).display())));
    if written {
        fs::write(context.policy_path(), &text).map_err(|error| {
            let path = context.policy_path();
            Failure::new(FAILED, format!("cannot write {}: {error}", path.display()))
                .hint("the ledger was made; write a policy, then `actum policy accept`")
        })?;
    }
    context.say.show(&format!("\n{}", show(&text, written)));
    let owner = may_accept(context, args, written);
    if let Some(owner) = owner {
        accept(context, &policy, owner)?;
    }
    context.say.json(&json!({
        "ledger": id.to_string(),
        "store": places.store.display().to_string(),
        "policy": policy.digest().to_string(),
        "accepted": owner.map(Owner::word),
        "steps": steps(&policy),
        "programs_missing": policy.missing(),
    }));
    say_next(context, &policy, owner.is_some());
    Ok(0)
}

/// A second ledger below a first would answer for this folder from now on, and nobody may have meant that.
fn refuse_nested(context: &Context, args: &args::Init) -> Outcome<()> {
    match store_above(context.project())?.filter(|_| !args.nested) {
        None => Ok(()),
        Some(above) => {
            let message = format!("there is a ledger above this folder: {}", above.display());
            Err(Failure::new(FAILED, message)
                .hint("it answers here as well; to make another one for this folder, say --nested"))
        }
    }
}

/// The text of `actum.toml`, and whether it is ours to write.
fn policy_file(context: &Context) -> Outcome<(String, bool)> {
    let path = context.policy_path();
    if path.symlink_metadata().is_ok() {
        return Ok((read_text(&path).map_err(Failure::usage)?, false));
    }
    let project = context.project().to_owned();
    let read = move |name: &str| {
        let bytes = fs::read(project.join(name)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok((policy_text(&read), true))
}

fn show(text: &str, written: bool) -> String {
    let head = if written {
        format!("wrote {POLICY_NAME}:")
    } else {
        format!("{POLICY_NAME} was there already:")
    };
    let body: Vec<_> = text.lines().map(|line| dim(&format!("  {}", foreign(line)))).collect();
    format!("{head}\n{}\n", body.join("\n"))
}

/// A policy that we wrote is accepted as it is shown. One that was there is the owner's to judge.
fn may_accept(context: &Context, args: &args::Init, written: bool) -> Option<Owner> {
    if written {
        // Nobody was asked, and the ledger does not say otherwise.
        return Some(Owner::YesFlag);
    }
    if !args.yes && !at_a_terminal() {
        context.say.line("it is not in force: nobody is there to accept it");
        return None;
    }
    confirm(&format!("Accept this {POLICY_NAME}?"), args.yes).ok()
}

fn steps(policy: &AcceptedPolicy) -> Vec<String> {
    policy.policy().steps().map(|(name, _)| name.to_string()).collect()
}

fn say_next(context: &Context, policy: &AcceptedPolicy, accepted: bool) {
    let say = context.say;
    for name in policy.missing() {
        say.line(&format!("note: `{name}` was not found; commands that begin with it cannot run"));
    }
    let on_git = policy.policy().commands().any(|(_, rule)| rule.subject() == SubjectKind::Git);
    if on_git && !context.project().ancestors().any(|folder| folder.join(".git").exists()) {
        say.line("note: this is no git repository, and the steps are about one: `git init` first");
    }
    if !accepted {
        say.line("next: look at it, then `actum policy accept`");
        return;
    }
    match example(policy) {
        Some((step, command)) => {
            say.line(&format!("next: actum run --step {step} -- {command}"));
            say.line(&format!("then: actum ground {step}"));
        }
        None if !policy.missing().is_empty() => {
            say.line("next: install what was not found, then `actum policy accept`");
        }
        None if policy.policy().tools().next().is_some() => {
            say.line("next: actum adapter add NAME --channels user,web:* --to FILE");
            say.line("then: actum session open --as NAME");
        }
        None => {
            say.line(&format!("next: name a step in {POLICY_NAME}, then `actum policy accept`"));
        }
    }
}

/// A command that can run here: of the step `tests`, if there is one.
fn example(policy: &AcceptedPolicy) -> Option<(String, String)> {
    let mut steps: Vec<_> = policy.policy().commands().collect();
    steps.sort_by_key(|(name, _)| name.as_str() != "tests");
    steps.into_iter().find_map(|(name, rule)| {
        let found = |command: &&Vec<Element>| {
            command.first().is_some_and(|word| policy.program(word.as_str()).is_some())
        };
        let words: Vec<_> =
            rule.commands().iter().find(found)?.iter().map(Element::as_str).collect();
        Some((name.to_string(), words.join(" ")))
    })
}
