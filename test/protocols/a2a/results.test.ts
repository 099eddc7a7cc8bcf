import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import type { Skill } from "../../../src/agent/index.js";
import { createFixedTokens } from "../../../src/auth/index.js";
import { isJsonObject, type Json, type JsonObject } from "../../../src/bytes/json.js";
import { openTaskStore, serveAgent } from "../../../src/protocols/a2a/index.js";
import { createStores } from "../../../src/stores/index.js";
import { ALICE, world } from "../../agent/support.js";
import { throughStores } from "../../support/databases.js";
import { FULL } from "../../support/size.js";
import { at, type BindingName, quietConsole, send } from "./callers.js";

// A skill's result is converted to JSON once, so every method, binding and store gives the same outcome.

const cycle: unknown[] = [];
cycle.push(cycle);
function nested(depth: number): unknown {
  let value: unknown = [];
  for (let deep = 1; deep < depth; deep++) value = [value];
  return value;
}

/** The return value of each skill, and the expected result as JSON; `undefined` if the value cannot be converted. */
const RETURNED: { readonly [id: string]: readonly [returned: () => unknown, result?: Json] } = {
  plain: [() => ({ a: [1, "x", null, true] }), { a: [1, "x", null, true] }],
  null: [() => null, null],
  nothing: [() => undefined, null],
  "a-method": [() => ({ rows: [1], save() {} }), { rows: [1] }],
  "a-promise-within": [() => ({ rows: Promise.resolve(1) }), { rows: {} }],
  "a-symbol-within": [() => ({ one: Symbol("one"), two: [Symbol("two")] }), { two: [null] }],
  "a-proxy": [() => new Proxy({ a: 1 }, {}), { a: 1 }],
  "its-own-json": [() => ({ toJSON: () => ({ a: 1 }), b: 2 }), { a: 1 }],
  "a-date": [() => [new Date(0)], ["1970-01-01T00:00:00.000Z"]],
  "a-map": [() => new Map([["a", 1]]), {}],
  numbers: [() => [Number.NaN, -0, 1e21, undefined], [null, 0, 1e21, null]],
  text: [() => "a\u0000\ud83d\u2028", "a\u0000\ud83d\u2028"],
  names: [
    () => JSON.parse('{"__proto__": {"a": 1}, "toJSON": 1}'),
    JSON.parse('{"__proto__": {"a": 1}, "toJSON": 1}'),
  ],
  "as-deep-as-may-be": [() => nested(256), nested(256) as Json],
  bigint: [() => ({ large: 1n })],
  cycle: [() => cycle],
  "a-function": [() => () => {}],
  "a-symbol": [() => Symbol("result")],
  "json-that-throws": [
    () => ({
      toJSON: () => {
        throw new Error("no");
      },
    }),
  ],
  "a-getter-that-throws": [
    () =>
      Object.defineProperty({}, "a", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
  ],
  "a-revoked-proxy": [
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return [proxy];
    },
  ],
  "too-deep": [() => nested(257)],
  "far-too-deep": [() => nested(100_000)],
};

const RAN = "it has run, but its result cannot be written as JSON; the agent's log says why";

const SKILLS: readonly Skill[] = Object.entries(RETURNED).map(([id, [returned]]) => ({
  id,
  name: id,
  description: id,
  operation: "return",
  reach: "none",
  input: { type: "object", additionalProperties: false },
  run: async () => returned() as Json,
}));

const TOKEN = "development-token";
const HEADERS = {
  Authorization: `Bearer ${TOKEN}`,
  "A2A-Version": "1.0",
  "Content-Type": "application/json",
};

async function served(place: string) {
  quietConsole();
  const { agent } = await world({
    skills: SKILLS,
    mode: "advertise",
    grants: [{ id: "values:return", description: "Return values", operations: ["return"] }],
    rules: { rules: [{ principal: "alice", grant: "values:return", operations: "*" }] },
  });
  const database = await createStores(place, { reserve: 0 });
  const tasks = await openTaskStore(database);
  const logged: string[] = [];
  const log = (fields: object): void => void logged.push(JSON.stringify(fields));
  const server = await serveAgent({
    agent,
    tasks,
    card: { name: "Values", description: "Returns values", version: "1" },
    authenticator: createFixedTokens([{ token: TOKEN, ...ALICE }], {
      development: true,
      announce: () => {},
    }),
    log: { info() {}, warn() {}, error: log },
    rate: { requests: 10_000, seconds: 1 },
    // For a text message, the runner returns the result of a skill call, or the skill's return value directly.
    runTask: async ({ text, invoke }) => {
      const [how = "", id = ""] = text.split(" ");
      if (how === "return") return RETURNED[id]?.[0]() as Json;
      const outcome = await invoke(id, {});
      return outcome.ok ? outcome.result : "refused";
    },
  });
  onTestFinished(async () => {
    await server.close();
    await tasks.close();
    await database.close();
  });
  return { server, logged };
}

