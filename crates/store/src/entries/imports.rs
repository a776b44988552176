//! `@path` in instructions, by which a host puts another file before the model. Code names no imports.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// Instruction files in which a host follows imports.
const FOLLOWED_IN: &[&str] =
    &["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"];

pub(super) fn are_followed_in(name: &str) -> bool {
    FOLLOWED_IN.contains(&name)
}

/// An import as it is written: where, and which path, as long as it could be meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) at: usize,
    pub(super) target: String,
}

/// Every import of a text, in its order.
pub(super) fn imports(text: &str) -> Vec<Import> {
    let code = code(text);
    let mut next_code = code.iter().peekable();
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@') {
        while next_code.next_if(|code| code.end <= at).is_some() {}
        let (before, rest) = text.split_at(at);
        let begins = before.chars().next_back().is_none_or(char::is_whitespace);
        if !begins || next_code.peek().is_some_and(|code| code.contains(&at)) {
            continue;
        }
        let target = target(rest.strip_prefix('@').unwrap_or_default());
        if could_be_a_path(&target) {
            found.push(Import { at, target });
        }
    }
    found
}

/// Up to white space, which `\ ` does not end, or to a `#`.
fn target(text: &str) -> String {
    let mut target = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => target.push(characters.next_if_eq(&' ').unwrap_or('\\')),
            '#' => break,
            _ if character.is_whitespace() => break,
            _ => target.push(character),
        }
    }
    target
}

fn could_be_a_path(target: &str) -> bool {
    let begins = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let rest = target.strip_prefix("~/").or_else(|| target.strip_prefix('/'));
    rest.unwrap_or(target).starts_with(begins)
}

/// The path as it is written, and without the marks that may end the sentence around it.
pub(super) fn readings(target: &str) -> impl Iterator<Item = &str> {
    let trimmed = target.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '*', '_']);
    [target, trimmed].into_iter().take(if trimmed == target || trimmed.is_empty() { 1 } else { 2 })
}

fn code(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    let code = events
        .filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))));
    code.map(|(_, range)| range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_begins_a_word_outside_of_code() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<_> = imports(text).into_iter().map(|import| import.target).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("see @README.md and @docs/my_file_a.md#part.", &["README.md", "docs/my_file_a.md"]);
        check("- @~/x.md\n- @/etc/x\n- @../x", &["~/x.md", "/etc/x", "../x"]);
        check("@a\\ b.md", &["a b.md"]);
        check("mail me@x.example, `@a.md`, ``x @b.md``", &[]);
        check("```\n@a.md\n```\n\n    @b.md\n\n- x\n  ~~~\n  @c.md\n", &[]);
        check("@ @@ @/ @~/ @(x) <!-- @d.md -->", &["d.md"]);
    }
}
