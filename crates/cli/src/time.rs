//! Times as a person reads and writes them.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

fn timestamp(ms: u64) -> Timestamp {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
}

/// A moment in the person's own time zone.
pub(crate) fn local(ms: u64) -> String {
    timestamp(ms).to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A moment in UTC, for programs.
pub(crate) fn utc(ms: u64) -> String {
    timestamp(ms).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// How long ago, in one unit.
pub(crate) fn ago(ms: u64, now_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(ms) / 1000;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// The time of day of a moment in the person's own time zone.
pub(crate) fn clock(ms: u64) -> String {
    timestamp(ms).to_zoned_datetime(TimeZone::system()).strftime("%H:%M:%S").to_string()
}

/// The day of a moment in the person's own time zone.
pub(crate) fn day(ms: u64) -> String {
    timestamp(ms).to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d").to_string()
}

/// Reads `90s`, `5m`, `2h 30m`, `7d`. A day is 24 hours.
///
/// # Errors
/// What a duration looks like.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    let parsed: Result<SignedDuration, _> = match days {
        Some(days) => Ok(SignedDuration::from_hours(i64::from(days) * 24)),
        None => text.parse(),
    };
    let length = parsed.ok().and_then(|length| Duration::try_from(length).ok());
    length
        .filter(|length| !length.is_zero())
        .ok_or_else(|| "write it as 90s, 5m, 2h or 7d".to_owned())
}

/// Reads a moment, such as `2026-05-03T12:00:00Z`, in ms since 1970.
///
/// # Errors
/// What a moment looks like.
pub(crate) fn instant(text: &str) -> Result<u64, String> {
    let parsed: Result<Timestamp, _> = text.parse();
    let ms = parsed.ok().and_then(|moment| u64::try_from(moment.as_millisecond()).ok());
    ms.ok_or_else(|| "write it as 2026-05-03T12:00:00Z".to_owned())
}
