"""The official Python client, with a guard between it and a server and without one. Called by `cargo xtask peers`.

    client.py MODE GUARD... -- SERVER...        MODE is legacy or auto; questions come on standard input as JSON lines
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult, Implementation


async def accept(_context, _params):
    return ElicitResult(action="accept", content={"decision": "once"})


def plain(result):
    text = [block.text for block in result.content if block.type == "text"]
    return {"error": bool(result.is_error), "text": "\n".join(text)}


async def play(mode, command, calls):
    server = StdioServerParameters(command=command[0], args=command[1:])
    info = Implementation(name="desk", version="1")
    async with Client(server, mode=mode, client_info=info, elicitation_callback=accept) as client:
        tools = await client.list_tools()
        answers = [plain(await client.call_tool(name, arguments)) for name, arguments in calls]
        return {"tools": [tool.model_dump(mode="json") for tool in tools.tools], "answers": answers, "version": client.protocol_version}


def main():
    mode, rest = sys.argv[1], sys.argv[2:]
    guard, server = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    calls = json.loads(sys.stdin.read())
    bare = asyncio.run(play(mode, server, calls["read"]))
    guarded = asyncio.run(play(mode, [*guard, "--", *server], calls["read"] + calls["effect"]))
    assert guarded["tools"] == bare["tools"], "the lists of tools differ"
    assert guarded["version"] == bare["version"], (guarded["version"], bare["version"])
    reads = guarded["answers"][: len(calls["read"])]
    assert reads == bare["answers"] or calls.get("varies"), (reads, bare["answers"])
    assert not any(answer["error"] for answer in reads), reads
    print(json.dumps({"version": bare["version"], "tools": len(bare["tools"]), "effects": guarded["answers"][len(reads) :]}))


main()
