//! How far a thing may decide. Four classes, in one order; combining is always the least.

use core::fmt;

/// How far a thing may decide, least first, so that the meet of two is `min`.
///
/// ```
/// use actum_core::Authority;
/// assert_eq!(Authority::User.meet(Authority::Untrusted), Authority::Untrusted);
/// assert!(Authority::Derived < Authority::Approved);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Authority {
    /// Web and tool content, unknown origin, a broken lineage, and all that came of these.
    Untrusted,
    /// The agent made it, of nothing less than this.
    Derived,
    /// From a source the owner approved, within its scope and until its expiry.
    Approved,
    /// The user said it.
    User,
}

impl Authority {
    /// Every class, least first.
    pub const ALL: [Self; 4] = [Self::Untrusted, Self::Derived, Self::Approved, Self::User];

    /// The lesser of two: nothing derived decides more than the least it was derived from.
    pub fn meet(self, other: Self) -> Self {
        self.min(other)
    }

    /// The byte on disk.
    pub const fn code(self) -> u8 {
        match self {
            Self::Untrusted => 1,
            Self::Derived => 2,
            Self::Approved => 3,
            Self::User => 4,
        }
    }

    /// The class of a byte; `None` for a byte nobody has defined.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.code() == code)
    }

    /// The word in policy, messages and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Untrusted => "Untrusted",
            Self::Derived => "Derived",
            Self::Approved => "Approved",
            Self::User => "User",
        }
    }

    /// The class with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.word() == word)
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
