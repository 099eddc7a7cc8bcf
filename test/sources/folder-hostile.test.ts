import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openFolder } from "../../src/sources/folder.js";
import { child, root as isRoot, posix } from "../issuer/support.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { folderWith, namesFound, opened, put, resourceError } from "./support.js";

const SECRET = "---\ntitle: secret\n---\nThe password is x.\n";

/** Names for which the source must find no file. */
const HOSTILE = [
  "",
  "/",
  "//",
  ".",
  "..",
  "./",
  "../",
  "r",
  "r//",
  "/r/",
  "r/.",
  "r/..",
  "r/./a.md",
  "../secret.md",
  "r/../secret.md",
  "r/../../secret.md",
  "r/../r/a.md",
  "r/sub/../a.md",
  "/etc/passwd",
  "/etc/hosts.md",
  "//etc/hosts.md",
  "r//a.md",
  "r/a.md/",
  "./r/a.md",
  "r\\a.md",
  "..\\secret.md",
  "r\\..\\..\\secret.md",
  "r/..\\secret.md",
  "C:\\secret.md",
  "r/a.md\0",
  "r/a\0.md",
  "r/\0/../a.md",
  "r/a.md\n",
  "r/a.md\u0085",
  "\0r/a.md",
  "r/.hidden.md",
  "r/.git/a.md",
  ".r/a.md",
  "r/...md",
  "r/ a.md/../a.md",
  "r/a",
  "r/a.png",
  "r/a.md.tmp",
  "a.md",
  "secret.md",
  "r/sub",
  "r/sub/",
  "%2e%2e/secret.md",
  "r/%2e%2e/secret.md",
  "r/..%2fsecret.md",
  "file:///etc/hosts.md",
  "r/\ud800.md",
  "__proto__/a.md",
  "__proto__/",
  "constructor/",
  `r/${"x".repeat(600)}.md`,
  `r/${"x/".repeat(5000)}a.md`,
  `${"../".repeat(100)}etc/hosts.md`,
];

describe("a name of no item is not found, read, written or removed", () => {
  test.each(HOSTILE)("%j", async (name) => {
    const root = folderWith({
      "r/a.md": "text",
      "r/sub/b.md": "text",
      "secret.md": SECRET,
      "r/a.png": SECRET,
      "r/.hidden.md": SECRET,
      "r/.git/a.md": SECRET,
      ".r/a.md": SECRET,
      "r/a": SECRET,
    });
    put(dirname(root), "secret.md", SECRET);
    const { folder } = await opened(root);
    expect(await folder.get(name)).toBeUndefined();
    for (const action of [
      () => folder.readText(name),
      () => folder.writeText(name, "overwritten"),
      () => folder.remove(name),
    ]) {
      expect((await resourceError(action)).code).toMatch(/^(name_invalid|item_missing)$/);
    }
    expect(namesFound(await folder.find({ collection: "r" }))).toEqual(["r/a.md", "r/sub/b.md"]);
    expect(await folder.readText("r/a.md")).toBe("text");
  });
});

describe.runIf(posix)("a folder source", () => {
  test("does not follow a symbolic link to a file or folder inside or outside the source", async () => {
    const outside = temporaryFolder();
    put(outside, "secret.md", SECRET);
    const root = folderWith({ "r/a.md": "text", "s/b.md": "text" });
    symlinkSync(join(outside, "secret.md"), join(root, "r/link.md"));
    symlinkSync(outside, join(root, "r/out"));
    symlinkSync(outside, join(root, "collection"));
    symlinkSync(join(root, "s"), join(root, "r/inside"));
    symlinkSync("a.md", join(root, "r/alias.md"));
    symlinkSync("loop.md", join(root, "r/loop.md"));
    symlinkSync("nowhere.md", join(root, "r/dangling.md"));
    const { folder, problems } = await opened(root);
    expect(await folder.collections()).toEqual(["r", "s"]);
    expect(namesFound(await folder.find({ collection: "r" }))).toEqual(["r/a.md"]);
    expect(problems).toHaveLength(4);
    expect(problems.join("\n")).toMatch(
      /link\.md: it is not a regular file; links are not followed/,
    );
    await folder.find({ collection: "r" });
    expect(problems).toHaveLength(4);
    for (const name of [
      "r/link.md",
      "r/out/secret.md",
      "collection/secret.md",
      "collection/",
      "r/inside/b.md",
      "r/alias.md",
      "r/loop.md",
      "r/dangling.md",
    ]) {
      expect(await folder.get(name)).toBeUndefined();
      expect((await resourceError(() => folder.readText(name))).code).toMatch(
        /item_missing|name_invalid/,
      );
      const error = await resourceError(() => folder.writeText(name, "x"));
      expect(error.code).toMatch(/item_missing|name_invalid/);
    }
    const made = await resourceError(() => folder.create("collection", "x.md", "x"));
    expect(made.code).toBe("collection_missing");
    const dangling = await resourceError(() => folder.create("r", "dangling.md", "x"));
    expect(dangling.code).toBe("item_exists");
  });

  test("does not follow a symbolic link that replaced a folder after the folder was read", async () => {
    const outside = temporaryFolder();
    put(outside, "a.md", SECRET);
    const root = folderWith({ "r/sub/a.md": "---\ntitle: mine\n---\n" });
    const { folder } = await opened(root);
    expect((await folder.get("r/sub/a.md"))?.displayName).toBe("mine");
    renameSync(join(root, "r/sub"), join(root, "moved"));
    symlinkSync(outside, join(root, "r/sub"));
    expect(await folder.get("r/sub/a.md")).toBeUndefined();
    expect((await resourceError(() => folder.readText("r/sub/a.md"))).code).toBe("item_missing");
    expect((await resourceError(() => folder.remove("r/sub/a.md"))).code).toBe("item_missing");
    expect(namesFound(await folder.find({ collection: "r" }))).toEqual([]);
  });

  test("follows a symbolic link that is the path of the source itself", async () => {
    const root = folderWith({ "r/a.md": "text" });
    const link = join(temporaryFolder(), "link");
    symlinkSync(root, link);
    const { folder } = await opened(link);
    expect(await folder.readText("r/a.md")).toBe("text");
  });

  test("skips a named pipe without waiting, and lists a hard link as an item", async () => {
    const root = folderWith({ "r/a.md": "text" });
    linkSync(join(root, "r/a.md"), join(root, "r/b.md"));
    mkdirSync(join(root, "r/folder.md"));
    execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", join(root, "r/pipe.md")]);
    const { folder } = await opened(root);
    expect(namesFound(await folder.find({ collection: "r" }))).toEqual(["r/a.md", "r/b.md"]);
    expect(await folder.get("r/pipe.md")).toBeUndefined();
    expect(await folder.get("r/folder.md")).toBeUndefined();
  });
});

