import { describe, expect, test } from "vitest";
import {
  createCardCache,
  type DiscoverOptions,
  type DiscoveryRequirements,
  discoverChain,
  judgeCard,
  readCard,
  safeDiscover,
} from "../../src/discovery/index.js";
import {
  httpServer,
  type LoopbackServer,
  rawServer,
  sendText,
} from "../support/loopback-servers.js";
import { card } from "./cards.js";

const PATH = "/.well-known/agent-card.json";

/** Returns `usable`, or the codes and detailed causes of all denials. */
async function found(
  place: Parameters<typeof safeDiscover>[0],
  requirements: DiscoveryRequirements = {},
  options: DiscoverOptions = {},
): Promise<string> {
  const discovery = await safeDiscover(place, requirements, { timeout: 5000, ...options });
  if (discovery.ok) return "usable";
  return discovery.denials.map(({ code, rule }) => `${code}/${rule}`).join(" ");
}

/** Starts a server that serves one card. The card's interface is on the same origin. */
async function agentServer(text?: string): Promise<LoopbackServer> {
  const server = await httpServer((request, response) => {
    if (request.url !== PATH) return void response.writeHead(404).end();
    const url = `${server.url}/a2a`;
    const interfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
    return sendText(response, text ?? JSON.stringify(card({ interfaces })));
  });
  return server;
}

test("safeDiscover sends one request, which contains nothing about the caller", async () => {
  const server = await agentServer();
  const discovery = await safeDiscover(server.url, { binding: "JSONRPC" });
  expect(discovery).toMatchObject({
    ok: true,
    version: "1.0",
    interface: { url: `${server.url}/a2a`, binding: "JSONRPC" },
  });
  expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${PATH}`]);
  expect(Object.keys(server.requests[0]?.headers ?? {}).sort()).toEqual([
    "a2a-version",
    "accept",
    "accept-encoding",
    "connection",
    "host",
  ]);
});

test("safeDiscover lists every reason for a refusal", async () => {
  const requirements: DiscoveryRequirements = {
    capabilities: ["pause_resume", "streaming_message"],
    grants: [{ grant: "documents:read" }],
    protocolVersion: "1.1",
  };
  expect(await found((await agentServer()).url, requirements)).toBe(
    "version_incompatible/interfaces capability_undeclared/capabilities " +
      "capability_undeclared/capabilities grant_missing/grants",
  );
});

describe("a card at the path of A2A before 0.3", () => {
  const olderServer = (status: number): Promise<LoopbackServer> =>
    httpServer((request, response) => {
      if (request.url !== "/.well-known/agent.json") return void response.writeHead(status).end();
      const { supportedInterfaces: _, ...others } = card();
      const old = { ...others, url: `http://${request.headers.host}/a2a` };
      return sendText(response, JSON.stringify(old), { "Cache-Control": "max-age=60" });
    });

  test.each([404, 410])(
    "is found, with a warning, if the newer path answers HTTP %i",
    async (status) => {
      const server = await olderServer(status);
      const discovery = await safeDiscover(server.url, { protocolVersion: "0.2" });
      expect(discovery).toMatchObject({ ok: true, warnings: [{ code: "card_at_older_place" }] });
      expect(discovery.warnings[0]?.message).toContain(`${server.url}/.well-known/agent.json`);
    },
  );

  test.each([500, 503, 401])(
    "is not requested if the newer path answers HTTP %i",
    async (status) => {
      const server = await olderServer(status);
      expect(await found(server.url, { protocolVersion: "0.2" })).toBe(
        "card_unreachable/not_found",
      );
      expect(server.requests.length).toBe(1);
    },
  );

  test("is reported as missing in the error message if neither path has a card", async () => {
    const server = await httpServer((_, response) => response.writeHead(404).end());
    const { denials } = Object(await safeDiscover(server.url, {}));
    expect(denials[0].message).toMatch(
      /agent-card\.json answered HTTP 404, and no card is at \/\.well-known\/agent\.json$/,
    );
  });

  test("is not fetched again while it is fresh", async () => {
    const server = await olderServer(404);
    const options = { cache: createCardCache() };
    for (const _ of [1, 2, 3]) {
      expect(await found(server.url, { protocolVersion: "0.2" }, options)).toBe("usable");
    }
    expect(server.requests.length).toBe(2);
  });

  test("is not requested if the caller named the URL of a card", async () => {
    const server = await olderServer(404);
    expect(await found(`${server.url}/card.json`)).toBe("card_unreachable/not_found");
    expect(server.requests.length).toBe(1);
  });
});

