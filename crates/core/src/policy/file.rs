//! Reads `actum.toml`. Walks the tree that the TOML reader gives, key by key in the order of the file, since a message needs
//! the place of what it complains about and the known keys beside it. Nothing of the file is skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::{PolicyError, Problem, nearest, shown};
use super::{
    ALLOW_MAX, COMMANDS_MAX, ELEMENT_MAX, ELEMENTS_MAX, ENV_MAX, ENV_NAME_MAX, Element, FILE_MAX,
    LIFETIME_MAX, LIFETIME_MIN, PATTERN_MAX, PATTERNS_MAX, PATTERNS_TOTAL_MAX, Passes, Pattern,
    Policy, Rule, STEPS_MAX, caution,
};
use crate::names::{Namespace, StepName, SubjectKind, SubjectName};

/// The keys of one kind of table: those that are read, and those of DESIGN that a later version will read.
struct Keys {
    known: &'static [&'static str],
    later: &'static [&'static str],
}

const TOP_KEYS: Keys =
    Keys { known: &["version", "namespace", "steps"], later: &["tools", "channels"] };
const STEP_KEYS: Keys = Keys {
    known: &["commands", "allow", "env", "subject", "lifetime", "passes"],
    later: &["tool", "binds", "all_of", "any_of"],
};
const PASSES_KEYS: Keys = Keys { known: &["exit", "output"], later: &[] };
const SUBJECT_WORDS: &[&str] = &["git", "file", "dir", "text"];

