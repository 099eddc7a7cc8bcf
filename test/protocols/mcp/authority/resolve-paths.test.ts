import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import { resourceArguments } from "../../../../src/protocols/mcp/authority/resource-call.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { world } from "./support.js";

const root = realpathSync(temporaryFolder());
const data = join(root, "data");

beforeAll(() => {
  for (const folder of ["data/sub", "data-evil", "etc", "my data", "my%20data"])
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
    "data/a%20b": "../etc",
    "data/in%20side": "sub",
    "my%20data/x": "../etc",
    mounted: "data",
  };
  for (const [place, target] of Object.entries(links)) symlinkSync(target, join(root, place));
});

/** Judges a call of `read` by a token that limits its paths to a folder. */
async function allows(
  folder: string,
  given: JsonObject,
  {
    base = root,
    undecodedPath,
  }: { readonly base?: string; readonly undecodedPath?: string | undefined } = {},
): Promise<boolean> {
  const { authority, mint } = await world({ folderOf: () => base });
  const optional = true as const;
  const limits = {
    path: { path: folder, optional },
    paths: { each: { path: folder }, optional },
  };
  const token = mint({ operations: ["read"], operationConstraints: { "*": limits } });
  const call = { operation: "read", arguments: given, undecodedPath, method: "tools/call" };
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
])(
  "with symbolic links resolved, the path data/%s is allowed by a limit to the folder data: %s",
  async (name, expected) => {
    expect(await allows(data, { path: join(data, name) })).toBe(expected);
    expect(await allows(data, { paths: [join(data, "plain"), join(data, name)] })).toBe(expected);
  },
);

test("a limit to a folder that is a symbolic link allows paths in the target of the link", async () => {
  const mounted = join(root, "mounted");
  expect(await allows(mounted, { path: join(mounted, "plain") })).toBe(true);
  expect(await allows(mounted, { path: join(mounted, "out/passwd") })).toBe(false);
});

test("relative paths are resolved from the server's folder", async () => {
  expect(await allows("data", { path: "data/plain" })).toBe(true);
  expect(await allows("data", { path: "data/out/passwd" })).toBe(false);
});

test("a path whose text is outside the folder is refused, even if the path resolves to a file inside the folder", async () => {
  expect(await allows(join(root, "mounted"), { path: join(data, "plain") })).toBe(false);
});

test.each([
  ["data", "data/a%20b/passwd", false],
  ["data", "data/a%20b", false],
  ["data", "data/in%20side/x", true],
  ["data", "data/not%20there/x", true],
  ["my data", "my%20data/x/passwd", false],
])(
  "a limit to the folder %s applies to the decoded path and to the path as written: the resource %s is allowed: %s",
  async (folder, path, expected) => {
    const read = resourceArguments(`file://${join(root, path)}`);
    if (!read.ok) throw new Error(read.denial.message);
    const { arguments: given, undecodedPath } = read;
    expect(await allows(join(root, folder), given, { undecodedPath })).toBe(expected);
  },
);

test("a resource in a folder whose name has a space is allowed", async () => {
  rmSync(join(root, "my%20data"), { recursive: true });
  const undecodedPath = join(root, "my%20data/x");
  expect(
    await allows(join(root, "my data"), { path: join(root, "my data/x") }, { undecodedPath }),
  ).toBe(true);
});
