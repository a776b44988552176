//! Why an answer is what it is: one list of codes, each with its answer, its sentence and the way out. The page
//! `docs/reason-codes.md` is made from it.

use core::fmt;

/// Does the ledger back the claim that a step was done for a subject?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// Yes: the newest run passed, on this content, under this rule.
    Grounded,
    /// Nothing says so.
    Ungrounded,
    /// Something says otherwise.
    Contradicted,
    /// The ledger cannot be believed, so nothing can be said.
    Refused,
}

impl Answer {
    /// The word in JSON and messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Grounded => "grounded",
            Self::Ungrounded => "ungrounded",
            Self::Contradicted => "contradicted",
            Self::Refused => "refused",
        }
    }

    /// The exit code of a command that gives this answer.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Grounded => 0,
            Self::Ungrounded => 10,
            Self::Contradicted => 11,
            Self::Refused => 12,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

macro_rules! reasons {
    ($($variant:ident, $code:literal, $answer:ident, $sentence:literal, $way_out:literal;)*) => {
        /// A reason code. Codes are stable: they are never renamed, and never get another meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $(#[doc = $sentence] $variant,)*
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable code.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }
            /// The answer it leads to.
            pub const fn answer(self) -> Answer {
                match self { $(Self::$variant => Answer::$answer,)* }
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

reasons! {
    Passed, "passed", Grounded,
        "The newest run passed, on this very content, under the rule in force.",
        "Nothing: the step may be skipped.";
    NeverRan, "never_ran", Ungrounded,
        "No run of this step on this subject is in the ledger.",
        "Perform the step with `actum run`.";
    Running, "running", Ungrounded,
        "A run began and is still going on.",
        "Wait for it to end.";
    Incomplete, "incomplete", Ungrounded,
        "A run began and never ended: it was killed, or the machine stopped.",
        "Perform the step again.";
    Expired, "expired", Ungrounded,
        "The newest run passed longer ago than the step's lifetime.",
        "Perform the step again.";
    RuleChanged, "rule_changed", Ungrounded,
        "The newest run passed under another rule or with another binary than the one accepted now.",
        "Perform the step again.";
    ClockJumped, "clock_jumped", Ungrounded,
        "The clock jumped, so the age of evidence with a lifetime cannot be told.",
        "Set the clock right, then `actum resolve`, and perform the step again.";
    Voided, "voided", Ungrounded,
        "The newest run passed before a loss after which the owner went on.",
        "Perform the step again.";
    Stale, "stale", Contradicted,
        "The newest run passed, but on other content than there is now.",
        "Perform the step again on what is there now.";
    Failed, "failed", Contradicted,
        "The newest run failed.",
        "Mend what it found, and perform the step again.";
    Errored, "errored", Contradicted,
        "The newest run could not be carried out, or a signal ended it.",
        "See `actum log`, and perform the step again.";
    Denied, "denied", Contradicted,
        "The newest run was denied.",
        "Ask the owner.";
    TimedOut, "timed_out", Contradicted,
        "The newest run took longer than it was given.",
        "Perform the step again with more time.";
    SubjectChanged, "subject_changed_during_run", Contradicted,
        "The subject changed while the newest run went on, so the run proves nothing.",
        "Perform the step again; what the run itself made is there now and stays the same.";
    Revoked, "revoked", Contradicted,
        "The owner revoked the newest run.",
        "Perform the step again.";
    NoPolicy, "no_policy", Refused,
        "No policy is in force, so no step means anything.",
        "The owner accepts one with `actum policy accept`.";
    PolicyMissing, "policy_missing", Refused,
        "The accepted policy is not where it was kept, or its bytes were changed.",
        "The owner accepts it again with `actum policy accept`.";
    SubjectUnreadable, "subject_unreadable", Refused,
        "The subject cannot be read, so nothing can be said of its content.",
        "Make it readable, or name another subject.";
    Damaged, "damaged", Refused,
        "The ledger's bytes were changed after they were written.",
        "Restore the file, or go on without it: `actum resolve`.";
    Truncated, "truncated", Refused,
        "Events that were acknowledged are missing from the end of the ledger.",
        "Restore the file, or go on without them: `actum resolve`.";
    Forked, "forked", Refused,
        "The ledger is genuine but tells another story than its anchor remembers.",
        "Restore the right store, or go on: `actum resolve`.";
    Unanchored, "unanchored", Refused,
        "Nothing outside the store remembers how far the ledger went.",
        "Restore the anchor, or go on without it: `actum resolve`.";
    Moved, "moved", Refused,
        "The store lies elsewhere than its anchor says: it was moved or copied.",
        "Move it back, or let it stay: `actum resolve`.";
    Swapped, "swapped", Refused,
        "Another ledger lies where this one belongs.",
        "Restore the right store, or go on without it: `actum resolve`.";
    KeyUnusable, "key_unusable", Refused,
        "The key is missing, damaged, or not the owner's alone.",
        "Restore it, or mend its owner and mode (0600): `actum key where`. If it is gone for good: `actum resolve`.";
    RolledBack, "rolled_back", Refused,
        "Store and anchor went back behind what this process has already seen.",
        "Restore the newer store and anchor, then start again.";
    NoLedger, "no_ledger", Refused,
        "There is no ledger here.",
        "The owner makes one with `actum init`.";
    StoreUnreadable, "store_unreadable", Refused,
        "The store cannot be read.",
        "See the message for the file and the cause.";
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl From<&crate::anchor::Refusal> for Reason {
    fn from(refusal: &crate::anchor::Refusal) -> Self {
        use crate::anchor::Refusal;
        match refusal {
            Refusal::Truncated { .. } => Self::Truncated,
            Refusal::Damaged { .. } => Self::Damaged,
            Refusal::Forked { .. } => Self::Forked,
            Refusal::Unanchored => Self::Unanchored,
            Refusal::Moved { .. } => Self::Moved,
            Refusal::Swapped { .. } => Self::Swapped,
            Refusal::Key { .. } => Self::KeyUnusable,
            Refusal::RolledBack { .. } => Self::RolledBack,
        }
    }
}

/// The page of reason codes.
pub fn reason_page() -> String {
    let head = "# Reason codes\n\nMade from `crates/core/src/reason.rs` by `cargo xtask tidy --write`; do not edit.\n\n\
        | code | answer | exit | what it says | what to do |\n|---|---|---:|---|---|\n";
    Reason::ALL.iter().fold(head.to_owned(), |page, reason| {
        let answer = reason.answer();
        page + &format!(
            "| `{}` | {answer} | {} | {} | {} |\n",
            reason.code(),
            answer.exit_code(),
            reason.sentence(),
            reason.way_out()
        )
    })
}
