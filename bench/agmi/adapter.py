"""Actum as a store under test of agmi (PyPI `agent-memory-integrity`): nine edits of its files behind its back.

A record is a recorded run of the step `note` on a `text:` subject: the pair of a `Began` and its `Ended`. Runs are made by
the command line alone; edits are made on the bytes of the segment file, parsed as `docs/formats/ledger.md` says. The key
is never read by an edit. What is measured is the word of the program, never a comparison of contents:

* `Namespaces`: the read path (`actum ground` and `actum log`); the two owners are two namespaces of one ledger, under one
  key, and an edit repairs what needs no key: index, incarnation, number of the run, digest of the subject;
* `Ledgers`: the same read path; the two owners are two ledgers with a key each, and bytes are moved as they are;
* `Audit`: `Namespaces`, but asked is `actum verify`, which is an audit and no read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from agmi.adapters.base import MemoryAdapter, Record

STEP = "note"
FIRST, SECOND = "agmi/first", "agmi/second"
POLICY = """version = 1
namespace = "{namespace}"

[steps.note]
commands = [["echo", "{{subject}}"]]
subject = "text"
passes = {{ output = ['^(first|second) note [0-9]+$'] }}
"""

HEADER, FIXED, MAC = 64, 24, 32
GENESIS, NAMED, BEGAN, ENDED = 1, 2, 4, 5
ANSWERS = {0: "yes", 10: "ungrounded", 11: "contradicted", 12: "refused"}
DAY_MS = 86_400_000


def digest(domain: bytes, *parts: bytes) -> bytes:
    """`digest` of docs/formats/ledger.md."""
    lengths = [len(domain).to_bytes(8, "big"), domain, len(parts).to_bytes(8, "big")]
    for part in parts:
        lengths += [len(part).to_bytes(8, "big"), part]
    return hashlib.sha256(b"".join(lengths)).digest()


def text_digest(text: bytes) -> bytes:
    """The digest of a text subject, docs/formats/subject.md."""
    line = (0).to_bytes(2, "big") + bytes([8]) + hashlib.sha256(text).digest()
    manifest = b"ACTUMSJ1" + bytes([4]) + (1).to_bytes(4, "big") + line
    return digest(b"actum/subject/v1", b"text", manifest)


class Event:
    """One event as it lies in the segment."""

    def __init__(self, raw: bytes):
        self.raw = bytearray(raw)

    kind = property(lambda self: self.raw[3])
    fields = property(lambda self: bytes(self.raw[FIXED:-MAC]))

    @property
    def index(self) -> int:
        return int.from_bytes(self.raw[4:12], "big")

    @index.setter
    def index(self, index: int) -> None:
        self.raw[4:12] = index.to_bytes(8, "big")

    @property
    def incarnation(self) -> int:
        return int.from_bytes(self.raw[12:16], "big")

    @incarnation.setter
    def incarnation(self, number: int) -> None:
        self.raw[12:16] = number.to_bytes(4, "big")

    @property
    def time(self) -> int:
        return int.from_bytes(self.raw[16:24], "big")

    @time.setter
    def time(self, time: int) -> None:
        self.raw[16:24] = time.to_bytes(8, "big")

    # Of a `Began`.
    @property
    def namespace(self) -> int:
        return int.from_bytes(self.fields[0:4], "big")

    @namespace.setter
    def namespace(self, number: int) -> None:
        self.raw[FIXED:FIXED + 4] = number.to_bytes(4, "big")

    @property
    def session(self) -> int:
        return int.from_bytes(self.fields[16:20], "big")

    @session.setter
    def session(self, number: int) -> None:
        self.raw[FIXED + 16:FIXED + 20] = number.to_bytes(4, "big")

    @property
    def subject(self) -> str:
        length = int.from_bytes(self.fields[20:22], "big")
        return self.fields[22:22 + length].decode()

    def set_subject(self, subject: str, content: bytes | None = None) -> None:
        """Another subject; with `content`, its digest as well."""
        text, rest = subject.encode(), self.fields[22 + len(self.subject.encode()):]
        if content is not None:
            rest = content + rest[32:]
        fields = self.fields[:20] + len(text).to_bytes(2, "big") + text + rest
        self.raw = bytearray(len(fields).to_bytes(2, "big") + self.raw[2:FIXED] + fields + self.raw[-MAC:])

    # Of an `Ended`.
    @property
    def run(self) -> int:
        return int.from_bytes(self.fields[0:8], "big")

    @run.setter
    def run(self, index: int) -> None:
        self.raw[FIXED:FIXED + 8] = index.to_bytes(8, "big")

    def set_content(self, content: bytes) -> None:
        self.raw[-MAC - 32:-MAC] = content


class Project:
    """A project with a ledger, its key and anchor in folders of their own, and the program over it."""

    def __init__(self, base: Path):
        self.root, self.store = base / "project", base / "project" / ".actum"
        self.data, self.state = base / "data", base / "state"
        for folder in (self.root, self.data, self.state):
            folder.mkdir(parents=True)
        self.runs: list[tuple[str, str]] = []  # namespace and text of each run made by the program
        self.namespace = FIRST
        self.write_policy(FIRST)
        self.must("init", "--yes")

    def actum(self, *words: str) -> subprocess.CompletedProcess:
        program = os.environ.get("ACTUM") or shutil.which("actum")
        if not program:
            raise RuntimeError("no `actum`: set ACTUM or put it on PATH")
        env = {k: v for k, v in os.environ.items() if not k.startswith("ACTUM")}
        env |= {"XDG_DATA_HOME": str(self.data), "XDG_STATE_HOME": str(self.state)}
        program = str(Path(program).resolve())  # it runs in another folder than ours
        return subprocess.run([program, *words], cwd=self.root, env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)

    def must(self, *words: str) -> str:
        done = self.actum(*words)
        if done.returncode != 0:
            raise RuntimeError(f"actum {words[0]}: exit {done.returncode}: {done.stderr.strip()[:160]}")
        return done.stdout

    def write_policy(self, namespace: str) -> None:
        (self.root / "actum.toml").write_text(POLICY.format(namespace=namespace))

    def use(self, namespace: str) -> None:
        if namespace != self.namespace:
            self.write_policy(namespace)
            self.must("policy", "accept", "--yes")
            self.namespace = namespace

    def perform(self, namespace: str, text: str) -> None:
        """A genuine run, through the program; it must ground at once, else nothing is measured."""
        self.use(namespace)
        self.must("run", "--quiet", "--must-pass", "--step", STEP, "--subject", f"text:{text}", "--", "echo", text)
        self.must("ground", STEP, f"text:{text}")
        self.runs.append((namespace, text))

    def more(self, namespace: str, word: str, n: int) -> None:
        first = sum(1 for space, _ in self.runs if space == namespace)
        for i in range(first, first + n):
            self.perform(namespace, f"{word} note {i}")

    # The bytes, past the program.
    def segment(self) -> Path:
        [segment] = (self.store / "ledger").glob("*.seg")
        return segment

    def load(self) -> tuple[bytes, list[Event]]:
        whole, events = self.segment().read_bytes(), []
        at = HEADER
        while at < len(whole):
            end = at + FIXED + int.from_bytes(whole[at:at + 2], "big") + MAC
            if end > len(whole):
                raise RuntimeError(f"half an event at byte {at} of the segment")
            events.append(Event(whole[at:end]))
            at = end
        return whole[:HEADER], events

    def save(self, header: bytes, events: list[Event]) -> None:
        self.segment().write_bytes(header + b"".join(bytes(e.raw) for e in events))


class ActumAdapter(MemoryAdapter):
    """What both ways of having two owners share."""

    supports_replay = supports_metadata = supports_snapshot = True
    detection_point = "read"
    name = "actum"

    def setup(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="actum-agmi-")
        self.snapshots: list[str] = []
        self.said: dict[str, str] = {}
        self.believed: list[str] = []
        self.leftover: str | None = None
        self.first = Project(Path(self.folder.name) / "first")

    def teardown(self) -> None:
        self.folder.cleanup()
        for copy in self.snapshots:
            shutil.rmtree(Path(copy).parent, ignore_errors=True)

    def reload(self) -> None:
        """Every call of the program is a process of its own: it opens the store afresh."""

    # Through the program.
    def seed(self, n: int) -> None:
        self.first.more(FIRST, "first", n)

    def append_genuine(self) -> None:
        self.first.more(FIRST, "first", 1)

    # Which events are a record: a `Began` of the owner's and the `Ended` behind it.
    def pairs(self, events: list[Event], owner: str) -> list[tuple[int, int]]:
        """Places of the pairs, in the order of the file. By place and not by index, since an edit may spoil an index."""
        found = []
        for at, event in enumerate(events):
            if event.kind == BEGAN and self.owns(events, event, owner):
                if at + 1 == len(events) or events[at + 1].kind != ENDED:
                    raise RuntimeError(f"the event behind place {at} is no `Ended`")
                found.append((at, at + 1))
        return found

    def owns(self, events: list[Event], event: Event, owner: str) -> bool:
        raise NotImplementedError

    def project(self, owner: str) -> Project:
        raise NotImplementedError

    def records(self, owner: str) -> list[Record]:
        _, events = self.project(owner).load()
        return [Record(seq, {"owner": owner, "began": bytes(events[b].raw).hex(), "ended": bytes(events[e].raw).hex()})
                for seq, (b, e) in enumerate(self.pairs(events, owner))]

    def read_all_raw(self) -> list[Record]:
        return self.records(FIRST)

    def read_other_raw(self) -> list[Record]:
        return self.records(SECOND)

    @staticmethod
    def events_of(record: Record) -> tuple[Event, Event]:
        return Event(bytes.fromhex(record.fields["began"])), Event(bytes.fromhex(record.fields["ended"]))

    def fit(self, began: Event, ended: Event, old: tuple[Event, Event]) -> None:
        """What an attacker repairs without the key, before the pair is put where `old` was."""

    def write_raw(self, record: Record) -> None:
        header, events = self.first.load()
        places, (began, ended) = self.pairs(events, FIRST), self.events_of(record)
        if record.seq < len(places):
            b, e = places[record.seq]
            self.fit(began, ended, (events[b], events[e]))
            events[b], events[e] = began, ended
        else:
            events += [began, ended]
        self.first.save(header, events)

    def delete_raw(self, seq: int) -> None:
        header, events = self.first.load()
        b, e = self.pairs(events, FIRST)[seq]
        del events[b:e + 1]
        self.first.save(header, events)

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        self.write_raw(Record(victim_seq, dict(donor.fields)))

    @staticmethod
    def resubject(record: Record, text: str) -> None:
        """Another text, with the digest it has: were it believed, it would ground."""
        began, ended = ActumAdapter.events_of(record)
        content = text_digest(text.encode())
        began.set_subject(f"text:{text}", content)
        ended.set_content(content)
        record.fields |= {"began": bytes(began.raw).hex(), "ended": bytes(ended.raw).hex()}

    def mutate_payload(self, record: Record) -> Record:
        self.resubject(record, f"first note {900 + record.seq}")
        return record

    def forge_record(self, template: Record) -> Record:
        """A run that never was, behind the last one: all of it as a sound writer would, but for the key, which is zeros."""
        forged = Record(template.seq + 1, dict(template.fields))
        self.resubject(forged, f"first note {800 + forged.seq}")
        began, ended = self.events_of(forged)
        _, events = self.first.load()
        last = events[-1]
        began.index, ended.index, ended.run = last.index + 1, last.index + 2, last.index + 1
        began.incarnation, ended.incarnation = last.incarnation + 1, last.incarnation + 2
        began.time = ended.time = last.time + 1
        self.seal(began, ended, bytes(events[-1].raw[-MAC:]), bytes(32))
        forged.fields |= {"began": bytes(began.raw).hex(), "ended": bytes(ended.raw).hex()}
        return forged

    @staticmethod
    def seal(began: Event, ended: Event, before: bytes, key: bytes) -> None:
        for event in (began, ended):
            event.raw[-MAC:] = hmac.digest(key, before + bytes(event.raw[:-MAC]), "sha256")
            before = bytes(event.raw[-MAC:])

    # Labels: when it was and in which session. Neither is what the run says.
    def read_meta(self, seq: int) -> dict:
        began, ended = self.events_of(self.read_all_raw()[seq])
        return {"began": began.time, "ended": ended.time, "session": began.session}

    def change_label(self, began: Event, ended: Event) -> None:
        """The attacker's label for the flag that the suite sets."""
        raise NotImplementedError

    def write_meta(self, seq: int, meta: dict) -> None:
        header, events = self.first.load()
        b, e = self.pairs(events, FIRST)[seq]
        began, ended = events[b], events[e]
        if meta.get("agmi_meta_tampered"):
            self.change_label(began, ended)
        else:
            began.time, ended.time, began.session = meta["began"], meta["ended"], meta["session"]
        self.first.save(header, events)

    # T9: `.actum` and nothing else. Key and anchor lie in the user's folders, as they do in a real project.
    def snapshot_store(self) -> object:
        self.snapshots.append(self._copy_store(self.first.store))
        return self.snapshots[-1]

    def restore_store(self, token: object) -> None:
        self._restore_store(token, self.first.store)

    # What the landed-guard compares.
    def identity_of(self, record: Record) -> str:
        return f"{record.fields['owner']}:{record.seq}"

    def payload_of(self, record: Record) -> str:
        """What the run says: subject, its digest, the digest of the arguments, and how it ended."""
        began, ended = self.events_of(record)
        return json.dumps([began.fields[20:].hex(), ended.fields[8:].hex()])

    def owner_of(self, record: Record) -> str:
        return record.fields["owner"]

    # The word of the program.
    def ask(self) -> None:
        """Every command a reader has, and its answer, into `said`. Asked is about each text that was ever recorded by the
        program for the first owner, and about each text that the bytes name now."""
        texts = {f"text:{text}" for space, text in self.first.runs if space == FIRST}
        genuine = set(texts)
        try:
            texts |= {self.events_of(record)[0].subject for record in self.read_all_raw()}
        except (RuntimeError, UnicodeDecodeError):
            pass  # not parsed by us; the program still answers
        self.said, self.believed = {}, []
        for text in sorted(texts):
            done = self.first.actum("ground", STEP, text, "--json")
            self.said[f"ground {text}"] = self.word(done)
            if done.returncode == 0 and text not in genuine:
                self.believed.append(text)
        self.said["log"] = self.word(self.first.actum("log", "--json"))
        done = self.first.actum("verify", "--json")
        self.said["verify"] = self.word(done)
        self.leftover = json.loads(done.stdout).get("leftover") if done.returncode == 0 else None
        self.reason = json.loads(self.first.actum("ground", STEP, sorted(texts)[0], "--json").stdout)

    @staticmethod
    def word(done: subprocess.CompletedProcess) -> str:
        """Only the answers of the documented exit codes are answers; anything else is no refusal but a fault."""
        if done.returncode not in ANSWERS:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[:160]}")
        return ANSWERS[done.returncode]

    def verify(self) -> bool:
        """Refused is an edit only if each question of the read path is refused (exit 12): `ground` for every text, and
        `log`. An answer to a single one of them is an answer. `ungrounded` is no refusal either, since it is also the
        answer about what never was."""
        self.ask()
        self.verify_detail = f"{self.reason['reason']}: {self.reason['message']}"
        return any(word != "refused" for question, word in self.said.items() if question != "verify")


