import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Connection, loadLibsql } from "../../src/storage/libsql.js";
import { StorageError } from "../../src/storage/storage-error.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function connected(): Promise<readonly [Connection, Connection]> {
  const path = `${temporaryFolder()}/plain.db`;
  writeFileSync(path, "");
  const connect = await loadLibsql(path);
  const [one, other] = [connect(path, path), connect(path, path)];
  one.exec("PRAGMA journal_mode = WAL; CREATE TABLE number (value integer)");
  return [one, other];
}

test("a connection refuses every statement until its pending commit has ended", async () => {
  const [one, other] = await connected();
  one.exec("BEGIN IMMEDIATE; INSERT INTO number VALUES (1)");
  const insert = one.prepare("INSERT INTO number VALUES (2)");
  expect(insert.reader).toBe(false);
  const committed = one.commit();
  expect(() => one.prepare("INSERT INTO number VALUES (3)")).toThrow(TypeError);
  expect(() => one.exec("ROLLBACK")).toThrow(TypeError);
  await expect(one.commit()).rejects.toThrow(TypeError);
  await committed;
  expect(one.inTransaction).toBe(false);
  expect(other.prepare("SELECT value FROM number").all([])).toEqual([{ value: 1 }]);
  for (const connection of [one, other]) connection.close();
});

test("a failed commit rejects with a StorageError, and the connection works afterwards", async () => {
  const [one, other] = await connected();
  await expect(one.commit()).rejects.toThrow(StorageError);
  one.exec("INSERT INTO number VALUES (4)");
  expect(other.prepare("SELECT value FROM number").all([])).toEqual([{ value: 4 }]);
  for (const connection of [one, other]) connection.close();
});
