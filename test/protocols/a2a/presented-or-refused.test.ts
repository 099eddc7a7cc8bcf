import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { attenuate } from "../../../src/index.js";
import { createIssuer, createKeyring, createRevocationList } from "../../../src/issuer/index.js";
import { EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  type Answer,
  at,
  authorized,
  clientOf,
  quietConsole,
  request,
  rpc,
  send,
  textAt,
} from "./callers.js";

// Even where an agent accepts ambient authority, it refuses everything that looks like an invalid capability.

let agent: TestAgent;
let narrowed = "";

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({ mode: "prefer" });
  const { token } = await request(await clientOf(agent, "JSON-RPC", "alice"), {
    grants: ["work:do"],
  });
  const hop = attenuate(token, { constraints: { milliseconds: { max: 1 } } });
  narrowed = hop.ok ? hop.token : "";
});
afterAll(() => agent.remove());

const WAIT = { skill: "wait", arguments: { milliseconds: 5 } };

const call = (method: string, params: object, headers = {}): Promise<Answer> =>
  rpc(agent, "alice", method, params, headers);

function message(parts: Json): object {
  return { messageId: crypto.randomUUID(), role: "ROLE_USER", parts };
}

const reasonIn = ({ body }: Answer): string => textAt(body, "error", "data", 0, "reason");
const data = [{ data: WAIT }];

describe("in a mode that accepts ambient authority", () => {
  test("a call without a capability runs with ambient authority", async () => {
    const { body } = await call("a2a/skill/invoke", WAIT);
    expect(textAt(body, "result", "metadata", EXTENSION_URI, "authority")).toBe("ambient");
  });

  const garbage = { "Proviso-Capability": "garbage" };
  const inside = (entry: Json): object => ({ metadata: { [EXTENSION_URI]: entry } });
  test.each<[string, string, object, { readonly [name: string]: string }, string]>([
    ["a header", "a2a/skill/invoke", WAIT, garbage, "token_malformed"],
    ["a header", "a2a/task/send", { message: message(data) }, garbage, "token_malformed"],
    [
      "an empty header",
      "a2a/skill/invoke",
      WAIT,
      { "Proviso-Capability": " , " },
      "invalid_request",
    ],
    [
      "metadata",
      "a2a/skill/invoke",
      { ...WAIT, ...inside({ capabilities: [{ token: "garbage" }] }) },
      {},
      "token_malformed",
    ],
    [
      "metadata that is an array",
      "a2a/skill/invoke",
      { ...WAIT, metadata: [1] },
      {},
      "invalid_request",
    ],
    [
      "metadata that is a string",
      "SendMessage",
      { message: message(data), metadata: "garbage" },
      {},
      "INVALID_PARAMS",
    ],
    [
      "metadata of another shape",
      "SendMessage",
      { message: message(data), ...inside({ token: "garbage" }) },
      {},
      "invalid_request",
    ],
    [
      "metadata with an empty list",
      "SendMessage",
      { message: message(data), ...inside({ capabilities: [] }) },
      {},
      "invalid_request",
    ],
    [
      "a misspelt property",
      "a2a/skill/invoke",
      { ...WAIT, capability: "x" },
      {},
      "invalid_request",
    ],
    [
      "a property name in another letter case",
      "a2a/skill/invoke",
      { ...WAIT, capabilityID: "x" },
      {},
      "invalid_request",
    ],
    [
      "a token",
      "a2a/task/send",
      { message: message(data), token: "garbage" },
      {},
      "token_malformed",
    ],
    [
      "both a token and a list",
      "a2a/skill/invoke",
      { ...WAIT, token: "x", capabilities: ["y"] },
      {},
      "invalid_request",
    ],
    [
      "a part's metadata",
      "SendMessage",
      { message: message([{ data: WAIT, metadata: { [EXTENSION_URI]: { capabilities: [] } } }]) },
      {},
      "invalid_request",
    ],
  ])(
    "an invalid capability is refused, never ignored: %s (%s)",
    async (_, method, params, headers, reason) => {
      const before = agent.ran.length;
      expect(reasonIn(await call(method, params, headers))).toBe(reason);
      expect(agent.ran.length).toBe(before);
    },
  );

  test("a2a/skill/invoke is limited by a token in the header", async () => {
    const answer = await call("a2a/skill/invoke", WAIT, { "Proviso-Capability": narrowed });
    expect(reasonIn(answer)).toBe("constraint_violated");
    const denials = [{ remedy: { kind: "set_argument", pointer: "/milliseconds", value: 1 } }];
    const told = textAt(answer.body, "error", "data", 0, "metadata", "denials");
    expect(JSON.parse(told)).toMatchObject(denials);
    expect(answer.body).toMatchObject({ error: { data: [{}, { value: { denials } }] } });
  });

  test("CancelTask with a malformed token is refused", async () => {
    const { body } = await rpc(agent, "alice", "a2a/task/send", {
      message: message([{ data: { ...WAIT, arguments: { milliseconds: 0 } } }]),
    });
    const id = textAt(body, "result", "task", "id");
    const metadata = { [EXTENSION_URI]: { capabilities: [{ token: "garbage" }] } };
    expect(reasonIn(await call("CancelTask", { id, metadata }))).toBe("token_malformed");
  });
});

