import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/bytes/json.js";
import {
  DISCOVERY_URI,
  type DiscoverOptions,
  type DiscoveryRequirements,
  delegatedTo,
  discoverChain,
  undeclaredIn,
} from "../../src/discovery/index.js";
import { httpServer, sendText } from "../support/loopback-servers.js";
import { card, read } from "./cards.js";

const CONTEXT = { capabilities: { context_reuse: true } };
const END_TO_END: DiscoveryRequirements = { endToEnd: ["context_reuse"] };

/** Serves cards on one origin, by name. In their `params`, `{NAME}` becomes the URL of the agent NAME. */
async function agents(all: Readonly<Record<string, JsonObject>>) {
  const server = await httpServer((request, response) => {
    const [, name = ""] = (request.url ?? "").split("/");
    const params = all[name];
    if (params === undefined) return void response.writeHead(404).end();
    const text = JSON.stringify(params).replace(/\{(\w+)\}/g, `${server.url}/$1`);
    const url = `${server.url}/${name}/a2a`;
    const interfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
    return sendText(response, JSON.stringify(card({ name, interfaces, params: JSON.parse(text) })));
  });
  const at = (text: string): string => text.replaceAll(server.url, "");
  return {
    server,
    at,
    chain: async (
      name: string,
      requirements: DiscoveryRequirements = END_TO_END,
      options: DiscoverOptions = {},
    ): Promise<string> => {
      const found = await discoverChain(`${server.url}/${name}`, requirements, options);
      if (found.ok) return found.links.map(({ index, url = "" }) => `${index}${at(url)}`).join(" ");
      const { link } = found;
      const codes = found.denials.map(
        (one) => `${one.code}@${one.link?.index}${at(one.link?.url ?? "")}`,
      );
      return `refused at ${link.index}${at(link.url ?? "")}: ${codes.join(" ")}`;
    },
  };
}

function to(...names: readonly string[]): { readonly delegates: Json } {
  return { delegates: names.map((name) => ({ url: `{${name}}` })) };
}

test("discoverChain judges every agent on every path by its own card, and fetches each card once", async () => {
  const { chain, server } = await agents({
    a: { ...CONTEXT, ...to("b", "c") },
    b: { ...CONTEXT, ...to("c") },
    c: { ...CONTEXT, ...to() },
  });
  expect(await chain("a")).toBe("0/a 1/b 2/c 1/c");
  expect(server.requests.map(({ url }) => url?.split("/")[1])).toEqual(["a", "b", "c"]);
});

test("if a card claims a propagating capability for a delegate, discoverChain requires that capability from the delegate and from all agents behind it", async () => {
  const relies = { delegates: [{ url: "{b}", capabilities: ["context_reuse"] }] };
  const { chain } = await agents({
    a: relies,
    b: { ...CONTEXT, ...to("c") },
    c: to(),
    whole: { delegates: [{ url: "{d}", capabilities: ["context_reuse"] }] },
    d: { ...CONTEXT, ...to("e") },
    e: { ...CONTEXT, ...to() },
  });
  expect(await chain("a", {})).toBe("refused at 2/c: capability_undeclared@2/c");
  expect(await chain("whole", {})).toBe("0/whole 1/d 2/e");
});

describe("discoverChain refuses a chain and names the failing link", () => {
  test.each<[what: string, all: Record<string, JsonObject>, expected: string]>([
    [
      "the last agent lacks the end-to-end capability",
      { a: { ...CONTEXT, ...to("b") }, b: { ...CONTEXT, ...to("c") }, c: to() },
      "refused at 2/c: capability_undeclared@2/c",
    ],
    [
      "a middle agent denies the end-to-end capability",
      {
        a: { ...CONTEXT, ...to("b") },
        b: { capabilities: { context_reuse: false }, ...to() },
      },
      "refused at 1/b: capability_undeclared@1/b",
    ],
    [
      "an agent lists no delegates",
      { a: { ...CONTEXT, ...to("b") }, b: CONTEXT },
      "refused at 1/b: chain_unknown@1/b",
    ],
    [
      "an agent cannot be reached",
      { a: { ...CONTEXT, ...to("b") } },
      "refused at 1/b: card_unreachable@1/b",
    ],
    [
      "an agent speaks another version",
      {
        a: { ...CONTEXT, ...to("b") },
        b: { ...CONTEXT, ...to(), minProtocolVersion: "0.3", maxProtocolVersion: "0.9" },
      },
      "refused at 1/b: card_malformed@1/b version_incompatible@1/b",
    ],
    [
      "a claim about an agent is untrue",
      {
        a: { ...CONTEXT, delegates: [{ url: "{b}", capabilities: ["pause_resume"] }] },
        b: { ...CONTEXT, ...to() },
      },
      "refused at 1/b: capability_undeclared@1/b",
    ],
    [
      "the chain has a cycle",
      {
        a: { ...CONTEXT, ...to("b") },
        b: { ...CONTEXT, ...to("c") },
        c: { ...CONTEXT, ...to("a") },
      },
      "refused at 3/a: chain_cycle@3/a",
    ],
    [
      "an agent delegates to itself",
      { a: { ...CONTEXT, ...to("a") } },
      "refused at 1/a: chain_cycle@1/a",
    ],
    [
      "two agents behind a third delegate to each other",
      {
        a: { ...CONTEXT, ...to("b", "c") },
        b: { ...CONTEXT, ...to("c") },
        c: { ...CONTEXT, ...to("b") },
      },
      "refused at 3/b: chain_cycle@3/b chain_cycle@3/c",
    ],
    [
      "several agents fail, with a denial for each",
      { a: { ...CONTEXT, ...to("b", "c") }, b: to(), c: {} },
      "refused at 1/b: capability_undeclared@1/b capability_undeclared@1/c",
    ],
  ])("if %s", async (_what, all, expected) => {
    expect(await (await agents(all)).chain("a")).toBe(expected);
  });
});

