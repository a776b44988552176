//! Whether a value lies within a limit of a mandate. Every doubt is a no: what cannot be compared is not within.

use regex::Regex;

use crate::event::LimitKind;
use crate::kind::{Number, Url, ValueKind};
use crate::value::Value;

/// Why a limit cannot be granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitFlaw {
    /// Another number of values than the kind of limit has.
    #[error("limit `{kind}` on `{argument}` has {found} values; {wanted}")]
    Values {
        /// On which argument.
        argument: String,
        /// The kind of limit.
        kind: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        wanted: &'static str,
    },
    /// Nothing lies in it.
    #[error("limit `range` on `{argument}`: {why}")]
    Range {
        /// On which argument.
        argument: String,
        /// Why nothing does.
        why: String,
    },
    /// The kind of value has no such limit.
    #[error(
        "limit `{kind}` on `{argument}`: a value of kind {of} has no such limit; use equal, one_of{more}"
    )]
    Kind {
        /// On which argument.
        argument: String,
        /// The kind of limit.
        kind: &'static str,
        /// The kind of value.
        of: ValueKind,
        /// Others that it has.
        more: &'static str,
    },
    /// A text that is not of its kind.
    #[error("limit `{kind}` on `{argument}`: {value} is not a value of kind {of}")]
    Value {
        /// On which argument.
        argument: String,
        /// The kind of limit.
        kind: &'static str,
        /// As it was given, safe to show.
        value: String,
        /// The kind of value.
        of: ValueKind,
    },
}

/// Whether a limit means something for an argument of this kind.
///
/// # Errors
/// [`LimitFlaw`].
pub fn check_limit(
    argument: &str,
    kind: LimitKind,
    values: &[&str],
    of: ValueKind,
) -> Result<(), LimitFlaw> {
    let argument = || argument.to_owned();
    let count = |is_right: bool, wanted| {
        let found = values.len();
        let flaw = || LimitFlaw::Values { argument: argument(), kind: kind.word(), found, wanted };
        if is_right { Ok(()) } else { Err(flaw()) }
    };
    let no_such = |more| Err(LimitFlaw::Kind { argument: argument(), kind: kind.word(), of, more });
    match kind {
        LimitKind::Equal | LimitKind::Prefix | LimitKind::Glob => {
            count(values.len() == 1, "there is one")?;
        }
        LimitKind::OneOf => count(!values.is_empty(), "there is at least one")?,
        LimitKind::Range => {
            count(values.len() == 2, "there are two, the least and the most")?;
            let wrong = |why: String| Err(LimitFlaw::Range { argument: argument(), why });
            let bounds: Vec<Number> =
                values.iter().filter_map(|text| Number::parse(text)).collect();
            let [from, until] = bounds.as_slice() else {
                return wrong("both ends are numbers".to_owned());
            };
            if from > until {
                return wrong(format!("nothing lies from {from} to {until}"));
            }
        }
    }
    match (kind, of) {
        (LimitKind::Prefix, ValueKind::Path | ValueKind::Url | ValueKind::Text)
        | (
            LimitKind::Glob,
            ValueKind::Path | ValueKind::Url | ValueKind::Text | ValueKind::Email,
        )
        | (LimitKind::Range, ValueKind::Number | ValueKind::Text)
        | (LimitKind::Equal | LimitKind::OneOf, _) => {}
        (LimitKind::Prefix | LimitKind::Range, ValueKind::Email) => return no_such(" or glob"),
        (LimitKind::Prefix | LimitKind::Glob, ValueKind::Number) => return no_such(" or range"),
        (LimitKind::Prefix | LimitKind::Glob | LimitKind::Range, ValueKind::Account) => {
            return no_such("");
        }
        (LimitKind::Range, ValueKind::Path | ValueKind::Url) => {
            return no_such(", prefix or glob");
        }
    }
    let must_be_of_its_kind = match kind {
        LimitKind::Equal | LimitKind::OneOf | LimitKind::Prefix => true,
        LimitKind::Glob | LimitKind::Range => false,
    };
    match values.iter().find(|text| of.normal(text).is_none()) {
        Some(text) if must_be_of_its_kind => Err(LimitFlaw::Value {
            argument: argument(),
            kind: kind.word(),
            value: Value::from(*text).to_string(),
            of,
        }),
        Some(_) | None => Ok(()),
    }
}

