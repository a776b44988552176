//! Messages of MCP as they stand on the wire: their envelope, and of a call to a tool what is gated on. Knows nothing of
//! decisions, sessions or pipes.
//!
//! Whatever is not gated is a line that passes as it came. Of a gated one nothing may read otherwise behind us: a member that
//! stands twice, one that some readers take for another, text that is no Unicode - all are refused.

use std::collections::BTreeMap;
use std::fmt;

use actum_core::{Call, Value};
use actum_store::{CONTENT_MAX, arguments_to_json, call_from_json};
use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Bytes of one message.
pub const MESSAGE_MAX: usize = 64 << 20;
/// Bytes of the id of a request.
pub const ID_MAX: usize = 256;
/// Members of an envelope, or of the parameters of a call.
pub const MEMBERS_MAX: usize = 256;
/// Tools in one answer to `tools/list`.
pub const LISTED_MAX: usize = 4096;

/// Where a request says which revision of the protocol it speaks, since 2026-07-28.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where it says what its client can do.
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Where it says who its client is.
pub const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// Why a line is no message, or one that is refused. Each has its code in the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is not UTF-8.
    #[error("the message is not UTF-8: byte {at} is wrong")]
    NotText {
        /// Where.
        at: usize,
    },
    /// It is not JSON.
    #[error("the message is not JSON: {what}")]
    NotJson {
        /// What the reader said.
        what: String,
    },
    /// Over [`MESSAGE_MAX`].
    #[error("the message has more than {MESSAGE_MAX} bytes")]
    Oversized,
    /// Several messages in a list.
    #[error(
        "the message is a batch, which is no part of the protocol since 2025-06-18; send its messages one by one"
    )]
    Batch,
    /// The envelope is none.
    #[error("{what}")]
    Envelope {
        /// What is wrong with it.
        what: String,
    },
    /// The parameters are not those of a call.
    #[error("{what}")]
    Params {
        /// What is wrong with them.
        what: String,
    },
}

impl Flaw {
    /// The code of JSON-RPC for it.
    pub const fn code(&self) -> i32 {
        match self {
            Self::NotText { .. } | Self::NotJson { .. } => -32700,
            Self::Oversized | Self::Batch | Self::Envelope { .. } => -32600,
            Self::Params { .. } => -32602,
        }
    }

    fn envelope(what: impl Into<String>) -> Self {
        Self::Envelope { what: what.into() }
    }

    fn params(what: impl Into<String>) -> Self {
        Self::Params { what: what.into() }
    }
}

/// The id of a request, in one form: two spellings of one text are one id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// An id of ours.
    pub fn ours(text: &str) -> Self {
        Self(quoted(text))
    }

    /// An id that is a number, by its digits.
    pub(crate) fn number(digits: &str) -> Option<Self> {
        Self::read(digits).ok()
    }

    fn read(raw: &str) -> Result<Self, Flaw> {
        if raw.len() > ID_MAX {
            return Err(Flaw::envelope(format!("the id has more than {ID_MAX} bytes")));
        }
        if raw.starts_with('"') {
            let text: String = serde_json::from_str(raw)
                .map_err(|error| Flaw::envelope(format!("the id is no text: {error}")))?;
            return Ok(Self(quoted(&text)));
        }
        let digits = raw.strip_prefix('-').unwrap_or(raw);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_whole && raw != "-0" {
            return Ok(Self(raw.to_owned()));
        }
        Err(Flaw::envelope("the id is neither a text nor a whole number"))
    }

    /// As it is written in JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// It wants an answer.
    Request {
        /// Under this id.
        id: Id,
        /// What is asked.
        method: String,
    },
    /// It wants none.
    Notification {
        /// What it tells.
        method: String,
    },
    /// It is the answer to a request.
    Response {
        /// Which one; none where the other side could not read it.
        id: Option<Id>,
        /// Whether it is a result and no error.
        is_result: bool,
    },
}

/// One message, and where its parts stand.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    line: &'a str,
    /// What it is.
    pub kind: Kind,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

const ENVELOPE: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];