pub(super) fn read(text: &str) -> Result<Policy, PolicyError> {
    policy(text).map_err(|fault| {
        let (line, column) = place(text, fault.at);
        PolicyError { line, column, problem: fault.problem }
    })
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
    check_keys(file, &TOP_KEYS, "the file")?;
    version(file)?;

    let namespace = match file.get("namespace") {
        Some(value) => name(value.span(), Namespace::new(string(value, "`namespace`")?))?,
        None => name(0..0, Namespace::new("local/default"))?,
    };
    let mut steps = BTreeMap::new();
    let mut patterns = 0;
    if let Some(value) = file.get("steps") {
        let table = table(value, "`steps`", "a table for each step, such as [steps.tests]")?;
        at_most(value.span(), "`steps`", table.len(), STEPS_MAX)?;
        for (key, value) in in_order(table) {
            let step = name(key.span(), StepName::new(key.get_ref()))?;
            let rule = rule(key.span(), &format!("step `{step}`"), value)?;
            patterns += rule.passes.output.len();
            at_most(key.span(), "patterns of all steps", patterns, PATTERNS_TOTAL_MAX)?;
            steps.insert(step, rule);
        }
    }
    Ok(Policy { namespace, steps })
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

fn rule(key: Range<usize>, place: &str, value: &Spanned<DeValue<'_>>) -> Read<Rule> {
    let table = table(value, place, "a table, such as [steps.tests]")?;
    check_keys(table, &STEP_KEYS, place)?;
    let of = |key: &str| format!("`{key}` of {place}");

    let Some(value) = table.get("commands") else {
        let place = place.to_owned();
        let hint = r#"write commands = [["program", "argument"]]"#;
        return refuse(key, Problem::Missing { place, key: "commands", hint });
    };
    let commands = commands(value, &of("commands"))?;
    let allow = match table.get("allow") {
        Some(value) => allow(value, &of("allow"))?,
        None => BTreeSet::new(),
    };
    let env = match table.get("env") {
        Some(value) => env(value, &of("env"))?,
        None => BTreeSet::new(),
    };
    let (subject, fixed) = match table.get("subject") {
        Some(value) => subject(value, &of("subject"))?,
        None => (SubjectKind::Git, None),
    };
    let bound = |command: &Vec<Element>| command.contains(&Element::Subject);
    if subject != SubjectKind::Git && fixed.is_none() && !commands.iter().all(bound) {
        let kind = subject.word();
        return refuse(value.span(), Problem::Unbound { what: of("commands"), kind });
    }
    let lifetime = match table.get("lifetime") {
        Some(value) => Some(lifetime(value, &of("lifetime"))?),
        None => None,
    };
    let passes = match table.get("passes") {
        Some(value) => passes(value, &of("passes"))?,
        None => Passes { exit: BTreeSet::from([0]), output: Vec::new() },
    };
    Ok(Rule { commands, allow, env, subject, fixed, lifetime, passes })
}

fn commands(value: &Spanned<DeValue<'_>>, what: &str) -> Read<Vec<Vec<Element>>> {
    const WANTED: &str = r#"a list of commands, each a list of words, such as [["cargo", "test"]]"#;
    let list = array(value, what, WANTED)?;
    at_most(value.span(), what, list.len(), COMMANDS_MAX)?;
    let mut commands = Vec::with_capacity(list.len());
    for value in list {
        let what = format!("a command in {what}");
        let command = command(value, &what, array(value, &what, WANTED)?)?;
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    if commands.is_empty() {
        return refuse(value.span(), Problem::Empty { what: what.to_owned() });
    }
    Ok(commands)
}

fn command(value: &Spanned<DeValue<'_>>, what: &str, words: &DeArray<'_>) -> Read<Vec<Element>> {
    at_most(value.span(), what, words.len(), ELEMENTS_MAX)?;
    let mut elements = Vec::with_capacity(words.len());
    for value in words {
        elements.push(match word(value, &format!("a word of {what}"))? {
            "*" => Element::Any,
            "{subject}" => Element::Subject,
            exact => Element::Exact(exact.to_owned()),
        });
    }
    match elements.first() {
        None => return refuse(value.span(), Problem::Empty { what: what.to_owned() }),
        Some(Element::Any | Element::Subject) => {
            return refuse(word_span(value, words, 0), Problem::AnyProgram);
        }
        Some(Element::Exact(program)) if program.is_empty() => {
            let what = format!("the program of {what}");
            return refuse(word_span(value, words, 0), Problem::Empty { what });
        }
        Some(Element::Exact(_)) => {}
    }
    if let Some((index, why)) = caution::unsafe_any(&elements) {
        return refuse(word_span(value, words, index), Problem::AnyCommand { why });
    }
    Ok(elements)
}

fn word_span(command: &Spanned<DeValue<'_>>, words: &DeArray<'_>, index: usize) -> Range<usize> {
    words.get(index).map_or_else(|| command.span(), Spanned::span)
}

fn allow(value: &Spanned<DeValue<'_>>, what: &str) -> Read<BTreeSet<String>> {
    let list = array(value, what, r#"a list of arguments, such as ["--release"]"#)?;
    at_most(value.span(), what, list.len(), ALLOW_MAX)?;
    let mut allow = BTreeSet::new();
    for value in list {
        let word = word(value, &format!("an argument in {what}"))?;
        if matches!(word, "*" | "{subject}") {
            return refuse(value.span(), Problem::AnyAllowed);
        }
        allow.insert(word.to_owned());
    }
    Ok(allow)
}

fn env(value: &Spanned<DeValue<'_>>, what: &str) -> Read<BTreeSet<String>> {
    let list = array(value, what, r#"a list of names, such as ["RUSTFLAGS"]"#)?;
    at_most(value.span(), what, list.len(), ENV_MAX)?;
    let mut env = BTreeSet::new();
    for value in list {
        let what = format!("a name in {what}");
        let name = limited(value, &what, ENV_NAME_MAX)?;
        let odd = |c: char| c == '=' || c.is_whitespace() || c.is_control();
        if name.is_empty() || name.contains(odd) {
            return refuse(value.span(), Problem::EnvName { name: shown(name) });
        }
        if let Some(effect) = caution::unsafe_env(name) {
            return refuse(value.span(), Problem::EnvRefused { name: shown(name), effect });
        }
        env.insert(name.to_owned());
    }
    Ok(env)
}

fn subject(value: &Spanned<DeValue<'_>>, what: &str) -> Read<(SubjectKind, Option<SubjectName>)> {
    let text = string(value, what)?;
    if text.starts_with("args.") {
        let what = format!("{what}: `{}`", shown(text));
        return refuse(value.span(), Problem::NotYet { what });
    }
    if text.contains(':') {
        return match SubjectName::parse(text) {
            // There is one work tree: `git:HEAD` says no more than `git`.
            Ok(name) if name.kind() == SubjectKind::Git => Ok((SubjectKind::Git, None)),
            Ok(name) => Ok((name.kind(), Some(name))),
            Err(error) => refuse(value.span(), Problem::Name(error)),
        };
    }
    match SubjectKind::from_word(text) {
        Some(kind) => Ok((kind, None)),
        None => refuse(
            value.span(),
            Problem::UnknownWord {
                what: what.to_owned(),
                word: shown(text),
                nearest: nearest(text, SUBJECT_WORDS),
                known: SUBJECT_WORDS,
            },
        ),
    }
}

fn lifetime(value: &Spanned<DeValue<'_>>, what: &str) -> Read<Duration> {
    let text = string(value, what)?;
    let unreadable =
        || Fault { at: value.span().start, problem: Problem::Lifetime { text: shown(text) } };
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit_s: u64 = match text.strip_prefix(digits) {
        Some("s") => 1,
        Some("m") => 60,
        Some("h") => 60 * 60,
        Some("d") => 24 * 60 * 60,
        _ => return Err(unreadable()),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(unreadable());
    }
    // Digits only, so what does not fit is too long.
    let seconds = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_s));
    match seconds.map(Duration::from_secs) {
        Some(lifetime) if (LIFETIME_MIN..=LIFETIME_MAX).contains(&lifetime) => Ok(lifetime),
        Some(_) | None => refuse(value.span(), Problem::LifetimeLimit { text: shown(text) }),
    }
}

fn passes(value: &Spanned<DeValue<'_>>, what: &str) -> Read<Passes> {
    let table = table(value, what, r#"a table, such as { exit = [0], output = ["passed"] }"#)?;
    check_keys(table, &PASSES_KEYS, what)?;
    let exit = match table.get("exit") {
        Some(value) => exit(value, &format!("`exit` in {what}"))?,
        None => BTreeSet::from([0]),
    };
    let output = match table.get("output") {
        Some(value) => output(value, &format!("`output` in {what}"))?,
        None => Vec::new(),
    };
    Ok(Passes { exit, output })
}

fn exit(value: &Spanned<DeValue<'_>>, what: &str) -> Read<BTreeSet<i32>> {
    const WANTED: &str = "a list of numbers, such as [0]";
    let mut exit = BTreeSet::new();
    for value in array(value, what, WANTED)? {
        let code = integer(value, &format!("a code in {what}"), "a number, such as 0")?;
        match code.and_then(|code| u8::try_from(code).ok()) {
            Some(code) => exit.insert(i32::from(code)),
            None => return refuse(value.span(), Problem::Exit { found: written(value) }),
        };
    }
    if exit.is_empty() {
        return refuse(value.span(), Problem::Empty { what: what.to_owned() });
    }
    Ok(exit)
}

fn output(value: &Spanned<DeValue<'_>>, what: &str) -> Read<Vec<Pattern>> {
    let list = array(value, what, r#"a list of patterns, such as ["[1-9][0-9]* passed"]"#)?;
    at_most(value.span(), what, list.len(), PATTERNS_MAX)?;
    let mut output: Vec<Pattern> = Vec::with_capacity(list.len());
    for value in list {
        let what = format!("a pattern in {what}");
        let text = limited(value, &what, PATTERN_MAX)?;
        if text.is_empty() {
            return refuse(value.span(), Problem::Empty { what });
        }
        let pattern = Pattern::new(text).map_err(|reason| Fault {
            at: value.span().start,
            problem: Problem::Pattern { pattern: shown(text), reason },
        })?;
        if pattern.matches_anything() {
            return refuse(value.span(), Problem::MatchesAnything { pattern: shown(text) });
        }
        if output.iter().all(|known| known.as_str() != text) {
            output.push(pattern);
        }
    }
    Ok(output)
}

/// The entries as they come in the file, so that the first mistake is the one reported.
fn in_order<'t, 'f>(
    table: &'t DeTable<'f>,
) -> Vec<(&'t Spanned<std::borrow::Cow<'f, str>>, &'t Spanned<DeValue<'f>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn check_keys(table: &DeTable<'_>, keys: &Keys, place: &str) -> Read<()> {
    for (key, _) in in_order(table) {
        let name = key.get_ref().as_ref();
        if keys.known.contains(&name) {
            continue;
        }
        let place = place.to_owned();
        let problem = if keys.later.contains(&name) {
            Problem::NotYet { what: format!("`{name}` in {place}") }
        } else {
            let nearest = nearest(name, keys.known);
            Problem::UnknownKey { key: shown(name), place, nearest, known: keys.known }
        };
        return refuse(key.span(), problem);
    }
    Ok(())
}

fn name<T>(span: Range<usize>, name: Result<T, crate::names::NameError>) -> Read<T> {
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
