import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import type { ArgumentConstraint } from "../../../../src/caveats/hop.js";
import { encodeHop } from "../../../../src/caveats/write-hop.js";
import { learnLimits } from "../../../../src/protocols/mcp/learn/learned-limits.js";

/** Learns from calls of one tool with these arguments. */
function learn(...given: readonly JsonObject[]) {
  return learnLimits(given.map((one) => ({ operation: "tool", arguments: one })));
}

/** Returns the limit that is learned from these values of an argument; `undefined` if any value is allowed. */
function limitOf(values: readonly Json[], name = "x"): ArgumentConstraint | undefined {
  const { hop } = learn(...values.map((value) => ({ [name]: value })));
  expect(hop).toBeDefined();
  return hop?.operationConstraints?.["tool"]?.[name];
}

describe("the learned operations and arguments", () => {
  test("are those of the calls, each operation with the closed list of its arguments", () => {
    const { hop, calls } = learnLimits([
      { operation: "read", arguments: { path: "/srv/a/b" } },
      { operation: "list", arguments: {} },
      { operation: "read", arguments: { path: "/srv/a/b", tail: 3 } },
    ]);
    expect(hop).toEqual({
      operations: ["read", "list"],
      arguments: { read: ["path", "tail"], list: [] },
      operationConstraints: {
        read: { path: "/srv/a/b", tail: { in: [3], optional: true } },
      },
    });
    expect([...calls]).toEqual([
      ["read", 2],
      ["list", 1],
    ]);
  });

  test("are empty if there was no call", () => {
    expect(learn()).toEqual({ hop: undefined, calls: new Map(), open: [], leftOut: [] });
  });

  test("do not have an operation if no token can name the operation or one of its arguments", () => {
    const { hop, leftOut } = learnLimits([
      { operation: "*", arguments: {} },
      { operation: "odd", arguments: { "\ud800": 1 } },
    ]);
    expect(hop).toBeUndefined();
    expect(leftOut.map(({ operation }) => operation)).toEqual(["*", "odd"]);
  });
});

describe("the limits learned from values", () => {
  test("list the values if there are at most three", () => {
    expect(limitOf(["a", "a"])).toBe("a");
    expect(limitOf(["a", "b", "c"])).toEqual({ in: ["a", "b", "c"] });
    expect(limitOf([true, false])).toEqual({ in: [true, false] });
    expect(limitOf([null, 1])).toEqual({ in: [null, 1] });
  });

  test("allow any value for many strings, for a text of several lines and for a long text", () => {
    expect(limitOf(["a", "b", "c", "d"])).toBeUndefined();
    expect(limitOf(["two\nlines"])).toBeUndefined();
    expect(limitOf(["x".repeat(200)])).toBeUndefined();
    const { open } = learn({ text: "two\nlines", n: 1 });
    expect(open).toEqual([{ operation: "tool", argument: "text", isElements: false }]);
  });

  test("allow numbers between the smallest and the greatest", () => {
    expect(limitOf([5, -2.5, 3])).toEqual({ min: -2.5, max: 5 });
    expect(limitOf([7, 7])).toBe(7);
    expect(limitOf([-0])).toBe(0);
  });

  test("name properties inside an object by JSON Pointers", () => {
    const { hop } = learn({ to: { iban: "DE02", note: "a" } }, { to: { iban: "FR14" } }, {});
    expect(hop?.operationConstraints).toEqual({
      tool: {
        "/to/iban": { in: ["DE02", "FR14"], optional: true },
        "/to/note": { in: ["a"], optional: true },
      },
    });
  });

  test("limit arrays by their length and their elements", () => {
    expect(limitOf([["a", "b"], []])).toEqual({
      items: { min: 0, max: 2 },
      each: { in: ["a", "b"] },
    });
    expect(limitOf([[1], [9, 4]])).toEqual({ items: { min: 1, max: 2 }, each: { min: 1, max: 9 } });
    expect(limitOf([[{ old: "a" }]])).toEqual({ items: { min: 1, max: 1 } });
    expect(limitOf([[]])).toEqual({ items: { min: 0, max: 0 } });
    expect(limitOf([new Array(300).fill(1)])).toBeUndefined();
    expect(learn({ list: [{ old: "a" }] }).open).toEqual([
      { operation: "tool", argument: "list", isElements: true },
    ]);
  });

  test("allow any value for values of several types, unless a value names a path or a URL", () => {
    expect(limitOf([{ a: 1 }, "b", "c", "d"])).toBeUndefined();
    const { hop, leftOut } = learn({ x: { file: "/etc/passwd" } }, { x: "b" });
    expect(hop).toBeUndefined();
    expect(leftOut[0]).toMatchObject({ operation: "tool", argument: "x" });
    expect(leftOut[0]?.reason).toContain('"/etc/passwd"');
  });
});

