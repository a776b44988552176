//! Markdown: a bullet at the top level with all that is nested in it, a paragraph, a heading, front matter, and every other
//! block is an entry. So is a block between two lines with nothing but `§` in them. No line that says anything is left out.

use std::ops::Range;
use std::path::Path;

use actum_core::EntryKind;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::lines::Lines;
use super::name::Headings;
use super::{Format, Key, Part, Parts, Wrong};

#[derive(Debug)]
pub(super) struct Markdown;

const ENDINGS: &[&str] = &["md", "mdc", "markdown", "txt"];
const SEPARATOR: &str = "§";

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "Markdown"
    }

    fn reads(&self, file: &Path) -> bool {
        let ending = file.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.iter().any(|e| ending.eq_ignore_ascii_case(e)))
    }

    fn kind(&self) -> EntryKind {
        EntryKind::Memory
    }

    fn parts(&self, text: &str, parts: &mut Parts) {
        let lines = Lines::of(text);
        let is_separated = (0..lines.len()).any(|line| lines.line(line).trim() == SEPARATOR);
        let mut blocks = Blocks { text, lines: &lines, parts, next: 0, headings: Headings::new() };
        if is_separated { blocks.separated() } else { blocks.structured() }
    }
}

/// Gives every line to one entry, from the top.
struct Blocks<'a, 'p> {
    text: &'a str,
    lines: &'a Lines<'a>,
    parts: &'p mut Parts,
    /// The first line that is nobody's yet.
    next: usize,
    headings: Headings,
}

impl Blocks<'_, '_> {
    fn separated(&mut self) {
        for line in 0..self.lines.len() {
            if self.lines.line(line).trim() == SEPARATOR {
                self.give(self.next..line, Key::Words);
                self.next = line + 1;
            }
        }
        self.give(self.next..self.lines.len(), Key::Words);
    }

    fn structured(&mut self) {
        self.front_matter();
        let from = self.lines.range(self.next..self.next).start;
        let body = self.text.get(from..).unwrap_or_default();
        let mut depth = 0_usize;
        for (event, range) in Parser::new_ext(body, Options::empty()).into_offset_iter() {
            let range = range.start + from..range.end + from;
            let is_item = depth == 1 && matches!(event, Event::Start(Tag::Item));
            let is_list = matches!(event, Event::Start(Tag::List(_)));
            if let (0, Event::Start(Tag::Heading { level, .. })) = (depth, &event) {
                self.heading(*level, &range);
            } else if is_item || depth == 0 && !is_list {
                self.block(&range);
            }
            if matches!(event, Event::Start(_)) {
                depth += 1;
            } else if matches!(event, Event::End(_)) {
                depth = depth.saturating_sub(1);
            }
            if self.parts.is_full() {
                return;
            }
        }
        self.loose(self.lines.len());
    }

    /// Lines between a first `---` and the next.
    fn front_matter(&mut self) {
        if self.lines.line(0).trim_ascii_end() != "---" {
            return;
        }
        let end =
            (1..self.lines.len()).find(|line| self.lines.line(*line).trim_ascii_end() == "---");
        let key = self.lines.line(1).split_once(':').map(|(key, _)| key);
        let is_key = |key: &str| {
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
        };
        match end {
            Some(end) => {
                self.give(0..end + 1, Key::Id("front matter".to_owned()));
                self.next = end + 1;
            }
            None if key.is_some_and(is_key) => self.parts.flaw(0, Wrong::FrontMatter),
            None => {}
        }
    }

    fn heading(&mut self, level: HeadingLevel, range: &Range<usize>) {
        let level = level as usize;
        let Some(lines) = self.lines_of(range) else { return };
        self.loose(lines.start);
        self.headings.close(level);
        let text = heading_text(self.text.get(self.lines.range(lines.clone())).unwrap_or_default());
        self.give(lines.clone(), Key::Words);
        self.headings.open(level, &text);
        self.next = lines.end;
    }

    fn block(&mut self, range: &Range<usize>) {
        let Some(lines) = self.lines_of(range) else { return };
        self.loose(lines.start);
        self.give(lines.clone(), Key::Words);
        self.next = lines.end;
    }

    /// The lines of a block that nobody has yet.
    fn lines_of(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let text = self.text.get(range.clone()).unwrap_or_default().trim_ascii_end();
        let last = range.start + text.len().checked_sub(1)?;
        let lines = self.lines.index(range.start).max(self.next)..self.lines.index(last) + 1;
        (!lines.is_empty()).then_some(lines)
    }

    /// Lines before `end` that belong to no block, such as definitions of links: they are not rendered, but they are read.
    fn loose(&mut self, end: usize) {
        let mut from = self.next;
        for line in self.next..end {
            if self.lines.is_blank(line) {
                self.give(from..line, Key::Words);
                from = line + 1;
            }
        }
        self.give(from..end, Key::Words);
        self.next = self.next.max(end);
    }

    /// Makes an entry of these lines, without blank ones around it, if they say anything.
    fn give(&mut self, lines: Range<usize>, key: Key) {
        let mut lines = lines;
        while !lines.is_empty() && self.lines.is_blank(lines.start) {
            lines.start += 1;
        }
        while !lines.is_empty() && self.lines.is_blank(lines.end - 1) {
            lines.end -= 1;
        }
        let range = self.lines.range(lines);
        let text = self.text.get(range.clone()).unwrap_or_default();
        if !is_rule(text) {
            self.parts.part(Part { range, headings: self.headings.path(), key, text: None });
        }
    }
}

/// Whether a text says nothing: it is empty, or one mark and its repetition, as in a rule or an empty bullet.
fn is_rule(text: &str) -> bool {
    let mut marks = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let Some(first) = marks.next() else { return true };
    b"-*_+#>".contains(&first) && marks.all(|mark| mark == first)
}

/// What a heading says: without `#` around it, or without the line below it.
fn heading_text(lines: &str) -> String {
    let said: Vec<_> = lines.split(['\n', '\r']).map(str::trim_ascii).collect();
    match said.as_slice() {
        [line] => line.trim_matches('#').trim_ascii().to_owned(),
        [above @ .., _] => above.join(" "),
        [] => String::new(),
    }
}