impl<'a> Message<'a> {
    /// Reads the envelope of one line, without its end.
    ///
    /// ```
    /// use actum_serve::guard::{Kind, Message};
    /// let line = br#"{"jsonrpc":"2.0","id":7,"method":"ping","x":{"y":1,"y":2}}"#;
    /// assert!(matches!(Message::read(line)?.kind, Kind::Request { method, .. } if method == "ping"));
    /// assert!(Message::read(br#"{"jsonrpc":"2.0","method":"ping","Method":"tools/call"}"#).is_err());
    /// # Ok::<(), actum_serve::guard::Flaw>(())
    /// ```
    ///
    /// # Errors
    /// [`Flaw`].
    pub fn read(line: &'a [u8]) -> Result<Self, Flaw> {
        if line.len() > MESSAGE_MAX {
            return Err(Flaw::Oversized);
        }
        let line = core::str::from_utf8(line)
            .map_err(|error| Flaw::NotText { at: error.valid_up_to() })?;
        let raw: &RawValue = serde_json::from_str(line)
            .map_err(|error| Flaw::NotJson { what: error.to_string() })?;
        match raw.get().as_bytes().first() {
            Some(b'{') => {}
            Some(b'[') => return Err(Flaw::Batch),
            Some(_) | None => return Err(Flaw::envelope("the message is no object")),
        }
        let members = members_of(raw).map_err(Flaw::envelope)?;
        let mut found: [Option<&RawValue>; 6] = [None; 6];
        for (name, value) in members {
            let at = ENVELOPE.iter().position(|known| *known == name);
            let Some(at) = at else {
                look_alike(&name, ENVELOPE).map_err(Flaw::envelope)?;
                continue;
            };
            let Some(slot) = found.get_mut(at) else { continue };
            if slot.replace(value).is_some() {
                return Err(Flaw::envelope(format!("the member {name} is there twice")));
            }
        }
        let [version, id, method, params, result, error] = found;
        if version.map(RawValue::get).and_then(text_of).as_deref() != Some("2.0") {
            return Err(Flaw::envelope("the member jsonrpc is not \"2.0\""));
        }
        let method = match method.map(|raw| text_of(raw.get())) {
            Some(Some(method)) => {
                look_alike_method(&method).map_err(Flaw::envelope)?;
                Some(method)
            }
            Some(None) => return Err(Flaw::envelope("the member method is no text")),
            None => None,
        };
        let is_null = id.is_some_and(|id| id.get() == "null");
        let known = id.filter(|_| !is_null).map(|id| Id::read(id.get())).transpose()?;
        let kind = match (method, result.is_some(), error.is_some()) {
            (Some(method), false, false) => match (known, is_null) {
                (Some(id), _) => Kind::Request { id, method },
                (None, true) => return Err(Flaw::envelope("the id of a request is not null")),
                (None, false) => Kind::Notification { method },
            },
            (None, true, false) if known.is_some() => Kind::Response { id: known, is_result: true },
            (None, false, true) => Kind::Response { id: known, is_result: false },
            (_, _, _) => {
                return Err(Flaw::envelope("the message is no request, notification or answer"));
            }
        };
        Ok(Self { line, kind, params, result, error })
    }

    /// Reads a message that stands on a line of a pipe. As [`Message::read`], and no carriage return stands within it: it is white
    /// space to a JSON parser and the end of a line to many readers of lines, who would find another message behind it.
    ///
    /// # Errors
    /// [`Flaw`].
    pub fn on_a_line(line: &'a [u8]) -> Result<Self, Flaw> {
        let within = line.strip_suffix(b"\r").unwrap_or(line);
        if within.contains(&b'\r') {
            return Err(Flaw::envelope(
                "a carriage return within a message, where many readers end the line",
            ));
        }
        Self::read(line)
    }