class Namespaces(ActumAdapter):
    """Two namespaces of one ledger: one key, one chain, and the donor's bytes are of the same file."""

    name = "actum, read path, owners = namespaces"

    def project(self, owner: str) -> Project:
        return self.first

    def seed_other(self, n: int) -> None:
        self.first.more(SECOND, "second", n)
        self.first.use(FIRST)

    def number(self, events: list[Event], owner: str) -> int | None:
        for event in events:
            fields = event.fields
            if event.kind == NAMED and fields[0] == 1 and fields[7:] == owner.encode():
                return int.from_bytes(fields[1:5], "big")
        return None

    def owns(self, events: list[Event], event: Event, owner: str) -> bool:
        return event.namespace == self.number(events, owner)

    def fit(self, began: Event, ended: Event, old: tuple[Event, Event]) -> None:
        for event, was in ((began, old[0]), (ended, old[1])):
            event.index, event.incarnation = was.index, was.incarnation
        ended.run, began.namespace = old[1].run, old[0].namespace

    def change_label(self, began: Event, ended: Event) -> None:
        began.time, ended.time = began.time + DAY_MS, ended.time + DAY_MS  # fresher than it is


class Ledgers(ActumAdapter):
    """Two ledgers, a key each. Bytes are moved as they are, with index, number of the run and MAC."""

    name = "actum, read path, owners = ledgers"

    def setup(self) -> None:
        super().setup()
        self.second = Project(Path(self.folder.name) / "second")

    def project(self, owner: str) -> Project:
        return self.first if owner == FIRST else self.second

    def seed_other(self, n: int) -> None:
        self.second.more(SECOND, "second", n)

    def owns(self, events: list[Event], event: Event, owner: str) -> bool:
        return True

    def change_label(self, began: Event, ended: Event) -> None:
        began.session += 1  # another session's