describe("safeDiscover refuses a document that is not a card", () => {
  const deep = `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  const extensions = Array.from({ length: 1000 }, (_, at) => ({ uri: `urn:x:${at}` }));
  test.each<[what: string, text: string, expected: string]>([
    ["10 MB", JSON.stringify({ ...card(), x: "a".repeat(1e7) }), "card_too_large/answer_too_large"],
    ["a depth of 10,000", deep, "card_malformed/answer_malformed"],
    ["10,000 brackets that are not closed", "[".repeat(10_000), "card_malformed/answer_malformed"],
    ["a property twice", `{"name":"a","name":"b"}`, "card_malformed/answer_malformed"],
    [
      "a property twice, once escaped",
      `{"name":"a","n\\u0061me":"b"}`,
      "card_malformed/answer_malformed",
    ],
    ["a thousand extensions", JSON.stringify(card({ extensions })), "card_malformed/too_many"],
    ["an array", "[]", "card_malformed/answer_malformed"],
    ["text", "hello", "card_not_json/not_json"],
    ["an empty body", "", "card_not_json/not_json"],
  ])("for example %s", async (_what, text, expected) => {
    expect(await found((await agentServer(text)).url)).toBe(expected);
  });

  test("also if the caller passes the document as a value", async () => {
    let nested: object = {};
    for (let at = 0; at < 10_000; at++) nested = { nested };
    expect(await found({ ...card(), x: JSON.parse("{}"), ...nested })).toBe("card_malformed/card");
    expect(await found(JSON.parse("[]"))).toBe("card_malformed/card");
  });
});

describe("safeDiscover refuses an agent", () => {
  test.each<[what: string, said: string | undefined, expected: string]>([
    ["never answers", undefined, "card_timeout/timed_out"],
    [
      "stops within the card",
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{",
      "card_timeout/timed_out",
    ],
  ])("whose server %s", async (_what, said, expected) => {
    const server = await rawServer((socket) => void (said === undefined || socket.write(said)));
    expect(await found(server.url, {}, { timeout: 50 })).toBe(expected);
  });

  test.each<[what: string, status: number, headers: Record<string, string>, expected: string]>([
    ["an HTML page", 200, { "Content-Type": "text/html" }, "card_not_json/not_json"],
    ["HTTP 404", 404, {}, "card_unreachable/not_found"],
    ["a redirect loop", 302, { Location: PATH }, "redirect_refused/redirected"],
    [
      "a redirect to another origin",
      302,
      { Location: `http://localhost:1${PATH}` },
      "redirect_refused/redirected",
    ],
    ["HTTP 304 without a cached card", 304, {}, "card_not_json/not_json"],
  ])("whose server answers with %s", async (_what, status, headers, expected) => {
    const server = await httpServer((_request, response) =>
      response.writeHead(status, headers).end(),
    );
    expect(await found(server.url)).toBe(expected);
  });

  test.each([
    ["http://127.0.0.1:9", "card_unreachable/unreachable"],
    ["http://agent.example", "address_refused/address_insecure"],
    ["agent.example", "address_invalid/address_invalid"],
    ["ftp://agent.example", "address_invalid/address_invalid"],
    ["https://user:secret@agent.example", "address_invalid/address_invalid"],
    ["", "address_invalid/address_invalid"],
  ])("with the address %j", async (address, expected) => {
    expect(await found(address)).toBe(expected);
  });
});

describe("the URL of an interface in a card", () => {
  const leading = async (url: string): Promise<string> => {
    const interfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
    return (await agentServer(JSON.stringify(card({ interfaces })))).url;
  };

  test.each(["http://127.0.0.1:1/a2a", "https://169.254.169.254/latest", "https://[fd00::1]/a2a"])(
    "is refused if it is private and the caller did not name it: %s",
    async (url) => {
      expect(await found(await leading(url))).toBe("address_refused/interface");
    },
  );

  test("is refused if its host resolves to a private address that is not allowed", async () => {
    const place = await leading("https://inner.example/a2a");
    const resolve = async () => [{ address: "10.0.0.1", family: 4 }];
    expect(await found(place, {}, { resolve })).toBe("address_refused/interface");
    const allowHosts = ["inner.example:443"];
    expect(await found(place, {}, { resolve, allowHosts })).toBe("usable");
  });

  test("is refused if it is plain HTTP to another machine", async () => {
    const place = await leading("http://agent.example/a2a");
    expect(await found(place)).toBe("address_refused/interface");
  });

  test("is refused if its host is unknown", async () => {
    const place = await leading("https://absent.example/a2a");
    const resolve = async () => {
      throw Object.assign(new Error("no"), { code: "ENOTFOUND" });
    };
    expect(await found(place, {}, { resolve })).toBe("card_unreachable/interface");
  });
});

