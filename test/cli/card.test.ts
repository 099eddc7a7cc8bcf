import { spawnSync } from "node:child_process";
import { createServer as createTlsServer } from "node:https";
import { createServer as createSocketServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/bytes/json.js";
import { card } from "../discovery/cards.js";
import { httpServer } from "../support/loopback-servers.js";
import { ALICE, NASTY, type RunningAgent, sendJson, startAgent, UNSAFE } from "./agent.js";
import { Bench, document } from "./run.js";

const bench = new Bench();
let required: RunningAgent;
let preferred: RunningAgent;
beforeAll(async () => {
  [required, preferred] = await Promise.all([startAgent(), startAgent({ mode: "prefer" })]);
});
afterAll(() => Promise.all([required.stop(), preferred.stop()]));

const CARD_PATH = "/.well-known/agent-card.json";
const PLAIN = { name: "plain", version: "1", skills: [{ id: "chat", name: "Chat" }] };

test("card shows an agent's interfaces, grants, collections and skills", async () => {
  const { status, stdout, stderr } = await bench.run(["card", required.url]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const lines = stdout.split("\n");
  expect(lines.slice(0, 2)).toEqual(["documents-agent 1.2.3", "Documents of a small firm"]);
  for (const line of [
    `  JSONRPC    ${required.rpcUrl}  (A2A 1.0)`,
    `  HTTP+JSON  ${required.restUrl}  (A2A 1.0)`,
    "Capabilities are required: ambient authority is not accepted.",
    "  documents:read  Read documents",
    "    operations  retrieve, list, fail",
    "    attenuable  yes",
    "collections",
    "  reports",
    "    fields  quarter, year",
    "  notes",
    "    attenuable  no: it cannot be narrowed or passed on",
    "    requires    documents:read",
    "    operations  all",
    "  retrieve_document  The text of one document",
    "    operation  retrieve, on a resource",
    "    argument   resourceHandle (handle): which one",
    "    argument   format (text|title, optional)",
    "    argument   documents (array of handle)",
    "    operation  list, on all that is left in the capability",
    "    arguments  none",
  ]) {
    expect(lines).toContain(line);
  }
  expect(stdout).toMatch(/^ {4}legacy {6}wraps a service that knows no capabilities/m);
});

test("card says whether ambient authority is accepted", async () => {
  expect(await bench.output("card", preferred.url)).toContain(
    "Ambient authority is still accepted: calls without a capability use the caller's own.",
  );
  const strict = await startAgent({ mode: "prefer", undeclaredAmbient: "refused" });
  try {
    expect(await bench.output("card", strict.url)).toContain(
      "Ambient authority is accepted if it is declared: proviso invoke --ambient does that.",
    );
  } finally {
    await strict.stop();
  }
  const silent = await httpServer((_, response) =>
    sendJson(response, { ...PLAIN, capabilityGrants: [{ id: "g", legacy: true }] }),
  );
  const text = await bench.output("card", silent.url);
  expect(text).toContain("The card does not say whether ambient authority is accepted.");
  expect(text).toContain("It lists grants, but does not name the extension to ask for them with.");
  expect(text).toContain("with reduced guarantees, of which the card says no more");
});

test("card --json prints the card as the agent serves it", async () => {
  const served: unknown = await (await fetch(required.cardUrl)).json();
  const { stdout } = await bench.run(["card", required.cardUrl, "--json"]);
  expect(document(stdout)).toEqual(served);
});

const CONTRACT: JsonObject = {
  minProtocolVersion: "1.0",
  maxProtocolVersion: "1.2",
  capabilities: { pause_resume: true, multi_tenant: false },
  delegates: [
    { url: "https://archive.example", capabilities: ["pause_resume"] },
    { url: "https://clock.example" },
  ],
};

test("card shows declared capabilities, versions and delegates of a card from an agent or a file", async () => {
  const document = card({ params: CONTRACT, extensions: [{ uri: "urn:acme:voice" }] });
  const agent = await httpServer((_, response) => sendJson(response, document));
  bench.write("declared.json", JSON.stringify(document));
  for (const place of [agent.url, "declared.json"]) {
    const lines = (await bench.output("card", place)).split("\n");
    for (const line of [
      "  JSONRPC  https://agent.example/a2a  (A2A 1.0 to 1.2)",
      "  declares    streaming, pause_resume",
      "  denies      multi_tenant",
      "  versions    1.0 to 1.2",
      "  delegates   https://archive.example (pause_resume), https://clock.example",
      "  extensions  urn:proviso:a2a:discovery:1, urn:acme:voice",
    ]) {
      expect(lines).toContain(line);
    }
  }
});

test("card says if a card lists no delegates, has signatures that are not verified, or contradicts itself", async () => {
  bench.write("open.json", JSON.stringify({ ...card(), signatures: [{}, {}] }));
  const open = await bench.output("card", "open.json");
  expect(open).toContain("  delegates   the card does not say\n");
  expect(open).toContain("  signatures  2, not verified here\n");
  bench.write("bad.json", JSON.stringify(card({ capabilities: { send_message: false } })));
  expect(await bench.output("card", "bad.json")).toContain(
    "  discover refuses this card: /capabilities/send_message: denies send_message",
  );
});

test("card shows the A2A versions of a card from before 1.0", async () => {
  const { supportedInterfaces: _, ...others } = Object(card());
  const old = { ...others, url: "https://old.example" };
  bench.write("old.json", JSON.stringify({ ...old, protocolVersion: "0.3.0" }));
  expect(await bench.output("card", "old.json")).toContain("https://old.example  (A2A 0.3)");
  bench.write("oldest.json", JSON.stringify(old));
  expect(await bench.output("card", "oldest.json")).toContain("(A2A 0.1 to 0.2)");
});

test("after a 404, card tries the path that A2A used before 0.3, and prints a note", async () => {
  const older = await httpServer((request, response) =>
    request.url === "/.well-known/agent.json"
      ? sendJson(response, PLAIN)
      : response.writeHead(404).end(),
  );
  const { status, stdout, stderr } = await bench.run(["card", older.url]);
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^note: .*agent\.json, where A2A/)]);
  expect(stdout).toMatch(/^plain 1\n/);
  expect((await bench.run(["card", `${older.url}/a.json`])).status).toBe(6);
  const lost = await httpServer((_, response) => response.writeHead(404).end());
  const { stderr: nothing } = await bench.run(["card", lost.url]);
  expect(nothing).toContain("HTTP 404, nor at /.well-known/agent.json");
  const away = await httpServer(({ url }, response) =>
    url === CARD_PATH
      ? response.writeHead(404).end()
      : response.writeHead(302, { Location: "https://elsewhere.example/" }).end(),
  );
  expect((await bench.run(["card", away.url])).stderr).toContain("https://elsewhere.example");
  const page = Buffer.from("<h1>G\u00e9n\u00e9ral</h1>", "latin1");
  const latin = await httpServer((_, response) => response.writeHead(503).end(page));
  expect((await bench.run(["card", latin.url])).stderr).toContain("HTTP 503");
  const failing = await httpServer((_, response) => response.writeHead(503).end());
  await bench.run(["card", failing.url]);
  expect(failing.requests.map(({ url }) => url)).toEqual([CARD_PATH]);
});

