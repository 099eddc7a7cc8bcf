// The conformance vectors, which are run against this implementation or another program.

import { existsSync, readFileSync } from "node:fs";
import { environmentError } from "../exit.js";
import { packageFile } from "../package-file.js";

/** The parts of a denial that conformance requires. */
export interface ExpectedDenial {
  readonly code: string;
  readonly hop?: number;
  readonly discharge?: number;
  /** In a chain: the index of the agent that the denial is about. */
  readonly link?: number;
}

interface TestBase {
  readonly tcId: number;
  readonly comment: string;
  readonly flags: readonly string[];
}

interface TokenTest extends TestBase {
  readonly token: string;
  /** Every tag of an accepted token, or the known tags of a refused one. */
  readonly tags?: readonly (readonly string[])[];
}

export interface VerifyTest extends TokenTest {
  readonly result: "valid" | "invalid";
  readonly code?: string;
}

export interface CheckTest extends TokenTest {
  readonly now: string;
  /** The grants that the issuer knows; absent if it knows none. */
  readonly grants?: readonly object[];
  readonly invocation: { readonly operation: string };
  readonly revocations?: object;
  readonly result: "allowed" | "refused" | "misuse";
  readonly denials?: readonly ExpectedDenial[];
  readonly revocationIds?: readonly string[];
  /** Set in some tests that are allowed; the answer must then have it. */
  readonly chainId?: string;
}

export interface DiscoveryTest extends TestBase, DiscoveryAsked {
  readonly result: "usable" | "refused" | "valid" | "invalid";
  readonly denials?: readonly ExpectedDenial[];
}

/** The request of a discovery test. */
interface DiscoveryAsked {
  readonly card?: unknown;
  readonly cardText?: string;
  readonly links?: readonly object[];
  readonly maxLength?: number;
  readonly requirements?: object;
  readonly registry?: object;
  readonly previous?: object;
}

/** The request to an implementation. */
export type Operation = "verify" | "check" | "discover" | "chain" | "registry";

type Test = VerifyTest | CheckTest | DiscoveryTest;

/** Tests of one kind. `verify` has a key; `check` has an issuer with its keys. */
interface TestGroup {
  readonly type: Operation;
  readonly subject: string;
  readonly key?: string;
  readonly issuer?: string;
  readonly keys?: readonly object[];
  readonly tests: readonly Test[];
}

interface VectorFile {
  readonly testGroups: readonly TestGroup[];
}

/** One test with everything needed to run it. */
export interface Vector {
  readonly file: string;
  readonly subject: string;
  readonly op: Operation;
  readonly test: Test;
  /** The request to an implementation (spec-vectors/README.md). */
  readonly request: object;
}

const FILES = ["macaroon.json", "check.json", "capability-discovery.json"];
/** The version of the protocol between runner and program; every request contains it. */
const PROTOCOL = 2;
const NO_REVOCATIONS = { version: 0, entries: [] };

/**
 * Returns all vectors, in the order of the files.
 *
 * @param folder - The folder of the files; the package's own unless given.
 */
export function readVectors(folder: URL = ownFolder()): Vector[] {
  return FILES.flatMap((file) => {
    const content: VectorFile = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
    return content.testGroups.flatMap((group) =>
      group.tests.map((test) => {
        const { subject, type: op } = group;
        return { file, subject, op, test, request: requestFor(group, test) };
      }),
    );
  });
}

function requestFor({ type: op, key, issuer, keys }: TestGroup, test: Test): object {
  const shared = { id: test.tcId, protocol: PROTOCOL, op };
  if (!("token" in test)) return { ...shared, ...askedIn(test) };
  const { token } = test;
  if (!("now" in test)) return { ...shared, token, key };
  const { now, grants, invocation, revocations = NO_REVOCATIONS } = test;
  return { ...shared, token, issuer, keys, now, revocations, grants, invocation };
}

function askedIn(test: DiscoveryTest): { readonly [Name in keyof DiscoveryAsked]: unknown } {
  const { card, cardText, links, maxLength, requirements, registry, previous } = test;
  return { card, cardText, links, maxLength, requirements, registry, previous };
}

/** The copy of the vectors in the command's package. */
function ownFolder(): URL {
  const found = packageFile("dist/spec-vectors/");
  if (FILES.every((file) => existsSync(new URL(file, found)))) return found;
  const message = "the conformance vectors are not where the package has them";
  const hint = "install proviso-cli again: they are part of it";
  throw environmentError("vectors_missing", message, hint);
}

/**
 * Returns whether a filter is the vector's id, or part of its file's name, subject, flags or comment; true
 * without filters.
 */
export function isWanted({ file, subject, test }: Vector, filters: readonly string[]): boolean {
  if (filters.length === 0) return true;
  const texts = [file, subject, test.comment, ...test.flags].map((text) => text.toLowerCase());
  return filters.some((filter) =>
    /^\d+$/.test(filter)
      ? test.tcId === Number(filter)
      : texts.some((text) => text.includes(filter.toLowerCase())),
  );
}
