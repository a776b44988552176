//! How a case is spelled.

use std::collections::BTreeMap;

use actum_core::{Number, Value};
use serde::Deserialize;

macro_rules! steps {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {
        /// One thing that happens.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(tag = "do", rename_all = "snake_case")]
        pub(super) enum Step { $($name($name),)* }

        $(
            #[derive(Debug, Clone, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub(super) struct $name {
                $(#[serde(default)] pub(super) $field: $type,)*
                #[serde(default, rename = "as")]
                label: Option<String>,
                #[serde(default)]
                expect: Option<String>,
                #[serde(default)]
                because: Option<String>,
                #[serde(default)]
                missing: Option<String>,
            }
        )*

        impl Step {
            /// What others call it.
            pub(super) fn label(&self) -> Option<&str> {
                match self { $(Self::$name(it) => it.label.as_deref(),)* }
            }

            /// The right answer.
            pub(super) fn expected(&self) -> Expected<'_> {
                match self { $(Self::$name(it) => Expected {
                    word: it.expect.as_deref(),
                    because: it.because.as_deref(),
                    missing: it.missing.as_deref(),
                },)* }
            }
        }
    };
}

/// The right answer, as far as a step says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    /// `allow`, `label`, `ask`, `deny`, `quarantine`, or `done` and `rejected` for what is not decided by the gate.
    pub(super) word: Option<&'a str>,
    /// The code of the reason, or a part of the text of a rejection.
    pub(super) because: Option<&'a str>,
    /// The step that is missing.
    pub(super) missing: Option<&'a str>,
}

steps! {
    Open { session: Option<String>, by: Option<String>, start: Option<String>, of: Option<String>, }
    Observe {
        session: Option<String>, by: Option<String>, seen: Option<String>, channel: Option<String>,
        author: Option<String>, text: String, entry: Option<String>, answers: Option<Spelled>,
        carries: Option<Vec<String>>,
    }
    Remember {
        session: Option<String>, by: Option<String>, entry: String, text: String, kind: Option<String>,
        proven: Option<Vec<String>>, supersedes: Option<String>,
    }
    Adopt { by: Option<String>, entry: String, text: String, kind: Option<String>, releases: Option<String>, }
    Recall { by: Option<String>, session: Option<String>, entry: String, text: String, purpose: Option<String>, }
    Fire { by: Option<String>, entry: String, text: String, pins: BTreeMap<String, String>, session: String, }
    Act {
        by: Option<String>, session: Option<String>, tool: String, args: BTreeMap<String, toml::Value>,
        id: Option<String>, nobody: bool, ends: Option<String>, times: Option<u32>,
    }
    Grant {
        by: Option<String>, tool: String, audience: String, equal: BTreeMap<String, String>,
        one_of: BTreeMap<String, Vec<String>>, range: BTreeMap<String, (String, String)>,
        prefix: BTreeMap<String, String>, glob: BTreeMap<String, String>, uses: Option<u32>,
        budget: Option<(String, String)>, seconds: Option<u64>, narrows: Option<String>,
    }
    Revoke {
        by: Option<String>, record: Option<String>, channel: Option<String>, author: Option<String>,
        mandate: Option<String>, adapter: Option<String>, run: Option<String>,
        from: Option<u64>, until: Option<u64>,
    }
    Approve { by: Option<String>, of: String, }
    Forget { by: Option<String>, of: String, }
    Link { path: String, to: String, }
    Edit { of: String, }
    Lose { of: String, }
    Run { name: String, subject: String, outcome: Option<String>, }
    Subject { name: String, content: String, }
    Wait { seconds: u64, }
}

/// A call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spelled {
    pub(super) tool: String,
    #[serde(default)]
    pub(super) args: BTreeMap<String, toml::Value>,
}

/// A value of TOML as an argument.
pub(super) fn value_of(value: &toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) if text == "null" => Value::Null,
        toml::Value::String(text) => Value::Text(text.clone()),
        toml::Value::Integer(number) => number_of(&number.to_string())?,
        toml::Value::Float(number) => number_of(&number.to_string())?,
        toml::Value::Boolean(flag) => Value::Bool(*flag),
        toml::Value::Datetime(time) => Value::Text(time.to_string()),
        toml::Value::Array(items) => {
            Value::List(items.iter().map(value_of).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), value_of(value)?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}

fn number_of(text: &str) -> Result<Value, String> {
    Number::parse(text).map(Value::Number).ok_or(format!("`{text}` is no number"))
}
