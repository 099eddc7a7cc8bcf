import type { MacaroonSubject, MacaroonTest } from "../definitions/macaroon-test.js";
import { base64url } from "./bytes.js";
import { hexTags } from "./chain.js";
import { fileOf, type VectorFile } from "./vector-file.js";

// If a token is refused with one of these codes, a checker has parsed it and knows the tags of its root.
const AFTER_READING = /^(signature_mismatch|discharge_|caveat_key_)/;

/** Returns the contents of `macaroon.json`. */
export function macaroonFile(subjects: readonly MacaroonSubject[]): VectorFile {
  const header = [
    "Read a generic macaroon, with its discharges if any, and verify every signature.",
    "The specification is docs/spec.md, sections 2 to 4; README.md says how to use this file.",
  ];
  let tcId = 0;
  const groups = subjects.flatMap(({ subject, comment, tests }) =>
    byKey(tests).map(([key, own]) => ({
      type: "verify",
      subject,
      comment,
      key,
      tests: own.map((test) => ({ tcId: ++tcId, ...contentOf(test) })),
    })),
  );
  return fileOf(header, groups);
}

function byKey(tests: readonly MacaroonTest[]): [string, MacaroonTest[]][] {
  const groups = new Map<string, MacaroonTest[]>();
  for (const test of tests) {
    const key = base64url(test.key);
    groups.set(key, [...(groups.get(key) ?? []), test]);
  }
  return [...groups];
}

function contentOf({ comment, flags, token, code }: MacaroonTest): object {
  const head = { comment, flags, token: token.text };
  if (code === undefined) return { ...head, result: "valid", tags: token.chains.map(hexTags) };
  const [own] = AFTER_READING.test(code) ? token.chains : [];
  const tags = own === undefined ? {} : { tags: [hexTags(own)] };
  return { ...head, result: "invalid", code, ...tags };
}