describe("a file with a name that", () => {
  test("cannot be a resource's name is reported and skipped", async () => {
    const long = `r/${"d".repeat(200)}/${"e".repeat(200)}/${"f".repeat(120)}.md`;
    const names: Record<string, string> = posix ? { "r/a\\b.md": "", "r/line\nend.md": "" } : {};
    const root = folderWith({ "r/ok.md": "", [long]: "", ...names });
    const { folder, problems } = await opened(root);
    expect(namesFound(await folder.find({ collection: "r" }))).toEqual(["r/ok.md"]);
    expect(problems).toHaveLength(1 + Object.keys(names).length);
    expect(problems.every((text) => text.endsWith("its name cannot be that of a resource"))).toBe(
      true,
    );
    expect(await folder.get(long)).toBeUndefined();
  });

  test("is not UTF-8 is skipped", async () => {
    if (process.platform !== "linux") return;
    const root = folderWith({ "r/ok.md": "" });
    put(root, "r/x.md", "");
    renameSync(
      join(root, "r/x.md"),
      Buffer.concat([Buffer.from(join(root, "r/")), Buffer.of(0xff), Buffer.from(".md")]),
    );
    const { folder } = await opened(root);
    expect(namesFound(await folder.find({ collection: "r" }))).toEqual(["r/ok.md"]);
  });
});

describe.runIf(posix)("a read error is thrown, never taken for an absent file", () => {
  /** Runs `work` as a user to whom file permissions apply. */
  async function withoutPrivileges(root: string, work: () => Promise<void>): Promise<void> {
    for (const path of [dirname(root), root, join(root, "r"), join(root, "s")]) {
      chmodSync(path, 0o755);
    }
    try {
      if (isRoot) process.seteuid?.(65534);
      await work();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  }

  test("for a file that may not be read, while other files can still be found", async () => {
    const files = { "r/a.md": "---\nyear: 1\n---\n", "r/c.md": SECRET, "s/b.md": "text" };
    const root = folderWith(files);
    const { folder, problems } = await opened(root);
    chmodSync(join(root, "r/c.md"), 0);
    await withoutPrivileges(root, async () => {
      for (const look of [
        () => folder.find({ collection: "r" }),
        () => folder.get("r/c.md"),
        () => folder.readText("r/c.md"),
        () => openFolder(root),
      ]) {
        const error = await resourceError(look);
        expect([error.code, error.subject]).toEqual(["item_unreadable", "r/c.md"]);
        expect(error.message).toContain("(permission denied)");
      }
      expect((await folder.get("r/a.md"))?.fields).toEqual({ year: 1 });
      expect(namesFound(await folder.find({ collection: "s" }))).toEqual(["s/b.md"]);
      if (!isRoot) return;
      expect((await resourceError(() => folder.create("r", "new.md", "x"))).code).toBe(
        "item_unwritable",
      );
    });
    expect(problems).toEqual([]);
  });

  test.each([
    ["listed", 0o300],
    ["entered", 0o600],
  ])("for a folder that may not be %s", async (_, mode) => {
    const root = folderWith({ "r/a.md": "", "r/sub/b.md": SECRET, "s/c.md": "" });
    const { folder } = await opened(root);
    const own = isRoot ? mode >> 6 : mode;
    chmodSync(join(root, "r/sub"), own);
    try {
      await withoutPrivileges(root, async () => {
        const error = await resourceError(() => folder.find({ collection: "r" }));
        expect(error.code).toMatch(/^(source|item)_unreadable$/);
        expect((await folder.get("r/a.md"))?.displayName).toBe("a.md");
        expect(namesFound(await folder.find({ collection: "s" }))).toEqual(["s/c.md"]);
      });
    } finally {
      chmodSync(join(root, "r/sub"), 0o755);
    }
  });

  test("for every query while the process has no file descriptors left", () => {
    const root = folderWith({
      "reports/open.md": "---\ntitle: Open\nconfidential: false\n---\nText.\n",
      "reports/secret.md": "---\ntitle: Secret\nconfidential: true\n---\nText.\n",
    });
    const { status, stdout, stderr } = spawnSync(
      "bash",
      ["-c", 'ulimit -n 512; exec "$@"', "bash", process.execPath, child("exhaust"), root],
      { encoding: "utf8" },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const answers = { get: "Open", find: ["Open"], text: true, list: ["Open"], retrieve: true };
    const error = "ResourceError: EMFILE";
    expect(JSON.parse(stdout)).toEqual({
      before: answers,
      exhausted: { get: error, find: error, text: error, list: error, retrieve: error },
      after: answers,
    });
  });
});
