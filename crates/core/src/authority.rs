//! How far a thing may decide. Only the order is here; who gets which is the policy's and the gate's.

use core::fmt;

/// How far an entry, a value or a channel may decide, lowest first, so that the least of several is their minimum.
///
/// ```
/// use actum_core::Authority;
/// assert!(Authority::Untrusted < Authority::Derived);
/// assert!(Authority::Derived < Authority::Approved);
/// assert!(Authority::Approved < Authority::User);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Authority {
    /// Came from where nobody vouches for it, or from where nobody knows.
    Untrusted,
    /// Made by the agent from nothing that is untrusted.
    Derived,
    /// From a channel or a check that the owner approved, within bounds.
    Approved,
    /// From the user.
    User,
}

impl Authority {
    /// The word in a policy, in messages and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Untrusted => "Untrusted",
            Self::Derived => "Derived",
            Self::Approved => "Approved",
            Self::User => "User",
        }
    }

    /// The authority with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Untrusted, Self::Derived, Self::Approved, Self::User];
        all.into_iter().find(|authority| authority.word() == word)
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
