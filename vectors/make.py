#!/usr/bin/env python3
"""Writes the vectors of the ledger format: cases built from docs/formats/ledger.md, and what each should give.

    make.py             writes ledger/v1/*.txt beside this file
    make.py --check     compares the files there with what would be written, and ends with 1 if they differ

It builds; check.py reads; they share no code. The same input gives the same bytes: ids, roots and times are fixed. A
published file is never edited, so a case may be added here but not changed: a new version of the format gets a new folder.
Standard library only.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

FOLDER = Path(__file__).resolve().parent / "ledger" / "v1"

ID = bytes(range(0x10, 0x20))
OTHER_ID = bytes(range(0x20, 0x30))
ROOTS = [hashlib.sha256(b"actum vectors, root %d" % generation).digest() for generation in range(3)]
OTHER_ROOT = hashlib.sha256(b"actum vectors, other root").digest()
# 2026-01-01T00:00:00Z; each event comes a second after the one before.
START_MS = 1_767_225_600_000

GENESIS, NAMED, POLICY, BEGAN, ENDED, REVOKED, CLOCK, RECOVERED, RESOLVED, ROTATED = range(1, 11)
OBSERVED, WROTE, SUPERSEDED, QUARANTINED, RELEASED, GRANTED, CONSENTED, SPENT, DECIDED = range(11, 20)
SEALED, OPENED, ENROLLED = 20, 21, 22
NAMESPACE, STEP, TOOL, RULE, SESSION, CHANNEL, AUTHOR, ADAPTER, CALLED = range(1, 10)
PASSED, FAILED, ERRORED, DENIED, TIMED_OUT, CHANGED = range(1, 7)
TERMINAL, YES_FLAG, CODE, CLIENT = range(1, 5)


def u(size: int, value: int) -> bytes:
    return value.to_bytes(size, "big")


def sized(data: bytes) -> bytes:
    return u(2, len(data)) + data


def text(value: str) -> bytes:
    return sized(value.encode())


def sha(value: str) -> bytes:
    return hashlib.sha256(value.encode()).digest()


def mac_of(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def derived(root: bytes, label: bytes, ledger: bytes) -> bytes:
    extracted = mac_of(b"", root)
    return mac_of(extracted, label + ledger + b"\x01")


def event_key(root: bytes, ledger: bytes = ID) -> bytes:
    return derived(root, b"actum/event/v1", ledger)


def anchor_key(root: bytes, ledger: bytes = ID) -> bytes:
    return derived(root, b"actum/anchor/v1", ledger)


def key_id(root: bytes, ledger: bytes = ID) -> bytes:
    return mac_of(event_key(root, ledger), b"actum/key-id/v1")[:16]


def framed_digest(domain: str, *parts: bytes) -> bytes:
    hasher = hashlib.sha256()
    for piece in (domain.encode(), None, *parts):
        hasher.update(u(8, len(parts)) if piece is None else u(8, len(piece)) + piece)
    return hasher.digest()


# Fields, by kind


def genesis(ledger: bytes = ID) -> bytes:
    return ledger


def named(space: int, number: int, name: bytes) -> bytes:
    return u(1, space) + u(4, number) + sized(name)


def policy(owner: int = TERMINAL) -> bytes:
    return sha("the policy") + u(1, owner)


def began(
    subject: bytes | str = "text:X12",
    *,
    namespace: int = 0,
    step: int = 0,
    tool: int = 0,
    rule: int = 0,
    session: int = 0,
) -> bytes:
    subject = subject.encode() if isinstance(subject, str) else subject
    numbers = b"".join(u(4, number) for number in (namespace, step, tool, rule, session))
    return numbers + sized(subject) + sha("the subject") + sha("the arguments")


def ended(run: int, outcome: int = PASSED, code: int = 0) -> bytes:
    return u(8, run) + u(1, outcome) + code.to_bytes(4, "big", signed=True) + sha("the result") + sha("the subject")


def revoked(run: int, reason: bytes | str = "wrong source", *, what: int = 1, owner: int = TERMINAL) -> bytes:
    reason = reason.encode() if isinstance(reason, str) else reason
    return u(1, what) + u(8, run) + u(1, owner) + sized(reason)


def clock(before: int, now: int) -> bytes:
    return u(8, before) + u(8, now)


def recovered(first: int, kept: int, dropped: bytes) -> bytes:
    return u(8, first) + u(8, kept) + u(8, len(dropped)) + framed_digest("actum/dropped/v1", dropped)


def resolved(cause: int, count: int = 0, mac: bytes = bytes(32), owner: int = TERMINAL) -> bytes:
    return u(1, cause) + u(8, count) + mac + u(1, owner)


def rotated(generation: int, identity: bytes, owner: int = TERMINAL) -> bytes:
    return u(4, generation) + identity + u(1, owner)


UNTRUSTED, DERIVED, APPROVED, USER = range(1, 5)
FRESH, UNKNOWN, SUBAGENT, FIRED, PARTIAL, INTERACTIVE = range(1, 7)
TURN, RESULT, RECALLED, INBOUND, SUMMARY, RESET, REFUSAL = range(1, 8)
A_RUN, A_RECORD, A_CHANNEL, AN_AUTHOR, A_MANDATE, AN_ADAPTER = range(1, 7)
MEMORY, TASK = range(1, 3)
NO_NUMBER, NO_INDEX = 2**32 - 1, 2**64 - 1


def opened(session: int = 0, start: int = FRESH, source: int = NO_INDEX, adapter: int = NO_NUMBER) -> bytes:
    return u(4, session) + u(4, adapter) + u(1, start) + u(8, source)


def observed(
    seen: int = TURN,
    authority: int = USER,
    content: str = "a turn",
    *,
    session: int = 0,
    channel: int = 0,
    author: int = 0,
    record: int = NO_INDEX,
) -> bytes:
    numbers = u(4, session) + u(1, seen) + u(4, channel) + u(4, author)
    return numbers + u(1, authority) + u(8, record) + sha(content)


def wrote(
    authority: int = DERIVED,
    parents: list[int] | str = "context",
    content: str = "an entry",
    *,
    session: int = 0,
    entry: int = MEMORY,
    namespace: int = 0,
    channel: int = 0,
    author: int = 0,
    name: bytes = b"MEMORY.md#1",
    owner: int | None = None,
) -> bytes:
    numbers = u(4, session) + u(1, entry) + u(4, namespace) + u(4, channel) + u(4, author) + u(1, authority)
    if isinstance(parents, str):
        lineage = u(1, {"none": 0, "context": 1}[parents])
    else:
        lineage = u(1, 2) + u(2, len(parents)) + b"".join(u(8, parent) for parent in parents)
    known_by = (TERMINAL if parents == "none" else 0) if owner is None else owner
    return numbers + lineage + u(8, NO_INDEX) + sized(name) + sha(content) + sha("a fingerprint") + u(1, known_by)


def superseded(record: int, by: int = NO_INDEX, owner: int = 0) -> bytes:
    return u(8, record) + u(8, by) + u(1, owner)


def taken_back(what: int, target: int, interval: tuple[int, int] | None = None) -> bytes:
    bounds = b"" if interval is None else u(8, interval[0]) + u(8, interval[1])
    return u(1, what) + u(8, target) + bounds + u(1, TERMINAL) + text("wrong source")


def quarantined(record: int = NO_INDEX, content: str = "an entry", name: bytes = b"MEMORY.md#1", namespace: int = 0) -> bytes:
    return u(8, record) + u(4, namespace) + sized(name) + sha(content) + u(2, 3)


def released(held: int, record: int, owner: int = TERMINAL) -> bytes:
    return u(8, held) + u(8, record) + u(1, owner)


def limit(argument: str = "payee", kind: int = 1, values: tuple[str, ...] = ("DE89",)) -> bytes:
    return text(argument) + u(1, kind) + u(2, len(values)) + b"".join(text(value) for value in values)


def granted(
    *,
    called: int = 0,
    audience: tuple[int, int] = (3, 0),
    window: tuple[int, int] = (START_MS, START_MS + 3_600_000),
    uses: int = 2,
    argument: str = "",
    budget: int = 0,
    limits: tuple[bytes, ...] = (),
    parent: int = NO_INDEX,
    owner: int = TERMINAL,
) -> bytes:
    bounds = u(4, called) + u(1, audience[0]) + u(8, audience[1]) + u(8, window[0]) + u(8, window[1]) + u(4, uses)
    listed = u(2, len(limits)) + b"".join(limits)
    return bounds + text(argument) + u(8, budget) + listed + u(8, parent) + u(1, owner)


def consented(session: int = 0, owner: int = TERMINAL) -> bytes:
    return u(4, session) + sha("a call") + u(8, START_MS + 60_000) + u(1, owner)


def spent(what: int, of: int, amount: int = 0) -> bytes:
    return u(1, what) + u(8, of) + u(8, amount)


def decided(session: int = 0, called: int = 0, decision: int = 4) -> bytes:
    return u(4, session) + u(4, called) + sha("a call") + bytes(32) + u(1, decision) + u(2, 7) + u(8, NO_INDEX) + u(4, 1)


def enrolled(adapter: int = 0, channels: tuple[str, ...] = ("web", "mail:*"), owner: int = TERMINAL) -> bytes:
    listed = u(2, len(channels)) + b"".join(text(channel) for channel in channels)
    return u(4, adapter) + sha("a credential") + listed + u(1, owner)


TOOL_NAME = sha("the tool") + b"/usr/bin/cargo"
RULE_NAME = sha("the rule")


class Writer:
    """Appends records as a sound writer does. What a case wants otherwise is said by name, and sealed all the same."""

    def __init__(self, ledger: bytes = ID, root: bytes = ROOTS[0]) -> None:
        self.ledger, self.key = ledger, event_key(root, ledger)
        self.previous, self.count, self.incarnation = bytes(32), 0, 1
        self.segments: list[list[tuple[str, bytes]]] = []
        self.new_segment()

    def new_segment(self, **other: bytes) -> None:
        parts = {"magic": b"ACTUMLG1", "ledger": self.ledger, "first": u(8, self.count), "previous": self.previous}
        self.segments.append([("header", b"".join((parts | other).values()))])

    def add(
        self,
        kind: int,
        fields: bytes,
        note: str = "",
        *,
        version: int = 1,
        index: int | None = None,
        incarnation: int | None = None,
        length: int | None = None,
        key: bytes | None = None,
    ) -> Writer:
        body = b"".join(
            (
                u(2, len(fields) if length is None else length),
                u(1, version),
                u(1, kind),
                u(8, self.count if index is None else index),
                u(4, self.incarnation if incarnation is None else incarnation),
                u(8, START_MS + 1_000 * self.count),
                fields,
            )
        )
        mac = mac_of(key or self.key, self.previous + body)
        label = KIND_NAMES.get(kind, f"kind {kind}")
        self.segments[-1].append((f"{self.count} {label}{': ' if note else ''}{note}", body + mac))
        self.previous, self.count = mac, self.count + 1
        return self

    def head(self) -> str:
        return f"head {self.count} {self.previous.hex()}"

    def rotate(self, generation: int, identity: bytes | None = None) -> Writer:
        root = ROOTS[generation]
        self.add(ROTATED, rotated(generation, key_id(root, self.ledger) if identity is None else identity))
        self.key = event_key(root, self.ledger)
        return self


KIND_NAMES = {
    GENESIS: "Genesis",
    NAMED: "Named",
    POLICY: "Policy",
    BEGAN: "Began",
    ENDED: "Ended",
    REVOKED: "Revoked",
    CLOCK: "Clock",
    RECOVERED: "Recovered",
    RESOLVED: "Resolved",
    ROTATED: "Rotated",
    OBSERVED: "Observed",
    WROTE: "Wrote",
    SUPERSEDED: "Superseded",
    QUARANTINED: "Quarantined",
    RELEASED: "Released",
    GRANTED: "Granted",
    CONSENTED: "Consented",
    SPENT: "Spent",
    DECIDED: "Decided",
    OPENED: "Opened",
    ENROLLED: "Enrolled",
}


def with_genesis() -> Writer:
    return Writer().add(GENESIS, genesis())


def with_names(step: str = "validate") -> Writer:
    """Events 0 to 5: the genesis and one name in each space."""
    writer = with_genesis()
    writer.add(NAMED, named(NAMESPACE, 0, b"local/default"), "namespace 0, local/default")
    writer.add(NAMED, named(STEP, 0, step.encode()), f"step 0, {step}")
    writer.add(NAMED, named(TOOL, 0, TOOL_NAME), "tool 0, a digest and /usr/bin/cargo")
    writer.add(NAMED, named(RULE, 0, RULE_NAME), "rule 0, a digest")
    writer.add(NAMED, named(SESSION, 0, b"session-1"), "session 0, session-1")
    return writer


def with_origins() -> Writer:
    """Events 0 to 8: the genesis, one name in each space that concerns origins, two sessions and two channels."""
    writer = with_genesis()
    for space, name in ((NAMESPACE, b"local/default"), (CHANNEL, b"user"), (AUTHOR, b"owner"), (ADAPTER, b"hook"), (CALLED, b"pay")):
        writer.add(NAMED, named(space, 0, name), f"space {space}, 0, {name.decode()}")
    writer.add(NAMED, named(CHANNEL, 1, b"web"), "channel 1, web")
    writer.add(NAMED, named(SESSION, 0, b"s0"), "session 0, s0")
    return writer.add(NAMED, named(SESSION, 1, b"s1"), "session 1, s1")


SESSION_0, SEEN_1, SEEN_2, ENTRY = 9, 10, 11, 12


def with_session(start: int = FRESH) -> Writer:
    """Events 0 to 9: session 0 is open."""
    return with_origins().add(OPENED, opened(0, start), "session 0")


def with_turn(start: int = FRESH) -> Writer:
    """Events 0 to 10: the user said something."""
    return with_session(start).add(OBSERVED, observed(), "a turn of the user")


def with_page() -> Writer:
    """Events 0 to 11: and a page was read."""
    return with_turn().add(OBSERVED, observed(RESULT, UNTRUSTED, "a page", channel=1), "a page")


def with_entry() -> Writer:
    """Events 0 to 12: and the agent wrote an entry, of the turn alone."""
    return with_page().add(WROTE, wrote(DERIVED, [SEEN_1]), "of the turn")


def with_mandate(**other: object) -> Writer:
    """Events 0 to 10: session 0 and a mandate."""
    return with_session().add(GRANTED, granted(**other), "a mandate")


MANDATE = 10

RUN = 6


def with_run(step: str = "validate", subject: str = "text:X12") -> Writer:
    """Events 0 to 6: the names and a run that began."""
    return with_names(step).add(BEGAN, began(subject), f"step 0, {subject}")


def with_passed_run() -> Writer:
    """Events 0 to 7."""
    return with_run().add(ENDED, ended(RUN), "passed")


# Cases


class Case(NamedTuple):
    name: str
    format: str
    comment: str
    expect: str
    body: list[str]
    roots: list[bytes] = [ROOTS[0]]
    ledger: bytes = ID
    active: int | None = None

    def render(self) -> str:
        headers = [("comment", self.comment), ("format", self.format)]
        headers += [("root", root.hex()) for root in self.roots]
        headers.append(("ledger", self.ledger.hex()))
        if self.active is not None:
            headers.append(("active", str(self.active)))
        headers.append(("expect", self.expect))
        return "".join(f"{name}: {value}\n" for name, value in headers) + "\n" + "".join(f"{line}\n" for line in self.body)


def words(data: bytes, cuts: tuple[int, ...]) -> str:
    """`data` in hexadecimal, with a space at each cut and long runs of one byte written as `00*32`."""
    edges = sorted({0, *(cut for cut in cuts if 0 < cut < len(data)), len(data)})
    found = []
    for start, end in zip(edges, edges[1:]):
        for run in re.finditer(rb"(?s)(.)\1{15,}|(?:(?!(.)\2{15}).)+", data[start:end]):
            piece = run.group()
            found.append(f"{piece[0]:02x}*{len(piece)}" if run.group(1) else piece.hex())
    return " ".join(found)


def header_line(data: bytes) -> str:
    return words(data, (8, 24, 32))


def record_line(data: bytes) -> str:
    return words(data, (2, 3, 4, 12, 16, 24, max(24, len(data) - 32)))


def segment_body(segments: list[list[tuple[str, bytes]]]) -> list[str]:
    lines = []
    for place, segment in enumerate(segments):
        if place > 0:
            lines += ["next segment"]
        for label, data in segment:
            is_header = label.startswith("header")
            lines += [f"# {label}", header_line(data) if is_header else record_line(data)]
    return lines


def good(name: str, comment: str, writer: Writer, roots: int = 1) -> Case:
    return Case(f"segment-good-{name}", "segment", comment, writer.head(), segment_body(writer.segments), ROOTS[:roots])


def bad(name: str, comment: str, expect: str, writer: Writer, roots: list[bytes] | None = None) -> Case:
    roots = ROOTS[:1] if roots is None else roots
    return Case(f"segment-bad-{name}", "segment", comment, expect, segment_body(writer.segments), roots)


def flipped(writer: Writer, record: int, offset: int, bit: int, segment: int = 0) -> Writer:
    label, data = writer.segments[segment][record + 1]
    changed = bytearray(data)
    changed[offset] ^= 1 << bit
    writer.segments[segment][record + 1] = (f"{label} (byte {offset} is changed)", bytes(changed))
    return writer


def cut(writer: Writer, size: int) -> Writer:
    """Keeps `size` bytes of the last record."""
    label, data = writer.segments[-1].pop()
    writer.segments[-1].append((f"{label} ({size} of {len(data)} bytes)", data[:size]))
    return writer


def segment_good() -> Iterator[Case]:
    yield good("header-alone", "a segment that was made and not yet written to", Writer())
    yield good("genesis", "the least ledger", with_genesis())
    yield good("genesis-later-incarnation", "a first writer that does not count from 1", _incarnation_three())
    yield good("incarnation-rises", "each writer start counts on, gaps are allowed", _incarnations())
    yield good("names", "one name in each space", with_names())
    yield good("names-utf8", "names of more than ASCII, and the longest step name", _names_utf8())
    writer = with_names().add(NAMED, named(SESSION, 1, b"session-1 ")).add(NAMED, named(STEP, 1, b"session-1"))
    yield good("names-alike", "one name in two spaces, and two names that differ by a space", writer)
    yield good("policy", "a policy confirmed in each of the three ways", _policies())
    yield good("run-open", "a run that began and has not ended", with_run())
    yield good("run-passed", "a run that began and passed", with_passed_run())
    yield good("run-outcomes", "each of the six outcomes; codes 1, minus 9 and the least i32 among them", _outcomes())
    yield good("runs-overlap", "two runs open at once, the first ends last", _overlap())
    yield good("subject-longest", "a subject of exactly 1024 bytes", with_names().add(BEGAN, began(b"text:" + b"a" * 1019)))
    yield good("subject-utf8", "a subject of two, three and four byte characters", _subject_utf8())
    yield good("subject-empty", "the format does not forbid an empty subject", with_names().add(BEGAN, began("")))
    yield good("revoked", "a run revoked twice", with_passed_run().add(REVOKED, revoked(RUN)).add(REVOKED, revoked(RUN, "")))
    yield good("revoked-while-open", "revoking does not end a run: it still may", _revoked_open())
    yield good("revoked-reason-longest", "a reason of exactly 1024 bytes", with_run().add(REVOKED, revoked(RUN, b"r" * 1024)))
    yield good("clock", "the clock fell by an hour", _clock())
    yield good("recovered", "three events kept, `torn` dropped; event times may fall and are not compared", _recovered())
    yield good("resolved", "each of the eight causes", _resolved())
    yield good("rotated", "events after a rotation are under the new key", _rotated(), 2)
    yield good("rotated-twice", "two rotations", _rotated().rotate(2).add(POLICY, policy(CODE)), 3)
    yield good("rotated-last", "a rotation that nothing follows yet", with_genesis().rotate(1), 2)
    yield good("rotated-root-ahead", "a root that no event rotates to yet", with_genesis(), 2)
    yield good("two-segments", "the second header holds the MAC of event 5", _two_segments())
    yield good("two-segments-second-empty", "the second segment has a header only", _second_empty())
    yield good("two-segments-rotated", "the second segment begins under the new key", _two_segments_rotated(), 2)
    comment = "with the other `boundary` file: the same letters, parted elsewhere, give another head"
    yield good("boundary-validate-X12", comment, with_run("validate", "X12"))
    yield good("boundary-validateX-12", comment, with_run("validateX", "12"))


def _incarnation_three() -> Writer:
    writer = Writer()
    writer.incarnation = 3
    return writer.add(GENESIS, genesis())


def _incarnations() -> Writer:
    writer = with_genesis()
    for incarnation in (1, 2, 2, 7, 2**32 - 1):
        writer.incarnation = incarnation
        writer.add(POLICY, policy(), f"incarnation {incarnation}")
    return writer


def _names_utf8() -> Writer:
    writer = with_genesis()
    writer.add(NAMED, named(NAMESPACE, 0, "équipe/größe".encode()), "namespace 0, équipe/größe")
    writer.add(NAMED, named(STEP, 0, "検証".encode()), "step 0, 検証")
    writer.add(NAMED, named(STEP, 1, b"s" * 128), "step 1, 128 bytes")
    writer.add(NAMED, named(SESSION, 0, "🙂".encode()), "session 0, 🙂")
    writer.add(NAMED, named(TOOL, 0, sha("the tool") + b"/opt/\xff\xfe"), "tool 0, a path that is not UTF-8")
    writer.add(NAMED, named(TOOL, 1, sha("the tool") + b"p" * 4168), "tool 1, 4200 bytes")
    return writer


def _policies() -> Writer:
    writer = with_genesis()
    for owner in (TERMINAL, YES_FLAG, CODE, CLIENT):
        writer.add(POLICY, policy(owner), f"owner {owner}")
    return writer


def _outcomes() -> Writer:
    writer = with_names()
    pairs = [(PASSED, 0), (FAILED, 1), (ERRORED, -9), (DENIED, 0), (TIMED_OUT, -(2**31)), (CHANGED, 2**31 - 1)]
    for outcome, code in pairs:
        run = writer.count
        writer.add(BEGAN, began()).add(ENDED, ended(run, outcome, code), f"outcome {outcome}, code {code}")
    return writer


def _overlap() -> Writer:
    writer = with_run().add(BEGAN, began("text:X13"), "step 0, text:X13")
    return writer.add(ENDED, ended(RUN + 1), "ends 7").add(ENDED, ended(RUN, FAILED, 1), "ends 6")


def _subject_utf8() -> Writer:
    return with_names().add(BEGAN, began("text:é検🙂"), "text:é検🙂")


def _revoked_open() -> Writer:
    return with_run().add(REVOKED, revoked(RUN, "prematurely", owner=CODE)).add(ENDED, ended(RUN), "passed")


def _clock() -> Writer:
    return with_genesis().add(CLOCK, clock(START_MS, START_MS - 3_600_000))


def _recovered() -> Writer:
    writer = with_run()
    writer.incarnation = 2
    return writer.add(RECOVERED, recovered(4, 3, b"torn"), "first 4, kept 3, dropped 4 bytes")


def _resolved() -> Writer:
    writer = with_genesis()
    for cause in range(1, 9):
        known = (0, bytes(32)) if cause == 4 else (9, sha("the newest MAC that was known"))
        writer.add(RESOLVED, resolved(cause, *known), f"cause {cause}")
    return writer


def _rotated() -> Writer:
    return with_genesis().rotate(1).add(POLICY, policy())


def _two_segments() -> Writer:
    writer = with_names()
    writer.new_segment()
    return writer.add(BEGAN, began()).add(ENDED, ended(RUN), "passed")


def _second_empty() -> Writer:
    writer = with_genesis()
    writer.new_segment()
    return writer


def _two_segments_rotated() -> Writer:
    writer = with_genesis().rotate(1)
    writer.new_segment()
    return writer.add(POLICY, policy())


NO_MATCH = "the MAC does not match"
ENDS = "the bytes end inside it"
NO_DECODE = "fields do not decode"


def segment_flips() -> Iterator[Case]:
    regions = [
        ("length-shorter", 1, 0, NO_MATCH),
        ("length-longer", 1, 4, NO_MATCH),
        ("length-huge", 0, 7, "fields of 32809 bytes, at most 8192"),
        ("length-past-end", 0, 4, ENDS),
        ("version", 2, 1, "version 3 is not known"),
        ("kind", 3, 0, NO_MATCH),
        ("index", 11, 0, NO_MATCH),
        ("incarnation", 15, 1, NO_MATCH),
        ("time", 23, 0, NO_MATCH),
        ("fields-first", 24, 0, NO_MATCH),
        ("fields-last", 24 + 40, 7, NO_MATCH),
        ("mac-first", 24 + 41, 0, NO_MATCH),
        ("mac-last", 24 + 72, 7, NO_MATCH),
    ]
    for region, offset, bit, wrong in regions:
        # Event 1 has 41 bytes of fields, and two events stand behind it.
        writer = flipped(_three_after_genesis(), 1, offset, bit)
        comment = f"one bit of event 1 is changed: byte {offset}, bit {bit}"
        yield bad(f"flip-{region}", comment, f"event 1: {wrong}", writer)
    comment = "one bit of the ledger id that the genesis holds is changed"
    yield bad("flip-genesis", comment, f"event 0: {NO_MATCH}", flipped(with_genesis(), 0, 24, 0))
    writer = flipped(_three_after_genesis(), 3, 24, 0)
    yield bad("flip-newest", "one bit of the newest event is changed", f"event 3: {NO_MATCH}", writer)
    writer = flipped(_two_segments(), 0, 24, 0, segment=1)
    yield bad("flip-second-segment", "one bit in the second segment is changed", f"event 6: {NO_MATCH}", writer)


def _three_after_genesis() -> Writer:
    writer = with_genesis().add(NAMED, named(STEP, 0, b"s" * 34), "step 0, 34 bytes")
    return writer.add(POLICY, policy()).add(POLICY, policy(CODE))


def segment_cuts() -> Iterator[Case]:
    for name, size, comment in (
        ("one-byte", 1, "one byte of the last record is there"),
        ("after-length", 2, "only the length of the last record is there"),
        ("inside-head", 23, "the last record ends in its time"),
        ("before-fields", 24, "the last record ends before its fields"),
        ("inside-fields", 40, "the last record ends in its fields"),
        ("before-mac", 24 + 77, "the last record ends before its MAC"),
        ("last-byte", 24 + 77 + 31, "the last byte of the last record is missing"),
    ):
        yield bad(f"cut-{name}", comment, f"event 7: {ENDS}", cut(with_passed_run(), size))
    writer = with_genesis()
    writer.segments[0].append(("zeros, as a file system may leave them", bytes(56)))
    yield bad("tail-of-zeros", "56 zero bytes after the last record", "event 1: version 0 is not known", writer)
    writer = with_passed_run()
    label, _ = writer.segments[0].pop()
    writer.segments[0].append((f"{label} (a length over the limit, and nothing else)", u(2, 8193)))
    comment = "the limit is looked at before what is there of the record"
    yield bad("cut-over-limit", comment, "event 7: fields of 8193 bytes, at most 8192", writer)
    writer = _two_segments()
    cut_first = writer.segments[0]
    label, data = cut_first.pop()
    cut_first.append((f"{label} (cut)", data[:-1]))
    yield bad("cut-first-segment", "the first of two segments ends in a record", f"event 5: {ENDS}", writer)


def segment_moves() -> Iterator[Case]:
    writer = _three_after_genesis()
    del writer.segments[0][2]
    yield bad("deleted-middle", "event 1 is gone", f"event 1: {NO_MATCH}", writer)

    writer = _three_after_genesis()
    del writer.segments[0][1]
    yield bad("deleted-genesis", "event 0 is gone", f"event 0: {NO_MATCH}", writer)

    writer = _three_after_genesis()
    records = writer.segments[0]
    records[2], records[3] = records[3], records[2]
    yield bad("swapped", "events 1 and 2 have changed places", f"event 1: {NO_MATCH}", writer)

    writer = _three_after_genesis()
    writer.segments[0].insert(3, writer.segments[0][2])
    yield bad("doubled", "event 1 stands there twice", f"event 2: {NO_MATCH}", writer)

    writer = _three_after_genesis()
    writer.segments[0].append(writer.segments[0][2])
    yield bad("older-over-newer", "event 1 is put behind the newest event", f"event 4: {NO_MATCH}", writer)

    theirs = Writer(OTHER_ID).add(GENESIS, genesis(OTHER_ID)).add(POLICY, policy())
    writer = with_genesis()
    writer.segments[0].append(theirs.segments[0][2])
    comment = "event 1 comes from another ledger under the same root"
    yield bad("record-of-another-ledger", comment, f"event 1: {NO_MATCH}", writer)

    writer = Writer(OTHER_ID).add(GENESIS, genesis(OTHER_ID))
    writer.segments[0][0] = Writer().segments[0][0]
    comment = "all records come from another ledger under the same root, behind a header of this one"
    yield bad("records-behind-another-header", comment, f"event 0: {NO_MATCH}", writer)

    comment = "the ledger was written under another root"
    yield bad("another-root", comment, f"event 0: {NO_MATCH}", Writer(root=OTHER_ROOT).add(GENESIS, genesis()))

    writer = with_genesis()
    wrong = event_key(OTHER_ROOT)
    writer.add(POLICY, policy(), "under another key", key=wrong).add(POLICY, policy(), "likewise", key=wrong)
    yield bad("chained-again", "events 1 and 2 are chained anew without the key", f"event 1: {NO_MATCH}", writer)

    writer = with_genesis().add(POLICY, policy(), "under the root itself", key=ROOTS[0])
    yield bad("root-as-key", "the root is not the event key", f"event 1: {NO_MATCH}", writer)
    writer = with_genesis().add(POLICY, policy(), "under the anchor key", key=anchor_key(ROOTS[0]))
    yield bad("anchor-key-as-key", "the anchor key seals no events", f"event 1: {NO_MATCH}", writer)

    writer = with_genesis()
    writer.previous = bytes(32)
    writer.add(POLICY, policy(), "sealed as if it had no predecessor")
    yield bad("no-predecessor", "event 1 is sealed over zeros, not over the MAC of event 0", f"event 1: {NO_MATCH}", writer)

    writer, other = with_run("validate", "X12"), with_run("validateX", "12")
    label, forged = other.segments[0][RUN + 1]
    writer.segments[0][RUN + 1] = (f"{label} (taken from the ledger of validateX and 12)", forged)
    yield bad("boundary-moved", "the run of the other `boundary` ledger", f"event 6: {NO_MATCH}", writer)

    writer = with_run("validate", "X12")
    label, record = writer.segments[0][RUN + 1]
    mac = record[-32:]
    body = record[:24] + began("12")
    shifted = u(2, len(body) - 24) + body[2:] + mac
    writer.segments[0][RUN + 1] = (f"{label} (the subject is 12, the MAC is as it was)", shifted)
    yield bad("boundary-shifted", "a shorter subject under the same MAC", f"event 6: {NO_MATCH}", writer)


def segment_sealed() -> Iterator[Case]:
    """Records with a right MAC: what only a holder of the key can get wrong."""
    yield bad("version-0", "the version is 0", "event 1: version 0 is not known", with_genesis().add(POLICY, policy(), version=0))
    yield bad("version-2", "the version is 2", "event 1: version 2 is not known", with_genesis().add(POLICY, policy(), version=2))
    writer = with_genesis().add(POLICY, policy(), version=2, key=event_key(OTHER_ROOT))
    yield bad("version-2-wrong-mac", "the version comes before the MAC", "event 1: version 2 is not known", writer)

    writer = with_genesis().add(POLICY, policy(), index=2)
    yield bad("index-ahead", "an index is left out", "event 1: carries index 2", writer)
    writer = with_genesis().add(POLICY, policy(), index=0)
    yield bad("index-again", "an index comes twice", "event 1: carries index 0", writer)
    yield bad("index-first", "the first index is 1", "event 0: carries index 1", Writer().add(GENESIS, genesis(), index=1))

    writer = Writer()
    writer.incarnation = 5
    writer.add(GENESIS, genesis()).add(POLICY, policy(), incarnation=4)
    yield bad("incarnation-falls", "an older writer came back", "event 1: incarnation 4 after 5", writer)
    writer = Writer().add(GENESIS, genesis(), incarnation=0)
    yield bad("incarnation-0", "incarnations count from 1", "event 0: incarnation 0 after 0", writer)

    for kind in (0, SEALED, 23, 255):
        what = "kept for later" if kind == SEALED else "nobody's"
        writer = with_genesis().add(kind, b"", what)
        yield bad(f"kind-{kind:03}", f"kind {kind} is {what}", f"event 1: kind {kind} is not known", writer)
    writer = with_genesis().add(23, b"", index=7, incarnation=0)
    yield bad("index-before-incarnation", "three things are wrong, the index is said", "event 1: carries index 7", writer)
    writer = with_genesis().add(23, b"", incarnation=0)
    expect = "event 1: incarnation 0 after 1"
    yield bad("incarnation-before-kind", "two things are wrong, the incarnation is said", expect, writer)
    writer = Writer().add(23, b"")
    yield bad("kind-before-genesis", "two things are wrong, the kind is said", "event 0: kind 23 is not known", writer)
    writer = Writer().add(POLICY, b"")
    yield bad("fields-before-genesis", "two things are wrong, the fields are said", f"event 0: {NO_DECODE}", writer)

    yield bad("genesis-missing", "event 0 is a policy", "event 0: not a genesis", Writer().add(POLICY, policy()))
    writer = Writer().add(GENESIS, genesis(OTHER_ID))
    yield bad("genesis-of-another", "the genesis names another ledger", "event 0: genesis of another ledger", writer)
    yield bad("genesis-again", "two events of kind Genesis", "event 1: a second genesis", with_genesis().add(GENESIS, genesis()))
    writer = with_genesis().add(GENESIS, genesis(OTHER_ID))
    yield bad("genesis-again-of-another", "that it is the second is said", "event 1: a second genesis", writer)

    writer = with_genesis().add(NAMED, named(STEP, 1, b"tests"))
    yield bad("named-first-1", "numbers begin at 0", "event 1: names number 1, expected 0", writer)
    writer = with_names().add(NAMED, named(STEP, 0, b"tests"))
    yield bad("named-again", "number 0 of steps is given twice", "event 6: names number 0, expected 1", writer)
    twice = {"namespace": b"local/default", "step": b"validate", "tool": TOOL_NAME, "rule": RULE_NAME}
    for space, (word, name) in enumerate(twice.items(), NAMESPACE):
        writer = with_names().add(NAMED, named(space, 1, name))
        expect = f"event 6: number 1 of {word} has the name of number 0"
        yield bad(f"named-twice-{word}", f"the name of {word} 0 is introduced again", expect, writer)
    writer = with_names().add(NAMED, named(SESSION, 2, b"session-1"))
    expect = "event 6: names number 2, expected 1"
    yield bad("named-twice-gap", "two things are wrong, the number is said", expect, writer)
    writer = with_names().add(NAMED, named(RULE, 2, RULE_NAME))
    yield bad("named-gap", "number 1 of rules is left out", "event 6: names number 2, expected 1", writer)
    for space in ("namespace", "step", "tool", "rule", "session"):
        writer = with_names().add(BEGAN, began(**{space: 1}))
        yield bad(f"unnamed-{space}", f"no {space} has number 1", f"event 6: number 1 of {space} is not named", writer)
    writer = with_names().add(BEGAN, began(step=9, session=2**32 - 1))
    expect = "event 6: number 9 of step is not named"
    yield bad("unnamed-two", "two numbers are not named, the first field is said", expect, writer)

    writer = with_passed_run().add(ENDED, ended(RUN, FAILED, 1))
    yield bad("ended-twice", "a run ends twice", "event 8: ends run 6, which is not open", writer)
    for name, run, comment in (
        ("nothing", 3, "event 3 is a name"),
        ("itself", 6, "event 6 ends itself"),
        ("later", 7, "event 7 is not there yet"),
        ("far", 2**64 - 1, "the greatest index"),
    ):
        writer = with_names().add(ENDED, ended(run))
        yield bad(f"ended-{name}", comment, f"event 6: ends run {run}, which is not open", writer)
    for name, run, comment in (("nothing", 3, "event 3 is a name"), ("itself", 7, "event 7 revokes itself"), ("end", 8, "")):
        writer = with_run()
        if name == "end":
            writer, run, comment = with_passed_run(), 7, "event 7 is the end of a run, not its beginning"
        index = writer.count
        writer.add(REVOKED, revoked(run))
        yield bad(f"revoked-{name}", comment, f"event {index}: revokes run {run}, which is not there", writer)


def _contradictions() -> Iterator[tuple[str, str, int, bytes]]:
    yield "observed-seen-0", "nothing seen has code 0", OBSERVED, observed(0)
    yield "observed-seen-8", "nothing seen has code 8", OBSERVED, observed(8)
    yield "observed-authority-0", "no authority has code 0", OBSERVED, observed(authority=0)
    yield "observed-authority-5", "no authority has code 5", OBSERVED, observed(authority=5)
    yield "observed-turn-with-record", "only what was recalled has a record", OBSERVED, observed(record=1)
    yield "wrote-entry-3", "no entry has code 3", WROTE, wrote(entry=3)
    yield "wrote-no-parents-listed", "proven parents, and none", WROTE, wrote(DERIVED, [])
    yield "wrote-257-parents", "one parent too many", WROTE, wrote(DERIVED, [1] * 257)
    yield "wrote-owner-with-parents", "an owner of what was derived", WROTE, wrote(owner=TERMINAL)
    yield "wrote-nobody-without-parents", "no parents and no owner", WROTE, wrote(USER, "none", owner=0)
    yield "wrote-name-too-long", "a name of 1025 bytes", WROTE, wrote(name=b"n" * 1025)
    yield "wrote-name-not-utf8", "a name with the byte ff", WROTE, wrote(name=b"\xff")
    yield "superseded-owner-5", "no owner has code 5", SUPERSEDED, superseded(1, owner=5)
    yield "revoked-interval-reversed", "it ends before it begins", REVOKED, taken_back(A_CHANNEL, 0, (2, 1))
    yield "revoked-channel-no-interval", "a channel without an interval", REVOKED, taken_back(A_CHANNEL, 0)
    yield "revoked-record-interval", "a record with an interval", REVOKED, taken_back(A_RECORD, 1, (1, 2))
    yield "revoked-author-not-u32", "a number that no name has", REVOKED, taken_back(AN_AUTHOR, NO_NUMBER, (1, 2))
    yield "quarantined-name-too-long", "a name of 1025 bytes", QUARANTINED, quarantined(name=b"n" * 1025)
    yield "released-owner-0", "nobody releases", RELEASED, released(1, 2, owner=0)
    yield "granted-audience-5", "no audience has code 5", GRANTED, granted(audience=(5, 0))
    yield "granted-no-uses", "a mandate that allows nothing", GRANTED, granted(uses=0)
    yield "granted-window-reversed", "it ends before it begins", GRANTED, granted(window=(2, 1))
    yield "granted-budget-of-nothing", "a budget on no argument", GRANTED, granted(budget=1)
    yield "granted-by-nobody", "no owner and no parent", GRANTED, granted(owner=0)
    yield "granted-limit-kind-6", "no kind of limit has code 6", GRANTED, granted(limits=(limit(kind=6),))
    yield "granted-33-limits", "one limit too many", GRANTED, granted(limits=(limit(values=()),) * 33)
    yield "granted-33-values", "one value too many", GRANTED, granted(limits=(limit(values=("",) * 33),))
    yield "consented-owner-0", "nobody approves", CONSENTED, consented(owner=0)
    yield "spent-what-3", "nothing spent has code 3", SPENT, spent(3, 1)
    yield "decided-0", "no decision has code 0", DECIDED, decided(decision=0)
    yield "decided-6", "no decision has code 6", DECIDED, decided(decision=6)
    yield "opened-start-7", "no start has code 7", OPENED, opened(0, 7)
    yield "opened-fresh-of-something", "a fresh session comes of nothing", OPENED, opened(0, FRESH, 1)
    yield "opened-partial-of-something", "a session of a guard comes of nothing", OPENED, opened(0, PARTIAL, 1)
    yield "opened-subagent-of-nothing", "a subagent comes of a session", OPENED, opened(0, SUBAGENT)
    yield "opened-subagent-not-u32", "a number that no session has", OPENED, opened(0, SUBAGENT, 2**32)
    yield "opened-fired-of-nothing", "something fired", OPENED, opened(0, FIRED)
    yield "enrolled-owner-0", "nobody enrols", ENROLLED, enrolled(owner=0)
    yield "enrolled-33-channels", "one channel too many", ENROLLED, enrolled(channels=("c",) * 33)


def segment_origins() -> Iterator[Case]:
    """Where things came from: each kind as it should be, and each reason to refuse it."""
    turn, page = SEEN_1, SEEN_2

    def fits(name: str, comment: str, writer: Writer) -> Case:
        return good(f"origin-{name}", comment, writer)

    def refused(name: str, comment: str, what: str, writer: Writer, kind: int, fields: bytes) -> Case:
        index = writer.count
        return bad(f"origin-{name}", comment or what, f"event {index}: {what}", writer.add(kind, fields))

    def gone(event: int) -> str:
        return f"refers to event {event}, which is not there"

    def claims(claimed: str, least: str) -> str:
        return f"claims {claimed} of what is {least}"

    writer = with_origins().add(ENROLLED, enrolled()).add(OPENED, opened(0, adapter=0))
    yield fits("opened", "an adapter saw a session begin", writer)
    yield fits("opened-subagent", "a session that another opened", with_page().add(OPENED, opened(1, SUBAGENT, 0)))
    task = with_turn().add(WROTE, wrote(USER, [turn], "a turn", entry=TASK), "a task, the turn word for word")
    yield fits("opened-fired", "a session that a task began", task.add(OPENED, opened(1, FIRED, 11)))
    writer = with_origins()
    yield refused("opened-unnamed", "", "number 2 of session is not named", writer, OPENED, opened(2))
    yield refused("opened-adapter", "", "adapter 0 is not enrolled", with_origins(), OPENED, opened(0, adapter=0))
    yield refused("opened-twice", "", "session 0 was opened before", with_session(), OPENED, opened(0, UNKNOWN))
    yield refused("opened-of-unopened", "", "session 1 was not opened", with_origins(), OPENED, opened(0, SUBAGENT, 1))
    yield refused("opened-fired-turn", "a turn is no task", gone(turn), with_turn(), OPENED, opened(1, FIRED, turn))
    yield refused("opened-fired-memory", "a memory is no task", gone(ENTRY), with_entry(), OPENED, opened(1, FIRED, ENTRY))

    writer = with_entry()
    for seen in (TURN, RESULT, INBOUND, SUMMARY, RESET, REFUSAL):
        writer.add(OBSERVED, observed(seen), f"seen {seen}")
    writer.add(OBSERVED, observed(RECALLED, USER, "an entry", record=ENTRY), "recalled")
    yield fits("observed", "everything that can be seen", writer.add(OBSERVED, observed(RECALLED), "recalled, no record"))
    writer = with_session()
    yield refused("observed-channel", "", "number 2 of channel is not named", writer, OBSERVED, observed(channel=2))
    yield refused("observed-author", "", "number 1 of author is not named", with_session(), OBSERVED, observed(author=1))
    yield refused("observed-unopened", "", "session 1 was not opened", with_session(), OBSERVED, observed(session=1))
    recalled = observed(RECALLED, record=turn)
    yield refused("observed-no-entry", "a turn is no entry", gone(turn), with_turn(), OBSERVED, recalled)

    yield fits("wrote-context", "of a context that only the user filled", with_turn().add(WROTE, wrote()))
    yield fits("wrote-context-untrusted", "of a context with a page", with_page().add(WROTE, wrote(UNTRUSTED)))
    yield fits("wrote-proven", "of the turn alone, though a page was read", with_entry())
    yield fits("wrote-word-for-word", "what the user said, as it was", with_page().add(WROTE, wrote(USER, [turn], "a turn")))
    yield fits("wrote-owner", "the owner wrote it", with_origins().add(WROTE, wrote(USER, "none", session=NO_NUMBER)))
    diamond = with_entry().add(WROTE, wrote(DERIVED, [turn])).add(WROTE, wrote(DERIVED, [ENTRY, ENTRY + 1, turn]))
    yield fits("wrote-diamond", "a shared ancestor is no loop", diamond)
    for name, space, fields in (
        ("namespace", "number 1 of namespace", wrote(namespace=1)),
        ("channel", "number 2 of channel", wrote(channel=2)),
        ("author", "number 1 of author", wrote(author=1)),
    ):
        yield refused(f"wrote-{name}", "", f"{space} is not named", with_turn(), WROTE, fields)
    yield refused("wrote-unopened", "", "session 1 was not opened", with_turn(), WROTE, wrote(session=1))
    fields = wrote(session=NO_NUMBER)
    yield refused("wrote-nowhere", "a context of no session", "session 4294967295 was not opened", with_turn(), WROTE, fields)
    yield refused("wrote-of-itself", "", gone(11), with_turn(), WROTE, wrote(DERIVED, [turn, 11]))
    yield refused("wrote-of-a-name", "", gone(3), with_turn(), WROTE, wrote(DERIVED, [3]))
    raises = claims("User", "Derived")
    yield refused("raised-context", "what is written is derived", raises, with_turn(), WROTE, wrote(USER))
    yield refused("raised-proven", "other words than the user's", raises, with_turn(), WROTE, wrote(USER, [turn]))
    raises = claims("Derived", "Untrusted")
    yield refused("raised-page", "a page was read", raises, with_page(), WROTE, wrote())
    yield refused("raised-diamond", "one of two is a page", raises, with_page(), WROTE, wrote(DERIVED, [turn, page]))
    yield refused("raised-unknown", "nobody saw what was there", raises, with_turn(UNKNOWN), WROTE, wrote())
    yield refused("raised-partial", "a guard does not see what was there", raises, with_turn(PARTIAL), WROTE, wrote())
    yield refused("raised-interactive", "nor does one before which somebody sits", raises, with_turn(INTERACTIVE), WROTE, wrote())
    writer = with_page().add(OPENED, opened(1, SUBAGENT, 0))
    yield refused("raised-subagent", "it inherits the page", raises, writer, WROTE, wrote(session=1))
    writer = with_page().add(OBSERVED, observed(SUMMARY, USER, "a summary"))
    yield refused("raised-summary", "it inherits the page", raises, writer, WROTE, wrote(DERIVED, [12]))
    writer = with_page().add(WROTE, wrote(UNTRUSTED, entry=TASK)).add(OPENED, opened(1, FIRED, ENTRY))
    yield refused("raised-fired", "the task is worth no more", raises, writer, WROTE, wrote(session=1))
    writer = with_page().add(WROTE, wrote(UNTRUSTED, entry=TASK)).add(OPENED, opened(1, FIRED, ENTRY))
    writer.add(OBSERVED, observed(RESET, session=1))
    yield refused("raised-fired-reset", "a reset leaves the task", raises, writer, WROTE, wrote(session=1))
    writer = with_page().add(OBSERVED, observed(RESET))
    yield fits("reset", "behind a reset, the context is known to be empty", writer.add(WROTE, wrote()))
    writer = with_entry().add(OBSERVED, observed(RESET)).add(OBSERVED, observed(RECALLED, USER, "changed", record=ENTRY))
    yield refused("raised-changed", "what was recalled is not what was written", raises, writer, WROTE, wrote())
    writer = with_entry().add(OBSERVED, observed(RESET)).add(OBSERVED, observed(RECALLED, USER, "an entry", record=ENTRY))
    yield fits("recalled", "what was recalled is what was written", writer.add(WROTE, wrote()))
    writer = with_turn().add(OBSERVED, observed(REFUSAL, USER))
    yield refused("raised-refusal", "our own refusal is data", raises, writer, WROTE, wrote())

    yield fits("superseded", "an entry gives way to another", _superseded())
    yield refused("superseded-turn", "", gone(turn), with_turn(), SUPERSEDED, superseded(turn))
    yield refused("superseded-by-turn", "", gone(turn), with_entry(), SUPERSEDED, superseded(ENTRY, turn))
    yield refused("superseded-by-itself", "", gone(ENTRY), with_entry(), SUPERSEDED, superseded(ENTRY, ENTRY))
    yield refused("raised-superseded", "what it came of is withheld", raises, _superseded(), WROTE, wrote(DERIVED, [ENTRY]))

    for what, target, interval in (
        (A_RECORD, ENTRY, None),
        (A_RECORD, turn, None),
        (A_CHANNEL, 0, (START_MS, START_MS + 10_000)),
        (AN_AUTHOR, 0, (0, NO_INDEX)),
    ):
        writer = with_entry().add(REVOKED, taken_back(what, target, interval)).add(REVOKED, taken_back(what, target, interval))
        name = f"revoked-{what}-{target}"
        yield fits(name, "revoked twice, which changes nothing more", writer)
        comment = "it is withheld, or what it came of is"
        yield refused(f"raised-{name}", comment, raises, writer, WROTE, wrote(DERIVED, [ENTRY]))
    # The turn is event 10, ten seconds in.
    writer = with_turn().add(REVOKED, taken_back(A_CHANNEL, 0, (0, START_MS + 9_999)))
    yield fits("revoked-before", "the turn came a millisecond later", writer.add(WROTE, wrote()))
    writer = with_turn().add(REVOKED, taken_back(A_CHANNEL, 0, (START_MS + 12_000, NO_INDEX))).add(OBSERVED, observed())
    yield refused("raised-revoked-later", "what comes within the interval is bound too", raises, writer, WROTE, wrote())
    later = with_turn().add(REVOKED, taken_back(A_CHANNEL, 0, (START_MS + 12_001, START_MS + 12_500)))
    yield fits("revoked-between", "the interval lies between two turns", later.add(OBSERVED, observed()).add(WROTE, wrote()))
    fields = taken_back(A_CHANNEL, 2, (0, 1))
    yield refused("revoked-channel", "", "number 2 of channel is not named", with_turn(), REVOKED, fields)
    fields = taken_back(AN_AUTHOR, 1, (0, 1))
    yield refused("revoked-author", "", "number 1 of author is not named", with_turn(), REVOKED, fields)
    fields = taken_back(AN_ADAPTER, 1)
    yield refused("revoked-adapter", "", "number 1 of adapter is not named", with_turn(), REVOKED, fields)
    fields = taken_back(AN_ADAPTER, 0)
    yield refused("revoked-not-enrolled", "", "adapter 0 is not enrolled", with_turn(), REVOKED, fields)
    yield refused("revoked-no-record", "", gone(3), with_turn(), REVOKED, taken_back(A_RECORD, 3))
    yield refused("revoked-no-mandate", "", gone(turn), with_turn(), REVOKED, taken_back(A_MANDATE, turn))

    held = with_entry().add(QUARANTINED, quarantined(ENTRY))
    yield fits("quarantined", "a record, and an entry that has none", held.add(QUARANTINED, quarantined(name="größe".encode())))
    writer = with_entry().add(QUARANTINED, quarantined(ENTRY))
    yield refused("raised-quarantined", "", raises, writer, WROTE, wrote(DERIVED, [ENTRY]))
    writer = with_entry().add(QUARANTINED, quarantined(ENTRY, "changed")).add(WROTE, wrote(DERIVED, [ENTRY]))
    yield fits("quarantined-changed", "other content than the record's: the record stands", writer)
    fields = quarantined(namespace=1)
    yield refused("quarantined-namespace", "", "number 1 of namespace is not named", with_entry(), QUARANTINED, fields)
    yield refused("quarantined-turn", "", gone(turn), with_turn(), QUARANTINED, quarantined(turn))

    yield fits("released", "the owner's new record", _held().add(RELEASED, released(13, 14)))
    yield refused("released-twice", "", gone(13), _held().add(RELEASED, released(13, 14)), RELEASED, released(13, 14))
    yield refused("released-not-held", "", gone(12), _held(), RELEASED, released(12, 14))
    yield refused("released-by-the-agent", "not the owner's record", gone(12), _held(), RELEASED, released(13, 12))
    writer = _held().add(RELEASED, released(13, 14))
    yield refused("raised-released", "the old record stays withheld", raises, writer, WROTE, wrote(DERIVED, [ENTRY]))

    yield fits("granted", "each kind of limit, and a budget", _granted())
    yield refused("granted-called", "", "number 1 of called tool is not named", with_session(), GRANTED, granted(called=1))
    yield refused("granted-no-parent", "", gone(9), with_session(), GRANTED, granted(parent=9))
    same = {"argument": "amount", "budget": 5, "limits": (limit(),)}
    writer = with_mandate(**same).add(GRANTED, granted(**same, parent=MANDATE, owner=0))
    yield fits("granted-narrowed", "one that draws on another", writer)
    for name, other in (
        ("later", {"window": (START_MS, START_MS + 3_600_001)}),
        ("earlier", {"window": (START_MS - 1, START_MS)}),
        ("audience", {"audience": (3, 1)}),
        ("no-budget", {"argument": "", "budget": 0}),
        ("another-budget", {"argument": "amounts"}),
        ("no-limits", {"limits": ()}),
        ("another-limit", {"limits": (limit(values=("DE90",)),)}),
    ):
        wider = f"allows more than event {MANDATE}, which it draws on"
        fields = granted(**(same | other), parent=MANDATE)
        yield refused(f"granted-{name}", "it widens", wider, with_mandate(**same), GRANTED, fields)
    writer = with_mandate().add(REVOKED, taken_back(A_MANDATE, MANDATE))
    wider = f"allows more than event {MANDATE}, which it draws on"
    yield refused("granted-of-revoked", "", wider, writer, GRANTED, granted(parent=MANDATE))

    yield fits("consented", "an approval, used once", with_session().add(CONSENTED, consented()).add(SPENT, spent(1, 10)))
    yield refused("consented-unopened", "", "session 1 was not opened", with_session(), CONSENTED, consented(1))

    over = "spends more than event 10 allows"
    writer = with_session().add(CONSENTED, consented()).add(SPENT, spent(1, 10))
    yield refused("overspent-approval", "an approval is for once", over, writer, SPENT, spent(1, 10))
    yield refused("overspent-kind", "a mandate is no approval", over, with_mandate(), SPENT, spent(1, 10))
    yield refused("overspent-nothing", "", over, with_session(), SPENT, spent(2, 10))
    writer = with_mandate().add(SPENT, spent(2, MANDATE)).add(SPENT, spent(2, MANDATE))
    yield refused("overspent-uses", "two uses are gone", over, writer, SPENT, spent(2, MANDATE))
    budget = {"argument": "amount", "budget": 5, "uses": 9}
    yield fits("spent-budget", "all of it", with_mandate(**budget).add(SPENT, spent(2, MANDATE, 2)).add(SPENT, spent(2, MANDATE, 3)))
    writer = with_mandate(**budget).add(SPENT, spent(2, MANDATE, 2))
    yield refused("overspent-budget", "four of three", over, writer, SPENT, spent(2, MANDATE, 4))
    writer = with_mandate(uses=1).add(GRANTED, granted(uses=9, parent=MANDATE)).add(SPENT, spent(2, 11))
    yield refused("overspent-drawn-on", "the parent's uses are gone", "spends more than event 11 allows", writer, SPENT, spent(2, 11))
    writer = with_mandate().add(GRANTED, granted(parent=MANDATE)).add(REVOKED, taken_back(A_MANDATE, MANDATE))
    yield refused("overspent-revoked", "the parent is revoked", "spends more than event 11 allows", writer, SPENT, spent(2, 11))

    writer = with_session()
    for decision in range(1, 6):
        writer.add(DECIDED, decided(decision=decision), f"decision {decision}")
    yield fits("decided", "each decision", writer)
    yield refused("decided-called", "", "number 1 of called tool is not named", with_session(), DECIDED, decided(called=1))
    yield refused("decided-unopened", "", "session 1 was not opened", with_session(), DECIDED, decided(1))

    writer = with_origins().add(ENROLLED, enrolled()).add(ENROLLED, enrolled(channels=())).add(REVOKED, taken_back(AN_ADAPTER, 0))
    yield fits("enrolled", "enrolled twice, and revoked", writer)
    yield refused("enrolled-unnamed", "", "number 1 of adapter is not named", with_origins(), ENROLLED, enrolled(1))

    yield from _after_a_crash_or_a_loss(refused, fits)


def _after_a_crash_or_a_loss(refused, fits) -> Iterator[Case]:
    def crashed(writer: Writer, first: int) -> Writer:
        return writer.add(RECOVERED, recovered(first, writer.count - first, b""), f"from {first} on")

    over = "spends more than event 10 allows"
    yield refused("unconfirmed-mandate", "", over, crashed(with_mandate(), 10), SPENT, spent(2, 10))
    yield fits("confirmed-mandate", "it was acknowledged", crashed(with_mandate(), 11).add(SPENT, spent(2, 10)))
    writer = crashed(with_session().add(CONSENTED, consented()), 10)
    yield refused("unconfirmed-approval", "", over, writer, SPENT, spent(1, 10))
    writer = crashed(with_origins().add(ENROLLED, enrolled()), 9)
    yield refused("unconfirmed-adapter", "", "adapter 0 is not enrolled", writer, OPENED, opened(0, adapter=0))
    writer = crashed(_held().add(RELEASED, released(13, 14)), 15).add(RELEASED, released(13, 14))
    yield fits("unconfirmed-release", "it is released again", writer)
    writer = crashed(with_session().add(WROTE, wrote(USER, "none")), 10)
    raises = "claims Derived of what is Untrusted"
    yield refused("unconfirmed-adoption", "what the owner wrote is withheld", raises, writer, WROTE, wrote(DERIVED, [10]))
    writer = crashed(_superseded(), 13)
    yield refused("unconfirmed-superseded", "what went down counts", raises, writer, WROTE, wrote(DERIVED, [ENTRY]))
    writer = crashed(with_session().add(CONSENTED, consented()).add(SPENT, spent(1, 10)), 11)
    yield refused("unconfirmed-spent", "what was used is used", over, writer, SPENT, spent(1, 10))

    writer = with_mandate().add(RESOLVED, resolved(1, 99))
    yield refused("lost-mandate", "", over, writer, SPENT, spent(2, 10))
    writer = with_mandate().add(RESOLVED, resolved(6, 99)).add(SPENT, spent(2, 10))
    yield fits("clock-mandate", "a clock that jumped voids no mandate", writer)
    writer = with_entry().add(RESOLVED, resolved(1, 99))
    yield refused("lost-entry", "it is void", raises, writer, WROTE, wrote(DERIVED, [ENTRY]))
    writer = with_turn().add(RESOLVED, resolved(1, 99)).add(OBSERVED, observed())
    yield refused("lost-context", "what was before the model is void", raises, writer, WROTE, wrote())
    writer = with_turn().add(RESOLVED, resolved(1, 99)).add(OBSERVED, observed(RESET)).add(OBSERVED, observed())
    yield fits("lost-reset", "behind a reset it is known again", writer.add(WROTE, wrote()))
    writer = with_origins().add(ENROLLED, enrolled()).add(RESOLVED, resolved(1, 99))
    yield refused("lost-adapter", "", "adapter 0 is not enrolled", writer, OPENED, opened(0, adapter=0))


def _superseded() -> Writer:
    return with_entry().add(WROTE, wrote(DERIVED, [SEEN_1])).add(SUPERSEDED, superseded(ENTRY, ENTRY + 1))


def _held() -> Writer:
    """Event 13 quarantines entry 12; event 14 is the owner's."""
    return with_entry().add(QUARANTINED, quarantined(ENTRY)).add(WROTE, wrote(USER, "none"), "the owner's")


