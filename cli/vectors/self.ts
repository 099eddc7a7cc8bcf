import { decodeBase64 } from "../../src/bytes/base64.js";
import { TokenError } from "../../src/bytes/token-error.js";
import type { Decision } from "../../src/capability/authorize.js";
import { CAPABILITY_LIMITS } from "../../src/capability/limits.js";
import { readToken } from "../../src/capability/token.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { parseTime } from "../../src/caveats/time.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import type { IssuerOptions } from "../../src/issuer/issuer-options.js";
import { importKeyring, type Keyring } from "../../src/issuer/keyring.js";
import { RootKey } from "../../src/macaroon/root-key.js";
import { verifySignatures } from "../../src/macaroon/signatures.js";
import { chainIdOf } from "../../src/revocation/chain-id.js";
import { RevocationList, type RevocationSnapshot } from "../../src/revocation/list.js";
import { answerDiscovery, type DiscoveryRequest } from "./self-discovery.js";

interface VerifyRequest {
  readonly op: "verify";
  readonly token: string;
  readonly key: string;
}

export interface CheckRequest {
  readonly op: "check";
  readonly token: string;
  readonly issuer: string;
  readonly keys: readonly { readonly kid: string; readonly k: string }[];
  readonly now: string;
  readonly revocations: RevocationSnapshot;
  readonly grants?: IssuerOptions["grants"];
  readonly invocation: AskedInvocation;
}

/** An invocation as the protocol writes it. */
interface AskedInvocation extends Omit<Invocation, "time"> {
  readonly argumentsText?: string;
  readonly time?: string;
}

/** A request of the protocol. */
export type OwnRequest = VerifyRequest | CheckRequest | DiscoveryRequest;

/** This package's own answer to a request of the protocol (spec-vectors/README.md). */
export function answerHere(request: OwnRequest): { readonly [name: string]: unknown } {
  if (request.op === "verify") return verify(request);
  return request.op === "check" ? check(request) : answerDiscovery(request);
}

function verify({ token, key }: VerifyRequest): { readonly [name: string]: unknown } {
  try {
    const [root, ...discharges] = readToken(token, CAPABILITY_LIMITS).macaroons;
    const rootKey = new RootKey(decodeBase64(key));
    const result = verifySignatures(root, rootKey, discharges, CAPABILITY_LIMITS.nesting);
    if (!result.ok) return { result: "invalid", code: result.failure.code };
    return { result: "valid", tags: result.chains.map(({ tags }) => tags.map(hex)) };
  } catch (error) {
    if (error instanceof TokenError) return { result: "invalid", code: error.code };
    throw error;
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function check(request: CheckRequest): { readonly [name: string]: unknown } {
  const { token, issuer: name, keys, now, revocations, grants } = request;
  const time = parseTime(now) ?? Number.NaN;
  const issuer = createIssuer({
    name,
    keys: keyringOf(keys),
    revocations: new RevocationList(revocations),
    clock: () => time,
    grants,
  });
  const invocation = invocationFrom(request.invocation);
  let decision: Decision;
  try {
    decision = issuer.authorize(token, invocation);
  } catch (error) {
    if (error instanceof TypeError) return { result: "misuse", message: error.message };
    throw error;
  }
  if (decision.allowed) {
    const { revocationIds } = decision.capability;
    return { result: "allowed", revocationIds, chainId: chainIdOf(revocationIds.at(-1) ?? "") };
  }
  return { result: "refused", denials: decision.denials };
}

/** The keys of a request as a keyring; which of them mints is all the same. */
export function keyringOf(keys: CheckRequest["keys"]): Keyring {
  const jwks = keys.map((key, at) => {
    const uses = at === 0 ? ["sign", "verify"] : ["verify"];
    return { kty: "oct", alg: "HS256", key_ops: uses, iat: 0, ...key };
  });
  return importKeyring({ keys: jwks });
}

function invocationFrom({ argumentsText, time, ...rest }: AskedInvocation): Invocation {
  return {
    ...rest,
    arguments: argumentsText === undefined ? rest.arguments : JSON.parse(argumentsText),
    time: time === undefined ? undefined : new Date(parseTime(time) ?? Number.NaN),
  };
}
