//! A file that is one task as a whole, because its host puts all of it before the model when the task fires.

use std::path::Path;

use actum_core::EntryKind;

use super::lines::is_blank;
use super::{Format, Key, Part, Parts};

#[derive(Debug)]
pub(super) struct Prompt;

impl Format for Prompt {
    fn name(&self) -> &'static str {
        "a task's prompt"
    }

    /// `.claude/loop.md`, and `scheduled-tasks/NAME/SKILL.md`.
    fn reads(&self, file: &Path) -> bool {
        let mut parts = file.iter().rev();
        let (name, above) = (parts.next(), parts.next());
        match name.and_then(|name| name.to_str()) {
            Some("loop.md") => above.is_some_and(|folder| folder == ".claude"),
            Some("SKILL.md") => parts.next().is_some_and(|folder| folder == "scheduled-tasks"),
            Some(_) | None => false,
        }
    }

    fn kind(&self) -> EntryKind {
        EntryKind::Task
    }

    fn parts(&self, text: &str, parts: &mut Parts) {
        if !is_blank(text) {
            let (range, key) = (0..text.len(), Key::Id("prompt".to_owned()));
            parts.part(Part { range, headings: "".into(), key, text: None });
        }
    }
}