def _granted() -> Writer:
    limits = tuple(limit("payee", kind, ("a", "b")) for kind in range(1, 6))
    return with_session().add(GRANTED, granted(argument="amount", budget=2**64 - 1, limits=limits))


def segment_undecodable() -> Iterator[Case]:
    def after_names(name: str, comment: str, kind: int, fields: bytes) -> Case:
        return bad(f"fields-{name}", comment, f"event 6: {NO_DECODE}", with_names().add(kind, fields))

    sound = {
        "genesis": (GENESIS, genesis()),
        "named": (NAMED, named(STEP, 1, b"tests")),
        "policy": (POLICY, policy()),
        "began": (BEGAN, began()),
        "ended": (ENDED, ended(RUN)),
        "revoked": (REVOKED, revoked(RUN)),
        "clock": (CLOCK, clock(1, 2)),
        "recovered": (RECOVERED, recovered(1, 0, b"")),
        "resolved": (RESOLVED, resolved(1)),
        "rotated": (ROTATED, rotated(1, key_id(ROOTS[1]))),
        "observed": (OBSERVED, observed()),
        "wrote": (WROTE, wrote()),
        "wrote-proven": (WROTE, wrote(DERIVED, [1, 2])),
        "superseded": (SUPERSEDED, superseded(1)),
        "revoked-channel": (REVOKED, taken_back(A_CHANNEL, 0, (1, 2))),
        "quarantined": (QUARANTINED, quarantined()),
        "released": (RELEASED, released(1, 2)),
        "granted": (GRANTED, granted(limits=(limit(),))),
        "consented": (CONSENTED, consented()),
        "spent": (SPENT, spent(1, 2)),
        "decided": (DECIDED, decided()),
        "opened": (OPENED, opened()),
        "enrolled": (ENROLLED, enrolled()),
    }
    for name, (kind, fields) in sound.items():
        yield after_names(f"{name}-trailing", "one byte too many", kind, fields + b"\0")
        yield after_names(f"{name}-short", "one byte too few", kind, fields[:-1])
        yield after_names(f"{name}-none", "no fields", kind, b"")

    yield after_names("subject-too-long", "a subject of 1025 bytes", BEGAN, began(b"text:" + b"a" * 1020))
    yield after_names("subject-not-utf8", "a subject with the byte ff", BEGAN, began(b"text:\xff"))
    yield after_names("subject-overlong", "a subject with an overlong `/`", BEGAN, began(b"text:\xc0\xaf"))
    yield after_names("subject-surrogate", "a subject with a surrogate", BEGAN, began(b"text:\xed\xa0\x80"))
    yield after_names("subject-cut-character", "a subject that ends in a character", BEGAN, began(b"text:\xe6\xa4"))
    yield after_names("reason-too-long", "a reason of 1025 bytes", REVOKED, revoked(RUN, b"r" * 1025))
    yield after_names("reason-not-utf8", "a reason with the byte ff", REVOKED, revoked(RUN, b"\xff"))

    yield after_names("named-space-0", "no space has code 0", NAMED, named(0, 0, b"x"))
    yield after_names("named-space-10", "no space has code 10", NAMED, named(10, 0, b"x"))
    yield after_names("named-channel-too-long", "a channel name of 513 bytes", NAMED, named(CHANNEL, 0, b"c" * 513))
    yield after_names("named-adapter-too-long", "an adapter name of 129 bytes", NAMED, named(ADAPTER, 0, b"a" * 129))
    yield after_names("named-step-too-long", "a step name of 129 bytes", NAMED, named(STEP, 1, b"s" * 129))
    yield after_names("named-step-not-utf8", "a step name with the byte ff", NAMED, named(STEP, 1, b"\xff"))
    yield after_names("named-rule-short", "a rule name of 31 bytes", NAMED, named(RULE, 1, b"r" * 31))
    yield after_names("named-rule-long", "a rule name of 33 bytes", NAMED, named(RULE, 1, b"r" * 33))
    yield after_names("named-tool-short", "a tool name of 31 bytes", NAMED, named(TOOL, 1, b"t" * 31))
    yield after_names("named-tool-long", "a tool name of 4201 bytes", NAMED, named(TOOL, 1, b"t" * 4201))
    for owner in (0, 5):
        yield after_names(f"policy-owner-{owner}", f"no owner has code {owner}", POLICY, policy(owner))
        yield after_names(f"revoked-owner-{owner}", f"no owner has code {owner}", REVOKED, revoked(RUN, owner=owner))
        yield after_names(f"resolved-owner-{owner}", f"no owner has code {owner}", RESOLVED, resolved(1, owner=owner))
    for outcome in (0, 7):
        yield after_names(f"ended-outcome-{outcome}", f"no outcome has code {outcome}", ENDED, ended(RUN, outcome))
    for what in (0, 7):
        yield after_names(f"revoked-what-{what}", f"nothing revocable has code {what}", REVOKED, revoked(RUN, what=what))
    for cause in (0, 9):
        yield after_names(f"resolved-cause-{cause}", f"no cause has code {cause}", RESOLVED, resolved(cause))

    yield from (after_names(*case) for case in _contradictions())

    most = sound["policy"][1] + bytes(8192 - 33)
    yield after_names("most", "8192 bytes are allowed, though no kind has so many", POLICY, most)
    writer = with_names().add(POLICY, most + b"\0")
    yield bad("fields-over-limit", "8193 bytes are too many", "event 6: fields of 8193 bytes, at most 8192", writer)


