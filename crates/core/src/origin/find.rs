//! Where a value stands in a text: whole, and not as a part of something longer. Every search is linear in the text: what
//! is looked at twice is looked at a constant number of times.

use core::cell::OnceCell;
use core::iter::successors;

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::kind::{
    ADDRESS_MAX, Number, Url, ValueKind, is_around_email, is_grouping, is_iban, is_in_scheme,
    is_separator, is_within,
};

/// Characters of a text, and digits where there is no letter, from which it identifies something.
pub const TEXT_IDENTIFIES: usize = 5;
/// Digits from which an account number, a number or a text without letters identifies something.
pub const DIGITS_IDENTIFY: usize = 6;
/// Words that stand in any text, however long they are.
const COMMON: &[&str] = &[
    "account",
    "active",
    "admin",
    "administrator",
    "always",
    "amount",
    "approve",
    "approved",
    "archive",
    "branch",
    "cancel",
    "confirm",
    "confirmed",
    "create",
    "default",
    "delete",
    "disable",
    "disabled",
    "email",
    "enable",
    "enabled",
    "everyone",
    "everything",
    "execute",
    "false",
    "feature",
    "force",
    "global",
    "guest",
    "internal",
    "latest",
    "local",
    "localhost",
    "master",
    "message",
    "never",
    "origin",
    "owner",
    "password",
    "payment",
    "please",
    "private",
    "production",
    "public",
    "query",
    "release",
    "remove",
    "select",
    "staging",
    "status",
    "system",
    "today",
    "tomorrow",
    "transfer",
    "undefined",
    "update",
    "users",
    "value",
    "world",
    "write",
    "yesterday",
];
/// Marks after a token that a reader may or may not count to it.
const TRIMMED_MAX: usize = 8;
/// Passages where an address may begin within one run without spaces.
const STARTS_MAX: usize = 4;

/// What is looked for.
#[derive(Debug, Clone)]
pub(super) enum Needle {
    /// A text in NFC.
    Text(String),
    /// A decoded piece of an address: as a text, but the separators of addresses bound it too.
    Piece(String),
    /// The beginning of an address, and its host where that says as much.
    Origin {
        origin: String,
        host: Option<String>,
    },
    Account(String),
    Email(String),
    /// A normal address, and the same as people write it, without `https://`.
    Url {
        normal: String,
        bare: Option<String>,
    },
    /// A normal path, and the same as it was written.
    Path {
        normal: String,
        written: String,
    },
    Number(Number),
}

impl Needle {
    /// As the kind has it; a text that is not of the kind is looked for as it stands.
    pub(super) fn new(text: &str, kind: ValueKind) -> Self {
        Self::of(text, kind, kind.normal(text))
    }

    /// The same, where the normal form is known already.
    pub(super) fn of(text: &str, kind: ValueKind, normal: Option<String>) -> Self {
        match (kind, normal) {
            (ValueKind::Account, Some(normal)) => Self::Account(normal),
            (ValueKind::Email, Some(normal)) => Self::Email(normal),
            (ValueKind::Url, Some(normal)) => {
                let bare = Url::parse(text).and_then(|url| url.without_scheme());
                Self::Url { normal, bare }
            }
            (ValueKind::Path, Some(normal)) => Self::Path { normal, written: text.to_owned() },
            (ValueKind::Number, Some(normal)) => Number::parse(&normal)
                .map_or_else(|| Self::Text(text.nfc().collect()), Self::Number),
            (ValueKind::Text, _) | (_, None) if text.is_ascii() => Self::Text(text.to_owned()),
            (ValueKind::Text, _) | (_, None) => Self::Text(text.nfc().collect()),
        }
    }

    /// A decoded piece of an address.
    pub(super) fn piece(text: &str) -> Self {
        Self::Piece(text.nfc().collect())
    }

    /// Whether it is long and rare enough to say where it came from.
    pub(super) fn identifies(&self) -> bool {
        match self {
            Self::Text(text) | Self::Piece(text) | Self::Path { normal: text, .. } => {
                is_telling(text)
            }
            Self::Origin { .. } | Self::Email(_) | Self::Url { .. } => true,
            Self::Account(text) => {
                text.bytes().filter(u8::is_ascii_alphanumeric).count() >= DIGITS_IDENTIFY
            }
            Self::Number(number) => digits_of(number.as_str()) >= DIGITS_IDENTIFY,
        }
    }