type Server = Awaited<ReturnType<typeof served>>["server"];

async function rpc({ rpcUrl }: Server, method: string, params: JsonObject): Promise<Json> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await send(rpcUrl, { method: "POST", headers: HEADERS, body })).body;
}

/** Sends a message, and returns its task, from the answer or the stream. */
async function sent(server: Server, binding: BindingName, parts: Json, stream: boolean) {
  const message = { messageId: randomUUID(), role: "ROLE_USER", parts };
  const own = binding === "JSON-RPC";
  const method = stream ? "SendStreamingMessage" : "SendMessage";
  const url = own ? server.rpcUrl : `${server.restUrl}/message:${stream ? "stream" : "send"}`;
  const params = { message };
  const { text } = await send(url, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify(own ? { jsonrpc: "2.0", id: 1, method, params } : params),
  });
  const events = text
    .split("\n")
    .map((line) => line.replace(/^data: /, ""))
    .filter((line) => line.startsWith("{"))
    .map((line): Json => JSON.parse(line))
    .map((event) => (own ? at(event, "result") : event));
  const task = at(events[0] ?? null, "task");
  const artifact = events.map((event) => at(event, "artifactUpdate", "artifact"));
  const status = events.map((event) => at(event, "statusUpdate", "status"));
  return {
    id: at(task, "id"),
    status: status.findLast(isJsonObject) ?? at(task, "status"),
    artifacts: stream ? artifact.filter(isJsonObject) : at(task, "artifacts"),
  };
}

interface Outcome {
  readonly state: Json;
  readonly result?: Json | undefined;
  readonly text?: Json;
}

function outcomeOf(task: Json): Outcome {
  const state = at(task, "status", "state");
  if (state !== "TASK_STATE_COMPLETED") {
    return { state, text: at(task, "status", "message", "parts", 0, "text") };
  }
  const [part] = [at(task, "artifacts", 0, "parts", 0)].filter(isJsonObject);
  return { state, result: part?.["data"] };
}

/** The ways to send a message: the binding, and whether the answer is a stream. */
const WAYS: readonly (readonly [binding: BindingName, stream: boolean])[] = [
  ["JSON-RPC", false],
  ["HTTP+JSON", true],
  ...(FULL
    ? ([
        ["JSON-RPC", true],
        ["HTTP+JSON", false],
      ] as const)
    : []),
];

throughStores((place) => {
  test("a skill's return value gives the same result or error over every method and binding", {
    timeout: 120_000,
  }, async () => {
    const { server, logged } = await served(await place());
    for (const [id, [, result]] of Object.entries(RETURNED)) {
      const fails = RETURNED[id]?.length === 1;
      const wanted: Outcome = fails
        ? { state: "TASK_STATE_FAILED", text: RAN }
        : { state: "TASK_STATE_COMPLETED", result: result as Json };
      const call = [{ data: { skill: id, arguments: {} } }];
      for (const parts of [call, [{ text: `invoke ${id}` }], [{ text: `return ${id}` }]]) {
        // After parsing, both bindings handle a text message in the same way, so one binding suffices.
        for (const [binding, stream] of parts === call ? WAYS : WAYS.slice(0, 1)) {
          const about = JSON.stringify([parts, binding, stream]);
          const task = await sent(server, binding, parts, stream);
          expect(outcomeOf(task), about).toEqual(wanted);
          const kept = await rpc(server, "GetTask", { id: task.id });
          expect(outcomeOf(at(kept, "result")), `${about} kept`).toEqual(wanted);
        }
      }
      for (const messageId of [undefined, randomUUID()]) {
        const params = { skill: id, arguments: {}, ...(messageId && { messageId }) };
        for (const about of ["at once", "again"]) {
          const answer = await rpc(server, "a2a/skill/invoke", params);
          if (fails) {
            expect(at(answer, "error"), `${id} ${about}`).toMatchObject({
              code: -32603,
              message: RAN,
              data: [{ reason: "result_not_json" }],
            });
          } else expect(at(answer, "result"), `${id} ${about}`).toMatchObject({ result });
        }
      }
    }
    expect(logged.some((line) => line.includes("SkillResultError"))).toBe(true);
  });
});
