//! How far a thing may decide. Four classes in one order, so that what comes of several things is the least of them. Which
//! channel has which class is policy; where a value came from is `origin`.

use core::fmt;

/// The authority of a record, a place or a value. The order is the meaning: `min` is the meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Authority {
    /// Anybody may have written it.
    Untrusted,
    /// Put together by the agent, from nothing less than this.
    Derived,
    /// From a channel the owner approved, or approved by evidence.
    Approved,
    /// Said by the user.
    User,
}

impl Authority {
    /// All classes, least first.
    pub const ALL: [Self; 4] = [Self::Untrusted, Self::Derived, Self::Approved, Self::User];

    /// The word in a policy, in JSON and in messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Untrusted => "Untrusted",
            Self::Derived => "Derived",
            Self::Approved => "Approved",
            Self::User => "User",
        }
    }

    /// The class with this word; case counts.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|authority| authority.word() == word)
    }

    /// The code in hashed bytes. Zero is no class, so that forgotten bytes are not one.
    pub const fn code(self) -> u8 {
        match self {
            Self::Untrusted => 1,
            Self::Derived => 2,
            Self::Approved => 3,
            Self::User => 4,
        }
    }

    /// The class with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|authority| authority.code() == code)
    }

    /// What has both behind it: the lesser of the two.
    ///
    /// ```
    /// use actum_core::Authority;
    /// assert_eq!(Authority::User.meet(Authority::Untrusted), Authority::Untrusted);
    /// ```
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        self.min(other)
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_the_one_of_the_design() {
        let codes: Vec<u8> = Authority::ALL.iter().map(|authority| authority.code()).collect();
        assert_eq!(codes, [1, 2, 3, 4]);
        assert!(Authority::ALL.is_sorted());
    }

    #[test]
    fn words_and_codes_lead_back() {
        for authority in Authority::ALL {
            assert_eq!(Authority::from_word(authority.word()), Some(authority));
            assert_eq!(Authority::from_code(authority.code()), Some(authority));
        }
        assert_eq!(Authority::from_word("user"), None);
        assert_eq!(Authority::from_code(0), None);
        assert_eq!(Authority::from_code(5), None);
    }

    #[test]
    fn a_meet_is_a_meet() {
        for a in Authority::ALL {
            assert_eq!(a.meet(a), a);
            for b in Authority::ALL {
                assert_eq!(a.meet(b), b.meet(a));
                assert!(a.meet(b) <= a);
                for c in Authority::ALL {
                    assert_eq!(a.meet(b).meet(c), a.meet(b.meet(c)));
                }
            }
        }
    }
}
