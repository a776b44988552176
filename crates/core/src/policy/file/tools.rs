//! Reads the tables of tools.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::cross::Places;
use super::{
    Problem, Read, argument, array, at_most, check_keys, choice, in_order, meaningless, name,
    names, refuse, string, table, twice,
};
use crate::names::{ArgumentName, StepName, ToolName};
use crate::policy::{
    ARGUMENTS_MAX, Binding, Fetch, Mode, OnMissing, REQUIRES_MAX, Requirement, ToolClass,
    ToolResult, ToolRule, ValueKind, Verification,
};

const TOOL_KEYS: &[&str] = &[
    "class",
    "binding",
    "outgoing",
    "kinds",
    "requires",
    "verify",
    "mode",
    "result",
    "on_missing",
    "fetch",
];
const NOT_OF_READS: &[&str] =
    &["binding", "outgoing", "requires", "verify", "mode", "on_missing", "fetch"];
const REQUIRES_KEYS: &[&str] = &["step", "subject", "binds"];
const VERIFY_KEYS: &[&str] = &["step", "with"];
const KIND_WORDS: &[&str] = &["text", "account", "email", "url", "path", "number"];
const ARGUMENTS: &str = r#"a list of arguments, such as ["payee", "amount"]"#;

/// Reads how the calls of one tool are judged.
pub(super) fn tool(
    key: Range<usize>,
    tool: &ToolName,
    value: &Spanned<DeValue<'_>>,
    places: &mut Places,
) -> Read<ToolRule> {
    let place = &format!("tool `{tool}`");
    let table = table(value, place, "a table, such as [tools.\"mail/send\"]")?;
    check_keys(table, TOOL_KEYS, place)?;
    places.tools.insert(tool.clone(), key.start);
    let of = |key: &str| format!("`{key}` of {place}");

    let Some(value) = table.get("class") else {
        let hint = r#"write class = "read", "fetch" or "effect""#;
        return refuse(key, Problem::Missing { place: place.clone(), key: "class", hint });
    };
    let class = choice(value, &of("class"), ToolClass::WORDS, ToolClass::from_word)?;
    match class {
        ToolClass::Read => {
            let why = "a read is allowed before anything else is asked";
            meaningless(table, NOT_OF_READS, place, why)?;
        }
        ToolClass::Effect => meaningless(table, &["fetch"], place, "it is not a fetch")?,
        ToolClass::Fetch => {}
    }
    let binding = match table.get("binding") {
        Some(value) => binding(value, &of("binding"))?,
        None if class == ToolClass::Read => Binding::Only(BTreeSet::new()),
        None => Binding::All,
    };
    let outgoing = match table.get("outgoing") {
        Some(value) => outgoing(value, &of("outgoing"), &binding)?,
        None => BTreeSet::new(),
    };
    let kinds = match table.get("kinds") {
        Some(value) => kinds(value, &of("kinds"))?,
        None => BTreeMap::new(),
    };
    let requires = match table.get("requires") {
        Some(value) => requires(value, &of("requires"), tool, places)?,
        None => BTreeSet::new(),
    };
    let verify = match table.get("verify") {
        Some(value) => verify(value, &of("verify"), tool, &binding, places)?,
        None => BTreeMap::new(),
    };
    let mode = match table.get("mode") {
        Some(value) => choice(value, &of("mode"), Mode::WORDS, Mode::from_word)?,
        None => Mode::Argument,
    };
    let result = match table.get("result") {
        Some(value) => choice(value, &of("result"), ToolResult::WORDS, ToolResult::from_word)?,
        None => ToolResult::Relay,
    };
    let on_missing = match table.get("on_missing") {
        Some(value) => {
            let word = choice(value, &of("on_missing"), OnMissing::WORDS, OnMissing::from_word)?;
            if word == OnMissing::Run {
                places.on_missing.push((value.span().start, tool.clone()));
            }
            word
        }
        None => OnMissing::Deny,
    };
    let fetch = match table.get("fetch") {
        Some(value) => choice(value, &of("fetch"), Fetch::WORDS, Fetch::from_word)?,
        None => Fetch::Judged,
    };
    Ok(ToolRule {
        listed: true,
        class,
        binding,
        outgoing,
        kinds,
        requires,
        verify,
        mode,
        result,
        on_missing,
        fetch,
    })
}

fn arguments(value: &Spanned<DeValue<'_>>, what: &str) -> Read<BTreeSet<ArgumentName>> {
    names(value, what, ARGUMENTS, ARGUMENTS_MAX, ArgumentName::new)
}

fn binding(value: &Spanned<DeValue<'_>>, what: &str) -> Read<Binding> {
    let arguments = arguments(value, what)?;
    if arguments.is_empty() {
        // Nothing bound is the strictest case of the gate, and whoever writes `[]` may well mean the opposite.
        let why = "without a binding argument every call is judged by the whole context; write mode = \"context\" to say so, or list the arguments that decide on whom, on what or how much".to_owned();
        return refuse(value.span(), Problem::Refused { what: what.to_owned(), why });
    }
    Ok(Binding::Only(arguments))
}

