import { beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { Bench, document } from "./run.js";

const bench = new Bench();
let token = "";
let end = "";
beforeAll(async () => {
  await bench.init();
  const mint = ["mint", "--grant", "documents:read", "--op", "list", "--expires", "30m"];
  token = await bench.output(...mint);
  end = inspect(token).authority.expires ?? "";
  bench.write("token", token);
});

const seconds = (from: string | number, to: string): number =>
  (Date.parse(to) - (typeof from === "number" ? from : Date.parse(from))) / 1000;

describe("attenuate --expires with a duration", () => {
  test("counts the duration from now if the token lives longer", async () => {
    const before = Date.now();
    const { status, hop, expires } = await bench.json("attenuate", "@token", "--expires", "5m");
    expect({ status, expires }).toEqual({ status: 0, expires: hop.expires });
    const life = seconds(before, expires);
    expect(life).toBeGreaterThan(5 * 60 - 2);
    expect(life).toBeLessThanOrEqual(seconds(before, new Date().toISOString()) + 5 * 60);
  });

  test.each(["31m", "2h", "3650d"])(
    "uses the token's expiry if the duration ends later: %s",
    async (duration) => {
      const { status, stdout, stderr } = await bench.run([
        "attenuate",
        "@token",
        "--expires",
        duration,
      ]);
      expect({ status, stderr }).toEqual({
        status: 0,
        stderr: "note: nothing is taken away; the child can be revoked on its own\n",
      });
      expect(inspect(stdout.trim()).links[1]?.hop).toEqual({
        expires: end,
        nonce: expect.stringMatching(/^[\w-]{16}$/),
      });
    },
  );

  test("that ends after the token's expiry gives a child that is valid until the token's expiry, and not longer", async () => {
    const child = await bench.output("attenuate", "@token", "--expires", "8h");
    const asked = ["verify", child, "--grant", "documents:read", "--op", "list", "--at"];
    const runs = await Promise.all([bench.run([...asked, "20m"]), bench.run([...asked, "40m"])]);
    expect(runs.map(({ status }) => status)).toEqual([0, 1]);
  });
});

test("attenuate --expires with a time in the past makes a child that is refused, and says so", async () => {
  const past = "2020-01-01T00:00:00Z";
  const { status, stdout, stderr } = await bench.run(["attenuate", "@token", "--expires", past]);
  expect(status).toBe(0);
  expect(stderr).toBe(
    `note: the expiry ${past} is in the past: the child is refused, and so is whatever is narrowed from it\n`,
  );
  const check = ["verify", stdout.trim(), "--grant", "documents:read", "--op", "list"];
  expect((await bench.run(check)).stdout).toContain("expired");
});

test("attenuate --expires refuses a time past the token's expiry, and with --intersect replaces the time by the token's expiry", async () => {
  const later = new Date(Date.parse(end) + 1000).toISOString();
  const { status, stdout, stderr } = await bench.run([
    "attenuate",
    "@token",
    "--expires",
    later,
    "--json",
  ]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(document(stderr)["error"]).toMatchObject({
    code: "overreach",
    problems: [{ rule: "expires", nearest: end }],
  });
  const lowered = await bench.json("attenuate", "@token", "--expires", later, "--intersect");
  expect(lowered).toMatchObject({ status: 0, expires: end });
});

test("attenuate --not-before with a duration that ends before the token's start uses the token's start", async () => {
  const late = await bench.output(
    ...["mint", "--grant", "documents:read", "--op", "list", "--not-before", "5m"],
  );
  const start = inspect(late).authority.notBefore;
  const { status, hop } = await bench.json("attenuate", late, "--not-before", "1s");
  expect({ status, notBefore: hop.notBefore }).toEqual({ status: 0, notBefore: start });
});

test("mint --expires past the maximum lifetime is refused, not lowered", async () => {
  const mint = ["mint", "--grant", "documents:read", "--op", "list", "--expires", "25h"];
  const { status, stderr } = await bench.run(mint);
  expect(status).toBe(2);
  expect(stderr).toContain("is later than this issuer allows; the latest is ");
});
