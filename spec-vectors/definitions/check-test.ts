import { type Data, sha256 } from "../build/bytes.js";
import { type Built, bind, chain, dischargeOf, type Link, type Third } from "../build/chain.js";
import { type Form, write } from "../build/forms.js";
import type { Flag } from "./notes.js";

/** The default values of every test. */
export const ISSUER = "documents-agent";
export const NOW = "2026-01-01T00:30:00Z";
/** The grant that tokens and invocations have by default. */
export const GRANT = "documents:read";
export const ID =
  '{"grant":"documents:read","id":"cap_AAAAAAAAAAAAAAAA","iss":"documents-agent","issued":"2026-01-01T00:00:00Z","kid":"key_a","principal":"user:alice","v":1}';
/** The issuer's hop. It expires half an hour after {@link NOW}, and has no other limit. */
export const EXPIRES = '{"expires":"2026-01-01T01:00:00Z"}';

export interface Key {
  readonly kid: string;
  readonly secret: Uint8Array;
}

export const KEY_A: Key = { kid: "key_a", secret: sha256("key_a") };
export const KEY_B: Key = { kid: "key_b", secret: sha256("key_b") };

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

export interface Ask {
  readonly operation?: string;
  /** The grants of the service; by default, the grant of the token. `null` omits the property. */
  readonly grant?: string | readonly string[] | null;
  readonly resourceHandles?: readonly string[];
  readonly arguments?: { readonly [name: string]: JsonValue };
  /** The arguments as JSON text, where parsing and writing would change the text. */
  readonly argumentsText?: string;
  readonly invoker?: string;
  readonly audience?: string;
  /** The time at which hops are judged. */
  readonly time?: string;
}

/** A grant that the issuer knows, with its operations. */
export interface KnownGrant {
  readonly id: string;
  readonly operations: readonly string[];
}

export interface Entry {
  readonly kind: "link" | "capability" | "key" | "principal";
  readonly id: string;
  readonly before?: string;
  readonly at?: string;
  readonly until?: string;
}

interface Revocations {
  readonly trustedUntil?: string;
  readonly entries?: readonly Entry[];
}

/** A discharge that is presented with the token. It is bound to the token, unless `bound` does something else. */
export interface Discharge {
  readonly of: Third;
  readonly links?: readonly Link[];
  readonly bound?: (root: Built, discharge: Built) => Built;
}

export interface Setup {
  /** The caveats; by default, only the issuer's hop. */
  readonly links?: readonly Link[];
  readonly identifier?: Data;
  /** The key that signs the token. */
  readonly secret?: Uint8Array;
  /** Changes the token after it was made, like an attacker or a later holder. */
  readonly alter?: (token: Built) => Built;
  readonly discharges?: readonly Discharge[];
  readonly form?: Form;
  /** Replaces the text of the token. */
  readonly text?: (written: string) => string;
  readonly ask?: Ask;
  readonly issuer?: string;
  readonly keys?: readonly Key[];
  /** The grants that the issuer knows; absent if it does not list its grants. */
  readonly grants?: readonly KnownGrant[];
  readonly now?: string;
  readonly revocations?: (token: Built, discharges: readonly Built[]) => Revocations;
}

/** One test of `check.json`. */
export interface CheckTest {
  readonly comment: string;
  readonly flags: readonly Flag[];
  readonly setup: Setup;
  readonly token: string;
  readonly chains: readonly Built[];
  readonly result: "allowed" | "refused" | "misuse";
  /** The denials in order, as `code`, `code@hop` or `code@hop/discharge`. */
  readonly denials: readonly string[];
  /** The denials of a checker that implements version 1 of the specification. */
  readonly version1?: readonly string[];
}

export interface CheckSubject {
  readonly subject: string;
  readonly comment: string;
  readonly tests: readonly CheckTest[];
}

export function allowed(comment: string, flags: Flag | readonly Flag[], setup: Setup): CheckTest {
  return test(comment, flags, setup, "allowed");
}

/** Defines a test of a call that is a misuse of the checker, and thus gets no decision. */
export function misuse(comment: string, flags: Flag | readonly Flag[], setup: Setup): CheckTest {
  return test(comment, flags, setup, "misuse");
}

export function refused(
  comment: string,
  flags: Flag | readonly Flag[],
  setup: Setup,
  ...denials: readonly [string, ...string[]]
): CheckTest {
  return test(comment, flags, setup, "refused", denials);
}

/** Adds to a test the denials of a checker that implements version 1 of the specification. */
export function olderAnswers(test: CheckTest, ...denials: readonly string[]): CheckTest {
  return { ...test, version1: denials };
}

function test(
  comment: string,
  flags: Flag | readonly Flag[],
  setup: Setup,
  result: CheckTest["result"],
  denials: readonly string[] = [],
): CheckTest {
  const chains = present(setup);
  const written = write(setup.form ?? "v2", chains);
  const token = setup.text?.(written) ?? written;
  return { comment, flags: [flags].flat(), setup, token, chains, result, denials };
}

function present(setup: Setup): Built[] {
  const secret = setup.secret ?? KEY_A.secret;
  const made = chain(secret, setup.identifier ?? ID, setup.links ?? [EXPIRES]);
  const root = setup.alter?.(made) ?? made;
  const others = (setup.discharges ?? []).map(({ of, links = [], bound = bind }) =>
    bound(root, dischargeOf(of, links)),
  );
  return [root, ...others];
}

/** Returns a setup with one hop after the issuer's. The hop is link 2. */
export function hop(text: Data, ask: Ask = {}): Setup {
  return { links: [EXPIRES, text], ask };
}

/** Returns the default identifier with some properties replaced, in canonical form. `undefined` omits a property. */
export function identifier(members: { readonly [name: string]: unknown }): string {
  const all: { [name: string]: unknown } = { ...JSON.parse(ID), ...members };
  return JSON.stringify(
    Object.fromEntries(
      Object.keys(all)
        .sort()
        .map((name) => [name, all[name]]),
    ),
  );
}
