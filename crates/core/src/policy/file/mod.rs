//! Reads `actum.toml`. Walks the tree that the TOML reader gives, key by key in the order of the file, since a message needs
//! the place of what it complains about and the known keys beside it. Nothing of the file is skipped.

mod channels;
mod cross;
mod steps;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::channels::Channels;
use super::error::{PolicyError, Problem, nearest, shown};
use super::{
    CHANNELS_MAX, CLIENTS_MAX, ELEMENT_MAX, FILE_MAX, PATTERNS_TOTAL_MAX, Policy, Profile,
    SERVERS_MAX, STEPS_MAX, Step, TOOLS_MAX,
};
use crate::names::{ArgumentName, AuthorName, NameError, Namespace, StepName, ToolName};
use cross::Places;

const TOP_KEYS: &[&str] =
    &["version", "namespace", "profile", "steps", "tools", "channels", "clients", "servers"];

pub(super) fn read(text: &str) -> Result<Policy, PolicyError> {
    let placed = |fault: Fault| {
        let (line, column) = place(text, fault.at);
        PolicyError { line, column, problem: fault.problem }
    };
    policy(text).map_err(placed)
}

/// A problem at a byte of the file.
struct Fault {
    at: usize,
    problem: Problem,
}

type Read<T> = Result<T, Fault>;

fn refuse<T>(span: Range<usize>, problem: Problem) -> Read<T> {
    Err(Fault { at: span.start, problem })
}

/// Line and character of a byte, both from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.char_indices().take_while(|&(index, _)| index < at).map(|(_, c)| c);
    before.fold(
        (1, 1),
        |(line, column), c| if c == '\n' { (line + 1, 1) } else { (line, column + 1) },
    )
}

fn policy(text: &str) -> Read<Policy> {
    if text.len() > FILE_MAX {
        return refuse(0..0, Problem::Large { length: text.len(), limit: FILE_MAX });
    }
    let file = DeTable::parse(text).map_err(|error| Fault {
        at: error.span().unwrap_or_default().start,
        problem: Problem::Syntax { message: shown(error.message()) },
    })?;
    let file = file.get_ref();
    check_keys(file, TOP_KEYS, "the file")?;
    version(file)?;

    let namespace = match file.get("namespace") {
        Some(value) => name(value.span(), Namespace::new(string(value, "`namespace`")?))?,
        None => Namespace::default(),
    };
    let profile = match file.get("profile") {
        Some(value) => choice(value, "`profile`", Profile::WORDS, Profile::from_word)?,
        None => Profile::Default,
    };
    let mut places = Places::default();
    let steps = all_steps(file, &mut places)?;
    let tools = all_tools(file, &mut places)?;
    let channels = Channels::new(all_channels(file)?);
    let clients = match file.get("clients") {
        Some(value) => names(value, "`clients`", CLIENTS_FORM, CLIENTS_MAX, AuthorName::new)?,
        None => BTreeSet::new(),
    };
    let trusted = all_servers(file)?;
    let policy = Policy { namespace, profile, steps, tools, channels, clients, trusted };
    // Each table holds for itself; now together.
    cross::check(&policy, &places)?;
    Ok(policy)
}

fn all_steps(file: &DeTable<'_>, places: &mut Places) -> Read<BTreeMap<StepName, Step>> {
    let mut steps = BTreeMap::new();
    let Some(value) = file.get("steps") else { return Ok(steps) };
    let table = table(value, "`steps`", "a table for each step, such as [steps.tests]")?;
    at_most(value.span(), "`steps`", table.len(), STEPS_MAX)?;
    let mut patterns = 0;
    for (key, value) in in_order(table) {
        let step = name(key.span(), StepName::new(key.get_ref()))?;
        let read = steps::step(key.span(), &step, value, places)?;
        patterns += read.command().map_or(0, |rule| rule.passes.output.len());
        at_most(key.span(), "patterns of all steps", patterns, PATTERNS_TOTAL_MAX)?;
        steps.insert(step, read);
    }
    Ok(steps)
}