describe("the limits learned from paths", () => {
  test("are the folder that the paths have in common", () => {
    expect(limitOf(["/home/me/a", "/home/me/b/c"])).toEqual({ path: "/home/me" });
    expect(limitOf(["/home/me/a", "/home/me/ab"])).toEqual({ path: "/home/me" });
    expect(limitOf(["/home/me", "/home/me/b"])).toEqual({ path: "/home/me" });
    expect(limitOf(["src/a", "src/b"], "path")).toEqual({ path: "src" });
    expect(limitOf([["/srv/x/a"], ["/srv/x/b"]])).toMatchObject({ each: { path: "/srv/x" } });
  });

  test("list the paths if there is only one, or if a few have no narrow folder in common", () => {
    expect(limitOf(["/home/me/a"])).toBe("/home/me/a");
    expect(limitOf(["/home/a", "/home/b"])).toEqual({ in: ["/home/a", "/home/b"] });
    expect(limitOf(["/a/b/c", "/d/e/f"])).toEqual({ in: ["/a/b/c", "/d/e/f"] });
    expect(limitOf(["/srv/x/", "/srv/x/a"])).toEqual({ in: ["/srv/x/", "/srv/x/a"] });
    expect(limitOf(["a.txt", "b.txt"], "file")).toEqual({ in: ["a.txt", "b.txt"] });
  });

  test("leave out the operation if many paths have no narrow folder in common", () => {
    const paths = Array.from({ length: 100 }, (_, at) => ({ path: `/home/user${at}` }));
    const { hop, leftOut } = learn(...paths);
    expect(hop).toBeUndefined();
    expect(leftOut).toMatchObject([{ operation: "tool", argument: "path" }]);
    const seen = paths.map((one) => ({ operation: "tool", arguments: one }));
    expect(learnLimits(seen, { allowBroad: true }).hop?.operationConstraints).toEqual({
      tool: { path: { path: "/home" } },
    });
  });

  test("leave out the operation if an argument with many values has a name such as path or URL, in any spelling", () => {
    const many = Array.from({ length: 100 }, (_, at) => `file ${at}`);
    for (const name of ["path", "filePath", "target_dir", "base-url", "files"]) {
      const { leftOut } = learn(...many.map((value) => ({ [name]: value })));
      expect(leftOut, name).toMatchObject([{ argument: name }]);
    }
    expect(limitOf(many, "profile")).toBeUndefined();
  });
});

