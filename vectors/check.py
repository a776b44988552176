#!/usr/bin/env python3
"""A second reader of the ledger format, written from docs/formats/ledger.md alone.

    check.py [FOLDER]        reads every *.txt of FOLDER, by default ledger/v1 beside this file

Prints one line for each file that is not met, then `N passed, N failed`. Ends with 1 on any failure, and when there is
nothing to read. README.md beside it says how a file is written and lists the error texts.

It only reads, and only what is in memory: segments of one ledger, an anchor, a key file. It does not open stores, does not
compare a ledger with an anchor, and decides nothing about runs. Favours clarity over speed. HMAC and HKDF are written out
from RFC 2104 and RFC 5869, so that the files, which are made with the library's HMAC, check those too. Standard library
only.
"""

from __future__ import annotations

import hashlib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path


class Refused(Exception):
    """What is wrong with what was read; the text is one of the stable ones."""


class Malformed(Exception):
    """The vector file itself cannot be read."""


# Keys


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    if len(key) > 64:
        key = hashlib.sha256(key).digest()
    key = key + bytes(64 - len(key))
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()


def hkdf_sha256(secret: bytes, info: bytes) -> bytes:
    """The first 32 bytes that HKDF gives for an empty salt."""
    return hmac_sha256(hmac_sha256(bytes(32), secret), info + b"\x01")


def event_key(root: bytes, ledger: bytes) -> bytes:
    return hkdf_sha256(root, b"actum/event/v1" + ledger)


def anchor_key(root: bytes, ledger: bytes) -> bytes:
    return hkdf_sha256(root, b"actum/anchor/v1" + ledger)


def key_id(key: bytes) -> bytes:
    return hmac_sha256(key, b"actum/key-id/v1")[:16]


# Fields of an event

FIELDS_MAX = 8192
SPACES = {
    1: "namespace",
    2: "step",
    3: "tool",
    4: "rule",
    5: "session",
    6: "channel",
    7: "author",
    8: "adapter",
    9: "called tool",
}
SUBJECT_MAX = REASON_MAX = 1024
NAME_MAX = 128
TOOL_MAX = 4200
OUTCOMES = range(1, 7)
OWNERS = range(1, 5)
CAUSES = range(1, 9)
ENTRY_NAME_MAX = 1024
LONG_NAME_MAX = 512
PARENTS_MAX = 256
LIST_MAX = 32
AUTHORITIES = {1: "Untrusted", 2: "Derived", 3: "Approved", 4: "User"}
UNTRUSTED, DERIVED, _, USER = AUTHORITIES
FRESH, UNKNOWN, SUBAGENT, FIRED, PARTIAL, INTERACTIVE = range(1, 7)
TURN, RESULT, RECALLED, INBOUND, SUMMARY, RESET, REFUSAL = range(1, 8)
OF_RUN, OF_RECORD, OF_CHANNEL, OF_AUTHOR, OF_MANDATE, OF_ADAPTER = range(1, 7)
MEMORY, TASK = range(1, 3)
MOVED, CLOCK_CAUSE = 5, 6
NO_NUMBER, NO_INDEX = 2**32 - 1, 2**64 - 1


class Undecodable(Exception):
    """The fields are not those of their kind."""


