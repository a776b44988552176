//! The names a person, a policy or an adapter gives: step, namespace, session, subject, tool, argument, author, channel. Each
//! has one normalisation and one limit, and its constructor is the only way in.

use core::borrow::Borrow;
use core::fmt;

use unicode_normalization::UnicodeNormalization as _;

/// Bytes in the name of a step, a namespace or a session.
pub const NAME_MAX: usize = 128;
/// Bytes in a subject.
pub const SUBJECT_MAX: usize = 1024;
/// Bytes in the name of a tool, an argument or an author.
pub const FREE_NAME_MAX: usize = 256;
/// Bytes in the name of a channel.
pub const CHANNEL_MAX: usize = 512;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing is left after normalisation.
    #[error("the {what} is empty")]
    Empty {
        /// Which name.
        what: &'static str,
    },
    /// Longer than its limit.
    #[error("the {what} has {length} bytes; the limit is {limit}")]
    Long {
        /// Which name.
        what: &'static str,
        /// Bytes after normalisation.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// A character that names may not hold.
    #[error("the {what} holds {}; {allowed}", spelled(*.character))]
    Character {
        /// Which name.
        what: &'static str,
        /// The first such character.
        character: char,
        /// What may stand there.
        allowed: &'static str,
    },
    /// A path that is absolute or climbs out.
    #[error("`{path}` is not inside the project; write a path relative to its root, without `..`")]
    Outside {
        /// What was given.
        path: String,
    },
    /// A subject without one of the known kinds.
    #[error("`{text}` is not a subject; write HEAD, file:PATH, dir:PATH or text:ANYTHING")]
    Kind {
        /// What was given.
        text: String,
    },
}

macro_rules! checked_name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:ident, $errors:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks the characters and the limit; nothing is changed, so names are equal only byte for byte.
            ///
            /// # Errors
            #[doc = $errors]
            pub fn new(text: &str) -> Result<Self, NameError> {
                $check($what, text).map(Self)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        /// Looked up by its text: equal and ordered as that is.
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

macro_rules! plain_name {
    ($($name:tt)*) => {
        checked_name!($($name)*, plain, "Empty, over [`NAME_MAX`], or a character outside `a-z A-Z 0-9 _ - . / : @`.");
    };
}

macro_rules! free_name {
    ($($name:tt)*) => {
        checked_name!($($name)*, free, "Empty, over [`FREE_NAME_MAX`], a control character, or white space at either end.");
    };
}

plain_name!(
    /// A named safety step that policy knows, such as `tests` or `validate_source`.
    ///
    /// ```
    /// use actum_core::StepName;
    /// assert!(StepName::new("validate_source").is_ok());
    /// assert!(StepName::new("tests ").is_err());
    /// ```
    StepName,
    "step"
);
plain_name!(
    /// Whose runs these are, such as `local/default`; runs of one namespace never answer for another.
    Namespace,
    "namespace"
);
plain_name!(
    /// Who asked for a run.
    SessionName,
    "session"
);

/// `local/default`.
impl Default for Namespace {
    fn default() -> Self {
        Self("local/default".into())
    }
}

fn plain(what: &'static str, text: &str) -> Result<Box<str>, NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { what });
    }
    if text.len() > NAME_MAX {
        return Err(NameError::Long { what, length: text.len(), limit: NAME_MAX });
    }
    let known = |c: char| c.is_ascii_alphanumeric() || "_-./:@".contains(c);
    match text.chars().find(|&c| !known(c)) {
        Some(character) => Err(NameError::Character {
            what,
            character,
            allowed: "letters, digits and _ - . / : @ may stand there",
        }),
        None => Ok(text.into()),
    }
}

/// A character for a message. Beyond ASCII its number is told as well, since many look alike.
fn spelled(character: char) -> String {
    let shown = format!("{character:?}");
    if character.is_ascii() || shown.starts_with("'\\") {
        return shown;
    }
    format!("{shown} (U+{:04X})", u32::from(character))
}

