//! Names of entries: `file#heading#heading:key`. `docs/formats/entries.md` says why they are as they are.

use std::collections::BTreeMap;
use std::rc::Rc;

use actum_core::{Digest, hex};

use super::Key;

/// Bytes of the file in a name.
const FILE_MAX: usize = 300;
/// Bytes of one heading in a name; there are at most six.
const HEADING_MAX: usize = 90;
/// Bytes of an id in a name.
const ID_MAX: usize = 120;
/// Bytes of the first words in a name.
const WORDS_MAX: usize = 60;
const WORDS: usize = 3;

const _: () = assert!(
    FILE_MAX + 6 * (1 + HEADING_MAX) + 1 + ID_MAX + "~100000".len() <= actum_core::ENTRY_NAME_MAX
);

const SHORTENED_DOMAIN: &str = "actum/entry-name/v1";

/// Names the entries of one file.
#[derive(Debug)]
pub(super) struct Namer {
    file: String,
    given: BTreeMap<String, usize>,
}

impl Namer {
    pub(super) fn new(file: &str) -> Self {
        Self { file: written(file, FILE_MAX), given: BTreeMap::new() }
    }

    pub(super) fn name(
        &mut self,
        headings: &str,
        key: &Key,
        text: &str,
        content: &Digest,
    ) -> String {
        let key = match key {
            Key::Id(id) => written(id, ID_MAX),
            Key::Words => format!("{}~{}", first_words(text), content.short()),
            Key::Content => format!("~{}", content.short()),
        };
        let mut name = format!("{}{headings}:{key}", self.file);
        let count = self.given.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            name.extend(["~", &count.to_string()]);
        }
        name
    }
}

/// The file in a name, as it is written there. Of a text that is no name of ours, what would be it.
pub fn file_of(name: &str) -> &str {
    NameParts::of(name).file
}

/// How a file, seen from the root, is written in the names of its entries.
pub fn named_file(file: &str) -> String {
    written(file, FILE_MAX)
}

/// The path of the file in a name, seen from the root; nothing if it was cut, or is not plain text.
///
/// ```
/// use actum_store::entries::path_of;
/// assert_eq!(path_of(r"notes/a\#b.md#Build:use nextest~0b1c").as_deref(), Some("notes/a#b.md"));
/// ```
pub fn path_of(name: &str) -> Option<String> {
    let file = file_of(name);
    let (mut path, mut characters) = (String::new(), file.chars());
    while let Some(character) = characters.next() {
        path.push(if character == '\\' { characters.next()? } else { character });
    }
    Some(path).filter(|path| !path.is_empty() && named_file(path) == file)
}

/// The headings above a place, as they are written in a name.
#[derive(Debug)]
pub(super) struct Headings(Vec<(usize, Rc<str>)>);

impl Headings {
    pub(super) fn new() -> Self {
        Self(vec![(0, "".into())])
    }

    /// Leaves what a heading of this level closes.
    pub(super) fn close(&mut self, level: usize) {
        while self.0.pop_if(|(open, _)| *open >= level.max(1)).is_some() {}
    }

    /// Goes below a heading.
    pub(super) fn open(&mut self, level: usize, text: &str) {
        let path = format!("{}#{}", self.path(), written(text, HEADING_MAX));
        self.0.push((level, path.into()));
    }

    pub(super) fn path(&self) -> Rc<str> {
        self.0.last().map_or_else(|| "".into(), |(_, path)| Rc::clone(path))
    }
}

/// The parts of a name that entries are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameParts<'a> {
    pub(super) file: &'a str,
    /// The file and the headings.
    pub(super) place: &'a str,
    /// The place and the id or the first words; nothing if the key has neither.
    pub(super) stem: Option<&'a str>,
}

impl<'a> NameParts<'a> {
    /// Takes any text apart, also one that is no name of ours.
    pub(super) fn of(name: &'a str) -> Self {
        let (file, _) = before_mark(name, &['#', ':']);
        let (place, key) = before_mark(name, &[':']);
        let (words, _) = before_mark(key, &['~']);
        let stem = name.get(..name.len() - key.len() + words.len());
        Self { file, place, stem: stem.filter(|_| !words.is_empty()) }
    }
}

/// What stands before the first of these marks that is not escaped, and what stands behind it.
fn before_mark<'a>(text: &'a str, marks: &[char]) -> (&'a str, &'a str) {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        if !is_escaped && marks.contains(&character) {
            let (before, rest) = text.split_at(at);
            return (before, rest.strip_prefix(character).unwrap_or_default());
        }
        is_escaped = !is_escaped && character == '\\';
    }
    (text, "")
}

