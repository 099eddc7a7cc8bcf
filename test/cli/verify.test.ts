import { beforeAll, describe, expect, test } from "vitest";
import { attenuate } from "../../src/index.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  macaroonToText,
  parseMacaroon,
} from "../../src/macaroon/index.js";
import { Bench, signatureForms } from "./run.js";

const bench = new Bench();
const other = new Bench();
let token = "";
beforeAll(async () => {
  await Promise.all([bench.init(), other.output("init", "--issuer", "someone-else")]);
  token = await bench.output(
    ...["mint", "--grant", "documents:read", "--principal", "user_7", "--op", "retrieve"],
    ...["--op", "search", "--resource", "rh_1", "--arg", "amount<=1000", "--arg", "to=acc_1"],
    ...["--invoker", "agent_1", "--audience", "files", "--expires", "1h"],
  );
});

const good = [
  "--grant",
  "documents:read",
  "--op",
  "retrieve",
  "--resource",
  "rh_1",
  "--arg",
  "amount=500",
  "--arg",
  "to=acc_1",
  "--invoker",
  "agent_1",
  "--audience",
  "files",
];

test("verify allows a call within the token's limits", async () => {
  const { status, stdout, stderr } = await bench.run(["verify", token, ...good]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(
    /^allowed\n {2}capability {2}cap_\S+\n {2}grant {7}documents:read\n {2}principal {3}user_7\n {2}expires {5}in 60 min \(\d.*Z\)\n$/,
  );
  expect(await bench.json("verify", token, ...good)).toMatchObject({
    status: 0,
    allowed: true,
    exitCode: 0,
    capability: { grant: "documents:read", principal: "user_7", issuer: "documents-agent" },
  });
});

test("verify reads an argument as JSON if it is JSON, else as a string", async () => {
  const typed = await bench.output("mint", "--grant", "g", "--op", "x", "--arg", 'n="5"');
  const results = await Promise.all(
    ['n="5"', "n=5", "n=five"].map((arg) =>
      bench.run(["verify", typed, "--grant", "g", "--op", "x", "--arg", arg]),
    ),
  );
  expect(results.map(({ status }) => status)).toEqual([0, 1, 1]);
  const run = await bench.run(["verify", typed, "--grant", "g", "--op", "x", "--arg", "n<=5"]);
  expect(run.status).toBe(2);
  expect(run.stderr).toContain("write it like amount=500 or to=acc_456");
});

test("verify lists every reason of a refusal", async () => {
  const asked = [
    "--grant",
    "documents:read",
    "--op",
    "retreive",
    "--resource",
    "rh_2",
    "--arg",
    "amount=2000",
    "--at",
    "2h",
  ];
  const refused = await bench.json("verify", token, ...asked);
  expect(refused).toMatchObject({ status: 1, exitCode: 1, allowed: false });
  expect(refused["denials"]).toMatchObject([
    { code: "operation_denied", hop: 1, actual: "retreive", nearest: "retrieve" },
    { code: "resource_denied", expected: ["rh_1"], actual: "rh_2" },
    { code: "constraint_violated", rule: "constraints.amount.max", expected: 1000, actual: 2000 },
    { code: "constraint_violated", rule: "constraints.to", expected: "acc_1" },
    { code: "expired", rule: "expires" },
    { code: "audience_denied", expected: ["files"] },
    { code: "invoker_denied", expected: ["agent_1"] },
  ]);
  const { status, stdout, stderr } = await bench.run(["verify", token, ...asked]);
  expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
  expect(stdout).toMatch(/^refused for 7 reasons\n/);
  for (const { code, rule, message } of refused["denials"]) {
    expect(stdout).toContain(`  ${code}  hop 1, ${rule}\n`);
    if (code !== "expired") expect(stdout).toContain(`    ${message}\n`);
  }
});

test("verify prints the arguments with which the call would be allowed, and allows the call with these arguments", async () => {
  const call = good.map((one) => (one === "amount=500" ? "amount=2000" : one));
  const asked = call.map((one) => (one === "to=acc_1" ? "to=acc_2" : one));
  const { status, stdout } = await bench.run(["verify", token, ...asked]);
  expect(status).toBe(1);
  expect(stdout).toContain('\n  allowed with amount=1000 and with to="acc_1"\n');
  const { denials } = await bench.json("verify", token, ...asked);
  const given = JSON.parse(JSON.stringify(denials)).map(
    ({ remedy }: { remedy: { pointer: string; value: string } }) =>
      `${remedy.pointer.slice(1)}=${remedy.value}`,
  );
  const others = good.filter((one) => !/^(amount|to)=/.test(one));
  const named = others.filter((one) => one !== "--arg");
  const again = ["verify", token, ...named, "--arg", given[0], "--arg", given[1]];
  expect((await bench.run(again)).status).toBe(0);
  // If the audience is wrong too, no other argument would make the call allowed.
  const elsewhere = await bench.run(["verify", token, ...asked, "--audience", "others"]);
  expect(elsewhere.stdout).not.toContain("allowed with");
});

test("verify --at accepts a duration or a time", async () => {
  const at = new Date(Date.now() + 90 * 60 * 1000).toISOString();
  const runs = await Promise.all([
    bench.run(["verify", token, ...good, "--at", at]),
    bench.run(["verify", token, ...good, "--at", "30m"]),
    bench.run(["verify", token, ...good, "--at", "then"]),
  ]);
  expect(runs.map(({ status }) => status)).toEqual([1, 0, 2]);
});

describe("verify refuses", () => {
  const flip = (text: string, at: number): string =>
    text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);

  const cases: readonly [string, () => string, number, string, RegExp][] = [
    [
      "a token that is cut short",
      () => token.slice(0, 116),
      3,
      "token_truncated",
      /copy the whole token/,
    ],
    [
      "text that is not a token",
      () => "abcdefgh",
      3,
      "token_malformed",
      /give the token itself, @FILE/,
    ],
    [
      "a token that is too large",
      () => `Ag${"A".repeat(50_000)}`,
      3,
      "token_too_large",
      /no token .* that large/,
    ],
    [
      "a macaroon that is not a capability",
      () => PLAIN,
      3,
      "token_malformed",
      /inspect shows any macaroon/,
    ],
    [
      "a token with the identifier of another grant",
      altered,
      4,
      "signature_mismatch",
      /do not trust it/,
    ],
    [
      "a token that is altered at its end",
      () => flip(token, token.length - 5),
      4,
      "signature_mismatch",
      /do not/,
    ],
    ["a token with hops in another order", reordered, 4, "signature_mismatch", /do not trust it/],
    ["a token with a hop left out", shortened, 4, "signature_mismatch", /do not trust it/],
    [
      "a token with an open third-party caveat",
      undischarged,
      4,
      "discharge_missing",
      /get the discharge/,
    ],
    ["a token with an unknown caveat", unknown, 1, "caveat_unknown", /proviso attenuate/],
  ];
  test.each(cases)("%s", async (_what, make, expected, code, advice) => {
    const args = ["verify", make(), ...good];
    const [refused, { status, stdout }] = await Promise.all([bench.json(...args), bench.run(args)]);
    expect(refused["denials"][0].code).toBe(code);
    expect(refused["denials"][0].hint ?? refused["denials"][0].message).toMatch(advice);
    expect([refused["status"], refused["exitCode"], status]).toEqual([
      expected,
      expected,
      expected,
    ]);
    expect(stdout).toMatch(advice);
    for (const form of signatureForms(token)) expect(stdout).not.toContain(form);
  });

  test("a token of another issuer, and names both issuers", async () => {
    const { status, denials } = await other.json("verify", token, ...good);
    expect(status).toBe(4);
    expect(denials).toMatchObject([
      { code: "foreign_issuer", expected: "someone-else", actual: "documents-agent" },
    ]);
    const { stdout } = await other.run(["verify", token, ...good]);
    expect(stdout).toContain("hint: verify it where it was issued, or give that issuer's --home");
  });

  const PLAIN = "AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA";

  function narrowed(): string {
    const first = attenuate(token, { operations: ["retrieve"] });
    const second = first.ok ? attenuate(first.token, { purpose: "second" }) : first;
    if (!second.ok) throw new Error("not narrowed");
    return second.token;
  }

  function rebuilt(change: (caveats: unknown[]) => unknown[]): string {
    const parsed = JSON.parse(v2Json(narrowed()));
    return JSON.stringify({ ...parsed, c: change(parsed.c) });
  }

  function v2Json(text: string): string {
    const { identifier, caveats, signature } = parseMacaroon(text);
    const decoder = new TextDecoder();
    return JSON.stringify({
      v: 2,
      i: decoder.decode(identifier),
      c: caveats.map((caveat) => ({ i: decoder.decode(caveat.identifier) })),
      s64: Buffer.from(signature).toString("base64url"),
    });
  }

  /** Converts the JSON of a token to the form in which a capability is presented. */
  function presented(json: string): string {
    return macaroonToText(parseMacaroon(json));
  }

  function altered(): string {
    return presented(v2Json(token).replace("documents:read", "documents:rite"));
  }

  function reordered(): string {
    return presented(rebuilt(([first, second, third]) => [first, third, second]));
  }

  function shortened(): string {
    return presented(rebuilt((caveats) => caveats.slice(0, -1)));
  }

  function undischarged(): string {
    const key = new TextEncoder().encode("shared with the third party");
    return macaroonToText(addThirdPartyCaveat(parseMacaroon(token), { key, identifier: "ask" }));
  }

  function unknown(): string {
    return macaroonToText(addFirstPartyCaveat(parseMacaroon(token), "time < 2030"));
  }
});
