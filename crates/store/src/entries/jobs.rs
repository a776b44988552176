//! Stored tasks in one JSON document: a list of jobs, or an object that has one. Each job is an entry.
//!
//! The scheduler writes into a job whenever it runs. What it keeps there is left out of the entry's text, or every run would
//! change every task; but only where it cannot say anything: times, counts, and the words of its own state.

use std::path::Path;

use actum_core::EntryKind;

use super::json::{Object, id_of, list, text_of};
use super::{Format, Part, Parts, Wrong};

#[derive(Debug)]
pub(super) struct Jobs;

/// Members of the document that may hold the list.
const LISTS: &[&str] = &["jobs", "tasks", "automations"];
/// Members of a job with times of the scheduler.
const TIMES: &[&str] = &["next_run_at", "last_run_at", "updated_at"];
/// Members with a word of the scheduler's own, and those words. That a job is paused is not among them: one that is set going
/// again has changed.
const STATES: &[(&str, &[&str])] = &[
    ("state", &["scheduled", "running", "completed", "error"]),
    ("last_status", &["ok", "error", "success", "failed"]),
];

impl Format for Jobs {
    fn name(&self) -> &'static str {
        "stored tasks"
    }

    fn reads(&self, file: &Path) -> bool {
        file.file_name().is_some_and(|name| name == "jobs.json" || name == "scheduled_tasks.json")
    }

    fn kind(&self) -> EntryKind {
        EntryKind::Task
    }

    fn parts(&self, text: &str, parts: &mut Parts) {
        let lists = match lists_of(text) {
            Ok(lists) => lists,
            Err((at, what)) => return parts.flaw(at, what),
        };
        for job in lists.into_iter().flatten() {
            let at = offset(text, job);
            match Object::parse(job) {
                Ok(object) => parts.part(Part {
                    range: at..at + job.len(),
                    headings: "".into(),
                    key: id_of(&object),
                    text: Some(lasting(&object)),
                }),
                Err(flaw) => parts.flaw(at + flaw.at, flaw.what),
            }
            if parts.is_full() {
                return;
            }
        }
    }
}

fn lists_of(text: &str) -> Result<Vec<Vec<&str>>, (usize, Wrong)> {
    if let Some(jobs) = list(text) {
        return Ok(vec![jobs]);
    }
    let document = Object::shallow(text).map_err(|flaw| (flaw.at, flaw.what))?;
    let lists: Vec<_> = LISTS.iter().filter_map(|name| list(document.member(name)?)).collect();
    if lists.is_empty() { Err((0, Wrong::NoJobs)) } else { Ok(lists) }
}

/// Where a part of the text stands in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

/// The job without what its scheduler keeps in it.
fn lasting(job: &Object<'_>) -> String {
    let members = job.0.iter().filter(|(key, value)| !is_kept(key, value));
    let members = members.map(|(key, value)| match (key.as_str(), Object::shallow(value)) {
        ("repeat", Ok(repeat)) => {
            let members =
                repeat.0.iter().filter(|(key, value)| key != "completed" || !is_number(value));
            (key, object(members.map(|(key, value)| (key, (*value).to_owned()))))
        }
        _ => (key, (*value).to_owned()),
    });
    object(members)
}

fn object<'a>(members: impl Iterator<Item = (&'a String, String)>) -> String {
    let members: Vec<_> = members
        .map(|(key, value)| format!("{}: {value}", serde_json::Value::from(key.as_str())))
        .collect();
    format!("{{{}}}", members.join(", "))
}

fn is_kept(key: &str, value: &str) -> bool {
    let state = STATES.iter().find(|(name, _)| *name == key);
    let is_state = state.is_some_and(|(_, words)| {
        value == "null" || text_of(value).is_some_and(|word| words.contains(&word.as_str()))
    });
    is_state || TIMES.contains(&key) && is_time(value)
}

/// Nothing, a number, or a text that can only be a time.
fn is_time(value: &str) -> bool {
    let is_mark = |c: char| c.is_ascii_digit() || "-+:.TZ ".contains(c);
    value == "null"
        || is_number(value)
        || text_of(value).is_some_and(|text| text.len() <= 40 && text.chars().all(is_mark))
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || b"-+.eE".contains(&byte))
}
