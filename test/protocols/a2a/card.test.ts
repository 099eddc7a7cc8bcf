import { AgentCard } from "@a2a-js/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { type Answer, at, send } from "./callers.js";

// The requirements CARD-STRUCT-001 and CARD-CACHE-001 to 003 of A2A's conformance kit: the structure of the
// card, and its caching headers.

let agent: TestAgent;

beforeAll(async () => {
  agent = await startAgent();
});

afterAll(() => agent.remove());

function card(headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Answer> {
  return send(agent.server.cardUrl, { headers, method });
}

/** All properties that A2A 1.0 defines at the top level of a card. */
const MEMBERS = [
  "name",
  "description",
  "supportedInterfaces",
  "provider",
  "version",
  "documentationUrl",
  "capabilities",
  "securitySchemes",
  "securityRequirements",
  "defaultInputModes",
  "defaultOutputModes",
  "skills",
  "signatures",
  "iconUrl",
];
const PROPOSED = ["capabilityGrants", "capabilitiesRequired", "ambientAuthority"];
const NAMED = { "A2A-Extensions": `https://other.example/x, ${EXTENSION_URI}` };

test("the top level of the agent card has only properties that A2A 1.0 defines", async () => {
  const { body, headers } = await card();
  expect(MEMBERS).toEqual(expect.arrayContaining(Object.keys(body ?? {})));
  for (const required of ["name", "description", "version", "supportedInterfaces", "skills"]) {
    expect(at(body, required)).not.toBeNull();
  }
  expect(AgentCard.toJSON(AgentCard.fromJSON(body))).toEqual(body);
  expect(headers.get("a2a-extensions")).toBeNull();
  expect(headers.get("vary")).toBe("A2A-Extensions");
});

test("if a card request names the extension, the card has the extension's properties at its top level too", async () => {
  const [plain, named] = [await card(), await card(NAMED)];
  const params = at(plain.body, "capabilities", "extensions", 0, "params");
  const proposed = Object.fromEntries(PROPOSED.map((name) => [name, at(params, name)]));
  expect(Object.values(proposed)).not.toContain(null);
  expect(named.body).toEqual({ ...Object(plain.body), ...proposed });
  expect(named.headers.get("a2a-extensions")).toBe(EXTENSION_URI);
  expect(named.headers.get("vary")).toBe("A2A-Extensions");
  // If the request names another extension, or another version of this extension, the card is the plain one.
  for (const other of ["urn:proviso:a2a:capabilities:2", `${EXTENSION_URI}0`, ""]) {
    expect((await card({ "A2A-Extensions": other })).body).toEqual(plain.body);
  }
});

test("the agent card is cacheable, and a request with the card's ETag in If-None-Match gets 304", async () => {
  const { headers, text } = await card();
  const etag = headers.get("etag") ?? "";
  expect(headers.get("cache-control")).toMatch(/(^|, )max-age=[1-9]\d*$/);
  expect(etag).toMatch(/^"[\w-]+"$/);
  const since = headers.get("last-modified") ?? "";
  expect(new Date(since).toUTCString()).toBe(since);
  expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());

  const fresh = [etag, `W/${etag}`, "*", `"other", ${etag}`, `"a","b" , W/${etag}`];
  for (const tag of fresh) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await card({ "If-None-Match": tag }, method);
      expect({ tag, method, ...answer }).toMatchObject({ status: 304, text: "" });
      expect(answer.headers.get("etag")).toBe(etag);
      expect(answer.headers.get("vary")).toBe("A2A-Extensions");
      expect(answer.headers.get("cache-control")).toContain("max-age");
    }
  }
  for (const tag of ['"other"', etag.slice(1, -1), `"other", "another"`]) {
    expect(await card({ "If-None-Match": tag })).toMatchObject({ status: 200, text });
  }
});

test("If-Modified-Since of a card request is ignored if the request has If-None-Match", async () => {
  const { headers } = await card();
  const since = headers.get("last-modified") ?? "";
  const before = new Date(Date.parse(since) - 1000).toUTCString();
  const statusOf = async (given: Readonly<Record<string, string>>): Promise<number> =>
    (await card(given)).status;
  expect(await statusOf({ "If-Modified-Since": since })).toBe(304);
  expect(await statusOf({ "If-Modified-Since": before })).toBe(200);
  expect(await statusOf({ "If-Modified-Since": "yesterday" })).toBe(200);
  expect(await statusOf({ "If-Modified-Since": since, "If-None-Match": '"other"' })).toBe(200);
  const etag = headers.get("etag") ?? "";
  expect(await statusOf({ "If-Modified-Since": before, "If-None-Match": etag })).toBe(304);
});

test("the agent card has different ETags with and without the extension's properties at the top level", async () => {
  const [plain, named] = [await card(), await card(NAMED)];
  const etag = plain.headers.get("etag") ?? "";
  expect(named.headers.get("etag")).toMatch(/^"[\w-]+"$/);
  expect(named.headers.get("etag")).not.toBe(etag);
  expect((await card({ ...NAMED, "If-None-Match": etag })).status).toBe(200);
  // Both forms of the card have the same date, so If-Modified-Since cannot distinguish them.
  const since = plain.headers.get("last-modified") ?? "";
  expect((await card({ ...NAMED, "If-Modified-Since": since })).status).toBe(200);
  expect((await card({ "If-None-Match": named.headers.get("etag") ?? "" })).status).toBe(200);
  const head = await card(NAMED, "HEAD");
  expect(head).toMatchObject({ status: 200, text: "" });
  for (const name of ["etag", "content-length", "content-type", "last-modified"]) {
    expect(head.headers.get(name)).toBe(named.headers.get(name));
  }
});
