#!/usr/bin/env python3
"""The ledger of the paper "Proof-of-Execution Memory" (arXiv 2608.16032, section IV), to be measured against.

    poem_reference.py bench [--max N] [--json]     times of the grounding check and of verifying, bytes an event
    poem_reference.py attacks [--json]             what the paper's rule accepts

It holds what the paper says and nothing more: events (action, subject, index, previous MAC, MAC), chained by
HMAC-SHA256 over `a || x || s || p`; `verify_chain`; `contains_event`, which verifies first; Algorithm 1. Where the paper
leaves a choice, the faster one is taken, in the paper's favour:

* `||` is plain concatenation, as written: UTF-8 of `a`, `x` and the decimal `s`, then the 32 bytes of `p`;
* the genesis is 32 zero bytes and the index starts at 0;
* the HMAC copies two SHA-256 states that already hold the padded key, which in CPython 3.11 takes less than half the
  time of `hmac.new` or `hmac.digest`;
* MACs are compared with `!=`, which is quicker than `hmac.compare_digest`.

Remembering that a prefix was verified before would be quicker still, but is not the paper's rule: its check verifies the
whole chain each time, and its table IV shows that cost. Standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import statistics
import sys
import time
from functools import partial
from typing import Callable, Iterable, NamedTuple, Sequence

GENESIS = bytes(32)
KEY = bytes(range(32))
ACTION = "validate_source"
SIZES = (10, 100, 1_000, 10_000, 100_000)

# A sample covers at least this many events, so that the clock's own cost does not count for small ledgers.
EVENTS_A_SAMPLE = 2_000
SAMPLES_MIN, SAMPLES_MAX = 3, 101
# For each size, both operations together; no new sample begins after it.
BUDGET_NS = 4_000_000_000


class Event(NamedTuple):
    """One event of the paper's ledger: e = (a, x, s, p, m)."""

    action: str
    subject: str
    index: int
    previous: bytes
    mac: bytes


class Ledger:
    """The execution ledger, held by the runtime that owns the key."""

    def __init__(self, key: bytes) -> None:
        padded = key.ljust(64, b"\0")
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in padded))
        self.events: list[Event] = []

    def append(self, action: str, subject: str) -> Event:
        """Appends the event of a step that ran."""
        index = len(self.events)
        previous = self.events[-1].mac if self.events else GENESIS
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(f"{action}{subject}{index}".encode() + previous)
        outer.update(inner.digest())
        event = Event(action, subject, index, previous, outer.digest())
        self.events.append(event)
        return event

    def verify_chain(self) -> bool:
        """Whether every event follows the one before it and carries the MAC that the key gives."""
        # The MAC is written out in the loop: a call for each event would slow the paper down.
        fresh_inner, fresh_outer = self._inner.copy, self._outer.copy
        expected = GENESIS
        for action, subject, index, previous, mac in self.events:
            if previous != expected:
                return False
            inner, outer = fresh_inner(), fresh_outer()
            inner.update(f"{action}{subject}{index}".encode() + previous)
            outer.update(inner.digest())
            if outer.digest() != mac:
                return False
            expected = mac
        return True

    def contains_event(self, action: str, subject: str) -> bool:
        """Whether an intact chain holds an event of this action and subject: the grounding check."""
        if not self.verify_chain():
            return False
        for event in self.events:
            if event[1] == subject and event[0] == action:
                return True
        return False


def may_skip(ledger: Ledger, step: str, subject: str) -> bool:
    """Algorithm 1: asked when the agent proposes to skip `step`; False means the step is executed instead."""
    return ledger.contains_event(step, subject)


# How it is measured


def subject_of(number: int) -> str:
    return f"SRC-{number:06d}"


def filled(count: int) -> Ledger:
    ledger = Ledger(KEY)
    for number in range(count):
        ledger.append(ACTION, subject_of(number))
    return ledger


class Timing(NamedTuple):
    cpu_ns: float
    wall_ns: float
    samples: int
    calls_a_sample: int


