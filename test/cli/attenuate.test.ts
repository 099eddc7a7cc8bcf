import { beforeAll, describe, expect, test } from "vitest";
import { inspect, revocationId } from "../../src/index.js";
import { MAIN } from "../support/built.js";
import { Bench, document, runProgram, TOKEN } from "./run.js";

const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init();
  token = await bench.output(
    ...["mint", "--grant", "documents:read", "--op", "retrieve", "--op", "search"],
    ...["--arg", "amount<=1000"],
  );
  bench.write("token", `${token}\n`);
});

test("attenuate prints the child token and nothing else", async () => {
  const { status, stdout, stderr } = await bench.run(["attenuate", token, "--op", "retrieve"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.trimEnd()).toMatch(TOKEN);
  const [, hop] = inspect(stdout.trimEnd()).links;
  expect(hop?.hop).toEqual({
    operations: ["retrieve"],
    nonce: expect.stringMatching(/^[\w-]{16}$/),
  });
});

test("attenuate --json prints the child with its hop, its expiry and its ids", async () => {
  const child = await bench.json("attenuate", token, "--op", "retrieve", "--expires", "5m");
  expect(child).toEqual({
    status: 0,
    token: expect.stringMatching(TOKEN),
    id: inspect(token).capability?.id,
    hop: { operations: ["retrieve"], expires: child["expires"], nonce: expect.any(String) },
    expires: expect.stringMatching(/Z$/),
    revocationId: revocationId(child["token"]),
  });
});

test("attenuate needs no home, no key and no network", async () => {
  const env = { PROVISO_HOME: "/nonexistent/home", HOME: undefined, XDG_DATA_HOME: undefined };
  const [plain, traced] = await Promise.all([
    runProgram(process.execPath, [MAIN, "attenuate", token, "--op", "retrieve"], { env }),
    // A preloaded module refuses every socket, and every file outside the folders of the program.
    runProgram(
      process.execPath,
      [
        "--import",
        `data:text/javascript,${encodeURIComponent(GUARD)}`,
        MAIN,
        "attenuate",
        token,
        "--op",
        "retrieve",
      ],
      { env },
    ),
  ]);
  expect(plain).toMatchObject({ status: 0, stderr: "" });
  expect(traced).toMatchObject({ status: 0, stderr: "" });
});

const GUARD = `
import net from "node:net";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
net.Socket.prototype.connect = () => { throw new Error("network"); };
for (const name of ["openSync", "readFileSync", "statSync", "existsSync", "mkdirSync"]) {
  const real = fs[name];
  fs[name] = (path, ...rest) => {
    if (/nonexistent|keyring\\.json|store\\.db/.test(String(path))) throw new Error("home");
    return real(path, ...rest);
  };
}
syncBuiltinESMExports();
`;

test("attenuate makes two different children from equal restrictions; with --no-nonce the children are equal", async () => {
  const narrow = ["attenuate", token, "--op", "retrieve"];
  const [a, b, c, d, plain] = await Promise.all([
    bench.output(...narrow),
    bench.output(...narrow),
    bench.output(...narrow, "--no-nonce"),
    bench.output(...narrow, "--no-nonce"),
    bench.output("attenuate", token),
  ]);
  expect(a).not.toBe(b);
  expect(c).toBe(d);
  expect(inspect(plain ?? "").links[1]?.hop).toEqual({ nonce: expect.any(String) });
});

test("attenuate --no-nonce without a restriction or a purpose is a usage error", async () => {
  const { status, stderr } = await bench.run(["attenuate", token, "--no-nonce"]);
  expect(status).toBe(2);
  expect(stderr).toContain("nothing to take away");
});

describe("attenuate with a restriction beyond the token", () => {
  const later = new Date(Date.now() + 2 * 24 * 3600 * 1000).toISOString();
  const wide = ["--op", "retreive", "--arg", "amount<=2000", "--expires", later];

  test("is refused with every reason, the nearest value and a hint", async () => {
    const { status, stdout, stderr } = await bench.run(["attenuate", token, ...wide]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain('did you mean "retrieve"?');
    expect(stderr).toContain('"constraints.amount.max": 2000 goes beyond the token');
    expect(stderr).toContain('"expires"');
    // With --intersect, no operation would be left.
    expect(stderr).toContain("hint: correct it; proviso inspect shows what the token still allows");
    const clippable = await bench.run(["attenuate", token, ...wide.slice(2)]);
    expect(clippable.stderr).toContain("hint: correct it, or add --intersect to narrow to what");
    expect((await bench.run(["attenuate", token, ...wide.slice(2), "--intersect"])).status).toBe(0);
  });

  test.each<[string, readonly string[], string]>([
    ["a start after the end", ["--not-before", "900h"], "--not-before"],
    ["an end before the start", ["--expires", "5m"], "--expires"],
  ])("is refused, and the error names the flag: %s", async (_, args, flag) => {
    const mint = ["mint", "--grant", "documents:read", "--op", "retrieve"];
    const waiting = await bench.output(...mint, "--not-before", "10m");
    const { status, stderr } = await bench.run(["attenuate", waiting, ...args]);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr:
        `proviso: this goes beyond what the token still allows\n  ${flag} would leave nothing\n` +
        "hint: proviso inspect shows what the token still allows\n",
    });
  });

  test("with --json prints the refusal as one JSON object on standard error", async () => {
    const { status, stdout, stderr } = await bench.run(["attenuate", token, ...wide, "--json"]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(document(stderr)["error"]).toMatchObject({
      code: "overreach",
      exitCode: 1,
      hint: expect.stringContaining("correct it"),
      problems: [
        { rule: "operations", value: "retreive", nearest: "retrieve" },
        { rule: "constraints.amount.max", value: 2000, nearest: 1000 },
        { rule: "expires" },
      ],
    });
  });

  test("with --intersect lowers the restriction to what the token allows", async () => {
    const args = ["--op", "search", "--op", "delete", "--arg", "amount<=2000", "--expires", later];
    const { hop, expires } = await bench.json("attenuate", token, ...args, "--intersect");
    expect(hop).toMatchObject({ operations: ["search"], constraints: { amount: { max: 1000 } } });
    expect(expires).toBe(inspect(token).authority.expires);
  });

  test("with --intersect is refused if nothing would be left", async () => {
    const run = await bench.run(["attenuate", token, "--op", "delete", "--intersect"]);
    expect(run.status).toBe(1);
    expect(run.stderr).toContain(
      "hint: correct it; proviso inspect shows what the token still allows",
    );
  });
});

test("attenuate and mint refuse restrictions of more than 8,192 bytes, and name --purpose in the hint", async () => {
  const purpose = ["--purpose", "x".repeat(9000)];
  const [narrowed, minted] = await Promise.all([
    bench.run(["attenuate", "@token", ...purpose]),
    bench.run(["mint", "--grant", "g", "--op", "x", ...purpose]),
  ]);
  for (const { status, stdout, stderr } of [narrowed, minted]) {
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(
      /restrictions take \d+ bytes; at most 8192 are allowed\nhint: shorten .*--purpose or the lists\n/,
    );
  }
});

test("attenuating a sealed token is refused with a hint", async () => {
  const sealed = await bench.output("attenuate", token, "--max-further-hops", "0");
  const { status, stderr } = await bench.run(["attenuate", sealed, "--op", "search"]);
  expect(status).toBe(1);
  expect(stderr).toContain("the token is sealed");
  expect(stderr).toContain("hint: use the token as it is");
});

test("attenuating a token with the maximum number of hops is refused", async () => {
  let last = token;
  const { attenuate } = await import("../../src/index.js");
  for (let at = 0; at < 31; at++) {
    const child = attenuate(last, { purpose: `hop ${at}` });
    if (child.ok) last = child.token;
  }
  const { status, stderr } = await bench.run(["attenuate", last]);
  expect(status).toBe(3);
  expect(stderr).toMatch(/more than 32|32 caveats/);
});

test("attenuate refuses --audience one,two with a hint to repeat the option, and accepts --op one,two", async () => {
  const bound = await bench.output("attenuate", token, "--audience", "one", "--audience", "two");
  const { status, stderr } = await bench.run(["attenuate", bound, "--audience", "one,two"]);
  expect(status).toBe(1);
  expect(stderr).toContain("hint: repeat the option for each value");
  expect(await bench.output("attenuate", token, "--op", "retrieve,search")).toMatch(TOKEN);
});

test.each([
  [
    ["--resource", "rh_AAAAAAAAAAAAAAAAAAAAAA,rh_BBBBBBBBBBBBBBBBBBBBBA"],
    "hint: repeat the option for each handle",
  ],
  [["--op", "retrieve,"], "a name is missing beside a comma"],
  [["--arg", `search:?"my query" absent`], `write 'search:"my query" absent'`],
])("attenuate refuses %j, and says what to write instead", async (options, hint) => {
  const { status, stderr } = await bench.run(["attenuate", token, ...options]);
  expect(status).toBe(2);
  expect(stderr).toContain(hint);
});