    /// The whole line.
    pub const fn line(&self) -> &'a str {
        self.line
    }

    /// The parameters as they stand.
    pub fn params(&self) -> Option<&'a str> {
        self.params.map(RawValue::get)
    }

    /// The result as it stands.
    pub fn result(&self) -> Option<&'a str> {
        self.result.map(RawValue::get)
    }

    /// The error as it stands.
    pub fn error(&self) -> Option<&'a str> {
        self.error.map(RawValue::get)
    }

    /// The line with other parameters.
    pub fn with_params(&self, params: &str) -> String {
        self.params.map_or_else(|| self.line.to_owned(), |old| replaced(self.line, old, params))
    }

    /// The line with another result.
    pub fn with_result(&self, result: &str) -> String {
        self.result.map_or_else(|| self.line.to_owned(), |old| replaced(self.line, old, result))
    }
}

/// The line with one of its values exchanged.
fn replaced(line: &str, old: &RawValue, new: &str) -> String {
    // A raw value is a part of the line it was read from.
    let from = (old.get().as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    let (before, rest) = line.split_at_checked(from).unwrap_or((line, ""));
    let after = rest.get(old.get().len()..).unwrap_or_default();
    [before, new, after].concat()
}

/// A call to a tool, strictly read.
#[derive(Debug, Clone)]
pub struct ToolCall<'a> {
    /// What the gate judges: the tool under the name of its server, and its arguments.
    pub call: Call,
    /// The tool as the server calls it.
    pub tool: String,
    /// How the request says that it is of the stateless era, and what it says of its client.
    pub client: Option<ClientMeta>,
    /// The state that the other side gave with a question.
    pub request_state: Option<String>,
    /// The answers to its questions.
    pub responses: BTreeMap<String, Value>,
    members: Vec<(String, &'a RawValue)>,
}

/// What a request of the stateless era says of its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientMeta {
    /// The revision it speaks.
    pub version: String,
    /// Whether it can show a form.
    pub can_ask: bool,
    /// What it calls itself.
    pub name: Option<String>,
}

const CALL_MEMBERS: &[&str] =
    &["name", "arguments", "_meta", "task", "inputResponses", "requestState"];

impl<'a> ToolCall<'a> {
    /// Reads the parameters of a `tools/call` to this server.
    ///
    /// # Errors
    /// [`Flaw::Params`].
    pub fn read(server: &str, params: Option<&'a str>) -> Result<Self, Flaw> {
        let raw: &RawValue = params
            .and_then(|params| serde_json::from_str(params).ok())
            .ok_or_else(|| Flaw::params("the call has no parameters"))?;
        // The strict reader refuses what two readers could read otherwise, at any depth.
        let strict = call_from_json("params", raw.get())
            .map_err(|error| Flaw::params(format!("the parameters of the call: {error}")))?;
        let members = members_of(raw).map_err(Flaw::params)?;
        for (name, _) in &members {
            look_alike(name, CALL_MEMBERS).map_err(Flaw::params)?;
        }
        let Some(Value::Text(tool)) = strict.argument("name") else {
            return Err(Flaw::params("the call names no tool"));
        };
        let arguments = match strict.argument("arguments") {
            Some(Value::Map(arguments)) => arguments.clone(),
            Some(Value::Null) | None => BTreeMap::new(),
            Some(Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_)) => {
                return Err(Flaw::params("the arguments of the call are no object"));
            }
        };
        let mut folds = BTreeMap::new();
        for name in arguments.keys() {
            if let Some(other) = folds.insert(folded(name), name) {
                let (one, other) = (quoted(name), quoted(other));
                let what = format!("some readers take the arguments {other} and {one} for one");
                return Err(Flaw::params(what));
            }
        }
        let request_state = match strict.argument("requestState") {
            Some(Value::Text(state)) => Some(state.clone()),
            None => None,
            Some(_) => return Err(Flaw::params("the member requestState is no text")),
        };
        let responses = match strict.argument("inputResponses") {
            Some(Value::Map(responses)) => responses.clone(),
            None => BTreeMap::new(),
            Some(_) => return Err(Flaw::params("the member inputResponses is no object")),
        };
        let call = Call::new(&format!("{server}/{tool}"), arguments)
            .map_err(|error| Flaw::params(error.to_string()))?;
        let client = strict.argument("_meta").and_then(client_of);
        Ok(Self { call, tool: tool.clone(), client, request_state, responses, members })
    }

    /// Its parameters as they leave: the arguments as the bytes whose digest was decided, the rest as it came. What belongs to
    /// a question of ours is ours, and stays here.
    pub fn outgoing(&self, answered: Answered<'_>) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut has_arguments = false;
        for (name, raw) in &self.members {
            let value = match (name.as_str(), answered) {
                ("arguments", _) => {
                    has_arguments = true;
                    arguments_to_json(&self.call)
                }
                ("inputResponses" | "requestState", Answered::Ours) => continue,
                ("requestState", Answered::Theirs(inner)) => match inner {
                    Some(inner) => quoted(inner),
                    None => continue,
                },
                (_, _) => raw.get().to_owned(),
            };
            parts.push(format!("{}:{value}", quoted(name)));
        }
        if !has_arguments && !self.call.arguments().is_empty() {
            parts.push(format!("\"arguments\":{}", arguments_to_json(&self.call)));
        }
        format!("{{{}}}", parts.join(","))
    }
}

