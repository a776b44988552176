//! The rules of Actum: bytes, the keyed chain of events, the views folded from them, policy, and the grounding check.
//!
//! A functional core: `(state, request, now) -> decision`. No I/O, no clock, no randomness, no threads; the same inputs
//! give the same bytes. Everything here is tested without a disk.

mod anchor;
mod authority;
mod caller;
mod canon;
mod chain;
mod clock;
mod event;
mod fingerprint;
mod gate;
mod ground;
mod keys;
mod kind;
mod ledger;
mod looks;
mod names;
mod origin;
pub mod policy;
mod provenance;
mod reason;
mod rule;
mod value;
mod views;

pub use anchor::{Found, Head, PATH_MAX, Refusal, SLOT_LEN, claimed_anchor_ledger, judge_store};
pub use authority::Authority;
pub use caller::{Asks, Caller, CallerKind, NotAllowed, callers_page, may};
pub use canon::{Digest, Hasher, Mac, PlainHasher, content_digest, hex, unhex};
pub use chain::{
    Check, EventFlaw, Flaw, Layout, Position, RECORD_MAX, Record, SEGMENT_HEADER_LEN, SEGMENT_MAX,
    SegmentFlaw, Verified, claimed_ledger, seal, segment_header,
};
pub use clock::{BACK_MAX_MS, ClockStep, FORWARD_MAX_MS, Reading, judge_clock};
pub use event::{
    Audience, Began, Cause, Consented, Decided, Decision, ENTRY_NAME_MAX, Ended, Enrolled,
    EntryKind, Event, FIELDS_MAX, Granted, HEADER_LEN, Header, Kind, LIMITS_MAX, LONG_NAME_MAX,
    LedgerId, Limit, LimitKind, NAMED_MAX, Observed, Opened, Outcome, Owner, PARENTS_MAX, Parents,
    Quarantined, REASON_MAX, Released, Revoked, Revokes, Seen, Space, Spends, Spent, Start,
    Superseded, VERSION, Wrote,
};
pub use gate::{
    AskedCall, AskedEntry, Content, DecisionCode, Gate, InForce, Judged, Judgement, LABEL,
    LimitFlaw, Missing, PERFORMED_MAX, PINS_MAX, Presence, Purpose, QUARANTINE_MAX, Surroundings,
    WAITING_MAX, check_limit, content_of, decision_page, judge_act, judge_fire, judge_recall,
    label,
};
pub use ground::{Evidence, Grounding, Question, Skip, ground, skip};
pub use keys::{GENERATIONS_MAX, KEY_FILE_MAX, KeyFile, KeyFileError, Keyring, Root};
pub use kind::{ACCOUNT_MAX, ADDRESS_MAX, NUMBER_MAX, Number, PATH_VALUE_MAX, ValueKind};
pub use ledger::{
    APPROVAL_MS_MAX, Ablated, Answered, BATCH_MAX, Batch, CommitError, Done, Journal,
    JournalFailed, Kept, Ledger, Leftover, Loss, MANDATE_MS_MAX, MemoryRequest, NewAudience,
    NewCall, NewCallEnd, NewEnd, NewEntry, NewFire, NewLimit, NewMandate, NewObservation,
    NewRecall, NewRun, NewStart, OpenRun, Permit, Rejected, Request, Sheet, Takes, Unkept,
};
pub use looks::looks_like_instruction;
pub use names::{
    ArgumentName, AuthorName, CHANNEL_MAX, ChannelName, FREE_NAME_MAX, NAME_MAX, NameError,
    Namespace, SUBJECT_MAX, SessionName, StepName, SubjectKind, SubjectName, ToolName,
};
pub use origin::{
    DIGITS_IDENTIFY, How, OUTGOING_MAX, Origin, Outgoing, PARTS_MAX, Passage, TEXT_IDENTIFIES,
    is_verbatim, outgoing, trace,
};
pub use provenance::{
    Adapter, Approval, Held, Item, ItemKind, Lineage, Mandate, Provenance, Release, Session,
    Trigger, TriggerKind, Withheld,
};
pub use reason::{Answer, Reason, reason_page};
pub use rule::{Rule, Rules};
pub use value::{
    Call, CallError, TOOL_NAME_MAX, VALUE_DEPTH_MAX, VALUE_NODES_MAX, VALUE_TEXT_MAX, Value,
};
pub use views::{Accepted, Admitted, Resolution, Views};
