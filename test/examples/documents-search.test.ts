import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { searchDocuments } from "../../examples/documents-agent/search.mjs";
import type { Resource } from "../../src/agent/resources/resource.js";
import { anyCharacter } from "../support/any-character.js";
import { cpuTime } from "../support/cpu-time.js";
import { sized } from "../support/size.js";

const LIBRARY: { readonly [name: string]: string } = {
  a: "Revenue rose by four percent, and the capability was revoked.",
  b: "Revenue fell. The root key is kept apart. Over allen Gipfeln ist Ruh.",
  c: "The salaries of the board: secret. Revenue secret secret secret.",
  d: "Über allen Gipfeln\nist Ruh.",
};

function resource(name: string): Resource {
  return {
    name,
    displayName: `Title of ${name}`,
    kind: "item",
    collection: "all",
    fields: { author: `author${name}`, year: 2000 },
  };
}

/** Returns a folder with these texts, and the set of the files that have been read. */
function folderOf(texts: { readonly [name: string]: string }) {
  const read = new Set<string>();
  const readText = async (name: string): Promise<string> => {
    read.add(name);
    return texts[name] ?? "";
  };
  return { readText, read };
}

async function found(
  query: string,
  names: readonly string[] = Object.keys(LIBRARY),
  texts = LIBRARY,
): Promise<string[]> {
  const matches = await searchDocuments(folderOf(texts), query, names.map(resource), 100);
  return matches.map(({ name }) => name);
}

describe("searchDocuments", () => {
  test.each([
    ["REVENUE", ["a", "b", "c"]],
    ["uber", ["d"]],
    ['"root key"', ["b"]],
    ['"key root"', []],
    ["root-key", ["b"]],
    ["capab*", ["a"]],
    ["evenue", []],
    ['"root key', ["b"]],
    ['"allen gipfeln ist"', ["b", "d"]],
    ["nowhere salaries", ["c"]],
    ["authorb", ["b"]],
    ["title", ["a", "b", "c", "d"]],
    ["revenue NOT fell", ["a", "b", "c"]],
    ['"', []],
    ["* ** *", []],
    ["((((", []],
    ["'; DROP TABLE documents; --", []],
    ["revenue\0", ["a", "b", "c"]],
    ["\ud800 revenue", ["a", "b", "c"]],
    ["😀 !!! —", []],
    ["", []],
  ])("for %j finds the documents %j", async (query, names) => {
    expect((await found(query)).sort()).toEqual(names);
  });

  test("orders results by the number of distinct words found, then by frequency", async () => {
    const texts = {
      once: `needle ${"hay ".repeat(200)}`,
      often: `needle needle needle ${"hay ".repeat(200)}`,
      both: `needle ${"hay ".repeat(400)} thread`,
    };
    expect(await found("needle thread", Object.keys(texts), texts)).toEqual([
      "both",
      "often",
      "once",
    ]);
  });

  test("returns the text around the match as a snippet of one line", async () => {
    const folder = folderOf({
      long: `${"before ".repeat(100)}\n\nneedle\n\n${"after ".repeat(100)}`,
    });
    const [match] = await searchDocuments(folder, "needle", [resource("long")]);
    expect(match?.snippet).toMatch(/^….*before before needle after after.*…$/);
    expect(match?.snippet.length).toBeLessThan(210);
  });

  test("accepts any string as a query, and answers two queries of 100,000 words within a second", async () => {
    const syntax = fc.constantFrom(..."\"*^:+-(){}', \0\\", "NEAR", "AND", "NOT", "OR", "revenue");
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(syntax, { maxLength: 40 }).map((parts) => parts.join("")),
    );
    const property = fc.asyncProperty(text, async (query) => {
      expect((await found(query, ["a", "d"])).every((name) => "ad".includes(name))).toBe(true);
    });
    await fc.assert(property, { numRuns: sized(300) });
    const spent = cpuTime();
    expect(await found('"revenue" '.repeat(100_000))).toHaveLength(3);
    expect(await found("a* ".repeat(100_000))).not.toHaveLength(0);
    expect(spent()).toBeLessThan(1000);
  });
});

test("searchDocuments reads only the documents that it is given", async () => {
  const folder = folderOf(LIBRARY);
  expect(await searchDocuments(folder, "secret", ["a", "b"].map(resource))).toEqual([]);
  expect([...folder.read]).toEqual(["a", "b"]);
});
