//! What can go wrong between us and a model, told apart, and whether asking again later may help.

use core::time::Duration;

/// Why a model gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// What we were told to ask cannot be meant.
    #[error("{what}")]
    Settings {
        /// Why.
        what: String,
    },
    /// A key over a line that anybody can read.
    #[error("the key is not sent to {host}, since plain http can be read on the way; use https")]
    KeyInClear {
        /// The other end.
        host: String,
    },
    /// A key that cannot be one.
    #[error("the variable {variable} holds no key: {what}")]
    Key {
        /// Where it stands.
        variable: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Nobody is there.
    #[error("nobody listens at {url}; is the server started, and is the port right?")]
    Refused {
        /// Where.
        url: String,
    },
    /// The other end is not found, or not trusted.
    #[error("{url} cannot be reached: {what}")]
    Unreachable {
        /// Where.
        url: String,
        /// Why.
        what: String,
    },
    /// It takes too long.
    #[error("no answer within {limit:?}; a slow model needs a longer timeout")]
    Timeout {
        /// How long was waited.
        limit: Duration,
    },
    /// The connection broke, or what came over it was no HTTP.
    #[error("the connection broke: {what}")]
    Broken {
        /// How.
        what: String,
    },
    /// 401 or 403.
    #[error(
        "refused ({status}): the key is missing, wrong or not for this model; the server says: {said}"
    )]
    Denied {
        /// As the server gave it.
        status: u16,
        /// In its words.
        said: String,
    },
    /// 404.
    #[error("the endpoint has no model `{model}`, or nothing at {url}; the server says: {said}")]
    Unknown {
        /// Which.
        model: String,
        /// Where.
        url: String,
        /// In its words.
        said: String,
    },
    /// 429, more often than we ask, or with a longer wait than we accept.
    #[error("too many requests; the server says: {said}{}", wants(*.after_seconds))]
    Busy {
        /// How long it wants us to wait.
        after_seconds: Option<u64>,
        /// In its words.
        said: String,
    },
    /// 5xx, more often than we ask.
    #[error("the server failed ({status}): {said}{}", wants(*.after_seconds))]
    Failing {
        /// As the server gave it.
        status: u16,
        /// How long it wants us to wait.
        after_seconds: Option<u64>,
        /// In its words.
        said: String,
    },
    /// 3xx.
    #[error(
        "the endpoint sends us on to {to}, which is not followed; name that address if it is the right one"
    )]
    Redirect {
        /// Where to.
        to: String,
    },
    /// Any other status.
    #[error("the server does not take the request ({status}): {said}")]
    Rejected {
        /// As the server gave it.
        status: u16,
        /// In its words.
        said: String,
    },
    /// More than we read.
    #[error("{what} is longer than {max} bytes")]
    TooLong {
        /// What.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// Not JSON.
    #[error("the answer ({kind}) is no JSON: {source}; it begins with: {begins}")]
    NotJson {
        /// Its content type.
        kind: String,
        /// Its first words.
        begins: String,
        /// What the parser found.
        source: serde_json::Error,
    },
    /// JSON, of another shape.
    #[error(
        "the answer has another shape ({source}); is this the right API? it begins with: {begins}"
    )]
    Shape {
        /// Its first words.
        begins: String,
        /// What the parser found.
        source: serde_json::Error,
    },
    /// Nothing in it.
    #[error("the answer is empty after {tries} tries{}", because(.ended.as_deref()))]
    Empty {
        /// Why the server ended it, in its word.
        ended: Option<String>,
        /// How often it was asked.
        tries: u32,
    },
}

fn wants(after_seconds: Option<u64>) -> String {
    after_seconds.map(|seconds| format!("; it wants {seconds} s of rest")).unwrap_or_default()
}

fn because(ended: Option<&str>) -> String {
    match ended {
        // The tokens went somewhere that is not the answer.
        Some("length") => "; it ended for its length, as a model does that thinks first".to_owned(),
        Some(ended) => format!("; it ended with `{ended}`"),
        None => String::new(),
    }
}

impl ModelError {
    /// Whether the same question may be answered when it is asked again later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused { .. }
            | Self::Timeout { .. }
            | Self::Broken { .. }
            | Self::Busy { .. }
            | Self::Failing { .. } => true,
            Self::Settings { .. }
            | Self::KeyInClear { .. }
            | Self::Key { .. }
            | Self::Unreachable { .. }
            | Self::Denied { .. }
            | Self::Unknown { .. }
            | Self::Redirect { .. }
            | Self::Rejected { .. }
            | Self::TooLong { .. }
            | Self::NotJson { .. }
            | Self::Shape { .. }
            | Self::Empty { .. } => false,
        }
    }
}
