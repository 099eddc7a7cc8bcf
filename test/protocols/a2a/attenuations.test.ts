import { afterAll, beforeAll, expect, test } from "vitest";
import type { GrantedCapability } from "../../../src/agent/issuance.js";
import type { Json } from "../../../src/bytes/json.js";
import { attenuate, type HopInit } from "../../../src/index.js";
import { createCapabilityClient, EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { at, clientOf, quietConsole, request, rpc, textAt } from "./callers.js";

// With "attenuations", a task has only the capabilities in "capabilities". The hop for a capability id is
// appended to every token with that id.

let agent: TestAgent;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({
    mode: "prefer",
    // Returns the outcomes of two calls, which show the authority of the task.
    runTask: async ({ invoke, capabilities }) => {
      const outcomes: string[] = [];
      for (const milliseconds of [1, 5]) {
        const outcome = await invoke("wait", { milliseconds });
        outcomes.push(outcome.ok ? "done" : outcome.denials.map(({ code }) => code).join());
      }
      return { outcomes, ids: capabilities.map(({ id }) => id) };
    },
  });
});
afterAll(() => agent.remove());

const SHORT: HopInit = { constraints: { milliseconds: { max: 2 } } };
const MESSAGE = { role: "user", parts: [{ text: "wait for me" }] };
const DENIED = ["done", "constraint_violated"];

async function granted(who: "alice" | "bob" = "alice"): Promise<GrantedCapability> {
  return request(await clientOf(agent, "JSON-RPC", who), { grants: ["work:do"] });
}

function narrowed(token: string, hop: HopInit): string {
  const attenuation = attenuate(token, hop);
  if (!attenuation.ok) throw new Error(JSON.stringify(attenuation.overreaches));
  return attenuation.token;
}

function sent(params: object, headers: Readonly<Record<string, string>> = {}) {
  return rpc(agent, "alice", "a2a/task/send", { message: MESSAGE, ...params }, headers);
}

/** Returns the outcomes in the result of a task. */
function outcomes(body: Json): Json {
  return at(body, "result", "task", "artifacts", 0, "parts", 0, "data", "outcomes");
}

test("a2a/task/send appends the attenuation for a capability id to every listed token with that id", async () => {
  const { id, token } = await granted();
  const child = narrowed(token, { purpose: "a descendant" });
  const lists: Json[] = [
    [id],
    [{ id, token }],
    [{ token }],
    [{ token }, { token }],
    [id, { token }],
    [{ token: child }],
    [{ token }, { token: child }, id, { id, token: child }],
  ];
  for (const capabilities of lists) {
    const { body } = await sent({ capabilities, attenuations: { [id]: SHORT } });
    const every = (capabilities as readonly Json[]).length;
    expect(outcomes(body)).toEqual([
      "done",
      Array.from({ length: every }, () => "constraint_violated").join(),
    ]);
  }
});

test("a2a/task/send does not narrow listed capabilities that have no attenuation", async () => {
  const [one, other] = [await granted(), await granted()];
  const capabilities = [{ token: one.token }, other.id];
  const { body } = await sent({ capabilities, attenuations: { [one.id]: SHORT } });
  expect(outcomes(body)).toEqual(["done", "done"]);
  const both = { [one.id]: SHORT, [other.id]: SHORT };
  const narrow = await sent({ capabilities, attenuations: both });
  expect(outcomes(narrow.body)).toEqual(["done", "constraint_violated,constraint_violated"]);
});

test("a2a/task/send refuses attenuations that are null, that come without capabilities, or that come with the extension's metadata or headers", async () => {
  const { id, token } = await granted();
  const attenuations = { [id]: SHORT };
  const metadata = { [EXTENSION_URI]: { capabilities: [{ token }] } };
  const header = { "Proviso-Capability": token };
  const before = agent.ran.length;
  for (const [params, headers] of [
    [{ capabilities: [id], attenuations }, header],
    [{ capabilities: [id], attenuations, metadata }, {}],
    [{ capabilities: [id], attenuations, metadata: { [EXTENSION_URI]: {} } }, {}],
    [
      { capabilities: [id], attenuations, metadata: { [EXTENSION_URI]: { authority: "ambient" } } },
      {},
    ],
    [{ capabilities: [id], attenuations: {} }, header],
    [{ attenuations }, header],
    [{ attenuations, metadata }, {}],
    [{ attenuations, token }, {}],
    [{ attenuations, capabilityId: id }, {}],
    [{ attenuations: {} }, {}],
    [{ attenuations: null, capabilities: [id] }, {}],
    [{ capabilities: [id], attenuations }, { "Proviso-Authority": "ambient" }],
  ] as const) {
    const { body } = await sent(params, headers);
    expect(textAt(body, "error", "data", 0, "reason")).toBe("invalid_request");
  }
  expect(agent.ran.length).toBe(before);
});