/// Whether a value lies within a limit. Of a list each element has to, and there is one; a map never does.
pub(super) fn is_within(
    value: &Value,
    kind: LimitKind,
    values: &[Box<str>],
    of: ValueKind,
) -> bool {
    match value {
        Value::Null | Value::Map(_) => false,
        Value::Bool(flag) => match kind {
            LimitKind::Equal | LimitKind::OneOf => {
                values.iter().any(|text| **text == *flag.to_string())
            }
            LimitKind::Range | LimitKind::Prefix | LimitKind::Glob => false,
        },
        Value::List(items) => {
            !items.is_empty()
                && items.iter().all(|item| {
                    !matches!(item, Value::List(_)) && is_within(item, kind, values, of)
                })
        }
        Value::Number(number) => match kind {
            LimitKind::Equal | LimitKind::OneOf => {
                values.iter().any(|text| Number::parse(text).as_ref() == Some(number))
            }
            LimitKind::Range => in_range(number, values),
            LimitKind::Prefix | LimitKind::Glob => false,
        },
        Value::Text(text) => text_is_within(text, kind, values, of),
    }
}

fn in_range(number: &Number, values: &[Box<str>]) -> bool {
    let [from, until] = values else { return false };
    match (Number::parse(from), Number::parse(until)) {
        (Some(from), Some(until)) => from <= *number && *number <= until,
        (_, _) => false,
    }
}

fn text_is_within(text: &str, kind: LimitKind, values: &[Box<str>], of: ValueKind) -> bool {
    let Some(normal) = of.normal(text) else { return false };
    match kind {
        LimitKind::Equal | LimitKind::OneOf => {
            values.iter().any(|value| of.normal(value).as_ref() == Some(&normal))
        }
        LimitKind::Range => Number::parse(text).is_some_and(|number| in_range(&number, values)),
        LimitKind::Prefix => {
            let prefix = values.first().and_then(|value| of.normal(value));
            prefix.is_some_and(|prefix| begins_with(&normal, &prefix, of))
        }
        LimitKind::Glob => values.first().is_some_and(|glob| matches(&normal, glob, of)),
    }
}

/// At a boundary: `/srv/a` begins `/srv/a/b`, not `/srv/ab`; `https://x.example` begins nothing at `x.example.evil`.
fn begins_with(normal: &str, prefix: &str, of: ValueKind) -> bool {
    let Some(rest) = normal.strip_prefix(prefix) else { return false };
    let at_boundary = |ends: &[char]| rest.is_empty() || rest.starts_with(ends);
    match of {
        ValueKind::Path => {
            // A normal path keeps `..` only in front, where it climbs out of whatever the prefix names.
            prefix.ends_with('/') && !rest.starts_with("..") || at_boundary(&['/'])
        }
        ValueKind::Url => {
            let origin = |text: &str| Url::parse(text).map(|url| url.origin());
            origin(normal) == origin(prefix)
                && (prefix.ends_with('/') || at_boundary(&['/', '?', '#']))
        }
        ValueKind::Text => rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_'),
        ValueKind::Account | ValueKind::Email | ValueKind::Number => false,
    }
}

