//! The codes of events: one byte on disk, one word in text, one meaning for good.

/// An enum whose variants are one byte each on disk and one word each in text.
macro_rules! coded {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal, $word:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every variant, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The byte on disk.
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }
            /// The variant of a byte; `None` for a byte nobody has defined.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }
            /// The word in messages and JSON.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

coded! {
    /// What a `Named` event introduces.
    Space {
        /// Whose runs.
        Namespace = 1, "namespace";
        /// Which safety step.
        Step = 2, "step";
        /// Which binary, by path and digest.
        Tool = 3, "tool";
        /// Which rule of the policy, by digest.
        Rule = 4, "rule";
        /// Who asked.
        Session = 5, "session";
        /// How content came.
        Channel = 6, "channel";
        /// Who wrote it, as the channel saw.
        Author = 7, "author";
        /// What observes for us.
        Adapter = 8, "adapter";
        /// A tool that an agent calls, by the name the policy knows.
        Called = 9, "called tool";
    }
}

coded! {
    /// How a session began.
    Start {
        /// An adapter saw it begin with nothing before the model.
        Fresh = 1, "fresh";
        /// Nobody saw what was before the model.
        Unknown = 2, "unknown";
        /// Another session opened it, with all that was before that one's model.
        Subagent = 3, "subagent";
        /// A stored task fired.
        Fired = 4, "fired";
        /// It is known only through a guard, which sees the calls of its own server and not the user's turns.
        Partial = 5, "partial";
        /// The same, and the owner has said that somebody sits before it.
        Interactive = 6, "interactive";
    }
}

coded! {
    /// What was put before a model.
    Seen {
        /// A turn of whoever the channel says.
        Turn = 1, "turn";
        /// What a tool gave back.
        Result = 2, "result";
        /// An entry from memory.
        Recalled = 3, "recalled";
        /// A message from outside that made the agent act.
        Inbound = 4, "inbound";
        /// The summary that replaces a context; it inherits everything.
        Summary = 5, "summary";
        /// An adapter saw the context emptied.
        Reset = 6, "reset";
        /// What we answered when we refused.
        Refusal = 7, "refusal";
    }
}

coded! {
    /// What an entry is.
    EntryKind {
        /// Something remembered.
        Memory = 1, "memory";
        /// Something that will be done.
        Task = 2, "task";
    }
}

coded! {
    /// How a run went. Only `Passed` discharges a step.
    Outcome {
        /// It did what its rule asks.
        Passed = 1, "passed";
        /// It ran and said no.
        Failed = 2, "failed";
        /// It could not be run, or a signal ended it.
        Errored = 3, "errored";
        /// Somebody refused it.
        Denied = 4, "denied";
        /// It took longer than it was given.
        TimedOut = 5, "timed_out";
        /// Its subject was not the same before and after.
        SubjectChanged = 6, "subject_changed_during_run";
    }
}

coded! {
    /// How the owner was known when an owner's act was recorded.
    Owner {
        /// A person answered on a terminal.
        Terminal = 1, "terminal";
        /// `--yes` was given: no person was asked.
        YesFlag = 2, "yes-flag";
        /// The owner's own code.
        Code = 3, "code";
        /// A client that the policy lists showed the question and passed the answer on.
        Client = 4, "client";
    }
}

coded! {
    /// Why a ledger had to be resolved.
    Cause {
        /// Events that were acknowledged are gone.
        Truncated = 1, "truncated";
        /// The store tells another story than the anchor.
        Forked = 2, "forked";
        /// Bytes were changed.
        Damaged = 3, "damaged";
        /// Nothing remembers how far the ledger went.
        Unanchored = 4, "unanchored";
        /// The store lies elsewhere than it did.
        Moved = 5, "moved";
        /// The clock jumped.
        Clock = 6, "clock";
        /// Another ledger lay in its place.
        Swapped = 7, "swapped";
        /// The key is gone, so nothing can be verified.
        KeyLost = 8, "key_lost";
    }
}

coded! {
    /// The kinds of event this version writes and reads. Code 20 is kept for `Sealed`.
    Kind {
        /// The first event.
        Genesis = 1, "genesis";
        /// A name gets its number.
        Named = 2, "named";
        /// A policy came into force.
        Policy = 3, "policy";
        /// A run began.
        Began = 4, "began";
        /// A run ended.
        Ended = 5, "ended";
        /// A run was revoked.
        Revoked = 6, "revoked";
        /// The clock jumped.
        Clock = 7, "clock";
        /// A crash was cleaned up after.
        Recovered = 8, "recovered";
        /// The owner went on after a loss.
        Resolved = 9, "resolved";
        /// A new key.
        Rotated = 10, "rotated";
        /// Something entered a session's context.
        Observed = 11, "observed";
        /// An entry was written, with where it came from.
        Wrote = 12, "wrote";
        /// An entry was replaced, or taken back.
        Superseded = 13, "superseded";
        /// An entry is withheld until the owner releases it.
        Quarantined = 14, "quarantined";
        /// The owner released an entry from quarantine.
        Released = 15, "released";
        /// The owner allowed something beforehand.
        Granted = 16, "granted";
        /// The owner allowed one call.
        Consented = 17, "consented";
        /// An approval or a part of a mandate was used up.
        Spent = 18, "spent";
        /// The gate decided.
        Decided = 19, "decided";
        /// A session began.
        Opened = 21, "opened";
        /// The owner let an adapter observe.
        Enrolled = 22, "enrolled";
    }
}

coded! {
    /// What a revocation takes back.
    Revokes {
        /// A run that passed.
        Run = 1, "run";
        /// An entry's record.
        Record = 2, "record";
        /// Everything that came through a channel in an interval.
        Channel = 3, "channel";
        /// Everything that an author wrote in an interval.
        Author = 4, "author";
        /// A mandate.
        Mandate = 5, "mandate";
        /// An adapter's credential.
        Adapter = 6, "adapter";
    }
}

coded! {
    /// What the gate decided.
    Decision {
        /// Go on.
        Allow = 1, "allow";
        /// Serve it, as data.
        Label = 2, "label";
        /// The owner has to say.
        Ask = 3, "ask";
        /// No.
        Deny = 4, "deny";
        /// Withheld, until the owner releases it.
        Quarantine = 5, "quarantine";
    }
}

coded! {
    /// Which calls a mandate is for.
    Audience {
        /// Those of one stored task.
        Task = 1, "task";
        /// Those of sessions that one adapter opened.
        Adapter = 2, "adapter";
        /// Those of one session.
        Session = 3, "session";
        /// Those that a message through one channel set off.
        Channel = 4, "channel";
    }
}

coded! {
    /// What was used up.
    Spends {
        /// An approval, whole.
        Approval = 1, "approval";
        /// A use of a mandate, and of its budget.
        Mandate = 2, "mandate";
    }
}
