import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { posix } from "../issuer/support.js";
import { folderWith, opened, put, resourceError } from "./support.js";

describe("creating an item in a folder", () => {
  test("writes a file that only its owner may read, and the item is found at once", async () => {
    const root = folderWith({ "r/a.md": "" });
    mkdirSync(join(root, "empty"));
    const { folder } = await opened(root);
    const text = "---\ntitle: N\u00e4chstes\nyear: 2026\n---\n\u{1f600}\n";
    const name = await folder.create("empty", "q4.md", text);
    expect(name).toBe("empty/q4.md");
    expect(readFileSync(join(root, name), "utf8")).toBe(text);
    if (posix) expect(statSync(join(root, name)).mode & 0o777).toBe(0o600);
    expect(await folder.readText(name)).toBe(text);
    expect(await folder.get(name)).toMatchObject({ displayName: "N\u00e4chstes", kind: "item" });
    expect(readdirSync(join(root, "empty"))).toEqual(["q4.md"]);
  });

  test("never overwrites, even with concurrent creations of one name", async () => {
    const { folder } = await opened(folderWith({ "r/a.md": "first" }));
    const error = await resourceError(() => folder.create("r", "a.md", "second"));
    expect([error.code, error.subject]).toEqual(["item_exists", "r/a.md"]);
    expect(await folder.readText("r/a.md")).toBe("first");
    const made = await Promise.allSettled(
      [1, 2, 3].map((one) => folder.create("r", "b.md", String(one))),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test.each([
    "",
    ".md",
    "..",
    "../x.md",
    "sub/x.md",
    "x",
    "x.html",
    ".x.md",
    "x\0.md",
    "x\\y.md",
    "/x.md",
    "x.md/",
    "x\ny.md",
    "\ud800.md",
    `${"x".repeat(198)}.md`,
    "x.md ",
    "CON.md\u0000",
  ])("is refused under the name %j", async (fileName) => {
    const root = folderWith({ "r/a.md": "" });
    const { folder } = await opened(root);
    const error = await resourceError(() => folder.create("r", fileName, "x"));
    expect(error.code).toBe("name_invalid");
    expect(readdirSync(root)).toEqual(["r"]);
    expect(readdirSync(join(root, "r"))).toEqual(["a.md"]);
  });

  test("accepts the longest possible file name", async () => {
    const { folder } = await opened(folderWith({ "r/a.md": "" }));
    const fileName = `${"x".repeat(197)}.md`;
    expect(await folder.create("r", fileName, "x")).toBe(`r/${fileName}`);
  });

  test.each(["no", "", "..", ".", "r/sub", "r/", "/", "r/a.md", ".hidden"])(
    "is refused in the collection %j",
    async (collection) => {
      const root = folderWith({ "r/sub/a.md": "", ".hidden/x.md": "" });
      const { folder } = await opened(root);
      const error = await resourceError(() => folder.create(collection, "x.md", "x"));
      expect(error.code).toBe("collection_missing");
      expect(readdirSync(root).sort()).toEqual([".hidden", "r"]);
    },
  );
});

describe("writing an item of a folder", () => {
  test("replaces the file and its fields, and only the owner may read the new file", async () => {
    const root = folderWith({ "r/sub/a.md": "---\nyear: 1\n---\n" });
    const { folder } = await opened(root);
    const before = statSync(join(root, "r/sub/a.md")).ino;
    await folder.writeText("r/sub/a.md", "---\nyear: 2\n---\n");
    expect((await folder.get("r/sub/a.md"))?.fields).toEqual({ year: 2 });
    const { ino, mode } = statSync(join(root, "r/sub/a.md"));
    expect(ino).not.toBe(before);
    if (posix) expect(mode & 0o777).toBe(0o600);
    expect(readdirSync(join(root, "r/sub"))).toEqual(["a.md"]);
  });

  test("refuses an item that does not exist", async () => {
    const root = folderWith({ "r/a.md": "" });
    const { folder } = await opened(root);
    expect((await resourceError(() => folder.writeText("r/b.md", "x"))).code).toBe("item_missing");
    expect((await resourceError(() => folder.writeText("r/", "x"))).code).toBe("name_invalid");
    expect(readdirSync(join(root, "r"))).toEqual(["a.md"]);
  });

  test("accepts text up to the size limit, and refuses longer text and lone surrogates as create does", async () => {
    const root = folderWith({ "r/a.md": "old" });
    const { folder } = await opened(root, { maxTextBytes: 8 });
    await folder.writeText("r/a.md", "\u{1f600}\u{1f600}");
    for (const change of [
      (text: string) => folder.writeText("r/a.md", text),
      (text: string) => folder.create("r", "b.md", text),
    ]) {
      expect((await resourceError(() => change("\u{1f600}\u{1f600}x"))).code).toBe(
        "item_too_large",
      );
      expect((await resourceError(() => change("\ud800"))).code).toBe("text_invalid");
      await expect(change(JSON.parse("7"))).rejects.toThrow(TypeError);
    }
    expect(await folder.readText("r/a.md")).toBe("\u{1f600}\u{1f600}");
    expect(readdirSync(join(root, "r"))).toEqual(["a.md"]);
  });
});

describe("an item of a folder", () => {
  test("cannot be read if it is missing, too large or not UTF-8", async () => {
    const root = folderWith({
      "r/a.md": "x".repeat(9),
      "r/b.md": Buffer.of(0x61, 0xff),
      "r/c.md": "",
    });
    const { folder } = await opened(root, { maxTextBytes: 8 });
    expect((await resourceError(() => folder.readText("r/a.md"))).code).toBe("item_too_large");
    const broken = await resourceError(() => folder.readText("r/b.md"));
    expect(broken.message).toBe("r/b.md: the resource cannot be read (it is not UTF-8)");
    expect(await folder.readText("r/c.md")).toBe("");
    expect((await resourceError(() => folder.readText("r/d.md"))).code).toBe("item_missing");
    expect((await resourceError(() => folder.readText("r/"))).code).toBe("name_invalid");
  });

  test("is removed without another file, and cannot be removed twice", async () => {
    const root = folderWith({ "r/a.md": "", "r/b.md": "" });
    const { folder } = await opened(root);
    await folder.remove("r/a.md");
    expect(readdirSync(join(root, "r"))).toEqual(["b.md"]);
    expect(await folder.get("r/a.md")).toBeUndefined();
    expect((await resourceError(() => folder.remove("r/a.md"))).code).toBe("item_missing");
    expect((await resourceError(() => folder.remove("r/"))).code).toBe("name_invalid");
    put(root, "r/a.md", "again");
    expect(await folder.readText("r/a.md")).toBe("again");
  });
});