fn all_tools(file: &DeTable<'_>, places: &mut Places) -> Read<BTreeMap<ToolName, super::ToolRule>> {
    let mut tools = BTreeMap::new();
    let Some(value) = file.get("tools") else { return Ok(tools) };
    let table = table(value, "`tools`", "a table for each tool, such as [tools.\"mail/send\"]")?;
    at_most(value.span(), "`tools`", table.len(), TOOLS_MAX)?;
    for (key, value) in in_order(table) {
        let tool = name(key.span(), ToolName::new(key.get_ref()))?;
        let rule = tools::tool(key.span(), &tool, value, places)?;
        tools.insert(tool, rule);
    }
    Ok(tools)
}

fn all_channels(file: &DeTable<'_>) -> Read<Vec<super::ChannelLine>> {
    let Some(value) = file.get("channels") else { return Ok(Vec::new()) };
    let table =
        table(value, "`channels`", "a table for each channel, such as [channels.\"mcp:bank\"]")?;
    at_most(value.span(), "`channels`", table.len(), CHANNELS_MAX)?;
    in_order(table).into_iter().map(|(key, value)| channels::line(key, value)).collect()
}

const CLIENTS_FORM: &str = "a list of names, such as [\"claude-code\"]";

/// The servers whose hints count.
fn all_servers(file: &DeTable<'_>) -> Read<BTreeSet<AuthorName>> {
    let mut trusted = BTreeSet::new();
    let Some(value) = file.get("servers") else { return Ok(trusted) };
    let servers = table(value, "`servers`", "a table for each server, such as [servers.clinic]")?;
    at_most(value.span(), "`servers`", servers.len(), SERVERS_MAX)?;
    for (key, value) in in_order(servers) {
        let server = name(key.span(), AuthorName::new(key.get_ref()))?;
        let place = format!("server `{server}`");
        let server_table = table(value, &place, "a table, such as hints = \"trusted\"")?;
        check_keys(server_table, &["hints"], &place)?;
        let Some(hints) = server_table.get("hints") else { continue };
        let what = format!("`hints` of {place}");
        if choice(hints, &what, Hints::WORDS, Hints::from_word)? == Hints::Trusted {
            trusted.insert(server);
        }
    }
    Ok(trusted)
}

#[derive(PartialEq, Eq)]
enum Hints {
    Stricter,
    Trusted,
}

impl Hints {
    const WORDS: &[&str] = &["stricter", "trusted"];

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "stricter" => Some(Self::Stricter),
            "trusted" => Some(Self::Trusted),
            _ => None,
        }
    }
}

fn version(file: &DeTable<'_>) -> Read<()> {
    let Some(value) = file.get("version") else {
        let place = "the file".to_owned();
        let hint = "write `version = 1` at the top";
        return refuse(0..0, Problem::Missing { place, key: "version", hint });
    };
    let found = integer(value, "`version`", "version = 1")?;
    if found != Some(1) {
        return refuse(value.span(), Problem::Version { found: written(value) });
    }
    Ok(())
}

/// The entries as they come in the file, so that the first mistake is the one reported.
fn in_order<'t, 'f>(
    table: &'t DeTable<'f>,
) -> Vec<(&'t Spanned<std::borrow::Cow<'f, str>>, &'t Spanned<DeValue<'f>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn check_keys(table: &DeTable<'_>, known: &'static [&'static str], place: &str) -> Read<()> {
    for (key, _) in in_order(table) {
        let name = key.get_ref().as_ref();
        if !known.contains(&name) {
            let nearest = nearest(name, known);
            let place = place.to_owned();
            let problem = Problem::UnknownKey { key: shown(name), place, nearest, known };
            return refuse(key.span(), problem);
        }
    }
    Ok(())
}

/// Refuses a known key where it says nothing.
fn meaningless(
    table: &DeTable<'_>,
    keys: &'static [&'static str],
    place: &str,
    why: &'static str,
) -> Read<()> {
    for (key, _) in in_order(table) {
        if let Some(&name) = keys.iter().find(|name| **name == key.get_ref().as_ref()) {
            let problem = Problem::Meaningless { key: name, place: place.to_owned(), why };
            return refuse(key.span(), problem);
        }
    }
    Ok(())
}

/// One of a few words.
fn choice<T>(
    value: &Spanned<DeValue<'_>>,
    what: &str,
    known: &'static [&'static str],
    from_word: fn(&str) -> Option<T>,
) -> Read<T> {
    let text = string(value, what)?;
    from_word(text).ok_or_else(|| Fault {
        at: value.span().start,
        problem: Problem::UnknownWord {
            what: what.to_owned(),
            word: shown(text),
            nearest: nearest(text, known),
            known,
        },
    })
}

