import { beforeAll, describe, expect, test } from "vitest";
import { Visitor, words } from "../console/visitor.js";
import { freePort } from "../support/free-port.js";
import { Bench, type Document, document } from "./run.js";
import { CONFIG, serve, TOKENS, writeAgent } from "./serving.js";

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  writeAgent(bench);
});

const LOGIN = { issuer: "https://login.example", clientId: "console" };
const PROTOCOLS = ["a2a", "approvals"];

describe("the approvals console of a served agent", () => {
  test("is served beside the other protocols; users sign in with development tokens", async () => {
    const { running, url } = await serve(bench, { ...CONFIG, protocols: PROTOCOLS });
    expect(document(running.stdout)).toMatchObject({
      approvalsUrl: `${url}/approvals`,
      rpcUrl: `${url}/a2a/jsonrpc`,
    });
    const alice = new Visitor(`${url}/approvals`);
    const page = await alice.post("/login", { token: TOKENS.alice, to: "/" }, "/");
    expect(page.text).toContain("approvals of Notes agent");
    expect(words(page.text)).toContain("Nothing waits for you.");
    running.stop();
    expect(await running.ended).toBe(0);
    expect(running.stderr).toMatch(/"binding":"approvals"/);
    expect(running.stderr).toContain("WARNING: approvals: presence is not checked");
    expect(running.stderr).not.toContain(TOKENS.alice);
  });

  test("reads the client secret for the identity provider from a file, and does not log it", async () => {
    bench.write("secret.txt", "a-secret-of-the-client\n");
    const login = {
      ...LOGIN,
      issuer: "http://127.0.0.1:9",
      clientSecret: { file: "secret.txt" },
      presence: { amr: ["hwk"] },
      clockSkew: 5,
    };
    const config = { ...CONFIG, protocols: PROTOCOLS, approvals: { login, lifetime: "30m" } };
    const { running, url } = await serve(bench, config);
    const page = await new Visitor(`${url}/approvals`).get();
    expect(page.status).toBe(503);
    expect(words(page.text)).toContain("The identity provider cannot be reached");
    running.stop();
    await running.ended;
    expect(running.stderr).not.toContain("a-secret-of-the-client");
    expect(running.stderr).not.toContain("presence is not checked");
  });
});

describe("serve refuses a configuration of the console", () => {
  const jwt = { issuer: "https://a.example", audience: "a", jwks: "https://a.example/jwks" };
  test.each<[string, Document, string]>([
    [
      "that is set without the console among the protocols",
      { approvals: {} },
      "approvals: has no effect",
    ],
    [
      "without a login where callers have access tokens",
      { protocols: PROTOCOLS, authentication: jwt },
      "approvals.login: is missing",
    ],
    [
      "without a login at a public address",
      { protocols: PROTOCOLS, publicUrl: "https://notes.example", listen: { port: 1 } },
      "approvals.login: is missing",
    ],
    [
      "with an issuer over plain http",
      { protocols: PROTOCOLS, approvals: { login: { ...LOGIN, issuer: "http://a.example" } } },
      "approvals.login.issuer: must be an https: URL",
    ],
    [
      "with a misspelt property",
      { protocols: PROTOCOLS, approvals: { login: { ...LOGIN, clientID: "a" } } },
      'approvals.login.clientID: unknown property; did you mean "clientId"?',
    ],
    [
      "with the client secret itself",
      { protocols: PROTOCOLS, approvals: { login: { ...LOGIN, clientSecret: "x" } } },
      'approvals.login.clientSecret: must have "file" or "env"',
    ],
    [
      "with a client secret from a missing file",
      {
        protocols: PROTOCOLS,
        approvals: { login: { ...LOGIN, clientSecret: { file: "no.txt" } } },
      },
      "approvals.login.clientSecret.file: cannot be read",
    ],
    [
      "with a client secret from an unset variable",
      { protocols: PROTOCOLS, approvals: { login: { ...LOGIN, clientSecret: { env: "NONE" } } } },
      "approvals.login.clientSecret.env: names the variable NONE, which is not set",
    ],
    [
      "that requires proof of presence without values for it",
      { protocols: PROTOCOLS, approvals: { login: { ...LOGIN, presence: {} } } },
      "approvals.login.presence: ",
    ],
    [
      "with empty lists for proof of presence",
      { protocols: PROTOCOLS, approvals: { login: { ...LOGIN, presence: { acr: [] } } } },
      "approvals.login.presence: must name at least one value",
    ],
    [
      "with a clock skew that is too large",
      { protocols: PROTOCOLS, approvals: { login: { ...LOGIN, clockSkew: 3600 } } },
      "approvals.login.clockSkew: ",
    ],
    [
      "with a session longer than a day",
      { protocols: PROTOCOLS, approvals: { lifetime: "3d" } },
      "approvals.lifetime: must be from 1m to 1d",
    ],
  ])("%s", async (_, change, expected) => {
    const port = await freePort();
    bench.write("broken.json", JSON.stringify({ ...CONFIG, listen: { port }, ...change }));
    const { status, stderr } = await bench.run(["serve", "broken.json", "--json"]);
    expect(status).toBe(6);
    const [problem] = document(stderr)["error"]["problems"];
    expect(problem.message.slice(0, expected.length)).toBe(expected);
  });
});