    /// Whether there is anything in it that a word of the user could stand for: `*`, `/` and `--` are not.
    pub(super) fn says_something(&self) -> bool {
        match self {
            Self::Text(text) | Self::Piece(text) | Self::Path { normal: text, .. } => {
                text.contains(char::is_alphanumeric)
            }
            Self::Origin { .. }
            | Self::Email(_)
            | Self::Url { .. }
            | Self::Account(_)
            | Self::Number(_) => true,
        }
    }
}

fn digits_of(text: &str) -> usize {
    text.chars().filter(|c| c.is_numeric()).count()
}

fn is_telling(text: &str) -> bool {
    if !text.contains(char::is_alphabetic) {
        return digits_of(text) >= DIGITS_IDENTIFY;
    }
    let word = text.to_ascii_lowercase();
    text.chars().filter(|c| c.is_alphanumeric()).count() >= TEXT_IDENTIFIES
        && COMMON.binary_search(&word.as_str()).is_err()
}

/// A text of the context, made ready for many searches.
#[derive(Debug)]
pub(super) struct Haystack<'a> {
    text: &'a str,
    /// Present where `text` is not NFC already.
    nfc: Option<String>,
    /// For hosts.
    lower: OnceCell<String>,
}

impl<'a> Haystack<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let is_normal = text.is_ascii() || is_nfc(text);
        let nfc = (!is_normal).then(|| text.nfc().collect());
        Self { text, nfc, lower: OnceCell::new() }
    }

    /// Whether `needle` stands here whole.
    pub(super) fn holds(&self, needle: &Needle) -> bool {
        let nfc = self.nfc.as_deref().unwrap_or(self.text);
        match needle {
            Needle::Text(text) => stands(nfc, text, &Edges::TEXT),
            Needle::Piece(text) => stands(nfc, text, &Edges::PIECE),
            Needle::Origin { origin, host } => {
                let is_it =
                    |text: &str| Url::parse(text).is_some_and(|url| url.origin() == *origin);
                let lower = self.lower.get_or_init(|| self.text.to_ascii_lowercase());
                let is_named = |host: &String| stands(lower, host, &Edges::HOST);
                addresses(self.text).any(is_it) || host.as_ref().is_some_and(is_named)
            }
            Needle::Account(normal) => holds_account(self.text, normal),
            Needle::Email(normal) => {
                emails(self.text).any(|text| ValueKind::Email.normal(text).as_ref() == Some(normal))
            }
            Needle::Url { normal, bare } => {
                addresses(self.text)
                    .any(|text| ValueKind::Url.normal(text).as_ref() == Some(normal))
                    || bare.as_ref().is_some_and(|bare| holds_bare(self.text, bare))
            }
            Needle::Path { normal, written } => holds_path(self.text, normal, written),
            Needle::Number(number) => holds_number(self.text, number),
        }
    }

    /// Whether the letters of `needle` stand here, whatever stands beside them: what a naive search would find.
    pub(super) fn contains(&self, needle: &Needle) -> bool {
        self.text.contains(match needle {
            Needle::Text(text)
            | Needle::Piece(text)
            | Needle::Account(text)
            | Needle::Email(text)
            | Needle::Url { normal: text, .. }
            | Needle::Path { written: text, .. }
            | Needle::Origin { origin: text, .. } => text,
            Needle::Number(number) => number.as_str(),
        })
    }

    /// Whether an address stands here character for character.
    pub(super) fn holds_verbatim(&self, address: &str) -> bool {
        addresses(self.text).any(|text| text == address)
    }
}

/// What may stand beside a token, besides what always may.
struct Edges {
    left: fn(char) -> bool,
    right: fn(char) -> bool,
}

impl Edges {
    const TEXT: Self = Self { left: |_| false, right: |_| false };
    const PIECE: Self = Self { left: is_separator, right: is_separator };
    /// `example.com/a`, but not `other/example.com`.
    const HOST: Self = Self { left: |_| false, right: |c| matches!(c, '/' | '?' | '#') };
    const NUMBER: Self = Self { left: is_currency, right: is_currency };

    /// Whether what stands before and after leaves the token whole.
    fn leave_whole(&self, before: &str, after: &str) -> bool {
        self.begin(before) && self.end(after)
    }

    fn begin(&self, before: &str) -> bool {
        let mut back = before.chars().rev();
        match back.next() {
            None => true,
            // `'alice'`, but not the end of `O'Brien`.
            Some(c) if is_apostrophe(c) => !back.next().is_some_and(char::is_alphanumeric),
            // `{"amount":13}`, but not the end of `10:13`.
            Some(':') => back.next() == Some('"'),
            Some(c) => is_hard(c) || (self.left)(c),
        }
    }

