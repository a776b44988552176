//! Which option an answer is, and how likely the model found each.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::stats::to_millionths;

/// The member of an answer that is held to a schema.
const MEMBER: &str = "answer";
/// Tokens around an option in plain words: punctuation and a line break.
const AROUND: usize = 4;
/// Tokens around an option in an object of one member.
const AROUND_SCHEMA: usize = 24;

/// How an answer is held to the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// Not at all: the question asks for one word, and the first word counts.
    Plain,
    /// By a grammar, as llama.cpp takes it.
    Grammar,
    /// By a JSON schema.
    Schema,
}

/// What came back.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) text: String,
    /// The tokens of the text with their alternatives; empty where the server does not say.
    pub(super) tokens: Vec<Token>,
    /// Why it ended, in the server's word.
    pub(super) ended: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Token {
    token: String,
    #[serde(default)]
    top_logprobs: Vec<Alternative>,
}

#[derive(Debug, Deserialize)]
struct Alternative {
    token: String,
    /// Missing or null where the server found none.
    #[serde(default)]
    logprob: Option<f64>,
}

impl Choice {
    /// As many tokens as the longest option can need; a token is at least one byte.
    pub(super) fn tokens(self, options: &[String]) -> u32 {
        let longest = options.iter().map(String::len).max().unwrap_or_default();
        let around = match self {
            Self::Plain | Self::Grammar => AROUND,
            Self::Schema => AROUND_SCHEMA,
        };
        u32::try_from(longest + around).unwrap_or(u32::MAX)
    }

    /// The option that an answer is; `None` if it is none of them.
    pub(super) fn read(self, text: &str, options: &[String]) -> Option<usize> {
        match self {
            Self::Plain | Self::Grammar => first_word(text, options),
            Self::Schema => {
                // A server that passes over the schema may still have answered in a word.
                let Ok(value) = serde_json::from_str::<Value>(text) else {
                    return first_word(text, options);
                };
                let said = value.get(MEMBER).and_then(Value::as_str)?;
                options.iter().position(|option| option.to_lowercase() == said.to_lowercase())
            }
        }
    }

    /// How likely each option was, in millionths of all that could have come next; `None` where the server does not say.
    pub(super) fn chances(self, tokens: &[Token], options: &[String]) -> Option<Vec<u32>> {
        let text: String = tokens.iter().map(|token| token.token.as_str()).collect();
        let start = match self {
            Self::Plain | Self::Grammar => begin_of_word(&text)?,
            Self::Schema => begin_of_member(&text).or_else(|| begin_of_word(&text))?,
        };
        let mut end = 0;
        let first = tokens.iter().find(|token| {
            end += token.token.len();
            end > start
        })?;
        let shares = shares(&first.top_logprobs, options);
        (!first.top_logprobs.is_empty()).then(|| shares.into_iter().map(to_millionths).collect())
    }
}

/// Each option's share: what the alternatives that can only become this option hold together.
#[expect(clippy::float_arithmetic, reason = "chances as a model gives them, recorded and reported")]
fn shares(alternatives: &[Alternative], options: &[String]) -> Vec<f64> {
    let options: Vec<String> = options.iter().map(|option| option.to_lowercase()).collect();
    let mut shares = vec![0.0; options.len()];
    for alternative in alternatives {
        let begun = alternative.token.trim_start().trim_start_matches('"').to_lowercase();
        let mut of = options
            .iter()
            .zip(&mut shares)
            .filter(|(option, _)| !begun.is_empty() && option.starts_with(&begun));
        if let (Some((_, share)), None) = (of.next(), of.next()) {
            *share += alternative.logprob.map_or(0.0, f64::exp);
        }
    }
    shares
}

/// The option that a text begins with, whatever its case and the punctuation before and after.
fn first_word(text: &str, options: &[String]) -> Option<usize> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let begins = |option: &str| {
        let option = option.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let rest = text.strip_prefix(&option)?;
        let is_whole = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        (is_whole && !option.is_empty()).then_some(option.len())
    };
    // The longest, so that `no` is not taken for `no idea`.
    let all = options.iter().enumerate().filter_map(|(at, option)| Some((begins(option)?, at)));
    all.max_by_key(|(length, at)| (*length, core::cmp::Reverse(*at))).map(|(_, at)| at)
}

fn begin_of_word(text: &str) -> Option<usize> {
    text.find(|c: char| !c.is_whitespace())
}

/// Where the value of the member begins, behind its quotation mark.
fn begin_of_member(text: &str) -> Option<usize> {
    let name = format!("\"{MEMBER}\"");
    let after = text.find(&name)? + name.len();
    let rest = text.get(after..)?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    Some(text.len() - value.len())
}

/// The schema of an object whose one member is an option.
pub(super) fn schema(options: &[String]) -> Value {
    json!({
        "type": "object",
        "properties": { MEMBER: { "type": "string", "enum": options } },
        "required": [MEMBER],
        "additionalProperties": false,
    })
}

/// The options in the notation of llama.cpp.
pub(super) fn grammar(options: &[String]) -> String {
    let quoted = |option: &String| {
        let escaped = option.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("\"{escaped}\"")
    };
    let all: Vec<String> = options.iter().map(quoted).collect();
    format!("root ::= {}", all.join(" | "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token() -> impl Strategy<Value = Token> {
        let alternative = ("[ \"nyoes{}:\\n]{0,4}|\\PC{0,3}", prop::option::of(-20.0..1.0_f64))
            .prop_map(|(token, logprob)| Alternative { token, logprob });
        let text = "[ \"answer:{}no\\n]{0,6}|\\PC{0,3}";
        (text, prop::collection::vec(alternative, 0..5))
            .prop_map(|(token, top_logprobs)| Token { token, top_logprobs })
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_an_option_or_none(
            said in "\\PC{0,12}|[ \"*]{0,2}(no|Yes|YES)[.,\\na]{0,2}",
            tokens in prop::collection::vec(token(), 0..8),
            options in prop::collection::vec("no|yes|No idea|\\PC{1,4}", 1..5),
        ) {
            for choice in [Choice::Plain, Choice::Grammar, Choice::Schema] {
                let read = choice.read(&said, &options);
                prop_assert!(read.is_none_or(|at| at < options.len()));
                if let Some(chances) = choice.chances(&tokens, &options) {
                    prop_assert_eq!(chances.len(), options.len());
                    prop_assert!(chances.iter().all(|chance| *chance <= 1_000_000));
                }
                let object = json!({ MEMBER: options[0] }).to_string();
                let first = options.iter().position(|it| it.to_lowercase() == options[0].to_lowercase());
                prop_assert_eq!(Choice::Schema.read(&object, &options), first);
            }
        }
    }
}