/// Whose question the call brings an answer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered<'s> {
    /// Nobody's: it is a first call.
    Nothing,
    /// One of ours.
    Ours,
    /// One of the server's, with the state that it gave.
    Theirs(Option<&'s str>),
}

/// What `_meta` says of a client of the stateless era; nothing for one of the era before.
pub fn client_of(meta: &Value) -> Option<ClientMeta> {
    let Value::Map(meta) = meta else { return None };
    let Some(Value::Text(version)) = meta.get(META_VERSION) else { return None };
    let can_ask = match meta.get(META_CAPABILITIES) {
        Some(Value::Map(can)) => can_show_forms(can.get("elicitation")),
        Some(_) | None => false,
    };
    let name = match meta.get(META_CLIENT) {
        Some(Value::Map(info)) => match info.get("name") {
            Some(Value::Text(name)) => Some(name.clone()),
            Some(_) | None => None,
        },
        Some(_) | None => None,
    };
    Some(ClientMeta { version: version.clone(), can_ask, name })
}

/// Whether a client's word on elicitation covers forms: an empty one does, and one that names them.
pub fn can_show_forms(elicitation: Option<&Value>) -> bool {
    match elicitation {
        Some(Value::Map(modes)) => modes.is_empty() || modes.contains_key("form"),
        Some(_) | None => false,
    }
}

/// The members of an object as they stand. Names that cannot be decoded are refused.
pub(crate) fn members_of(raw: &RawValue) -> Result<Vec<(String, &RawValue)>, String> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry::<String, &RawValue>()? {
                if members.len() == MEMBERS_MAX {
                    return Err(A::Error::custom(format!("more than {MEMBERS_MAX} members")));
                }
                members.push(member);
            }
            Ok(members)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(raw.get());
    reader.deserialize_map(Members).map_err(|error| error.to_string())
}

/// Refuses a name that some readers take for one of `known`: they look past case.
fn look_alike(name: &str, known: &[&str]) -> Result<(), String> {
    let fold = folded(name);
    match known.iter().find(|known| **known != name && folded(known) == fold) {
        Some(known) => Err(format!("some readers take the member {} for {known}", quoted(name))),
        None => Ok(()),
    }
}

/// Methods that are judged themselves.
const JUDGED: &[&str] = &["tools/call", "sampling/createMessage"];

/// Methods whose answers are put before a model, and recorded.
pub(crate) const SHOWN: &[&str] = &[
    "initialize",
    "server/discover",
    "tools/list",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "tasks/result",
    "tasks/get",
];

/// Refuses a method that some readers take for one of these: they look past case and white space, or end it at a NUL.
fn look_alike_method(method: &str) -> Result<(), String> {
    let ends = method.split('\0').next().unwrap_or_default();
    let fold = folded(ends.trim_matches(|c: char| c.is_whitespace() || c.is_control()));
    let mut watched = JUDGED.iter().chain(SHOWN);
    match watched.find(|known| **known != method && folded(known) == fold) {
        Some(known) => Err(format!("some readers take the method {} for {known}", quoted(method))),
        None => Ok(()),
    }
}