fn outgoing(
    value: &Spanned<DeValue<'_>>,
    what: &str,
    binding: &Binding,
) -> Read<BTreeSet<ArgumentName>> {
    let outgoing = arguments(value, what)?;
    let Some(both) = outgoing.iter().find(|argument| binding.binds(argument)) else {
        return Ok(outgoing);
    };
    let why = match binding {
        Binding::All => {
            "every argument binds already, and as a whole; list in `binding` those that do"
                .to_owned()
        }
        Binding::Only(_) => {
            format!("`{both}` is in `binding` too, where it binds as a whole; take it out of one")
        }
    };
    refuse(value.span(), Problem::Refused { what: what.to_owned(), why })
}

fn kinds(value: &Spanned<DeValue<'_>>, what: &str) -> Read<BTreeMap<ArgumentName, ValueKind>> {
    let table = table(value, what, r#"a table, such as { payee = "account" }"#)?;
    at_most(value.span(), what, table.len(), ARGUMENTS_MAX)?;
    let mut kinds = BTreeMap::new();
    for (key, value) in in_order(table) {
        let argument = name(key.span(), ArgumentName::new(key.get_ref()))?;
        let what = format!("the kind of `{argument}` in {what}");
        kinds.insert(argument, choice(value, &what, KIND_WORDS, ValueKind::from_word)?);
    }
    Ok(kinds)
}

fn requires(
    value: &Spanned<DeValue<'_>>,
    what: &str,
    tool: &ToolName,
    places: &mut Places,
) -> Read<BTreeSet<Requirement>> {
    const WANTED: &str = r#"a list of tables, such as [{ step = "validate", subject = "source" }]"#;
    let list = array(value, what, WANTED)?;
    at_most(value.span(), what, list.len(), REQUIRES_MAX)?;
    let mut requires = BTreeSet::new();
    for value in list {
        let place = format!("an entry in {what}");
        let table = table(value, &place, r#"a table, such as { step = "validate" }"#)?;
        check_keys(table, REQUIRES_KEYS, &place)?;
        let step = step(value, table, &place)?;
        let subject = optional_argument(table, "subject", &place)?;
        let binds = optional_argument(table, "binds", &place)?;
        let requirement = Requirement { step, subject, binds };
        if requires.contains(&requirement) {
            return twice(value.span(), what, requirement.step.as_str());
        }
        places.requires.push((value.span().start, tool.clone(), requirement.clone()));
        requires.insert(requirement);
    }
    Ok(requires)
}

fn verify(
    value: &Spanned<DeValue<'_>>,
    what: &str,
    tool: &ToolName,
    binding: &Binding,
    places: &mut Places,
) -> Read<BTreeMap<ArgumentName, Verification>> {
    const WANTED: &str =
        r#"a table, such as { payee = { step = "verify_payee", with = ["payee", "name"] } }"#;
    let table = table(value, what, WANTED)?;
    at_most(value.span(), what, table.len(), ARGUMENTS_MAX)?;
    let mut verify = BTreeMap::new();
    for (key, value) in in_order(table) {
        let verified = name(key.span(), ArgumentName::new(key.get_ref()))?;
        let place = format!("`{verified}` in {what}");
        if !binding.binds(&verified) {
            let why = "it does not bind, so its value needs no verification; list it in `binding`"
                .to_owned();
            return refuse(key.span(), Problem::Refused { what: place, why });
        }
        let table = self::table(
            value,
            &place,
            r#"a table, such as { step = "verify_payee", with = ["payee"] }"#,
        )?;
        check_keys(table, VERIFY_KEYS, &place)?;
        let step = step(value, table, &place)?;
        let with = with(value, table, &verified, &place)?;
        places.verify.push((value.span().start, tool.clone(), verified.clone()));
        verify.insert(verified, Verification { step, with });
    }
    Ok(verify)
}

fn with(
    entry: &Spanned<DeValue<'_>>,
    table: &DeTable<'_>,
    verified: &ArgumentName,
    place: &str,
) -> Read<BTreeSet<ArgumentName>> {
    let Some(value) = table.get("with") else {
        let hint =
            "list the arguments that must be equal in both calls, the verified one among them";
        let place = place.to_owned();
        return refuse(entry.span(), Problem::Missing { place, key: "with", hint });
    };
    let what = format!("`with` of {place}");
    let with = arguments(value, &what)?;
    if !with.contains(verified) {
        let why =
            format!("`{verified}` itself is not in it, so another value could have been verified");
        return refuse(value.span(), Problem::Refused { what, why });
    }
    Ok(with)
}

fn step(entry: &Spanned<DeValue<'_>>, table: &DeTable<'_>, place: &str) -> Read<StepName> {
    let Some(value) = table.get("step") else {
        let hint = "write step = \"NAME\", one of [steps]";
        let place = place.to_owned();
        return refuse(entry.span(), Problem::Missing { place, key: "step", hint });
    };
    name(value.span(), StepName::new(string(value, &format!("`step` of {place}"))?))
}

fn optional_argument(table: &DeTable<'_>, key: &str, place: &str) -> Read<Option<ArgumentName>> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let what = format!("`{key}` of {place}");
    // A step says "args.source", since it is about a call to come; here the call is this one.
    if let Some(bare) = string(value, &what)?.strip_prefix("args.") {
        let why = format!("write the bare name, \"{}\"", super::shown(bare));
        return refuse(value.span(), Problem::Refused { what, why });
    }
    argument(value, &what).map(Some)
}
