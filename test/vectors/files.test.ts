import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { vectorFiles } from "../../spec-vectors/files.js";
import type { TokenErrorCode } from "../../src/bytes/token-error.js";
import type { DenialCode } from "../../src/capability/denial.js";
import type { SignatureFailureCode } from "../../src/macaroon/signatures.js";
import { checkTests, committed, FILES, VECTORS, verifyTests } from "./support.js";

const DENIAL_CODES: Readonly<Record<DenialCode, true>> = {
  token_malformed: true,
  token_truncated: true,
  token_too_large: true,
  foreign_issuer: true,
  unknown_key: true,
  signature_mismatch: true,
  discharge_missing: true,
  discharge_invalid: true,
  revoked: true,
  revocation_stale: true,
  grant_denied: true,
  caveat_malformed: true,
  caveat_unknown: true,
  expiry_missing: true,
  expired: true,
  not_yet_valid: true,
  operation_denied: true,
  resource_denied: true,
  constraint_violated: true,
  audience_denied: true,
  invoker_denied: true,
  too_many_hops: true,
};

// `false` for a code that reading and verifying a token never returns.
const VERIFY_CODES: Readonly<Record<TokenErrorCode | SignatureFailureCode, boolean>> = {
  empty: true,
  truncated: true,
  too_large: true,
  too_many_caveats: true,
  caveat_too_large: true,
  too_many_discharges: true,
  too_many_members: true,
  too_deep: true,
  format_unknown: true,
  format_not_v2: false,
  base64_character: true,
  base64_mixed: true,
  base64_whitespace: true,
  base64_padding: true,
  base64_trailing_bits: true,
  varint_overlong: true,
  varint_range: true,
  field_unknown: true,
  field_order: true,
  field_duplicate: true,
  field_missing: true,
  first_party_location: true,
  vid_length: true,
  signature_length: true,
  trailing_bytes: true,
  packet_header: true,
  packet_terminator: true,
  utf8_invalid: true,
  json_syntax: true,
  json_duplicate_key: true,
  json_unknown_key: true,
  json_type: true,
  json_version: true,
  json_both_encodings: true,
  json_hex: true,
  identifier_malformed: false,
  has_discharges: false,
  signature_mismatch: true,
  discharge_missing: true,
  discharge_duplicate: true,
  discharge_unused: true,
  discharge_reused: true,
  discharge_cyclic: true,
  discharge_too_deep: true,
  discharge_mismatch: true,
  caveat_key_sealed: true,
};

const SCHEMAS = ["vectors.schema.json", "discovery.schema.json"];

const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();

function namesOf(codes: { readonly [code: string]: boolean }): string[] {
  return sorted(Object.keys(codes).filter((code) => codes[code]));
}

test.each(vectorFiles())(
  "npm run vectors:generate writes the committed %s, byte for byte",
  (name, text) => {
    // Compared as booleans, since toBe would print a megabyte on failure.
    expect(committed(name) === text, "run npm run vectors:generate and commit the result").toBe(
      true,
    );
  },
);

describe.each(FILES)("the vector file %s", (name) => {
  const content = JSON.parse(committed(name));
  const tests: { flags: string[] }[] = content.testGroups.flatMap(
    (group: { tests: object[] }) => group.tests,
  );

  test("matches its schema", () => {
    const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false });
    for (const schema of SCHEMAS) ajv.addSchema(JSON.parse(committed(schema)), schema);
    ajv.validate(content.schema, content);
    expect(ajv.errors ?? []).toEqual([]);
  });

  test("states the number of its tests", () => {
    expect(content.numberOfTests).toBe(tests.length);
  });

  test("explains exactly the flags that it uses", () => {
    expect(Object.keys(content.notes).sort()).toEqual(sorted(tests.flatMap(({ flags }) => flags)));
  });

  test("is ASCII with LF line ends", () => {
    expect(committed(name)).toMatch(/^[\n\x20-\x7e]*\n$/);
  });
});

test("there are at least 250 vectors, each with its own id", () => {
  expect(VECTORS.length).toBeGreaterThanOrEqual(250);
  expect(new Set(VECTORS.map(({ test: { tcId } }) => tcId)).size).toBe(VECTORS.length);
});

test("no two vectors of one subject have the same comment", () => {
  const names = VECTORS.map(({ file, subject, test: { comment } }) =>
    [file, subject, comment].join(),
  );
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test("every denial code occurs in check.json", () => {
  const codes = checkTests.flatMap(({ denials = [] }) => denials.map(({ code }) => code));
  expect(sorted(codes)).toEqual(namesOf(DENIAL_CODES));
});

test("every error code of reading and verifying occurs in the vectors", () => {
  const codes = verifyTests.flatMap(({ code }) => (code === undefined ? [] : [code]));
  expect(sorted(codes)).toEqual(namesOf(VERIFY_CODES));
});

test("vectors in check.json that are refused for several reasons have the flag AllReported", () => {
  const silent = checkTests.filter(
    ({ denials = [], flags }) => denials.length > 1 && !flags.includes("AllReported"),
  );
  expect(silent.map(({ tcId, comment }) => `${tcId} ${comment}`)).toEqual([]);
});

test("every vector in check.json has a grant in its call or grants of its issuer, or expects misuse", () => {
  const silent = checkTests.filter(
    ({ invocation, grants, result }) =>
      !("grant" in invocation) && grants === undefined && result !== "misuse",
  );
  expect(silent.map(({ tcId }) => tcId)).toEqual([]);
});

test("at least 25 vectors in check.json have the flag Grant or Misuse", () => {
  const about = checkTests.filter(({ flags }) =>
    flags.some((flag) => flag === "Grant" || flag === "Misuse"),
  );
  expect(about.length).toBeGreaterThanOrEqual(25);
});
