import { join } from "node:path";
import Database from "libsql";
import { expect, test } from "vitest";
import { send } from "../protocols/a2a/callers.js";
import { freePort } from "../support/free-port.js";
import { Bench } from "./run.js";
import { CONFIG, serve, writeAgent } from "./serving.js";

const MANY = 100_000;

test("while an agent reads a long revocation list, /healthz answers ok and /readyz answers 503 loading", async () => {
  const bench = new Bench();
  await bench.init();
  writeAgent(bench);
  const database = new Database(join(bench.home, "proviso.db"));
  database.exec(`BEGIN;
    WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${MANY})
      INSERT INTO revocation (kind, id, at, changed)
      SELECT 'link', '"rv_' || printf('%021d', n) || 'A"', 0, n FROM n;
    UPDATE revocation_state SET version = ${MANY};
    COMMIT`);
  database.close();
  const port = await freePort();
  const at = `http://127.0.0.1:${port}`;
  const serving = serve(bench, CONFIG, ["--port", `${port}`]);
  const asked = (path: string): Promise<unknown> =>
    send(`${at}${path}`).then(
      ({ status, body }) => [status, body],
      () => "refused",
    );
  await expect
    .poll(() => asked("/readyz"), { interval: 2, timeout: 20_000 })
    .toEqual([503, { status: "loading" }]);
  expect(await asked("/healthz")).toEqual([200, { status: "ok" }]);
  const { url } = await serving;
  expect(url).toBe(at);
  expect(await asked("/readyz")).toEqual([200, { status: "ok" }]);
}, 60_000);