def segment_rotations() -> Iterator[Case]:
    both = ROOTS[:2]
    writer = with_genesis().rotate(1, key_id(OTHER_ROOT))
    yield bad("rotated-wrong-key-id", "the key id is another key's", "event 1: key id of generation 1 does not match", writer, both)
    writer = with_genesis().rotate(1, key_id(ROOTS[1], OTHER_ID))
    comment = "the key id is that of the same root in another ledger"
    yield bad("rotated-key-id-of-another-ledger", comment, "event 1: key id of generation 1 does not match", writer, both)
    yield bad("rotated-no-root", "the key file has no such root", "event 1: no root for generation 1", _rotated())
    writer = with_genesis().rotate(2)
    yield bad("rotated-skips", "generation 1 is left out", "event 1: rotates to generation 2, expected 1", writer, ROOTS)
    writer = with_genesis().rotate(0)
    yield bad("rotated-to-same", "the generation in force", "event 1: rotates to generation 0, expected 1", writer, both)
    writer = _rotated().add(ROTATED, rotated(0, key_id(ROOTS[0])))
    yield bad("rotated-back", "back to an older key", "event 3: rotates to generation 0, expected 2", writer, ROOTS)
    old = event_key(ROOTS[0])
    writer = with_genesis().rotate(1).add(POLICY, policy(), "under the old key", key=old)
    yield bad("rotated-old-key", "the old key seals nothing after the rotation", f"event 2: {NO_MATCH}", writer, both)
    new = event_key(ROOTS[1])
    writer = with_genesis().add(ROTATED, rotated(1, key_id(ROOTS[1])), "under the new key", key=new)
    yield bad("rotated-by-new-key", "the rotation itself is sealed with the old key", f"event 1: {NO_MATCH}", writer, both)
    writer = with_genesis().add(POLICY, policy(), "under the root of generation 1", key=new)
    yield bad("rotated-unsaid", "a new key without a rotation", f"event 1: {NO_MATCH}", writer, both)
    yield bad("rotated-roots-swapped", "the roots are in the wrong order", f"event 0: {NO_MATCH}", _rotated(), both[::-1])
    # What a thief of the old key would like to do: write the past anew. The rotation seals it.
    writer = with_names().rotate(1).add(POLICY, policy())
    thief = with_names("forged_step").rotate(1)
    writer.segments[0][1:8] = thief.segments[0][1:8]
    comment = "events 0 to 6 are written anew with the stolen old key"
    yield bad("rotated-past-forged", comment, f"event 7: {NO_MATCH}", writer, both)


