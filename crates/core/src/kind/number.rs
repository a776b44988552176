//! Decimal numbers, exactly: no floats, so nothing is rounded and `9007199254740993` is not its neighbour.

use core::cmp::Ordering;
use core::fmt;

/// Characters of a number, as it is written and in plain digits. Holds every double; `1e400` is refused.
pub const NUMBER_MAX: usize = 400;
/// Digits of an exponent.
const EXPONENT_DIGITS_MAX: usize = 6;
/// Digits of a millionth.
const MILLIONTHS_DIGITS: usize = 6;
/// Digits between two separators of thousands.
const GROUP: usize = 3;

/// A decimal number in its one canonical text: no exponent, no superfluous zero, no `-0`.
///
/// ```
/// use actum_core::Number;
/// assert_eq!(Number::parse("1e0"), Number::parse("1.0"));
/// assert_eq!(Number::parse("-12.50").unwrap().as_str(), "-12.5");
/// assert!(Number::parse("1,000").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

impl Number {
    /// Reads a number as JSON writes it; anything else, or more than [`NUMBER_MAX`] characters, is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > NUMBER_MAX {
            return None;
        }
        let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        plain(sign, whole, fraction, exponent).map(|text| Self(text.into()))
    }

    /// Reads a number as people write it into a text, where only one reading makes sense.
    ///
    /// Dot before the fraction, and thousands in groups of three between commas, apostrophes or narrow spaces: `1,000.00`.
    /// Or the other way about where that cannot be meant: `1.000,00`, `1.000.000`, `12,50`. Leading zeros are no number.
    pub(crate) fn written(text: &str) -> Option<Self> {
        if text.len() > NUMBER_MAX {
            return None;
        }
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        Self::parse(&format!("{sign}{digits}")).or_else(|| {
            let (whole, fraction) = ungrouped(digits)?;
            let point = if fraction.is_empty() { "" } else { "." };
            Self::parse(&format!("{sign}{whole}{point}{fraction}"))
        })
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number in millionths. `None` if it is negative, finer than that, or too large: nothing is rounded.
    ///
    /// ```
    /// use actum_core::Number;
    /// let millionths = |text| Number::parse(text).and_then(|number| number.millionths());
    /// assert_eq!(millionths("12.5"), Some(12_500_000));
    /// assert_eq!(millionths("0.0000001"), None);
    /// assert_eq!(millionths("-1"), None);
    /// ```
    pub fn millionths(&self) -> Option<u64> {
        let (whole, fraction) = self.0.split_once('.').unwrap_or((&self.0, ""));
        if fraction.len() > MILLIONTHS_DIGITS {
            return None;
        }
        let digits = format!("{whole}{fraction:0<MILLIONTHS_DIGITS$}");
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    }
}

/// By value, exactly.
impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let parts = |number: &Self| {
            let text = number.0.trim_start_matches('-');
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            (whole.len(), whole.to_owned(), fraction.to_owned())
        };
        match (self.0.starts_with('-'), other.0.starts_with('-')) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => parts(self).cmp(&parts(other)),
            (true, true) => parts(other).cmp(&parts(self)),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a character may stand between the digits of a number that people wrote.
pub(crate) fn is_within(c: char) -> bool {
    c == '.' || is_thousands(c)
}

