import { chmodSync, existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { at, send } from "../protocols/a2a/callers.js";
import { postgresPlace } from "../support/databases.js";
import { ADDRESS } from "../support/postgres.js";
import { Bench } from "./run.js";
import { CONFIG, eventually, serve, WAIT, writeAgent } from "./serving.js";

// An agent that shares its database with other commands, and the health checks of the agent.

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  writeAgent(bench);
});

const WAITING = { ms: 1 };

test("the agent and the commands use the database that --database names", async () => {
  const own = new Bench();
  await own.init("--database", "other.db");
  writeAgent(own);
  expect(existsSync(join(own.home, "proviso.db"))).toBe(false);
  const { capability, outcome } = await serve(own, { ...CONFIG, database: "other.db" });
  const token = await capability(WAIT);
  expect(await outcome("wait", WAITING, token)).toBe("allowed");
  await own.output("revoke", token, "--database", "other.db");
  await eventually(async () => (await outcome("wait", WAITING, token)) !== "allowed");
  const audit = await own.output("audit", "--database", "other.db");
  expect(audit).toContain("allowed  issuance");
  const without = await own.run(["revocations", "list"]);
  expect([without.status, without.stderr]).toEqual([
    6,
    expect.stringContaining("proviso.db missing"),
  ]);
});

test.skipIf(process.env[ADDRESS] === undefined)(
  "the agent and the commands use a PostgreSQL database, and never print its password",
  async () => {
    const own = new Bench();
    const address = new URL(await postgresPlace());
    address.password = "open-sesame";
    const env = { PROVISO_DATABASE: address.href };
    const made = await own.run(["init", "--issuer", "documents-agent"], { env });
    expect(made.status, made.stderr).toBe(0);
    writeAgent(own);
    const { running, capability, outcome } = await serve(own, CONFIG, ["--database", address.href]);
    const token = await capability(WAIT);
    const revoked = await own.run(["revoke", token, "--json"], { env });
    expect(revoked.status, revoked.stderr).toBe(0);
    await eventually(async () => (await outcome("wait", WAITING, token)) === "revoked");
    const list = await own.run(["revocations", "list"], { env });
    expect(list.stdout).toContain("link");
    const wrong = new URL(address);
    wrong.port = "1";
    const failed = await own.run(["revocations", "list"], {
      env: { PROVISO_DATABASE: wrong.href },
    });
    expect(failed.status).toBe(6);
    expect(failed.stderr).toContain("the database cannot be reached");
    const typo = await own.run(["keys", "rotate", "--database", "postgre://u:open-sesame@h/d"]);
    expect([typo.status, typo.stderr]).toEqual([
      2,
      expect.stringContaining("this is not the address of a database"),
    ]);
    for (const { stdout, stderr } of [made, revoked, list, failed, typo, running]) {
      expect(`${stdout}${stderr}`).not.toContain("open-sesame");
    }
  },
);

test("/readyz fails while a key file is exposed or the database is missing; /healthz does not", async () => {
  const { url } = await serve(bench);
  const ready = async (): Promise<unknown> => {
    const [live, { status, body }] = await Promise.all([
      send(`${url}/healthz`),
      send(`${url}/readyz`),
    ]);
    expect([live.status, live.body]).toEqual([200, { status: "ok" }]);
    return status === 200 ? body : { status, problems: at(body, "problems") };
  };
  const becomes = async (wanted: unknown): Promise<void> =>
    eventually(async () => isDeepStrictEqual(await ready(), wanted));
  await becomes({ status: "ok" });
  const keyring = join(bench.home, "keyring.json");
  chmodSync(keyring, 0o644);
  await becomes({ status: 503, problems: ["key_file_exposed"] });
  chmodSync(keyring, 0o600);
  await becomes({ status: "ok" });

  const database = join(bench.home, "proviso.db");
  renameSync(database, `${database}.away`);
  try {
    await becomes({ status: 503, problems: ["store_missing"] });
    await becomes({ status: 503, problems: ["store_missing", "revocation_stale"] });
  } finally {
    renameSync(`${database}.away`, database);
  }
  await becomes({ status: "ok" });
});

test("revocationList.staleAfterMs sets how long an agent without its database still allows calls", async () => {
  const revocationList = { refreshMs: 20, staleAfterMs: 500 };
  const { capability, outcome } = await serve(bench, { ...CONFIG, revocationList });
  const token = await capability(WAIT);
  const database = join(bench.home, "proviso.db");
  renameSync(database, `${database}.away`);
  const began = performance.now();
  try {
    await eventually(async () => (await outcome("wait", WAITING, token)) === "revocation_stale");
    // By default, it would take 5 seconds.
    expect(performance.now() - began).toBeLessThan(4500);
  } finally {
    renameSync(`${database}.away`, database);
  }
  await eventually(async () => (await outcome("wait", WAITING, token)) === "allowed");
  bench.write(
    "stale.json",
    JSON.stringify({ ...CONFIG, revocationList: { refreshMs: 600, staleAfterMs: 500 } }),
  );
  const wrong = await bench.run(["serve", "stale.json"]);
  expect([wrong.status, wrong.stderr]).toEqual([
    6,
    expect.stringContaining("revocationList.staleAfterMs: must be more than the milliseconds"),
  ]);
});

test("metrics are served only at the address that --metrics names", async () => {
  const { url, running } = await serve(bench, CONFIG, ["--metrics", "127.0.0.1:0"]);
  expect((await send(`${url}/metrics`)).status).toBe(404);
  const [, metrics = ""] = /^metrics (\S+)$/m.exec(running.stderr) ?? [];
  expect((await send(metrics)).text).toContain("proviso_revocation_entries");
  const plain = await serve(bench);
  expect(plain.running.stderr).not.toMatch(/^metrics/m);
  for (const wrong of ["127.0.0.1", ":9464", "127.0.0.1:99999"]) {
    const { status, stderr } = await bench.run(["serve", "agent.json", "--metrics", wrong]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("must be HOST:PORT")]);
  }
});