def segment_headers() -> Iterator[Case]:
    def second(**other: bytes) -> Writer:
        writer = with_names()
        writer.new_segment(**other)
        return writer.add(BEGAN, began())

    def first(**other: bytes) -> Writer:
        writer = with_genesis()
        fresh = Writer()
        fresh.new_segment(**other)
        writer.segments[0][0] = fresh.segments[1][0]
        return writer

    here = "segment header: "
    yield bad("header-magic", "another magic", here + "wrong magic", first(magic=b"ACTUMLG2"))
    yield bad("header-ledger", "another ledger's header", here + "another ledger", first(ledger=OTHER_ID))
    yield bad("header-first-index", "the first segment begins at 1", here + "first index is 1, expected 0", first(first=u(8, 1)))
    comment = "a predecessor before event 0"
    yield bad("header-predecessor-of-0", comment, here + "names a predecessor of event 0", first(previous=sha("a MAC")))
    yield bad("header-second-magic", "another magic in the second segment", here + "wrong magic", second(magic=bytes(8)))
    yield bad("header-second-ledger", "the second segment is another ledger's", here + "another ledger", second(ledger=OTHER_ID))
    comment = "an event is left out between two segments"
    yield bad("header-second-gap", comment, here + "first index is 7, expected 6", second(first=u(8, 7)))
    comment = "the second segment begins one event early"
    yield bad("header-second-overlap", comment, here + "first index is 5, expected 6", second(first=u(8, 5)))
    comment = "the second header holds another MAC"
    yield bad("header-second-predecessor", comment, here + "does not follow event 5", second(previous=sha("a MAC")))
    comment = "the second header holds zeros, as a first one would"
    yield bad("header-second-zeros", comment, here + "does not follow event 5", second(previous=bytes(32)))
    comment = "all four are wrong, the magic is said"
    all_four = first(magic=b"actumlg1", ledger=OTHER_ID, first=u(8, 9), previous=sha("a MAC"))
    yield bad("header-order-1", comment, here + "wrong magic", all_four)
    three = first(ledger=OTHER_ID, first=u(8, 9), previous=sha("a MAC"))
    yield bad("header-order-2", "three are wrong, the ledger is said", here + "another ledger", three)
    two = first(first=u(8, 9), previous=sha("a MAC"))
    yield bad("header-order-3", "two are wrong, the index is said", here + "first index is 9, expected 0", two)

    writer = Writer()
    writer.segments[0][0] = ("header (63 of 64 bytes)", writer.segments[0][0][1][:63])
    yield bad("header-cut", "the header ends early", here + ENDS, writer)
    writer = Writer()
    writer.segments[0] = []
    yield bad("header-none", "an empty segment", here + ENDS, writer)
    writer = _two_segments()
    del writer.segments[0]
    yield bad("header-first-segment-gone", "the first of two segments is gone", here + "first index is 6, expected 0", writer)
    writer = _two_segments()
    writer.segments.reverse()
    yield bad("header-segments-swapped", "two segments in the wrong order", here + "first index is 6, expected 0", writer)
    writer = _two_segments()
    writer.segments.append(writer.segments[1])
    yield bad("header-segment-doubled", "the second segment comes twice", here + "first index is 6, expected 8", writer)


