import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/bytes/json.js";
import {
  type ChainDiscovery,
  type ChainLink,
  type DiscoveryRequirements,
  validateChain,
} from "../../src/discovery/index.js";
import { read } from "./cards.js";

const [A, B, C] = ["https://a.example", "https://b.example", "https://c.example"];

interface LinkParts {
  readonly capabilities?: JsonObject;
  /** Addresses of delegates; absent if the card does not list them. */
  readonly delegates?: readonly Json[] | undefined;
  readonly version?: string;
}

function link(
  url: string,
  { capabilities = {}, delegates, version = "1.0" }: LinkParts = {},
): ChainLink {
  const all = delegates?.map((one) => (typeof one === "string" ? { url: one } : one));
  const params = { capabilities, ...(all === undefined ? {} : { delegates: all }) };
  const binding = { protocolBinding: "JSONRPC", protocolVersion: version };
  const card = read({ name: url, params, interfaces: [{ url: `${url}/rpc`, ...binding }] });
  return { url, card };
}

/** Returns `ok`, or the code and link of each denial. */
function said(chain: ChainDiscovery): readonly string[] {
  if (chain.ok) return ["ok"];
  return chain.denials.map(({ code, link: at }) => `${code} ${at?.index} ${at?.url}`);
}

const SHARED = { context_reuse: true };
const whole = (): ChainLink[] => [
  link(A, { capabilities: SHARED, delegates: [B] }),
  link(B, { capabilities: SHARED, delegates: [{ url: `${C}/.well-known/agent-card.json` }] }),
  link(C, { capabilities: SHARED, delegates: [] }),
];

test("a chain of three agents with the needed capability end to end is accepted", () => {
  const chain = validateChain(whole(), { endToEnd: ["context_reuse"] });
  expect(chain).toMatchObject({ ok: true, capabilities: ["streaming", "context_reuse"] });
  expect(chain.ok && chain.agent.interface.url).toBe(`${A}/rpc`);
});

describe("a refused chain names the failing link", () => {
  const without = (at: number, other: ChainLink): ChainLink[] => whole().with(at, other);
  test.each<[about: string, ChainLink[], DiscoveryRequirements, readonly string[]]>([
    [
      "that drops the capability",
      without(2, link(C, { delegates: [] })),
      { endToEnd: ["context_reuse"] },
      [`capability_undeclared 2 ${C}`],
    ],
    [
      "that denies a propagating capability",
      without(1, link(B, { capabilities: { context_reuse: false }, delegates: [C] })),
      { capabilities: ["context_reuse"] },
      [`capability_undeclared 1 ${B}`],
    ],
    [
      "because the last agent lists no delegates",
      without(2, link(C, { capabilities: SHARED })),
      { endToEnd: ["context_reuse"] },
      [`chain_unknown 2 ${C}`],
    ],
    [
      "because the last agent delegates further",
      without(2, link(C, { capabilities: SHARED, delegates: ["https://d.example"] })),
      { endToEnd: ["context_reuse"] },
      [`chain_unknown 2 ${C}`],
    ],
    [
      "that the agent before does not name",
      without(0, link(A, { capabilities: SHARED, delegates: [C] })),
      {},
      [`delegate_undeclared 1 ${B}`],
    ],
    [
      "that does not speak the version",
      without(2, link(C, { version: "0.3", delegates: [] })),
      {},
      [`version_incompatible 2 ${C}`],
    ],
    [
      "of which a claim is untrue",
      without(0, link(A, { delegates: [{ url: B, capabilities: ["pause_resume"] }] })),
      {},
      [`capability_undeclared 1 ${B}`],
    ],
    [
      "of a cycle",
      [...whole(), link(A, { delegates: [] })],
      {},
      [`delegate_undeclared 3 ${A}`, `chain_cycle 3 ${A}`],
    ],
    [
      "as the ninth",
      Array.from({ length: 9 }, (_, at) =>
        link(`https://${at}.example`, { delegates: [`https://${at + 1}.example`] }),
      ),
      {},
      ["chain_too_deep 8 https://8.example"],
    ],
  ])("%s", (_, links, requirements, expected) => {
    const chain = validateChain(links, requirements);
    expect(said(chain)).toEqual(expected);
    expect(chain.ok || `${chain.link.index}`).toBe(expected[0]?.split(" ")[1]);
  });
});

test("a capability that does not propagate is required of the first agent alone", () => {
  const links = [link(A, { capabilities: { pause_resume: true }, delegates: [B] }), link(B)];
  expect(said(validateChain(links, { capabilities: ["pause_resume"] }))).toEqual(["ok"]);
  expect(said(validateChain(links, { endToEnd: ["pause_resume"] }))).toEqual([
    `capability_undeclared 1 ${B}`,
    `chain_unknown 1 ${B}`,
  ]);
});

test("a propagating capability that a later agent lacks is not in the result", () => {
  const chain = validateChain([link(A, { capabilities: SHARED, delegates: [B] }), link(B)]);
  expect(chain).toMatchObject({ ok: true, capabilities: ["streaming"] });
});

test("an empty chain is a TypeError", () => {
  expect(() => validateChain([])).toThrow(/links: expected at least one agent/);
});

describe("the option maxLinks", () => {
  test("refuses a longer chain", () => {
    const chain = validateChain(whole(), {}, { maxLinks: 2 });
    expect(said(chain)).toEqual([`chain_too_deep 2 ${C}`]);
    expect(validateChain(whole(), {}, { maxLinks: 3 }).ok).toBe(true);
  });

  test.each([0, -1, 1.5, Number.NaN])("of %s is refused", (maxLinks) => {
    expect(() => validateChain(whole(), {}, { maxLinks })).toThrow(/^options\.maxLinks: expected/);
  });
});

test("an agent whose card lists no delegates may be followed by any agent", () => {
  expect(validateChain([link(A), link(B)]).ok).toBe(true);
});
