//! `actum adopt`: the owner looks at entries of memory files, and makes them the owner's word.
//!
//! The files are read once: what is adopted is the text that was shown, whatever lies there by now.

use std::collections::BTreeSet;

use actum_core::{Owner, Views, looks_like_instruction};
use actum_serve::wire::{DEEDS_MAX, Deed, Record};
use actum_store::Cache;
use actum_store::entries::State;
use serde_json::json;
use similar::TextDiff;

use super::inventory::{count_entries, entry_to_json};
use crate::args_memory as args;
use crate::context::{Context, answer, at_a_terminal, confirm, not_confirmed};
use crate::door::{self, Desk};
use crate::say::{Failure, Outcome, changed_line, foreign, quoted};
use crate::survey::{Found, Standing, Survey};

pub(crate) fn run(context: &Context, args: &args::Adopt) -> Outcome<u8> {
    let survey = Survey::take(context, &context.read()?, &args.paths)?;
    let review = under_review(&survey, &args.entries)?;
    survey.note_flaws(context);
    let say = context.say;
    let mut adopted = Vec::new();
    let mut owner = None;
    if review.is_empty() {
        let entries = count_entries(survey.found.len());
        say.line(&format!("nothing to adopt in {entries}; nothing was changed"));
    } else {
        let (by, agreed) = ask(context, &review, args.confirm.yes)?;
        owner = Some(by);
        adopted = write(context, &survey, &agreed, by)?;
        say.line(&format!("adopted {}, owner known by {by}", count_entries(adopted.len())));
        let left = review.len() - agreed.len();
        if left > 0 {
            say.line(&format!("left as before: {}", count_entries(left)));
        }
    }
    let names: BTreeSet<&str> = adopted.iter().map(|it| it.name.as_str()).collect();
    let is_left = |found: &&&Found| !names.contains(found.entry.name.as_str());
    let left: Vec<_> = review.iter().filter(is_left).map(|found| entry_to_json(found)).collect();
    let to_json = |it: &Adopted| {
        json!({
            "entry": it.name,
            "record": it.record,
            "released": it.released,
            "replaced": it.replaced,
        })
    };
    say.json(&json!({
        "adopted": adopted.iter().map(to_json).collect::<Vec<_>>(),
        "left": left,
        "flaws": survey.flaws_to_json(),
        "owner": owner.map(Owner::word),
    }));
    Ok(0)
}

/// What is the owner's to look at: what was named, or all that is not settled.
fn under_review<'a>(survey: &'a Survey, named: &[String]) -> Outcome<Vec<&'a Found>> {
    for name in named {
        if !survey.found.iter().any(|found| found.entry.name == *name) {
            return Err(Failure::usage(format!("no entry there has the name {name}"))
                .hint("`actum inventory` prints the names; what has a flaw is no entry"));
        }
    }
    let is_named = |found: &&Found| named.contains(&found.entry.name);
    let is_owners = |found: &Found| {
        let authority = found.record.as_ref().map(|record| record.authority);
        found.is_known() && authority == Some(actum_core::Authority::User)
    };
    let found = survey.found.iter();
    Ok(if named.is_empty() {
        found.filter(|found| !found.is_settled()).collect()
    } else {
        found.filter(is_named).filter(|found| !is_owners(found)).collect()
    })
}

/// Shows everything, and asks for each on a terminal. `--yes` is a yes to all that was shown.
fn ask<'a>(context: &Context, review: &[&'a Found], yes: bool) -> Outcome<(Owner, Vec<&'a Found>)> {
    let cache = Cache::of(context.places());
    let all = review.len();
    let show = |at: usize, found: &Found| {
        context.say.show(&format!("[{} of {all}] {}", at + 1, in_words(&cache, found)));
    };
    if yes || !at_a_terminal() {
        for (at, found) in review.iter().enumerate() {
            show(at, found);
        }
        let owner = confirm(&format!("Adopt {}?", these(all)), yes)?;
        return Ok((owner, review.to_vec()));
    }
    let mut agreed = Vec::new();
    let mut left = review.iter().enumerate();
    while let Some((at, found)) = left.next() {
        show(at, found);
        match choose(at + 1 == all)? {
            Choice::Yes => agreed.push(*found),
            Choice::No => {}
            Choice::Quit => break,
            Choice::All => {
                agreed.push(*found);
                // Nothing is adopted unseen.
                let rest: Vec<_> = left.by_ref().collect();
                for (at, found) in &rest {
                    show(*at, found);
                }
                confirm(&format!("Adopt {} as well?", these(rest.len())), false)?;
                agreed.extend(rest.into_iter().map(|(_, found)| *found));
            }
        }
    }
    if agreed.is_empty() { Err(not_confirmed()) } else { Ok((Owner::Terminal, agreed)) }
}

fn these(number: usize) -> String {
    if number == 1 { "this entry".to_owned() } else { format!("these {number} entries") }
}

enum Choice {
    Yes,
    No,
    All,
    Quit,
}

fn choose(is_last: bool) -> Outcome<Choice> {
    let choices = if is_last { "[y/N]" } else { "[y]es, [N]o, [a]ll that follow, [q]uit:" };
    // Whoever is gone has not agreed to anything.
    let said = answer(&format!("Adopt it? {choices}"))?.ok_or_else(not_confirmed)?;
    Ok(match (said.as_str(), is_last) {
        ("y" | "Y" | "yes", _) => Choice::Yes,
        ("a" | "all", false) => Choice::All,
        ("q" | "quit", _) => Choice::Quit,
        _ => Choice::No,
    })
}

