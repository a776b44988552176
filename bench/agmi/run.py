#!/usr/bin/env python3
"""Nine raw edits of agmi against Actum, and its search for two moves in a row.

    run.py [--no-search] [--json FILE]

Prints one table a row, what every command said, the control, and the search. Exit: 0 every edit refused or reported,
1 one was accepted, 2 one could not be evaluated, 3 one did not land or the control failed (the adapter is wrong).
`ACTUM` names the program, else `actum` of PATH is taken.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from itertools import product

try:
    from agmi.agent.compose import MoveInapplicable, _candidate_moves, _lands
    from agmi.attacks.at_rest import ForgeAttack
    from agmi.check import run as run_edits
except ImportError:
    print("needs agmi: pip install agent-memory-integrity==0.6.3", file=sys.stderr)
    sys.exit(2)

from adapter import Audit, Ledgers, Namespaces, WithKey


class Watched:
    """Mixed in: keeps what was said last, since the suite throws the store away after each edit."""

    def __init__(self):
        self.seen: list[dict] = []

    def teardown(self) -> None:
        ground = sorted({word for question, word in self.said.items() if question.startswith("ground ")})
        self.seen.append({"ground": "/".join(ground), "log": self.said.get("log"), "verify": self.said.get("verify"),
                          "leftover": self.leftover, "believed": self.believed})
        super().teardown()


def row(kind: type) -> tuple[str, list[dict]]:
    adapter = type(kind.__name__, (Watched, kind), {})()
    edits = run_edits(adapter)
    return kind.name, [edit | {"said": said} for edit, said in zip(edits, adapter.seen, strict=True)]


def show(name: str, edits: list[dict]) -> None:
    print(f"\n{name}\n{'':24} {'verdict':14} {'ground':20} {'log':9} {'verify':14} {'forged believed':16} why")
    for edit in edits:
        said = edit["said"]
        if edit["verdict"] in ("NOT EVALUABLE", "ERROR"):
            print(f"{edit['edit']:24} {edit['verdict']:14} {edit['detail']}")
            continue
        audit = f"{said['verify']}, named" if said["leftover"] else said["verify"]
        believed = ", ".join(said["believed"]) or "nothing"
        print(f"{edit['edit']:24} {edit['verdict']:14} {said['ground']:20} {said['log']:9} {audit:14} {believed:16} "
              f"{edit['detail']}")


def control() -> bool:
    """The same forgery, sealed with the key, is believed: so it was the MAC alone that stopped T5."""
    adapter = WithKey()
    adapter.setup()
    try:
        adapter.seed(5)
        ForgeAttack().tamper(adapter)
        adapter.verify()
        return len(adapter.believed) == 1 and adapter.leftover is None
    finally:
        adapter.teardown()


# agmi takes whatever a move raises for a refusal. A refusal of ours starts with the command that gave it.
FAILED = "tool refused the move:"


def try_moves(moves: tuple[str, ...]) -> tuple[tuple[str, ...], bool | None, str]:
    try:
        landed, detail = _lands(Namespaces, list(moves))
        if detail.startswith(FAILED) and not detail.startswith(f"{FAILED} actum "):
            return moves, None, detail
    except MoveInapplicable as error:
        return moves, None, str(error)
    except Exception as error:  # a fault of the adapter is shown, not counted as a refusal
        return moves, None, f"{type(error).__name__}: {error}"
    return moves, landed, detail


def search() -> dict:
    """Every sequence of one and two moves. agmi itself leaves out those with a move that lands alone; here they are run
    as well and kept apart."""
    moves = _candidate_moves()
    plans = [(move,) for move in moves] + [
        pair for pair in product(moves, repeat=2) if any(m.startswith("edit:") or m == "rollback" for m in pair)]
    with ProcessPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        tried = list(pool.map(try_moves, plans))
    alone = {moves[0] for moves, landed, _ in tried if len(moves) == 1 and landed}
    return {
        "tried": len(plans),
        "alone": sorted(alone),
        "found": [list(m) for m, landed, _ in tried if landed and len(m) == 2 and not alone & set(m)],
        "with one that lands alone": [list(m) for m, landed, _ in tried if landed and len(m) == 2 and alone & set(m)],
        "not run": [[list(m), why] for m, landed, why in tried if landed is None],
        "all": [[list(m), landed, why] for m, landed, why in tried],
    }


def main() -> int:
    arguments = argparse.ArgumentParser(description="Nine raw edits of agmi against Actum.")
    arguments.add_argument("--no-search", action="store_true", help="leave the search for two moves out")
    arguments.add_argument("--json", metavar="FILE", help="write everything there")
    options = arguments.parse_args()
    if not (os.environ.get("ACTUM") or shutil.which("actum")):
        print("no `actum`: set ACTUM or put it on PATH", file=sys.stderr)
        return 2
    print(f"agent-memory-integrity {version('agent-memory-integrity')}")

    rows = [row(kind) for kind in (Namespaces, Ledgers, Audit)]
    for name, edits in rows:
        show(name, edits)
    if all(edit["verdict"] == "NOT EVALUABLE" for _, edits in rows for edit in edits):
        return 2
    sound = control()
    print(f"\ncontrol: the forgery of T5 sealed with the key is {'believed, as it must be' if sound else 'NOT believed'}")
    found = None
    if not options.no_search:
        found = search()
        print(f"\nsequences of one and two moves: {found['tried']} tried\n  a move that lands alone: {found['alone'] or 'none'}"
              f"\n  two moves that land and neither alone: {found['found'] or 'none'}"
              f"\n  that land with one that lands alone: {found['with one that lands alone'] or 'none'}"
              f"\n  not run: {found['not run'] or 'none'}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"rows": dict(rows), "control": sound, "search": found}, file, indent=1)

    verdicts = [edit["verdict"] for _, edits in rows for edit in edits]
    if "ERROR" in verdicts or not sound:
        return 3
    if "NOT EVALUABLE" in verdicts or (found and found["not run"]):
        return 2
    return int("ACCEPTED" in verdicts or bool(found and found["found"]))


if __name__ == "__main__":
    sys.exit(main())
