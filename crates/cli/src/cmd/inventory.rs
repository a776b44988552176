//! `actum inventory`: memory files, entry by entry, beside what the ledger knows of them.

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::recall::DENY;
use crate::args_memory as args;
use crate::context::Context;
use crate::say::{FAILED, Outcome, count, dim, foreign};
use crate::survey::{Found, Survey};

pub(crate) fn run(context: &Context, args: &args::Inventory) -> Outcome<u8> {
    let survey = Survey::take(context, &context.read()?, &args.paths)?;
    tell(context, &survey);
    context.say.json(&to_json(&survey));
    Ok(if !survey.found.iter().all(Found::is_known) {
        DENY
    } else if survey.flaws.is_empty() {
        0
    } else {
        FAILED
    })
}

fn tell(context: &Context, survey: &Survey) {
    let say = context.say;
    let mut found = survey.found.iter().peekable();
    for read in &survey.files {
        say.line(&format!("{}  {}", foreign(&read.file), dim(read.format)));
        while let Some(found) = found.next_if(|found| found.entry.file == read.file) {
            say.line(&line_of(found));
        }
    }
    for gone in &survey.gone {
        say.line(&format!("gone: {} (record {})", foreign(&gone.name), gone.record));
    }
    survey.note_flaws(context);
    let word =
        |thing: &str| survey.found.iter().filter(|found| found.word() == thing).count() as u64;
    let mut counts: Vec<String> = ["known", "moved", "changed", "unknown"]
        .into_iter()
        .filter(|state| word(state) > 0)
        .map(|state| format!("{} {state}", word(state)))
        .collect();
    let withheld = survey.found.iter().filter(|found| found.word() == "known" && !found.is_known());
    let withheld = withheld.count();
    if withheld > 0 {
        counts.push(format!("{withheld} of the known withheld"));
    }
    if !survey.flaws.is_empty() {
        counts.push(count(survey.flaws.len() as u64, "flaw"));
    }
    let entries = count_entries(survey.found.len());
    say.line(&format!("{entries} in {}: {}", count(survey.files.len() as u64, "file"), {
        if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
    }));
    if survey.found.iter().any(|found| !found.is_settled()) {
        say.line("See what is not the owner's yet, and take it over or leave it: `actum adopt`.");
    }
}

/// A number of entries, in words.
pub(crate) fn count_entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

fn line_of(found: &Found) -> String {
    let color = match (found.is_known(), found.is_settled()) {
        (true, true) => AnsiColor::Green,
        (true, false) => AnsiColor::Yellow,
        (false, _) => AnsiColor::Red,
    };
    let style = Style::new().fg_color(Some(color.into()));
    let (word, detail) = (found.word(), found.detail());
    let gap = if detail.is_empty() { "" } else { "  " };
    let (line, name) = (found.entry.line, foreign(&found.entry.name));
    format!("{line:>6}  {style}{word:<7}{style:#}  {name}{gap}{}", dim(&detail))
}

fn to_json(survey: &Survey) -> Value {
    let files: Vec<_> = survey
        .files
        .iter()
        .map(|read| json!({ "file": read.file, "format": read.format }))
        .collect();
    let entries: Vec<_> = survey.found.iter().map(entry_to_json).collect();
    let gone: Vec<_> = survey
        .gone
        .iter()
        .map(|gone| json!({ "entry": gone.name, "record": gone.record }))
        .collect();
    let links: Vec<_> =
        survey.links.iter().map(|(link, to)| json!({ "file": link, "to": to })).collect();
    json!({
        "namespace": survey.namespace.as_str(),
        "files": files,
        "entries": entries,
        "gone": gone,
        "flaws": survey.flaws_to_json(),
        "links": links,
    })
}

/// An entry as facts.
pub(crate) fn entry_to_json(found: &Found) -> Value {
    let record = found.record.as_ref();
    json!({
        "entry": found.entry.name,
        "file": found.entry.file,
        "line": found.entry.line,
        "kind": found.entry.kind.word(),
        "content": found.content.to_string(),
        "state": found.word(),
        "record": record.map(|record| record.record),
        "authority": record.map(|record| record.authority.word()),
        "withheld": record.and_then(|record| record.withheld),
        "quarantine": found.quarantine(),
    })
}
