import { beforeAll, expect, test } from "vitest";
import { FULL } from "../support/size.js";
import { Bench, document } from "./run.js";

const bench = new Bench();
beforeAll(() => bench.init());

const VERIFY = ["--grant", "g", "--op", "retrieve"];
const mint = (): Promise<string> => bench.output("mint", ...VERIFY);

test("a key mints tokens until keys rotate has run, and verifies tokens until keys retire has run", async () => {
  const old = await mint();
  const [first] = (await bench.json("keys", "list"))["keys"];
  expect(await bench.output("keys", "list")).toMatch(
    /^key_\S+ {2}mints {5}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  );

  const early = await bench.run(["keys", "retire", first.kid]);
  expect(early).toMatchObject({ status: 2, stdout: "" });
  expect(early.stderr).toContain("hint: proviso keys rotate first, then retire it");

  const rotated = await bench.json("keys", "rotate");
  expect(rotated).toMatchObject({
    minting: expect.stringMatching(/^key_/),
    keys: [
      { kid: first.kid, mints: false },
      { kid: rotated["minting"], mints: true },
    ],
  });
  const fresh = await mint();
  const before = await Promise.all(
    [old, fresh].map((token) => bench.run(["verify", token, ...VERIFY])),
  );
  expect(before.map(({ status }) => status)).toEqual([0, 0]);

  const retired = await bench.run(["keys", "retire", first.kid]);
  expect(retired.stdout).toBe(
    `${first.kid} is gone; every token made under it is refused from now on\n`,
  );
  const after = await Promise.all(
    [old, fresh].map((token) => bench.run(["verify", token, ...VERIFY])),
  );
  expect(after.map(({ status }) => status)).toEqual([4, 0]);
  expect(after[0]?.stdout).toContain("unknown_key");
  expect(after[0]?.stdout).toContain("hint: ask the issuer for a new token");
});

test("keys retire and keys export refuse an unknown key id, and suggest the nearest", async () => {
  const { keys } = await bench.json("keys", "list");
  const kid: string = keys[0].kid;
  const typo = `${kid.slice(0, -1)}${kid.endsWith("x") ? "y" : "x"}`;
  for (const verb of ["retire", "export"]) {
    const { status, stdout, stderr } = await bench.run(["keys", verb, typo]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe(`proviso: there is no key ${typo}\nhint: did you mean ${kid}?\n`);
  }
});

test("keys retire and keys export refuse an empty key id", async () => {
  for (const verb of ["retire", "export"]) {
    const { status, stderr } = await bench.run(["keys", verb, ""]);
    expect(status).toBe(2);
    expect(stderr).toBe("proviso: the key's id is empty\nhint: proviso keys list shows the ids\n");
  }
});

test("only keys export shows a secret, with a warning", async () => {
  const secrets: string[] = JSON.parse(bench.read("home/keyring.json")).keys.map(
    ({ k }: { k: string }) => k,
  );
  const { keys } = await bench.json("keys", "list");
  const token = await mint();
  const runs = await Promise.all([
    bench.run(["keys", "list"]),
    bench.run(["keys", "list", "--json"]),
    bench.run(["keys", "retire", keys[0].kid]),
    bench.run(["keys", "export", "nobody"]),
    bench.run(["inspect", token, "--reveal", "--json"]),
    bench.run(["verify", token, ...VERIFY, "--json"]),
    bench.run(["init", "--json"]),
  ]);
  for (const { stdout, stderr } of runs) {
    for (const k of secrets) expect(stdout + stderr).not.toContain(k);
  }
  const exported = await bench.run(["keys", "export", keys[0].kid]);
  expect(document(exported.stdout)).toMatchObject({ kty: "oct", kid: keys[0].kid, k: secrets[0] });
  expect(exported.stderr).toBe(
    "warning: this is the secret key; any party that has it can mint any token\n",
  );
});

if (FULL) {
  test("four processes that run keys rotate at once lose no key", async () => {
    const before: unknown[] = (await bench.json("keys", "list"))["keys"];
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => bench.spawned(["keys", "rotate"])),
    );
    expect(runs.map(({ status, stderr }) => `${status}${stderr}`)).toEqual(["0", "0", "0", "0"]);
    const { keys } = await bench.json("keys", "list");
    expect(keys).toHaveLength(before.length + 4);
    expect(keys.filter(({ mints }: { mints: boolean }) => mints)).toHaveLength(1);
  });
}

test("keys without a verb lists the keys; keys with a misspelt verb suggests the right verb", async () => {
  expect(await bench.output("keys")).toBe(await bench.output("keys", "list"));
  const wrong = await bench.run(["keys", "rotat"]);
  expect(wrong).toMatchObject({ status: 2, stdout: "" });
  expect(wrong.stderr).toBe("proviso: unknown command 'rotat'\nhint: did you mean rotate?\n");
});

test("an exported key verifies tokens in another home after keys import, and mints tokens after keys import --mint", async () => {
  const token = await mint();
  const [key] = (await bench.json("keys", "list"))["keys"].filter(
    ({ mints }: { mints: boolean }) => mints,
  );
  const jwk = await bench.output("keys", "export", key.kid);
  const second = new Bench();
  await second.init();
  second.write("backup.jwk", jwk);
  expect((await second.run(["verify", token, ...VERIFY])).status).toBe(4);
  expect(await second.output("keys", "import", "backup.jwk")).toBe(
    `${key.kid} verifies from now on`,
  );
  expect((await second.run(["verify", token, ...VERIFY])).status).toBe(0);
  expect((await second.json("keys"))["keys"]).toMatchObject([
    { kid: key.kid, mints: false },
    { mints: true },
  ]);
  const before = await second.json("keys");
  await second.output("keys", "import", "backup.jwk");
  expect(await second.json("keys")).toEqual(before);
  const other = { ...JSON.parse(jwk), k: Buffer.alloc(32, 7).toString("base64url") };
  second.write("other.jwk", JSON.stringify({ keys: [other] }));
  const refused = await second.run(["keys", "import", "other.jwk"]);
  expect(refused).toMatchObject({ status: 2, stdout: "" });
  expect(refused.stderr).toContain(`${key.kid} is the id of another key here`);
  expect(await second.json("keys")).toEqual(before);

  const third = new Bench();
  await third.init();
  const minting = await third.run(["keys", "import", "--mint", "-", "--json"], { input: jwk });
  expect(document(minting.stdout)).toMatchObject({
    imported: [key.kid],
    keys: [{ kid: key.kid, mints: true }, { mints: false }],
  });
});

test("keys import refuses a file that is not a root key, without showing secrets", async () => {
  const services = await bench.output("keys", "service", "documents", "--json");
  bench.write("service.jwks", services);
  bench.write("half.jwk", '{"kty":"oct","k":"secret-of-mine');
  bench.write("twice.jwk", '{"kty":"oct","k":"secret-of-mine",\n"k":"secret-of-mine"}');
  const cases: [string, RegExp][] = [
    ["twice.jwk", /line 2: "k" is there twice/],
    ["service.jwks", /keys of the service documents, not root keys/],
    ["half.jwk", /this is not JSON/],
    ["missing.jwk", /could not read missing.jwk: there is no such file/],
  ];
  for (const [file, words] of cases) {
    const { status, stdout, stderr } = await bench.run(["keys", "import", file]);
    expect({ status, stdout }).toEqual({ status: file === "missing.jwk" ? 6 : 2, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr).not.toContain("secret-of-mine");
  }
});
