//! Calls as JSON: read strictly, so that no two readers can see two calls in one text, and written in one way.
//!
//! Refused are doubled member names, text that is not UTF-8 or holds lone surrogates, anything behind the value, and whatever
//! is over the limits of a call. Numbers keep every digit.

use std::collections::BTreeMap;
use std::fmt;

use actum_core::{Call, CallError, Number, VALUE_DEPTH_MAX, Value};
use serde::de::{Deserializer as _, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Why a text is not a call.
#[derive(Debug, thiserror::Error)]
pub enum CallTextError {
    /// It is not JSON as it is wanted here.
    #[error("the arguments are not a JSON object: {0}")]
    Json(String),
    /// It is, and not a call.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// A call of a tool with arguments as a JSON object.
///
/// ```
/// use actum_store::{call_from_json, arguments_to_json};
/// let call = call_from_json("bank/pay", r#"{"payee": "DE89", "amount": 1.50}"#)?;
/// assert_eq!(arguments_to_json(&call), r#"{"amount":1.5,"payee":"DE89"}"#);
/// assert!(call_from_json("bank/pay", r#"{"payee": "DE89", "payee": "EVE"}"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CallTextError`].
pub fn call_from_json(tool: &str, text: &str) -> Result<Call, CallTextError> {
    let json = |error: serde_json::Error| CallTextError::Json(error.to_string());
    let raw: &RawValue = serde_json::from_str(text).map_err(json)?;
    match read(raw.get(), 0).map_err(json)? {
        Value::Map(arguments) => Ok(Call::new(tool, arguments)?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
            Err(CallTextError::Json("it is another kind of value".to_owned()))
        }
    }
}

/// The arguments of a call as one JSON object, members in the order of their names, numbers in their canonical text.
pub fn arguments_to_json(call: &Call) -> String {
    let mut json = String::new();
    write_map(call.arguments(), &mut json);
    json
}

/// A call as one JSON object with `tool` and `arguments`, as it waits for its owner.
pub fn call_to_json(call: &Call) -> String {
    format!("{{\"tool\":{},\"arguments\":{}}}", quoted(call.tool()), arguments_to_json(call))
}

/// A call that waited.
pub fn waiting_call(text: &str) -> Option<Call> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    let Value::Map(mut members) = read(raw.get(), 0).ok()? else { return None };
    match (members.remove("tool"), members.remove("arguments"), members.is_empty()) {
        (Some(Value::Text(tool)), Some(Value::Map(arguments)), true) => {
            Call::new(&tool, arguments).ok()
        }
        (_, _, _) => None,
    }
}

fn read(text: &str, depth: usize) -> Result<Value, serde_json::Error> {
    if depth > VALUE_DEPTH_MAX + 1 {
        return Err(serde_json::Error::custom(format!(
            "lists and maps nest deeper than {VALUE_DEPTH_MAX}"
        )));
    }
    let text = text.trim_start();
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = match text.as_bytes().first() {
        Some(b'{') => reader.deserialize_map(Members { depth }).map(Value::Map)?,
        Some(b'[') => reader.deserialize_seq(Items { depth }).map(Value::List)?,
        Some(b'-' | b'0'..=b'9') => {
            // Checked by whoever cut it out; here only its digits count.
            let number = Number::parse(text.trim_end());
            return number
                .map(Value::Number)
                .ok_or_else(|| serde_json::Error::custom("a number has too many digits"));
        }
        Some(b'"') => Value::Text(serde_json::from_str(text)?),
        Some(b't' | b'f') => Value::Bool(serde_json::from_str(text)?),
        Some(_) | None => {
            serde_json::from_str::<()>(text)?;
            Value::Null
        }
    };
    Ok(value)
}

struct Members {
    depth: usize,
}

impl<'de> Visitor<'de> for Members {
    type Value = BTreeMap<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, raw)) = map.next_entry::<String, &RawValue>()? {
            let value = read(raw.get(), self.depth + 1).map_err(A::Error::custom)?;
            if members.contains_key(&name) {
                let name = Value::from(name.as_str());
                return Err(A::Error::custom(format!("the member {name} is there twice")));
            }
            members.insert(name, value);
        }
        Ok(members)
    }
}

struct Items {
    depth: usize,
}

impl<'de> Visitor<'de> for Items {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(raw) = items.next_element::<&RawValue>()? {
            values.push(read(raw.get(), self.depth + 1).map_err(A::Error::custom)?);
        }
        Ok(values)
    }
}

fn write_map(members: &BTreeMap<String, Value>, json: &mut String) {
    json.push('{');
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        json.push_str(&quoted(name));
        json.push(':');
        write(value, json);
    }
    json.push('}');
}

fn write(value: &Value, json: &mut String) {
    match value {
        Value::Null => json.push_str("null"),
        Value::Bool(flag) => json.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => json.push_str(number.as_str()),
        Value::Text(text) => json.push_str(&quoted(text)),
        Value::List(items) => {
            json.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    json.push(',');
                }
                write(item, json);
            }
            json.push(']');
        }
        Value::Map(members) => write_map(members, json),
    }
}

fn quoted(text: &str) -> String {
    // A text always has a JSON form.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        call_from_json("t", text).unwrap_err().to_string()
    }

    #[test]
    fn what_two_readers_could_read_otherwise_is_refused() {
        assert!(refused(r#"{"a":1,"a":2}"#).contains("\"a\" is there twice"));
        assert!(refused(r#"{"a":{"b":1,"\u0062":2}}"#).contains("there twice"));
        assert!(refused(r#"{"a":[{"b":1,"b":1}]}"#).contains("there twice"));
        assert!(refused(r#"{"a":1} {}"#).contains("trailing"));
        assert!(refused(r#"{"a":"\ud800"}"#).contains("escape"));
        assert!(refused(r#"{"a":01}"#).contains("invalid number"));
        assert!(refused("[1]").contains("another kind"));
        assert!(refused("{\"a\":1e999999999}").contains("digits"));
        assert!(refused("").contains("EOF"));
    }

    #[test]
    fn depth_is_bounded_before_it_costs_anything() {
        let deep = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(call_from_json("t", &deep(VALUE_DEPTH_MAX)).is_ok());
        assert!(call_from_json("t", &deep(VALUE_DEPTH_MAX + 1)).is_err());
        assert!(call_from_json("t", &deep(100_000)).is_err());
    }

    #[test]
    fn every_digit_of_a_number_counts() {
        let digest =
            |number: &str| call_from_json("t", &format!("{{\"a\":{number}}}")).unwrap().digest();
        assert_ne!(digest("9007199254740993"), digest("9007199254740992"));
        assert_eq!(digest("1.50"), digest("15e-1"));
    }

    #[test]
    fn what_was_written_is_read_again() {
        let text = "{\"a\":[1.25,true,null,\"x\\n\\u0001\\u2028\\\"\"],\"b\":{\"\":{}}}";
        let call = call_from_json("bank/pay", text).unwrap();
        assert_eq!(waiting_call(&call_to_json(&call)), Some(call));
        for odd in ["{}", "{\"tool\":\"t\"}", "{\"tool\":\"t\",\"arguments\":{},\"x\":1}", "[]"] {
            assert_eq!(waiting_call(odd), None);
        }
    }
}
