import { equalBytes } from "@noble/ciphers/utils.js";
import { encodeBase64url } from "../bytes/base64.js";
import { bindSignature, nextTag } from "./chain.js";
import { hmac } from "./hmac.js";
import { type Macaroon, partsOf, type ThirdPartyCaveat } from "./macaroon.js";
import type { RootKey } from "./root-key.js";
import { openCaveatKey } from "./third-party.js";

/** Codes of faults in the signatures of a macaroon and its discharges. */
export type SignatureFailureCode =
  | "signature_mismatch"
  | "discharge_missing"
  | "discharge_duplicate"
  | "discharge_unused"
  | "discharge_reused"
  | "discharge_cyclic"
  | "discharge_too_deep"
  | "discharge_mismatch"
  | "caveat_key_sealed";

export interface SignatureFailure {
  readonly code: SignatureFailureCode;
  /** 0 for the macaroon itself, k for the k-th presented discharge. */
  readonly macaroon: number;
  /** The number of the third-party caveat with the fault, counted from 1. */
  readonly caveat?: number;
  readonly message: string;
}

/**
 * A macaroon, and the tags of its chain, which {@link verifySignatures} has verified. `tags` are secret: with
 * `tags[k]`, anyone can remove every caveat after the k-th.
 */
export interface VerifiedChain {
  readonly macaroon: Macaroon;
  /**
   * The tag of the identifier, then the tag after each caveat. The tags of a discharge are not bound to the root
   * macaroon, unlike its signature.
   */
  readonly tags: readonly Uint8Array[];
}

/** The chain of the root macaroon, then the chains of its discharges in the order presented. */
type VerifiedChains = readonly [VerifiedChain, ...VerifiedChain[]];

export type SignatureResult =
  | { readonly ok: true; readonly chains: VerifiedChains }
  | { readonly ok: false; readonly failure: SignatureFailure };

interface Visit {
  readonly chain: VerifiedChain;
  readonly index: number;
  readonly depth: number;
  readonly parent: Visit | undefined;
}

/**
 * Verifies the whole chain of `root` and of every discharge. No caveat is judged. Each discharge must be needed
 * exactly once. Discharges are followed with a queue, never by recursion.
 */
export function verifySignatures(
  root: Macaroon,
  key: RootKey,
  discharges: readonly Macaroon[],
  maxNesting: number,
): SignatureResult {
  const { identifier, signature } = partsOf(root);
  const { chain: rootChain, last: rootTag } = advance(root, key.tag(identifier));
  if (!equalBytes(rootTag, signature)) {
    return fail("signature_mismatch", 0, undefined, "the signature does not match this key");
  }

  const byIdentifier = new Map<string, number>();
  for (const [at, discharge] of discharges.entries()) {
    const id = encodeBase64url(partsOf(discharge).identifier);
    if (byIdentifier.has(id)) {
      return fail("discharge_duplicate", at + 1, undefined, "two discharges have one identifier");
    }
    byIdentifier.set(id, at);
  }

  const chains: (VerifiedChain | undefined)[] = discharges.map(() => undefined);
  const queue: Visit[] = [{ chain: rootChain, index: 0, depth: 0, parent: undefined }];
  for (let visit = queue.shift(); visit !== undefined; visit = queue.shift()) {
    for (const [at, caveat] of partsOf(visit.chain.macaroon).caveats.entries()) {
      if (caveat.kind === "first-party") continue;
      const found = byIdentifier.get(encodeBase64url(caveat.identifier));
      const discharge = found === undefined ? undefined : discharges[found];
      if (found === undefined || discharge === undefined) {
        const message = `no discharge was presented for caveat ${at + 1}`;
        return fail("discharge_missing", visit.index, at + 1, message);
      }
      if (chains[found] !== undefined) return reused(visit, at + 1, found + 1);
      if (visit.depth >= maxNesting) {
        const message = `discharges are nested more than ${maxNesting} deep`;
        return fail("discharge_too_deep", visit.index, at + 1, message);
      }
      const caveatKey = openVid(visit.chain, at, caveat);
      if (caveatKey === undefined) {
        const message = `the key of caveat ${at + 1} cannot be unsealed`;
        return fail("caveat_key_sealed", visit.index, at + 1, message);
      }
      const parts = partsOf(discharge);
      const { chain, last } = advance(discharge, hmac(caveatKey, parts.identifier));
      if (!equalBytes(bindSignature(signature, last), parts.signature)) {
        const message = `discharge ${found + 1} has a wrong signature, or is not bound to this macaroon`;
        return fail("discharge_mismatch", found + 1, undefined, message);
      }
      // Mark the discharge as used before following its own caveats, so that a cycle is not followed.
      chains[found] = chain;
      queue.push({ chain, index: found + 1, depth: visit.depth + 1, parent: visit });
    }
  }

  const all: [VerifiedChain, ...VerifiedChain[]] = [rootChain];
  for (const [at, chain] of chains.entries()) {
    if (chain === undefined) {
      return fail(
        "discharge_unused",
        at + 1,
        undefined,
        `discharge ${at + 1} discharges no caveat`,
      );
    }
    all.push(chain);
  }
  return { ok: true, chains: all };
}

/** Computes every tag of a macaroon's chain from the tag of its identifier. */
function advance(
  macaroon: Macaroon,
  first: Uint8Array,
): { readonly chain: VerifiedChain; readonly last: Uint8Array } {
  const tags = [first];
  let last = first;
  for (const caveat of partsOf(macaroon).caveats) {
    last = nextTag(last, caveat);
    tags.push(last);
  }
  return { chain: { macaroon, tags }, last };
}

function openVid(
  chain: VerifiedChain,
  at: number,
  caveat: ThirdPartyCaveat,
): Uint8Array | undefined {
  const tag = chain.tags[at];
  return tag === undefined ? undefined : openCaveatKey(tag, caveat.verificationId);
}

function reused(visit: Visit, caveat: number, discharge: number): SignatureResult {
  for (let at: Visit | undefined = visit; at !== undefined; at = at.parent) {
    if (at.index === discharge) {
      const message = `discharge ${discharge} needs itself, directly or through others`;
      return fail("discharge_cyclic", visit.index, caveat, message);
    }
  }
  const message = `discharge ${discharge} is needed by more than one caveat`;
  return fail("discharge_reused", visit.index, caveat, message);
}

function fail(
  code: SignatureFailureCode,
  macaroon: number,
  caveat: number | undefined,
  message: string,
): SignatureResult {
  const failure = { code, macaroon, message };
  return { ok: false, failure: caveat === undefined ? failure : { ...failure, caveat } };
}