/// A name without its case, as lenient readers compare names: also the long s and the sign for Kelvin.
fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

fn text_of(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    // A text always has a JSON form.
    serde_json::to_string(text).unwrap_or_default()
}

/// A tool as its server defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The tool as the server calls it.
    pub name: String,
    /// What is pinned: everything but notes and pictures, in one form.
    pub pinned: String,
    /// What the server says of it, where it does.
    pub read_only: Option<bool>,
    /// Its arguments, as its schema names them.
    pub arguments: Vec<String>,
    /// The step of a person, in one line.
    pub description: String,
}

/// The tools of an answer to `tools/list`, each with its text; nothing in place of one that two readers could read otherwise.
///
/// # Errors
/// What is no such answer.
pub fn definitions(result: &str) -> Result<Vec<(&str, Option<Definition>)>, Flaw> {
    let bad = |what: &str| Flaw::Params { what: format!("the answer to tools/list: {what}") };
    let raw: &RawValue = serde_json::from_str(result).map_err(|error| bad(&error.to_string()))?;
    let members = members_of(raw).map_err(|what| bad(&what))?;
    let mut tools = members.iter().filter(|(name, _)| name == "tools");
    let (Some((_, tools)), None) = (tools.next(), tools.next()) else {
        return Err(bad("it does not hold the one member tools"));
    };
    for (name, _) in &members {
        look_alike(name, &["tools", "nextCursor"]).map_err(|what| bad(&what))?;
    }
    let all: Vec<&RawValue> =
        serde_json::from_str(tools.get()).map_err(|error| bad(&error.to_string()))?;
    if all.len() > LISTED_MAX {
        return Err(bad("it lists too many tools"));
    }
    Ok(all.into_iter().map(|raw| (raw.get(), definition(raw.get()))).collect())
}

fn definition(raw: &str) -> Option<Definition> {
    let strict = call_from_json("definition", raw).ok()?;
    let mut members = strict.arguments().clone();
    for loose in ["_meta", "icons"] {
        members.remove(loose);
    }
    let Some(Value::Text(name)) = members.get("name").cloned() else { return None };
    let text = |member: &str| match members.get(member) {
        Some(Value::Text(text)) => text.clone(),
        Some(_) | None => String::new(),
    };
    let description = text("description");
    let read_only = match members.get("annotations") {
        Some(Value::Map(hints)) => match hints.get("readOnlyHint") {
            Some(Value::Bool(hint)) => Some(*hint),
            Some(_) | None => None,
        },
        Some(_) | None => None,
    };
    let properties = match members.get("inputSchema") {
        Some(Value::Map(schema)) => schema.get("properties"),
        Some(_) | None => None,
    };
    let arguments = match properties {
        Some(Value::Map(properties)) => properties.keys().cloned().collect(),
        Some(_) | None => Vec::new(),
    };
    let pinned = arguments_to_json(&Call::new("definition", members).ok()?);
    Some(Definition { name, pinned, read_only, arguments, description })
}

