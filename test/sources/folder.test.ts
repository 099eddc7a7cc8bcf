import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matches } from "../../src/agent/resources/filter.js";
import { openFolder } from "../../src/sources/folder.js";
import { sized } from "../support/size.js";
import {
  denialOf,
  filters,
  folderWith,
  found,
  namesFound,
  opened,
  put,
  report,
  resourceError,
  scalar,
} from "./support.js";

const Q3 = "---\ntitle: Third quarter\nyear: 2025\ndepartment: finance\n---\nAll went well.\n";

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a folder's items", () => {
  test("are its text files at any depth, with the fields of their front matter", async () => {
    const root = folderWith({
      "reports/q3.md": Q3,
      "reports/2024/q1.txt": "---\nyear: 2024\n---\n",
      "reports/2024/deep/er/LAST.MD": "no front matter",
      "reports/picture.png": "---\nyear: 2024\n---\n",
      "reports/.hidden.md": Q3,
      "reports/.git/config.md": Q3,
      ".cache/x.md": Q3,
      "outside.md": Q3,
      "notes/a.md": "",
    });
    mkdirSync(join(root, "empty"));
    const { folder, problems } = await opened(root);
    expect(await folder.collections()).toEqual(["empty", "notes", "reports"]);
    const resources = found(await folder.find({ collection: "reports" }));
    const about = { collection: "reports", kind: "item" };
    expect(resources).toEqual([
      { ...about, name: "reports/2024/deep/er/LAST.MD", displayName: "LAST.MD", fields: {} },
      { ...about, name: "reports/2024/q1.txt", displayName: "q1.txt", fields: { year: 2024 } },
      {
        ...about,
        name: "reports/q3.md",
        displayName: "Third quarter",
        fields: { title: "Third quarter", year: 2025, department: "finance" },
      },
    ]);
    for (const resource of resources) expect(await folder.get(resource.name)).toEqual(resource);
    expect(namesFound(await folder.find({ collection: "empty" }))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("have as display name the title in the front matter if the title is a number or a non-empty string, else the file name", async () => {
    const root = folderWith({
      "r/1984.md": "---\ntitle: 1984\n---\n",
      "r/empty.md": '---\ntitle: ""\n---\n',
      "r/list.md": "---\ntitle: [a]\n---\n",
      "r/true.md": "---\ntitle: true\n---\n",
    });
    const { folder } = await opened(root);
    const titles = found(await folder.find({ collection: "r" })).map((item) => item.displayName);
    expect(titles).toEqual(["1984", "empty.md", "list.md", "true.md"]);
  });

  test("have a collection that is itself a resource, named with a final slash", async () => {
    const { folder } = await opened(folderWith({ "reports/q3.md": Q3 }));
    expect(await folder.nameOfCollection("reports")).toBe("reports/");
    expect(await folder.get("reports/")).toEqual({
      name: "reports/",
      displayName: "reports",
      collection: "reports",
      kind: "collection",
      fields: {},
    });
    for (const name of ["report", "reports/2024", "", ".", "..", "reports/q3.md"]) {
      expect(await folder.nameOfCollection(name)).toBeUndefined();
    }
  });

  test("are found by a filter", async () => {
    const { folder } = await opened(
      folderWith({
        "r/a.md": "---\nyear: 2023\n---\n",
        "r/b.md": "---\nyear: 2024\nauthor: null\n---\n",
        "r/c.md": '---\nyear: "2024"\n---\n',
      }),
    );
    const names = async (filter: object): Promise<string[]> =>
      namesFound(await folder.find({ collection: "r", filter: { ...filter } }));
    expect(await names({ year: 2024 })).toEqual(["r/b.md"]);
    expect(await names({ year: { in: [2023, "2024"] } })).toEqual(["r/a.md", "r/c.md"]);
    expect(await names({ year: { min: 2000 } })).toEqual(["r/a.md", "r/b.md"]);
    expect(await names({ author: null })).toEqual(["r/b.md"]);
    expect(await names({ year: 1999 })).toEqual([]);
  });

  test("are found by a random filter exactly if matches() accepts them", async () => {
    const names = ["x", "y", "__proto__"];
    const records = fc.array(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...names), scalar), { selector: ([name]) => name }),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(records, filters(names), async (all, filter) => {
        const files = all.map((fields, at) => {
          const text = JSON.stringify(Object.fromEntries(fields));
          return [`r/${at}.md`, `---\n${text}\n---\n`] as const;
        });
        const root = folderWith({ "r/none.md": "", ...Object.fromEntries(files) });
        const { folder, problems } = await opened(root);
        const known = new Set(all.flatMap((fields) => fields.map(([name]) => name)));
        const unknown = Object.keys(filter).find((name) => !known.has(name));
        const result = await folder.find({ collection: "r", filter });
        rmSync(root, { recursive: true });
        expect(problems).toEqual([]);
        if (unknown !== undefined) {
          expect(denialOf(result).known).toEqual([...known].sort());
          return;
        }
        const expected = all.flatMap((fields, at) => {
          const item = report(Object.fromEntries(fields), `r/${at}.md`);
          return matches(item, filter) ? [item.name] : [];
        });
        if (Object.keys(filter).length === 0) expected.push("r/none.md");
        expect(namesFound(result)).toEqual(expected);
      }),
      { numRuns: sized(200) },
    );
  });
});