def measure(calls: Sequence[Callable[[], bool]], events: int) -> list[Timing]:
    """Medians for each call, in process CPU time and in wall time. The calls take turns, so that a busy moment of the
    machine meets all of them; each has to answer True."""
    if not all(call() for call in calls):
        raise AssertionError("a measured call gave a wrong answer")
    repeats = max(1, EVENTS_A_SAMPLE // events)
    cpu: list[list[float]] = [[] for _ in calls]
    wall: list[list[float]] = [[] for _ in calls]
    deadline = time.perf_counter_ns() + BUDGET_NS
    while len(cpu[0]) < SAMPLES_MIN or (len(cpu[0]) < SAMPLES_MAX and time.perf_counter_ns() < deadline):
        for place, call in enumerate(calls):
            wall_start, cpu_start = time.perf_counter_ns(), time.process_time_ns()
            for _ in range(repeats):
                call()
            cpu_end, wall_end = time.process_time_ns(), time.perf_counter_ns()
            cpu[place].append((cpu_end - cpu_start) / repeats)
            wall[place].append((wall_end - wall_start) / repeats)
    return [
        Timing(statistics.median(cpu_times), statistics.median(wall_times), len(cpu_times), repeats)
        for cpu_times, wall_times in zip(cpu, wall)
    ]


def as_json(event: Event) -> str:
    """One event as a JSON object with the paper's five members, MACs in hexadecimal, no white space."""
    members = {
        "action": event.action,
        "subject": event.subject,
        "index": event.index,
        "prev": event.previous.hex(),
        "mac": event.mac.hex(),
    }
    return json.dumps(members, separators=(",", ":"))


def as_text(event: Event) -> str:
    """The least a text line can hold: the five values, MACs in hexadecimal, one space between, a newline."""
    return f"{event.action} {event.subject} {event.index} {event.previous.hex()} {event.mac.hex()}\n"


def bytes_an_event(events: Iterable[Event], form: Callable[[Event], str]) -> float:
    lengths = [len(form(event).encode()) for event in events]
    return round(sum(lengths) / len(lengths), 1)


def bench(largest: int) -> dict[str, object]:
    rows = []
    for count in (size for size in SIZES if size <= largest):
        ledger = filled(count)
        sought = subject_of(count // 2)
        grounding, verify = measure([partial(ledger.contains_event, ACTION, sought), ledger.verify_chain], count)
        rows.append(
            {
                "events": count,
                "sought": sought,
                "grounding_cpu_ns": round(grounding.cpu_ns),
                "grounding_wall_ns": round(grounding.wall_ns),
                "grounding_repetitions": grounding.samples * grounding.calls_a_sample,
                "grounding_samples": grounding.samples,
                "verify_cpu_ns": round(verify.cpu_ns),
                "verify_wall_ns": round(verify.wall_ns),
                "verify_repetitions": verify.samples * verify.calls_a_sample,
                "verify_samples": verify.samples,
                "bytes_json": bytes_an_event(ledger.events, as_json),
                "bytes_text": bytes_an_event(ledger.events, as_text),
            }
        )
    return {
        "what": "the ledger of arXiv 2608.16032, section IV, in plain Python",
        "python": platform.python_version(),
        "action": ACTION,
        "subject": subject_of(123),
        "subjects": "one action; the subject of event i is `SRC-` and i in six digits; sought is the middle one",
        "statistic": "median of the samples; a sample is the mean of its calls",
        "bytes_json_example": as_json(filled(124).events[123]),
        "bytes_text_example": as_text(filled(124).events[123]).rstrip("\n"),
        "sizes": rows,
    }


def print_bench(result: dict[str, object]) -> None:
    print(f"{result['what']}; Python {result['python']}")
    print(f"events: `{result['action']}`, `{result['subject']}` and so on; medians of process CPU time (wall time)")
    print()
    print(f"{'events':>8}  {'grounding check, us':>26}  {'verify chain, us':>26}  {'bytes JSON':>10}  {'text':>6}  calls")
    rows = result["sizes"]
    assert isinstance(rows, list), "`bench` made it"
    for row in rows:
        times = [
            f"{row[name + '_cpu_ns'] / 1e3:,.1f} ({row[name + '_wall_ns'] / 1e3:,.1f})" for name in ("grounding", "verify")
        ]
        print(
            f"{row['events']:>8}  {times[0]:>26}  {times[1]:>26}  {row['bytes_json']:>10}  {row['bytes_text']:>6}"
            f"  {row['grounding_repetitions']} + {row['verify_repetitions']}"
        )


# What the rule accepts


class Attack(NamedTuple):
    """One attack. `accepted`: the rule gives the attacker what is asked for in `wants`."""

    name: str
    source: str
    does: str
    wants: str
    accepted: bool


PAPER, BESIDE = "paper", "not in the paper"


def attacks() -> list[Attack]:
    return [play() for play in PLAYS]


def forged_event() -> Attack:
    ledger = filled(20)
    last = ledger.events[-1]
    ledger.events.append(Event(ACTION, "SRC-EVIL", 20, last.mac, b"\xff" * 32))
    return Attack(
        "A: forged event",
        PAPER,
        "appends an event for SRC-EVIL without the key",
        "skip validate_source for SRC-EVIL",
        may_skip(ledger, ACTION, "SRC-EVIL"),
    )


def cross_subject() -> Attack:
    return Attack(
        "B: another subject",
        PAPER,
        "points to the genuine event of SRC-000003",
        "skip validate_source for SRC-EVIL",
        may_skip(filled(20), ACTION, "SRC-EVIL"),
    )


def reframing() -> Attack:
    # The note says "exempt", not "validated". The guard never reads it: the proposal to skip is what it decides on.
    return Attack(
        "C: reframing",
        PAPER,
        "a note calls SRC-EVIL exempt from validation; no event is touched",
        "skip validate_source for SRC-EVIL",
        may_skip(filled(20), ACTION, "SRC-EVIL"),
    )


def edited_middle() -> Attack:
    ledger = filled(20)
    ledger.events[7] = ledger.events[7]._replace(subject="SRC-EVIL")
    return Attack(
        "edited in the middle",
        BESIDE,
        "changes the subject of event 7 to SRC-EVIL",
        "skip validate_source for SRC-EVIL",
        may_skip(ledger, ACTION, "SRC-EVIL"),
    )


def deleted_middle() -> Attack:
    ledger = filled(20)
    del ledger.events[7]
    return Attack("deleted in the middle", BESIDE, "removes event 7", "the chain verifies", ledger.verify_chain())


def cut_tail() -> Attack:
    ledger = filled(20)
    del ledger.events[10:]
    return Attack("cut tail", BESIDE, "removes the ten newest events", "the chain verifies", ledger.verify_chain())


def rollback() -> Attack:
    ledger = filled(20)
    copy = list(ledger.events)
    # The step ran again, and a writer with a richer vocabulary would say here that the earlier pass is void.
    ledger.append("void_validate_source", subject_of(3))
    ledger.events = copy
    return Attack(
        "whole rollback",
        BESIDE,
        "puts back a copy from before the newest event, which voided SRC-000003",
        "skip validate_source for SRC-000003",
        may_skip(ledger, ACTION, subject_of(3)),
    )


def empty_ledger() -> Attack:
    ledger = filled(20)
    ledger.events.clear()
    # Nothing is grounded by it; that all evidence is gone is not noticed either.
    return Attack("empty ledger", BESIDE, "removes all events", "the chain verifies", ledger.verify_chain())


def boundary_shift() -> Attack:
    ledger = Ledger(KEY)
    event = ledger.append("validate", "X12")
    ledger.events[0] = event._replace(action="validateX", subject="12")
    return Attack(
        "field boundary shift",
        BESIDE,
        "rewrites the genuine (validate, X12) as (validateX, 12) under the same MAC",
        "skip validateX for 12",
        may_skip(ledger, "validateX", "12"),
    )


def other_ledger() -> Attack:
    theirs, ours = filled(20), Ledger(KEY)
    ours.events = list(theirs.events)
    return Attack(
        "replay into another ledger",
        BESIDE,
        "copies the events of one agent's ledger into another's, kept under the same key",
        "skip validate_source for SRC-000003 there",
        may_skip(ours, ACTION, subject_of(3)),
    )


def failed_step() -> Attack:
    ledger = Ledger(KEY)
    # The step ran and failed. The event has no field for that, and the paper appends "when a safety step genuinely runs".
    ledger.append(ACTION, "SRC-BAD")
    return Attack(
        "failed step counts",
        BESIDE,
        "lets validate_source run on SRC-BAD, where it fails",
        "skip validate_source for SRC-BAD",
        may_skip(ledger, ACTION, "SRC-BAD"),
    )


def other_content() -> Attack:
    store = {"SRC-000001": "what was validated"}
    ledger = Ledger(KEY)
    ledger.append(ACTION, "SRC-000001")
    store["SRC-000001"] = "something else"
    return Attack(
        "other content, same subject",
        BESIDE,
        "changes the content behind SRC-000001 after it was validated (the paper's limitation 2)",
        "skip validate_source for SRC-000001",
        may_skip(ledger, ACTION, "SRC-000001"),
    )


PLAYS: tuple[Callable[[], Attack], ...] = (
    forged_event,
    cross_subject,
    reframing,
    edited_middle,
    deleted_middle,
    cut_tail,
    rollback,
    empty_ledger,
    boundary_shift,
    other_ledger,
    failed_step,
    other_content,
)


def print_attacks(rows: list[Attack]) -> None:
    for row in rows:
        answer = "ACCEPTED" if row.accepted else "refused"
        print(f"{answer:<9} {row.name:<28} {row.does}; wanted: {row.wants}")
    print(f"\n{sum(row.accepted for row in rows)} of {len(rows)} accepted")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="The paper's ledger in plain Python.")
    commands = parser.add_subparsers(dest="command", required=True)
    timed = commands.add_parser("bench", help="times and sizes")
    timed.add_argument("--max", type=int, default=SIZES[-1], metavar="N", help="the largest ledger, in events")
    attacked = commands.add_parser("attacks", help="what the paper's rule accepts")
    for command in (timed, attacked):
        command.add_argument("--json", action="store_true", help="one JSON object")
    given = parser.parse_args(arguments)

    if given.command == "bench":
        if given.max < SIZES[0]:
            parser.error(f"--max: the smallest ledger has {SIZES[0]} events")
        result = bench(given.max)
        print(json.dumps(result)) if given.json else print_bench(result)
    else:
        rows = attacks()
        print(json.dumps({"attacks": [row._asdict() for row in rows]})) if given.json else print_attacks(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
