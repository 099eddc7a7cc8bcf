import {
  type CheckSubject,
  type CheckTest,
  type Entry,
  GRANT,
  ISSUER,
  KEY_A,
  NOW,
} from "../definitions/check-test.js";
import { base64url } from "./bytes.js";
import { type Built, chainId, hexTags, revocationId } from "./chain.js";
import { fileOf, type VectorFile } from "./vector-file.js";

// Each vector file has its own range of ids.
const FIRST_ID = 1001;
const LONGEST_LINK = 600;
const AT = "2026-01-01T00:20:00Z";
const BEFORE_SIGNATURES = /^(token_|foreign_issuer|unknown_key)/;
const SIGNATURES = /^(signature_mismatch|discharge_)/;

/** Returns the contents of `check.json`. */
export function checkFile(subjects: readonly CheckSubject[]): VectorFile {
  const header = [
    "Check a capability against an invocation: form, issuer and key, signatures, revocation, grant, rules.",
    "The specification is docs/spec.md; README.md says how to use this file.",
  ];
  let tcId = FIRST_ID;
  const groups = subjects.flatMap(({ subject, comment, tests }) =>
    byIssuer(tests).map(([{ issuer, keys }, own]) => ({
      type: "check",
      subject,
      comment,
      issuer,
      keys,
      tests: own.map((test) => ({ tcId: tcId++, ...contentOf(test) })),
    })),
  );
  return fileOf(header, groups);
}

interface Issuer {
  readonly issuer: string;
  readonly keys: readonly { readonly kid: string; readonly k: string }[];
}

function byIssuer(tests: readonly CheckTest[]): [Issuer, CheckTest[]][] {
  const groups = new Map<string, [Issuer, CheckTest[]]>();
  for (const test of tests) {
    const { issuer = ISSUER, keys = [KEY_A] } = test.setup;
    const own = { issuer, keys: keys.map(({ kid, secret }) => ({ kid, k: base64url(secret) })) };
    const name = JSON.stringify(own);
    groups.set(name, [own, [...(groups.get(name)?.[1] ?? []), test]]);
  }
  return [...groups.values()];
}

function contentOf(test: CheckTest): object {
  const { comment, flags, setup, token, chains } = test;
  const [root, ...discharges] = chains;
  if (root === undefined) throw new Error(`no token in "${comment}"`);
  const links = shown(root);
  const tags = knownTags(test);
  return {
    comment,
    flags,
    ...(links === undefined ? {} : { links }),
    token,
    now: setup.now ?? NOW,
    ...(setup.grants === undefined ? {} : { grants: setup.grants }),
    invocation: invocationOf(test, root),
    ...(setup.revocations === undefined
      ? {}
      : { revocations: list(setup.revocations(root, discharges)) }),
    ...resultOf(test, root),
    ...(test.version1 === undefined ? {} : { version1: test.version1.map(denialFrom) }),
    ...(tags.length === 0 ? {} : { tags }),
  };
}

function invocationOf({ setup: { ask = {} } }: CheckTest, root: Built): object {
  const { operation = "retrieve", grant = ownGrant(root), ...rest } = ask;
  return { operation, ...(grant === null ? {} : { grant }), ...rest };
}

/** Returns the grant named in a token's identifier, or the default grant. */
function ownGrant({ identifier }: Built): string {
  try {
    const { grant } = JSON.parse(Buffer.from(identifier).toString());
    return typeof grant === "string" && grant !== "" ? grant : GRANT;
  } catch {
    return GRANT;
  }
}

function resultOf({ result, denials, flags }: CheckTest, root: Built): object {
  switch (result) {
    case "allowed": {
      const ids = root.tags.map(revocationId);
      const chain = flags.includes("Delegation") ? { chainId: chainId(ids.at(-1) ?? "") } : {};
      return { result, revocationIds: ids, ...chain };
    }
    case "refused":
      return { result, denials: denials.map(denialFrom) };
    case "misuse":
      return { result };
  }
}

/**
 * Returns the links as strings for human readers; `undefined` if there are more than 8, or if a link is too
 * long or not UTF-8.
 */
function shown({ identifier, caveats }: Built): string[] | undefined {
  const texts: string[] = [];
  for (const link of [identifier, ...caveats.map(({ cid }) => cid)]) {
    const text = Buffer.from(link).toString();
    if (link.length > LONGEST_LINK || !Buffer.from(text).equals(Buffer.from(link)))
      return undefined;
    texts.push(text);
  }
  return texts.length > 8 ? undefined : texts;
}

/** Returns the tags that a checker has computed before it reaches the expected result. */
function knownTags({ chains, result, denials }: CheckTest): string[][] {
  const [first = ""] = denials;
  if (result === "misuse" || BEFORE_SIGNATURES.test(first)) return [];
  return (SIGNATURES.test(first) ? chains.slice(0, 1) : chains).map(hexTags);
}

function list(revocations: {
  readonly trustedUntil?: string;
  readonly entries?: readonly Entry[];
}): object {
  const { trustedUntil, entries = [] } = revocations;
  return {
    version: 1,
    ...(trustedUntil === undefined ? {} : { trustedUntil }),
    entries: entries.map((entry) => ({ at: AT, ...entry })),
  };
}

/** Parses `code`, `code@hop`, `code/discharge` or `code@hop/discharge`. */
function denialFrom(text: string): object {
  const { code, hop, discharge } =
    /^(?<code>[a-z_]+)(@(?<hop>\d+))?(\/(?<discharge>\d+))?$/.exec(text)?.groups ?? {};
  if (code === undefined) throw new Error(`no denial: ${text}`);
  return {
    code,
    ...(hop === undefined ? {} : { hop: Number(hop) }),
    ...(discharge === undefined ? {} : { discharge: Number(discharge) }),
  };
}
