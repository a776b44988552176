//! The rules of the `.gitignore` files of a work tree, as git reads them. No other source of rules exists here: nothing
//! outside the tree, and nothing in `.git`, may decide what is counted.

use std::path::Path;
use std::rc::Rc;

use gix::glob::{Pattern, pattern, wildmatch};

use super::SubjectError;
use super::read::read_small;

/// Bytes of one `.gitignore`.
const IGNORE_BYTES_MAX: u64 = 4 << 20;

/// The rules of one folder, and those of the folders above it.
#[derive(Debug)]
pub(super) struct Ignored {
    patterns: Vec<Pattern>,
    /// Bytes of a path before the part these patterns see.
    base: usize,
    above: Option<Rc<Self>>,
}

impl Ignored {
    /// Adds the rules in `file` for the folder at `folder`, a path from the root. A `.gitignore` that is no regular file
    /// has none: git follows no link there, and a pipe is never opened.
    pub(super) fn load(
        file: &Path,
        folder: &[u8],
        above: Option<&Rc<Self>>,
    ) -> Result<Option<Rc<Self>>, SubjectError> {
        let what = "bytes in one `.gitignore`";
        let Some(bytes) = read_small(file, IGNORE_BYTES_MAX, what)? else {
            return Ok(above.cloned());
        };
        let patterns = parse(&bytes);
        if patterns.is_empty() {
            return Ok(above.cloned());
        }
        let base = if folder.is_empty() { 0 } else { folder.len() + 1 };
        Ok(Some(Rc::new(Self { patterns, base, above: above.cloned() })))
    }

    /// The nearest folder with a rule for `path` decides, and in it the last one. What is below an ignored folder is not
    /// asked for: the walk does not go there.
    pub(super) fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(here) = rules {
            let seen = path.get(here.base..).unwrap_or_default();
            let hit = here.patterns.iter().rev().find(|pattern| hits(pattern, seen, is_folder));
            if let Some(pattern) = hit {
                return !pattern.is_negative();
            }
            rules = here.above.as_deref();
        }
        false
    }
}

/// One rule against one path, as `dir.c` of git does it. The part before the first wildcard is compared and cut off first,
/// so that `a**/b` is `a` and then `**/b`; this is what git does, and not what its manual says.
fn hits(pattern: &Pattern, path: &[u8], is_folder: bool) -> bool {
    if pattern.mode.contains(pattern::Mode::MUST_BE_DIR) && !is_folder {
        return false;
    }
    let anywhere = pattern.mode.contains(pattern::Mode::NO_SUB_DIR)
        && !pattern.mode.contains(pattern::Mode::ABSOLUTE);
    if anywhere {
        let name = path.rsplit(|&b| b == b'/').next().unwrap_or_default();
        return pattern.matches(name.into(), wildmatch::Mode::empty());
    }
    let literal = pattern.first_wildcard_pos.unwrap_or(pattern.text.len());
    let Some((literal, wild)) = pattern.text.split_at_checked(literal) else { return false };
    let Some(rest) = path.strip_prefix(literal) else { return false };
    let mode = wildmatch::Mode::NO_MATCH_SLASH_LITERAL;
    (wild.is_empty() && rest.is_empty()) || wildmatch(wild.into(), rest.into(), mode)
}

fn parse(bytes: &[u8]) -> Vec<Pattern> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = lines.filter(|line| !line.starts_with(b"#"));
    lines.filter_map(|line| Pattern::from_bytes(without_trailing_spaces(line))).collect()
}

/// Spaces at the end do not count, unless a backslash stands before them.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut bytes = line.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b' ' => {}
            b'\\' if bytes.next().is_some() => end = at + 2,
            _ => end = at + 1,
        }
    }
    line.get(..end).unwrap_or(line)
}
