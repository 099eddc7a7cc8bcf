import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { encodeBase64url } from "../../../src/bytes/base64.js";
import { PackedIds } from "../../../src/revocation/packed/packed-ids.js";
import { StorageError } from "../../../src/storage/storage-error.js";
import { readIdSnapshot, writeIdSnapshot } from "../../../src/stores/revocations/id-snapshot.js";

const folder = mkdtempSync(join(tmpdir(), "proviso-snapshot-"));
afterAll(() => rmSync(folder, { recursive: true }));

const VERSION = 2 ** 40 + 7;

function idOf(at: number): string {
  const bytes = new Uint8Array(12);
  new DataView(bytes.buffer).setUint32(0, at);
  return `cap_${encodeBase64url(bytes)}`;
}

function packed(count: number): PackedIds {
  const ids = new PackedIds("cap_");
  for (let at = 0; at < count; at++)
    ids.add(idOf(at), at % 3 === 0 ? Number.POSITIVE_INFINITY : at + 1);
  return ids;
}

function refusal(path: string): unknown {
  try {
    return readIdSnapshot(path);
  } catch (error) {
    return error instanceof StorageError ? error.code : error;
  }
}

test.each([0, 1, 5000])("%d ids come back, with the version and every time", (count) => {
  const path = join(folder, `whole-${count}`);
  const ids = packed(count);
  const steps: number[] = [];
  writeIdSnapshot(path, { ids, version: VERSION }, (done) => steps.push(done));
  const read = readIdSnapshot(path, (done) => steps.push(done));
  expect(steps).toEqual(
    Array.from({ length: 2 * ids.partCount }, (_, at) => (at % ids.partCount) + 1),
  );
  expect([read.version, read.ids.size]).toEqual([VERSION, count]);
  for (let at = 0; at < count + 10; at++) expect(read.ids.get(idOf(at))).toBe(ids.get(idOf(at)));
  expect(read.ids.add(idOf(count), 9)).toBe(true);
  expect(read.ids.size).toBe(count + 1);
});

test("another takes its place, private, and nothing is left beside it", () => {
  const path = join(folder, "again");
  writeIdSnapshot(path, { ids: packed(3), version: 1 });
  writeIdSnapshot(path, { ids: packed(4), version: 2 });
  expect(readIdSnapshot(path).version).toBe(2);
  if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).filter((name) => name.includes("again"))).toEqual(["again"]);
  expect(() => writeIdSnapshot(join(folder, "no/where"), { ids: packed(1), version: 1 })).toThrow(
    StorageError,
  );
  expect(() => writeIdSnapshot(path, { ids: packed(1), version: -1 })).toThrow(TypeError);
});

test("a file with any byte changed, missing or added is refused", () => {
  const path = join(folder, "damaged");
  writeIdSnapshot(path, { ids: packed(6), version: 1 });
  const bytes = readFileSync(path);
  // The header, the checksum and all of the ids lie within these; the rest are lengths of empty parts.
  const telling = (at: number): boolean =>
    process.env["PROVISO_TEST_SIZE"] === "full" ||
    at < 40 ||
    at >= bytes.length - 32 ||
    bytes[at] !== 0 ||
    at % 29 === 0;
  const places = [...bytes.keys()].filter(telling);
  for (const at of places) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(path, changed);
    expect(refusal(path), `byte ${at}`).toBe("store_corrupt");
  }
  for (const length of places) {
    writeFileSync(path, bytes.subarray(0, length));
    expect(refusal(path), `${length} bytes`).toBe("store_corrupt");
  }
  writeFileSync(path, Buffer.concat([bytes, Buffer.of(0)]));
  expect(refusal(path)).toBe("store_corrupt");
});
