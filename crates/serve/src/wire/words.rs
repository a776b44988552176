//! Words of the core on the wire: each enum is written as its one stable word, and no other text is read as it.

use actum_core::{
    Answer, Authority, Decision, DecisionCode, EntryKind, LimitKind, Outcome, Owner, Reason, Seen,
    Start,
};
use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

/// An enum with one word for each variant.
pub(crate) trait Word: Copy + 'static {
    const ALL: &'static [Self];
    const WHAT: &'static str;
    fn word(self) -> &'static str;

    fn of(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.word() == text)
    }
}

macro_rules! words {
    ($($name:ident, $what:literal, $all:expr, $word:ident;)*) => {
        $(impl Word for $name {
            const ALL: &'static [Self] = $all;
            const WHAT: &'static str = $what;
            fn word(self) -> &'static str {
                $name::$word(self)
            }
        })*
    };
}

words! {
    Seen, "what was seen", Seen::ALL, word;
    EntryKind, "kind of entry", EntryKind::ALL, word;
    Outcome, "outcome", Outcome::ALL, word;
    Owner, "way in which an owner is known", Owner::ALL, word;
    Decision, "decision", Decision::ALL, word;
    Start, "start of a session", Start::ALL, word;
    Authority, "authority", &Authority::ALL, word;
    LimitKind, "kind of limit", &LimitKind::ALL, word;
    DecisionCode, "decision code", DecisionCode::ALL, code;
    Reason, "reason code", Reason::ALL, code;
    Answer, "answer", &[Answer::Grounded, Answer::Ungrounded, Answer::Contradicted, Answer::Refused], word;
}

pub(crate) fn serialize<T: Word, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.word())
}

pub(crate) fn deserialize<'de, T: Word, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    T::of(&text).ok_or_else(|| D::Error::custom(format!("there is no such {}", T::WHAT)))
}

/// The same where there may be none.
pub(crate) mod maybe {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    use super::Word;

    #[expect(clippy::ref_option, reason = "serde hands the field over so")]
    pub(crate) fn serialize<T: Word, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_some(value.word()),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T: Word, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        let found = T::of(&text).map(Some);
        found.ok_or_else(|| D::Error::custom(format!("there is no such {}", T::WHAT)))
    }
}

/// A digest as its 64 hexadecimal digits.
pub(crate) mod digest {
    use actum_core::Digest;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(
        value: &Digest,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        Digest::from_hex(&text)
            .ok_or_else(|| D::Error::custom("a digest has 64 hexadecimal digits"))
    }
}
