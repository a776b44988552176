//! Where the value of a binding argument came from: the passages of the context in which it stands whole, or its parts. Knows
//! no ledger and no policy; what follows from an authority is the gate's. `docs/formats/values.md` is the page.
//!
//! A value stands for what it names only as a whole token. Whoever finds nothing gets the least of the whole context, so
//! every doubt here costs a question and never gives a right.

use std::borrow::Cow;
use std::collections::BTreeSet;

mod find;
mod outgoing;

use self::find::{Haystack, Needle};
use crate::authority::Authority;
use crate::kind::{Url, ValueKind};
use crate::rule::{Rule, Rules};
use crate::value::{VALUE_DEPTH_MAX, Value, quoted};

pub use self::find::{DIGITS_IDENTIFY, TEXT_IDENTIFIES};
pub(crate) use self::outgoing::outgoing_by;
pub use self::outgoing::{OUTGOING_MAX, Outgoing, outgoing};

/// Searches for the parts of one argument; what has more parts was found nowhere. With it the time is linear in the context.
pub const PARTS_MAX: usize = 256;
/// Characters of a value in a reason.
const SHOWN_MAX: usize = 80;

/// One thing that was put before the model: a turn of the user, a record, a result of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage<'a> {
    /// The caller's name for it, given back in [`Origin::sources`].
    pub id: u64,
    /// How far it may decide.
    pub authority: Authority,
    /// Its text, as the model saw it.
    pub text: &'a str,
    /// Whether it is the turn the user is in right now. Only there may a short value count.
    pub own_turn: bool,
}

/// How the value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// Whole, in the sources.
    Whole,
    /// In parts, each found in the sources.
    Composed,
    /// Not, or some part of it not.
    Nowhere,
    /// There is nothing to find: null, a flag, an empty text.
    NoText,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// How far the value may decide.
    pub authority: Authority,
    /// The passages that say so, in rising order; empty if nothing was found.
    pub sources: Vec<u64>,
    /// How it was found.
    pub how: How,
    /// The same for a person, in one line. Values in it are shortened.
    pub reason: Cow<'static, str>,
}

