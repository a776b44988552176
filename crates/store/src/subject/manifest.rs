//! What a subject is made of: a sorted list of lines, its bytes and its digest. Knows nothing of the disk.
//!
//! `docs/formats/subject.md` states the bytes. They are injective: two different manifests never have the same ones.

use core::fmt;

use actum_core::{Digest, SubjectKind, hex};

use super::path::{PATH_BYTES_MAX, TreePath};

/// Lines in a manifest, which is files in a subject.
pub const FILES_MAX: usize = 1_000_000;
/// Bytes of an encoded manifest.
pub const MANIFEST_BYTES_MAX: usize = 256 << 20;

const MAGIC: &[u8; 8] = b"ACTUMSJ1";
const DOMAIN: &str = "actum/subject/v1";
const LINE_BYTES_MIN: usize = 3;

/// What was found on disk, in a fixed order of lines. Made by [`take`](super::take) or decoded; always well formed.
///
/// ```
/// use actum_core::{Digest, SubjectKind};
/// use actum_store::subject::{Found, Line, Manifest, TreePath};
/// let line = Line { path: TreePath::new(b"a.txt").unwrap(), found: Found::File(Digest::plain(b"hello")) };
/// let manifest = Manifest::new(SubjectKind::Dir, None, vec![line]).unwrap();
/// assert_eq!(Manifest::from_bytes(&manifest.to_bytes()).unwrap(), manifest);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    kind: SubjectKind,
    head: Option<Head>,
    lines: Vec<Line>,
}

/// One path and what lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where, counted from the root of the subject.
    pub path: TreePath,
    /// What.
    pub found: Found,
}

/// What lies at a path. Digests are plain SHA-256, as `sha256sum` prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A regular file that nobody may execute, and its content.
    File(Digest),
    /// A regular file with any executable bit, and its content.
    Executable(Digest),
    /// A symbolic link, and its text; never what it points to.
    Link(Digest),
    /// A named pipe; never opened.
    Fifo,
    /// A socket; never opened.
    Socket,
    /// A block device; never opened.
    BlockDevice,
    /// A character device; never opened.
    CharacterDevice,
    /// Not on disk: the text of a `text:` subject.
    Text(Digest),
}

impl Found {
    fn code(self) -> u8 {
        match self {
            Self::File(_) => 1,
            Self::Executable(_) => 2,
            Self::Link(_) => 3,
            Self::Fifo => 4,
            Self::Socket => 5,
            Self::BlockDevice => 6,
            Self::CharacterDevice => 7,
            Self::Text(_) => 8,
        }
    }

    /// The digest of the content, where there is one.
    pub const fn content(self) -> Option<Digest> {
        match self {
            Self::File(digest)
            | Self::Executable(digest)
            | Self::Link(digest)
            | Self::Text(digest) => Some(digest),
            Self::Fifo | Self::Socket | Self::BlockDevice | Self::CharacterDevice => None,
        }
    }

    /// What it is, in plain words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::File(_) => "a plain file",
            Self::Executable(_) => "an executable file",
            Self::Link(_) => "a symbolic link",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::BlockDevice => "a block device",
            Self::CharacterDevice => "a character device",
            Self::Text(_) => "a text",
        }
    }

    pub(super) fn same_mode(self, other: Self) -> bool {
        self.code() == other.code()
    }
}

/// Where a repository stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The commit.
    pub commit: GitId,
    /// Its tree.
    pub tree: GitId,
}

/// The SHA-1 id of a git object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GitId(pub [u8; 20]);

impl GitId {
    /// The first 12 hexadecimal digits, for a person.
    pub fn short(&self) -> String {
        let mut text = hex(&self.0);
        text.truncate(12);
        text
    }
}

