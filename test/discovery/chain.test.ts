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
  /** The delegates, as URLs or as objects; absent if the card has no list of delegates. */
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

test("validateChain accepts three agents that all have the capability required end to end", () => {
  const chain = validateChain(whole(), { endToEnd: ["context_reuse"] });
  expect(chain).toMatchObject({ ok: true, capabilities: ["streaming", "context_reuse"] });
  expect(chain.ok && chain.agent.interface.url).toBe(`${A}/rpc`);
});

describe("validateChain refuses a chain and names the failing link", () => {
  const without = (at: number, other: ChainLink): ChainLink[] => whole().with(at, other);
  test.each<[about: string, ChainLink[], DiscoveryRequirements, readonly string[]]>([
    [
      "an agent lacks the end-to-end capability",
      without(2, link(C, { delegates: [] })),
      { endToEnd: ["context_reuse"] },
      [`capability_undeclared 2 ${C}`],
    ],
    [
      "an agent denies a required capability that propagates",
      without(1, link(B, { capabilities: { context_reuse: false }, delegates: [C] })),
      { capabilities: ["context_reuse"] },
      [`capability_undeclared 1 ${B}`],
    ],
    [
      "the last agent lists no delegates",
      without(2, link(C, { capabilities: SHARED })),
      { endToEnd: ["context_reuse"] },
      [`chain_unknown 2 ${C}`],
    ],
    [
      "the last agent delegates further",
      without(2, link(C, { capabilities: SHARED, delegates: ["https://d.example"] })),
      { endToEnd: ["context_reuse"] },
      [`chain_unknown 2 ${C}`],
    ],
    [
      "the previous agent does not name the agent",
      without(0, link(A, { capabilities: SHARED, delegates: [C] })),
      {},
      [`delegate_undeclared 1 ${B}`],
    ],
    [
      "an agent does not speak the required version",
      without(2, link(C, { version: "0.3", delegates: [] })),
      {},
      [`version_incompatible 2 ${C}`],
    ],
    [
      "the previous agent claims a capability that the agent lacks",
      without(0, link(A, { delegates: [{ url: B, capabilities: ["pause_resume"] }] })),
      {},
      [`capability_undeclared 1 ${B}`],
    ],
    [
      "the chain has a cycle",
      [...whole(), link(A, { delegates: [] })],
      {},
      [`delegate_undeclared 3 ${A}`, `chain_cycle 3 ${A}`],
    ],
    [
      "the chain has nine agents",
      Array.from({ length: 9 }, (_, at) =>
        link(`https://${at}.example`, { delegates: [`https://${at + 1}.example`] }),
      ),
      {},
      ["chain_too_deep 8 https://8.example"],
    ],
  ])("if %s", (_, links, requirements, expected) => {
    const chain = validateChain(links, requirements);
    expect(said(chain)).toEqual(expected);
    expect(chain.ok || `${chain.link.index}`).toBe(expected[0]?.split(" ")[1]);
  });
});

test("validateChain requires a non-propagating capability from the first agent only, unless endToEnd names the capability", () => {
  const links = [link(A, { capabilities: { pause_resume: true }, delegates: [B] }), link(B)];
  expect(said(validateChain(links, { capabilities: ["pause_resume"] }))).toEqual(["ok"]);
  expect(said(validateChain(links, { endToEnd: ["pause_resume"] }))).toEqual([
    `capability_undeclared 1 ${B}`,
    `chain_unknown 1 ${B}`,
  ]);
});

test("validateChain leaves a propagating capability out of the result if a later agent lacks it", () => {
  const chain = validateChain([link(A, { capabilities: SHARED, delegates: [B] }), link(B)]);
  expect(chain).toMatchObject({ ok: true, capabilities: ["streaming"] });
});

test("validateChain throws a TypeError for an empty chain", () => {
  expect(() => validateChain([])).toThrow(/links: expected at least one agent/);
});

describe("the option maxLinks", () => {
  test("refuses a longer chain", () => {
    const chain = validateChain(whole(), {}, { maxLinks: 2 });
    expect(said(chain)).toEqual([`chain_too_deep 2 ${C}`]);
    expect(validateChain(whole(), {}, { maxLinks: 3 }).ok).toBe(true);
  });

  test.each([0, -1, 1.5, Number.NaN])("is refused with a TypeError if it is %s", (maxLinks) => {
    expect(() => validateChain(whole(), {}, { maxLinks })).toThrow(/^options\.maxLinks: expected/);
  });
});

test("validateChain accepts any next agent after a card that lists no delegates", () => {
  expect(validateChain([link(A), link(B)]).ok).toBe(true);
});
