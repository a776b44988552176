// The official TypeScript client, with a guard between it and a server and without one. Called by `cargo xtask peers`.
//     client.mjs GUARD... -- SERVER...        questions come on standard input as JSON
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.env.PEERS_MODULES + "/"));
const { Client } = await import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/client/index.js")));
const { StdioClientTransport } = await import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/client/stdio.js")));

const words = process.argv.slice(2);
const at = words.indexOf("--");
const [guard, server] = [words.slice(0, at), words.slice(at + 1)];
const calls = JSON.parse(readFileSync(0, "utf8"));

async function play(command, all) {
  const transport = new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env });
  const client = new Client({ name: "typescript", version: "1" }, { capabilities: {} });
  await client.connect(transport);
  const tools = (await client.listTools()).tools;
  const answers = [];
  for (const [name, args] of all) {
    const result = await client.callTool({ name, arguments: args });
    answers.push({ error: result.isError === true, text: result.content.filter((it) => it.type === "text").map((it) => it.text).join("\n") });
  }
  await client.close();
  return { tools, answers };
}

const bare = await play(server, calls.read);
const guarded = await play([...guard, "--", ...server], [...calls.read, ...calls.effect]);
assert.deepEqual(guarded.tools, bare.tools);
const reads = guarded.answers.slice(0, calls.read.length);
if (!calls.varies) assert.deepEqual(reads, bare.answers);
assert(reads.every((it) => !it.error));
console.log(JSON.stringify({ version: "typescript", tools: bare.tools.length, effects: guarded.answers.slice(calls.read.length) }));
