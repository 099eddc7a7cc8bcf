import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { httpServer } from "../support/loopback-servers.js";
import { ALICE, NASTY, type RunningAgent, sendJson, startAgent, UNSAFE } from "./agent.js";
import { Bench, document } from "./run.js";

const bench = new Bench();
let agent: RunningAgent;
beforeAll(async () => {
  agent = await startAgent();
  bench.write("access", `${ALICE}\n`);
});
afterAll(() => agent.stop());

const read = ["--grant", "documents:read", "--collection", "reports"];

describe("answers of an agent", () => {
  /** Starts an HTTP server that answers every request with the same status and text, in place of an agent. */
  async function answering(
    status: number,
    body: (id: unknown) => unknown,
    sent: Record<string, string> = {},
  ): Promise<string> {
    const card: object = JSON.parse(await (await fetch(agent.cardUrl)).text());
    const { url } = await httpServer((req, response) => {
      if (req.method === "GET") {
        const at = `http://${req.headers.host}/rpc`;
        const own = [{ url: at, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
        return sendJson(response, { ...card, supportedInterfaces: own });
      }
      let text = "";
      req.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      return req.on("end", () => {
        const value = body(JSON.parse(text).id);
        const content = typeof value === "string" ? value : JSON.stringify(value);
        response.writeHead(status, { "Content-Type": "application/json", ...sent }).end(content);
      });
    });
    return url;
  }

  const granting =
    (data: unknown) =>
    (id: unknown): object => {
      const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ data }] };
      return { jsonrpc: "2.0", id, result: { message } };
    };
  const failing =
    (code: number, message: string) =>
    (id: unknown): object => ({ jsonrpc: "2.0", id, error: { code, message } });

  test.each<[string, Parameters<typeof answering>, number, string, RegExp]>([
    [
      "capabilities that are not an array",
      [200, granting({ a: 1 })],
      6,
      "answer_malformed",
      /it lists no capabilities/,
    ],
    [
      "a capability that is not an object",
      [200, granting([1])],
      6,
      "answer_malformed",
      /is no object/,
    ],
    [
      "a capability without a token",
      [200, granting({ capabilities: [{}] })],
      6,
      "answer_malformed",
      /has no token/,
    ],
    [
      "a malformed token",
      [200, granting({ capabilities: [{ token: "AgKh" }] })],
      6,
      "answer_malformed",
      /cannot be read/,
    ],
    [
      "a pending approval without an id",
      [200, granting({ capabilities: [], pending: {} })],
      6,
      "answer_malformed",
      /the answer of .* cannot be used: its pending approval has no id/,
    ],
    [
      "JSON that is not an A2A answer",
      [200, () => ({ a: 1 })],
      6,
      "answer_malformed",
      /not what A2A 1.0 says/,
    ],
    ["a body that is not JSON", [200, () => "so long"], 6, "not_json", /not with JSON/],
    ["an empty answer", [200, () => ""], 6, "answer_malformed", /not what A2A 1.0 says/],
    [
      "an HTML page with HTTP 502",
      [502, () => "<html>"],
      6,
      "agent_failed",
      /failed: HTTP 502 Bad Gateway/,
    ],
    ["HTTP 429", [429, () => "", { "Retry-After": "7" }], 6, "rate_limited", /asked too often/],
    ["HTTP 403", [403, () => "{}"], 1, "forbidden", /refuses: HTTP 403/],
    [
      "a JSON-RPC internal error",
      [200, failing(-32603, NASTY)],
      6,
      "agent_failed",
      /failed: .*red/,
    ],
    [
      "a JSON-RPC error for an unknown method",
      [200, failing(-32004, "not here")],
      6,
      "agent_failed",
      /not here/,
    ],
    [
      "a WWW-Authenticate challenge",
      [
        401,
        () => "",
        {
          "WWW-Authenticate":
            'Bearer realm="x", scope="docs:read", error="invalid_token", error_description="it expired"',
        },
      ],
      4,
      "unauthenticated",
      /does not know who asks: it expired/,
    ],
  ])(
    "request explains a malformed answer or an error: %s",
    async (_what, [status, body, sent], exitCode, code, message) => {
      const url = await answering(status, body, sent);
      const args = ["request", url, ...read, "--access-token", "@access"];
      const [plain, json] = await Promise.all([bench.run(args), bench.run([...args, "--json"])]);
      expect(plain.stderr).toMatch(message);
      expect(plain.stderr).toMatch(/^proviso: .*\nhint: .*\n$/);
      expect(plain.stderr + json.stderr).not.toMatch(UNSAFE);
      expect({ status: plain.status, stdout: plain.stdout }).toEqual({
        status: exitCode,
        stdout: "",
      });
      expect(document(json.stderr)["error"]).toMatchObject({ code, exitCode });
      if (code === "rate_limited") expect(plain.stderr).toContain("hint: wait 7 s\n");
      if (code === "unauthenticated") {
        expect(plain.stderr).toContain(
          "hint: get a new access token; it must have the scope docs:read\n",
        );
      }
    },
  );

  test("invoke shows the denials that the error has as an array, and ignores the denials in a string", async () => {
    const denial = { code: "expired", message: "it has expired", hop: 2, rule: "expires" };
    const info = { reason: "denied", domain: "capabilities.proviso", metadata: { denials: "[]" } };
    const struct = {
      "@type": "type.googleapis.com/google.protobuf.Struct",
      value: { denials: [denial, { code: "revoked", message: NASTY }] },
    };
    const refusing = (data: unknown) =>
      answering(200, (id) => ({
        jsonrpc: "2.0",
        id,
        error: { code: -31403, message: "no", data },
      }));
    const invoke = async (url: string, ...args: string[]) =>
      bench.run([
        "invoke",
        url,
        "list_documents",
        "--ambient",
        "--access-token",
        "@access",
        ...args,
      ]);
    const url = await refusing([info, struct]);
    const { status, stderr } = await invoke(url);
    expect(stderr).toMatch(/^refused for 2 reasons\n {2}expired {2}hop 2, expires\n/);
    expect(stderr).not.toMatch(UNSAFE);
    expect(status).toBe(1);
    const json = await invoke(url, "--json");
    expect(document(json.stderr)["error"]).toMatchObject({
      denials: [denial, { code: "revoked" }],
    });
    // The command rejects an answer of any depth without recursion.
    let deep: unknown = "x";
    for (let depth = 0; depth < 30; depth++) deep = [deep];
    const value = { denials: [{ ...denial, expected: deep }] };
    expect((await invoke(await refusing([info, { ...struct, value }]))).stderr).not.toContain("[[");
  });

  test("invoke shows a skill's message about rejected arguments", async () => {
    const parts = [{ text: "the text is too long" }];
    const message = { messageId: "m", role: "ROLE_AGENT", parts };
    const task = { id: "t", status: { state: "TASK_STATE_REJECTED", message } };
    const url = await answering(200, (id) => ({ jsonrpc: "2.0", id, result: { task } }));
    const args = ["invoke", url, "list_documents", "--ambient", "--access-token", "@access"];
    const { status, stderr } = await bench.run(args);
    expect(stderr).toContain("the skill rejects the call: the text is too long\nhint: ");
    expect(status).toBe(1);
  });

  test("request escapes control characters in names of resources and in refusals", async () => {
    const { stdout: token } = await bench.run([
      "request",
      agent.url,
      "--access-token",
      "@access",
      ...read,
    ]);
    const handle = inspect(token.trim()).authority.resourceHandles?.[0];
    const url = await answering(
      200,
      granting({
        capabilities: [
          { token: token.trim(), legacy: NASTY, resourceHandles: [{ handle, displayName: NASTY }] },
        ],
        refused: [{ grant: NASTY, takenBy: NASTY, message: NASTY }],
      }),
    );
    for (const json of [[], ["--json"]]) {
      const run = await bench.run(["request", url, ...read, "--access-token", "@access", ...json]);
      expect(run.status).toBe(0);
      expect(run.stdout + run.stderr).not.toMatch(UNSAFE);
      expect(run.stdout + run.stderr).toContain("red");
    }
  });
});

