//! What kind of thing a value names, and the one declared normalisation of each kind: which two spellings are the same
//! payee, address or path. Leaves out links on disk (the edge resolves them before) and everything fuzzy: look-alikes, IDN,
//! upper and lower case where they may mean two things. `docs/formats/values.md` is the page.
//!
//! Two spellings of one thing may count as two, which costs a question. Two things never count as one.

use core::fmt;

mod number;
mod url;

use unicode_normalization::UnicodeNormalization as _;

pub(crate) use self::number::is_within;
pub use self::number::{NUMBER_MAX, Number};
pub(crate) use self::url::{Url, is_in_scheme, is_separator};

/// Bytes of an account number, separators included.
pub const ACCOUNT_MAX: usize = 128;
/// Bytes of an address: a URL or an e-mail address.
pub const ADDRESS_MAX: usize = 8192;
/// Bytes of a path.
pub const PATH_VALUE_MAX: usize = 4096;

/// Characters that only group an account number: no line breaks, which separate two of them.
const GROUPING_SPACES: [char; 6] = [' ', '\t', '\u{a0}', '\u{2007}', '\u{2009}', '\u{202f}'];

/// What a value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// Any text: a name, a selector, a command. The kind of everything the policy says nothing about.
    Text,
    /// An account number, IBAN or not.
    Account,
    /// One e-mail address.
    Email,
    /// An address with a scheme and a host.
    Url,
    /// A path on a disk.
    Path,
    /// An amount or a count.
    Number,
}

impl ValueKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Text, Self::Account, Self::Email, Self::Url, Self::Path, Self::Number];

    /// The word in a policy.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Account => "account",
            Self::Email => "email",
            Self::Url => "url",
            Self::Path => "path",
            Self::Number => "number",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The normal form of `text`, or `None` if it is not of this kind. Equal normal forms name the same thing.
    ///
    /// What is not of its kind is to be compared as it stands; nothing is repaired.
    ///
    /// ```
    /// use actum_core::ValueKind;
    /// let iban = ValueKind::Account.normal("de89 3704-0044 0532 0130 00");
    /// assert_eq!(iban.as_deref(), Some("DE89370400440532013000"));
    /// let url = ValueKind::Url.normal("HTTPS://Example.com:443/a/../%7Eb");
    /// assert_eq!(url.as_deref(), Some("https://example.com/~b"));
    /// assert_ne!(ValueKind::Email.normal("Alice@x.example"), ValueKind::Email.normal("alice@x.example"));
    /// ```
    pub fn normal(self, text: &str) -> Option<String> {
        match self {
            Self::Text => (!text.is_empty()).then(|| text.nfc().collect()),
            Self::Account => account(text),
            Self::Email => email(text),
            Self::Url => Url::parse(text).map(|url| url.to_string()),
            Self::Path => path(text),
            Self::Number => Number::parse(text).map(|number| number.as_str().to_owned()),
        }
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Whether a character may group the digits of an account number and mean nothing.
pub(crate) fn is_grouping(c: char) -> bool {
    GROUPING_SPACES.contains(&c) || matches!(c, '-' | '.')
}

/// An IBAN loses grouping and case, because its check digits say that it is one. Elsewhere a dash can tell two accounts
/// apart (`1-23/0800` and `123/0800`), and so can case; only regular groups of digits are joined there.
fn account(text: &str) -> Option<String> {
    if text.len() > ACCOUNT_MAX || !text.contains(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let text = text.trim_matches(GROUPING_SPACES);
    let bare = text.replace(is_grouping, "").to_ascii_uppercase();
    if is_iban(&bare) || is_regular_groups(text) {
        return Some(bare);
    }
    Some(text.replace(GROUPING_SPACES, ""))
}

/// ISO 13616: two letters, two check digits, at most 30 more, and the remainder by 97 is 1.
pub(crate) fn is_iban(bare: &str) -> bool {
    if !(15..=34).contains(&bare.len()) || !bare.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return false;
    }
    let Some((head, tail)) = bare.split_at_checked(4) else { return false };
    let is_head = head
        .chars()
        .enumerate()
        .all(|(at, c)| if at < 2 { c.is_ascii_alphabetic() } else { c.is_ascii_digit() });
    let remainder = tail.chars().chain(head.chars()).try_fold(0_u32, |sum, c| {
        let value = c.to_digit(36)?;
        Some((sum * if value < 10 { 10 } else { 100 } + value) % 97)
    });
    is_head && remainder == Some(1)
}

/// Three or more groups of digits between one and the same dash or dot; the groups have one length of two or more, and only
/// the last may be shorter.
fn is_regular_groups(text: &str) -> bool {
    let Some(separator) = text.chars().find(|c| matches!(c, '-' | '.')) else { return false };
    let groups: Vec<&str> = text.split(separator).collect();
    let is_digits = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    let Some((last, others)) = groups.split_last() else { return false };
    let width = others.first().map_or(0, |group| group.len());
    others.len() >= 2
        && width >= 2
        && last.len() <= width
        && groups.iter().all(is_digits)
        && others.iter().all(|group| group.len() == width)
}

/// Characters that are syntax around addresses and never in one without quotes; quoted local parts are not addresses here.
pub(crate) fn is_around_email(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "<>()[],;:\"\\“”„«»‹›‘’".contains(c)
}

/// `mailto:` and one pair of angle brackets are syntax around an address; only the domain loses its case.
fn email(text: &str) -> Option<String> {
    if text.len() > ADDRESS_MAX {
        return None;
    }
    let text = text.strip_prefix('<').and_then(|t| t.strip_suffix('>')).unwrap_or(text);
    let text = match text.split_at_checked("mailto:".len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("mailto:") => rest,
        Some(_) | None => text,
    };
    let (local, domain) = text.split_once('@')?;
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    if local.is_empty() || local.contains(is_around_email) || !domain.split('.').all(is_label) {
        return None;
    }
    Some(format!("{local}@{}", domain.to_ascii_lowercase()))
}

/// Doubled slashes, `.` and `..` are removed by their letters alone; case stays. A final slash stays, because `link/` and
/// `link` are two things; a final `.` or `..` is a folder, so it ends with one.
fn path(text: &str) -> Option<String> {
    if text.is_empty() || text.len() > PATH_VALUE_MAX || text.contains(char::is_control) {
        return None;
    }
    let is_absolute = text.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if is_absolute => {}
            part => kept.push(part),
        }
    }
    let is_folder = matches!(text.rsplit('/').next(), Some("" | "." | ".."));
    let root = match (is_absolute, kept.is_empty()) {
        (true, true) => return Some("/".to_owned()),
        (false, true) => return Some("./".to_owned()),
        (true, false) => "/",
        (false, false) => "",
    };
    Some(format!("{root}{}{}", kept.join("/"), if is_folder { "/" } else { "" }))
}
