#!/usr/bin/env python3
"""Writes the first cases of fuzz/corpus from vectors/ledger/v1: a handful a body. What a fuzzer finds is added by hand.

    python3 fuzz/seed.py

Standard library only.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parent / "vectors" / "ledger" / "v1"


def bodies(text: str) -> list[bytes]:
    found = [b""]
    for line in text.split("\n\n", 1)[1].splitlines():
        if line == "next segment":
            found.append(b"")
        elif line.startswith("|"):
            found[-1] += line[1:].removeprefix(" ").encode() + b"\n"
        else:
            for word in line.split("#")[0].split():
                byte, _, times = word.partition("*")
                found[-1] += bytes.fromhex(byte) * int(times or 1)
    return found


def events(segment: bytes) -> bytes:
    """The records of a segment without header, place and MAC: kind, length, fields."""
    rest, found = segment[64:], b""
    while rest:
        size = int.from_bytes(rest[:2], "big")
        found += rest[3:4] + rest[:2] + rest[24 : 24 + size]
        rest = rest[24 + size + 32 :]
    return found


def write(body: str, name: str, data: bytes) -> None:
    folder = HERE / "corpus" / body
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def vector(name: str) -> str:
    return (VECTORS / f"{name}.txt").read_text(encoding="utf-8")


def main() -> None:
    segments = "good-genesis good-names good-run-outcomes good-revoked good-rotated-twice good-resolved good-recovered".split()
    for name in [*segments, "bad-flip-newest", "bad-cut-inside-fields", "bad-named-twice-rule", "bad-rotated-skips"]:
        data = bodies(vector(f"segment-{name}"))[0]
        write("segment", name, data)
        if name.startswith("good") or "rule" in name or "skips" in name:
            write("events", name, events(data))
    for name in "good-second-wins good-rotated good-newer-torn good-path-longest bad-zeros bad-cut".split():
        write("anchor", name, bodies(vector(f"anchor-{name}"))[0])
    for name in "good-one good-rotated good-interrupted bad-crlf bad-active-plus bad-root-letters bad-cut".split():
        if (VECTORS / f"keyfile-{name}.txt").exists():
            write("keyfile", name, bodies(vector(f"keyfile-{name}"))[0])
    subjects = ["HEAD", "git:HEAD", "git:main", "text:X01 ", "file:./src//lib.rs", "file:./ x", "dir:a/../b", "text:e\u0301", "text:\u200b", "text:a\x1b[2J"]
    for at, text in enumerate([*subjects, "text:" + "a" * 1019, "text:" + "a" * 1020]):
        write("subject", f"{at:02}", text.encode())
    for at, text in enumerate(["tests", "local/default", "tests ", "", "te\u0441ts", "s" * 128, "s" * 129, "a\0b"]):
        write("name", f"{at:02}", text.encode())
    for name in "segment-good-run-passed segment-good-two-segments anchor-good-one-slot keyfile-bad-crlf".split():
        write("vector", name, vector(name).encode())


if __name__ == "__main__":
    main()
