//! What kind of value an argument holds. The kind decides which two spellings are the same value; the spellings are not here.

/// The kind of an argument's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// Any text, as it is.
    Text,
    /// The number of an account.
    Account,
    /// An e-mail address.
    Email,
    /// A URL.
    Url,
    /// A path of a file.
    Path,
    /// A number, such as an amount.
    Number,
}

impl ValueKind {
    /// The word in a policy.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Account => "account",
            Self::Email => "email",
            Self::Url => "url",
            Self::Path => "path",
            Self::Number => "number",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Text, Self::Account, Self::Email, Self::Url, Self::Path, Self::Number];
        all.into_iter().find(|kind| kind.word() == word)
    }
}