class Audit(Namespaces):
    """The same edits, with `actum verify` asked: a call that somebody has to make, thus an audit."""

    name = "actum verify, an audit, owners = namespaces"
    detection_point = "audit"

    def verify(self) -> bool:
        """Reported is what `verify` refuses, or what it names as bytes that do not verify, with exit 0."""
        self.ask()
        self.verify_detail = (f"exit 0, intact, and says: {self.leftover}" if self.leftover
                              else f"{self.reason['reason']}: {self.reason['message']}")
        return self.said["verify"] != "refused" and self.leftover is None


class WithKey(Namespaces):
    """A control, no attacker: the forger has the key. What it forges must ground, else T5 shows nothing about MACs."""

    name = "control: forged with the key"

    @staticmethod
    def hkdf(root: bytes, info: bytes) -> bytes:
        return hmac.digest(hmac.digest(bytes(32), root, "sha256"), info + b"\x01", "sha256")

    def forge_record(self, template: Record) -> Record:
        forged = super().forge_record(template)
        _, events = self.first.load()
        began, ended = self.events_of(forged)
        [key_file] = [f for f in (self.first.data / "actum" / "keys").iterdir() if not f.suffix]
        [root] = [line.split()[1] for line in key_file.read_text().splitlines() if line.startswith("root ")]
        key = self.hkdf(bytes.fromhex(root), b"actum/event/v1" + events[0].fields)
        self.seal(began, ended, bytes(events[-1].raw[-MAC:]), key)
        forged.fields |= {"began": bytes(began.raw).hex(), "ended": bytes(ended.raw).hex()}
        return forged
