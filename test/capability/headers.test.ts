import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { CAPABILITY_LIMITS } from "../../src/capability/limits.js";
import { CAPABILITY_HEADER } from "../../src/protocols/a2a/extension.js";
import { attenuated, codes, fixture, GET, mint } from "./support.js";

// A capability for 200 resources, narrowed to 100 of them, fits beside an access token into the 16 KiB that Node
// allows for all headers of a request.

const HANDLES = Array.from({ length: 200 }, (_, at) => `rh_${`${at}`.padStart(22, "A")}`);
const ACCESS_TOKEN = "a".repeat(1536);
const HEADER_ROOM = 16 * 1024;

const { issuer } = fixture();

function attenuatedToken(): string {
  const parent = mint(issuer, { resourceHandles: HANDLES, principal: "user:alice@example.com" });
  return attenuated(parent, {
    resourceHandles: HANDLES.slice(0, 100),
    purpose: "the first hundred",
  });
}

/**
 * Sends headers to a server on loopback. Returns the status of the answer, and the capability header that the server
 * read.
 */
async function exchange(headers: Record<string, string>): Promise<[number, unknown]> {
  const server = createServer((req, res) => {
    res.end(JSON.stringify(req.headers[CAPABILITY_HEADER.toLowerCase()] ?? null));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return new Promise((done, failed) => {
    const sent = request({ host: "127.0.0.1", port, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part) => {
        body += part;
      });
      response.on("end", () => {
        done([response.statusCode ?? 0, body === "" ? null : JSON.parse(body)]);
      });
    });
    sent.on("error", failed).end();
  });
}

test("a capability for 200 resources, narrowed to 100, allows only the 100, and fits into a header beside an access token", () => {
  for (const handle of HANDLES) expect(handle).toHaveLength(25);
  const token = attenuatedToken();
  const call = { ...GET, resourceHandles: HANDLES.slice(0, 100) };
  expect(codes(issuer.authorize(token, call))).toEqual([]);
  expect(codes(issuer.authorize(token, { ...GET, resourceHandles: [HANDLES[100] ?? ""] }))).toEqual(
    ["resource_denied"],
  );
  expect(token.length + ACCESS_TOKEN.length).toBeLessThan(HEADER_ROOM);
});

test("Node's server accepts a capability narrowed from 200 resources to 100 in a header beside an access token", async () => {
  const token = attenuatedToken();
  const authorization = `Bearer ${ACCESS_TOKEN}`;
  const headers = { authorization, [CAPABILITY_HEADER]: token };
  expect(await exchange(headers)).toEqual([200, token]);
});

test("Node's server accepts a header with a token of the maximum size", async () => {
  const token = Buffer.alloc(CAPABILITY_LIMITS.bytes, 1).toString("base64url");
  const headers = { authorization: `Bearer ${ACCESS_TOKEN}`, [CAPABILITY_HEADER]: token };
  expect(await exchange(headers)).toEqual([200, token]);
  const more = { ...headers, "X-More": "x".repeat(HEADER_ROOM - token.length) };
  expect((await exchange(more))[0]).toBe(431);
});