fn is_thousands(c: char) -> bool {
    matches!(c, ',' | '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

fn read_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.len() > EXPONENT_DIGITS_MAX || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent: i64 = digits.parse().ok()?;
    Some(if text.starts_with('-') { -exponent } else { exponent })
}

/// Digits without an exponent, or `None` where that takes more than [`NUMBER_MAX`] characters.
fn plain(sign: &str, whole: &str, fraction: &str, exponent: i64) -> Option<String> {
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    // Digits before the point, counted from the first that is not zero.
    let leading = i64::try_from(all.len() - digits.len()).ok()?;
    let point = i64::try_from(whole.len()).ok()? + exponent - leading;
    let digits = digits.trim_end_matches('0');
    let length = i64::try_from(digits.len()).ok()?;
    let needed = 3 + if point <= 0 { length - point } else { length.max(point) };
    if needed > i64::try_from(NUMBER_MAX).ok()? {
        return None;
    }
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    if point <= 0 {
        return Some(format!("{sign}0.{}{digits}", zeros(-point)));
    }
    match digits.split_at_checked(usize::try_from(point).ok()?) {
        Some((whole, "")) => Some(format!("{sign}{whole}")),
        Some((whole, fraction)) => Some(format!("{sign}{whole}.{fraction}")),
        None => Some(format!("{sign}{digits}{}", zeros(point - length))),
    }
}

/// Whole digits and fraction of a grouped number, where only one reading makes sense.
fn ungrouped(text: &str) -> Option<(String, &str)> {
    if let Some((whole, fraction)) = text.split_once('.').filter(|(_, rest)| !rest.contains('.')) {
        // `1,000.00`, and `1.000,00` with what is right of its one dot.
        return match fraction.split_once(',') {
            None => Some((joined(whole, is_thousands)?, digits(fraction)?)),
            Some((group, fraction)) => {
                let whole = joined(&format!("{whole}.{group}"), |c| c == '.')?;
                Some((whole, digits(fraction)?))
            }
        };
    }
    if text.contains('.') {
        // `1.000.000` and `1.000.000,00`.
        let (whole, fraction) = text.split_once(',').unwrap_or((text, "0"));
        return Some((joined(whole, |c| c == '.')?, digits(fraction)?));
    }
    if let Some(whole) = joined(text, is_thousands) {
        return Some((whole, ""));
    }
    // `12,50`: one or two digits are no group of thousands.
    let (whole, fraction) = text.rsplit_once(',')?;
    let whole = match joined(whole, |c| is_thousands(c) && c != ',') {
        Some(whole) => whole,
        None => digits(whole)?.to_owned(),
    };
    Some((whole, digits(fraction).filter(|fraction| fraction.len() < GROUP)?))
}

/// The digits of groups of three between one and the same separator; at least two groups.
fn joined(text: &str, is_separator: impl Fn(char) -> bool) -> Option<String> {
    let separator = text.chars().find(|c| is_separator(*c))?;
    let (first, rest) = text.split_once(separator)?;
    let is_whole = digits(first)
        .is_some_and(|first| first.len() <= GROUP && !first.starts_with('0'))
        && rest.split(separator).all(|group| digits(group).is_some_and(|g| g.len() == GROUP));
    is_whole.then(|| text.replace(separator, ""))
}

fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Option<String> {
        Number::parse(text).map(|number| number.as_str().to_owned())
    }

    fn read(text: &str) -> Option<String> {
        Number::written(text).map(|number| number.as_str().to_owned())
    }

    #[test]
    fn equal_values_have_one_text() {
        for (canon, forms) in [
            ("0", &["0", "-0", "0.0", "0e5", "-0.000", "0E-7"][..]),
            ("1", &["1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0", "100e-2", "1.000"]),
            ("1000", &["1000", "1e3", "1000.00", "0.001e6"]),
            ("-12.5", &["-12.5", "-12.50", "-125e-1", "-0.125e2"]),
            ("0.05", &["0.05", "5e-2", "0.050", "0.5e-1"]),
            ("9007199254740993", &["9007199254740993", "9007199254740993.0"]),
        ] {
            for form in forms {
                assert_eq!(canonical(form).as_deref(), Some(canon), "{form}");
            }
        }
        assert_ne!(canonical("9007199254740993"), canonical("9007199254740992"));
        assert_ne!(canonical("0.1"), canonical("0.10000000000000000001"));
        assert_ne!(canonical("1"), canonical("-1"));
    }

    #[test]
    fn what_json_does_not_write_is_no_number() {
        for text in [
            "", "-", "+1", "01", "-01", "00", ".5", "5.", "1e", "1e+", "e1", "1,000", "1 000",
            "0x10", "NaN", "Infinity", "１", "1_000", " 1", "1 ", "1e1.5", "--1", "1e--1",
        ] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_by_value() {
        let sorted = ["-10", "-9.5", "-0.1", "0", "0.05", "0.5", "9", "9.01", "10", "100"];
        for (at, one) in sorted.iter().enumerate() {
            for (other_at, other) in sorted.iter().enumerate() {
                let number = |text: &str| Number::parse(text).unwrap();
                assert_eq!(number(one).cmp(&number(other)), at.cmp(&other_at), "{one} {other}");
            }
        }
    }

    #[test]
    fn exponents_are_bounded() {
        assert!(canonical("1e308").is_some_and(|text| text.len() == 309));
        assert!(canonical("4.9406564584124654e-324").is_some());
        for text in ["1e400", "1e-400", "1e999999", "1e-999999", "1e9999999", "0e9999999"] {
            assert_eq!(canonical(text), None, "{text}");
        }
        assert_eq!(canonical(&"9".repeat(NUMBER_MAX + 1)), None);
    }

    #[test]
    fn people_write_thousands_and_fractions_in_these_ways() {
        for (value, forms) in [
            ("1000", &["1000", "1,000", "1,000.00", "1.000,00", "1'000", "1’000.00", "+1000"][..]),
            ("1000", &["1\u{a0}000", "1\u{202f}000,00", "1\u{2009}000.0"]),
            ("1000000", &["1,000,000", "1.000.000", "1.000.000,00", "1000000"]),
            ("12.5", &["12.5", "12,5", "12,50", "12.50"]),
            ("1", &["1", "1.000", "1,0"]),
            ("-1234.5", &["-1,234.5", "-1.234,50"]),
        ] {
            for form in forms {
                assert_eq!(read(form).as_deref(), Some(value), "{form}");
            }
        }
    }

    #[test]
    fn what_can_be_read_in_no_one_way_is_no_number() {
        for text in [
            "",
            "-",
            "1,00,000",
            "1,0000",
            "12,345,6",
            "1.000,00.0",
            "1,000'000",
            "0,500",
            "007",
            "1 000",
            "0,000",
            "1..0",
            "1,,000",
            "1,",
            ",1",
            "1.2.3",
            "1.23,456",
            "１,０００",
            "01,000",
            "1,000,00",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
