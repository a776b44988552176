//! The arguments of a call as values, the one digest of a call, and how a person is shown it. Leaves out JSON itself: the
//! edge reads it, and refuses doubled keys. `docs/formats/values.md` has the bytes.

use core::fmt::{self, Write as _};
use std::collections::{BTreeMap, BTreeSet};

use crate::canon::{Digest, Writer};
use crate::kind::Number;

/// How many lists and maps may lie in one another.
pub const VALUE_DEPTH_MAX: usize = 32;
/// Values in a call, lists and maps included.
pub const VALUE_NODES_MAX: usize = 10_000;
/// Bytes of all texts and keys of a call together.
pub const VALUE_TEXT_MAX: usize = 1024 * 1024;
/// Bytes in the name of a tool.
pub const TOOL_NAME_MAX: usize = 256;
/// How many different characters outside ASCII are listed behind a text.
const LISTED_MAX: usize = 8;

/// One argument. A text is never a number: `"1"` and `1` are two values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, exactly; `1`, `1.0` and `1e0` are one value.
    Number(Number),
    /// A text, character for character.
    Text(String),
    /// A list; order counts.
    List(Vec<Self>),
    /// A map; order does not count.
    Map(BTreeMap<String, Self>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Why something is not a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The tool has no name, a long one, or one that could be shown as another.
    #[error(
        "the name of a tool is 1 to {TOOL_NAME_MAX} printable ASCII characters without spaces, and begins with no parenthesis"
    )]
    Tool,
    /// Lists in lists.
    #[error("argument `{argument}` nests lists and maps deeper than {VALUE_DEPTH_MAX}")]
    Depth {
        /// Which argument; shown with its control characters escaped.
        argument: String,
    },
    /// Too many values.
    #[error("the call holds more than {VALUE_NODES_MAX} values")]
    Nodes,
    /// Too much text.
    #[error("the texts of the call have more than {VALUE_TEXT_MAX} bytes")]
    Text,
}

/// One call of a tool, within its limits.
///
/// ```
/// use std::collections::BTreeMap;
/// use actum_core::{Call, Number, Value};
/// let pay = |amount: &str| {
///     let amount = Value::Number(Number::parse(amount).unwrap());
///     let arguments = [("amount".to_owned(), amount), ("payee".to_owned(), "DE89".into())];
///     Call::new("bank/pay", BTreeMap::from(arguments)).unwrap()
/// };
/// assert_eq!(pay("13").digest(), pay("13.00").digest());
/// assert_ne!(pay("13").digest(), pay("1300").digest());
/// assert_eq!(pay("13").to_string(), "bank/pay\n  amount = 13\n  payee = \"DE89\"\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    tool: Box<str>,
    arguments: BTreeMap<String, Value>,
}

impl Call {
    /// Checks the limits.
    ///
    /// # Errors
    /// [`CallError`] names the limit.
    pub fn new(tool: &str, arguments: BTreeMap<String, Value>) -> Result<Self, CallError> {
        let is_plain = tool.bytes().all(|byte| byte.is_ascii_graphic());
        // What is recorded beside calls has a name in parentheses, so no tool may.
        if tool.is_empty() || tool.len() > TOOL_NAME_MAX || !is_plain || tool.starts_with('(') {
            return Err(CallError::Tool);
        }
        let mut size = Size::default();
        for (name, value) in &arguments {
            size.text(name)?;
            size.value(value, 0).map_err(|error| {
                error.unwrap_or_else(|| CallError::Depth { argument: quoted(name) })
            })?;
        }
        Ok(Self { tool: tool.into(), arguments })
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// All arguments by name.
    pub const fn arguments(&self) -> &BTreeMap<String, Value> {
        &self.arguments
    }

    /// One argument.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name)
    }

    /// What an approval is bound to: equal exactly for equal calls.
    pub fn digest(&self) -> Digest {
        let mut writer = Writer::default();
        write_map(&mut writer, &self.arguments);
        Digest::of("actum/call/v1", &[self.tool.as_bytes(), &writer.0])
    }
}

/// For a person who is to approve it: the tool, then each argument on one line, nothing shortened, in the order of names.
/// Two different calls are never shown alike.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.tool)?;
        for (name, value) in &self.arguments {
            writeln!(f, "  {} = {value}", key(name))?;
        }
        Ok(())
    }
}

impl Value {
    /// The canonical bytes: a tag, then what the tag says, every length before its bytes.
    pub(crate) fn write(&self, writer: &mut Writer) {
        match self {
            Self::Null => writer.u8(0),
            Self::Bool(false) => writer.u8(1),
            Self::Bool(true) => writer.u8(2),
            Self::Number(number) => {
                writer.u8(3);
                writer.framed_long(number.as_str().as_bytes());
            }
            Self::Text(text) => {
                writer.u8(4);
                writer.framed_long(text.as_bytes());
            }
            Self::List(items) => {
                writer.u8(5);
                writer.count(items.len());
                for item in items {
                    item.write(writer);
                }
            }
            Self::Map(entries) => {
                writer.u8(6);
                write_map(writer, entries);
            }
        }
    }
}

