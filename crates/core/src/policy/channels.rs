//! Channels: which pattern names which, and what each is worth at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::defaults::DEFAULTS;
use crate::authority::Authority;
use crate::names::{ChannelName, NameError, ToolName};

/// Schemes whose names end with the domain that owns them, so that `*` stands before it.
const OWNER_LAST: &[&str] = &["web", "mail"];

/// One channel, or all that share what stands around a `*`.
///
/// In `web` and `mail` the star stands first, before `.` or `@`: `web:*.example.org`, `mail:*@example.org`. It is one or more
/// characters, and none of `/ \ @ : ? #` or white space. In every other scheme it stands last, after `:`, `/` or `@`:
/// `repo:example.org/ann/*`. It is one or more characters without an empty, `.` or `..` part between slashes. Right after the
/// colon and alone, as in `web:*`, it is anything.
///
/// Of two patterns of one scheme that name the same channel, one is therefore always the longer, and that is the narrower.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelPattern {
    text: Box<str>,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Shape {
    Exact,
    Scheme,
    StarFirst,
    StarLast,
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternFlaw {
    Name(NameError),
    Star(&'static str),
}

const ONE_STAR: &str = "there is one `*` at most";
const STAR_LAST: &str =
    "`*` stands last, after `:`, `/` or `@`, such as mcp:bank/* or repo:example.org/ann/tool@*";
const STAR_FIRST: &str = "in `web` and `mail` `*` stands first, before `.` or `@` and the domain, such as web:*.example.org or mail:*@example.org";
const NO_SCHEME: &str =
    "a scheme stands before it, such as web:*; a channel that no line names is Untrusted";

impl ChannelPattern {
    pub(super) fn new(text: &str) -> Result<Self, PatternFlaw> {
        if text.starts_with('*') {
            return Err(PatternFlaw::Star(NO_SCHEME));
        }
        let name = ChannelName::new(text).map_err(PatternFlaw::Name)?;
        let rest = name.rest().unwrap_or_default();
        let shape = match (rest.matches('*').count(), OWNER_LAST.contains(&name.scheme())) {
            (0, _) => Shape::Exact,
            (1, _) if rest == "*" => Shape::Scheme,
            (1, true) if rest.starts_with("*.") || rest.starts_with("*@") => Shape::StarFirst,
            (1, true) => return Err(PatternFlaw::Star(STAR_FIRST)),
            (1, false) if [":*", "/*", "@*"].iter().any(|end| rest.ends_with(end)) => {
                Shape::StarLast
            }
            (1, false) => return Err(PatternFlaw::Star(STAR_LAST)),
            (_, _) => return Err(PatternFlaw::Star(ONE_STAR)),
        };
        Ok(Self { text: text.into(), shape })
    }

    /// Reads a pattern; `None` for what is none.
    ///
    /// ```
    /// use actum_core::{ChannelName, policy::ChannelPattern};
    /// let pattern = ChannelPattern::read("mail:*@example.org").unwrap();
    /// assert!(pattern.names(&ChannelName::new("mail:ann@example.org").unwrap()));
    /// assert!(ChannelPattern::read("mail:ann*").is_none());
    /// ```
    pub fn read(text: &str) -> Option<Self> {
        Self::new(text).ok()
    }

    /// As it stands in the file.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it names this channel.
    pub fn names(&self, channel: &ChannelName) -> bool {
        let (before, after) = self.text.split_once('*').unwrap_or((&self.text, ""));
        let star = channel.as_str().strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        let Some(star) = star else { return false };
        match self.shape {
            Shape::Exact => channel.as_str() == self.as_str(),
            Shape::Scheme => !star.is_empty(),
            Shape::StarFirst => {
                let ends = |c: char| r"/\@:?#".contains(c) || c.is_whitespace();
                !star.is_empty() && !star.contains(ends)
            }
            Shape::StarLast => star.split('/').all(|part| !matches!(part, "" | "." | "..")),
        }
    }

    /// Whether nobody in particular is named: nothing but a scheme, or a domain of one word, such as `org`.
    pub(super) fn names_anybody(&self) -> bool {
        match self.shape {
            Shape::Exact | Shape::StarLast => false,
            Shape::Scheme => true,
            Shape::StarFirst => {
                let (_, domain) = self.text.split_once('*').unwrap_or_default();
                !domain.trim_matches(['.', '@']).contains('.')
            }
        }
    }

    fn scheme(&self) -> &str {
        self.text.split(':').next().unwrap_or_default()
    }
}

/// What a channel is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    User,
    Approved,
    Untrusted,
    /// What its content is worth, where all of that is known; `Untrusted` where not.
    Inherits,
}

impl Worth {
    const fn authority(self) -> Authority {
        match self {
            Self::User => Authority::User,
            Self::Approved => Authority::Approved,
            Self::Untrusted | Self::Inherits => Authority::Untrusted,
        }
    }
}

/// One line of the table: of the policy, or a default.
#[derive(Debug, Clone)]
pub struct ChannelLine {
    pub(super) pattern: ChannelPattern,
    pub(super) worth: Worth,
    pub(super) until_ms: Option<u64>,
    pub(super) scope: Option<BTreeSet<ToolName>>,
    /// For a default line.
    pub(super) why: Option<&'static str>,
}

impl ChannelLine {
    /// Which channels it names.
    pub const fn pattern(&self) -> &ChannelPattern {
        &self.pattern
    }

    /// What they are worth before [`ChannelLine::until_ms`].
    pub const fn authority(&self) -> Authority {
        self.worth.authority()
    }

    /// Whether what is carried decides, as [`ChannelRule::inherits`] says.
    pub const fn inherits(&self) -> bool {
        matches!(self.worth, Worth::Inherits)
    }

    /// When it ends, in ms since 1970: from then on they are untrusted.
    pub const fn until_ms(&self) -> Option<u64> {
        self.until_ms
    }

    /// The tools for whose calls it counts; `None` is all of them.
    pub const fn scope(&self) -> Option<&BTreeSet<ToolName>> {
        self.scope.as_ref()
    }

    /// The reason for a line that is built in; `None` for a line of the policy.
    pub const fn default_reason(&self) -> Option<&'static str> {
        self.why
    }
}

