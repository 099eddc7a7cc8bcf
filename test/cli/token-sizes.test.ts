import { beforeAll, describe, expect, test } from "vitest";
import { CAPABILITY_LIMITS, inspect } from "../../src/index.js";
import { addFirstPartyCaveat, macaroonToText, parseMacaroon } from "../../src/macaroon/index.js";
import { Bench } from "./run.js";

const { bytes: TOKEN_BYTES, caveatBytes: HOP_BYTES } = CAPABILITY_LIMITS;
const bench = new Bench();
const mint = ["mint", "--grant", "g", "--op", "x", "--json", "--purpose"];
/** Size of a hop with an empty purpose, in bytes. */
let bare = 0;
beforeAll(async () => {
  await bench.init();
  const { hop } = await bench.json(...mint.slice(0, -2), "--purpose", "x");
  bare = JSON.stringify(hop).length - 1;
});

test("the limits are 10,240 bytes for a token and 8,192 bytes for a hop", () => {
  expect([TOKEN_BYTES, HOP_BYTES]).toEqual([10_240, 8192]);
});

describe("mint and the size of a hop", () => {
  test("mint accepts a hop of 8,192 bytes, and refuses one more byte", async () => {
    const [most, more] = await Promise.all(
      [HOP_BYTES, HOP_BYTES + 1].map((size) => bench.run([...mint, "x".repeat(size - bare)])),
    );
    expect(JSON.stringify(JSON.parse(most?.stdout ?? "").hop)).toHaveLength(HOP_BYTES);
    expect(most?.status).toBe(0);
    expect({ status: more?.status, stdout: more?.stdout }).toEqual({ status: 2, stdout: "" });
    expect(more?.stderr).toContain("take 8193 bytes; at most 8192 are allowed");
  });
});

describe("attenuate and the size of a token", () => {
  test("attenuate makes a token of 10,240 bytes, which verify allows, and refuses to make a longer token", async () => {
    const parent = await bench.output(
      "mint",
      "--grant",
      "g",
      "--op",
      "x",
      "--purpose",
      "x".repeat(6000),
    );
    const narrow = (length: number): ReturnType<Bench["run"]> =>
      bench.run(["attenuate", parent, "--no-nonce", "--purpose", "y".repeat(length)]);
    const probe = await narrow(3000);
    const room = TOKEN_BYTES - inspect(probe.stdout.trim()).bytes + 3000;
    const [most, more] = await Promise.all([narrow(room), narrow(room + 1)]);
    expect(most.status).toBe(0);
    expect(inspect(most.stdout.trim()).bytes).toBe(TOKEN_BYTES);
    expect({ status: more.status, stdout: more.stdout }).toEqual({ status: 2, stdout: "" });
    expect(more.stderr).toBe(
      "proviso: with the restrictions the token has 10241 bytes; at most 10240 are allowed\n" +
        "hint: shorten --purpose or the lists\n",
    );

    bench.write("most", most.stdout);
    const asked = ["verify", "@most", "--grant", "g", "--op", "x"];
    expect(await bench.json(...asked)).toMatchObject({ status: 0, allowed: true });
    const longer = await bench.run(["attenuate", "@most"]);
    expect({ status: longer.status, stdout: longer.stdout }).toEqual({ status: 2, stdout: "" });
  });
});

test("attenuate and verify refuse a token of more than 10,240 bytes, with an error about the token's size", async () => {
  const parent = await bench.output("mint", "--grant", "g", "--op", "x");
  let large = parseMacaroon(parent);
  for (let at = 0; at < 2; at++) large = addFirstPartyCaveat(large, "x".repeat(6000));
  bench.write("large", macaroonToText(large));
  for (const args of [
    ["attenuate", "@large", "--purpose", "y"],
    ["attenuate", "@large"],
  ]) {
    const { status, stdout, stderr } = await bench.run(args);
    expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
    expect(stderr).toMatch(
      /^proviso: large: the token has 12\d{3} bytes; at most 10240 are allowed\n/,
    );
  }
  const verify = await bench.json("verify", "@large", "--grant", "g", "--op", "x");
  expect(verify).toMatchObject({ status: 3, denials: [{ code: "token_too_large" }] });
});

test("attenuate refuses a text that is longer than any token; the error has its number of characters and the limit in bytes", async () => {
  const { status, stderr } = await bench.run(["attenuate"], { input: "A".repeat(50_000) });
  expect(status).toBe(3);
  expect(stderr).toContain("has 50000 characters, more than a token of 10240 bytes can have\n");
});