test("a2a/task/send refuses an attenuation for a capability id that is not listed", async () => {
  const [one, other] = [await granted(), await granted()];
  for (const capabilities of [
    [one.id],
    [{ token: one.token }],
    [{ id: one.id, token: one.token }],
  ]) {
    for (const stray of [other.id, "constructor", "__proto__", ""]) {
      const attenuations = JSON.parse(
        JSON.stringify({ [one.id]: SHORT, STRAY: SHORT }).replace("STRAY", stray),
      );
      const { body } = await sent({ capabilities, attenuations });
      expect(textAt(body, "error", "message")).toContain('which "capabilities" does not');
    }
  }
});

test("a2a/task/send takes a listed token's capability id from the signed token, and refuses a list entry with another id", async () => {
  const [one, other] = [await granted(), await granted()];
  const mislabelled = [{ id: other.id, token: one.token }];
  for (const id of [one.id, other.id]) {
    const { body } = await sent({ capabilities: mislabelled, attenuations: { [id]: SHORT } });
    expect(textAt(body, "error", "data", 0, "reason")).toBe("capability_unknown");
  }
  const byToken = await sent({
    capabilities: [{ token: one.token }],
    attenuations: { [one.id]: SHORT },
  });
  expect(outcomes(byToken.body)).toEqual(DENIED);
});

test("a2a/task/send with attenuations is refused if any listed capability is forged, malformed, unknown or another user's", async () => {
  const { id, token } = await granted();
  const theirs = await granted("bob");
  for (const [bad, reason] of [
    [{ token: `${token.slice(0, -4)}AAAA` }, "signature_mismatch"],
    [{ token: "garbage" }, "token_malformed"],
    ["cap_AAAAAAAAAAAAAAAA", "capability_unknown"],
    [theirs.id, "capability_unknown"],
  ] as const) {
    for (const capabilities of [
      [bad, id],
      [id, bad],
    ]) {
      const { body } = await sent({ capabilities, attenuations: { [id]: SHORT } });
      expect(textAt(body, "error", "data", 0, "reason")).toBe(reason);
    }
  }
});

test("a2a/task/send is refused if any listed token is not valid yet, whichever capability the attenuation is for", async () => {
  const { id, token } = await granted();
  const notBefore = new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, "");
  const later = { token: narrowed(token, { notBefore }) };
  const capabilities = [later, id];
  const { body } = await sent({ capabilities, attenuations: { [id]: SHORT } });
  expect(textAt(body, "error", "data", 0, "reason")).toBe("not_yet_valid");
  const other = await granted();
  // The hop is for `other`, so the first capability is still refused for the same reason.
  const kept = await sent({ capabilities: [later, other.id], attenuations: { [other.id]: SHORT } });
  expect(textAt(kept.body, "error", "data", 0, "reason")).toBe("not_yet_valid");
});

test("a2a/task/send refuses a revoked token as revoked, and an attenuation beyond its token as attenuation_exceeds", async () => {
  const { id, token } = await granted();
  const wide = await sent({ capabilities: [id], attenuations: { [id]: { operations: ["pay"] } } });
  expect(textAt(wide.body, "error", "data", 0, "reason")).toBe("attenuation_exceeds");
  await createCapabilityClient(await clientOf(agent, "JSON-RPC", "alice")).revoke(token);
  const { body } = await sent({ capabilities: [{ token }], attenuations: { [id]: SHORT } });
  expect(textAt(body, "error", "data", 0, "reason")).toBe("revoked");
});
