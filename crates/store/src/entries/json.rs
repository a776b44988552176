//! Objects of JSON with their members as they are written. A key that stands twice is refused: two readers could read two
//! things. Numbers are not read at all, so none is rounded.

use core::cell::Cell;
use core::fmt;
use std::collections::BTreeSet;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{Key, Wrong};

/// An object's members in the order of the text.
#[derive(Debug)]
pub(super) struct Object<'a>(pub(super) Vec<(String, &'a str)>);

/// What is wrong with a text, and at which byte.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JsonFlaw {
    pub(super) at: usize,
    pub(super) what: Wrong,
}

impl<'a> Object<'a> {
    /// Reads an object in which no key stands twice, however deep.
    pub(super) fn parse(text: &'a str) -> Result<Self, JsonFlaw> {
        check(text)?;
        Self::shallow(text)
    }

    /// Reads an object in which no key stands twice, but for what is below its own members.
    pub(super) fn shallow(text: &'a str) -> Result<Self, JsonFlaw> {
        serde_json::from_str::<&RawValue>(text).map_err(|error| flaw_of(text, &error))?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let members = serde::Deserializer::deserialize_map(&mut reader, Members);
        let members = members.map_err(|error| match error.classify() {
            Category::Data => JsonFlaw { at: 0, what: Wrong::NoObject },
            Category::Io | Category::Syntax | Category::Eof => flaw_of(text, &error),
        })?;
        let mut keys = BTreeSet::new();
        match members.iter().find(|(key, _)| !keys.insert(key)) {
            Some((key, _)) => Err(JsonFlaw { at: 0, what: Wrong::Doubled { key: key.clone() } }),
            None => Ok(Self(members)),
        }
    }

    pub(super) fn member(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }
}

/// The elements of a list, as they are written; `None` if the text is no list.
pub(super) fn list(text: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// A text, if a value is one.
pub(super) fn text_of(value: &str) -> Option<String> {
    serde_json::from_str(value).ok()
}

/// What an object is called by itself: its first member of `id`, `key` and `name` that is a text or a whole number.
pub(super) fn id_of(object: &Object<'_>) -> Key {
    let id = ["id", "key", "name"].iter().find_map(|key| {
        let value = object.member(key)?;
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        let id = if is_number { Some(value.to_owned()) } else { text_of(value) };
        id.filter(|id| !id.is_empty())
    });
    id.map_or(Key::Content, Key::Id)
}

/// Reads one whole value, however deep.
fn check(text: &str) -> Result<(), JsonFlaw> {
    let doubled = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Value(&doubled).deserialize(&mut reader).and_then(|()| reader.end());
    read.map_err(|error| {
        let flaw = flaw_of(text, &error);
        match doubled.take() {
            Some(key) => JsonFlaw { what: Wrong::Doubled { key }, ..flaw },
            None => flaw,
        }
    })
}

fn flaw_of(text: &str, error: &serde_json::Error) -> JsonFlaw {
    let what = match error.classify() {
        Category::Eof => Wrong::Cut,
        Category::Syntax | Category::Data | Category::Io => {
            Wrong::NotJson { column: error.column().max(1) }
        }
    };
    JsonFlaw { at: place(text, error.line(), error.column()), what }
}

/// The byte at a line and a column, both from 1.
fn place(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len().saturating_sub(1))
}

struct Members;

impl<'a> Visitor<'a> for Members {
    type Value = Vec<(String, &'a str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            members.push((key, value.get()));
        }
        Ok(members)
    }
}

/// Any value; of the first key that stands twice in one object a copy is left behind.
#[derive(Clone, Copy)]
struct Value<'a>(&'a Cell<Option<String>>);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.contains(&key) {
                self.0.set(Some(key));
                return Err(A::Error::custom("a key stands twice"));
            }
            keys.insert(key);
            map.next_value_seed(self)?;
        }
        Ok(())
    }
}
