//! Why the gate decided as it did: one list of codes, each with its sentence and the way out. The page
//! `docs/decision-codes.md` is made from it.

use core::fmt;

use crate::event::Decision;

macro_rules! codes {
    ($($number:literal, $variant:ident, $code:literal, $decision:ident, $sentence:literal, $way_out:literal;)*) => {
        /// Why the gate decided so. Codes and numbers are stable: never renamed, and never with another meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DecisionCode {
            $(#[doc = $sentence] $variant,)*
        }

        impl DecisionCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The number in events.
            pub const fn number(self) -> u16 {
                match self { $(Self::$variant => $number,)* }
            }
            /// The code with this number.
            pub fn from_number(number: u16) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.number() == number)
            }
            /// The stable word.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }
            /// The decision it leads to.
            pub const fn decision(self) -> Decision {
                match self { $(Self::$variant => Decision::$decision,)* }
            }
            /// What it says, in a sentence.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }
            /// What to do about it.
            pub const fn way_out(self) -> &'static str {
                match self { $(Self::$variant => $way_out,)* }
            }
        }
    };
}

codes! {
    1, Read, "read", Allow,
        "The call only looks at what is here.", "Nothing.";
    2, Trusted, "trusted", Allow,
        "What made the agent act and every binding argument come from the user or from what the owner approved.", "Nothing.";
    3, ApprovedCall, "approved_call", Allow,
        "The owner approved exactly this call, once.", "Nothing; the approval is spent.";
    4, Mandate, "mandate", Allow,
        "A mandate of the owner covers the call.", "Nothing; a use of the mandate is spent.";
    5, TrustedEntry, "trusted_entry", Allow,
        "The entry is what its record says, and nothing untrusted went into it.", "Nothing.";
    6, TrustedTask, "trusted_task", Allow,
        "The task and its pins are what their records say, and nothing untrusted went into them.",
        "Nothing; the session it opens has the task's authority.";
    7, Grounded, "grounded", Allow,
        "A real run backs the claim that the step was done.", "Nothing: the step may be skipped.";
    8, Repeated, "repeated", Allow,
        "This call id was allowed before with the same arguments; it is not sent a second time.",
        "Use the first result, or ask with a new call id.";
    20, Untrusted, "untrusted", Label,
        "Something untrusted went into the entry; it is data, not an instruction.",
        "The owner adopts it with `actum adopt`, or it stays data.";
    21, NoRecord, "no_record", Label,
        "Nobody recorded where this entry came from; it is data, not an instruction.",
        "The owner adopts it with `actum adopt`, or it stays data.";
    22, Void, "void", Label,
        "The entry was recorded before a loss after which the owner went on.",
        "The owner adopts it again with `actum adopt`.";
    23, Unverified, "unverified", Label,
        "The ledger cannot be believed, so nothing is known of where this came from.",
        "See `actum verify`.";
    30, Derived, "derived", Ask,
        "The agent put together what decides the call, from trusted things.",
        "The owner approves the call, or grants a mandate for calls like it.";
    31, UntrustedArgument, "untrusted_argument", Ask,
        "The value of a binding argument comes from somewhere that anybody can write to.",
        "The owner approves the call, or a verification step is performed on the value.";
    40, NoPolicy, "no_policy", Deny,
        "No policy is in force, so nothing but reading is allowed.",
        "The owner accepts one with `actum policy accept`.";
    41, StepMissing, "step_missing", Deny,
        "A required step is not grounded for what this call is about.",
        "Perform the step on exactly this, then call again.";
    42, UntrustedTrigger, "untrusted_trigger", Deny,
        "What made the agent act comes from somewhere that anybody can write to.",
        "The owner approves the call with its receipt, or grants a mandate to that channel.";
    43, NobodyToAsk, "nobody_to_ask", Deny,
        "The owner would have to be asked, and nobody is there.",
        "The owner approves the call with its receipt, or grants a mandate beforehand.";
    44, Flooded, "flooded", Deny,
        "So many calls of this origin wait for the owner already that no more are held.",
        "The owner answers those that wait: `actum inbox`.";
    45, CallIdReused, "call_id_reused", Deny,
        "This call id was used before with other arguments.", "Use a new call id for another call.";
    46, ContentEdited, "content_edited", Deny,
        "What was kept of the context is not what the ledger says it was.",
        "Start a new session; see `actum verify`.";
    47, SubjectUnreadable, "subject_unreadable", Deny,
        "What a required step is about cannot be read.", "Make it readable, then call again.";
    48, SessionVoid, "session_void", Deny,
        "The session began before a loss after which the owner went on.", "Start a new session.";
    49, Declined, "declined", Deny,
        "The owner said no to this call.", "Nothing in this session; a mandate of the owner may cover it later.";
    50, Revoked, "revoked", Deny,
        "The owner revoked it.", "Nothing; the owner can adopt it again.";
    51, Superseded, "superseded", Deny,
        "It was replaced or taken back.", "Use what replaced it.";
    52, AncestorWithheld, "ancestor_withheld", Deny,
        "Something it was made from is withheld.", "See `actum why`; the owner can adopt it again.";
    53, Unconfirmed, "unconfirmed", Deny,
        "The owner wrote it, but a crash came before that was acknowledged.", "The owner adopts it again.";
    54, NotForAction, "not_for_action", Deny,
        "Something untrusted went into the entry, or nobody recorded where it came from; nothing is done on its strength.",
        "Recall it as data, or the owner adopts it.";
    60, Changed, "changed", Quarantine,
        "The entry is not what its record says: it was changed outside of the agent.",
        "The owner looks at it: `actum quarantine`, then releases it or leaves it.";
    61, MissingParent, "missing_parent", Quarantine,
        "The entry names something it was made from that is not in the ledger.",
        "The owner looks at it: `actum quarantine`, then releases it or leaves it.";
    62, LooksLikeInstruction, "looks_like_instruction", Quarantine,
        "The entry is untrusted and looks like an instruction (profile `strict`).",
        "The owner looks at it: `actum quarantine`, then releases it or leaves it.";
    63, UntrustedTask, "untrusted_task", Quarantine,
        "Something untrusted went into the task or into what it pins, so it does not fire.",
        "The owner looks at it: `actum quarantine`, then releases it or leaves it.";
    64, UnknownTask, "unknown_task", Quarantine,
        "Nobody recorded where this task or something it pins came from, so it does not fire.",
        "The owner looks at it: `actum quarantine`, then releases it or leaves it.";
    66, UntrustedAction, "untrusted_action", Quarantine,
        "The entry is untrusted and was about to be acted on (profile `strict`).",
        "The owner looks at it: `actum quarantine`, then releases it or leaves it.";
    65, Held, "held", Quarantine,
        "It is in quarantine.", "The owner looks at it: `actum quarantine`, then releases it or leaves it.";
}

impl fmt::Display for DecisionCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The page of decision codes.
pub fn decision_page() -> String {
    let head = "# Decision codes\n\nMade from `crates/core/src/gate/code.rs` by `cargo xtask tidy --write`; do not edit.\n\n\
        | number | code | decision | what it says | what to do |\n|---:|---|---|---|---|\n";
    DecisionCode::ALL.iter().fold(head.to_owned(), |page, code| {
        page + &format!(
            "| {} | `{}` | {} | {} | {} |\n",
            code.number(),
            code.code(),
            code.decision().word(),
            code.sentence(),
            code.way_out()
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_and_codes_are_used_once() {
        let numbers: BTreeSet<u16> = DecisionCode::ALL.iter().map(|code| code.number()).collect();
        let codes: BTreeSet<&str> = DecisionCode::ALL.iter().map(|code| code.code()).collect();
        assert_eq!(
            (numbers.len(), codes.len()),
            (DecisionCode::ALL.len(), DecisionCode::ALL.len())
        );
        for code in DecisionCode::ALL {
            assert_eq!(DecisionCode::from_number(code.number()), Some(*code));
        }
    }
}