free_name!(
    /// A tool as its host or server calls it, such as `clinic/insert_record`.
    ///
    /// ```
    /// use actum_core::ToolName;
    /// assert!(ToolName::new("clinic/insert_record").is_ok());
    /// assert!(ToolName::new(" clinic/insert_record").is_err());
    /// ```
    ToolName,
    "tool"
);
free_name!(
    /// An argument of a tool's call: a key of its outermost object. A dot in it is only a dot.
    ArgumentName,
    "argument"
);
free_name!(
    /// Who wrote an entry, as the adapter saw it.
    AuthorName,
    "author"
);

fn free(what: &'static str, text: &str) -> Result<Box<str>, NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { what });
    }
    if text.len() > FREE_NAME_MAX {
        return Err(NameError::Long { what, length: text.len(), limit: FREE_NAME_MAX });
    }
    printable(what, text)?;
    let ends = [text.chars().next(), text.chars().next_back()];
    match ends.into_iter().flatten().find(|c| c.is_whitespace()) {
        Some(character) => Err(NameError::Character {
            what,
            character,
            allowed: "no white space may stand at either end",
        }),
        None => Ok(text.into()),
    }
}

fn printable(what: &'static str, text: &str) -> Result<(), NameError> {
    let allowed = "control characters may not stand there";
    match text.chars().find(|c| c.is_control()) {
        Some(character) => Err(NameError::Character { what, character, allowed }),
        None => Ok(()),
    }
}

/// How content reached the agent, as the adapter saw it: a bare word such as `user`, or a scheme and what it names, such as
/// `web:example.org`.
///
/// Nothing is normalised: the adapter writes hosts and addresses in one form, and another form is another channel, which no
/// policy approved.
///
/// ```
/// use actum_core::ChannelName;
/// let web = ChannelName::new("web:example.org").unwrap();
/// assert_eq!((web.scheme(), web.rest()), ("web", Some("example.org")));
/// assert_eq!(ChannelName::new("user").unwrap().rest(), None);
/// assert!(ChannelName::new("Web:example.org").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelName(Box<str>);

impl ChannelName {
    /// Checks the scheme, the characters and the limit.
    ///
    /// # Errors
    /// Empty, over [`CHANNEL_MAX`], a control character, a scheme that is not `[a-z][a-z0-9-]*`, or nothing after the colon.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let what = "channel";
        if text.is_empty() {
            return Err(NameError::Empty { what });
        }
        if text.len() > CHANNEL_MAX {
            return Err(NameError::Long { what, length: text.len(), limit: CHANNEL_MAX });
        }
        printable(what, text)?;
        let scheme = text.split(':').next().unwrap_or_default();
        let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let odd_first = scheme.chars().next().filter(|c| !c.is_ascii_lowercase());
        let odd = odd_first.or_else(|| scheme.chars().find(|&c| !known(c)));
        if let Some(character) = odd.or(scheme.is_empty().then_some(':')) {
            let allowed = "it is a word of a-z, 0-9 and -, or such a word and a colon before the rest, as in web:example.org";
            return Err(NameError::Character { what, character, allowed });
        }
        if text.ends_with(':') && text.len() == scheme.len() + 1 {
            return Err(NameError::Empty { what: "part of the channel after its colon" });
        }
        Ok(Self(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the first colon, or the whole of a bare word.
    pub fn scheme(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }

    /// What stands after the first colon.
    pub fn rest(&self) -> Option<&str> {
        self.0.split_once(':').map(|(_, rest)| rest)
    }
}

impl fmt::Display for ChannelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of thing a subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectKind {
    /// The work tree of the repository, as it lies on disk: `HEAD`.
    Git,
    /// One file: `file:PATH`.
    File,
    /// A folder with all it holds: `dir:PATH`.
    Dir,
    /// The text itself: `text:ANYTHING`.
    Text,
}

impl SubjectKind {
    /// The word in a policy and before the colon.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::File => "file",
            Self::Dir => "dir",
            Self::Text => "text",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Git, Self::File, Self::Dir, Self::Text].into_iter().find(|kind| kind.word() == word)
    }
}

