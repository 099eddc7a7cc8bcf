// Reads the conformance vectors. They are run against this implementation or another program.

import { existsSync, readFileSync } from "node:fs";
import { environmentError } from "../exit.js";
import { packageFile } from "../package-file.js";

/** The properties of a denial that an implementation must match. */
export interface ExpectedDenial {
  readonly code: string;
  readonly hop?: number;
  readonly discharge?: number;
  /** In a chain: the index of the agent that the denial concerns. */
  readonly link?: number;
}

interface TestBase {
  readonly tcId: number;
  readonly comment: string;
  readonly flags: readonly string[];
}

interface TokenTest extends TestBase {
  readonly token: string;
  /** Every tag of an accepted token; for a refused token, the known tags. */
  readonly tags?: readonly (readonly string[])[];
}

export interface VerifyTest extends TokenTest {
  readonly result: "valid" | "invalid";
  readonly code?: string;
}

export interface CheckTest extends TokenTest {
  readonly now: string;
  /** The grants that the issuer knows; absent if it does not list its grants. */
  readonly grants?: readonly object[];
  readonly invocation: { readonly operation: string };
  readonly revocations?: object;
  readonly result: "allowed" | "refused" | "misuse";
  readonly denials?: readonly ExpectedDenial[];
  readonly revocationIds?: readonly string[];
  /** The expected chain id. If a test has this property, the answer must have the same. */
  readonly chainId?: string;
}

export interface DiscoveryTest extends TestBase, DiscoveryAsked {
  readonly result: "usable" | "refused" | "valid" | "invalid";
  readonly denials?: readonly ExpectedDenial[];
}

/** The parts of a request for discovery. */
interface DiscoveryAsked {
  readonly card?: unknown;
  readonly cardText?: string;
  readonly links?: readonly object[];
  readonly maxLength?: number;
  readonly requirements?: object;
  readonly registry?: object;
  readonly previous?: object;
}

/** The operation that a request asks of an implementation. */
export type Operation = "verify" | "check" | "discover" | "chain" | "registry";

type Test = VerifyTest | CheckTest | DiscoveryTest;

/** Tests of one kind. A group of `verify` has a key; a group of `check` has an issuer with its keys. */
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

/** One test, with everything needed to run it. */
export interface Vector {
  readonly file: string;
  readonly subject: string;
  readonly op: Operation;
  readonly test: Test;
  /** The request to an implementation (spec-vectors/README.md). */
  readonly request: object;
}

const FILES = ["macaroon.json", "check.json", "capability-discovery.json"];
/** The version of the protocol between the runner and a program. Every request contains it. */
const PROTOCOL = 2;
const NO_REVOCATIONS = { version: 0, entries: [] };

/**
 * Returns all vectors, in the order of the files.
 *
 * @param folder - The folder of the files; by default, the folder in this package.
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

/** Returns the folder of the vectors in this package. */
function ownFolder(): URL {
  const found = packageFile("dist/spec-vectors/");
  if (FILES.every((file) => existsSync(new URL(file, found)))) return found;
  const message = "the conformance vectors are not where the package has them";
  const hint = "install proviso-cli again: they are part of it";
  throw environmentError("vectors_missing", message, hint);
}

/**
 * Returns whether a filter selects a test: it is the test's id, or a part of the test's file name, subject,
 * flags or comment. Without filters, every test is selected.
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
