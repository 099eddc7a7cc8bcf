import { statSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { run } from "../../cli/program.js";
import { attenuate } from "../../src/index.js";
import { posix } from "../issuer/support.js";
import { Bench, document } from "./run.js";

const bench = new Bench();
let kid = "";
beforeAll(async () => {
  await bench.init();
  const { keys } = await bench.json("keys", "list");
  kid = keys[0].kid;
});

const CALL = ["--grant", "documents:read", "--op", "retrieve"];
const WARNING =
  "warning: this is secret: any party that has it can mint tokens for files, and for no other\n";

test("keys service writes a service's keys into a file; verify --keys uses the file without a home", async () => {
  const { status, stdout, stderr } = await bench.run([
    "keys",
    "service",
    "files",
    "--output",
    "f.jwks",
  ]);
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: `${bench.path("f.jwks")} has one key\n`,
    stderr: WARNING,
  });
  if (posix) expect(statSync(bench.path("f.jwks")).mode & 0o777).toBe(0o600);
  const [root] = JSON.parse(bench.read("home/keyring.json")).keys;
  const set = bench.read("f.jwks");
  expect(JSON.parse(set)).toMatchObject({ keys: [{ kid: `${kid}@files` }] });
  expect(set).not.toContain(root.k);

  const token = await bench.output("mint", ...CALL, "--service", "files");
  const child = attenuate(token, { operations: ["retrieve"], expires: "1m" });
  const alone = ["--keys", "f.jwks", "--issuer", "documents-agent"];
  const elsewhere = { env: { PROVISO_HOME: "/nowhere" } };
  const checked = await bench.run(
    ["verify", child.ok ? child.token : "", ...CALL, ...alone],
    elsewhere,
  );
  expect(checked).toMatchObject({ status: 0, stderr: "" });
  expect(checked.stdout).toMatch(/^allowed\n[\s\S]* {2}no revocation list was looked into\n$/);
  expect(await bench.json("verify", token, ...CALL, ...alone)).toMatchObject({
    allowed: true,
    revocationChecked: false,
    capability: { service: "files", keyId: `${kid}@files` },
  });
  const own = await bench.output("mint", ...CALL);
  const refused = await bench.run(["verify", own, ...CALL, ...alone], elsewhere);
  expect(refused).toMatchObject({ status: 4, stdout: expect.stringContaining("unknown_key") });

  // With a root key, the user must name the service.
  expect(await bench.json("verify", token, ...CALL, "--audience", "files")).toMatchObject({
    allowed: true,
  });
  const nameless = await bench.run(["verify", token, ...CALL]);
  expect(nameless.status).toBe(1);
  expect(nameless.stdout).toContain('made under the key of the service "files"');
});

test("mint --service makes a token for that service only; mint and inspect name the service", async () => {
  const minted = await bench.json("mint", ...CALL, "--service", "files");
  expect(minted).toMatchObject({ service: "files", hop: { audience: ["files"] } });
  expect(await bench.json("inspect", minted["token"])).toMatchObject({ service: "files" });
  expect(await bench.output("inspect", minted["token"])).toMatch(
    /^service {7,}files, and no other$/m,
  );
  const other = await bench.run(["mint", ...CALL, "--service", "files", "--audience", "mail"]);
  expect(other).toMatchObject({ status: 2, stdout: "" });
  expect(other.stderr).toContain('a token for the service "files" has that audience alone');
});

test("keys service without --output prints the keys, with a warning", async () => {
  const { status, stdout, stderr } = await bench.run(["keys", "service", "files"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: WARNING });
  expect(stdout).toBe(bench.read("f.jwks"));
  const { stdout: line } = await bench.run(["keys", "service", "files", "--json"]);
  expect(line.trimEnd()).not.toContain("\n");
  expect(document(line)).toEqual(JSON.parse(stdout));
});

test("keys service shows the keys on a terminal only with --reveal", async () => {
  const shown = async (...more: readonly string[]): Promise<string> => {
    const written: string[] = [];
    const output = {
      isTerminal: true,
      write(bytes: Uint8Array): undefined {
        written.push(Buffer.from(bytes).toString());
      },
    };
    const status = await run(["keys", "service", "files", ...more, "--home", bench.home], {
      stdin: { isTerminal: true, read: () => 0 },
      stdout: output,
      stderr: output,
      cwd: bench.folder,
      userFolder: "/nonexistent",
      program: [],
      env: {},
      stdio: () => {
        throw new Error("no stream is needed");
      },
      untilStopped: () => new AbortController().signal,
    });
    return `${status} ${written.join("")}`;
  };
  const secret: string = JSON.parse(bench.read("f.jwks")).keys[0].k;
  const hidden = await shown();
  expect(hidden).toMatch(/^2 .*--output FILE writes them/s);
  expect(hidden).not.toContain(secret);
  expect(await shown("--reveal")).toContain(secret);
});

test("keys service, keys retire and verify --keys refuse a wrong service name, file or key", async () => {
  const cases: readonly (readonly [readonly string[], number, string])[] = [
    [["keys", "service", "a b"], 2, "service must be 1 to 255 printable ASCII characters"],
    [["keys", "service", "mail", "--output", "f.jwks"], 6, "f.jwks"],
    [["keys", "service", "files", "--output", "home/keyring.json"], 6, "keyring.json"],
    [["keys", "retire", `${kid}@files`], 2, "is derived from a root key"],
    [["verify", "x", ...CALL, "--keys", "f.jwks"], 2, "--issuer is missing"],
    [["verify", "x", ...CALL, "--issuer", "a"], 2, "--keys is missing"],
    [["verify", "x", ...CALL, "--keys", "none", "--issuer", "a"], 6, "none"],
    [
      ["verify", "x", ...CALL, "--keys", "home/keyring.json", "--issuer", "a"],
      2,
      "does not have a service's keys",
    ],
  ];
  for (const [args, status, message] of cases) {
    const done = await bench.run(args);
    expect(done.status, args.join(" ")).toBe(status);
    expect(done.stderr, args.join(" ")).toContain(message);
  }
});

test("revoking a service's key leaves other services' keys valid", async () => {
  const [files, mail] = [
    await bench.output("mint", ...CALL, "--service", "files"),
    await bench.output("mint", ...CALL, "--service", "mail"),
  ];
  await bench.output("revoke", "--key", `${kid}@files`);
  const verified = async (token: string, audience: string): Promise<number | null> =>
    (await bench.run(["verify", token, ...CALL, "--audience", audience])).status;
  expect([await verified(files, "files"), await verified(mail, "mail")]).toEqual([5, 0]);
  const minted = await bench.run(["mint", ...CALL, "--service", "files"]);
  expect(minted).toMatchObject({ status: 5, stdout: "" });
  expect(minted.stderr).toContain(`${kid}@files, is revoked`);
});

test("keys service adds the new key to the existing file after keys rotate", async () => {
  await bench.output("keys", "rotate");
  expect(await bench.output("keys", "service", "files", "-o", "f.jwks")).toContain("has 2 keys");
  const { keys } = JSON.parse(bench.read("f.jwks"));
  expect(keys).toHaveLength(2);
});
