import { expect, test } from "vitest";
import { resourceArguments } from "../../../../src/protocols/mcp/authority/resource-call.js";

test.each([
  ["file:///data/report.txt", { path: "/data/report.txt" }],
  ["file:///data/my%20report.txt", { path: "/data/my report.txt" }],
  ["file:///data/r%C3%A9sum%C3%A9", { path: "/data/résumé" }],
  ["file:///", { path: "/" }],
  ["https://example.com/a?b=1#c", { uri: "https://example.com/a?b=1#c" }],
  ["demo://resource/1", { uri: "demo://resource/1" }],
  ["no scheme", { uri: "no scheme" }],
])("resourceArguments accepts the URI %s", (uri, expected) => {
  const read = resourceArguments(uri);
  expect(read.ok && read.arguments).toEqual(expected);
});

test.each([
  "file:///data/../etc/passwd",
  "file:///data/%2e%2e/etc/passwd",
  "file:///data/%2E./etc/passwd",
  "file:///data%2fsecret",
  "file:///data%5C..%5Csecret",
  "file:///data/%61",
  "file:///data//x",
  "file:///data/x/",
  "file:///data/%00",
  "file:///data/x?y",
  "file:///data/x#y",
  "file:///C:/x",
  "file:/data/x",
  "file://localhost/data/x",
  "file://server/data/x",
  "FILE:///data/x",
  "file:\\\\\\data\\x",
  "file:data",
  "file:///data/%zz",
  "file:///data/%ff",
  "file:///data/%252e%252e/x",
  "file:///data/．．/x",
  " file:///data/x",
  "file:///data/x ",
  "\tfile:///data/x",
  "fi\nle:///data/x",
  "",
  "https://example.com/\ud800",
])("resourceArguments refuses the URI %j", (uri) => {
  expect(resourceArguments(uri)).toMatchObject({
    ok: false,
    denial: { code: "arguments_invalid", rule: "uri" },
  });
});

test("every file URI that resourceArguments accepts has the same path in Node's URL parser", async () => {
  const { fileURLToPath } = await import("node:url");
  const parts = [
    "a",
    "%20",
    "%2e",
    "..",
    ".",
    "/",
    "\\",
    "%5c",
    "%2f",
    "%25",
    "?",
    "#",
    "%C3%A9",
    ":",
    "~",
    " ",
  ];
  for (const one of parts) {
    for (const two of parts) {
      for (const three of parts) {
        const uri = `file:///data/${one}${two}${three}`;
        const read = resourceArguments(uri);
        if (read.ok) expect(fileURLToPath(uri)).toBe(read.arguments["path"]);
      }
    }
  }
});
