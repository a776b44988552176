//! What the owner wrote in `actum.toml`: which steps there are and what a pass of one is, how the calls of each tool are
//! judged, and what each channel is worth.
//!
//! A policy is read and asked here, nothing more. Starting commands, resolving programs, keeping the accepted text and
//! deciding anything are the caller's. The page for users is `docs/formats/policy.md`.

mod caution;
mod channels;
mod defaults;
mod digest;
mod error;
mod file;
mod passes;
mod steps;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::canon::Digest;
use crate::names::{
    AuthorName, ChannelName, Namespace, StepName, SubjectKind, SubjectName, ToolName,
};

use channels::Channels;
use digest::{Digester, Parts};

pub use crate::kind::ValueKind;
pub use channels::{ChannelFrom, ChannelLine, ChannelPattern, ChannelRule};
pub use error::{PolicyError, Problem};
pub use passes::{LINE_MAX, Passes, Pattern, Shortfall, Stream, Watch};
pub use steps::{AllOf, Step, ToolStep};
pub use tools::{
    Binding, Fetch, Mode, OnMissing, Profile, Requirement, ToolClass, ToolResult, ToolRule,
    Verification,
};

/// Bytes in a policy file.
pub const FILE_MAX: usize = 256 * 1024;
/// Steps in a policy.
pub const STEPS_MAX: usize = 256;
/// Steps of an `all_of`.
pub const PARTS_MAX: usize = 64;
/// How deep steps and tools may need one another.
pub const NESTING_MAX: usize = 16;
/// Tools in a policy.
pub const TOOLS_MAX: usize = 1024;
/// Arguments in one list of a tool.
pub const ARGUMENTS_MAX: usize = 64;
/// Steps that a tool requires.
pub const REQUIRES_MAX: usize = 32;
/// Channels in a policy, those that are built in not counted.
pub const CHANNELS_MAX: usize = 1024;
/// Clients whose answers count as the owner's.
pub const CLIENTS_MAX: usize = 64;
/// Servers in a policy.
pub const SERVERS_MAX: usize = 256;
/// Tools in the scope of a channel.
pub const SCOPE_MAX: usize = 256;
/// Commands of a step.
pub const COMMANDS_MAX: usize = 64;
/// Elements of a command.
pub const ELEMENTS_MAX: usize = 256;
/// Bytes in an element of a command or of `allow`.
pub const ELEMENT_MAX: usize = 4096;
/// Elements of `allow`.
pub const ALLOW_MAX: usize = 256;
/// Names in `env`.
pub const ENV_MAX: usize = 256;
/// Bytes in a name of `env`.
pub const ENV_NAME_MAX: usize = 256;
/// Patterns of a step.
pub const PATTERNS_MAX: usize = 64;
/// Patterns of all steps together: with [`PATTERN_SIZE_MAX`] the bound on what a file can make us hold.
pub const PATTERNS_TOTAL_MAX: usize = 512;
/// Bytes in a pattern as it is written.
pub const PATTERN_MAX: usize = 1024;
/// Bytes in memory of a pattern once compiled.
pub const PATTERN_SIZE_MAX: usize = 256 * 1024;
/// The shortest lifetime.
pub const LIFETIME_MIN: Duration = Duration::from_secs(1);
/// The longest lifetime: ten years of 365 days.
pub const LIFETIME_MAX: Duration = Duration::from_hours(10 * 365 * 24);

/// A lifetime in ms, as the ledger counts.
pub(crate) fn millis(lifetime: Duration) -> u64 {
    u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX)
}

/// The steps of one namespace, the tools and the channels, each with its rule.
#[derive(Debug, Clone)]
pub struct Policy {
    namespace: Namespace,
    profile: Profile,
    steps: BTreeMap<StepName, Step>,
    tools: BTreeMap<ToolName, ToolRule>,
    channels: Channels,
    clients: BTreeSet<AuthorName>,
    trusted: BTreeSet<AuthorName>,
}

/// A policy that says nothing: the built-in channels, and every tool an effect.
impl Default for Policy {
    fn default() -> Self {
        Self {
            namespace: Namespace::default(),
            profile: Profile::Default,
            steps: BTreeMap::new(),
            tools: BTreeMap::new(),
            channels: Channels::new(Vec::new()),
            clients: BTreeSet::new(),
            trusted: BTreeSet::new(),
        }
    }
}

impl Policy {
    /// Whether the answer to a question that this client shows counts as the owner's: it puts it before a person, and nothing
    /// else answers in its stead.
    pub fn asks_owner_through(&self, client: &str) -> bool {
        self.clients.iter().any(|known| known.as_str() == client)
    }

    /// Whether what this server says of its own tools counts: that one which nobody listed only reads.
    pub fn trusts_hints_of(&self, server: &str) -> bool {
        self.trusted.iter().any(|known| known.as_str() == server)
    }

