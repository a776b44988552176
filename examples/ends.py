"""The two ends that the stories need: a server on standard input and output, and a client that starts one. Standard library only."""

import json
import os
import subprocess
import sys


def serve(name: str, tools: dict) -> None:
    """Answers until its input ends. `tools` has for each name its schema, its hints and a function of its arguments."""
    log = os.environ.get("SERVER_LOG")
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if "id" not in message:
            continue
        result = {}
        if method == "initialize":
            info = {"name": name, "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        elif method == "tools/list":
            listed = ((tool, *about) for tool, about in tools.items())
            result = {"tools": [{"name": tool, "inputSchema": schema, "annotations": hints} for tool, schema, hints, _ in listed]}
        elif method == "tools/call":
            tool, arguments = params["name"], params.get("arguments", {})
            if log:
                with open(log, "a", encoding="utf-8") as file:
                    file.write(f"{tool} {json.dumps(arguments, sort_keys=True)}\n")
            passed, text = tools[tool][2](**arguments)
            result = {"content": [{"type": "text", "text": text}], "isError": not passed}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


def schema(*names: str) -> dict:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


class Client:
    """A client that speaks as an agent's host does."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        quiet = None if os.environ.get("LOUD") else subprocess.DEVNULL
        self.server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, env=env, text=True)
        self.count = 0
        info = {"name": "story", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        self.tell("notifications/initialized")

    def tell(self, method: str) -> None:
        self._write({"jsonrpc": "2.0", "method": method})

    def ask(self, method: str, params: dict) -> dict | None:
        """The answer; nothing if the server is gone."""
        self.count += 1
        self._write({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        for line in self.server.stdout:
            message = json.loads(line)
            if message.get("id") == self.count:
                return message
        return None

    def call(self, tool: str, **arguments: object) -> str:
        """What the model would read."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if answer is None:
            return "the connection was lost"
        result = answer.get("result")
        if result is None:
            return answer["error"]["message"]
        return result["content"][0]["text"]

    def end(self) -> None:
        self.server.stdin.close()
        self.server.stdout.read()
        self.server.wait()

    def _write(self, message: dict) -> None:
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()


class World:
    """A new project with a ledger, a policy, an adapter and a session in which the user said something."""

    def __init__(self, folder: str, here: str, name: str, turn: str) -> None:
        self.folder, self.here, self.name = folder, here, name
        self.actum = os.environ.get("ACTUM", "actum")
        self.log = os.path.join(folder, "server.log")
        key = os.path.join(folder, "key")
        self.env = os.environ | {"ACTUM_CREDENTIAL_FILE": key, "SERVER_LOG": self.log, "HOME": folder}
        for variable in ("XDG_DATA_HOME", "XDG_STATE_HOME", "ACTUM_STORE"):
            self.env.pop(variable, None)
        with open(os.path.join(here, "actum.toml"), encoding="utf-8") as policy:
            text = policy.read()
        with open(os.path.join(folder, "actum.toml"), "w", encoding="utf-8") as file:
            file.write(text)
        self.run("init", "--yes")
        self.run("adapter", "add", "guard", "--channels", f"user,mcp:{name}", "--to", key, "--yes")
        self.session = self.run("session", "open", "--as", "guard").strip()
        self.says(turn)

    def says(self, turn: str) -> None:
        print(f"user: {turn}")
        self.run("observe", "--as", "guard", "--session", self.session, turn)

    def run(self, *words: str) -> str:
        done = subprocess.run([self.actum, *words], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"actum {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def client(self) -> Client:
        store = os.path.join(self.folder, ".actum")
        server = [sys.executable, os.path.join(self.here, "server.py")]
        guard = [self.actum, "--store", store, "guard", "--name", self.name, "--as", "guard", "--session", self.session]
        return Client([*guard, "--", *server], self.env)

    def reached(self) -> list[str]:
        """The calls that reached the server."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as file:
            return [line.split(" ", 1)[0] for line in file]
