//! Where the lines of a text begin. A line ends with `\n`, `\r\n` or `\r`, as in Markdown.

use std::ops::Range;

/// The lines of a text, by index from 0.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = [0].into_iter().chain(ends.map(|(at, _)| at + 1));
        Self { text, starts: starts.filter(|start| *start < text.len()).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The index of the line in which a byte stands.
    pub(super) fn index(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The number of that line, for a person.
    pub(super) fn number(&self, at: usize) -> usize {
        self.index(at) + 1
    }

    /// Where these lines stand, without the end of the last one.
    pub(super) fn range(&self, lines: Range<usize>) -> Range<usize> {
        let start = |line| self.starts.get(line).copied().unwrap_or(self.text.len());
        let (from, until) = (start(lines.start), start(lines.end));
        let text = self.text.get(from..until).unwrap_or_default();
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        from..from + text.len()
    }

    /// A line without its end.
    pub(super) fn line(&self, index: usize) -> &'a str {
        self.text.get(self.range(index..index + 1)).unwrap_or_default()
    }

    pub(super) fn is_blank(&self, index: usize) -> bool {
        is_blank(self.line(index))
    }
}

/// Whether a text is only what is white in ASCII. A wider notion could hide what a model sees.
pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}
