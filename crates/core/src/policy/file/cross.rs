//! What only shows when steps and tools are seen together: names of steps that are not there, steps and tools that need
//! themselves, and requirements and verifications that could never hold.

use std::collections::BTreeMap;

use super::{Problem, Read, nearest, refuse};
use crate::names::{ArgumentName, StepName, SubjectKind, SubjectName, ToolName};
use crate::policy::{NESTING_MAX, Policy, Requirement, Step, ToolResult};

/// Where in the file stands what has to be looked at again.
#[derive(Default)]
pub(super) struct Places {
    pub(super) steps: BTreeMap<StepName, usize>,
    pub(super) tools: BTreeMap<ToolName, usize>,
    pub(super) all_of: Vec<(usize, StepName)>,
    pub(super) requires: Vec<(usize, ToolName, Requirement)>,
    /// The tool and the verified argument.
    pub(super) verify: Vec<(usize, ToolName, ArgumentName)>,
    /// The tools that say `run`.
    pub(super) on_missing: Vec<(usize, ToolName)>,
}

/// Checks a policy whose tables hold, each for itself.
pub(super) fn check(policy: &Policy, places: &Places) -> Read<()> {
    steps_are_there(policy, places)?;
    nothing_needs_itself(policy, places)?;
    for (at, name) in &places.all_of {
        parts_agree(policy, *at, name)?;
    }
    for (at, tool, requirement) in &places.requires {
        requirement_fits(policy, *at, tool, requirement)?;
    }
    for (at, tool, argument) in &places.verify {
        verification_fits(policy, *at, tool, argument)?;
    }
    for (at, tool) in &places.on_missing {
        missing_can_be_run(policy, *at, tool)?;
    }
    Ok(())
}

fn refused<T>(at: usize, what: String, why: String) -> Read<T> {
    refuse(at..at, Problem::Refused { what, why })
}

fn steps_are_there(policy: &Policy, places: &Places) -> Read<()> {
    let there = |at: usize, what: String, step: &StepName| {
        if policy.steps.contains_key(step) {
            return Ok(());
        }
        let known: Vec<_> = policy.steps.keys().map(StepName::as_str).collect();
        let nearest = nearest(step.as_str(), &known).map(str::to_owned);
        refuse(at..at, Problem::NoStep { what, step: step.to_string(), nearest })
    };
    for (at, name) in &places.all_of {
        if let Some(Step::AllOf(all_of)) = policy.steps.get(name) {
            for part in all_of.parts() {
                there(*at, format!("`all_of` of step `{name}`"), part)?;
            }
        }
    }
    for (at, tool, requirement) in &places.requires {
        there(*at, format!("`requires` of tool `{tool}`"), requirement.step())?;
    }
    for (at, tool, argument) in &places.verify {
        if let Some(verification) = policy.tool(tool).verify().get(argument) {
            there(*at, format!("`verify` of tool `{tool}`"), verification.step())?;
        }
    }
    Ok(())
}