describe("the denial of a query", () => {
  test("lists the collections if the collection is unknown", async () => {
    const { folder } = await opened(folderWith({ "reports/a.md": "", "notes/b.md": "" }));
    for (const collection of ["report", "..", "reports/", "__proto__", "reports/a.md"]) {
      expect(denialOf(await folder.find({ collection }))).toMatchObject({
        code: "unknown_collection",
        path: "collection",
        known: ["notes", "reports"],
      });
    }
    expect(denialOf(await folder.find({ collection: "report" })).message).toBe(
      'there is no collection "report"; known: "notes", "reports"; did you mean "reports"?',
    );
  });

  test("lists the fields if a field is unknown, and the operators if an operator is unknown", async () => {
    const { folder } = await opened(
      folderWith({
        "r/a.md": "---\nyear: 1\n---\n",
        "r/b.md": "---\nauthor: x\n---\n",
        "s/c.md": Q3,
      }),
    );
    expect(denialOf(await folder.find({ collection: "r", filter: { yaer: 1 } }))).toMatchObject({
      code: "unknown_field",
      known: ["author", "year"],
    });
    const wrong = JSON.parse('{ "year": { "from": 1 } }');
    expect(denialOf(await folder.find({ collection: "r", filter: wrong }))).toMatchObject({
      code: "unknown_operator",
      path: "filter.year",
      known: ["in", "max", "min"],
    });
    const odd = JSON.parse('{ "year": [1] }');
    expect(denialOf(await folder.find({ collection: "r", filter: odd })).code).toBe(
      "invalid_value",
    );
  });
});

