//! What the policy says of a tool: how its calls are judged and what its result is worth. Nothing is judged here.

use std::collections::{BTreeMap, BTreeSet};

use crate::kind::ValueKind;
use crate::names::{ArgumentName, StepName};

/// An enum whose variants are words in a policy.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            pub(super) const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word in a policy.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// What this word stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

words!(
    /// How much the look of a text counts.
    Profile {
        /// Never: the look of a text is a hint and decides nothing.
        Default = "default",
        /// An untrusted entry that looks like an instruction is quarantined.
        Strict = "strict",
    }
);
words!(
    /// What a call of a tool does.
    ToolClass {
        /// Looks at what is here; allowed.
        Read = "read",
        /// Looks at what is outside: its address leaves the machine.
        Fetch = "fetch",
        /// Has consequences outside the conversation.
        Effect = "effect",
    }
);
words!(
    /// What a call is judged by.
    Mode {
        /// The origin of each binding argument.
        Argument = "argument",
        /// The least of the whole context, whatever the arguments.
        Context = "context",
    }
);
words!(
    /// What the result of a call is worth.
    ToolResult {
        /// The least of the tool's channel and of what it carries.
        Relay = "relay",
        /// What the tool's channel is worth: the tool itself vouches for what it says.
        Origin = "origin",
    }
);
words!(
    /// What becomes of a call that lacks a required step.
    OnMissing {
        /// It is denied.
        Deny = "deny",
        /// The step is performed first, if everything else would allow the call.
        Run = "run",
    }
);
words!(
    /// Which addresses of a fetch need a judgement.
    Fetch {
        /// Every one.
        Judged = "judged",
        /// Every one but those that stood whole in an earlier result: such an address carries nothing out.
        Verbatim = "verbatim",
    }
);

/// Which arguments of a tool bind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// Every argument, also those nobody has heard of.
    All,
    /// These and no others.
    Only(BTreeSet<ArgumentName>),
}

impl Binding {
    /// Whether this argument binds.
    pub fn binds(&self, argument: &ArgumentName) -> bool {
        match self {
            Self::All => true,
            Self::Only(arguments) => arguments.contains(argument),
        }
    }
}

/// A step that must be grounded before a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    pub(super) step: StepName,
    pub(super) subject: Option<ArgumentName>,
    pub(super) binds: Option<ArgumentName>,
}

impl Requirement {
    /// The step.
    pub const fn step(&self) -> &StepName {
        &self.step
    }

    /// The argument of the call that names the subject; `None` only for a step whose subject the policy says: the
    /// work tree, or a fixed one.
    pub const fn subject(&self) -> Option<&ArgumentName> {
        self.subject.as_ref()
    }

    /// The argument of the call that holds the subject's content; there is one exactly if the step binds one.
    pub const fn binds(&self) -> Option<&ArgumentName> {
        self.binds.as_ref()
    }
}

/// A step that can raise the value of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    pub(super) step: StepName,
    pub(super) with: BTreeSet<ArgumentName>,
}

impl Verification {
    /// The step: one that is performed by a tool whose result is an origin.
    pub const fn step(&self) -> &StepName {
        &self.step
    }

    /// The arguments, by the same names in both calls, that must be equal in the step's run and in this call. The verified
    /// argument and what the step is about are among them.
    pub const fn with(&self) -> &BTreeSet<ArgumentName> {
        &self.with
    }
}

/// How the calls of one tool are judged. Only [`super::Policy::parse`] makes one.
#[derive(Debug, Clone)]
pub struct ToolRule {
    pub(super) listed: bool,
    pub(super) class: ToolClass,
    pub(super) binding: Binding,
    pub(super) outgoing: BTreeSet<ArgumentName>,
    pub(super) kinds: BTreeMap<ArgumentName, ValueKind>,
    pub(super) requires: BTreeSet<Requirement>,
    pub(super) verify: BTreeMap<ArgumentName, Verification>,
    pub(super) mode: Mode,
    pub(super) result: ToolResult,
    pub(super) on_missing: OnMissing,
    pub(super) fetch: Fetch,
}

/// The rule of a tool that nobody listed: an effect whose every argument binds.
pub(super) static UNLISTED: ToolRule = ToolRule {
    listed: false,
    class: ToolClass::Effect,
    binding: Binding::All,
    outgoing: BTreeSet::new(),
    kinds: BTreeMap::new(),
    requires: BTreeSet::new(),
    verify: BTreeMap::new(),
    mode: Mode::Argument,
    result: ToolResult::Relay,
    on_missing: OnMissing::Deny,
    fetch: Fetch::Judged,
};

impl ToolRule {
    /// Whether the policy lists the tool; if not, everything else here is what holds for every such tool.
    pub const fn listed(&self) -> bool {
        self.listed
    }

    /// What a call does.
    pub const fn class(&self) -> ToolClass {
        self.class
    }

    /// Which arguments bind: none of a read, at least one of any other that says which.
    pub const fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The arguments whose content leaves, so that addresses in it bind. None of them binds as a whole.
    pub const fn outgoing(&self) -> &BTreeSet<ArgumentName> {
        &self.outgoing
    }

    /// The kind of an argument's value: text where the policy does not say.
    pub fn kind(&self, argument: &ArgumentName) -> ValueKind {
        self.kinds.get(argument).copied().unwrap_or(ValueKind::Text)
    }

    /// The kinds that the policy says.
    pub const fn kinds(&self) -> &BTreeMap<ArgumentName, ValueKind> {
        &self.kinds
    }

    /// The steps that must be grounded before a call.
    pub const fn requires(&self) -> &BTreeSet<Requirement> {
        &self.requires
    }

    /// The steps that can raise an argument's value; each such argument binds.
    pub const fn verify(&self) -> &BTreeMap<ArgumentName, Verification> {
        &self.verify
    }

    /// What a call is judged by.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// What the result is worth.
    pub const fn result(&self) -> ToolResult {
        self.result
    }

    /// What becomes of a call that lacks a required step.
    pub const fn on_missing(&self) -> OnMissing {
        self.on_missing
    }

    /// Which addresses need a judgement; only a fetch has any but [`Fetch::Judged`].
    pub const fn fetch(&self) -> Fetch {
        self.fetch
    }
}
