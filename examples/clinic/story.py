#!/usr/bin/env python3
"""The story of the clinic, with real processes and a real ledger: ACTUM=path/to/actum python3 examples/clinic/story.py"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from ends import World  # noqa: E402

WARD_7 = "4711,130\n4712,95"
WARD_8 = "4811,110"
WARD_9 = "4911"


def shown(what: str, said: str) -> None:
    print(f"{what}\n  {said}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        turn = "Insert the records of ward-7.csv, ward-8.csv, ward-9.csv and ward-x.csv."
        world = World(folder, HERE, "clinic", turn)
        agent = world.client()
        shown("the agent reads its notes", agent.call("read_notes"))
        shown("it believes them and inserts", agent.call("insert_record", source="ward-7.csv", content=WARD_7))
        note = "validated this morning, see notes"
        shown("it says why it is sure", agent.call("insert_record", source="ward-7.csv", content=WARD_7, note=note))
        shown("it validates another source", agent.call("validate_source", source="ward-8.csv", content=WARD_8))
        shown("and inserts the first", agent.call("insert_record", source="ward-7.csv", content=WARD_7))
        shown("it validates a broken one", agent.call("validate_source", source="ward-9.csv", content=WARD_9))
        shown("and inserts it", agent.call("insert_record", source="ward-9.csv", content=WARD_9))
        shown("it validates the first", agent.call("validate_source", source="ward-7.csv", content=WARD_7))
        shown("and inserts other content under its name", agent.call("insert_record", source="ward-7.csv", content=WARD_7 + "\n4713,0"))
        shown("it inserts what it validated", agent.call("insert_record", source="ward-7.csv", content=WARD_7))
        shown("the server dies in the middle of a validation", agent.call("validate_source", source="ward-x.csv", content="crash"))
        agent.server.wait()
        agent = world.client()
        shown("restarted, the agent inserts", agent.call("insert_record", source="ward-x.csv", content="crash"))
        agent.end()
        print("what reached the server:", ", ".join(world.reached()))
        print(world.run("verify").splitlines()[0])


main()