test('card prints "No capabilities" for an agent whose card does not name the extension', async () => {
  const plain = await httpServer((_, response) => sendJson(response, PLAIN));
  const { status, stdout } = await bench.run(["card", plain.url]);
  expect(status).toBe(0);
  expect(stdout).toContain("No capabilities: this agent's card does not name the extension\n");
  expect(stdout).toContain("Every call rests on the caller's ambient authority.");
  expect(stdout).toContain("  chat  Chat");
});

test("card accepts the address of an agent or of its card, and sends no access token", async () => {
  const plain = await httpServer((_, response) => sendJson(response, PLAIN));
  const env = { PROVISO_ACCESS_TOKEN: ALICE };
  for (const path of ["", "/", "/agents/one", "/agents/one/?x=1#y", "/cards/one.json?x=1"]) {
    expect((await bench.run(["card", `${plain.url}${path}`], { env })).status).toBe(0);
  }
  expect(plain.requests.map(({ url }) => url)).toEqual([
    CARD_PATH,
    CARD_PATH,
    `/agents/one${CARD_PATH}`,
    `/agents/one${CARD_PATH}`,
    "/cards/one.json?x=1",
  ]);
  for (const { headers } of plain.requests) expect(headers.authorization).toBeUndefined();
});

test("card escapes control characters of a card", async () => {
  const nasty = await httpServer((_, response) =>
    sendJson(response, {
      name: NASTY,
      version: NASTY,
      description: NASTY,
      supportedInterfaces: [{ url: NASTY, protocolBinding: NASTY, protocolVersion: NASTY }],
      skills: [{ id: NASTY, description: NASTY }],
      capabilityGrants: [
        {
          id: NASTY,
          description: NASTY,
          operations: [NASTY],
          requires: [NASTY],
          legacy: true,
          notice: NASTY,
        },
      ],
    }),
  );
  for (const json of [[], ["--json"]]) {
    const { stdout, stderr } = await bench.run(["card", nasty.url, ...json]);
    expect(stdout + stderr).not.toMatch(UNSAFE);
    expect(stdout).toContain("red");
  }
});

