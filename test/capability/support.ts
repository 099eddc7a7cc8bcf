import type { Decision } from "../../src/capability/authorize.js";
import type { Denial } from "../../src/capability/denial.js";
import type { MintRequest } from "../../src/capability/mint.js";
import type { HopInit } from "../../src/caveats/hop.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { type AttenuateOptions, attenuate, TokenError } from "../../src/index.js";
import type { Issuer, IssuerOptions, Keyring } from "../../src/issuer/index.js";
import {
  createIssuer,
  createKeyring,
  createRevocationList,
  type RevocationList,
} from "../../src/issuer/index.js";
import { addFirstPartyCaveat, macaroonToText, parseMacaroon } from "../../src/macaroon/index.js";
import { NOW } from "../caveats/support.js";

export { misuse, NOW, utf8 } from "../caveats/support.js";

export const GET: Invocation = { grant: "files", operation: "get" };

/** Mints a token that allows every operation of its grant, which an issuer does only on request. */
export function mintOpen(issuer: Issuer, request: Partial<MintRequest> = {}): string {
  return issuer.mint({ grant: "files", anyOperation: true, ...request }).token;
}

export interface Fixture {
  readonly issuer: Issuer;
  readonly keys: Keyring;
  readonly revocations: RevocationList;
}

/** Returns an issuer whose clock shows NOW, with the same keys and ids in every run. */
export function fixture(
  options: Partial<IssuerOptions> & { readonly keys?: Keyring } = {},
): Fixture {
  let count = 0;
  const random = (length: number): Uint8Array => new Uint8Array(length).fill(++count);
  const clock = (): number => NOW;
  const keys = options.keys ?? createKeyring({ clock, random });
  const revocations = createRevocationList();
  const issuer = createIssuer({ name: "agent", keys, revocations, clock, random, ...options });
  return { issuer, keys, revocations };
}

/** Mints a token that allows `get` and `put` on anything, unless the request says otherwise. */
export function mint(issuer: Issuer, request: Partial<MintRequest> = {}): string {
  return issuer.mint({ grant: "files", operations: ["get", "put"], ...request }).token;
}

/** Returns the child that `attenuate` makes; throws if `attenuate` refuses the hop. */
export function attenuated(token: string, hop: HopInit, options: AttenuateOptions = {}): string {
  const child = attenuate(token, hop, options);
  if (!child.ok) throw new Error(child.overreaches.map(({ message }) => message).join("; "));
  return child.token;
}

/** Appends a caveat without the lint, as a careless or hostile holder can. */
export function append(token: string, caveat: string | Uint8Array): string {
  return macaroonToText(addFirstPartyCaveat(parseMacaroon(token), caveat));
}

export function denials(decision: Decision): readonly Denial[] {
  return decision.allowed ? [] : decision.denials;
}

export function codes(decision: Decision): string[] {
  return denials(decision).map(({ code }) => code);
}

/** Returns the code of the TokenError that `run` throws; rethrows any other error. */
export function tokenError(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof TokenError) return error.code;
    throw error;
  }
  return "accepted";
}