    fn end(&self, after: &str) -> bool {
        let mut rest = after;
        if let Some(quote) = after.chars().next().filter(|c| is_apostrophe(*c)) {
            // `'alice'` and `alice's`, but not the beginning of `alice'x`.
            rest = after.strip_prefix(quote).unwrap_or_default();
            rest = rest.strip_prefix('s').unwrap_or(rest);
        }
        if rest.chars().next().is_some_and(self.right) {
            return true;
        }
        rest.trim_start_matches(is_closing).chars().next().is_none_or(is_hard)
    }
}

/// Ends a token wherever it stands. Everything else belongs to it, invisible characters and marks too.
fn is_hard(c: char) -> bool {
    c.is_whitespace() || "\"`()[]{}<>=|“”„‟«»‹›‘‚「」『』（）【】《》〈〉".contains(c)
}

/// Ends a token only where the sentence or the line ends with it: `13.` is not the beginning of `13.5`.
fn is_closing(c: char) -> bool {
    ".,;:!?…。，、；：！？".contains(c)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

fn is_currency(c: char) -> bool {
    "$€£¥₹".contains(c)
}

/// Whether `needle` stands in `hay` with nothing of a longer token beside it.
fn stands(hay: &str, needle: &str, edges: &Edges) -> bool {
    occurrences(hay.as_bytes(), needle.as_bytes()).any(|at| {
        let before = hay.get(..at).unwrap_or_default();
        let after = hay.get(at + needle.len()..).unwrap_or_default();
        edges.leave_whole(before, after)
    })
}

/// Where `needle` begins in `hay`, overlapping occurrences too. Knuth, Morris and Pratt: linear in both, whatever they hold.
fn occurrences(hay: &[u8], needle: &[u8]) -> impl Iterator<Item = usize> {
    let mut borders: Vec<usize> = Vec::with_capacity(needle.len());
    let mut length = 0;
    for (at, byte) in needle.iter().enumerate() {
        length = if at == 0 { 0 } else { longer_border(needle, &borders, length, *byte) };
        borders.push(length);
    }
    let mut matched = 0;
    hay.iter().enumerate().filter_map(move |(at, byte)| {
        matched = longer_border(needle, &borders, matched, *byte);
        (matched > 0 && matched == needle.len()).then(|| at + 1 - matched)
    })
}

/// How much of the beginning of `needle` ends in `byte`, when `length` of it stood before.
fn longer_border(needle: &[u8], borders: &[usize], mut length: usize, byte: u8) -> usize {
    while length > 0 && needle.get(length) != Some(&byte) {
        length = borders.get(length - 1).copied().unwrap_or_default();
    }
    length + usize::from(needle.get(length) == Some(&byte))
}

/// What could be an address with a scheme, longest reading first: with the marks behind it, and without.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = &str> {
    runs(text).flat_map(address_starts).flat_map(readings)
}

/// Pieces of a text that no reader of addresses would go on beyond.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>');
    text.split(ends).filter(|run| !run.is_empty())
}

/// What follows from each scheme in a run.
pub(super) fn address_starts(run: &str) -> impl Iterator<Item = &str> {
    let run = Some(run).filter(|run| run.len() <= ADDRESS_MAX).unwrap_or_default();
    run.match_indices("://").take(STARTS_MAX).filter_map(move |(at, _)| {
        let scheme = run.get(..at)?;
        let start = scheme.trim_end_matches(is_in_scheme).len();
        run.get(start..)
    })
}

/// A token as it stands, and without one, two, three of the marks behind it.
fn readings(token: &str) -> impl Iterator<Item = &str> {
    successors(Some(token), |token| token.strip_suffix(is_trailing)).take(TRIMMED_MAX + 1)
}

/// A token without any of the marks behind it.
pub(super) fn without_marks(token: &str) -> &str {
    token.trim_end_matches(is_trailing)
}

fn is_trailing(c: char) -> bool {
    is_closing(c) || "'’`)]}|*_“”»›".contains(c)
}

/// Whether an address without its scheme is one of the runs: `(example.com/a)`.
fn holds_bare(text: &str, bare: &str) -> bool {
    let is_it = |text: &str| {
        let url = Url::parse(&format!("https://{text}"));
        url.and_then(|url| url.without_scheme()).as_deref() == Some(bare)
    };
    let runs = runs(text).filter(|run| run.len() <= ADDRESS_MAX && run.contains('.'));
    runs.map(|run| run.trim_start_matches(is_leading)).flat_map(readings).any(is_it)
}

fn is_leading(c: char) -> bool {
    "([{'`*“„«‘".contains(c)
}