fn write_map(writer: &mut Writer, entries: &BTreeMap<String, Value>) {
    writer.count(entries.len());
    for (key, value) in entries {
        writer.framed_long(key.as_bytes());
        value.write(writer);
    }
}

/// As JSON on one line, but with everything escaped that could hide or move something on a screen.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
                }
                f.write_char(']')
            }
            Self::Map(entries) => {
                f.write_char('{')?;
                for (at, (name, value)) in entries.iter().enumerate() {
                    write!(f, "{}{}: {value}", if at == 0 { "" } else { ", " }, key(name))?;
                }
                f.write_char('}')
            }
        }
    }
}

/// What has been counted so far.
#[derive(Default)]
struct Size {
    nodes: usize,
    text: usize,
}

impl Size {
    /// `Err(None)` is too deep: only the caller knows in which argument.
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Option<CallError>> {
        self.nodes += 1;
        if self.nodes > VALUE_NODES_MAX {
            return Err(Some(CallError::Nodes));
        }
        let within = || (depth < VALUE_DEPTH_MAX).then_some(()).ok_or(None);
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::Text(text) => self.text(text)?,
            Value::List(items) => {
                within()?;
                items.iter().try_for_each(|item| self.value(item, depth + 1))?;
            }
            Value::Map(entries) => {
                within()?;
                for (name, value) in entries {
                    self.text(name)?;
                    self.value(value, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), CallError> {
        self.text = self.text.saturating_add(text.len());
        if self.text > VALUE_TEXT_MAX { Err(CallError::Text) } else { Ok(()) }
    }
}

/// A name bare where nothing in it can be mistaken, else as a text.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// The text in quotes as a person may safely be shown it. Behind it stand its characters outside ASCII that are shown bare,
/// with their numbers, so that a look-alike letter is seen to be one.
pub(crate) fn quoted(text: &str) -> String {
    let (mut shown, mut foreign, mut previous) = (String::from("\""), Vec::new(), None);
    let mut seen = BTreeSet::new();
    for c in text.chars() {
        // A second space in a row could push what follows out of sight.
        let is_padding = c == ' ' && previous == Some(' ');
        match c {
            '"' | '\\' => shown.extend(['\\', c]),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c if is_padding || !is_plain(c) => shown.extend(c.escape_unicode()),
            c => {
                shown.push(c);
                if !c.is_ascii() && seen.insert(c) {
                    foreign.push(c);
                }
            }
        }
        previous = Some(c);
    }
    shown.push('"');
    if foreign.is_empty() {
        return shown;
    }
    let listed = foreign.iter().take(LISTED_MAX).map(|c| format!("{c} U+{:04X}", u32::from(*c)));
    let listed: Vec<String> = listed.collect();
    let more = match foreign.len().saturating_sub(LISTED_MAX) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{shown} (not ASCII: {}{more})", listed.join(", "))
}

/// Printable ASCII, and letters and digits of scripts that run from left to right. All else is shown by its number: control
/// and format characters, marks that sit on their neighbour, odd spaces, symbols, letters without a shape, and scripts that
/// run from right to left, because they turn what stands beside them around.
fn is_plain(c: char) -> bool {
    let has_no_shape = matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    let runs_left = matches!(
        u32::from(c),
        0x0590..=0x08ff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff | 0x1_0800..=0x1_0fff | 0x1_e800..=0x1_efff
    );
    let is_mark = unicode_normalization::char::is_combining_mark(c);
    (c == ' ' || c.is_ascii_graphic())
        || (!c.is_ascii() && c.is_alphanumeric() && !is_mark && !has_no_shape && !runs_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_hides_nothing() {
        for (text, shown) in [
            ("alice", r#""alice""#),
            ("a\nb\tc\r", r#""a\nb\tc\r""#),
            ("say \"hi\" \\ ", r#""say \"hi\" \\ ""#),
            ("a   b", r#""a \u{20}\u{20}b""#),
            ("a\u{202e}b\u{200b}\u{feff}", r#""a\u{202e}b\u{200b}\u{feff}""#),
            ("e\u{301}", r#""e\u{301}""#),
            ("\u{1b}[2K\0\u{9b}", r#""\u{1b}[2K\u{0}\u{9b}""#),
            ("אב", r#""\u{5d0}\u{5d1}""#),
            ("\u{3164}x\u{e0041}", r#""\u{3164}x\u{e0041}""#),
            ("аlice", "\"аlice\" (not ASCII: а U+0430)"),
            ("„x“\u{a0}", r#""\u{201e}x\u{201c}\u{a0}""#),
        ] {
            assert_eq!(quoted(text), shown);
        }
        assert!(quoted("ÀÁÂÃÄÅÆÇÈÉ").ends_with("Ç U+00C7, and 2 more)"));
    }
}