/// What a step was performed on, by name. Its content is a digest beside it.
///
/// One declared normalisation, nothing fuzzy: Unicode NFC, and white space at both ends removed. Upper and lower case,
/// inner spaces and look-alike letters stay different. Paths are relative to the project, with `/`, without `.` and `..`.
///
/// ```
/// use actum_core::SubjectName;
/// let one = SubjectName::parse("text:X01 ").unwrap();
/// assert_eq!(one, SubjectName::parse("text:X01").unwrap());
/// assert_ne!(one, SubjectName::parse("text:x01").unwrap());
/// assert_eq!(SubjectName::parse("HEAD").unwrap().as_str(), "git:HEAD");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectName {
    kind: SubjectKind,
    text: Box<str>,
}

impl SubjectName {
    /// Reads `HEAD`, `git:HEAD`, `file:PATH`, `dir:PATH` or `text:ANYTHING`.
    ///
    /// # Errors
    /// An unknown kind, an empty or over-long name (more than [`SUBJECT_MAX`] bytes), a control character, or a path that
    /// is absolute or leaves the project.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text == "HEAD" {
            return Self::new(SubjectKind::Git, "HEAD");
        }
        let parts = text.split_once(':');
        let known = parts.and_then(|(word, rest)| Some((SubjectKind::from_word(word)?, rest)));
        let Some((kind, rest)) = known else {
            return Err(NameError::Kind { text: shown(text) });
        };
        Self::new(kind, rest)
    }

    /// A subject of `kind` with the part after the colon.
    ///
    /// # Errors
    /// As [`SubjectName::parse`].
    pub fn new(kind: SubjectKind, rest: &str) -> Result<Self, NameError> {
        let what = "subject";
        let normal: String = rest.nfc().collect();
        let normal = normal.trim();
        if normal.is_empty() {
            return Err(NameError::Empty { what });
        }
        if let Some(character) = normal.chars().find(|c| c.is_control()) {
            let allowed = "control characters may not stand there";
            return Err(NameError::Character { what, character, allowed });
        }
        let rest = match kind {
            SubjectKind::Git if normal == "HEAD" => normal.to_owned(),
            SubjectKind::Git => {
                return Err(NameError::Kind { text: shown(&format!("git:{normal}")) });
            }
            SubjectKind::File | SubjectKind::Dir => relative(normal)?,
            SubjectKind::Text => normal.to_owned(),
        };
        let text = format!("{}:{rest}", kind.word());
        if text.len() > SUBJECT_MAX {
            return Err(NameError::Long { what, length: text.len(), limit: SUBJECT_MAX });
        }
        Ok(Self { kind, text: text.into() })
    }

    /// The kind.
    pub const fn kind(&self) -> SubjectKind {
        self.kind
    }

    /// The whole name, kind included: what is written, hashed and compared.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part after the colon: a path, a text or `HEAD`.
    pub fn rest(&self) -> &str {
        self.text.split_once(':').map_or("", |(_, rest)| rest)
    }
}

impl fmt::Display for SubjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The path without `.` and doubled slashes; one that is absolute or climbs out is refused.
fn relative(path: &str) -> Result<String, NameError> {
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(NameError::Outside { path: shown(path) });
    }
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let path = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
    // Or the name of `./ x` would read as that of `x`.
    let ends = [path.chars().next(), path.chars().next_back()];
    match ends.into_iter().flatten().find(|c| c.is_whitespace()) {
        Some(character) => {
            let allowed = "white space may not stand at either end of a path";
            Err(NameError::Character { what: "subject", character, allowed })
        }
        None => Ok(path),
    }
}

/// The front of a text that is no name, for a message: a terminal obeys nothing in it.
fn shown(text: &str) -> String {
    text.chars().take(64).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
