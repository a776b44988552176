//! The cases of the papers' list that no file in `cases/` plays: what another test shows, and what the rules cannot decide.

/// Every case of the list, by its letter and how many there are.
pub const LIST: &[(char, u32)] =
    &[('E', 20), ('O', 17), ('S', 11), ('R', 8), ('H', 3), ('L', 6), ('B', 7)];

/// A case that is no question to the gate, and the test that shows its answer.
pub(super) const SHOWN: &[(&str, &str, &str)] = &[
    (
        "E13",
        "a weaker mode or another version of a step",
        "core: ground::e13_a_weaker_rule_does_not_count",
    ),
    ("E14", "a run of another namespace", "core: ground::e14_namespaces_are_apart"),
    (
        "E15",
        "a receipt whose bytes were edited",
        "core: ground::e15_a_receipt_whose_bytes_were_edited_is_none",
    ),
    (
        "E16",
        "two splits of fields that are equal put together",
        "core: ground::e16_a_boundary_between_names_is_part_of_them",
    ),
    (
        "S1",
        "content edited",
        "store: tamper::every_change_is_refused_when_read_and_names_its_place",
    ),
    ("S2", "tail cut", "the same"),
    ("S3", "deleted in the middle", "the same"),
    ("S4", "two events swapped", "the same"),
    (
        "S5",
        "an event forged and appended",
        "store: tamper::what_is_planted_beyond_the_head_is_moved_aside_and_never_believed",
    ),
    (
        "S6",
        "bytes of another owner's ledger",
        "store: tamper::every_change_is_refused_when_read_and_names_its_place",
    ),
    ("S7", "an older event over a newer one", "the same"),
    ("S8", "a label edited", "the same"),
    (
        "S9",
        "the whole store put back",
        "store: tamper::a_rollback_of_store_and_anchor_is_refused_by_whoever_holds_the_head",
    ),
    (
        "S10",
        "a cut that takes only the last revocation or failure",
        "cli: attacks::an_acknowledged_revocation_survives_another_state_folder",
    ),
    (
        "S11",
        "two writers, and a crash between write and head",
        "store: kill::many_who_ask_at_once_are_answered_once_each_and_in_one_order, crash::a_whole_life_survives_every_fault_at_every_operation",
    ),
    ("H1", "thirty equal questions are one", "core: gate::equal_questions_are_one_that_counts"),
    (
        "H2",
        "a call whose text hides the payee",
        "core: value::a_call_is_shown_whole_and_hides_nothing",
    ),
    (
        "L5",
        "what a revoked record has brought about",
        "core: gate::what_a_revoked_record_brought_about_is_listed",
    ),
    ("B4", "a ledger of 100,000 events within the time", "docs/benchmarks.md"),
];

/// A case that the rules cannot decide, and why.
pub(super) const NOT_DECIDED: &[(&str, &str, &str)] = &[
    (
        "E18",
        "the agent reports a count, or that nothing was found, and the result says otherwise",
        "The ledger has the digest of a result and how the step went, and reads no texts. A step whose pass depends on a count asks for it in `passes.output`.",
    ),
    (
        "O6",
        "two trusted registries of one taken-over domain do not raise a value, and two independent ones do",
        "There is no rule of two sources: a verification names one step. Who owns which domain is not known to the ledger, so which sources are independent is the policy's word; a tool that asks both and passes only if both agree says it.",
    ),
    (
        "user-reports E",
        "hooks and approvals of hosts",
        "How a host is answered is a matter of the wire, not of the gate; what the gate says to it is in `approvals/nobody-there` and `sessions/subagent`.",
    ),
    (
        "user-reports G",
        "audit trails",
        "About the ledger's bytes and what is exported, not about a decision; see the storage cases above.",
    ),
];