describe("strings that may be paths", () => {
  /** Learns from 100 values without a common folder. Returns the arguments for which there is no narrow limit. */
  function leftOut(nth: (at: number) => Json): readonly (string | undefined)[] {
    const calls = Array.from({ length: 100 }, (_, at) => ({ source: nth(at) }));
    return learn(...calls).leftOut.map(({ argument }) => argument);
  }

  test("get a limit, or their operation is left out, whatever the name of the argument", () => {
    expect(limitOf(["docs/a", "docs/b", "docs/c", "docs/d"], "source")).toEqual({ path: "docs" });
    const remote = ["me@host:/etc/a", "me@host:/etc/b", "me@host:c", "me@other:d"];
    expect(limitOf(remote, "target")).toEqual({ in: remote });
    const files = ["a.txt", "my b.txt", "c.md", "d.example.com"];
    expect(limitOf(files, "source")).toEqual({ in: files });
    expect(leftOut((at) => `d${at}/a`)).toEqual(["source"]);
    expect(leftOut((at) => `d${at}\\a`)).toEqual(["source"]);
    expect(leftOut((at) => `d${at}%2Fa`)).toEqual(["source"]);
    expect(leftOut((at) => `me@host${at}:a`)).toEqual(["source"]);
    expect(leftOut((at) => `report ${at}.txt`)).toEqual(["source"]);
    expect(leftOut((at) => [`d${at}/a`])).toEqual(["source"]);
    expect(leftOut((at) => [{ from: `d${at}/a` }])).toEqual(["source"]);
  });

  test("are listed if they are few, and are not limited by a common folder", () => {
    expect(limitOf(["acme/site", "acme/shop"], "repo")).toEqual({ in: ["acme/site", "acme/shop"] });
  });

  test("do not include sentences or encoded data", () => {
    expect(leftOut((at) => `is TCP/IP better than option ${at}?`)).toEqual([]);
    expect(leftOut((at) => `${"iVBORw0KGgo/".repeat(30)}${at}`)).toEqual([]);
  });

  test("cause the operation to be left out if they are names of properties", () => {
    const { leftOut } = learn({ files: { "docs/a.txt": "one" } });
    expect(leftOut).toMatchObject([{ operation: "tool", argument: "files" }]);
    expect(leftOut[0]?.reason).toContain('"docs/a.txt"');
    expect(learn({ filter: { "address.city": "Ulm" } }).leftOut).toEqual([]);
  });
});

describe("the limits learned from URLs", () => {
  test("are the hosts of the URLs and the folder that the URLs have in common", () => {
    expect(
      limitOf(["https://api.example.com/v1/users?q=1", "https://api.example.com/v1/teams/"]),
    ).toEqual({ url: { schemes: ["https"], hosts: ["api.example.com"], path: "/v1" } });
    expect(limitOf(["https://a.example/x", "https://b.example/y"])).toEqual({
      url: { schemes: ["https"], hosts: ["a.example", "b.example"] },
    });
    expect(limitOf(["https://a.example/x", "https://a.example:8443/y"])).toEqual({
      url: { schemes: ["https"], hosts: ["a.example"], ports: ["443", "8443"] },
    });
  });

  test("list the URLs if a limit by hosts would also allow another combination of scheme, host and port", () => {
    const urls = ["https://bank.example/a", "http://blog.example:8080/b"];
    expect(limitOf(urls)).toEqual({ in: urls });
    const many = Array.from({ length: 100 }, (_, at) =>
      urls.map((url) => ({ url: url + at })),
    ).flat();
    expect(learn(...many).leftOut).toMatchObject([{ operation: "tool", argument: "url" }]);
    const seen = many.map((one) => ({ operation: "tool", arguments: one }));
    expect(learnLimits(seen, { allowBroad: true }).hop?.operationConstraints).toMatchObject({
      tool: { url: { url: { hosts: ["bank.example", "blog.example"] } } },
    });
  });

  test("list the URLs if there is only one, or if one is not in the strict form", () => {
    expect(limitOf(["https://a.example/x?q=1"])).toBe("https://a.example/x?q=1");
    expect(limitOf(["https://a.example", "https://a.example/b"])).toEqual({
      in: ["https://a.example", "https://a.example/b"],
    });
    expect(limitOf(["demo://a/1", "demo://a/2"], "uri")).toEqual({
      in: ["demo://a/1", "demo://a/2"],
    });
  });
});

test("limits learned from 40 tools still fit into a token", () => {
  const calls = Array.from({ length: 4000 }, (_, at) => ({
    operation: `tool_${at % 40}`,
    arguments: {
      path: `/x${at % 31}/a`,
      word: `w${at % 3}`,
      mode: "a rather long name for a mode",
    },
  }));
  const { hop, leftOut } = learnLimits(calls);
  expect(hop === undefined ? 0 : encodeHop(hop).length).toBeLessThan(7_680);
  expect(leftOut.length + (hop?.operations?.length ?? 0)).toBe(40);
});