describe("a request to send a message is refused if it contains", () => {
  const SPELLINGS: readonly (readonly [string, (token: string) => string])[] = [
    ["as it was issued", (token) => token],
    ["in standard base64, padded", (token) => Buffer.from(token, "base64url").toString("base64")],
  ];
  const PLACES: readonly (readonly [string, (token: string) => object])[] = [
    ["a text", (token) => message([{ text: `Please use ${token}.` }])],
    ["the middle of a text", (token) => message([{ text: `x_${token}_x "{` }])],
    ["data", (token) => message([{ data: { deep: [{ deeper: [token] }] } }])],
    ["a name in data", (token) => message([{ data: { [token]: true } }])],
    ["JSON in data", (token) => message([{ data: JSON.stringify([JSON.stringify({ token })]) }])],
    ["arguments", (token) => message([{ data: { skill: "wait", arguments: { note: token } } }])],
    ["a call's other properties", (token) => message([{ data: { ...WAIT, note: token } }])],
    ["metadata", (token) => ({ ...message([{ text: "x" }]), metadata: { a: { b: token } } })],
    ["an id", (token) => ({ ...message([{ text: "x" }]), messageId: token })],
  ];

  describe.each(SPELLINGS)("a token %s", (_spelling, spelt) => {
    test.each(PLACES)(
      "in %s, whether or not the request also presents that token",
      async (_, place) => {
        const other = await request(await clientOf(agent, "JSON-RPC", "bob"), {
          grants: ["work:do"],
        });
        const own = { metadata: { [EXTENSION_URI]: { capabilities: [{ token: narrowed }] } } };
        for (const token of [narrowed, other.token]) {
          const written = spelt(token);
          for (const method of ["SendMessage", "a2a/task/send"]) {
            const params = { message: place(written), ...own };
            const answer = await call(method, params);
            expect(textAt(answer.body, "error", "message")).toContain("must not hold a token");
          }
        }
      },
    );
  });

  test("more than 64 strings that look like tokens (64 tokens of other issuers are accepted)", async () => {
    const spec = readFileSync(new URL("../../../docs/spec.md", import.meta.url), "utf8");
    const [example = ""] = /^Ag[A-Za-z0-9_-]{100,}$/m.exec(spec) ?? [];
    expect(example).not.toBe("");
    const strange = createIssuer({
      name: "documents-agent",
      keys: createKeyring(),
      revocations: createRevocationList(),
    });
    const foreign = Array.from({ length: 63 }, () => {
      return strange.mint({ grant: "work:do", operations: ["wait"], principal: "alice" }).token;
    });
    const known = { "A2A-Extensions": EXTENSION_URI };
    const passes = await call(
      "SendMessage",
      { message: message([{ data: [example, ...foreign] }]) },
      known,
    );
    expect(at(passes.body, "error")).toBeNull();
    const refused = await call("SendMessage", {
      message: message([{ text: [example, example, ...foreign].join(" ") }]),
    });
    expect(textAt(refused.body, "error", "message")).toContain("more than 64");
  });

  test("the presented token in the text, data or contextId of its message", async () => {
    const own = { metadata: { [EXTENSION_URI]: { capabilities: [{ token: narrowed }] } } };
    for (const parts of [[{ text: `use ${narrowed}` }], [{ data: [narrowed] }]]) {
      const answer = await call("SendMessage", { message: message(parts), ...own });
      expect(textAt(answer.body, "error", "message")).toContain("must not hold a token");
    }
    const inContext = { ...message([{ text: "x" }]), contextId: narrowed };
    expect(reasonIn(await call("SendMessage", { message: inContext, ...own }))).toBe(
      "invalid_request",
    );
  });

  test("too many references or parts, a tenant, or an invalid JSON-RPC id", async () => {
    const referenceTaskIds = Array.from({ length: 60_000 }, String).slice(0, 20_000);
    const many = { ...message([{ text: "x" }]), referenceTaskIds };
    expect(reasonIn(await call("SendMessage", { message: many }))).toBe("invalid_request");
    const parts = Array.from({ length: 65 }, () => ({ text: "x" }));
    expect(reasonIn(await call("SendMessage", { message: message(parts) }))).toBe(
      "invalid_request",
    );
    for (const method of ["SendMessage", "ListTasks", "GetTask"]) {
      const params = { tenant: "t".repeat(1000), id: "x", message: message([{ text: "x" }]) };
      expect(textAt((await call(method, params)).body, "error", "message")).toContain("no tenants");
    }
    const rest = await send(`${agent.server.restUrl}/other/tasks`, {
      headers: { ...authorized("alice"), "A2A-Version": "1.0" },
    });
    expect(textAt(rest.body, "error", "message")).toContain("no tenants");
    for (const id of ["\u001b[2J", "a\nb", "x".repeat(129)]) {
      const answer = await send(agent.server.rpcUrl, {
        method: "POST",
        headers: { ...authorized("alice"), "Content-Type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id, method: "SendStreamingMessage", params: {} }),
      });
      expect(answer.body).toMatchObject({ id: null, error: { code: -32600 } });
    }
  });
});