/// A step or a tool, seen as what it needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node<'p> {
    Step(&'p StepName),
    Tool(&'p ToolName),
}

impl<'p> Node<'p> {
    fn needs(self, policy: &'p Policy) -> Vec<Self> {
        match self {
            Self::Step(name) => match policy.steps.get(name) {
                Some(Step::AllOf(all_of)) => all_of.parts().iter().map(Self::Step).collect(),
                Some(Step::Tool(step)) => vec![Self::Tool(step.tool())],
                Some(Step::Command(_)) | None => Vec::new(),
            },
            Self::Tool(name) => {
                let rule = policy.tool(name);
                let requires =
                    rule.requires().iter().map(|requirement| Self::Step(requirement.step()));
                let verify =
                    rule.verify().values().map(|verification| Self::Step(verification.step()));
                requires.chain(verify).collect()
            }
        }
    }

    fn words(self) -> String {
        match self {
            Self::Step(name) => format!("step `{name}`"),
            Self::Tool(name) => format!("tool `{name}`"),
        }
    }
}

/// Neither in a circle nor too deep, so that whoever follows what is needed comes to an end.
fn nothing_needs_itself(policy: &Policy, places: &Places) -> Read<()> {
    let steps = places.steps.iter().map(|(name, &at)| (at, Node::Step(name)));
    let tools = places.tools.iter().map(|(name, &at)| (at, Node::Tool(name)));
    let mut nodes: Vec<_> = steps.chain(tools).collect();
    nodes.sort_unstable();
    let mut heights = BTreeMap::new();
    for (at, node) in nodes {
        height(policy, at, node, &mut Vec::new(), &mut heights)?;
    }
    Ok(())
}

/// How many stand one below the other from here on. INVARIANT(bounded): `path` never grows over [`NESTING_MAX`].
fn height<'p>(
    policy: &'p Policy,
    at: usize,
    node: Node<'p>,
    path: &mut Vec<Node<'p>>,
    heights: &mut BTreeMap<Node<'p>, usize>,
) -> Read<usize> {
    if let Some(first) = path.iter().position(|known| *known == node) {
        let circle = path.iter().skip(first).chain([&node]).map(|node| node.words());
        let path = circle.collect::<Vec<_>>().join(" needs ");
        return refuse(at..at, Problem::Cycle { path });
    }
    let deep =
        |from: Node<'_>| refuse(at..at, Problem::Deep { place: from.words(), limit: NESTING_MAX });
    let start = path.first().copied().unwrap_or(node);
    if let Some(&height) = heights.get(&node) {
        return if path.len() + height > NESTING_MAX { deep(start) } else { Ok(height) };
    }
    if path.len() == NESTING_MAX {
        return deep(start);
    }
    path.push(node);
    let mut below = 0;
    for needed in node.needs(policy) {
        below = below.max(height(policy, at, needed, path, heights)?);
    }
    path.pop();
    heights.insert(node, below + 1);
    Ok(below + 1)
}

/// What has to be known of a call to ask for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape<'p> {
    kind: SubjectKind,
    /// The one subject there is.
    fixed: Option<&'p SubjectName>,
    is_tool: bool,
    binds: bool,
}

/// The shape of a step: of an `all_of`, which is checked before, that of its first part.
fn shape<'p>(policy: &'p Policy, name: &StepName) -> Option<Shape<'p>> {
    match policy.steps.get(name)? {
        Step::Command(rule) => {
            let (kind, fixed) = (rule.subject(), rule.fixed_subject());
            Some(Shape { kind, fixed, is_tool: false, binds: false })
        }
        Step::Tool(step) => {
            let binds = step.binds().is_some();
            Some(Shape { kind: SubjectKind::Text, fixed: None, is_tool: true, binds })
        }
        Step::AllOf(all_of) => shape(policy, all_of.parts().first()?),
    }
}

/// All parts are asked about one subject, so they must be about the same kind of thing, or about the same one.
fn parts_agree(policy: &Policy, at: usize, name: &StepName) -> Read<()> {
    let Some(Step::AllOf(all_of)) = policy.steps.get(name) else { return Ok(()) };
    let mut parts = all_of.parts().iter().map(|part| (part, shape(policy, part)));
    let Some((first, wanted)) = parts.next() else { return Ok(()) };
    let Some((other, found)) = parts.find(|(_, shape)| *shape != wanted) else { return Ok(()) };
    let kind = |shape: Option<Shape<'_>>| shape.map(|shape| (shape.kind, shape.is_tool));
    let (one, two) = (about(wanted), about(found));
    let why = if kind(wanted) == kind(found) && wanted.is_some_and(|shape| !shape.is_tool) {
        format!(
            "`{first}` and `{other}` are not about the same subject: {one} and {two}; name the same one in each part, or in none"
        )
    } else {
        format!(
            "`{first}` and `{other}` are not about the same kind of subject, so no subject could have both: {one} and {two}"
        )
    };
    refused(at, format!("`all_of` of step `{name}`"), why)
}

fn about(shape: Option<Shape<'_>>) -> String {
    match shape {
        Some(Shape { is_tool: true, binds: true, .. }) => {
            "an argument of a tool with its content in another".to_owned()
        }
        Some(Shape { is_tool: true, binds: false, .. }) => "an argument of a tool".to_owned(),
        Some(Shape { is_tool: false, fixed: Some(subject), .. }) => format!("`{subject}`"),
        Some(Shape { is_tool: false, fixed: None, kind, .. }) => format!("`{}`", kind.word()),
        None => "nothing".to_owned(),
    }
}

