//! Reads the tables of steps.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::cross::Places;
use super::{
    Fault, Problem, Read, array, at_most, check_keys, choice, in_order, integer, limited,
    meaningless, name, names, refuse, shown, string, table, word, written,
};
use crate::names::{ArgumentName, StepName, SubjectKind, SubjectName, ToolName};
use crate::policy::{
    ALLOW_MAX, AllOf, COMMANDS_MAX, ELEMENTS_MAX, ENV_MAX, ENV_NAME_MAX, Element, LIFETIME_MAX,
    LIFETIME_MIN, PARTS_MAX, PATTERN_MAX, PATTERNS_MAX, Passes, Pattern, Rule, Step, ToolStep,
    caution,
};

const STEP_KEYS: &[&str] =
    &["commands", "allow", "env", "subject", "lifetime", "passes", "tool", "binds", "all_of"];
/// A step has exactly one of these.
const FORMS: &[&str] = &["commands", "tool", "all_of"];
const NOT_OF_TOOLS: &[&str] = &["allow", "env", "passes"];
const NOT_OF_ALL: &[&str] = &["allow", "env", "passes", "subject", "binds", "lifetime"];
const PASSES_KEYS: &[&str] = &["exit", "output"];
const SUBJECT_WORDS: &[&str] = &["git", "file", "dir", "text"];

/// Reads one step: commands, a tool, or other steps.
pub(super) fn step(
    key: Range<usize>,
    name: &StepName,
    value: &Spanned<DeValue<'_>>,
    places: &mut Places,
) -> Read<Step> {
    let place = &format!("step `{name}`");
    let table = table(value, place, "a table, such as [steps.tests]")?;
    check_keys(table, STEP_KEYS, place)?;
    places.steps.insert(name.clone(), key.start);
    let mut forms = in_order(table).into_iter().filter_map(|(key, value)| {
        let form = FORMS.iter().find(|form| **form == key.get_ref().as_ref())?;
        Some((key, *form, value))
    });
    let form = forms.next();
    if let (Some((_, one, _)), Some((key, other, _))) = (&form, forms.next()) {
        return refuse(key.span(), Problem::TwoForms { place: place.clone(), one, other });
    }
    match form {
        Some((_, "tool", value)) => Ok(Step::Tool(tool_step(key, place, table, value)?)),
        Some((_, "all_of", value)) => {
            let why = "it is what its parts are";
            meaningless(table, NOT_OF_ALL, place, why)?;
            let parts = parts(value, place)?;
            places.all_of.push((value.span().start, name.clone()));
            Ok(Step::AllOf(AllOf { parts }))
        }
        Some((_, _, value)) => {
            meaningless(table, &["binds"], place, "a command has no arguments by name")?;
            Ok(Step::Command(rule(place, table, value)?))
        }
        None => {
            let hint = r#"write commands = [["program", "argument"]], or `tool`, or `all_of`"#;
            let place = place.clone();
            refuse(key, Problem::Missing { place, key: "commands", hint })
        }
    }
}

fn tool_step(
    key: Range<usize>,
    place: &str,
    table: &DeTable<'_>,
    tool: &Spanned<DeValue<'_>>,
) -> Read<ToolStep> {
    meaningless(table, NOT_OF_TOOLS, place, "it is for commands, and this step is a tool")?;
    let of = |key: &str| format!("`{key}` of {place}");
    let tool = name(tool.span(), ToolName::new(string(tool, &of("tool"))?))?;
    let Some(subject) = table.get("subject") else {
        let hint = "write subject = \"args.NAME\", the argument that names it";
        let place = place.to_owned();
        return refuse(key, Problem::Missing { place, key: "subject", hint });
    };
    let subject = of_args(subject, &of("subject"))?;
    let binds = match table.get("binds") {
        Some(value) => {
            let binds = of_args(value, &of("binds"))?;
            if binds == subject {
                let why = "it is the subject already; leave it out".to_owned();
                return refuse(value.span(), Problem::Refused { what: of("binds"), why });
            }
            Some(binds)
        }
        None => None,
    };
    let lifetime = match table.get("lifetime") {
        Some(value) => Some(lifetime(value, &of("lifetime"))?),
        None => None,
    };
    Ok(ToolStep { tool, subject, binds, lifetime })
}

fn parts(value: &Spanned<DeValue<'_>>, place: &str) -> Read<BTreeSet<StepName>> {
    let what = format!("`all_of` of {place}");
    let wanted = r#"a list of steps, such as ["unit", "lint"]"#;
    let parts = names(value, &what, wanted, PARTS_MAX, StepName::new)?;
    if parts.is_empty() {
        return refuse(value.span(), Problem::Empty { what });
    }
    Ok(parts)
}

fn rule(place: &str, table: &DeTable<'_>, value: &Spanned<DeValue<'_>>) -> Read<Rule> {
    let of = |key: &str| format!("`{key}` of {place}");
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

/// A kind of subject, or the one subject.
fn subject(value: &Spanned<DeValue<'_>>, what: &str) -> Read<(SubjectKind, Option<SubjectName>)> {
    let text = string(value, what)?;
    if text.starts_with("args.") {
        let why = "only a step with `tool` has arguments".to_owned();
        return refuse(value.span(), Problem::Refused { what: what.to_owned(), why });
    }
    if text.contains(':') {
        let subject = name(value.span(), SubjectName::parse(text))?;
        // There is one work tree: `git:HEAD` says no more than `git`.
        let fixed = (subject.kind() != SubjectKind::Git).then(|| subject.clone());
        return Ok((subject.kind(), fixed));
    }
    Ok((choice(value, what, SUBJECT_WORDS, SubjectKind::from_word)?, None))
}

/// `args.NAME`.
fn of_args(value: &Spanned<DeValue<'_>>, what: &str) -> Read<ArgumentName> {
    let text = string(value, what)?;
    let Some(argument) = text.strip_prefix("args.") else {
        let problem = Problem::NotArgs { what: what.to_owned(), text: shown(text) };
        return refuse(value.span(), problem);
    };
    name(value.span(), ArgumentName::new(argument))
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
    check_keys(table, PASSES_KEYS, what)?;
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