describe("a cached card", () => {
  const keeping = async (headers: Record<string, string>) => {
    let current = card();
    const server = await httpServer((request, response) => {
      const etag = `"${JSON.stringify(current).length}"`;
      if (request.headers["if-none-match"] === etag) {
        return void response.writeHead(304, { ...headers, ETag: etag }).end();
      }
      return sendText(response, JSON.stringify(current), { ...headers, ETag: etag });
    });
    let now = 1_000_000;
    const options = { cache: createCardCache(), clock: () => now };
    return {
      server,
      discover: (requirements: DiscoveryRequirements = {}) =>
        found(server.url, requirements, { ...options, resolve: async () => PUBLIC }),
      later: (seconds: number) => {
        now += seconds * 1000;
      },
      change: (next: typeof current) => {
        current = next;
      },
    };
  };
  const PUBLIC = [{ address: "203.0.112.1", family: 4 }];

  test("is reused until its max-age, then revalidated by its ETag, and judged again each time", async () => {
    const { server, discover, later, change } = await keeping({ "Cache-Control": "max-age=60" });
    expect(await discover()).toBe("usable");
    later(59);
    expect(await discover({ capabilities: ["pause_resume"] })).toMatch(/^capability_undeclared/);
    expect(server.requests.length).toBe(1);
    later(2);
    expect(await discover()).toBe("usable");
    expect(server.requests[1]?.headers["if-none-match"]).toBeDefined();
    change(card({ capabilities: { pause_resume: true } }));
    expect(await discover({ capabilities: ["pause_resume"] })).toMatch(/^capability_undeclared/);
    later(61);
    expect(await discover({ capabilities: ["pause_resume"] })).toBe("usable");
    expect(server.requests.length).toBe(3);
  });

  test.each([
    ["Cache-Control is absent", {}, 1, 2],
    ["Cache-Control forbids storing", { "Cache-Control": "no-store, max-age=60" }, 1, 2],
    ["Cache-Control demands revalidation", { "Cache-Control": "no-cache, max-age=60" }, 1, 2],
    ["its Age has used up max-age", { "Cache-Control": "max-age=60", Age: "60" }, 1, 2],
    ["max-age of a year counts for an hour", { "Cache-Control": 'max-age="31536000"' }, 3599, 1],
    ["max-age of a year is over after an hour", { "Cache-Control": "max-age=31536000" }, 3601, 2],
  ])(
    "is reused only while its headers allow, for at most one hour: %s",
    async (_what, headers, seconds, requests) => {
      const { server, discover, later } = await keeping(headers);
      await discover();
      later(seconds);
      await discover();
      expect(server.requests.length).toBe(requests);
    },
  );

  test("is evicted when other cards need its space", () => {
    const cache = createCardCache({ maxCards: 2, maxCharacters: 100 });
    const kept = (text: string) => ({ text, etag: undefined, freshUntil: 0 });
    cache.set("a", kept("1"));
    cache.set("b", kept("2"));
    cache.get("a");
    cache.set("c", kept("3"));
    expect(["a", "b", "c"].filter((name) => cache.get(name) !== undefined)).toEqual(["a", "c"]);
    cache.set("d", kept("4".repeat(98)));
    expect(["a", "c", "d"].filter((name) => cache.get(name) !== undefined)).toEqual(["d"]);
    cache.set("d", kept("5".repeat(101)));
    expect(cache.get("d")).toBeUndefined();
  });
});

describe("safeDiscover throws a TypeError", () => {
  test.each<[what: string, call: () => Promise<unknown>, message: RegExp]>([
    [
      "an unknown option",
      () => safeDiscover({}, {}, JSON.parse('{"timeot":1}')),
      /did you mean "timeout"/,
    ],
    [
      "an unknown requirement",
      () => safeDiscover({}, JSON.parse('{"grant":[]}')),
      /did you mean "grants"/,
    ],
    ["an invalid timeout", () => safeDiscover({}, {}, { timeout: 0 }), /options.timeout/],
    [
      "an invalid host",
      () => safeDiscover({}, {}, { allowHosts: ["localhost"] }),
      /options.allowHosts: .*HOST:PORT/,
    ],
    ["an invalid card", () => safeDiscover(JSON.parse("1"), {}), /card: must be/],
    [
      "an invalid key",
      () => safeDiscover({}, {}, { trustedKeys: JSON.parse("[1]") }),
      /options.trustedKeys/,
    ],
  ])("for %s", async (_what, call, message) => {
    await expect(call()).rejects.toThrow(TypeError);
    await expect(call()).rejects.toThrow(message);
  });
});

