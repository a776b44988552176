//! The addresses in a text that leaves the machine. A link in a message is followed by whoever reads it, so its address
//! decides on whom something falls, though the text around it is content.

use std::collections::BTreeSet;

use super::find::{address_starts, emails, runs, without_marks};
use super::{Origin, Passage, Search};
use crate::authority::Authority;
use crate::kind::{ADDRESS_MAX, ValueKind, is_around_email};
use crate::rule::Rules;

/// Different addresses of one message; where there are more, the last one stands for the rest and was found nowhere. They
/// share the [`PARTS_MAX`](super::PARTS_MAX) searches of one argument.
pub const OUTGOING_MAX: usize = 64;

/// Endings that no domain has, so that `notes.txt` in a message is no address.
const FILE_ENDINGS: &[&str] = &[
    "avi", "bmp", "conf", "csv", "doc", "docx", "exe", "gif", "gz", "htm", "html", "ini", "jpeg",
    "jpg", "js", "json", "jsonl", "lock", "log", "mp3", "mp4", "odt", "pdf", "png", "ppt", "pptx",
    "rtf", "svg", "tar", "tex", "toml", "ts", "txt", "wav", "xls", "xlsx", "xml", "yaml", "yml",
];

/// References of HTML to the signs of an address.
const NAMED: &[(&str, char)] = &[
    ("period", '.'),
    ("colon", ':'),
    ("sol", '/'),
    ("commat", '@'),
    ("quest", '?'),
    ("equals", '='),
    ("num", '#'),
    ("percnt", '%'),
    ("bsol", '\\'),
    ("hyphen", '-'),
];

/// One address in a text, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// As it stands in the text.
    pub address: String,
    /// Where it came from.
    pub origin: Origin,
}

/// The URLs, e-mail addresses and bare domains in `text`, each once and traced by itself.
///
/// Finds too many rather than too few: what a reader's program might turn into a link is one.
///
/// ```
/// use actum_core::{Authority, Passage, outgoing};
/// let text = "Send Bob https://x.example/notes";
/// let turn = Passage { id: 1, authority: Authority::User, text, own_turn: true };
/// let found = outgoing("See https://x.example/notes or evil.example!", &[turn], Authority::Derived);
/// let all: Vec<_> = found.iter().map(|o| (o.address.as_str(), o.origin.authority)).collect();
/// assert_eq!(all, [("https://x.example/notes", Authority::User), ("evil.example", Authority::Derived)]);
/// ```
pub fn outgoing(text: &str, passages: &[Passage<'_>], context_least: Authority) -> Vec<Outgoing> {
    outgoing_by(Rules::ALL, text, passages, context_least)
}

/// The same by these rules.
pub(crate) fn outgoing_by(
    rules: Rules,
    text: &str,
    passages: &[Passage<'_>],
    context_least: Authority,
) -> Vec<Outgoing> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let mut search = Search::new(rules, passages, context_least);
    let spellings = runs(text).flat_map(|run| [Some(run.to_owned()), unescaped(run)]).flatten();
    for (address, traced, kind) in spellings.flat_map(|run| addresses_of(&run)) {
        if !seen.insert(address.clone()) {
            continue;
        }
        if found.len() == OUTGOING_MAX {
            let origin =
                search.nowhere(&format!("the text has more than {OUTGOING_MAX} addresses"));
            found.push(Outgoing { address, origin });
            break;
        }
        let origin = search.text(&traced, kind, super::Named::Whole);
        found.push(Outgoing { address, origin });
    }
    found
}

/// The run as Markdown or HTML would show it, if that is another: without backslashes, and with the references that can hide
/// an address put back.
fn unescaped(run: &str) -> Option<String> {
    if !run.contains(['\\', '&']) {
        return None;
    }
    let run = run.replace('\\', "");
    let mut parts = run.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some((c, rest)) = reference(part) {
            plain.push(c);
            plain.push_str(rest.strip_prefix(';').unwrap_or(rest));
        } else {
            plain.push('&');
            plain.push_str(part);
        }
    }
    Some(plain)
}

/// What a reference of HTML stands for, after its `&`, and what follows it.
fn reference(part: &str) -> Option<(char, &str)> {
    if let Some(name) = NAMED.iter().find(|(name, _)| part.starts_with(name)) {
        return Some((name.1, part.strip_prefix(name.0)?));
    }
    let digits = part.strip_prefix('#')?;
    let (digits, radix) = digits.strip_prefix(['x', 'X']).map_or((digits, 10), |hex| (hex, 16));
    let rest = digits.trim_start_matches(|c: char| c.is_digit(radix));
    let code = u32::from_str_radix(digits.strip_suffix(rest)?, radix).ok()?;
    Some((char::from_u32(code)?, rest))
}

/// The addresses of one run: as it stands there, and as what it is traced.
fn addresses_of(run: &str) -> Vec<(String, String, ValueKind)> {
    let mut all = Vec::new();
    // From the first scheme on, all is one address, whatever is in it.
    let scheme = if run.len() > ADDRESS_MAX {
        run.contains("://").then_some(run)
    } else {
        address_starts(run).next()
    };
    let before = match scheme {
        Some(address) => {
            let address = without_marks(address);
            all.push((address.to_owned(), address.to_owned(), ValueKind::Url));
            run.strip_suffix(scheme.unwrap_or_default()).unwrap_or_default()
        }
        None => run,
    };
    for email in before.split(is_around_email) {
        if email.contains('@') {
            let address = emails(email).last().unwrap_or(email);
            all.push((address.to_owned(), address.to_owned(), ValueKind::Email));
        }
    }
    all.extend(domains(before));
    all
}

/// Names with a dot and what follows them up to the end of the run.
fn domains(run: &str) -> Vec<(String, String, ValueKind)> {
    let mut all = Vec::new();
    let mut rest = run;
    loop {
        let start = rest.trim_start_matches(|c| !is_in_domain(c));
        if start.is_empty() {
            return all;
        }
        let is_mailbox = rest.strip_suffix(start).is_some_and(|before| before.ends_with('@'));
        let after = start.trim_start_matches(is_in_domain);
        let name = start.strip_suffix(after).unwrap_or(start);
        if !is_mailbox && !after.starts_with('@') && is_domain(name, after) {
            let address = without_marks(start);
            let dotted = address.replace(is_wide_dot, ".");
            all.push((address.to_owned(), format!("https://{dotted}"), ValueKind::Url));
            return all;
        }
        rest = after;
    }
}

/// Everything outside ASCII too: what a name may hold is decided elsewhere, and changes.
fn is_in_domain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') || !c.is_ascii()
}

/// The other full stops that browsers take for one.
fn is_wide_dot(c: char) -> bool {
    matches!(c, '\u{3002}' | '\u{ff0e}' | '\u{ff61}')
}

fn is_domain(name: &str, after: &str) -> bool {
    let name = name.replace(is_wide_dot, ".").to_ascii_lowercase();
    let name = without_marks(&name);
    let Some((before, last)) = name.rsplit_once('.') else { return false };
    let is_number = |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_digit());
    if name.split('.').all(is_number) {
        return name.split('.').count() == 4;
    }
    let is_top = last.chars().count() >= 2 && !is_number(last);
    let is_file =
        FILE_ENDINGS.binary_search(&last).is_ok() && !after.starts_with(['/', ':', '?', '#']);
    before.contains(|c: char| c != '.') && is_top && !is_file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endings_can_be_searched() {
        assert!(FILE_ENDINGS.is_sorted());
    }
}
