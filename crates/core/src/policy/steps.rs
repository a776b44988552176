//! The three ways a policy can say what a step is: commands, a tool, or other steps. What counts as which is here; whether a
//! step is grounded is not.

use std::collections::BTreeSet;
use std::time::Duration;

use super::Rule;
use crate::names::{ArgumentName, StepName, ToolName};

/// What a step is.
#[derive(Debug, Clone)]
pub enum Step {
    /// Running one of a few commands.
    Command(Rule),
    /// A call of a tool.
    Tool(ToolStep),
    /// Several steps, each on the same subject.
    AllOf(AllOf),
}

impl Step {
    /// The rule of a step that is performed by a command.
    pub const fn command(&self) -> Option<&Rule> {
        match self {
            Self::Command(rule) => Some(rule),
            Self::Tool(_) | Self::AllOf(_) => None,
        }
    }
}

/// A step that is performed by calling a tool. Only [`super::Policy::parse`] makes one.
#[derive(Debug, Clone)]
pub struct ToolStep {
    pub(super) tool: ToolName,
    pub(super) subject: ArgumentName,
    pub(super) binds: Option<ArgumentName>,
    pub(super) lifetime: Option<Duration>,
}

impl ToolStep {
    /// The tool whose calls are this step.
    pub const fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// The argument that names the subject.
    pub const fn subject(&self) -> &ArgumentName {
        &self.subject
    }

    /// The argument that holds the subject's content; without one the value of [`ToolStep::subject`] is its own content.
    pub const fn binds(&self) -> Option<&ArgumentName> {
        self.binds.as_ref()
    }

    /// How long a pass counts; `None` is for as long as its content stays the same.
    pub const fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }
}

/// A step that is grounded exactly when each of its parts is, on the same subject. Only [`super::Policy::parse`] makes one:
/// the parts exist, none is this step again at any depth, and all of them are about the same kind of subject.
#[derive(Debug, Clone)]
pub struct AllOf {
    pub(super) parts: BTreeSet<StepName>,
}

impl AllOf {
    /// The steps it consists of; there is at least one.
    pub const fn parts(&self) -> &BTreeSet<StepName> {
        &self.parts
    }
}
