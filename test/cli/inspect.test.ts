import { beforeAll, describe, expect, test } from "vitest";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonToText,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { Bench, signatureForms } from "./run.js";

const bench = new Bench();
let token = "";
let child = "";
beforeAll(async () => {
  await bench.init();
  token = await bench.output(
    ...["mint", "--grant", "documents:read", "--principal", "user_7", "--op", "retrieve"],
    ...["--op", "search", "--resource", "rh_1", "--arg", "amount<=1000"],
  );
  child = await bench.output(
    ...["attenuate", token, "--op", "retrieve", "--arg", "amount>=1", "--expires", "5m"],
    ...["--purpose", "read one report", "--max-further-hops", "1"],
  );
});

test("inspect shows each hop, the limits of all hops together, the time left, the size and the revocation id", async () => {
  const { status, stdout, stderr } = await bench.run(["inspect", child]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^Nothing was verified\. /);
  const text = stdout.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME");
  for (const line of [
    /^grant +documents:read$/m,
    /^principal +user_7$/m,
    /^issuer +documents-agent, key key_\S+$/m,
    /^expires +in 5 min \(TIME\)$/m,
    /^size +\d+ bytes$/m,
    /^revocation id +rv_\S{22}$/m,
    /^├─ hop 1 {2}the issuer's$/m,
    /^└─ hop 2$/m,
    /^ {6}purpose +"read one report"$/m,
    /^ {6}argument +amount >= 1$/m,
    /^ {6}further hops +at most 1$/m,
    /^what all hops together leave\n {2}operations +retrieve$/m,
    /^ {2}argument +amount >= 1, amount <= 1000$/m,
  ]) {
    expect(text).toMatch(line);
  }
});

test("inspect --json prints the content of a token, marked as not verified", async () => {
  const inspection = await bench.json("inspect", child);
  expect(inspection).toMatchObject({
    status: 0,
    verified: false,
    format: "v2",
    grant: "documents:read",
    capability: { grant: "documents:read", iss: "documents-agent" },
    authority: { operations: ["retrieve"], furtherHops: 1 },
    links: [{ number: 1 }, { number: 2, hop: { purpose: "read one report" } }],
    secondsLeft: expect.any(Number),
  });
  expect(inspection["secondsLeft"]).toBeGreaterThan(240);
});

test("inspect shows the signature and the token only with --reveal", async () => {
  const secrets = [child, ...signatureForms(child)];
  const [text, json, revealed, revealedJson] = await Promise.all([
    bench.run(["inspect", child]),
    bench.run(["inspect", child, "--json"]),
    bench.run(["inspect", child, "--reveal"]),
    bench.json("inspect", child, "--reveal"),
  ]);
  for (const secret of secrets) {
    expect(text.stdout + text.stderr).not.toContain(secret);
    expect(json.stdout + json.stderr).not.toContain(secret);
  }
  expect(revealed.stdout).toContain("secret: any holder of this can use the token");
  expect(revealed.stdout).toContain(child);
  expect(revealedJson).toMatchObject({ token: child, signature: signatureForms(child)[0] });
});

test("inspect warns of a token without operations, and of a URL limited by a prefix", async () => {
  const anything = await bench.output("mint", "--grant", "documents:read", "--any-op");
  const { stdout } = await bench.run(["inspect", anything]);
  expect(stdout).toContain(
    "warning: no hop names operations, so every operation of its grant is allowed\n",
  );
  // This package refuses to write such a hop, but another implementation may write it.
  const prefix = '{"operationConstraints":{"*":{"url":{"each":{"prefix":"https://a.example"}}}}}';
  const weak = macaroonToText(addFirstPartyCaveat(parseMacaroon(anything), prefix));
  expect((await bench.run(["inspect", weak])).stdout).toContain(
    'warning: link 2: "operationConstraints.*.url": the "prefix" "https://a.example"; a prefix ends ' +
      'inside a name, so give the folder in "url"\n',
  );
});