/// What one channel is worth at one time.
#[derive(Debug, Clone, Copy)]
pub struct ChannelRule<'p> {
    /// What content is worth because it came this way.
    pub authority: Authority,
    /// What the content was made from decides instead, where all of that is known. Who does not look gets `Untrusted`.
    pub inherits: bool,
    /// When `authority` ends, in ms since 1970.
    pub until_ms: Option<u64>,
    /// The tools for whose calls `authority` counts; `None` is all of them.
    pub scope: Option<&'p BTreeSet<ToolName>>,
    /// Why it is so.
    pub from: ChannelFrom<'p>,
}

impl ChannelRule<'_> {
    /// What content from here is worth for a call of this tool: outside the scope it is untrusted.
    pub fn authority_for(&self, tool: &ToolName) -> Authority {
        self.reaches(tool.as_str())
    }

    pub(crate) fn reaches(&self, tool: &str) -> Authority {
        match self.scope {
            Some(scope) if !scope.contains(tool) => Authority::Untrusted,
            Some(_) | None => self.authority,
        }
    }
}

/// Where the worth of a channel comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelFrom<'p> {
    /// This line of the policy.
    Policy(&'p ChannelPattern),
    /// This line of the policy, which has ended.
    Expired(&'p ChannelPattern),
    /// This line that is built in.
    Default(&'p ChannelPattern),
    /// No line names it.
    Unlisted,
}

/// The whole table: the policy's lines over the default ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Channels {
    /// By name.
    exact: BTreeMap<Box<str>, ChannelLine>,
    /// By scheme. INVARIANT(narrowest-first): longer patterns come first.
    starred: BTreeMap<Box<str>, Vec<ChannelLine>>,
}

impl Channels {
    pub(super) fn new(lines: Vec<ChannelLine>) -> Self {
        let mut all: BTreeMap<Box<str>, ChannelLine> = BTreeMap::new();
        for &(text, worth, why) in DEFAULTS {
            let pattern = ChannelPattern::new(text);
            assert!(pattern.is_ok(), "a built-in pattern is one");
            let Ok(pattern) = pattern else { continue };
            let line = ChannelLine { pattern, worth, until_ms: None, scope: None, why: Some(why) };
            all.insert(text.into(), line);
        }
        all.extend(lines.into_iter().map(|line| (line.pattern.text.clone(), line)));
        let mut channels = Self::default();
        for (text, line) in all {
            if line.pattern.shape == Shape::Exact {
                channels.exact.insert(text, line);
            } else {
                let scheme = line.pattern.scheme().into();
                channels.starred.entry(scheme).or_default().push(line);
            }
        }
        for lines in channels.starred.values_mut() {
            lines.sort_by_key(|line| std::cmp::Reverse(line.pattern.text.len()));
        }
        channels
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &ChannelLine> {
        self.exact.values().chain(self.starred.values().flatten())
    }

    pub(super) fn at(&self, channel: &ChannelName, now_ms: u64) -> ChannelRule<'_> {
        let starred = || {
            let lines = self.starred.get(channel.scheme())?;
            lines.iter().find(|line| line.pattern.names(channel))
        };
        let nothing = ChannelRule {
            authority: Authority::Untrusted,
            inherits: false,
            until_ms: None,
            scope: None,
            from: ChannelFrom::Unlisted,
        };
        let Some(line) = self.exact.get(channel.as_str()).or_else(starred) else { return nothing };
        let pattern = &line.pattern;
        // The narrowest line decides also when it has ended: a wider one was not written for this channel.
        if line.until_ms.is_some_and(|until_ms| now_ms >= until_ms) {
            return ChannelRule { from: ChannelFrom::Expired(pattern), ..nothing };
        }
        let is_default = line.why.is_some();
        ChannelRule {
            authority: line.authority(),
            inherits: line.inherits(),
            until_ms: line.until_ms,
            scope: line.scope.as_ref(),
            from: if is_default {
                ChannelFrom::Default(pattern)
            } else {
                ChannelFrom::Policy(pattern)
            },
        }
    }

    /// Whether the built-in line for this pattern lets what is carried decide.
    pub(super) fn inherits_by_default(pattern: &ChannelPattern) -> bool {
        DEFAULTS.iter().any(|&(text, worth, _)| {
            worth == Worth::Inherits && text.split(':').next() == Some(pattern.scheme())
        })
    }
}