/// All text in a value: names, texts and numbers, one a line, in pieces that are kept. Lone surrogates become U+FFFD, as those
/// do it that show them.
pub fn texts(json: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let (_, found) = rest.split_at_checked(at).unwrap_or_default();
        let (text, after) = if let Some(inside) = found.strip_prefix('"') {
            unquoted(inside)
        } else {
            let end = found.find(|c: char| !"+-.eE0123456789".contains(c)).unwrap_or(found.len());
            let (number, after) = found.split_at_checked(end).unwrap_or_default();
            (number.to_owned(), after)
        };
        rest = after;
        push_text(&mut pieces, &text);
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Where one piece ends, the next begins with the end of it, so that no name is cut in two.
const OVERLAP: usize = 4096;

fn push_text(pieces: &mut Vec<String>, text: &str) {
    let mut text = text;
    while !text.is_empty() {
        let Some(piece) = pieces.last_mut() else { return };
        let room = (CONTENT_MAX - 1).saturating_sub(piece.len());
        if text.len() <= room {
            piece.push_str(text);
            piece.push('\n');
            return;
        }
        if room <= OVERLAP {
            pieces.push(String::new());
            continue;
        }
        let (head, _) = text.split_at_checked(boundary(text, room)).unwrap_or((text, ""));
        piece.push_str(head);
        let from = boundary(text, head.len().saturating_sub(OVERLAP));
        text = text.get(from..).unwrap_or_default();
        pieces.push(String::new());
    }
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// A text behind its first quotation mark, and what follows its last.
fn unquoted(inside: &str) -> (String, &str) {
    let mut text = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, inside.get(at + 1..).unwrap_or_default()),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('b') => text.push('\u{8}'),
                Some('f') => text.push('\u{c}'),
                Some('u') => {
                    let rest = inside.get(at + 2..).unwrap_or_default();
                    let (c, length) = escaped(rest);
                    text.push(c);
                    for _ in 0..length {
                        chars.next();
                    }
                }
                Some(other) => text.push(other),
                None => return (text, ""),
            },
            other => text.push(other),
        }
    }
    (text, "")
}