describe("files that change while the folder is open", () => {
  test("are found in their state at the query: new, changed, moved or removed", async () => {
    const root = folderWith({ "r/a.md": "---\nyear: 2024\n---\n" });
    const { folder } = await opened(root);
    const years = async (): Promise<unknown[]> =>
      found(await folder.find({ collection: "r" })).map(({ fields }) => fields["year"]);
    expect(await years()).toEqual([2024]);
    // The file keeps its length, and is written again within the same tick of the file system's clock.
    for (let year = 2025; year < 2060; year++) {
      put(root, "r/a.md", `---\nyear: ${year}\n---\n`);
      expect(await years()).toEqual([year]);
      expect((await folder.get("r/a.md"))?.fields["year"]).toBe(year);
    }
    put(root, "r/new/b.md", "---\nyear: 1\n---\n");
    expect(await years()).toEqual([2059, 1]);
    renameSync(join(root, "r/new"), join(root, "r/other"));
    expect(await folder.get("r/new/b.md")).toBeUndefined();
    expect((await folder.get("r/other/b.md"))?.fields).toEqual({ year: 1 });
    rmSync(join(root, "r"), { recursive: true });
    expect(await folder.get("r/a.md")).toBeUndefined();
    expect(denialOf(await folder.find({ collection: "r" })).known).toEqual([]);
    expect(await folder.nameOfCollection("r")).toBeUndefined();
    put(root, "s/c.md", Q3);
    expect(await folder.collections()).toEqual(["s"]);
  });

  test("are read again even if their size and modification time are unchanged", async () => {
    const root = folderWith({ "r/a.md": "---\nyear: 2024\n---\n" });
    const path = join(root, "r/a.md");
    utimesSync(path, 1000, 1000);
    const { folder } = await opened(root);
    await sleep(2200);
    const first = await folder.get("r/a.md");
    // The source has not read the file again, since it returns the same object.
    expect(await folder.get("r/a.md")).toBe(first);
    writeFileSync(path, "---\nyear: 2025\n---\n");
    utimesSync(path, 1000, 1000);
    expect((await folder.get("r/a.md"))?.fields).toEqual({ year: 2025 });
  });

  test("have each problem reported once, and again after the file has changed", async () => {
    const root = folderWith({ "r/a.md": "---\nyear: [\n---\n", "r/b.md": Q3 });
    const { folder, problems } = await opened(root);
    const items = found(await folder.find({ collection: "r" }));
    expect(items.map(({ displayName, fields }) => [displayName, Object.keys(fields)])).toEqual([
      ["a.md", []],
      ["Third quarter", ["title", "year", "department"]],
    ]);
    await folder.get("r/a.md");
    expect(problems).toEqual([
      expect.stringMatching(/r.a\.md: its front matter is not sound YAML/),
    ]);
    put(root, "r/a.md", "---\n- 1\n---\n");
    await folder.get("r/a.md");
    put(root, "r/a.md", "---\nyear: 1\n---\n");
    expect((await folder.get("r/a.md"))?.fields).toEqual({ year: 1 });
    put(root, "r/a.md", "---\n- 1\n---\n");
    await folder.get("r/a.md");
    await folder.get("r/a.md");
    expect(problems.slice(1)).toEqual(
      new Array(2).fill(expect.stringMatching(/not a list of fields/)),
    );
  });
});

describe("openFolder", () => {
  test("requires an existing folder", async () => {
    const root = folderWith({ "r/a.md": "" });
    const missing = await resourceError(() => openFolder(join(root, "no")));
    expect([missing.code, missing.subject]).toEqual(["source_missing", join(root, "no")]);
    expect(missing.name).toBe("ResourceError");
    const file = await resourceError(() => openFolder(join(root, "r/a.md")));
    expect(file.code).toBe("source_unreadable");
    expect(file.message).toContain("(a part of its path is not a folder)");
  });

  test("returns a source whose find() and collections() fail once the folder is removed", async () => {
    const root = folderWith({ "r/a.md": "" });
    const { folder } = await opened(root);
    rmSync(root, { recursive: true });
    expect((await resourceError(() => folder.find({ collection: "r" }))).code).toBe(
      "source_missing",
    );
    expect((await resourceError(() => folder.collections())).code).toBe("source_missing");
    expect(await folder.get("r/a.md")).toBeUndefined();
  });

  test("refuses a collection with more files and folders than maxFiles", async () => {
    const root = folderWith({ "r/a.md": "", "r/b.md": "", "s/c.md": "", "r/x.png": "" });
    const { folder } = await opened(root, { maxFiles: 2 });
    expect(namesFound(await folder.find({ collection: "r" }))).toHaveLength(2);
    put(root, "r/d/e.md", "");
    const error = await resourceError(() => folder.find({ collection: "r" }));
    expect(error.code).toBe("source_too_large");
    expect(error.message).toContain("r has more than 2 files and folders");
    expect(namesFound(await folder.find({ collection: "s" }))).toHaveLength(1);
    expect((await resourceError(() => opened(root, { maxFiles: 2 }))).code).toBe(
      "source_too_large",
    );
  });

  test("refuses options that are not positive whole numbers", async () => {
    const root = folderWith({});
    for (const options of [{ maxFiles: 0 }, { maxFiles: 1.5 }, { maxTextBytes: Number.NaN }]) {
      await expect(openFolder(root, options)).rejects.toThrow(TypeError);
    }
  });
});
