//! Reads the tables of channels.

use std::borrow::Cow;
use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::DeValue;
use toml::value::{Date, Datetime, Offset, Time};

use super::{Problem, Read, check_keys, choice, name, names, refuse, shown, table, wrong_type};
use crate::authority::Authority;
use crate::names::ToolName;
use crate::policy::SCOPE_MAX;
use crate::policy::channels::{ChannelLine, ChannelPattern, Channels, PatternFlaw, Worth};

const CHANNEL_KEYS: &[&str] = &["authority", "until", "scope"];
/// `Derived` is not among what is suggested: it is known and refused.
const AUTHORITY_WORDS: &[&str] = &["User", "Approved", "Untrusted"];
/// The channels that can be the user: what arrives there can be somebody speaking. Nothing else ever is.
const CAN_BE_USER: &[&str] = &["user", "api"];
/// Whoever can change a file speaks on the one, and the user said of the other that it is not theirs.
const NEVER_UP: &[&str] = &["file-edit", "paste"];

/// Reads one line.
pub(super) fn line(key: &Spanned<Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> Read<ChannelLine> {
    let text = key.get_ref().as_ref();
    let pattern = match ChannelPattern::new(text) {
        Ok(pattern) => pattern,
        Err(PatternFlaw::Name(error)) => return name(key.span(), Err(error)),
        Err(PatternFlaw::Star(why)) => {
            return refuse(key.span(), Problem::ChannelPattern { pattern: shown(text), why });
        }
    };
    let place = format!("channel `{}`", shown(text));
    let table = table(value, &place, "a table, such as [channels.\"mcp:bank\"]")?;
    check_keys(table, CHANNEL_KEYS, &place)?;
    let of = |key: &str| format!("`{key}` of {place}");

    let Some(authority) = table.get("authority") else {
        let hint = r#"write authority = "Approved" or "Untrusted""#;
        return refuse(key.span(), Problem::Missing { place, key: "authority", hint });
    };
    let worth = worth(authority, &of("authority"), &pattern)?;
    let (until, scope) = (table.get("until"), table.get("scope"));
    if worth == Worth::Untrusted
        && let Some((key, value)) =
            until.map(|value| ("until", value)).or(scope.map(|value| ("scope", value)))
    {
        let why = "nothing is granted here, so there is nothing to limit";
        return refuse(value.span(), Problem::Meaningless { key, place, why });
    }
    let needs_end = worth == Worth::Approved || (worth == Worth::User && text != "user");
    if needs_end && until.is_none() {
        let hint = "every way up has an end: write a date, such as until = 2027-03-01";
        return refuse(key.span(), Problem::Missing { place, key: "until", hint });
    }
    let until_ms = match until {
        Some(value) => Some(moment(value, &of("until"))?),
        None => None,
    };
    let scope = match scope {
        Some(value) => Some(tools(value, &of("scope"))?),
        None => None,
    };
    Ok(ChannelLine { pattern, worth, until_ms, scope, why: None })
}

fn worth(value: &Spanned<DeValue<'_>>, what: &str, pattern: &ChannelPattern) -> Read<Worth> {
    let refused = |why: &str| {
        refuse(value.span(), Problem::Refused { what: what.to_owned(), why: why.to_owned() })
    };
    if value.get_ref().as_str() == Some(Authority::Derived.word()) {
        return refused(
            "`Derived` is worked out from everything an entry was made from; no channel has it",
        );
    }
    let authority = choice(value, what, AUTHORITY_WORDS, Authority::from_word)?;
    let worth = match authority {
        Authority::Untrusted => return Ok(Worth::Untrusted),
        Authority::User => Worth::User,
        Authority::Approved => Worth::Approved,
        Authority::Derived => return refused("no channel has it"),
    };
    if Channels::inherits_by_default(pattern) {
        return refused(
            "what such a channel carries has records of its own, and they decide; a policy can only make it `Untrusted`",
        );
    }
    if NEVER_UP.contains(&pattern.as_str()) {
        return refused(
            "what arrives there is looked at one by one and released or adopted; a policy cannot approve it beforehand",
        );
    }
    if worth == Worth::User && !CAN_BE_USER.contains(&pattern.as_str()) {
        return refused("only the channels `user` and `api` can be the user; write `Approved`");
    }
    if pattern.names_anybody() {
        return refused(
            "this would approve everything of its kind, whoever sent it; name which, such as mcp:bank",
        );
    }
    Ok(worth)
}

fn tools(value: &Spanned<DeValue<'_>>, what: &str) -> Read<BTreeSet<ToolName>> {
    let wanted = r#"a list of tools, such as ["bank/pay"]"#;
    let tools = names(value, what, wanted, SCOPE_MAX, ToolName::new)?;
    if tools.is_empty() {
        return refuse(value.span(), Problem::Empty { what: what.to_owned() });
    }
    Ok(tools)
}

/// Milliseconds since 1970 of a date, which begins at midnight UTC, or of a time with its offset.
fn moment(value: &Spanned<DeValue<'_>>, what: &str) -> Read<u64> {
    let DeValue::Datetime(found) = value.get_ref() else {
        return wrong_type(value, what, "a date without quotes, such as 2027-03-01");
    };
    match milliseconds(found) {
        Some(ms) => Ok(ms),
        None => refuse(
            value.span(),
            Problem::Moment { what: what.to_owned(), found: shown(&found.to_string()) },
        ),
    }
}

/// `None` for a time without a date or without an offset, and before 1970.
fn milliseconds(found: &Datetime) -> Option<u64> {
    let midnight = Time { hour: 0, minute: 0, second: Some(0), nanosecond: None };
    let (date, time, offset) = match (found.date, found.time, found.offset) {
        (Some(date), None, None) => (date, midnight, Offset::Z),
        (Some(date), Some(time), Some(offset)) => (date, time, offset),
        _ => return None,
    };
    let offset_minutes = match offset {
        Offset::Z => 0,
        Offset::Custom { minutes } => i64::from(minutes),
    };
    let minutes = (days_since_1970(date) * 24 + i64::from(time.hour)) * 60 + i64::from(time.minute)
        - offset_minutes;
    let seconds = minutes * 60 + i64::from(time.second.unwrap_or_default());
    let ms = seconds * 1000 + i64::from(time.nanosecond.unwrap_or_default() / 1_000_000);
    u64::try_from(ms).ok()
}

/// Days of the Gregorian calendar. Years begin in March here, so that the day that some years have is the last.
fn days_since_1970(date: Date) -> i64 {
    let (month, day) = (i64::from(date.month), i64::from(date.day));
    let year = i64::from(date.year) - i64::from(month <= 2);
    let month = (month + 9) % 12;
    let before_month = (153 * month + 2) / 5;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + before_month + day - 1 - DAYS_BEFORE_1970
}

/// From 1 March of year 0 to 1 January 1970.
const DAYS_BEFORE_1970: i64 = 719_468;
