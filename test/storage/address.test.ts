import { expect, test } from "vitest";
import { isAddress, openDatabase } from "../../src/storage/database.js";
import { withoutPassword } from "../../src/storage/postgres.js";

const SCHEMA = { applicationId: 1, outdated: [], migrations: [] };

test.each([
  ["postgres://u:SecretPw@h:5432/db", "postgres://u@h:5432/db"],
  ["postgresql://u:SecretPw@h/db?sslmode=require&password=SecretPw", "postgresql://u@h/db"],
  ["postgres://h/db", "postgres://h/db"],
  ["postgres://u:Secret%23Pw@h/db", "postgres://u@h/db"],
])("withoutPassword shows %s as %s", (address, shown) => {
  expect(withoutPassword(address)).toBe(shown);
});

test.each([
  "postgres://u:12#SecretPw@h/db",
  "postgres://u:12/SecretPw@h/db",
  "postgres:/u:SecretPw@h/db",
  "postgres:u:SecretPw@h/db",
  " postgres://u:SecretPw@h/db",
  "POSTGRES:u:SecretPw@h/db",
  "jdbc:postgresql://h/db?user=u&password=SecretPw",
  "mysql://u:SecretPw@h/db",
])("openDatabase refuses the place %s, and shows no password in the error", async (place) => {
  const error: unknown = await openDatabase(place, SCHEMA, "create").catch((reason) => reason);
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).not.toContain("Secret");
});

test("isAddress returns false for a file path", () => {
  for (const path of ["proviso.db", "/srv/postgres/proviso.db", "./postgres://x"]) {
    expect(isAddress(path)).toBe(false);
  }
});

test.each([
  [{ reserve: -1 }, "reserve must be a whole number of bytes"],
  [{ patience: 1.5 }, "patience must be a whole number of milliseconds"],
  [{ writeTimeout: 0 }, "writeTimeout must be 1 to 2147483647 milliseconds"],
  [{ writeTimeout: 2 ** 31 }, "writeTimeout must be 1 to 2147483647 milliseconds"],
])("openDatabase refuses the option %j before it opens anything", async (options, message) => {
  const opening = openDatabase("/nowhere/proviso.db", SCHEMA, "create", options);
  await expect(opening).rejects.toThrow(new TypeError(message));
});