impl fmt::Display for GitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Why lines or bytes are not a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The first eight bytes are not those of a manifest of this version.
    #[error("the bytes do not begin with `ACTUMSJ1`, so they are no manifest of version 1")]
    Magic,
    /// The bytes end too soon.
    #[error("the manifest ends in the middle of {part}")]
    Short {
        /// What was being read.
        part: &'static str,
    },
    /// A code that version 1 does not know.
    #[error("the manifest holds {code} as {part}, which version 1 does not know")]
    Code {
        /// What was being read.
        part: &'static str,
        /// What stood there.
        code: u8,
    },
    /// Bytes follow the last line.
    #[error("{count} bytes follow the last line of the manifest")]
    Trailing {
        /// How many.
        count: usize,
    },
    /// Over a limit.
    #[error("the manifest has {count} {what}; the limit is {limit}")]
    Limit {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A path that is absolute, leaves its root, holds a NUL or is too long.
    #[error(
        "line {line} of the manifest has a path that is none, or one of more than {PATH_BYTES_MAX} bytes"
    )]
    Path {
        /// Counted from 0.
        line: usize,
    },
    /// Not in strictly rising order of path bytes.
    #[error("line {line} of the manifest does not come after the line before it")]
    Order {
        /// Counted from 0.
        line: usize,
    },
    /// Lines or a head that this kind of subject cannot have.
    #[error("a manifest of kind {kind} cannot hold {what}")]
    Shape {
        /// The kind's word.
        kind: &'static str,
        /// What it holds.
        what: &'static str,
    },
}

impl Manifest {
    /// Checks what every manifest promises: the order of lines, the limits, and what its kind may hold.
    ///
    /// # Errors
    /// Lines that are not strictly sorted by the bytes of their path, more than [`FILES_MAX`] lines, more than
    /// [`MANIFEST_BYTES_MAX`] bytes, a head outside `git`, a text outside `text`, and anything but one file or one text
    /// in those kinds.
    pub fn new(
        kind: SubjectKind,
        head: Option<Head>,
        lines: Vec<Line>,
    ) -> Result<Self, ManifestError> {
        limit("lines", lines.len(), FILES_MAX)?;
        limit("bytes", encoded_length(&lines), MANIFEST_BYTES_MAX)?;
        let sorted = |pair: &[Line]| matches!(pair, [one, next] if one.path < next.path);
        if let Some(before) = lines.windows(2).position(|pair| !sorted(pair)) {
            return Err(ManifestError::Order { line: before + 1 });
        }
        let shape = |what| ManifestError::Shape { kind: kind.word(), what };
        if head.is_some() && kind != SubjectKind::Git {
            return Err(shape("a commit"));
        }
        let text = |line: &Line| matches!(line.found, Found::Text(_));
        let nameless = |line: &Line| line.path.as_bytes().is_empty();
        match (kind, lines.as_slice()) {
            (SubjectKind::Text, [line]) if text(line) && nameless(line) => {}
            (SubjectKind::Text, _) => return Err(shape("anything but one text")),
            (_, lines) if lines.iter().any(text) => return Err(shape("a text")),
            (_, [first, ..]) if nameless(first) => return Err(ManifestError::Path { line: 0 }),
            (SubjectKind::File, [line])
                if matches!(line.found, Found::File(_) | Found::Executable(_)) => {}
            (SubjectKind::File, _) => return Err(shape("anything but one regular file")),
            (SubjectKind::Git | SubjectKind::Dir, _) => {}
        }
        Ok(Self { kind, head, lines })
    }

    /// What the ledger binds.
    pub fn digest(&self) -> Digest {
        Digest::of(DOMAIN, &[self.kind.word().as_bytes(), &self.to_bytes()])
    }

    /// The kind of the subject.
    pub const fn kind(&self) -> SubjectKind {
        self.kind
    }

    /// Commit and tree; `None` outside `git` and in a repository without a commit.
    pub const fn head(&self) -> Option<Head> {
        self.head
    }