test("discoverChain accepts an agent without a list of delegates, with a warning, if nothing is required end to end", async () => {
  const { chain, server } = await agents({ a: to("b"), b: {} });
  expect(await chain("a", {})).toBe("0/a 1/b");
  const found = await discoverChain(`${server.url}/a`, {});
  expect(found.warnings.map(({ code, link }) => `${code}@${link?.index}`)).toEqual([
    "chain_unknown@1",
  ]);
});

test("discoverChain requires a capability that does not propagate from the first agent only", async () => {
  const { chain } = await agents({
    a: { capabilities: { pause_resume: true }, ...to("b") },
    b: to(),
  });
  expect(await chain("a", { capabilities: ["pause_resume"] })).toBe("0/a 1/b");
});

describe("discoverChain limits a chain", () => {
  test("to eight agents in a row", async () => {
    const line = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [
          `n${at}`,
          { ...CONTEXT, ...(at === count - 1 ? to() : to(`n${at + 1}`)) },
        ]),
      );
    expect(await (await agents(line(8))).chain("n0")).toMatch(/^0\/n0 .* 7\/n7$/);
    expect(await (await agents(line(9))).chain("n0")).toBe("refused at 8/n8: chain_too_deep@8/n8");
  });

  test("to 32 agents on all paths together", async () => {
    const names = Array.from({ length: 60 }, (_, at) => `n${at}`);
    const all = Object.fromEntries(names.map((name) => [name, { ...CONTEXT, ...to(...names) }]));
    const { chain, server } = await agents(all);
    const refused = await chain("n0");
    expect(refused).toMatch(/chain_too_deep@\d/);
    expect(refused.split("@").length - 1).toBe(100);
    expect(server.requests.length).toBeLessThanOrEqual(32);
  });
});

test("discoverChain sends no request to a delegate in a private network, unless allowHosts names the host", async () => {
  const inner = await agents({ b: { ...CONTEXT, ...to() } });
  const delegates = [{ url: `${inner.server.url}/b` }];
  const outer = await agents({ a: { ...CONTEXT, delegates } });
  expect(await outer.chain("a")).toMatch(/^refused at 1.*: address_refused@1/);
  expect(inner.server.requests).toEqual([]);
  const allowHosts = [`127.0.0.1:${inner.server.port}`];
  expect(await outer.chain("a", END_TO_END, { allowHosts })).toMatch(/^0\/a 1http/);
});

describe("undeclaredIn reports the delegates that a response names and the card does not list", () => {
  const declared = read({ params: { delegates: [{ url: "https://b.example/agent/" }] } });
  const silent = read();
  const response = (to: Json): JsonObject => ({ [DISCOVERY_URI]: { delegatedTo: to } });

  test.each<[what: string, metadata: Json | undefined, codes: readonly string[]]>([
    ["an empty response", undefined, []],
    ["a response about something else", { x: 1 }, []],
    ["a listed delegate", response("https://b.example/agent"), []],
    [
      "a listed delegate, named by the URL of its card",
      response("https://b.example/agent/.well-known/agent-card.json"),
      [],
    ],
    [
      "a listed and an unlisted delegate",
      response(["https://b.example/agent", "https://c.example"]),
      ["delegate_undeclared"],
    ],
    [
      "a listed delegate with another path",
      response("https://b.example/other"),
      ["delegate_undeclared"],
    ],
    ["a value that is not a URL", response([{}]), ["delegate_undeclared"]],
    [
      "an unlisted delegate after 40 listed ones",
      response([...Array<string>(40).fill("https://b.example/agent"), "https://c.example"]),
      ["delegate_undeclared"],
    ],
    [
      "a listed delegate, named 200 times",
      response(Array<string>(200).fill("https://b.example/agent")),
      [],
    ],
    [
      "more than 256 delegates",
      response(Array<string>(257).fill("https://b.example/agent")),
      ["delegate_undeclared"],
    ],
    [
      "an unlisted delegate in the second of two spellings",
      { [DISCOVERY_URI]: { delegatedTo: [], delegated_to: "https://c.example" } },
      ["delegate_undeclared"],
    ],
    [
      "an unlisted delegate in snake_case",
      { [DISCOVERY_URI]: { delegated_to: "https://c.example" } },
      ["delegate_undeclared"],
    ],
  ])("for %s", (_what, metadata, codes) => {
    const found = undeclaredIn(declared, delegatedTo(metadata));
    expect(found.map(({ code }) => code)).toEqual(codes);
  });

  test("also if the card has no list of delegates", () => {
    const found = undeclaredIn(silent, delegatedTo(response("https://b.example")));
    expect(found.map(({ code }) => code)).toEqual(["delegate_undeclared"]);
  });
});