    /// Reads the text of an `actum.toml`. What is not understood is refused, never ignored.
    ///
    /// ```
    /// use actum_core::{StepName, SubjectName, policy::{Policy, Step}};
    /// let text = r#"
    ///     version = 1
    ///     [steps.tests]
    ///     commands = [["cargo", "test"]]
    ///     allow = ["--workspace"]
    ///     passes = { output = ['test result: ok\. [1-9]'] }
    /// "#;
    /// let policy = Policy::parse(text)?;
    /// let tests = policy.step(&StepName::new("tests")?).and_then(Step::command).ok_or("no such step")?;
    /// let argv = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    /// let head = SubjectName::parse("HEAD")?;
    /// assert!(tests.admits(&argv("cargo test --workspace"), &head));
    /// assert!(!tests.admits(&argv("cargo test --no-run"), &head));
    ///
    /// let wrong = Policy::parse(&text.replace("commands", "comands")).unwrap_err();
    /// assert_eq!((wrong.line(), wrong.column()), (4, 5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first thing that is wrong, with its line and column: text that is not TOML, a key or word that is not known, a value
    /// of another type or over its limit, a name, a lifetime or a pattern that does not hold; and, once each table could be
    /// read for itself, the first that does not fit the others.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        file::read(text)
    }

    /// Whose steps these are: `local/default` where the file does not say.
    pub const fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// How much the look of a text counts.
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// The step with this name.
    pub fn step(&self, name: &StepName) -> Option<&Step> {
        self.steps.get(name)
    }

    /// Every step, by name.
    pub fn steps(&self) -> impl Iterator<Item = (&StepName, &Step)> {
        self.steps.iter()
    }

    /// Every step that is performed by a command, with its rule, by name.
    pub fn commands(&self) -> impl Iterator<Item = (&StepName, &Rule)> {
        self.steps.iter().filter_map(|(name, step)| Some((name, step.command()?)))
    }

    /// How the calls of this tool are judged. A tool that nobody listed is an effect whose every argument binds.
    ///
    /// ```
    /// use actum_core::{ToolName, policy::{Binding, Policy, ToolClass}};
    /// let policy = Policy::parse("version = 1\n[tools.'files/list']\nclass = 'read'")?;
    /// assert_eq!(policy.tool(&ToolName::new("files/list")?).class(), ToolClass::Read);
    /// let unlisted = policy.tool(&ToolName::new("files/delete")?);
    /// assert_eq!((unlisted.class(), unlisted.binding()), (ToolClass::Effect, &Binding::All));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tool(&self, name: &ToolName) -> &ToolRule {
        self.tools.get(name).unwrap_or(&tools::UNLISTED)
    }

    /// The same by the text of a name; a text that is no name is nobody's.
    pub(crate) fn tool_named(&self, name: &str) -> &ToolRule {
        self.tools.get(name).unwrap_or(&tools::UNLISTED)
    }

    /// Every tool that is listed, by name.
    pub fn tools(&self) -> impl Iterator<Item = (&ToolName, &ToolRule)> {
        self.tools.iter()
    }

    /// What a channel is worth at a time: the narrowest line that names it decides, also when it has ended. A channel that
    /// no line names is untrusted.
    ///
    /// ```
    /// use actum_core::{Authority, ChannelName, policy::Policy};
    /// let text = "version = 1\n[channels.'mcp:bank']\nauthority = 'Approved'\nuntil = 2027-03-01";
    /// let policy = Policy::parse(text)?;
    /// let until_ms = 1_803_859_200_000;
    /// let worth = |channel, now_ms| {
    ///     Ok::<_, Box<dyn std::error::Error>>(policy.authority_of(&ChannelName::new(channel)?, now_ms).authority)
    /// };
    /// assert_eq!(worth("mcp:bank", until_ms - 1)?, Authority::Approved);
    /// assert_eq!(worth("mcp:bank", until_ms)?, Authority::Untrusted);
    /// assert_eq!(worth("mcp:bank2", 0)?, Authority::Untrusted);
    /// assert_eq!(worth("user", 0)?, Authority::User);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn authority_of(&self, channel: &ChannelName, now_ms: u64) -> ChannelRule<'_> {
        self.channels.at(channel, now_ms)
    }

    /// Every line of the table of channels: the policy's, and those that are built in and that no line of the policy
    /// replaces.
    pub fn channels(&self) -> impl Iterator<Item = &ChannelLine> {
        self.channels.lines()
    }

    /// The digest of everything that gives a step its meaning: for a command [`Rule::digest`], for a tool also the rule of
    /// that tool, for several steps also their names and digests. `None` if there is no such step.
    pub fn step_digest(&self, name: &StepName, programs: &[Program]) -> Option<Digest> {
        Digester::new(self, programs).step(name)
    }

    /// The digest of everything that gives the rule of a tool its meaning, with the steps it names and their digests.
    ///
    /// Equal exactly when the rules mean the same. Neither the order in the file nor the tool's name is in it, nor whether
    /// the tool is listed: a listed effect without further keys is what an unlisted tool is.
    pub fn tool_digest(&self, name: &ToolName, programs: &[Program]) -> Digest {
        Digester::new(self, programs).tool(self.tool(name))
    }
}

