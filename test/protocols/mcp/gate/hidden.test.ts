import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import type { MintRequest } from "../../../../src/capability/mint.js";
import { NEW_META, openTestGate, RawServer, refusalIn, type TestGate, tool } from "./support.js";

const SEND = {
  operations: ["send"],
  operationConstraints: { send: { amount: { max: 50 } } },
} as const;

/** A server that lists the tools `send` and `rd`, and would answer every call. */
function bank(name?: string): RawServer {
  const server = new RawServer(name);
  server.answers["tools/list"] = { tools: [tool("send"), tool("rd"), tool("a:b")] };
  server.answers["resources/list"] = { resources: [{ uri: "db://a", name: "a" }] };
  server.answers["resources/templates/list"] = { resourceTemplates: [] };
  for (const method of ["tools/call", "resources/read", "prompts/get", "completion/complete"]) {
    server.answers[method] = {};
  }
  return server;
}

/** Sends the same request with each of several parameters, and returns the distinct answers without their ids. */
async function answers(
  { host }: TestGate,
  method: string,
  each: readonly JsonObject[],
  credentials: readonly string[],
): Promise<readonly JsonObject[]> {
  const texts = new Set<string>();
  for (const params of each) {
    const id = `${method} ${JSON.stringify(params)}`;
    const { id: _, ...answer } = await host.ask({ id, method, params }, { credentials });
    texts.add(JSON.stringify(answer));
  }
  return [...texts].map((text) => JSON.parse(text));
}

const calls = (...names: readonly string[]) =>
  names.map((name) => ({ name, arguments: { amount: 80 } }));

interface Case {
  readonly tokens: readonly Omit<MintRequest, "grant">[];
  readonly granted?: readonly string[];
  /** Names of tools that the host may not tell apart. */
  readonly names: readonly string[];
}

test.each<[string, Case]>([
  [
    "a token that lacks the tools",
    { tokens: [SEND], names: ["rd", "zzz", "a:b", "resources:read", ""] },
  ],
  [
    "a list of grants that has the hidden tool",
    { tokens: [SEND], granted: ["send", "rd"], names: ["rd", "zzz", "a:b"] },
  ],
  [
    "a list of grants that lacks a tool of the server",
    {
      tokens: [{ anyOperation: true, constraints: { amount: { max: 50 } } }],
      granted: ["send", "gone"],
      names: ["rd", "zzz", "gone", "a:b"],
    },
  ],
  [
    "a second token without the tool that the first one limits",
    { tokens: [SEND, { operations: ["rd", "gone"] }], names: ["send", "rd", "gone", "zzz"] },
  ],
])("with %s, hidden and unknown tools get the same answer", async (_, given) => {
  const { tokens, granted, names } = given;
  const server = bank();
  const gate = await openTestGate([server], undefined, { granted });
  const credentials = tokens.map((token) => gate.mint(token));
  const [answer = {}, ...others] = await answers(gate, "tools/call", calls(...names), credentials);
  expect(others).toEqual([]);
  const { sentence, codes, meta } = refusalIn(answer);
  expect(sentence).toMatch(/no such tool, .* or it may not be used; .* tools\/list/);
  expect(codes).toEqual(["operation_denied"]);
  expect(meta).not.toHaveProperty(["dev.proviso/remedies"]);
  expect(server.requests("tools/call")).toEqual([]);
});

test("with a revoked token, hidden and unknown tools get the same answer, which says only that the token is revoked", async () => {
  const gate = await openTestGate([bank("one")], undefined, { granted: ["one/send", "one/rd"] });
  const token = gate.mint({ anyOperation: true, constraints: { amount: { max: 50 } } });
  const revocation = gate.issuer.revocationOf(token);
  if (revocation.ok) await gate.revocations.add(revocation.entry);
  const names = ["one__send", "one__rd", "one__zzz", "two__send", "send"];
  const [answer = {}, ...others] = await answers(gate, "tools/call", calls(...names), [token]);
  expect(others).toEqual([]);
  expect(refusalIn(answer).codes).toEqual(["revoked"]);
  expect(refusalIn(answer).meta).not.toHaveProperty(["dev.proviso/remedies"]);
});

const RESOURCES = ["db://a", "db://zzz", "file:///data/a", "file:///data/../a", "file://host/a"];

const PROMPTS = ["one__a", "one__zzz", "two__a", "nobody__a", "a"];

test.each<[string, string, readonly JsonObject[]]>([
  ["resources", "resources/read", RESOURCES.map((uri) => ({ uri }))],
  ["prompts", "prompts/get", PROMPTS.map((name) => ({ name, arguments: { amount: 80 } }))],
  [
    "references for completions",
    "completion/complete",
    [
      ...PROMPTS.map((name): Json => ({ type: "ref/prompt", name })),
      ...RESOURCES.map((uri): Json => ({ type: "ref/resource", uri })),
    ].map((ref) => ({ ref, argument: { name: "Amount", value: "" } })),
  ],
])(
  "hidden and unknown %s get the same answer, behind one server and behind several",
  async (_, method, each) => {
    const granted = ["send", "one/resources:subscribe", "one/send", "two/rd"];
    for (const servers of [[bank()], [bank("one"), bank("two")]]) {
      for (const listed of [undefined, granted]) {
        const gate = await openTestGate(servers, undefined, { granted: listed });
        const token = gate.mint(listed === undefined ? SEND : { anyOperation: true });
        const [answer, ...others] = await answers(gate, method, each, [token]);
        expect(others).toEqual([]);
        expect(answer).toMatchObject({
          error: { code: -31403, data: { "dev.proviso/denials": [{ code: "operation_denied" }] } },
        });
        expect(answer).not.toHaveProperty(["error", "data", "dev.proviso/remedies"]);
        expect(JSON.stringify(answer)).not.toMatch(/one|two|send|rd|subscribe/);
        for (const server of servers) expect(server.requests(method)).toEqual([]);
      }
    }
  },
);

test("a resource or a prompt whose operation the tokens lack gets the same answer as one that no server has", async () => {
  const [one, two] = [bank("one"), bank("two")];
  one.answers["resources/list"] = { resources: [] };
  const gate = await openTestGate([one, two]);
  const token = gate.mint({ operations: ["one/resources:read", "one/prompts:get"] });
  const uris = ["db://a", "db://zzz"].map((uri) => ({ uri }));
  const prompts = ["two__a", "nobody__a", "a"].map((name) => ({ name }));
  expect(await answers(gate, "resources/read", uris, [token])).toHaveLength(1);
  expect(await answers(gate, "prompts/get", prompts, [token])).toHaveLength(1);
  expect(two.requests("resources/read")).toEqual([]);
});

test("subscriptions to hidden and to unknown resources get the same answer", async () => {
  const servers = [bank("one"), bank("two")];
  const gate = await openTestGate(servers, undefined, { granted: ["one/resources:read"] });
  const token = gate.mint({ anyOperation: true });
  const texts = await Promise.all(
    RESOURCES.map(async (uri) => {
      const params = { notifications: { resourceSubscriptions: [uri] }, _meta: NEW_META };
      const asked = { id: uri, method: "subscriptions/listen", params };
      const { id: _, ...answer } = await gate.host.ask(asked, { era: "new", credentials: [token] });
      return JSON.stringify(answer);
    }),
  );
  const [answer = "", ...others] = new Set(texts);
  expect(others).toEqual([]);
  expect(answer).not.toMatch(/one|two|resources:/);
  for (const server of servers) expect(server.requests("subscriptions/listen")).toEqual([]);
});
