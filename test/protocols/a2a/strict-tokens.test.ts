import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attenuate, inspect, revocationId, TokenError } from "../../../src/index.js";
import { createCapabilityMiddleware } from "../../../src/middleware/fetch.js";
import { EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import { codes, fixture, mint } from "../../capability/support.js";
import { runHere } from "../../cli/run.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { at, clientOf, quietConsole, request, rpc, textAt } from "./callers.js";

// Only the command line removes quotes and whitespace around a token. If several programs removed different
// characters, they would disagree about which strings are tokens.

const AROUND: readonly (readonly [string, (token: string) => string])[] = [
  ["Bearer", (token) => `Bearer ${token}`],
  ["quotes", (token) => `"${token}"`],
  ["single quotes", (token) => `'${token}'`],
  ["JSON", (token) => JSON.stringify({ token })],
];
const WAIT = { skill: "wait", arguments: { milliseconds: 1 } };

let agent: TestAgent;
let token = "";
beforeAll(async () => {
  quietConsole();
  agent = await startAgent();
  ({ token } = await request(await clientOf(agent, "JSON-RPC", "alice"), { grants: ["work:do"] }));
});
afterAll(() => agent.remove());

const invoked = async (metadata: object, headers = {}): Promise<string> => {
  const { body } = await rpc(agent, "alice", "a2a/skill/invoke", { ...WAIT, ...metadata }, headers);
  if (at(body, "result", "result") !== null) return "allowed";
  return textAt(body, "error", "data", 0, "reason");
};
const inMetadata = (text: string) =>
  invoked({ metadata: { [EXTENSION_URI]: { capabilities: [{ token: text }] } } });

test("a bare token is accepted in the header, in metadata and in params", async () => {
  expect(await invoked({}, { "Proviso-Capability": token })).toBe("allowed");
  expect(await inMetadata(token)).toBe("allowed");
  expect(await invoked({ capabilities: [{ token }] })).toBe("allowed");
});

describe.each(AROUND)("text around a token (%s)", (_what, around) => {
  test("is removed by proviso inspect", async () => {
    const { status } = await runHere(["inspect"], { input: around(token) });
    expect(status).toBe(0);
  });

  test("is refused by A2A in the header, in metadata and in params", async () => {
    const text = around(token);
    expect(await invoked({}, { "Proviso-Capability": text })).toBe("token_malformed");
    expect(await inMetadata(text)).toBe("token_malformed");
    expect(await invoked({ capabilities: [{ token: text }] })).toBe("token_malformed");
  });

  test("is refused by authorize, inspect, revocationId and attenuate", () => {
    const { issuer } = fixture();
    const minted = mint(issuer);
    const invocation = { grant: "files", operation: "get" };
    expect(issuer.authorize(minted, invocation).allowed).toBe(true);
    const decision = issuer.authorize(around(minted), invocation);
    expect(codes(decision)).toEqual(["token_malformed"]);
    for (const read of [
      inspect,
      revocationId,
      (text: string) => attenuate(text, { maxFurtherHops: 0 }),
    ]) {
      expect(() => read(minted)).not.toThrow();
      expect(() => read(around(minted))).toThrow(TokenError);
    }
  });

  test("is refused by createCapabilityMiddleware with 400", async () => {
    const { issuer } = fixture();
    const minted = mint(issuer);
    const requirement = { grant: "files", operation: "get" };
    const route = createCapabilityMiddleware(issuer)(requirement, () => new Response("done"));
    const ask = async (text: string): Promise<number> => {
      const headers = { "Proviso-Capability": text };
      return (await route(new Request("https://files.example/", { headers }))).status;
    };
    expect(await ask(minted)).toBe(200);
    expect(await ask(around(minted))).toBe(400);
  });
});

test("a vector in check.json expects that a token with Bearer before it is refused", () => {
  const path = new URL("../../../spec-vectors/check.json", import.meta.url);
  const found = /"comment": "Bearer before the token".*?"result": "(\w+)"/s.exec(
    readFileSync(path, "utf8"),
  );
  expect(found?.[1]).toBe("refused");
});
