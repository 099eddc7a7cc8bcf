import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { world } from "./support.js";

const root = realpathSync(temporaryFolder());
const data = join(root, "data");

beforeAll(() => {
  for (const folder of ["data/sub", "data-evil", "etc"])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "etc/passwd"), "x");
  writeFileSync(join(data, "plain"), "x");
  const links = {
    "data/out": "../etc",
    "data/evil": join(root, "data-evil"),
    "data/file": join(root, "etc/passwd"),
    "data/dangling": join(root, "etc/new"),
    "data/inside": "sub",
    "data/loop": "loop",
    "data/two": "inside/../out",
    mounted: "data",
  };
  for (const [place, target] of Object.entries(links)) symlinkSync(target, join(root, place));
});

/** Judges one argument of `read`, whose tokens are limited to a folder. */
async function allows(folder: string, given: object, base = root): Promise<boolean> {
  const { authority, mint } = await world({ folderOf: () => base });
  const optional = true as const;
  const limits = {
    path: { path: folder, optional },
    paths: { each: { path: folder }, optional },
  };
  const token = mint({ operations: ["read"], operationConstraints: { "*": limits } });
  const call = { operation: "read", arguments: { ...given }, method: "tools/call" };
  const decision = await authority.decide(authority.present([token]), call);
  if (!decision.allowed) {
    expect(decision.denials[0]).toMatchObject({ code: "constraint_violated", hop: 1 });
    expect(JSON.stringify(decision.denials)).not.toContain("etc");
  }
  return decision.allowed;
}

test.each([
  ["plain", true],
  ["sub/new/file", true],
  ["inside/x", true],
  ["file", false],
  ["out/passwd", false],
  ["out/new/file", false],
  ["evil/x", false],
  ["dangling", false],
  ["loop", false],
  ["two/passwd", false],
])("below the folder, %s is allowed: %s", async (name, expected) => {
  expect(await allows(data, { path: join(data, name) })).toBe(expected);
  expect(await allows(data, { paths: [join(data, "plain"), join(data, name)] })).toBe(expected);
});

test("a folder that is a link itself allows what it leads to", async () => {
  const mounted = join(root, "mounted");
  expect(await allows(mounted, { path: join(mounted, "plain") })).toBe(true);
  expect(await allows(mounted, { path: join(mounted, "out/passwd") })).toBe(false);
});

test("relative paths are read from the server's folder", async () => {
  expect(await allows("data", { path: "data/plain" })).toBe(true);
  expect(await allows("data", { path: "data/out/passwd" })).toBe(false);
});

test("the text of a path is judged all the same", async () => {
  expect(await allows(join(root, "mounted"), { path: join(data, "plain") })).toBe(false);
});