# Anchors

SLOT_CUTS = (8, 24, 32, 36, 40, 48, 80, 88, 96, 112, 114, 4064)
HEAD_3, HEAD_4 = sha("the MAC of event 2"), sha("the MAC of event 3")


def slot(
    counter: int,
    count: int,
    mac: bytes,
    *,
    magic: bytes = b"ACTUMAN1",
    ledger: bytes = ID,
    generation: int = 0,
    incarnation: int = 1,
    path: bytes = b"/srv/shop/.actum",
    path_size: int | None = None,
    padding: bytes = b"",
    key: bytes | None = None,
) -> bytes:
    content = b"".join(
        (
            magic,
            ledger,
            u(8, counter),
            u(4, generation),
            u(4, incarnation),
            u(8, count),
            mac,
            u(8, START_MS),
            u(8, 86_400_000),
            bytes(range(0x40, 0x50)),
            u(2, len(path) if path_size is None else path_size),
            path,
            padding,
        )
    )
    content = content.ljust(4064, b"\0")
    return content + mac_of(key or anchor_key(ROOTS[generation]), content)


OLDER = slot(6, 3, HEAD_3)
NEWER = slot(7, 4, HEAD_4)
OLDER_WINS = f"slot 0 counter 6 count 3 mac {HEAD_3.hex()}"
NEWER_WINS = f"slot 1 counter 7 count 4 mac {HEAD_4.hex()}"
NONE_VERIFIES = "no slot verifies"


