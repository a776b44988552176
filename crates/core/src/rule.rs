//! The rules of the gate by name, so that each can be switched off where it is shown what it is good for. Whatever makes a
//! permit has them all on: only `ledger::Ablated` takes one off, and it makes none.

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident, $word:literal;)*) => {
        /// One rule of the gate or of provenance.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $($(#[$doc])* $variant,)* }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its word in a case and in the table of ablations.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The rule with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|rule| rule.word() == word)
            }
        }
    };
}

rules! {
    /// A tool that nobody listed is an effect.
    Unlisted, "unlisted";
    /// A call that only reads is allowed at once.
    Read, "read";
    /// A required step is grounded before the call.
    Obligation, "obligation";
    /// What made the agent act counts.
    Trigger, "trigger";
    /// The origin of each binding argument counts.
    Argument, "argument";
    /// A value stands only where it stands whole.
    WholeValue, "whole_value";
    /// A short or common value says nothing outside the user's own turn.
    ShortValue, "short_value";
    /// What the agent put together is derived at most.
    Composed, "composed";
    /// A value found nowhere is worth the least of the context.
    Nowhere, "nowhere";
    /// Of the places where a value stands, the greatest counts.
    Greatest, "greatest";
    /// A path counts as what it leads to as well.
    Links, "links";
    /// Addresses in outgoing text bind.
    Outgoing, "outgoing";
    /// A fetch of an address that stood whole in a fetched result needs no question.
    Verbatim, "verbatim";
    /// In `context` mode the whole context counts.
    ContextMode, "context_mode";
    /// A passed verification raises its value.
    Elevation, "elevation";
    /// A verification counts only together with its companions.
    Companions, "companions";
    /// A verification counts only if its own binding arguments were trusted.
    Eligible, "eligible";
    /// Evidence ends with its lifetime.
    Lifetime, "lifetime";
    /// An approval is for one exact call.
    ExactCall, "exact_call";
    /// What is spent is gone.
    Spent, "spent";
    /// A mandate is for its audience.
    Audience, "audience";
    /// A mandate holds within its window.
    Window, "window";
    /// A mandate holds within its limits.
    Limits, "limits";
    /// A mandate covers an untrusted argument only where it fixes it.
    Fixed, "fixed";
    /// A derived effect is asked about.
    Derived, "derived";
    /// A call id with other arguments is refused.
    CallId, "call_id";
    /// One origin can hold so many calls and no more.
    Flood, "flood";
    /// A derived record is worth the least of all it came of.
    LeastOfAll, "least_of_all";
    /// A recalled entry is worth no more than its record.
    Recalled, "recalled";
    /// A summary inherits everything.
    Summary, "summary";
    /// A context nobody saw begin is untrusted.
    UnknownContext, "unknown_context";
    /// What we answered when we refused is untrusted.
    Refusal, "refusal";
    /// A relay is worth no more than what it carries.
    Relay, "relay";
    /// A result is worth no more than what the agent asked for in it.
    Echo, "echo";
    /// A channel counts for the tools of its scope.
    Scope, "scope";
    /// A channel counts until it ends.
    Expiry, "expiry";
    /// An entry whose content is not that of its record is quarantined.
    Changed, "changed";
    /// What is revoked is withheld, with all that came of it.
    Revoked, "revoked";
    /// What is superseded is withheld, with all that came of it.
    Superseded, "superseded";
    /// What is quarantined stays withheld until it is released.
    Held, "held";
    /// An untrusted entry is served as data, and not at all for action.
    Label, "label";
    /// A task that is not trusted, or not what it was, does not fire.
    Fire, "fire";
    /// Who asks may ask that, and for that session.
    Caller, "caller";
    /// What is worth more is replaced or forgotten by the owner alone.
    Outranked, "outranked";
    /// In profile `strict` an untrusted entry that looks like an instruction is quarantined.
    Strict, "strict";
}

/// Which rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A bit for each rule that is off.
    off: u64,
}

impl Rules {
    /// All of them.
    pub const ALL: Self = Self { off: 0 };

    /// All but these.
    pub(crate) fn without(rules: &[Rule]) -> Self {
        Self { off: rules.iter().fold(0, |off, rule| off | 1 << *rule as u64) }
    }

    /// Whether this one holds.
    pub(crate) const fn hold(self, rule: Rule) -> bool {
        self.off & (1 << rule as u64) == 0
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back() {
        for rule in Rule::ALL {
            assert_eq!(Rule::from_word(rule.word()), Some(*rule));
            assert!(Rules::ALL.hold(*rule) && !Rules::without(&[*rule]).hold(*rule));
        }
    }
}
