//! JSON lines: each line is one object and one entry. A line that is none is a flaw, and the others go on.

use std::path::Path;

use actum_core::EntryKind;

use super::json::{Object, id_of};
use super::{Format, Part, Parts};

#[derive(Debug)]
pub(super) struct JsonLines;

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "JSON lines"
    }

    fn reads(&self, file: &Path) -> bool {
        let ending = file.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| {
            ["jsonl", "ndjson"].iter().any(|e| ending.eq_ignore_ascii_case(e))
        })
    }

    fn kind(&self) -> EntryKind {
        EntryKind::Memory
    }

    fn parts(&self, text: &str, parts: &mut Parts) {
        let mut next = 0;
        for line in text.split('\n') {
            let said = line.trim_ascii();
            let at = next + (line.len() - line.trim_ascii_start().len());
            next += line.len() + 1;
            if said.is_empty() {
                continue;
            }
            match Object::parse(said) {
                Ok(object) => {
                    let (range, key) = (at..at + said.len(), id_of(&object));
                    parts.part(Part { range, headings: "".into(), key, text: None });
                }
                Err(flaw) => parts.flaw(at, flaw.what),
            }
            if parts.is_full() {
                return;
            }
        }
    }
}