def anchor(
    name: str, comment: str, expect: str, slots: list[tuple[str, bytes]], roots: int = 1, active: int = 0
) -> Case:
    body = []
    for label, data in slots:
        body += [f"# {label}"] + ([words(data, SLOT_CUTS)] if data else [])
    kind = "bad" if expect == NONE_VERIFIES else "good"
    return Case(f"anchor-{kind}-{name}", "anchor", comment, expect, body, ROOTS[:roots], active=active)


def changed(data: bytes, offset: int, bit: int = 0) -> bytes:
    copy = bytearray(data)
    copy[offset] ^= 1 << bit
    return bytes(copy)


def anchors() -> Iterator[Case]:
    unused = ("slot 1, never written", bytes(4096))
    older, newer = ("slot 0", OLDER), ("slot 1", NEWER)

    yield anchor("second-wins", "the greater counter is in slot 1", NEWER_WINS, [older, newer])
    eight = slot(8, 5, sha("the MAC of event 4"))
    expect = f"slot 0 counter 8 count 5 mac {sha('the MAC of event 4').hex()}"
    yield anchor("first-wins", "the greater counter is in slot 0", expect, [("slot 0", eight), newer])
    yield anchor("one-slot", "only slot 0 was written", OLDER_WINS, [older, unused])
    yield anchor("one-slot-short-file", "the file ends after slot 0", OLDER_WINS, [older])
    empty = slot(2, 0, bytes(32))
    expect = f"slot 0 counter 2 count 0 mac {bytes(32).hex()}"
    yield anchor("no-events", "a head before the first event", expect, [("slot 0", empty), unused])
    wide = [("slot 0", slot(256, 4, HEAD_4)), ("slot 1", slot(255, 3, HEAD_3))]
    expect = f"slot 0 counter 256 count 4 mac {HEAD_4.hex()}"
    yield anchor("counter-is-big-endian", "256 is greater than 255", expect, wide)
    great = [("slot 0", slot(2**63, 4, HEAD_4)), ("slot 1", slot(1, 3, HEAD_3))]
    expect = f"slot 0 counter {2**63} count 4 mac {HEAD_4.hex()}"
    yield anchor("counter-is-unsigned", "counters have no sign", expect, great)
    fewer = [("slot 0", slot(8, 2, sha("the MAC of event 1"))), newer]
    expect = f"slot 0 counter 8 count 2 mac {sha('the MAC of event 1').hex()}"
    yield anchor("counter-not-count", "the counter decides, not the count", expect, fewer)
    equal = [("slot 0", slot(7, 3, HEAD_3)), newer]
    expect = f"slot 0 counter 7 count 3 mac {HEAD_3.hex()}"
    yield anchor("equal-counters", "of two equal counters the first counts", expect, equal)
    long_path = slot(6, 3, HEAD_3, path=b"/" + b"p" * 3499)
    yield anchor("path-longest", "a path of exactly 3500 bytes", OLDER_WINS, [("slot 0", long_path), unused])
    raw_path = slot(6, 3, HEAD_3, path=b"/home/\xff\xfe")
    yield anchor("path-not-utf8", "a path is bytes", OLDER_WINS, [("slot 0", raw_path), unused])
    new_key = slot(7, 4, HEAD_4, generation=1)
    yield anchor("rotated", "the newer slot is of the active generation", NEWER_WINS, [older, ("slot 1", new_key)], 2, 1)

    torn = [older, ("slot 1, torn: its second half is what stood there before", NEWER[:2048] + slot(5, 2, HEAD_3)[2048:])]
    yield anchor("newer-torn", "a torn newer slot: the older counts", OLDER_WINS, torn)
    torn = [older, ("slot 1, its file ends early", NEWER[:4095])]
    yield anchor("newer-cut", "the file ends inside the newer slot: the older counts", OLDER_WINS, torn)
    regions = {"magic": 0, "ledger": 8, "counter": 31, "generation": 35, "incarnation": 39, "count": 47, "event-mac": 48}
    regions |= {"clock": 87, "boot-clock": 95, "boot-id": 96, "path-length": 113, "path": 114, "padding": 4063}
    regions |= {"mac-first": 4064, "mac-last": 4095}
    for name, offset in regions.items():
        comment = f"one bit of the newer slot is changed, byte {offset}: the older counts"
        yield anchor(f"flip-{name}", comment, OLDER_WINS, [older, ("slot 1", changed(NEWER, offset))])

    def newer_is(name: str, comment: str, **other: object) -> Case:
        return anchor(name, f"{comment}: the older counts", OLDER_WINS, [older, ("slot 1", slot(7, 4, HEAD_4, **other))])

    yield newer_is("sealed-magic", "another magic under a right MAC", magic=b"ACTUMAN2")
    yield newer_is("sealed-another-ledger", "another ledger id under a right MAC", ledger=OTHER_ID)
    yield newer_is("event-key", "sealed with the event key", key=event_key(ROOTS[0]))
    yield newer_is("another-root", "sealed under another root", key=anchor_key(OTHER_ROOT))
    yield newer_is("path-too-long", "a path of 3501 bytes under a right MAC", path=b"/" + b"p" * 3500)
    yield newer_is("path-past-end", "a path length beyond the slot under a right MAC", path_size=65535)
    yield newer_is("padding-used", "a byte behind the path under a right MAC", padding=b"x")
    comment = "the newer slot has a generation without a root: the older counts"
    no_root = [older, ("slot 1", slot(7, 4, HEAD_4, generation=1))]
    yield anchor("no-root", comment, OLDER_WINS, no_root)
    comment = "the newer slot is of an older generation, as a thief of the old key would write it: the other counts"
    forged = [("slot 0", slot(6, 3, HEAD_3, generation=1)), ("slot 1", slot(2**40 + 1, 4, HEAD_4))]
    yield anchor("older-generation", comment, OLDER_WINS, forged, 2, 1)

    yield anchor("empty", "an empty file", NONE_VERIFIES, [("nothing", b"")])
    yield anchor("zeros", "two slots of zeros", NONE_VERIFIES, [("slot 0", bytes(4096)), unused])
    both = [("slot 0", changed(OLDER, 4095)), ("slot 1", changed(NEWER, 4095))]
    yield anchor("both-changed", "a bit of each MAC is changed", NONE_VERIFIES, both)
    theirs = slot(6, 3, HEAD_3, ledger=OTHER_ID, key=anchor_key(ROOTS[0], OTHER_ID))
    yield anchor("another-ledgers", "another ledger's anchor under the same root", NONE_VERIFIES, [("slot 0", theirs), unused])
    sealed = slot(6, 3, HEAD_3, ledger=OTHER_ID)
    yield anchor("another-ledger-sealed", "another ledger id under our anchor key", NONE_VERIFIES, [("slot 0", sealed), unused])
    comment = "both slots are of an older generation than the active one"
    yield anchor("both-older-generation", comment, NONE_VERIFIES, [older, newer], 2, 1)
    yield anchor("cut", "the file ends inside slot 0", NONE_VERIFIES, [("slot 0", OLDER[:4095])])
    shifted = [("one byte before slot 0", b"\0"), older, ("slot 1", NEWER[:-1])]
    yield anchor("shifted", "both slots stand one byte too late", NONE_VERIFIES, shifted)


