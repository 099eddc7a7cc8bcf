import { encodeBase64url } from "../bytes/base64.js";
import type { Hop, HopInit } from "../caveats/hop.js";
import { formatTime } from "../caveats/time.js";
import { encodeHop, normalizeHop } from "../caveats/write-hop.js";
import { addFirstPartyCaveat, createMacaroon } from "../macaroon/chain.js";
import { partsOf } from "../macaroon/macaroon.js";
import type { RootKey } from "../macaroon/root-key.js";
import { macaroonToText } from "../macaroon/write.js";
import { revocationIdOf } from "../revocation/id.js";
import { encodeIdentifier, type Identifier } from "./identifier.js";
import { CAPABILITY_LIMITS } from "./limits.js";
import { overCapabilityLimits } from "./token.js";

const CAPABILITY_ID_BYTES = 12;

/** Seconds that a capability lives unless something else is asked for. */
const DEFAULT_LIFETIME = 15 * 60;

/** Seconds that a capability may live unless the issuer is configured otherwise. */
export const DEFAULT_MAX_LIFETIME: number = 24 * 60 * 60;

/** Seconds that no issuer may be configured beyond: 90 days. */
export const LONGEST_LIFETIME: number = 90 * 24 * 60 * 60;

/** What to grant, and the issuer's own restrictions: its hop. */
export interface MintRequest extends HopInit {
  /** The grant, such as `documents:read`. */
  readonly grant: string;
  /** The user on whose behalf. */
  readonly principal?: string;
}

/** A fresh capability. */
export interface MintedCapability {
  /** The bearer token: whoever has it has the capability. */
  readonly token: string;
  readonly id: string;
  readonly grant: string;
  readonly principal?: string;
  readonly issued: string;
  readonly expires: string;
  /** Revokes the capability with all that descends from it. */
  readonly revocationId: string;
  /** The issuer's hop. */
  readonly hop: Hop;
}

export interface MintContext {
  readonly issuer: string;
  readonly key: { readonly kid: string; readonly root: RootKey };
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (length: number) => Uint8Array;
  /** Seconds. */
  readonly maxLifetime: number;
}

/**
 * Makes a capability: the identifier, and the issuer's hop with an expiry.
 *
 * @throws TypeError if the request is not valid or lives longer than the issuer allows.
 */
export function mintToken(request: MintRequest, context: MintContext): MintedCapability {
  const { grant, principal, ...restrictions } = request;
  const now = context.clock();
  const issued = formatTime(now);
  const lifetime = Math.min(DEFAULT_LIFETIME, context.maxLifetime) * 1000;
  const hop = normalizeHop({
    ...restrictions,
    expires: restrictions.expires ?? new Date(now + lifetime),
  });
  const expires = hop.expires ?? issued;
  checkLifetime(hop, expires, issued, formatTime(now + context.maxLifetime * 1000));

  const id = `cap_${encodeBase64url(context.random(CAPABILITY_ID_BYTES))}`;
  const { kid, root } = context.key;
  const identifier: Identifier = {
    v: 1,
    iss: context.issuer,
    kid,
    id,
    grant,
    issued,
    ...(principal === undefined ? {} : { principal }),
  };
  const bare = createMacaroon(root, { identifier: encodeIdentifier(identifier) });
  const macaroon = addFirstPartyCaveat(bare, encodeHop(hop));
  const over = overCapabilityLimits([macaroon], CAPABILITY_LIMITS);
  if (over !== undefined) throw new TypeError(over.message);
  return {
    token: macaroonToText(macaroon),
    id,
    grant,
    ...(principal === undefined ? {} : { principal }),
    issued,
    expires,
    revocationId: revocationIdOf(partsOf(macaroon).signature),
    hop,
  };
}

function checkLifetime(hop: Hop, expires: string, issued: string, latest: string): void {
  if (expires <= issued) throw new TypeError(`expires ${expires} is not after now, ${issued}`);
  if (expires > latest) {
    throw new TypeError(
      `expires ${expires} is later than this issuer allows; the latest is ${latest}`,
    );
  }
  if (hop.notBefore !== undefined && hop.notBefore >= expires) {
    throw new TypeError(`notBefore ${hop.notBefore} is not before expires ${expires}`);
  }
}