/// The first words that say what an entry is about, up to one with a digit in it: `Landlord IBAN: DE89...` with another number
/// begins with the same words.
fn first_words(text: &str) -> String {
    let is_mark = |c: char| !c.is_alphanumeric();
    let text = text.trim_start_matches(|c: char| is_mark(c) && c != '[');
    let numbered = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = match numbered.strip_prefix(['.', ')']) {
        Some(rest) if rest.starts_with(' ') => rest.trim_start(),
        Some(_) | None => text,
    };
    let done = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| text.strip_prefix(mark));
    let words = done.unwrap_or(text).split_whitespace().map(|word| word.trim_matches(is_mark));
    let mut said = String::new();
    for word in words.filter(|word| !word.is_empty()).take(WORDS) {
        if !said.is_empty() {
            if word.contains(|c: char| c.is_numeric()) {
                break;
            }
            said.push(' ');
        }
        said.push_str(word);
    }
    let mut written = String::new();
    for character in said.chars() {
        let character = escaped(character, true);
        if written.len() + character.len() > WORDS_MAX {
            break;
        }
        written.push_str(&character);
    }
    written
}

/// A text as it is written in a name: no two texts are written alike. What is longer than `max` ends with its digest.
fn written(text: &str, max: usize) -> String {
    const DIGITS: usize = 32;
    let (mut written, mut cut) = (String::new(), 0);
    for character in text.chars() {
        written.push_str(&escaped(character, true));
        if written.len() + 1 + DIGITS <= max {
            cut = written.len();
        }
        if written.len() > max {
            written.truncate(cut);
            let digest = Digest::of(SHORTENED_DOMAIN, &[text.as_bytes()]);
            let half = digest.as_bytes().first_chunk::<16>().map_or_else(String::new, |b| hex(b));
            return format!("{written}~{half}");
        }
    }
    written
}

/// A text as it is shown to a person: a terminal obeys nothing in it, and it is not long.
pub(super) fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 120;
    let mut shown = String::new();
    for character in text.chars() {
        let character = escaped(character, false);
        if shown.len() + character.len() > SHOWN_MAX {
            shown.push_str("...");
            break;
        }
        shown.push_str(&character);
    }
    shown
}

fn escaped(character: char, in_name: bool) -> String {
    let mut said = String::new();
    match character {
        '#' | ':' | '~' if in_name => said.extend(['\\', character]),
        '\'' | '"' => said.push(character),
        '\\' if !in_name => said.push(character),
        _ => said.extend(character.escape_debug()),
    }
    said
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_words_stop_before_a_figure() {
        for (text, words) in [
            ("- Landlord IBAN: DE89 3704", "Landlord IBAN"),
            ("- Always use nextest, not cargo test", "Always use nextest"),
            ("12. **Send** invoices to bob@x.example", "Send invoices to"),
            ("- [x] done with it", "done with it"),
            ("- 2026-03-01 met Bob", "2026-03-01 met Bob"),
            ("<!-- importance: 9 -->", "importance"),
            ("```rust\nfn main()", "rust fn main"),
            ("- a~b", "a\\~b"),
            ("***", ""),
        ] {
            assert_eq!(first_words(text), words, "{text}");
        }
    }

    #[test]
    fn a_name_comes_apart_where_it_was_put_together() {
        let mut headings = Headings::new();
        headings.open(1, "a#b");
        headings.open(2, "c:d~");
        let mut namer = Namer::new("x:y#.md");
        let name = namer.name(&headings.path(), &Key::Id("k:~#".into()), "", &Digest::plain(b""));
        assert_eq!(name, r"x\:y\#.md#a\#b#c\:d\~:k\:\~\#");
        let parts = NameParts::of(&name);
        assert_eq!(parts.file, r"x\:y\#.md");
        assert_eq!(parts.place, r"x\:y\#.md#a\#b#c\:d\~");
        assert_eq!(parts.stem, Some(name.as_str()));
        assert_eq!(path_of(&name).as_deref(), Some("x:y#.md"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_short_plain_and_unlike_any_other(one in ".{0,200}", other in ".{0,200}") {
            let written_one = written(&one, 90);
            prop_assert!(written_one.len() <= 90 && !written_one.contains(char::is_control));
            prop_assert_eq!(written_one == written(&other, 90), one == other);
        }

        #[test]
        fn any_text_can_be_taken_apart(name in "[a\\\\#:~é]{0,20}") {
            let parts = NameParts::of(&name);
            prop_assert!(name.starts_with(parts.place) && parts.place.starts_with(parts.file));
        }

        #[test]
        fn a_path_is_found_again_in_a_name_or_not_at_all(file in ".{1,200}") {
            let path = path_of(&format!("{}#heading:key", named_file(&file)));
            prop_assert!(path.is_none_or(|path| path == file));
        }
    }
}