/// Where `value` came from, among the `passages` of its context. `context_least` is the least authority in that context.
///
/// ```
/// use actum_core::{Authority, How, Passage, Value, ValueKind, trace};
/// let turn = Passage { id: 1, authority: Authority::User, text: "Pay alice@x.example.", own_turn: true };
/// let page = Passage { id: 2, authority: Authority::Untrusted, text: "or malice@x.example", own_turn: false };
/// let origin = |value: &str| {
///     trace(&value.into(), ValueKind::Email, &[turn, page], Authority::Untrusted)
/// };
/// assert_eq!(origin("alice@x.example").authority, Authority::User);
/// assert_eq!(origin("malice@x.example").authority, Authority::Untrusted);
/// assert_eq!(origin("bob@x.example").how, How::Nowhere);
/// ```
pub fn trace(
    value: &Value,
    kind: ValueKind,
    passages: &[Passage<'_>],
    context_least: Authority,
) -> Origin {
    trace_by(Rules::ALL, value, kind, passages, context_least)
}

/// The same by these rules.
pub(crate) fn trace_by(
    rules: Rules,
    value: &Value,
    kind: ValueKind,
    passages: &[Passage<'_>],
    context_least: Authority,
) -> Origin {
    Search::new(rules, passages, context_least).value(value, kind, 0)
}

/// Whether the address stands whole and character for character in one of `passages`, so that fetching it carries out nothing
/// but the choice.
///
/// Give it only texts that the agent could not have dictated: an answer that repeats what it was sent holds every address.
///
/// ```
/// use actum_core::{Authority, Passage, is_verbatim};
/// let text = "see https://x.example/a for more";
/// let page = Passage { id: 1, authority: Authority::Untrusted, text, own_turn: false };
/// assert!(is_verbatim("https://x.example/a", &[page]));
/// assert!(!is_verbatim("https://X.example/a", &[page]));
/// ```
pub fn is_verbatim(url: &str, passages: &[Passage<'_>]) -> bool {
    ValueKind::Url.normal(url).is_some()
        && passages.iter().any(|passage| Haystack::new(passage.text).holds_verbatim(url))
}

/// The passages of one context, and how much may still be looked for in them.
struct Search<'a> {
    passages: Vec<(&'a Passage<'a>, Haystack<'a>)>,
    least: Authority,
    left: usize,
    rules: Rules,
}

/// Whether a reason has to name its value: not where the whole value is shown beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Whole,
    Part,
}

impl Named {
    const fn of(depth: usize) -> Self {
        if depth == 0 { Self::Whole } else { Self::Part }
    }
}

const fn stands_whole(authority: Authority) -> &'static str {
    match authority {
        Authority::Untrusted => "it stands whole in what is Untrusted",
        Authority::Derived => "it stands whole in what is Derived",
        Authority::Approved => "it stands whole in what is Approved",
        Authority::User => "it stands whole in what is User",
    }
}

/// What a search for one token gave.
enum Seen {
    /// The positions of the passages that count.
    In(Vec<usize>),
    /// It stands somewhere, but is too short or too common to mean that passage.
    Short,
    Not,
    /// [`PARTS_MAX`] is used up.
    Spent,
}

impl<'a> Search<'a> {
    fn new(rules: Rules, passages: &'a [Passage<'a>], least: Authority) -> Self {
        let passages =
            passages.iter().map(|passage| (passage, Haystack::new(passage.text))).collect();
        Self { passages, least, left: PARTS_MAX, rules }
    }

    fn value(&mut self, value: &Value, kind: ValueKind, depth: usize) -> Origin {
        match value {
            Value::Null | Value::Bool(_) => self.no_text(&value.to_string()),
            Value::Number(number) => {
                let kind = match kind {
                    ValueKind::Account => ValueKind::Account,
                    ValueKind::Text
                    | ValueKind::Email
                    | ValueKind::Url
                    | ValueKind::Path
                    | ValueKind::Number => ValueKind::Number,
                };
                self.text(number.as_str(), kind, Named::of(depth))
            }
            Value::Text(text) => self.text(text, kind, Named::of(depth)),
            Value::List(_) | Value::Map(_) if depth >= VALUE_DEPTH_MAX => {
                self.nowhere("it nests deeper than a call may")
            }
            Value::List(items) if items.is_empty() => self.no_text("an empty list"),
            Value::Map(entries) if entries.is_empty() => self.no_text("an empty map"),
            Value::List(items) => {
                let parts = items.iter().map(|item| self.value(item, kind, depth + 1)).collect();
                self.join(parts, Authority::User)
            }
            Value::Map(entries) => {
                // A key can name the payee as well as its value can.
                let parts = entries.iter().flat_map(|(key, item)| {
                    [
                        self.text(key, ValueKind::Text, Named::Part),
                        self.value(item, kind, depth + 1),
                    ]
                });
                let parts = parts.collect();
                self.join(parts, Authority::User)
            }
        }
    }

    /// One text: whole, or else in the parts that its kind has.
    fn text(&mut self, text: &str, declared: ValueKind, named: Named) -> Origin {
        if text.trim().is_empty() {
            return self.no_text("an empty text");
        }
        let (kind, normal) = kind_of(text, declared);
        let short = match self.look(&Needle::of(text, kind, normal)) {
            Seen::In(passages) => return self.whole(text, named, &passages),
            Seen::Spent => return self.spent(),
            Seen::Short => true,
            Seen::Not => false,
        };
        let composed = match kind {
            ValueKind::Url => Url::parse(text).map(|url| self.url(&url)),
            ValueKind::Email => self.email(text),
            ValueKind::Path => self.path(text),
            ValueKind::Text if declared == ValueKind::Email => self.email_list(text),
            ValueKind::Text => self.words(text),
            ValueKind::Account | ValueKind::Number => None,
        };
        composed.unwrap_or_else(|| self.not_found(text, short))
    }

    fn look(&mut self, needle: &Needle) -> Seen {
        if self.left == 0 {
            return Seen::Spent;
        }
        self.left -= 1;
        if !needle.says_something() {
            return Seen::Short;
        }
        let whole = self.rules.hold(Rule::WholeValue);
        let holds = |hay: &Haystack<'_>| hay.holds(needle) || (!whole && hay.contains(needle));
        let identifies = needle.identifies() || !self.rules.hold(Rule::ShortValue);
        let counts = |passage: &Passage<'_>| {
            identifies || (passage.own_turn && passage.authority == Authority::User)
        };
        let (mut is_there, mut counting) = (false, Vec::new());
        for (at, (passage, hay)) in self.passages.iter().enumerate() {
            if holds(hay) {
                is_there = true;
                if counts(passage) {
                    counting.push(at);
                }
            }
        }
        match (is_there, counting.is_empty()) {
            (false, _) => Seen::Not,
            (true, true) => Seen::Short,
            (true, false) => Seen::In(counting),
        }
    }

    /// The greatest authority among these passages counts, so that a page which repeats the user's payee takes nothing away.
    fn whole(&self, text: &str, named: Named, passages: &[usize]) -> Origin {
        let passages =
            || passages.iter().filter_map(|at| self.passages.get(*at)).map(|(passage, _)| *passage);
        let all = passages().map(|passage| passage.authority);
        let counting = if self.rules.hold(Rule::Greatest) { all.max() } else { all.min() };
        let authority = counting.unwrap_or(self.least);
        let counting = passages().filter(|passage| passage.authority == authority);
        let mut sources: Vec<u64> = counting.map(|passage| passage.id).collect();
        sources.sort_unstable();
        sources.dedup();
        let reason = match named {
            Named::Whole => Cow::Borrowed(stands_whole(authority)),
            Named::Part => {
                Cow::Owned(format!("{} stands whole in what is {authority}", shown(text)))
            }
        };
        Origin { authority, sources, how: How::Whole, reason }
    }

    /// An address: whom it reaches, and each piece that it carries there, so that a secret is as little trusted as its host
    /// and a host as its secret. The agent put them together: [`Authority::Derived`] at most, or it could send out any text,
    /// spelled in words of the user.
    fn url(&mut self, url: &Url) -> Origin {
        let Some(carried) = url.carried() else {
            return self
                .nowhere("the address has empty pieces, and their number could be a message");
        };
        let origin = url.origin();
        let needle = Needle::Origin { host: url.bare_host().map(str::to_owned), origin };
        let mut parts = vec![self.found(&url.origin(), &needle)];
        parts.extend(carried.iter().map(|piece| self.found(piece, &Needle::piece(piece))));
        self.join(parts, Authority::Derived)
    }

    /// A mailbox of somebody at a domain: an address nobody wrote, put together by the agent.
    fn email(&mut self, text: &str) -> Option<Origin> {
        let normal = ValueKind::Email.normal(text)?;
        let (local, domain) = normal.split_once('@')?;
        let parts = [local, domain].map(|part| self.token(part, ValueKind::Text));
        Some(self.join(parts.into(), Authority::Derived))
    }

    /// `Alice <alice@x.example>, bob@x.example`: a list, each address by itself; the names beside them count too.
    fn email_list(&mut self, text: &str) -> Option<Origin> {
        let pieces = text.split([',', ';', '<', '>', '"']).map(str::trim);
        let pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
        self.pieces(text, &pieces, Authority::User)
    }

    /// A folder and what lies in it, each found as a path.
    fn path(&mut self, text: &str) -> Option<Origin> {
        let normal = ValueKind::Path.normal(text)?;
        let mut best: Option<Origin> = None;
        for (at, _) in normal.match_indices('/').filter(|(at, _)| *at > 0) {
            let Some((folder, rest)) = normal.split_at_checked(at) else { continue };
            let rest = rest.trim_start_matches('/');
            if rest.is_empty() {
                continue;
            }
            let mut parent = self.token(folder, ValueKind::Path);
            if parent.how != How::Whole {
                parent = self.token(&format!("{folder}/"), ValueKind::Path);
            }
            let child = self.token(rest, ValueKind::Path);
            let joined = self.join(vec![parent, child], Authority::Derived);
            let is_better = best.as_ref().is_none_or(|best| joined.authority > best.authority);
            if joined.how == How::Composed && is_better {
                best = Some(joined);
            }
        }
        best
    }

    /// Any other text: its words, and the addresses among them. What the agent put together from words is
    /// [`Authority::Derived`] at most, because their order and the signs between them are its own.
    fn words(&mut self, text: &str) -> Option<Origin> {
        let mut pieces = Vec::new();
        for piece in text.split(is_between_words).filter(|piece| !piece.is_empty()) {
            match kind_of(piece, ValueKind::Text).0 {
                ValueKind::Url | ValueKind::Email => pieces.push(piece),
                ValueKind::Text | ValueKind::Account | ValueKind::Path | ValueKind::Number => {
                    let smaller = piece.split([',', ';', ':', '=', '&', '|']);
                    pieces.extend(smaller.filter(|piece| !piece.is_empty()));
                }
            }
        }
        self.pieces(text, &pieces, Authority::Derived)
    }

    fn pieces(&mut self, text: &str, pieces: &[&str], at_most: Authority) -> Option<Origin> {
        if pieces.is_empty() || pieces == [text] {
            return None;
        }
        if pieces.len() > self.left {
            return Some(self.spent());
        }
        let parts = pieces.iter().map(|piece| match kind_of(piece, ValueKind::Text).0 {
            kind @ (ValueKind::Url | ValueKind::Email) => self.text(piece, kind, Named::Part),
            kind @ (ValueKind::Text | ValueKind::Account | ValueKind::Path | ValueKind::Number) => {
                self.token(piece, kind)
            }
        });
        let parts = parts.collect();
        Some(self.join(parts, at_most))
    }

    /// A part that is not taken apart any further.
    fn token(&mut self, text: &str, kind: ValueKind) -> Origin {
        self.found(text, &Needle::new(text, kind))
    }

    fn found(&mut self, text: &str, needle: &Needle) -> Origin {
        match self.look(needle) {
            Seen::In(passages) => self.whole(text, Named::Part, &passages),
            Seen::Short => self.not_found(text, true),
            Seen::Not => self.not_found(text, false),
            Seen::Spent => self.spent(),
        }
    }

    /// The least of the parts, and `at_most`. One part that was not found is enough for the whole to be found nowhere.
    fn join(&self, parts: Vec<Origin>, at_most: Authority) -> Origin {
        let at_most = if self.rules.hold(Rule::Composed) { at_most } else { Authority::User };
        let is_missing = |part: &Origin| match part.how {
            How::Whole | How::Composed => false,
            How::Nowhere | How::NoText => true,
        };
        let least = parts.iter().map(|part| part.authority).min().unwrap_or(self.least);
        if let Some(missing) = parts.iter().find(|part| is_missing(part)) {
            let nowhere = self.rules.hold(Rule::Nowhere);
            let authority = if nowhere { least.meet(self.least) } else { least };
            let reason = missing.reason.clone();
            return Origin { authority, sources: Vec::new(), how: How::Nowhere, reason };
        }
        let Some(deciding) = parts.iter().min_by_key(|part| part.authority) else {
            return self.nowhere("it has no parts");
        };
        let reason = match deciding.how {
            _ if at_most < least => {
                Cow::Borrowed("each of its parts was found, but the agent put them together")
            }
            How::Composed => deciding.reason.clone(),
            How::Whole | How::Nowhere | How::NoText => {
                Cow::Owned(format!("put together; of its parts, {}", deciding.reason))
            }
        };
        let sources: BTreeSet<u64> = parts.iter().flat_map(|part| &part.sources).copied().collect();
        let sources = sources.into_iter().collect();
        Origin { authority: least.meet(at_most), sources, how: How::Composed, reason }
    }

    fn not_found(&self, text: &str, is_short: bool) -> Origin {
        let text = shown(text);
        self.nowhere(&if is_short {
            format!("{text} is too short or too common to say where it came from")
        } else {
            format!("{text} stands nowhere in what the agent was shown")
        })
    }

    fn spent(&self) -> Origin {
        self.nowhere(&format!("it has more than {PARTS_MAX} parts"))
    }

    fn nowhere(&self, reason: &str) -> Origin {
        let reason = Cow::Owned(reason.to_owned());
        let nowhere = self.rules.hold(Rule::Nowhere);
        let authority = if nowhere { self.least } else { Authority::User };
        Origin { authority, sources: Vec::new(), how: How::Nowhere, reason }
    }

    fn no_text(&self, what: &str) -> Origin {
        let reason = Cow::Owned(format!("{what} stands in no text, so it is the agent's choice"));
        Origin { authority: self.least, sources: Vec::new(), how: How::NoText, reason }
    }
}

/// The kind by which a text is compared: the declared one if it is of it. A text that is an address is compared as one even
/// where nobody said so; what is not of its kind is compared as it stands.
fn kind_of(text: &str, declared: ValueKind) -> (ValueKind, Option<String>) {
    let of = |kind: ValueKind| kind.normal(text).map(|normal| (kind, Some(normal)));
    let found = match declared {
        // Both have one of these in them.
        ValueKind::Text if !text.contains([':', '@']) => None,
        ValueKind::Text => of(ValueKind::Url).or_else(|| of(ValueKind::Email)),
        ValueKind::Account
        | ValueKind::Email
        | ValueKind::Url
        | ValueKind::Path
        | ValueKind::Number => of(declared),
    };
    found.unwrap_or((ValueKind::Text, None))
}

fn is_between_words(c: char) -> bool {
    c.is_whitespace() || "\"'`()[]{}<>|;".contains(c)
}

/// A value in a reason: its beginning, safe to show.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{} and more", quoted(text.get(..at).unwrap_or_default())),
        None => quoted(text),
    }
}
