import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpServer } from "../support/loopback-servers.js";
import { ALICE, type RunningAgent, sendJson, startAgent } from "./agent.js";
import { Bench, document, type Run } from "./run.js";

const bench = new Bench();
let agent: RunningAgent;
beforeAll(async () => {
  agent = await startAgent();
  bench.write("access", `${ALICE}\n`);
});
afterAll(() => agent.stop());

const read = ["--grant", "documents:read", "--collection", "reports"];

describe("the access token of proviso request", () => {
  const ask = (args: readonly string[], options: Parameters<Bench["run"]>[1] = {}): Promise<Run> =>
    bench.run(["request", agent.url, ...read, ...args], options);

  test("is read from a file, standard input or PROVISO_ACCESS_TOKEN; --access-token overrides the variable", async () => {
    const runs = await Promise.all([
      ask(["--access-token", "@access"]),
      ask(["--access-token", "-"], { input: ALICE }),
      ask(["--access-token", "-"], { input: `Bearer ${ALICE}` }),
      ask([], { env: { PROVISO_ACCESS_TOKEN: ALICE } }),
      // The option takes precedence over the variable.
      ask(["--access-token", "@access"], { env: { PROVISO_ACCESS_TOKEN: "nobody-knows-this" } }),
    ]);
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
  });

  test.each<[string, string, number, RegExp]>([
    [
      "given as an argument",
      ALICE,
      2,
      /not typed into a command line\nhint: write it to a file and give @FILE/,
    ],
    ["a missing file", "@none", 6, /could not read none: there is no such file/],
    ["an empty file", "@empty", 3, /empty: there is no access token/],
    [
      "a JSON answer in place of a token",
      "@answer",
      3,
      /answer: this is JSON.*\nhint: take its "access_token" property/,
    ],
    ["a file with two lines", "@lines", 3, /lines: this has characters that no access token has/],
    ["a file that is too long", "@long", 3, /at most 8192 characters/],
  ])("is refused with an explanation: %s", async (_what, source, expected, message) => {
    bench.write("empty", " \n");
    bench.write("answer", JSON.stringify({ access_token: ALICE }));
    bench.write("lines", `${ALICE}\r\nX-Evil: 1`);
    bench.write("long", "a".repeat(9000));
    const { status, stdout, stderr } = await ask(["--access-token", source]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(ALICE);
    expect({ status, stdout }).toEqual({ status, stdout: "" });
    expect(status).toBe(expected);
  });

  test.each(["jsonrpc", "rest"])(
    "is refused with a hint if it is missing or unknown to the agent, over %s",
    async (binding) => {
      const [none, wrong] = await Promise.all([
        ask(["--binding", binding]),
        ask(["--binding", binding, "--json"], {
          env: { PROVISO_ACCESS_TOKEN: "nobody-knows-this" },
        }),
      ]);
      expect([none.status, wrong.status]).toEqual([1, 4]);
      expect(none.stderr).toMatch(/does not know who asks: .*\nhint: give your access token/);
      expect(document(wrong.stderr)["error"]).toMatchObject({
        code: "token_invalid",
        message: expect.stringContaining("this agent does not know the token"),
        hint: "get a new access token",
        exitCode: 4,
      });
      expect(wrong.stderr).not.toContain("nobody-knows-this");
    },
  );
});

describe("the access token of proviso request", () => {
  const headers = { PROVISO_ACCESS_TOKEN: ALICE };

  test("is sent to an interface at another origin than the card's only if --allow-origin names that origin", async () => {
    const card: unknown = await (await fetch(agent.cardUrl)).json();
    const elsewhere = await httpServer((_, response) => sendJson(response, card));
    const args = ["request", elsewhere.url, ...read];
    const refused = await bench.run(args, { env: headers });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toBe(
      `proviso: the agent's card leads to another origin, ${agent.url}: no token is sent there\n` +
        `hint: --allow-origin ${agent.url} allows it, if you trust that place with your tokens\n`,
    );
    const allowed = await bench.run([...args, "--allow-origin", agent.url], { env: headers });
    expect(allowed.status).toBe(0);
    for (const { headers: sent } of elsewhere.requests) expect(sent.authorization).toBeUndefined();
  });

  test("is not sent to the target of a redirect", async () => {
    const trap = await httpServer((_, response) => sendJson(response, {}));
    const card: { supportedInterfaces: object[] } = JSON.parse(
      await (await fetch(agent.cardUrl)).text(),
    );
    const odd = await httpServer((req, response) => {
      if (req.method === "GET") {
        const url = `http://${req.headers.host}/rpc`;
        const own = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
        return sendJson(response, { ...card, supportedInterfaces: own });
      }
      return response.writeHead(307, { Location: `${trap.url}/rpc` }).end();
    });
    const { status, stderr } = await bench.run(["request", odd.url, ...read], { env: headers });
    expect(status).toBe(6);
    expect(stderr).toContain(`/rpc leads to ${trap.url}/rpc, and redirects are not followed`);
    expect(odd.requests.at(-1)?.headers.authorization).toBe(`Bearer ${ALICE}`);
    expect(trap.requests).toHaveLength(0);
  });
});