describe("inspect on any macaroon", () => {
  const key = createRootKey(new TextEncoder().encode("an example key, not a good one"));
  const build = (identifier: string, ...caveats: (string | Uint8Array)[]): string =>
    macaroonToText(
      caveats.reduce(addFirstPartyCaveat, createMacaroon(key, { identifier, location: "files" })),
    );

  test("shows caveats that are not hops as raw text or bytes, with a warning", async () => {
    const bytes = Uint8Array.of(0xff, 0x00, 0x1b);
    const { status, stdout } = await bench.run(["inspect", build("id", "time < 2030", bytes)]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^identifier +"id"$/m);
    expect(stdout).toMatch(/^location +"files"$/m);
    expect(stdout).toMatch(/hop 1 {2}not a hop: every check would refuse it/);
    expect(stdout).toMatch(/raw +"time < 2030"$/m);
    expect(stdout).toMatch(/raw +hex ff001b$/m);
    expect(stdout).toMatch(/warning: this is a macaroon, but not a capability of proviso/);
  });

  test("shows third-party caveats and discharges", async () => {
    const secret = new TextEncoder().encode("shared with the third party");
    const init = { key: secret, identifier: "ask", location: "https://third.example" };
    const root = addThirdPartyCaveat(parseMacaroon(token), init);
    const discharge = createMacaroon(createRootKey(secret), { identifier: "ask" });
    const { stdout } = await bench.run(["inspect"], {
      input: writeMacaroons([root, discharge], "v2json"),
    });
    expect(stdout).toMatch(/hop 2 {2}third party: needs a discharge/);
    expect(stdout).toMatch(/ask at +"https:\/\/third.example"/);
    expect(stdout).toMatch(/^discharge 1\nidentifier +"ask"\nno hops/m);
    expect(stdout).toMatch(/bytes as v2; this is v2json$/m);
  });

  // It clears the screen, sets the window's title, and has C1 controls, a line break, a right-to-left override
  // and zero-width characters.
  const hostile = "\u001b[2J\u001b]0;owned\u0007\u009b31m\nallowed\r\u202egnp\u200b\u{e0041}";
  const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

  test("escapes control characters, as verify, diff and attenuate do", async () => {
    const hop = JSON.stringify({ purpose: hostile, operations: [hostile] });
    const canonical = JSON.stringify({ operations: [hostile], purpose: hostile });
    const tokens = [
      build(hostile, hostile, hop, canonical),
      macaroonToText(addFirstPartyCaveat(parseMacaroon(token), canonical)),
      macaroonToText(addFirstPartyCaveat(parseMacaroon(token), hostile)),
    ];
    for (const one of tokens) {
      const runs = await Promise.all([
        bench.run(["inspect", one]),
        bench.run(["inspect", one, "--json"]),
        bench.run(["verify", one, "--grant", "documents:read", "--op", hostile]),
        bench.run(["verify", one, "--grant", "documents:read", "--op", hostile, "--json"]),
        bench.run(["diff", token, one]),
        bench.run(["attenuate", one, "--op", hostile]),
      ]);
      for (const { stdout, stderr } of runs) {
        for (const line of (stdout + stderr).split("\n")) expect(line).not.toMatch(unsafe);
      }
    }
    const { stdout } = await bench.run(["inspect", tokens[0] ?? ""]);
    expect(stdout).toContain(String.raw`"\u001b[2J\u001b]0;owned\u0007\u009b31m\nallowed\r\u202e`);
  });
});

test("inspect says what is wrong with a broken token, and at which position", async () => {
  const cut = await bench.run(["inspect", token.slice(0, 116)]);
  expect(cut.status).toBe(3);
  expect(cut.stderr).toMatch(
    /^proviso: .*\(at \d+\)\nhint: it was cut short; copy the whole token\n/,
  );
  const { stderr } = await bench.run(["inspect", `${token.slice(0, 20)}!`, "--json"]);
  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: "base64_character",
      message: expect.stringContaining('"!" is not a base64 character'),
      hint: expect.any(String),
      exitCode: 3,
      offset: 20,
    },
  });
});

test("inspect shows 3 of 40 handles, and all 40 with --json", async () => {
  const handles = Array.from({ length: 40 }, (_, at) => `rh_${String(at).padStart(22, "0")}`);
  const here = new Bench();
  await here.init();
  const flags = handles.flatMap((handle) => ["--resource", handle]);
  const minted = await here.output("mint", "--grant", "documents:read", "--op", "list", ...flags);
  const said = await here.output("inspect", minted);
  expect(said.match(/rh_\d+, rh_\d+, rh_\d+ and 37 more \(--json shows all 40\)$/gm)).toHaveLength(
    2,
  );
  const { authority } = await here.json("inspect", minted);
  expect(authority.resourceHandles).toEqual(handles);
});