class Fields:
    """Takes values off the front of an event's fields."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, size: int) -> bytes:
        if len(self.data) < size:
            raise Undecodable
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def one_of(self, known: range) -> int:
        value = self.number(1)
        if value not in known:
            raise Undecodable
        return value

    def sized(self, limit: int) -> bytes:
        size = self.number(2)
        if size > limit:
            raise Undecodable
        return self.take(size)

    def maybe(self, size: int) -> int | None:
        value = self.number(size)
        return None if value == 256**size - 1 else value

    def owner_or_none(self) -> int:
        return self.one_of(range(0, 5))

    def count(self, limit: int) -> int:
        count = self.number(2)
        if count > limit:
            raise Undecodable
        return count

    def text(self, limit: int) -> str:
        try:
            return self.sized(limit).decode("utf-8", "strict")
        except UnicodeDecodeError:
            raise Undecodable from None


def sound(condition: bool) -> None:
    if not condition:
        raise Undecodable


def decode_genesis(fields: Fields) -> dict:
    return {"ledger": fields.take(16)}


def decode_named(fields: Fields) -> dict:
    space = SPACES[fields.one_of(range(1, 10))]
    number = fields.number(4)
    name = fields.sized(TOOL_MAX)
    if space == "tool":
        sound = len(name) >= 32
    elif space == "rule":
        sound = len(name) == 32
    else:
        try:
            name.decode("utf-8", "strict")
        except UnicodeDecodeError:
            raise Undecodable from None
        sound = len(name) <= (LONG_NAME_MAX if space in ("channel", "author", "called tool") else NAME_MAX)
    if not sound:
        raise Undecodable
    return {"space": space, "number": number, "name": name}


def decode_policy(fields: Fields) -> dict:
    return {"policy": fields.take(32), "owner": fields.one_of(OWNERS)}


def decode_began(fields: Fields) -> dict:
    numbers = {space: fields.number(4) for space in ("namespace", "step", "tool", "rule", "session")}
    return {"numbers": numbers, "subject": fields.text(SUBJECT_MAX), "digests": (fields.take(32), fields.take(32))}


def decode_ended(fields: Fields) -> dict:
    run, outcome, code = fields.number(8), fields.one_of(OUTCOMES), fields.take(4)
    return {
        "run": run,
        "outcome": outcome,
        "code": int.from_bytes(code, "big", signed=True),
        "digests": (fields.take(32), fields.take(32)),
    }


def decode_revoked(fields: Fields) -> dict:
    event = {"what": fields.one_of(range(1, 7)), "target": fields.number(8), "interval": None}
    if event["what"] in (OF_CHANNEL, OF_AUTHOR):
        event["interval"] = (fields.number(8), fields.number(8))
        sound(event["interval"][0] <= event["interval"][1])
    if event["what"] in (OF_CHANNEL, OF_AUTHOR, OF_ADAPTER):
        sound(event["target"] < NO_NUMBER)
    return event | {"owner": fields.one_of(OWNERS), "reason": fields.text(REASON_MAX)}


def decode_clock(fields: Fields) -> dict:
    return {"before": fields.number(8), "now": fields.number(8)}


def decode_recovered(fields: Fields) -> dict:
    first, kept, dropped = fields.number(8), fields.number(8), fields.number(8)
    return {"first": first, "kept": kept, "dropped": dropped, "digest": fields.take(32)}


def decode_resolved(fields: Fields) -> dict:
    cause, count = fields.one_of(CAUSES), fields.number(8)
    return {"cause": cause, "count": count, "mac": fields.take(32), "owner": fields.one_of(OWNERS)}


def decode_rotated(fields: Fields) -> dict:
    return {"generation": fields.number(4), "key_id": fields.take(16), "owner": fields.one_of(OWNERS)}


def decode_observed(fields: Fields) -> dict:
    session, seen = fields.number(4), fields.one_of(range(1, 8))
    event = {"session": session, "seen": seen, "channel": fields.number(4), "author": fields.number(4)}
    event |= {"authority": fields.one_of(range(1, 5)), "record": fields.maybe(8), "content": fields.take(32)}
    sound(event["record"] is None or seen == RECALLED)
    return event


def decode_wrote(fields: Fields) -> dict:
    event = {"session": fields.maybe(4), "entry": fields.one_of(range(1, 3)), "namespace": fields.number(4)}
    event |= {"channel": fields.number(4), "author": fields.number(4), "authority": fields.one_of(range(1, 5))}
    event["from"] = fields.one_of(range(0, 3))
    if event["from"] == 2:
        event["parents"] = [fields.number(8) for _ in range(fields.count(PARENTS_MAX))]
        sound(event["parents"] != [])
    event |= {"policy": fields.maybe(8), "name": fields.text(ENTRY_NAME_MAX), "content": fields.take(32)}
    event |= {"fingerprint": fields.take(32), "owner": fields.owner_or_none()}
    sound((event["from"] == 0) == (event["owner"] != 0))
    return event


def decode_superseded(fields: Fields) -> dict:
    return {"record": fields.number(8), "by": fields.maybe(8), "owner": fields.owner_or_none()}


def decode_quarantined(fields: Fields) -> dict:
    event = {"record": fields.maybe(8), "namespace": fields.number(4), "name": fields.text(ENTRY_NAME_MAX)}
    return event | {"content": fields.take(32), "reason": fields.number(2)}


def decode_released(fields: Fields) -> dict:
    return {"quarantined": fields.number(8), "record": fields.number(8), "owner": fields.one_of(OWNERS)}


def decode_granted(fields: Fields) -> dict:
    event = {"called": fields.number(4), "audience": (fields.one_of(range(1, 5)), fields.number(8))}
    event |= {"from": fields.number(8), "until": fields.number(8), "uses": fields.number(4)}
    event |= {"argument": fields.text(LONG_NAME_MAX), "budget": fields.number(8)}
    event["limits"] = [decode_limit(fields) for _ in range(fields.count(LIST_MAX))]
    event |= {"parent": fields.maybe(8), "owner": fields.owner_or_none(), "revoked": False}
    sound(event["argument"] != "" or event["budget"] == 0)
    sound(event["from"] <= event["until"] and event["uses"] > 0)
    sound(event["owner"] != 0 or event["parent"] is not None)
    return event


def decode_limit(fields: Fields) -> tuple:
    argument, kind = fields.text(LONG_NAME_MAX), fields.one_of(range(1, 6))
    return argument, kind, [fields.text(REASON_MAX) for _ in range(fields.count(LIST_MAX))]


def decode_consented(fields: Fields) -> dict:
    event = {"session": fields.number(4), "call": fields.take(32), "until": fields.number(8)}
    return event | {"owner": fields.one_of(OWNERS)}


def decode_spent(fields: Fields) -> dict:
    return {"what": fields.one_of(range(1, 3)), "of": fields.number(8), "amount": fields.number(8)}


def decode_decided(fields: Fields) -> dict:
    event = {"session": fields.number(4), "called": fields.number(4), "digests": (fields.take(32), fields.take(32))}
    event |= {"decision": fields.one_of(range(1, 6)), "reason": fields.number(2)}
    return event | {"origin": fields.maybe(8), "count": fields.number(4)}


def decode_opened(fields: Fields) -> dict:
    event = {"session": fields.number(4), "adapter": fields.maybe(4)}
    event |= {"start": fields.one_of(range(1, 7)), "from": fields.maybe(8)}
    sound((event["from"] is None) == (event["start"] in (FRESH, UNKNOWN, PARTIAL, INTERACTIVE)))
    sound(event["start"] != SUBAGENT or event["from"] < NO_NUMBER)
    return event


def decode_enrolled(fields: Fields) -> dict:
    event = {"adapter": fields.number(4), "credential": fields.take(32)}
    event["channels"] = [fields.text(LONG_NAME_MAX) for _ in range(fields.count(LIST_MAX))]
    return event | {"owner": fields.one_of(OWNERS)}


GENESIS, NAMED, POLICY, BEGAN, ENDED, REVOKED, CLOCK, RECOVERED, RESOLVED, ROTATED = range(1, 11)
OBSERVED, WROTE, SUPERSEDED, QUARANTINED, RELEASED, GRANTED, CONSENTED, SPENT, DECIDED = range(11, 20)
OPENED, ENROLLED = 21, 22

DECODERS = {
    GENESIS: decode_genesis,
    NAMED: decode_named,
    POLICY: decode_policy,
    BEGAN: decode_began,
    ENDED: decode_ended,
    REVOKED: decode_revoked,
    CLOCK: decode_clock,
    RECOVERED: decode_recovered,
    RESOLVED: decode_resolved,
    ROTATED: decode_rotated,
    OBSERVED: decode_observed,
    WROTE: decode_wrote,
    SUPERSEDED: decode_superseded,
    QUARANTINED: decode_quarantined,
    RELEASED: decode_released,
    GRANTED: decode_granted,
    CONSENTED: decode_consented,
    SPENT: decode_spent,
    DECIDED: decode_decided,
    OPENED: decode_opened,
    ENROLLED: decode_enrolled,
}


def decode(kind: int, data: bytes) -> dict | None:
    """The values of an event, or None if the bytes are not exactly the fields of this kind."""
    fields = Fields(data)
    try:
        event = DECODERS[kind](fields)
    except Undecodable:
        return None
    return None if fields.data else event


# Where things came from


@dataclass
class Item:
    """Something observed, or a record."""

    at_ms: int
    channel: int
    author: int
    authority: int
    content: bytes
    parents: list[int]
    entry: int | None
    by_owner: bool = False


@dataclass
class Session:
    """`floor` is what its least is without looking at the context."""

    context: list[int] = field(default_factory=list)
    floor: int = USER
    task: int | None = None


@dataclass
class Origins:
    """Looks up everything anew each time; a set of what was withheld by name, and a walk over parents for the rest."""

    sessions: dict[int, Session] = field(default_factory=dict)
    items: dict[int, Item] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    intervals: list[tuple[int, int, tuple[int, int]]] = field(default_factory=list)
    held: dict[int, int | None] = field(default_factory=dict)
    approvals: set[int] = field(default_factory=set)
    mandates: dict[int, dict] = field(default_factory=dict)
    enrolled: dict[int, list[int]] = field(default_factory=dict)
    void_before: int = 0

    def is_withheld(self, event: int) -> bool:
        item = self.items[event]
        names = {OF_CHANNEL: item.channel, OF_AUTHOR: item.author}
        bound = any(names[of] == number and low <= item.at_ms <= high for of, number, (low, high) in self.intervals)
        return event in self.named or bound or any(self.is_withheld(parent) for parent in item.parents)

    def standing(self, event: int) -> int:
        low = event < self.void_before or self.is_withheld(event)
        return UNTRUSTED if low else self.items[event].authority

    def least(self, session: Session) -> int:
        return min([session.floor, *(self.standing(event) for event in session.context)])

    def is_entry(self, event: int | None) -> bool:
        return event in self.items and self.items[event].entry is not None

    def apply(self, index: int, at_ms: int, kind: int, event: dict) -> str | None:
        """Takes an event of these kinds over and answers None, or says what is wrong with it."""
        if kind == OPENED:
            return self.opened(event)
        if kind == OBSERVED:
            return self.observed(index, at_ms, event)
        if kind == WROTE:
            return self.wrote(index, at_ms, event)
        if kind == SUPERSEDED:
            for record in (event["record"], event["by"]):
                if record is not None and not self.is_entry(record):
                    return no_event(record)
            if event["by"] == event["record"]:
                return no_event(event["by"])
            self.named.add(event["record"])
        elif kind == QUARANTINED:
            record = event["record"]
            if record is not None:
                if not self.is_entry(record):
                    return no_event(record)
                if self.items[record].content == event["content"]:
                    self.named.add(record)
            self.held[index] = None
        elif kind == RELEASED:
            record, held = event["record"], event["quarantined"]
            if not self.is_entry(record) or not self.items[record].by_owner:
                return no_event(record)
            if held not in self.held or self.held[held] is not None:
                return no_event(held)
            self.held[held] = index
        elif kind == REVOKED:
            return self.revoked(event)
        elif kind == GRANTED:
            parent = event["parent"]
            if parent is not None:
                if parent not in self.mandates:
                    return no_event(parent)
                if not narrows(event, self.mandates[parent]):
                    return f"allows more than event {parent}, which it draws on"
            self.mandates[index] = event
        elif kind == CONSENTED:
            if event["session"] not in self.sessions:
                return not_opened(event["session"])
            self.approvals.add(index)
        elif kind == SPENT:
            return self.spent(event)
        elif kind == DECIDED:
            if event["session"] not in self.sessions:
                return not_opened(event["session"])
        elif kind == ENROLLED:
            self.enrolled.setdefault(event["adapter"], []).append(index)
        return None

    def opened(self, event: dict) -> str | None:
        number, start, source = event["session"], event["start"], event["from"]
        if event["adapter"] is not None and not self.enrolled.get(event["adapter"]):
            return f"adapter {event['adapter']} is not enrolled"
        if number in self.sessions:
            return f"session {number} was opened before"
        session = Session()
        if start in (UNKNOWN, PARTIAL, INTERACTIVE):
            session.floor = UNTRUSTED
        elif start == SUBAGENT:
            if source not in self.sessions:
                return not_opened(source)
            opener = self.sessions[source]
            session = Session(list(opener.context), self.least(opener), opener.task)
        elif start == FIRED:
            if not self.is_entry(source) or self.items[source].entry != TASK:
                return no_event(source)
            session = Session([source], USER, source)
        self.sessions[number] = session
        return None

    def observed(self, index: int, at_ms: int, event: dict) -> str | None:
        if event["session"] not in self.sessions:
            return not_opened(event["session"])
        session, seen, record = self.sessions[event["session"]], event["seen"], event["record"]
        authority, parents = event["authority"], []
        if record is not None:
            if not self.is_entry(record):
                return no_event(record)
            same = self.items[record].content == event["content"]
            authority = min(authority, self.standing(record) if same else UNTRUSTED)
            parents = [record]
        elif seen in (RECALLED, REFUSAL):
            authority = UNTRUSTED
        elif seen == SUMMARY:
            authority = min(authority, DERIVED, self.least(session))
            parents = list(session.context)
        item = Item(at_ms, event["channel"], event["author"], authority, event["content"], parents, None)
        self.items[index] = item
        if seen == RESET:
            session.context = [] if session.task is None else [session.task]
            session.floor = USER
        else:
            session.context.append(index)
        return None

    def wrote(self, index: int, at_ms: int, event: dict) -> str | None:
        number, parents = event["session"], []
        if number is not None and number not in self.sessions:
            return not_opened(number)
        if event["from"] == 0:
            least = USER
        elif event["from"] == 1:
            if number is None:
                return not_opened(NO_NUMBER)
            least = min(DERIVED, self.least(self.sessions[number]))
            parents = list(self.sessions[number].context)
        else:
            parents = event["parents"]
            for parent in parents:
                if parent not in self.items:
                    return no_event(parent)
            word_for_word = len(parents) == 1 and self.items[parents[0]].content == event["content"]
            least = min([USER if word_for_word else DERIVED, *(self.standing(parent) for parent in parents)])
        if event["authority"] > least:
            return f"claims {AUTHORITIES[event['authority']]} of what is {AUTHORITIES[least]}"
        by_owner = event["from"] == 0
        self.items[index] = Item(
            at_ms, event["channel"], event["author"], event["authority"], event["content"], parents, event["entry"], by_owner
        )
        return None

    def revoked(self, event: dict) -> str | None:
        what, target = event["what"], event["target"]
        if what == OF_RECORD:
            if target not in self.items:
                return no_event(target)
            self.named.add(target)
        elif what in (OF_CHANNEL, OF_AUTHOR):
            self.intervals.append((what, target, event["interval"]))
        elif what == OF_MANDATE:
            if target not in self.mandates:
                return no_event(target)
            self.mandates[target]["revoked"] = True
        elif what == OF_ADAPTER and target not in self.enrolled:
            return f"adapter {target} is not enrolled"
        return None

    def spent(self, event: dict) -> str | None:
        over = f"spends more than event {event['of']} allows"
        if event["what"] == 1:
            if event["of"] not in self.approvals:
                return over
            self.approvals.remove(event["of"])
            return None
        drawn, at = [], event["of"]
        while at is not None:
            mandate = self.mandates.get(at)
            if mandate is None or mandate["revoked"] or mandate["uses"] == 0:
                return over
            if mandate["argument"] and mandate["budget"] < event["amount"]:
                return over
            drawn.append(mandate)
            at = mandate["parent"]
        for mandate in drawn:
            mandate["uses"] -= 1
            mandate["budget"] -= event["amount"] if mandate["argument"] else 0
        return None

    def lose(self, index: int) -> None:
        self.void_before = index
        self.approvals, self.mandates, self.enrolled = set(), {}, {}
        for session in self.sessions.values():
            session.floor = UNTRUSTED

    def confirm_before(self, first: int) -> None:
        self.approvals = {event for event in self.approvals if event < first}
        self.mandates = {event: mandate for event, mandate in self.mandates.items() if event < first}
        kept = {number: [event for event in events if event < first] for number, events in self.enrolled.items()}
        self.enrolled = {number: events for number, events in kept.items() if events}
        for held, released in self.held.items():
            if released is not None and released >= first:
                self.held[held] = None
        self.named |= {event for event, item in self.items.items() if event >= first and item.by_owner}


def narrows(event: dict, parent: dict) -> bool:
    return (
        not parent["revoked"]
        and event["called"] == parent["called"]
        and event["audience"] == parent["audience"]
        and parent["from"] <= event["from"]
        and event["until"] <= parent["until"]
        and parent["argument"] in ("", event["argument"])
        and all(limit in event["limits"] for limit in parent["limits"])
    )


def no_event(event: int) -> str:
    return f"refers to event {event}, which is not there"


def not_opened(session: int) -> str:
    return f"session {session} was not opened"


# The ledger

# The fields that are numbers of names, in their order.
NAMED_BY = {
    OPENED: ("session",),
    OBSERVED: ("channel", "author"),
    WROTE: ("namespace", "channel", "author"),
    QUARANTINED: ("namespace",),
    GRANTED: ("called",),
    DECIDED: ("called",),
    ENROLLED: ("adapter",),
}


@dataclass
class Ledger:
    """Reads the segments of one ledger in order. What it knows is what the events so far have said."""

    id: bytes
    roots: list[bytes]
    count: int = 0
    mac: bytes = bytes(32)
    incarnation: int = 0
    generation: int = 0
    names: dict[str, list[bytes]] = field(default_factory=lambda: {space: [] for space in SPACES.values()})
    runs: set[int] = field(default_factory=set)
    open_runs: set[int] = field(default_factory=set)
    origins: Origins = field(default_factory=Origins)
    time_ms: int = 0
    resolved: list[tuple[int, int]] = field(default_factory=list)

    def read_segment(self, data: bytes) -> None:
        header, records = data[:64], data[64:]
        if len(header) < 64:
            raise Refused("segment header: the bytes end inside it")
        if header[:8] != b"ACTUMLG1":
            raise Refused("segment header: wrong magic")
        if header[8:24] != self.id:
            raise Refused("segment header: another ledger")
        first = int.from_bytes(header[24:32], "big")
        if first != self.count:
            raise Refused(f"segment header: first index is {first}, expected {self.count}")
        if header[32:] != self.mac:
            if self.count == 0:
                raise Refused("segment header: names a predecessor of event 0")
            raise Refused(f"segment header: does not follow event {self.count - 1}")
        while records:
            records = records[self.read_record(records) :]

    def read_record(self, data: bytes) -> int:
        """Reads the record at the front of `data` and returns its size."""

        def refuse(what: str) -> Refused:
            return Refused(f"event {self.count}: {what}")

        if len(data) < 2:
            raise refuse("the bytes end inside it")
        size = int.from_bytes(data[:2], "big")
        if size > FIELDS_MAX:
            raise refuse(f"fields of {size} bytes, at most {FIELDS_MAX}")
        if len(data) < 24 + size + 32:
            raise refuse("the bytes end inside it")
        covered, mac = data[: 24 + size], data[24 + size : 24 + size + 32]
        version, kind = covered[2], covered[3]
        index = int.from_bytes(covered[4:12], "big")
        incarnation = int.from_bytes(covered[12:16], "big")

        if version != 1:
            raise refuse(f"version {version} is not known")
        if mac != hmac_sha256(event_key(self.roots[self.generation], self.id), self.mac + covered):
            raise refuse("the MAC does not match")
        if index != self.count:
            raise refuse(f"carries index {index}")
        # Counted from 1, so that nothing may follow "before the first" with 0.
        if incarnation < max(self.incarnation, 1):
            raise refuse(f"incarnation {incarnation} after {self.incarnation}")
        if kind not in DECODERS:
            raise refuse(f"kind {kind} is not known")
        event = decode(kind, covered[24:])
        if event is None:
            raise refuse("fields do not decode")
        wrong = self.meaning(kind, event, int.from_bytes(covered[16:24], "big"))
        if wrong is not None:
            raise refuse(wrong)

        self.count, self.mac, self.incarnation = self.count + 1, mac, incarnation
        return len(covered) + len(mac)

    def meaning(self, kind: int, event: dict, raw_ms: int) -> str | None:
        """Applies a sound event and answers None, or says what is wrong with it."""
        self.time_ms = max(self.time_ms, raw_ms)
        if self.count == 0 and kind != GENESIS:
            return "not a genesis"
        if kind == GENESIS:
            if self.count > 0:
                return "a second genesis"
            if event["ledger"] != self.id:
                return "genesis of another ledger"
        elif kind == NAMED:
            space, number, names = event["space"], event["number"], self.names[event["space"]]
            if number != len(names):
                return f"names number {number}, expected {len(names)}"
            if event["name"] in names:
                return f"number {number} of {space} has the name of number {names.index(event['name'])}"
            names.append(event["name"])
        elif kind == BEGAN:
            for space, number in event["numbers"].items():
                if number >= len(self.names[space]):
                    return f"number {number} of {space} is not named"
            self.runs.add(self.count)
            self.open_runs.add(self.count)
        elif kind == ENDED:
            if event["run"] not in self.open_runs:
                return f"ends run {event['run']}, which is not open"
            self.open_runs.remove(event["run"])
        elif kind == REVOKED and event["what"] == OF_RUN:
            if event["target"] not in self.runs:
                return f"revokes run {event['target']}, which is not there"
        elif kind == REVOKED or kind > ROTATED:
            return self.unnamed(kind, event) or self.origins.apply(self.count, self.time_ms, kind, event)
        elif kind == RESOLVED:
            self.resolved.append((self.count, self.time_ms))
            self.time_ms = raw_ms
            if event["cause"] not in (MOVED, CLOCK_CAUSE):
                self.origins.lose(self.count)
        elif kind == RECOVERED:
            undone = [before for index, before in self.resolved if index >= event["first"]]
            self.resolved = [(index, before) for index, before in self.resolved if index < event["first"]]
            self.time_ms = max([self.time_ms, *undone])
            self.origins.confirm_before(event["first"])
        elif kind == ROTATED:
            generation = event["generation"]
            if generation != self.generation + 1:
                return f"rotates to generation {generation}, expected {self.generation + 1}"
            if generation >= len(self.roots):
                return f"no root for generation {generation}"
            if event["key_id"] != key_id(event_key(self.roots[generation], self.id)):
                return f"key id of generation {generation} does not match"
            self.generation = generation
        return None

    def unnamed(self, kind: int, event: dict) -> str | None:
        if kind == REVOKED:
            space = {OF_CHANNEL: "channel", OF_AUTHOR: "author", OF_ADAPTER: "adapter"}.get(event["what"])
            numbers = {} if space is None else {space: event["target"]}
        else:
            numbers = {space: event[space] for space in NAMED_BY.get(kind, ())}
        for space, number in numbers.items():
            space = "called tool" if space == "called" else space
            if number >= len(self.names[space]):
                return f"number {number} of {space} is not named"
        return None


def read_ledger(vector: Vector) -> str:
    ledger = Ledger(vector.ledger, vector.roots)
    for segment in vector.bodies:
        ledger.read_segment(segment)
    return f"head {ledger.count} {ledger.mac.hex()}"


# The anchor

SLOT_SIZE = 4096
STORE_PATH_MAX = 3500


def read_slot(slot: bytes, vector: Vector) -> tuple[int, int, bytes] | None:
    """Counter, count and MAC of a slot, or None if it does not verify."""
    if len(slot) != SLOT_SIZE or slot[:8] != b"ACTUMAN1" or slot[8:24] != vector.ledger:
        return None
    generation = int.from_bytes(slot[32:36], "big")
    if generation < vector.active or generation >= len(vector.roots):
        return None
    if slot[4064:] != hmac_sha256(anchor_key(vector.roots[generation], vector.ledger), slot[:4064]):
        return None
    size = int.from_bytes(slot[112:114], "big")
    if size > STORE_PATH_MAX or any(slot[114 + size : 4064]):
        return None
    return int.from_bytes(slot[24:32], "big"), int.from_bytes(slot[40:48], "big"), slot[48:80]


def read_anchor(vector: Vector) -> str:
    best = None
    for place in (0, 1):
        read = read_slot(vector.bodies[0][place * SLOT_SIZE : (place + 1) * SLOT_SIZE], vector)
        # Only a greater counter wins, so of two equal ones the first stands.
        if read is not None and (best is None or read[0] > best[1][0]):
            best = (place, read)
    if best is None:
        raise Refused("no slot verifies")
    place, (counter, count, mac) = best
    return f"slot {place} counter {counter} count {count} mac {mac.hex()}"


# The key file

KEY_FILE_MAX = 64 * 1024


def read_key_file(vector: Vector) -> str:
    data = vector.bodies[0]
    if len(data) > KEY_FILE_MAX:
        raise Refused(f"over {KEY_FILE_MAX} bytes")
    if not data.startswith(b"actum-key 1\n"):
        raise Refused("not a key file")
    if not data.endswith(b"\n"):
        raise Refused(f"line {data.count(10) + 1}: the bytes end inside it")
    lines = data[:-1].split(b"\n")

    def value(number: int, name: bytes) -> bytes:
        if number > len(lines) or not lines[number - 1].startswith(name + b" "):
            raise Refused(f"line {number}: expected {name.decode()}")
        return lines[number - 1][len(name) + 1 :]

    ledger = value(2, b"ledger")
    if not re.fullmatch(rb"[0-9a-fA-F]{32}", ledger):
        raise Refused("line 2: not 32 hexadecimal digits")
    if bytes.fromhex(ledger.decode()) != vector.ledger:
        raise Refused("line 2: another ledger")
    active = value(3, b"active")
    if not re.fullmatch(rb"0|[1-9][0-9]{0,9}", active) or int(active) >= 2**32:
        raise Refused("line 3: not a generation")
    roots = [value(number, b"root") for number in range(4, len(lines) + 1)]
    for number, root in enumerate(roots, start=4):
        if not re.fullmatch(rb"[0-9a-fA-F]{64}", root):
            raise Refused(f"line {number}: not 64 hexadecimal digits")
    if int(active) >= len(roots):
        raise Refused(f"line 3: no root for generation {int(active)}")
    return f"generations {len(roots)} active {int(active)}"


# Vector files

READERS = {"segment": read_ledger, "anchor": read_anchor, "keyfile": read_key_file}


@dataclass
class Vector:
    """One file: what to read, with which keys, and what should come out."""

    format: str
    roots: list[bytes]
    ledger: bytes
    active: int
    expect: str
    bodies: list[bytes]


def read_vector(path: Path) -> Vector:
    lines = path.read_bytes().decode("utf-8").split("\n")
    if lines.pop() != "":
        raise Malformed("the last line has no end")
    if "" not in lines:
        raise Malformed("no blank line after the headers")
    blank = lines.index("")
    headers: dict[str, list[str]] = {}
    for line in lines[:blank]:
        name, colon, text = line.partition(": ")
        if not colon or name not in ("comment", "format", "root", "ledger", "active", "expect"):
            raise Malformed(f"not a header: {line}")
        headers.setdefault(name, []).append(text)
    for name, texts in headers.items():
        if name != "root" and len(texts) > 1:
            raise Malformed(f"two headers `{name}`")
    for name in ("comment", "format", "ledger", "expect"):
        if name not in headers:
            raise Malformed(f"no header `{name}`")
    kind = headers["format"][0]
    roots = [hexadecimal(text, 32) for text in headers.get("root", [])]
    if kind not in READERS:
        raise Malformed(f"no such format: {kind}")
    if (kind != "keyfile") != bool(roots):
        raise Malformed("a segment or an anchor needs `root`, a key file has none")
    if (kind == "anchor") != ("active" in headers):
        raise Malformed("an anchor needs `active`, nothing else has it")
    return Vector(
        format=kind,
        roots=roots,
        ledger=hexadecimal(headers["ledger"][0], 16),
        active=int(headers.get("active", ["0"])[0]),
        expect=headers["expect"][0],
        bodies=read_body(lines[blank + 1 :]),
    )


def hexadecimal(text: str, size: int) -> bytes:
    if not re.fullmatch(r"[0-9a-f]*", text) or len(text) != 2 * size:
        raise Malformed(f"not {2 * size} hexadecimal digits: {text}")
    return bytes.fromhex(text)


def read_body(lines: list[str]) -> list[bytes]:
    bodies = [b""]
    for line in lines:
        if line == "next segment":
            bodies.append(b"")
        elif line == "|" or line.startswith("| "):
            bodies[-1] += line[2:].encode() + b"\n"
        else:
            for word in line.partition("#")[0].split():
                bodies[-1] += read_word(word)
    return bodies


def read_word(word: str) -> bytes:
    if re.fullmatch(r"([0-9a-f]{2})+", word):
        return bytes.fromhex(word)
    repeated = re.fullmatch(r"([0-9a-f]{2})\*([0-9]{1,5})", word)
    if repeated:
        return bytes.fromhex(repeated[1]) * int(repeated[2])
    raise Malformed(f"not bytes: {word}")


def check(path: Path) -> str | None:
    """None if the file is met, or else what was found instead."""
    try:
        vector = read_vector(path)
    except (Malformed, OSError, UnicodeDecodeError) as error:
        return f"not a vector: {error}"
    try:
        found = READERS[vector.format](vector)
    except Refused as refused:
        found = str(refused)
    return None if found == vector.expect else f"expected `{vector.expect}`, found `{found}`"


def known_answers() -> None:
    """RFC 4231 case 2 and RFC 5869 case 3: a reader with wrong primitives could only agree with itself."""
    mac = hmac_sha256(b"Jefe", b"what do ya want for nothing?")
    assert mac.hex() == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "HMAC is as RFC 4231 says"
    derived = hkdf_sha256(b"\x0b" * 22, b"")
    assert derived.hex() == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d", "HKDF is as RFC 5869 says"


def main(arguments: list[str]) -> int:
    known_answers()
    folder = Path(arguments[0]) if arguments else Path(__file__).resolve().parent / "ledger" / "v1"
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        print(f"{folder}: no vectors there")
        return 1
    failed = 0
    for path in paths:
        wrong = check(path)
        if wrong is not None:
            failed += 1
            print(f"{path.name}: {wrong}")
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