/// What could be an e-mail address.
pub(super) fn emails(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(is_around_email);
    pieces.filter(|piece| piece.contains('@') && piece.len() <= ADDRESS_MAX).flat_map(|piece| {
        let bare = piece.trim_start_matches(is_leading);
        let other = Some(bare).filter(|bare| bare.len() < piece.len());
        [Some(piece), other].into_iter().flatten().flat_map(readings)
    })
}

/// The value as it stood in the passage, grouping and all, has to have the same normal form; and it must not be a part of a
/// longer number that is written in groups.
fn holds_account(text: &str, normal: &str) -> bool {
    let mut bare = Vec::with_capacity(text.len());
    let mut offsets = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices().filter(|(_, c)| !is_grouping(*c)) {
        let mut bytes = [0; 4];
        for (offset, byte) in (at..).zip(c.encode_utf8(&mut bytes).bytes()) {
            bare.push(byte.to_ascii_uppercase());
            offsets.push(offset);
        }
    }
    let needle = normal.replace(is_grouping, "").to_ascii_uppercase();
    occurrences(&bare, needle.as_bytes()).any(|at| {
        let start = offsets.get(at).copied().unwrap_or_default();
        let end = offsets.get(at + needle.len() - 1).map_or(0, |last| last + 1);
        let Some(written) = text.get(start..end) else { return false };
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        // However an IBAN is grouped, it is that one.
        let is_it = (needle == normal && is_iban(normal))
            || ValueKind::Account.normal(written).as_deref() == Some(normal);
        is_it
            && Edges::TEXT.leave_whole(before, after)
            && !goes_on(before.chars().rev())
            && !goes_on(after.chars())
    })
}

/// Whether another group of digits follows.
fn goes_on(mut chars: impl Iterator<Item = char>) -> bool {
    chars.next().is_some_and(is_grouping) && chars.next().is_some_and(|c| c.is_ascii_digit())
}

fn holds_path(text: &str, normal: &str, written: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || "\"`<>|=“”„«»‹›‘".contains(c);
    let is_it = |path: &str| ValueKind::Path.normal(path).as_deref() == Some(normal);
    let found = text.split(ends).filter(|run| !run.is_empty()).any(|run| {
        let bare = run.trim_start_matches(is_leading);
        readings(run).any(is_it) || (bare.len() < run.len() && readings(bare).any(is_it))
    });
    // A name with spaces is never one run.
    found || (written.contains(char::is_whitespace) && stands(text, written, &Edges::TEXT))
}

fn holds_number(text: &str, number: &Number) -> bool {
    let mut at = 0;
    text.split_inclusive(|c: char| !c.is_ascii_digit() && !is_within(c)).any(|piece| {
        let start = at;
        at += piece.len();
        let run = piece.trim_end_matches(|c: char| !c.is_ascii_digit());
        let digits = run.trim_start_matches(is_within);
        let start = start + run.len() - digits.len();
        !digits.is_empty() && is_number(text, start, digits, number)
    })
}

/// Whether the digits that begin at `start` are this number, with their sign and nothing else.
fn is_number(text: &str, start: usize, digits: &str, number: &Number) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(start + digits.len()..).unwrap_or_default();
    let unsigned = before.strip_suffix(['-', '+']).unwrap_or(before);
    let written = text.get(unsigned.len()..start + digits.len()).unwrap_or_default();
    let has_far_sign = unsigned.strip_suffix(is_currency).is_some_and(|text| text.ends_with('-'));
    // `1 000` is one number to one reader and two to another, so it is neither.
    let is_split = (begins_with_group(after.strip_prefix(' ').unwrap_or_default()))
        || (begins_with_group(digits) && ends_with_digit_and_space(unsigned));
    !has_far_sign
        && !is_split
        && Edges::NUMBER.leave_whole(unsigned, after)
        && Number::written(written).as_ref() == Some(number)
}

/// Exactly three digits.
fn begins_with_group(text: &str) -> bool {
    text.chars().take_while(char::is_ascii_digit).take(4).count() == 3
}

fn ends_with_digit_and_space(text: &str) -> bool {
    text.strip_suffix(' ').is_some_and(|text| text.ends_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_words_can_be_searched() {
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn overlapping_occurrences_are_found() {
        let all = |hay: &str, needle: &str| {
            occurrences(hay.as_bytes(), needle.as_bytes()).collect::<Vec<_>>()
        };
        assert_eq!(all("aaaa", "aa"), [0, 1, 2]);
        assert_eq!(all("abababa", "aba"), [0, 2, 4]);
        assert_eq!(all("abc", ""), [0_usize; 0]);
        assert_eq!(all("", "a"), [0_usize; 0]);
        assert!(stands("xa b a b a", "a b a", &Edges::TEXT));
    }
}