// Repeated where fetching the card can take all the time, on a busy machine.
describe("after safeDiscover has fetched a card", () => {
  const at = (url: string, more = {}): string =>
    JSON.stringify({
      ...card({ interfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] }),
      ...more,
    });

  test("a host look-up that never ends is stopped at the time limit", async () => {
    const server = await agentServer(at("https://slow.example/a2a"));
    const resolve = (): Promise<never> => new Promise(() => {});
    const late = () => found(server.url, {}, { timeout: 200, resolve });
    await expect.poll(late).toBe("card_timeout/interface");
  });

  test("a request for keys that is never answered is stopped at the time limit", async () => {
    const server = await httpServer((request, response) => {
      if (request.url !== PATH) return;
      const head = { alg: "ES256", kid: "k", jku: `${server.url}/keys` };
      const signature = {
        protected: Buffer.from(JSON.stringify(head)).toString("base64url"),
        signature: "AAAA",
      };
      sendText(response, at(`${server.url}/a2a`, { signatures: [signature] }));
    });
    const late = () => found(server.url, {}, { timeout: 200 });
    await expect.poll(late).toBe("card_timeout/interface");
  });

  test.each([
    [
      "to a public and a private address: refused",
      ["8.8.8.8", "127.0.0.1"],
      "address_refused/interface",
    ],
    ["to no address: refused", [], "card_unreachable/interface"],
    ["to public addresses: accepted", ["8.8.8.8", "2606:4700::1111"], "usable"],
  ])(
    "it judges all addresses of the interface's host, which resolves %s",
    async (_what, addresses, expected) => {
      const server = await agentServer(at("https://mixed.example/a2a"));
      const resolve = () =>
        Promise.resolve(
          addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        );
      expect(await found(server.url, {}, { resolve })).toBe(expected);
    },
  );
});

test("a shared cache does not let a caller reach a private host that only another caller has named", async () => {
  const cache = createCardCache();
  const params = { delegates: [] };
  const inner = await httpServer((_request, response) => {
    const url = "https://8.8.8.8/a2a";
    const interfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
    sendText(response, JSON.stringify(card({ interfaces, params })), {
      "Cache-Control": "max-age=600",
    });
  });
  expect(await found(inner.url, {}, { cache })).toBe("usable");
  expect(await found(inner.url, {}, { cache })).toBe("usable");
  expect(inner.requests.length).toBe(1);
  const delegates = [{ url: inner.url }];
  const outer = await httpServer((_request, response) => {
    const interfaces = [
      { url: `${outer.url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ];
    sendText(response, JSON.stringify(card({ interfaces, params: { delegates } })));
  });
  const chain = await discoverChain(outer.url, {}, { cache });
  expect(chain.ok ? [] : chain.denials.map(({ code }) => code)).toEqual(["address_refused"]);
  expect(await found(inner.url, {}, { cache, insecure: true })).toBe("usable");
  expect(inner.requests.length).toBe(2);
});

describe("judged by one card alone, an end-to-end requirement is met only if the card excludes delegates", () => {
  const reusing = (delegates?: readonly { readonly url: string }[]) =>
    card({
      params: {
        capabilities: { context_reuse: true, pause_resume: true },
        ...(delegates === undefined ? {} : { delegates }),
      },
    });
  const DELEGATES = [{ url: "https://b.example" }];

  test.each<[what: string, delegates: typeof DELEGATES | undefined, alone: boolean]>([
    ["has no list of delegates", undefined, false],
    ["lists delegates", DELEGATES, false],
    ["has an empty list of delegates", [], true],
  ])("for a card that %s", async (_what, delegates, alone) => {
    const document = reusing(delegates);
    for (const name of ["context_reuse", "pause_resume"]) {
      expect(await found(document, { endToEnd: [name] })).toBe(
        alone ? "usable" : "chain_unknown/delegates",
      );
      expect(judgeCard(readCard(document), { endToEnd: [name] }).ok).toBe(alone);
      const { ok, warnings } = await safeDiscover(document, { capabilities: [name] });
      const isOpen = name === "context_reuse" && !alone;
      expect([ok, warnings.map(({ code }) => code)]).toEqual([
        true,
        isOpen ? ["chain_unknown"] : [],
      ]);
    }
  });
});