/// A list of names without repetitions.
fn names<T: Ord>(
    value: &Spanned<DeValue<'_>>,
    what: &str,
    wanted: &'static str,
    limit: usize,
    new: fn(&str) -> Result<T, NameError>,
) -> Read<BTreeSet<T>> {
    let list = array(value, what, wanted)?;
    at_most(value.span(), what, list.len(), limit)?;
    let mut names = BTreeSet::new();
    for value in list {
        let text = string(value, &format!("a name in {what}"))?;
        if !names.insert(name(value.span(), new(text))?) {
            return twice(value.span(), what, text);
        }
    }
    Ok(names)
}

fn twice<T>(span: Range<usize>, what: &str, word: &str) -> Read<T> {
    refuse(span, Problem::Twice { what: what.to_owned(), word: shown(word) })
}

/// The name of an argument.
fn argument(value: &Spanned<DeValue<'_>>, what: &str) -> Read<ArgumentName> {
    name(value.span(), ArgumentName::new(string(value, what)?))
}

fn name<T>(span: Range<usize>, name: Result<T, NameError>) -> Read<T> {
    name.map_err(|error| Fault { at: span.start, problem: Problem::Name(error) })
}

fn at_most(span: Range<usize>, what: &str, count: usize, limit: usize) -> Read<()> {
    if count <= limit {
        return Ok(());
    }
    refuse(span, Problem::Many { what: what.to_owned(), count, limit })
}

/// A word of an argument vector.
fn word<'t>(value: &'t Spanned<DeValue<'_>>, what: &str) -> Read<&'t str> {
    limited(value, what, ELEMENT_MAX)
}

fn limited<'t>(value: &'t Spanned<DeValue<'_>>, what: &str, limit: usize) -> Read<&'t str> {
    let text = string(value, what)?;
    if text.len() > limit {
        let what = what.to_owned();
        return refuse(value.span(), Problem::Long { what, length: text.len(), limit });
    }
    Ok(text)
}

fn string<'t>(value: &'t Spanned<DeValue<'_>>, what: &str) -> Read<&'t str> {
    let Some(text) = value.get_ref().as_str() else {
        return wrong_type(value, what, "a text in quotes");
    };
    if text.contains('\0') {
        return refuse(value.span(), Problem::Nul { what: what.to_owned() });
    }
    Ok(text)
}

/// The number; `None` when it does not fit, which no number of this file needs to.
fn integer(value: &Spanned<DeValue<'_>>, what: &str, wanted: &'static str) -> Read<Option<i64>> {
    let Some(number) = value.get_ref().as_integer() else {
        return wrong_type(value, what, wanted);
    };
    Ok(i64::from_str_radix(number.as_str(), number.radix()).ok())
}

/// A number as it stands in the file.
fn written(value: &Spanned<DeValue<'_>>) -> String {
    value.get_ref().as_integer().map(|number| shown(number.as_str())).unwrap_or_default()
}

fn array<'t, 'f>(
    value: &'t Spanned<DeValue<'f>>,
    what: &str,
    wanted: &'static str,
) -> Read<&'t DeArray<'f>> {
    match value.get_ref().as_array() {
        Some(array) => Ok(array),
        None => wrong_type(value, what, wanted),
    }
}

fn table<'t, 'f>(
    value: &'t Spanned<DeValue<'f>>,
    what: &str,
    wanted: &'static str,
) -> Read<&'t DeTable<'f>> {
    match value.get_ref().as_table() {
        Some(table) => Ok(table),
        None => wrong_type(value, what, wanted),
    }
}

fn wrong_type<T>(value: &Spanned<DeValue<'_>>, what: &str, wanted: &'static str) -> Read<T> {
    let found = match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    refuse(value.span(), Problem::Type { what: what.to_owned(), found, wanted })
}