test("request over the agent's rate limit exits with 6, and says how many seconds to wait", async () => {
  const busy = await startAgent({ rate: { requests: 1, seconds: 60 } });
  const args = ["request", busy.url, ...read, "--access-token", "@access"];
  expect((await bench.run(args)).status).toBe(0);
  for (const binding of ["jsonrpc", "rest"]) {
    const { status, stderr } = await bench.run([...args, "--binding", binding]);
    expect(status).toBe(6);
    expect(stderr).toMatch(/is asked too often: .*\nhint: wait \d+ s\n$/);
  }
  await busy.stop();
});

test("request refuses an agent without capabilities, without the requested binding, or without any interface", async () => {
  const card: { supportedInterfaces: { protocolBinding: string }[] } = JSON.parse(
    await (await fetch(agent.cardUrl)).text(),
  );
  const plain = await httpServer((_, response) => sendJson(response, { name: "plain" }));
  const rest = await httpServer((_, response) =>
    sendJson(response, {
      ...card,
      supportedInterfaces: card.supportedInterfaces.filter(
        (one) => one.protocolBinding !== "JSONRPC",
      ),
    }),
  );
  const none = await httpServer((_, response) =>
    sendJson(response, { ...card, supportedInterfaces: [] }),
  );
  const [first, second, third] = await Promise.all([
    bench.run(["request", plain.url, ...read]),
    bench.run(["request", rest.url, ...read, "--binding", "jsonrpc"]),
    bench.run(["request", none.url, ...read]),
  ]);
  expect(first.stderr).toContain(
    "plain offers no capabilities: its card does not name the extension",
  );
  expect(second.stderr).toBe(
    "proviso: documents-agent does not speak jsonrpc\nhint: it takes --binding rest\n",
  );
  expect(third.stderr).toContain("names no place where it speaks JSON-RPC or HTTP+JSON in A2A 1.0");
  expect([first.status, second.status, third.status]).toEqual([6, 2, 6]);
});
