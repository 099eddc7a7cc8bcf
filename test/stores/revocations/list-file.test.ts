import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeBase64url } from "../../../src/bytes/base64.js";
import type { RevocationKind } from "../../../src/revocation/entry.js";
import { PackedTable } from "../../../src/revocation/packed/packed-table.js";
import { readListFile, writeListFile } from "../../../src/stores/revocations/list-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

function idOf(at: number): string {
  const bytes = new Uint8Array(12);
  new DataView(bytes.buffer).setUint32(0, at);
  return `cap_${encodeBase64url(bytes)}`;
}

function tableOf(count: number): PackedTable {
  const table = new PackedTable();
  const add = (kind: RevocationKind, id: string, until?: number, before?: number): void =>
    table.add({ kind, id, record: { until, before } });
  for (let at = 0; at < count; at++) add("capability", idOf(at), at % 3 === 0 ? undefined : at + 1);
  add("link", `rv_${"A".repeat(22)}`, 5);
  add("link", `rv_${"a".repeat(22)}`, 5);
  add("principal", "al\0ice\ud800", 5, -7);
  add("key", "key_1");
  return table;
}

function contents(table: PackedTable): unknown {
  const packed = [table.links, table.capabilities].flatMap((ids) =>
    [...ids.ids()].map((id) => [id, ids.get(id)] as const),
  );
  return { packed: packed.sort(([a], [b]) => (a < b ? -1 : 1)), loose: [...table.loose()] };
}

test.each([0, 1, 5000])(
  "%d ids come back with every time, and so does what is loose",
  async (count) => {
    const path = join(temporaryFolder(), "list");
    const table = tableOf(count);
    const digest = await writeListFile(path, table);
    const parts: number[] = [];
    const read = await readListFile(
      path,
      (found) => found === digest,
      (part) => void parts.push(part),
    );
    expect(contents(read)).toEqual(contents(table));
    expect([parts.length, parts.at(-1)]).toEqual([1024, 1]);
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    read.add({ kind: "capability", id: idOf(count), record: { before: undefined, until: 9 } });
    expect(read.size).toBe(table.size + 1);
  },
);

test("it takes no file's place, and nothing is read of one that is not known", async () => {
  const path = join(temporaryFolder(), "list");
  await writeListFile(path, tableOf(3));
  await expect(writeListFile(path, tableOf(3))).rejects.toThrow(/EEXIST/);
  await expect(
    readListFile(
      path,
      () => false,
      () => {},
    ),
  ).rejects.toThrow(/not a revocation list/);
});

test("a file with any byte changed, missing or added is refused", async () => {
  const path = join(temporaryFolder(), "list");
  const digest = await writeListFile(path, tableOf(6));
  const bytes = readFileSync(path);
  // The rest are lengths of empty parts.
  const telling = (at: number): boolean =>
    process.env["PROVISO_TEST_SIZE"] === "full" || at < 40 || bytes[at] !== 0 || at % 97 === 0;
  const places = [...bytes.keys()].filter(telling);
  const refused = async (changed: Uint8Array): Promise<boolean> => {
    writeFileSync(path, changed);
    const read = readListFile(
      path,
      (found) => found === digest,
      () => {},
    );
    return read.then(
      () => false,
      () => true,
    );
  };
  const accepted: string[] = [];
  for (const at of places) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    if (!(await refused(changed))) accepted.push(`byte ${at} changed`);
    if (!(await refused(bytes.subarray(0, at)))) accepted.push(`${at} bytes`);
  }
  if (!(await refused(Buffer.concat([bytes, Buffer.of(0)])))) accepted.push("one more");
  expect([places.length > 100, accepted]).toEqual([true, []]);
  expect(await refused(bytes)).toBe(false);
});