/// `*` stays within a part - between slashes, or on one side of an `@` -, `**` goes over parts.
fn matches(normal: &str, glob: &str, of: ValueKind) -> bool {
    let within_part = match of {
        ValueKind::Path | ValueKind::Url => "[^/?#]*",
        ValueKind::Email => "[^@]*",
        ValueKind::Text | ValueKind::Account | ValueKind::Number => r"[^\s/]*",
    };
    let pieces: Vec<String> = glob
        .split("**")
        .map(|piece| piece.split('*').map(regex::escape).collect::<Vec<_>>().join(within_part))
        .collect();
    let climbs = of == ValueKind::Path && normal.split('/').any(|part| part == "..");
    let pattern = Regex::new(&format!("(?s)^{}$", pieces.join(".*")));
    !climbs && pattern.is_ok_and(|pattern| pattern.is_match(normal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(value: &str, kind: LimitKind, limit: &str, of: ValueKind) -> bool {
        let value = Number::parse(value).map_or_else(|| value.into(), Value::Number);
        let values: Vec<Box<str>> = limit.split('|').map(Into::into).collect();
        is_within(&value, kind, &values, of)
    }

    #[test]
    fn limits_hold_at_their_boundaries() {
        use LimitKind::{Equal, Glob, OneOf, Prefix, Range};
        use ValueKind::{Account, Email, Number, Path, Text, Url};
        let yes = [
            ("DE89 3704 0044 0532 0130 00", Equal, "DE89370400440532013000", Account),
            ("bob", OneOf, "alice|bob", Text),
            ("13", Range, "0|13.0", Number),
            ("/srv/a/b", Prefix, "/srv/a", Path),
            ("/srv/a", Prefix, "/srv/a", Path),
            ("/srv/./a/x/../b", Prefix, "/srv/a/", Path),
            ("https://X.example/a?q=1", Prefix, "https://x.example", Url),
            ("alice@x.example", Glob, "*@x.example", Email),
            ("/srv/a/b.txt", Glob, "/srv/*/*.txt", Path),
            ("/srv/a/b/c.txt", Glob, "/srv/**.txt", Path),
            ("git push origin", Prefix, "git push", Text),
        ];
        for (value, kind, limit, of) in yes {
            assert!(within(value, kind, limit, of), "{value} {limit}");
        }
        let no = [
            ("DE12500105170648489890", Equal, "DE89370400440532013000", Account),
            ("bob2", OneOf, "alice|bob", Text),
            ("13.01", Range, "0|13", Number),
            ("-1", Range, "0|13", Number),
            ("/srv/ab", Prefix, "/srv/a", Path),
            ("/srv/a/../b", Prefix, "/srv/a", Path),
            ("../a", Prefix, "./", Path),
            ("https://x.example.evil/", Prefix, "https://x.example", Url),
            ("https://x.example@evil/", Prefix, "https://x.example", Url),
            ("alice@x.example.evil", Glob, "*@x.example", Email),
            ("a@evil@x.example", Glob, "*@x.example", Email),
            ("/srv/a/b/c.txt", Glob, "/srv/*/*.txt", Path),
            ("../x.txt", Glob, "**.txt", Path),
            ("git pushy", Prefix, "git push", Text),
            ("13", Prefix, "1", Number),
        ];
        for (value, kind, limit, of) in no {
            assert!(!within(value, kind, limit, of), "{value} {limit}");
        }
    }

    #[test]
    fn a_list_is_within_if_each_of_it_is() {
        let limit = ["a@x.example".into(), "b@x.example".into()];
        let within = |items: &[&str]| {
            let list = Value::List(items.iter().map(|&item| item.into()).collect());
            is_within(&list, LimitKind::OneOf, &limit, ValueKind::Email)
        };
        assert!(within(&["a@x.example", "b@X.example"]));
        assert!(!within(&[]) && !within(&["a@x.example", "c@x.example"]));
    }

    #[test]
    fn a_limit_that_means_nothing_is_refused() {
        use LimitKind::{Equal, Glob, OneOf, Prefix, Range};
        for (kind, values, of) in [
            (Equal, vec!["a", "b"], ValueKind::Text),
            (OneOf, vec![], ValueKind::Text),
            (Range, vec!["5"], ValueKind::Number),
            (Range, vec!["9", "5"], ValueKind::Number),
            (Range, vec!["a", "b"], ValueKind::Number),
            (Prefix, vec!["DE"], ValueKind::Account),
            (Glob, vec!["1*"], ValueKind::Number),
            (Prefix, vec!["a"], ValueKind::Email),
            (Equal, vec!["not a url"], ValueKind::Url),
        ] {
            assert!(check_limit("x", kind, &values, of).is_err(), "{kind:?} {values:?}");
        }
        assert!(check_limit("x", Range, &["5", "9"], ValueKind::Number).is_ok());
    }
}