/// The call says exactly what is needed to ask for the step: no less, or nothing could be asked; no more, or what is said
/// would not be looked at.
fn requirement_fits(
    policy: &Policy,
    at: usize,
    tool: &ToolName,
    requirement: &Requirement,
) -> Read<()> {
    let step = requirement.step();
    let Some(shape) = shape(policy, step) else { return Ok(()) };
    let has = (requirement.subject().is_some(), requirement.binds().is_some());
    // The policy says on what it is performed, so the call does not.
    let is_said = shape.kind == SubjectKind::Git || shape.fixed.is_some();
    let why = match (has, is_said, shape.binds) {
        ((true, _), true, _) => match shape.fixed {
            Some(subject) => format!("`{step}` is about `{subject}` alone; leave `subject` out"),
            None => format!("`{step}` is about the work tree (`git`); leave `subject` out"),
        },
        ((false, _), false, _) => {
            format!(
                "write `subject`, the argument that names what `{step}` must have been performed on"
            )
        }
        ((_, false), _, true) => {
            format!(
                "`{step}` binds a content; write `binds`, the argument of this call that holds it"
            )
        }
        ((_, true), _, false) if shape.is_tool => {
            format!(
                "`{step}` binds no content, so there is nothing to compare; leave `binds` out, or write `binds` in the step"
            )
        }
        ((_, true), _, false) => {
            format!("`{step}` is performed by a command, on what is on disk; leave `binds` out")
        }
        ((true, _), false, _) | ((false, _), true, _) => return Ok(()),
    };
    refused(at, format!("`requires` of tool `{tool}`"), why)
}

/// A value rises only on the word of a tool that vouches for what it says, about this very value.
fn verification_fits(
    policy: &Policy,
    at: usize,
    tool: &ToolName,
    argument: &ArgumentName,
) -> Read<()> {
    let Some(verification) = policy.tool(tool).verify().get(argument) else { return Ok(()) };
    let what = format!("`verify` of tool `{tool}`");
    let name = verification.step();
    let step = match policy.steps.get(name) {
        Some(Step::Tool(step)) => step,
        Some(Step::Command(_) | Step::AllOf(_)) | None => {
            let why = format!(
                "`{name}` is not performed by a tool; a value rises only by a tool whose result is an origin"
            );
            return refused(at, what, why);
        }
    };
    let by = step.tool();
    if policy.tool(by).result() != ToolResult::Origin {
        let why = format!(
            "`{name}` is performed by `{by}`, which is no origin: what it says may be what somebody else wrote; if the tool itself vouches for it, write result = \"origin\" in [tools.\"{by}\"]"
        );
        return refused(at, what, why);
    }
    let about = || [Some(step.subject()), step.binds()].into_iter().flatten();
    if about().all(|subject| subject != argument) {
        let why = format!(
            "`{name}` is about `{}` of `{by}` and not about `{argument}`; both calls have to name it alike",
            step.subject()
        );
        return refused(at, what, why);
    }
    if let Some(left_out) = about().find(|subject| !verification.with().contains(*subject)) {
        let why = format!(
            "`{name}` is about `{left_out}` too, which is not in `with`, so its pass could be about another"
        );
        return refused(at, what, why);
    }
    Ok(())
}

/// What is missing is performed as a call, so a command cannot be.
fn missing_can_be_run(policy: &Policy, at: usize, tool: &ToolName) -> Read<()> {
    let what = format!("`on_missing` of tool `{tool}`");
    let requires = policy.tool(tool).requires();
    if requires.is_empty() {
        let why = "it has no `requires`, so nothing can be missing".to_owned();
        return refused(at, what, why);
    }
    let is_tool =
        |requirement: &&Requirement| shape(policy, requirement.step()).is_some_and(|s| s.is_tool);
    let Some(command) = requires.iter().find(|requirement| !is_tool(requirement)) else {
        return Ok(());
    };
    let why = format!(
        "`{}` is performed by a command, and only a tool can be called; write \"deny\"",
        command.step()
    );
    refused(at, what, why)
}