/// What counts as one step that is performed by a command. Only [`Policy::parse`] makes one, so every limit of this module holds for it.
#[derive(Debug, Clone)]
pub struct Rule {
    /// In the order of the file, none empty, none twice.
    commands: Vec<Vec<Element>>,
    allow: BTreeSet<String>,
    env: BTreeSet<String>,
    subject: SubjectKind,
    /// The one subject there is, where the policy names it.
    fixed: Option<SubjectName>,
    lifetime: Option<Duration>,
    passes: Passes,
}

impl Rule {
    /// Whether running `argv` is this step on `subject`: it equals one of the commands, with the subject's own name where the
    /// command says `{subject}`, and whatever follows is in `allow`, word for word.
    pub fn admits(&self, argv: &[String], subject: &SubjectName) -> bool {
        if self.fixed.as_ref().is_some_and(|fixed| fixed != subject)
            || subject.kind() != self.subject
        {
            return false;
        }
        self.commands.iter().any(|command| {
            let Some((words, further)) = argv.split_at_checked(command.len()) else {
                return false;
            };
            command.iter().zip(words).all(|(element, word)| element.admits(word, subject))
                && further.iter().all(|word| self.allow.contains(word))
        })
    }

    /// The commands in the order of the file; there is at least one, and each has at least its program.
    pub fn commands(&self) -> &[Vec<Element>] {
        &self.commands
    }

    /// The further arguments that do not weaken the step.
    pub const fn allow(&self) -> &BTreeSet<String> {
        &self.allow
    }

    /// The names of the variables that are passed on to the command.
    pub const fn env(&self) -> &BTreeSet<String> {
        &self.env
    }

    /// What the step is performed on.
    pub const fn subject(&self) -> SubjectKind {
        self.subject
    }

    /// The one subject of this step, where the policy names it.
    pub const fn fixed_subject(&self) -> Option<&SubjectName> {
        self.fixed.as_ref()
    }

    /// How long a pass counts; `None` is for as long as its subject stays the same.
    pub const fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }

    /// What a pass is.
    pub const fn passes(&self) -> &Passes {
        &self.passes
    }

    /// The first words of the commands: what the caller resolves to a [`Program`] when a policy is accepted.
    pub fn programs(&self) -> BTreeSet<&str> {
        self.commands.iter().filter_map(|command| command.first()).map(Element::as_str).collect()
    }

    /// The digest of everything that gives this rule its meaning, with what its programs were resolved to.
    ///
    /// Equal exactly when the rules mean the same and run the same binaries: the order within `commands`, `allow`, `env`,
    /// `exit` and `output` changes nothing, nor do programs that no command of this rule names, so all those of a policy may
    /// be given. A program that was not resolved is simply not among them, which is another digest.
    pub fn digest(&self, programs: &[Program]) -> Digest {
        let commands: BTreeSet<_> = self.commands.iter().collect();
        let output: BTreeSet<_> = self.passes.output().iter().map(Pattern::as_str).collect();
        let named = self.programs();
        let programs: BTreeSet<_> =
            programs.iter().filter(|program| named.contains(program.name.as_str())).collect();

        let mut parts = Parts::default();
        parts.count(commands.len());
        for command in commands {
            parts.count(command.len());
            for element in command {
                parts.text(match element {
                    Element::Exact(_) => "exact",
                    Element::Any => "any",
                    Element::Subject => "subject",
                });
                parts.text(element.as_str());
            }
        }
        parts.texts(self.allow.iter().map(String::as_str));
        parts.texts(self.env.iter().map(String::as_str));
        parts.text(self.subject.word());
        parts.texts(self.fixed.iter().map(SubjectName::as_str));
        parts.texts(self.lifetime.map(|lifetime| lifetime.as_secs().to_string()).iter());
        parts.texts(self.passes.exit().iter().map(i32::to_string));
        parts.texts(output.into_iter());
        parts.count(programs.len());
        for program in programs {
            parts.text(&program.name);
            parts.text(&program.path);
            parts.bytes(program.digest.as_bytes());
        }
        parts.digest("actum/rule/v1")
    }
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// This word and no other.
    Exact(String),
    /// `*`: any one word, but not an empty one and not one that starts with `-`.
    Any,
    /// `{subject}`: the name of the subject, without its kind; not one that starts with `-`.
    Subject,
}

impl Element {
    /// Whether `word` may stand here when the step is performed on `subject`.
    pub fn admits(&self, word: &str, subject: &SubjectName) -> bool {
        match self {
            Self::Exact(exact) => exact == word,
            Self::Any => !word.is_empty() && !word.starts_with('-'),
            Self::Subject => word == subject.rest() && !word.starts_with('-'),
        }
    }

    /// As it stands in the file.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(word) => word,
            Self::Any => "*",
            Self::Subject => "{subject}",
        }
    }
}

/// What the first word of a command was resolved to when the policy was accepted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// The word in the policy, such as `cargo`.
    pub name: String,
    /// Where it was found.
    pub path: String,
    /// The digest of the file that was there.
    pub digest: Digest,
}