/// The character of an escape behind its `\u`, and how many characters it takes there.
fn escaped(rest: &str) -> (char, usize) {
    let unit = |text: Option<&str>| text.and_then(|text| u32::from_str_radix(text, 16).ok());
    let Some(first) = unit(rest.get(..4)) else { return ('\u{fffd}', 0) };
    let low = rest.get(4..6).filter(|slash| *slash == "\\u").and_then(|_| unit(rest.get(6..10)));
    match (first, low) {
        (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(code).unwrap_or('\u{fffd}'), 10)
        }
        (code, _) => (char::from_u32(code).unwrap_or('\u{fffd}'), 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> Result<Kind, String> {
        Message::read(line.as_bytes()).map(|it| it.kind).map_err(|flaw| flaw.to_string())
    }

    fn call(params: &str) -> Result<ToolCall<'_>, String> {
        ToolCall::read("bank", Some(params)).map_err(|flaw| flaw.to_string())
    }

    #[test]
    fn an_envelope_that_two_readers_could_read_otherwise_is_refused() {
        for (line, part) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#, "twice"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/call"}"#, "twice"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call"}"#,
                "take the member",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}"#, "take the member"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "not null"),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#, "whole number"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "jsonrpc"),
            (r#"{"id":1,"method":"ping"}"#, "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "no text"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#, "no request"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "no request"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "no request"),
            (r#"{"jsonrpc":"2.0","result":{}}"#, "no request"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "batch"),
            ("{} {}", "not JSON"),
            ("7", "no object"),
            ("", "not JSON"),
        ] {
            let flaw = kind(line).unwrap_err();
            assert!(flaw.contains(part), "{line}: {flaw}");
        }
        assert!(matches!(Message::read(b"{\"a\":\"\xff\"}"), Err(Flaw::NotText { at: 6 })));
        assert!(
            kind(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":""},"id":null}"#).is_ok()
        );
    }

    #[test]
    fn two_spellings_of_an_id_are_one() {
        let id = |line: &str| match kind(line).unwrap() {
            Kind::Request { id, .. } => id,
            Kind::Notification { .. } | Kind::Response { .. } => panic!("no request"),
        };
        let one = id(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#);
        assert_eq!(one, id(r#"{"jsonrpc":"2.0","id":"\u0061","method":"ping"}"#));
        assert_ne!(
            id(r#"{"jsonrpc":"2.0","id":1,"method":"p"}"#),
            id(r#"{"jsonrpc":"2.0","id":"1","method":"p"}"#)
        );
    }

    #[test]
    fn parameters_of_a_call_that_two_readers_could_read_otherwise_are_refused() {
        for (params, part) in [
            (r#"{"name":"pay","name":"look","arguments":{}}"#, "twice"),
            (r#"{"name":"pay","arguments":{"a":1},"arguments":{"a":2}}"#, "twice"),
            (r#"{"name":"pay","arguments":{"a":{"b":1,"b":2}}}"#, "twice"),
            (r#"{"name":"pay","_meta":{"x":[{"y":1,"\u0079":2}]}}"#, "twice"),
            (r#"{"name":"pay","arguments":{"a":"\ud800"}}"#, "escape"),
            (r#"{"name":"pay","x":"\udfff"}"#, "escape"),
            (r#"{"name":"pay","Arguments":{"a":1}}"#, "take the member"),
            (r#"{"name":"look","NAME":"pay"}"#, "take the member"),
            (r#"{"name":"pay","arguments":{"payee":"A","Payee":"B"}}"#, "for one"),
            (r#"{"arguments":{}}"#, "names no tool"),
            (r#"{"name":7}"#, "names no tool"),
            (r#"{"name":"pay","arguments":[]}"#, "no object"),
            (r#"{"name":"pay","requestState":7}"#, "no text"),
            (r#"{"name":"a b"}"#, "tool"),
            ("[]", "another kind"),
        ] {
            let flaw = call(params).unwrap_err();
            assert!(flaw.contains(part), "{params}: {flaw}");
        }
        assert!(ToolCall::read("bank", None).is_err());
    }

    #[test]
    fn arguments_leave_in_one_form_and_everything_else_as_it_came() {
        let line = r#"{ "method":"tools/call", "x":{"n":1.50} ,"jsonrpc":"2.0","id":7,"params":{"_meta":{"v":1.0e2},"arguments": {"b":1.50, "a":"\u0041"},"name":"pay","zz":[1, 2]} }"#;
        let message = Message::read(line.as_bytes()).unwrap();
        let call = ToolCall::read("bank", message.params()).unwrap();
        assert_eq!(call.call.tool(), "bank/pay");
        let out = message.with_params(&call.outgoing(Answered::Nothing));
        assert_eq!(
            out,
            r#"{ "method":"tools/call", "x":{"n":1.50} ,"jsonrpc":"2.0","id":7,"params":{"_meta":{"v":1.0e2},"arguments":{"a":"A","b":1.5},"name":"pay","zz":[1, 2]} }"#
        );
    }

    #[test]
    fn every_text_and_number_of_a_result_is_seen() {
        let json = r#"{"content":[{"type":"text","text":"pay\n\"DE89\" \u00e9\ud83d\ude00 \ud800!"}],"n":-1.5e3,"x":null}"#;
        let pieces = texts(json);
        assert_eq!(
            pieces.concat(),
            "content\ntype\ntext\ntext\npay\n\"DE89\" é😀 \u{fffd}!\nn\n-1.5e3\nx\n"
        );
    }

    #[test]
    fn a_large_result_is_kept_in_pieces_that_overlap() {
        let long = "é".repeat(CONTENT_MAX);
        let pieces = texts(&format!("{{\"a\":\"{long}NEEDLE\",\"b\":\"end\"}}"));
        assert!(pieces.len() >= 2 && pieces.iter().all(|piece| piece.len() <= CONTENT_MAX));
        assert!(pieces.iter().any(|piece| piece.contains("NEEDLE")));
    }

    #[test]
    fn a_definition_is_pinned_without_its_notes_and_whatever_its_order() {
        let one = r#"{"tools":[{"name":"pay","description":"Pays.","inputSchema":{"properties":{"payee":{}}},"annotations":{"readOnlyHint":false},"_meta":{"a":1}}]}"#;
        let two = r#"{"tools":[{"inputSchema":{"properties":{"payee":{}}},"annotations":{"readOnlyHint":false},"description":"Pays.","name":"pay"}]}"#;
        let first = definitions(one).unwrap().remove(0).1.unwrap();
        assert_eq!(Some(&first), definitions(two).unwrap().remove(0).1.as_ref());
        assert_eq!((first.read_only, first.arguments), (Some(false), vec!["payee".to_owned()]));
        assert!(definitions(r#"{"tools":[{"name":"a","name":"b"}]}"#).unwrap()[0].1.is_none());
        assert!(definitions(r#"{"tools":[],"tools":[]}"#).is_err());
        assert!(definitions("[]").is_err());
    }
}