describe("card explains why there is no card", () => {
  test.each<[string, readonly string[], number, RegExp]>([
    ["an address without a scheme", ["localhost:8080"], 2, /does not begin with https:\/\//],
    [
      "an address with another scheme",
      ["ftp://agent.example"],
      2,
      /does not begin with https:\/\//,
    ],
    ["an address without a host", ["https://"], 2, /not a valid URL/],
    [
      "plain http to another machine",
      ["http://agent.example"],
      2,
      /plain http: tokens would travel to agent.example in/,
    ],
    [
      "a password in the address",
      ["https://me:hunter22@agent.example"],
      2,
      /holds a user's name or password/,
    ],
    [
      "an unknown host",
      ["https://agent.invalid"],
      6,
      /no host of that name|could not be looked up/,
    ],
    ["a port that fetch refuses to use", ["http://127.0.0.1:22"], 6, /no agent is at this port/],
    ["an invalid timeout", ["https://agent.example", "--timeout", "soon"], 2, /from 1s to 1h/],
  ])("for %s", async (_what, args, expected, message) => {
    const { status, stdout, stderr } = await bench.run(["card", ...args]);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^proviso: .*\nhint: .*\n$/);
    expect(stderr).not.toContain("hunter22");
    expect({ status, stdout }).toEqual({ status: expected, stdout: "" });
  });

  test("for an unknown host, even over plain http with --insecure", async () => {
    const { status, stderr } = await bench.run(["card", "http://agent.invalid", "--insecure"]);
    expect(status).toBe(6);
    expect(stderr).toContain("could not reach http://agent.invalid: ");
  });

  test.each<[string, Parameters<typeof httpServer>[0], string, RegExp]>([
    [
      "missing (HTTP 404)",
      (_, response) => sendJson(response, {}, 404),
      "card_missing",
      /HTTP 404/,
    ],
    [
      "an HTML page",
      (_, response) => response.end("<html>"),
      "not_json",
      /HTTP 200 with no content type/,
    ],
    [
      "not a card",
      (_, response) => sendJson(response, ["a"]),
      "not_a_card",
      /is not an Agent Card/,
    ],
    ["late", () => {}, "timed_out", /did not answer within 1 s/],
    ["cut off", (_, response) => response.destroy(), "unreachable", /closed the connection/],
    [
      "cut off inside its body",
      (_, response) => {
        response.writeHead(200, { "Content-Length": 100 }).write("{");
        setTimeout(() => response.destroy(), 50);
      },
      "unreachable",
      /closed the connection/,
    ],
    [
      "nested too deeply",
      (_, response) => response.end(`{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
      "answer_malformed",
      /nested more than 64 deep/,
    ],
    [
      "endless",
      (_, response) => {
        const chunk = Buffer.alloc(1024 * 1024, " ");
        const more = (): void => {
          while (!response.destroyed && response.write(chunk)) {}
        };
        response.on("drain", more);
        more();
      },
      "answer_too_large",
      /more than 16777216 bytes/,
    ],
  ])("if the agent's answer is %s", async (what, answer, code, message) => {
    const { url } = await httpServer(answer);
    const args = ["card", url, "--timeout", what === "late" ? "1s" : "20s", "--json"];
    // The endless answer needs a separate process, since it would block this one.
    const { status, stdout, stderr } = await (what === "endless"
      ? bench.spawned(args)
      : bench.run(args));
    expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
    const { error } = document(stderr);
    expect(error).toMatchObject({ code, exitCode: 6, hint: expect.any(String) });
    expect(error.message).toMatch(message);
  });

  test("for a redirect, and names the redirect's target without requesting the target", async () => {
    const target = await httpServer((_, response) => sendJson(response, PLAIN));
    const { url } = await httpServer((_, response) =>
      response.writeHead(302, { Location: `${target.url}/x?secret=1` }).end(),
    );
    const { status, stderr } = await bench.run(["card", url]);
    expect(status).toBe(6);
    expect(stderr).toContain(`leads to ${target.url}/x, and redirects are not followed`);
    expect(target.requests).toHaveLength(0);
  });

  test("for a port where nothing listens, a server that does not speak HTTP, and a server that does not speak TLS", async () => {
    const free = await listening(createSocketServer());
    await new Promise((resolve) => free.server.close(resolve));
    const mail = await listening(
      createSocketServer((socket) => {
        socket.on("error", () => {});
        socket.end("220 mail.example ESMTP\r\n");
      }),
    );
    const [none, smtp, tls] = await Promise.all([
      bench.run(["card", `http://127.0.0.1:${free.port}`]),
      bench.run(["card", `http://127.0.0.1:${mail.port}`]),
      bench.run(["card", required.url.replace("http:", "https:")]),
    ]);
    expect(none.stderr).toContain("nothing listens there");
    expect(smtp.stderr).toContain("does not speak HTTP");
    expect(tls.stderr).toContain("over TLS (ERR_SSL_");
    expect([none.status, smtp.status, tls.status]).toEqual([6, 6, 6]);
    mail.server.close();
  });

  const pem = certificate();
  test.runIf(pem !== "")(
    "for a self-signed certificate that is not in NODE_EXTRA_CA_CERTS",
    async () => {
      const { server, port } = await listening(
        createTlsServer({ key: pem, cert: pem }, (_, response) => sendJson(response, PLAIN)),
      );
      const args = ["card", `https://localhost:${port}`];
      const untrusted = await bench.spawned(args);
      expect(untrusted.status).toBe(6);
      expect(untrusted.stderr).toMatch(/its certificate is not trusted here: self.signed/);
      const trusted = { env: { NODE_EXTRA_CA_CERTS: bench.write("ca.pem", pem) } };
      expect((await bench.spawned(args, trusted)).status).toBe(0);
      server.close();
    },
  );
});

async function listening<T extends Server>(server: T): Promise<{ server: T; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, port: typeof address === "object" ? (address?.port ?? 0) : 0 };
}

/** Returns a key and its self-signed certificate for `localhost`; empty strings if openssl is not installed. */
function certificate(): string {
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const { status, stdout } = spawnSync("openssl", [
    ...args,
    "-nodes",
    "-keyout",
    "-",
    "-out",
    "-",
    "-days",
    "2",
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost",
  ]);
  if (status === 0) return stdout.toString();
  process.stderr.write(
    "cli: openssl is missing, certificates are not tested: apt-get install openssl\n",
  );
  return "";
}