    /// The lines, sorted by the bytes of their path.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The canonical bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(encoded_length(&self.lines));
        bytes.extend_from_slice(MAGIC);
        bytes.push(kind_code(self.kind));
        if self.kind == SubjectKind::Git {
            bytes.push(u8::from(self.head.is_some()));
        }
        if let Some(head) = self.head {
            bytes.extend_from_slice(&head.commit.0);
            bytes.extend_from_slice(&head.tree.0);
        }
        // INVARIANT(limits): `Manifest::new` checked the number of lines, `TreePath::new` the length of each path.
        bytes.extend(u32::try_from(self.lines.len()).unwrap_or(u32::MAX).to_be_bytes());
        for line in &self.lines {
            let path = line.path.as_bytes();
            bytes.extend(u16::try_from(path.len()).unwrap_or(u16::MAX).to_be_bytes());
            bytes.extend_from_slice(path);
            bytes.push(line.found.code());
            if let Some(digest) = line.found.content() {
                bytes.extend_from_slice(digest.as_bytes());
            }
        }
        bytes
    }

    /// Reads canonical bytes. Nothing else has the same meaning: what is accepted encodes to the very bytes again.
    ///
    /// # Errors
    /// Any departure from `docs/formats/subject.md`. Memory is bounded by the length of `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ManifestError> {
        limit("bytes", bytes.len(), MANIFEST_BYTES_MAX)?;
        let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(ManifestError::Magic) };
        let mut reader = Reader(rest);
        let kind = reader.kind()?;
        let head = if kind == SubjectKind::Git { reader.head()? } else { None };
        let count = u32::from_be_bytes(reader.array("the number of lines")?);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        limit("lines", count, FILES_MAX)?;
        // The number is only claimed; the bytes that are there bound what is set aside for it.
        let mut lines = Vec::with_capacity(count.min(reader.0.len() / LINE_BYTES_MIN));
        for line in 0..count {
            lines.push(reader.line(line, kind)?);
        }
        if !reader.0.is_empty() {
            return Err(ManifestError::Trailing { count: reader.0.len() });
        }
        Self::new(kind, head, lines)
    }
}

fn limit(what: &'static str, count: usize, limit: usize) -> Result<(), ManifestError> {
    if count > limit {
        return Err(ManifestError::Limit { what, count, limit });
    }
    Ok(())
}

/// At least as long as the bytes: the longest header, and every line with a digest.
fn encoded_length(lines: &[Line]) -> usize {
    let line = |line: &Line| {
        LINE_BYTES_MIN + line.path.as_bytes().len() + line.found.content().map_or(0, |_| 32)
    };
    54 + lines.iter().map(line).sum::<usize>()
}

const KINDS: [SubjectKind; 4] =
    [SubjectKind::Git, SubjectKind::File, SubjectKind::Dir, SubjectKind::Text];

fn kind_code(kind: SubjectKind) -> u8 {
    match kind {
        SubjectKind::Git => 1,
        SubjectKind::File => 2,
        SubjectKind::Dir => 3,
        SubjectKind::Text => 4,
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self, part: &'static str) -> Result<[u8; N], ManifestError> {
        let Some((head, rest)) = self.0.split_first_chunk::<N>() else {
            return Err(ManifestError::Short { part });
        };
        self.0 = rest;
        Ok(*head)
    }

    fn slice(&mut self, length: usize, part: &'static str) -> Result<&'a [u8], ManifestError> {
        let Some((head, rest)) = self.0.split_at_checked(length) else {
            return Err(ManifestError::Short { part });
        };
        self.0 = rest;
        Ok(head)
    }

    fn kind(&mut self) -> Result<SubjectKind, ManifestError> {
        let [code] = self.array("the kind")?;
        let known = KINDS.into_iter().find(|&kind| kind_code(kind) == code);
        known.ok_or(ManifestError::Code { part: "kind", code })
    }

    fn head(&mut self) -> Result<Option<Head>, ManifestError> {
        match self.array("the head")? {
            [0] => Ok(None),
            [1] => {
                let commit = GitId(self.array("the commit")?);
                let tree = GitId(self.array("the tree")?);
                Ok(Some(Head { commit, tree }))
            }
            [code] => Err(ManifestError::Code { part: "head", code }),
        }
    }

    fn line(&mut self, line: usize, kind: SubjectKind) -> Result<Line, ManifestError> {
        let length = u16::from_be_bytes(self.array("a path")?);
        let path = match self.slice(usize::from(length), "a path")? {
            b"" if kind == SubjectKind::Text => TreePath::of_text(),
            bytes => TreePath::new(bytes).ok_or(ManifestError::Path { line })?,
        };
        let found = match self.array("a line")? {
            [1] => Found::File(self.digest()?),
            [2] => Found::Executable(self.digest()?),
            [3] => Found::Link(self.digest()?),
            [4] => Found::Fifo,
            [5] => Found::Socket,
            [6] => Found::BlockDevice,
            [7] => Found::CharacterDevice,
            [8] => Found::Text(self.digest()?),
            [code] => return Err(ManifestError::Code { part: "what lies at a path", code }),
        };
        Ok(Line { path, found })
    }

    fn digest(&mut self) -> Result<Digest, ManifestError> {
        self.array("a digest").map(Digest::from_bytes)
    }
}
