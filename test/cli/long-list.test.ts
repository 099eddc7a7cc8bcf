import { join } from "node:path";
import Database from "libsql";
import { expect, onTestFinished, test, vi } from "vitest";
import { loadingShown } from "../../cli/home.js";
import { sized } from "../support/size.js";
import { Bench } from "./run.js";

const MANY = sized(100_000, 10_000);
const OP = ["--grant", "documents:read", "--op", "retrieve"];

test(`verify, revoke and revocations prune work with a list of ${MANY} revocations`, async () => {
  const bench = new Bench();
  await bench.init();
  const token = await bench.output("mint", ...OP);
  const database = new Database(join(bench.home, "proviso.db"));
  database.exec(`BEGIN;
    WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${MANY})
      INSERT INTO revocation (kind, id, at, reason, changed)
      SELECT 'link', '"rv_' || printf('%021d', n) || 'A"', 0, '"lost"', n FROM n;
    UPDATE revocation_state SET version = ${MANY};
    COMMIT`);
  database.close();
  expect((await bench.run(["verify", token, ...OP])).status).toBe(0);
  expect(await bench.json("revoke", token, "--reason", "done")).toMatchObject({ already: false });
  expect((await bench.run(["verify", token, ...OP])).status).toBe(5);
  expect(await bench.json("revoke", token)).toMatchObject({ already: true });
  expect(await bench.json("revocations", "prune")).toMatchObject({ removed: 0 });
}, 60_000);

test("progress of reading the revocation list is shown after one second, and only on a terminal", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const shownOn = (isTerminal: boolean, finishedBefore: boolean): string => {
    let text = "";
    const write = (bytes: Uint8Array): undefined => {
      text += Buffer.from(bytes).toString("utf8");
    };
    const show = loadingShown({ stderr: { isTerminal, write } });
    show(0.1);
    if (!finishedBefore) {
      vi.advanceTimersByTime(1000);
      for (const part of [0.2, 0.201, 0.5]) show(part);
    }
    show(1);
    return text;
  };
  const line = "\rreading the revocation list: ";
  expect(shownOn(true, false)).toBe(`${line}20 %${line}50 %\r\u001b[K`);
  expect([shownOn(true, true), shownOn(false, false)]).toEqual(["", ""]);
});