# Key files

KEY_LINES = ["actum-key 1", f"ledger {ID.hex()}", "active 0", f"root {ROOTS[0].hex()}"]


def key_file(name: str, comment: str, expect: str, body: list[str]) -> Case:
    kind = "good" if expect.startswith("generations") else "bad"
    return Case(f"keyfile-{kind}-{name}", "keyfile", comment, expect, body, [])


def lined(lines: list[str]) -> list[str]:
    return [f"| {line}" if line else "|" for line in lines]


def key_files() -> Iterator[Case]:
    def lines(name: str, comment: str, expect: str, content: list[str]) -> Case:
        return key_file(name, comment, expect, lined(content))

    def with_line(number: int, line: str) -> list[str]:
        return [*KEY_LINES[: number - 1], line, *KEY_LINES[number:]]

    more = [f"root {root.hex()}" for root in ROOTS[1:]]
    yield lines("one", "a new ledger's key", "generations 1 active 0", KEY_LINES)
    yield lines("rotated", "after two rotations", "generations 3 active 2", [*with_line(3, "active 2"), *more])
    yield lines("interrupted", "a rotation was interrupted", "generations 2 active 0", [*KEY_LINES, more[0]])

    yield key_file("empty", "an empty file", "not a key file", [])
    yield lines("blank-first", "a blank line first", "not a key file", ["", *KEY_LINES])
    yield lines("other-magic", "another first line", "not a key file", with_line(1, "actum-anchor 1"))
    yield lines("version-2", "version 2", "not a key file", with_line(1, "actum-key 2"))
    yield lines("version-10", "version 10 is not version 1", "not a key file", with_line(1, "actum-key 10"))
    crlf = [b"\r\n".join(line.encode() for line in KEY_LINES).hex() + "0d0a"]
    yield key_file("crlf", "lines end with CR LF", "not a key file", crlf)
    yield key_file("binary", "not text", "not a key file", ["fffe0a"])
    whole, last = lined(KEY_LINES[:3]), KEY_LINES[3].encode()
    expect = "line 4: the bytes end inside it"
    yield key_file("cut", "the last line is cut", expect, [*whole, last[:40].hex()])
    yield key_file("no-newline", "the last newline is missing", expect, [*whole, last.hex()])

    yield lines("first-line-only", "nothing after the first line", "line 2: expected ledger", KEY_LINES[:1])
    yield lines("ledger-short", "31 digits", "line 2: not 32 hexadecimal digits", with_line(2, KEY_LINES[1][:-1]))
    yield lines("ledger-long", "33 digits", "line 2: not 32 hexadecimal digits", with_line(2, KEY_LINES[1] + "0"))
    yield lines("ledger-letters", "a `g`", "line 2: not 32 hexadecimal digits", with_line(2, KEY_LINES[1][:-1] + "g"))
    yield lines("ledger-space", "a space at the end", "line 2: not 32 hexadecimal digits", with_line(2, KEY_LINES[1] + " "))
    yield lines("another-ledger", "the key of another ledger", "line 2: another ledger", with_line(2, f"ledger {OTHER_ID.hex()}"))
    yield lines("no-active", "a root where `active` should stand", "line 3: expected active", [*KEY_LINES[:2], KEY_LINES[3]])
    yield lines("swapped", "lines 2 and 3 are swapped", "line 2: expected ledger", [KEY_LINES[0], KEY_LINES[2], KEY_LINES[1]])
    odd = {"empty": "", "sign": "+0", "minus": "-1", "zero-first": "00", "hex": "0x0", "too-great": str(2**32)}
    for name, value in odd.items():
        yield lines(f"active-{name}", f"`active` is `{value}`", "line 3: not a generation", with_line(3, f"active {value}"))
    yield lines("active-ahead", "active has no root", "line 3: no root for generation 1", with_line(3, "active 1"))
    yield lines("no-root", "no root at all", "line 3: no root for generation 0", KEY_LINES[:3])
    yield lines("root-short", "63 digits", "line 4: not 64 hexadecimal digits", with_line(4, KEY_LINES[3][:-1]))
    yield lines("root-letters", "a `g`", "line 4: not 64 hexadecimal digits", with_line(4, KEY_LINES[3][:-1] + "g"))
    yield lines("root-second-short", "63 digits in the second", "line 5: not 64 hexadecimal digits", [*KEY_LINES, more[0][:-1]])
    yield lines("blank-last", "a blank line at the end", "line 5: expected root", [*KEY_LINES, ""])
    yield lines("comment", "a comment", "line 5: expected root", [*KEY_LINES, "# the first"])
    yield lines("ledger-again", "a second `ledger`", "line 5: expected root", [*KEY_LINES, KEY_LINES[1]])
    room = 65_537 - sum(len(line) + 1 for line in KEY_LINES)
    comment = "65537 bytes, the last line not ended: the size is looked at first"
    yield key_file("over-limit", comment, "over 65536 bytes", [*lined(KEY_LINES), f"61*{room}"])


def all_cases() -> list[Case]:
    makers = (
        segment_good,
        segment_flips,
        segment_cuts,
        segment_moves,
        segment_sealed,
        segment_undecodable,
        segment_origins,
        segment_rotations,
        segment_headers,
        anchors,
        key_files,
    )
    cases = [case for maker in makers for case in maker()]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), "each case has a name of its own"
    return cases


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__)
        return 2
    wanted = {f"{case.name}.txt": case.render().encode() for case in all_cases()}
    there = {path.name: path.read_bytes() for path in FOLDER.glob("*")} if FOLDER.is_dir() else {}
    if arguments:
        differing = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        for name in differing:
            print(f"{name}: {'missing' if name not in there else 'not made here' if name not in wanted else 'differs'}")
        print(f"{len(wanted)} cases, {len(differing)} differ")
        return 1 if differing else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in there.keys() - wanted.keys():
        print(f"{name}: not made here; remove it by hand")
    for name, content in wanted.items():
        (FOLDER / name).write_bytes(content)
    print(f"{len(wanted)} cases written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
