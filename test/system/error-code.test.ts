import { expect, test } from "vitest";
import { errorCode, isErrno } from "../../src/system/error-code.js";

test.each<[unknown, string]>([
  [Object.assign(new Error("no file"), { code: "ENOENT" }), "ENOENT"],
  [{ code: "SQLITE_BUSY" }, "SQLITE_BUSY"],
  [Object.assign(new Error("a number"), { code: 5 }), ""],
  [new Error("without a code"), ""],
  [{}, ""],
  [null, ""],
  [undefined, ""],
  ["ENOENT", ""],
  [Object.assign(() => {}, { code: "ENOENT" }), ""],
])("errorCode(%o) is %j", (error, code) => {
  expect(errorCode(error)).toBe(code);
});

test.each<[unknown, boolean]>([
  [Object.assign(new Error("no file"), { code: "ENOENT" }), true],
  [Object.assign(new Error("a number"), { code: 5 }), false],
  [new Error("without a code"), false],
  [{ code: "ENOENT" }, false],
  [null, false],
])("isErrno(%o) is %j", (error, expected) => {
  expect(isErrno(error)).toBe(expected);
});