/// An entry as its owner has to see it: whole, with what is known of it.
fn in_words(cache: &Cache, found: &Found) -> String {
    let Found { entry, record, .. } = found;
    let place = format!("{}:{}, {}", foreign(&entry.file), entry.line, found.word());
    let detail = found.detail();
    let name = foreign(&entry.name);
    let mut lines = vec![
        if detail.is_empty() { place } else { format!("{place}: {detail}") },
        format!("  {name}"),
    ];
    match (found.state, record) {
        (State::Changed { .. }, Some(record)) => lines.push(difference(cache, found, record)),
        (State::Moved { .. }, Some(record)) => {
            lines.push(quoted(&entry.text));
            lines.push(format!("  It was {}", foreign(&record.name)));
        }
        (State::Known { .. } | State::Unknown, _) | (_, None) => lines.push(quoted(&entry.text)),
    }
    let sign = looks_like_instruction(&entry.text);
    lines.extend(sign.map(|sign| format!("  It may be an instruction: it {sign}.")));
    lines.extend(found.why_held.map(|why| format!("  It was withheld: {why}")));
    let replaced = replaced(found).map(|record| record.record);
    lines.extend(replaced.map(|record| {
        format!("  Record {record} is taken back with it, and all that came of that.")
    }));
    lines.join("\n")
}

/// What changed, if the old text is still kept; the ledger has only its digest.
fn difference(cache: &Cache, found: &Found, record: &Standing) -> String {
    let text = &found.entry.text;
    let Ok(Some(before)) = cache.read(&record.content) else {
        return format!("{}\n  What record {} said is not kept.", quoted(text), record.record);
    };
    let diff = TextDiff::from_lines(before.as_str(), text);
    let lines = diff.iter_all_changes();
    let lines = lines.map(|line| format!("    {}", changed_line(line.tag(), line.value())));
    lines.collect::<Vec<_>>().join("\n")
}

/// The record that the new one takes the place of under another name. Left alone, it would answer for the old text if that were
/// put back.
fn replaced(found: &Found) -> Option<&Standing> {
    match found.state {
        State::Moved { .. } | State::Changed { .. } => {
            found.record.as_ref().filter(|record| record.name != found.entry.name)
        }
        State::Known { .. } | State::Unknown => None,
    }
}

/// An entry that is the owner's now.
struct Adopted {
    name: String,
    record: u64,
    released: Vec<u64>,
    replaced: Option<u64>,
}

fn write(
    context: &Context,
    survey: &Survey,
    agreed: &[&Found],
    owner: Owner,
) -> Outcome<Vec<Adopted>> {
    let mut desk = Desk::open(context, "adopt", door::owner(owner))?;
    if desk.namespace()? != survey.namespace {
        return Err(Failure::new(crate::say::FAILED, "another policy was accepted meanwhile")
            .hint("nothing was changed; look again"));
    }
    for found in agreed {
        desk.keep(&found.entry.text)?;
    }
    let asked = desk.look(|views| {
        Ok(agreed.iter().map(|found| deeds_for(views, survey, found)).collect::<Vec<_>>())
    })?;
    let mut adopted = Vec::new();
    let mut left = asked.into_iter().peekable();
    while left.peek().is_some() {
        let (mut acts, mut together) = (Vec::new(), Vec::new());
        while let Some((more, it)) =
            left.next_if(|(more, _)| acts.is_empty() || acts.len() + more.len() <= DEEDS_MAX)
        {
            together.push((acts.len(), it));
            acts.extend(more);
        }
        let written = desk.ask(Record { acts })?;
        for (at, it) in together {
            let record = written.events.get(at).copied().unwrap_or_default();
            context.say.line(&in_short(&it, record));
            adopted.push(Adopted { record, ..it });
        }
    }
    Ok(adopted)
}

/// What makes an entry the owner's: its record first. What was shown as in quarantine and is still there is released.
fn deeds_for(views: &Views, survey: &Survey, found: &Found) -> (Vec<Deed>, Adopted) {
    let adopt = |releases| Deed::Adopt {
        namespace: survey.namespace.to_string(),
        entry: found.entry.name.clone(),
        kind: found.entry.kind,
        content: found.content,
        releases,
    };
    let is_held = |event: &&u64| {
        views.provenance().held_at(**event).is_some_and(|held| held.released.is_none())
    };
    let released: Vec<u64> = found.held.iter().filter(is_held).copied().collect();
    let replaced = replaced(found).map(|record| record.record);
    let mut deeds: Vec<_> = released.iter().map(|event| adopt(Some(*event))).collect();
    if deeds.is_empty() {
        deeds.push(adopt(None));
    }
    deeds.extend(replaced.map(|record| Deed::Forget { record }));
    (deeds, Adopted { name: found.entry.name.clone(), record: 0, released, replaced })
}

fn in_short(it: &Adopted, record: u64) -> String {
    let released = it.released.iter().map(|event| format!(", releases {event}"));
    let replaced = it.replaced.map(|record| format!(", takes back {record}"));
    let more: String = released.chain(replaced).collect();
    format!("record {record}: {}{more}", foreign(&it.name))
}
